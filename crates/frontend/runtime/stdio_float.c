// Floating-point numbers as text: %f %e %g %a, with every digit right.
//
// A binary number is an integer times a power of two, and so has a finite decimal expansion: mantissa * 5^k followed
// by k decimal places when the power is negative, mantissa * 2^e when not. The expansion is computed in full and
// rounded once, ties to even.
#include "common.h"
#include "stream.h"

#define LIMB 1000000000u

// Enough for mantissa * 5^1074 (double) and mantissa * 5^16445 (long double).
#define DOUBLE_LIMBS 88
#define LONG_DOUBLE_LIMBS 1288

enum kind { FINITE, INFINITE, NOT_A_NUMBER };

// mantissa * 2^exponent, and how the type lays its digits out for %a.
struct number {
    enum kind kind;
    int negative;
    uint64_t mantissa;
    int exponent;
};

// 0.d1d2d3... * 10^point, d as characters.
struct expansion {
    char *digits;
    int n;
    int point;
};

static int multiply(uint32_t *limbs, int n, uint32_t factor) {
    uint64_t carry = 0;
    for (int i = 0; i < n; i++) {
        uint64_t product = (uint64_t)limbs[i] * factor + carry;
        limbs[i] = (uint32_t)(product % LIMB);
        carry = product / LIMB;
    }
    while (carry) {
        limbs[n++] = (uint32_t)(carry % LIMB);
        carry /= LIMB;
    }
    return n;
}

static uint32_t power(uint32_t base, int exponent) {
    uint32_t result = 1;
    while (exponent-- > 0)
        result *= base;
    return result;
}

static struct expansion expand(uint64_t mantissa, int exponent, uint32_t *limbs, char *digits) {
    struct expansion result = {digits, 0, 0};
    if (mantissa == 0)
        return result;
    int trailing = __builtin_ctzll(mantissa);
    mantissa >>= trailing;
    exponent += trailing;
    int n = 0;
    for (; mantissa; mantissa /= LIMB)
        limbs[n++] = (uint32_t)(mantissa % LIMB);
    uint32_t base = exponent < 0 ? 5 : 2;
    int step = exponent < 0 ? 13 : 31, left = exponent < 0 ? -exponent : exponent;
    uint32_t full = power(base, step);
    for (; left >= step; left -= step)
        n = multiply(limbs, n, full);
    n = multiply(limbs, n, power(base, left));

    int length = 0;
    for (int i = n; i-- > 0;) {
        uint32_t limb = limbs[i];
        for (uint32_t unit = LIMB / 10; unit; unit /= 10) {
            char digit = (char)('0' + limb / unit % 10);
            if (length > 0 || digit != '0')
                digits[length++] = digit;
        }
    }
    result.n = length;
    result.point = exponent < 0 ? length + exponent : length;
    return result;
}

// Keeps the first `keep` digits (which may be none, or negative: then nothing is left).
static void round_expansion(struct expansion *expansion, int keep) {
    if (keep >= expansion->n)
        return;
    if (keep < 0) {
        expansion->n = 0;
        return;
    }
    int up = expansion->digits[keep] > '5';
    if (expansion->digits[keep] == '5') {
        int more = 0;
        for (int i = keep + 1; i < expansion->n && !more; i++)
            more = expansion->digits[i] != '0';
        up = more || (keep > 0 && (expansion->digits[keep - 1] & 1));
    }
    expansion->n = keep;
    if (!up)
        return;
    int i = keep;
    while (i > 0 && expansion->digits[i - 1] == '9')
        expansion->digits[--i] = '0';
    if (i > 0) {
        expansion->digits[i - 1]++;
        return;
    }
    // All nines (or nothing): 1 followed by the zeros just written, one of which may be dropped.
    expansion->digits[0] = '1';
    for (int j = 1; j < keep; j++)
        expansion->digits[j] = '0';
    expansion->n = keep > 0 ? keep : 1;
    expansion->point++;
}

// --- layout -----------------------------------------------------------------------------------------------------------

static const char *sign_of(const struct number *number, const struct __colt_specification *spec) {
    return number->negative ? "-" : spec->plus ? "+" : spec->space ? " " : "";
}

static int is_upper_case(const struct __colt_specification *spec) { return colt_is_upper(spec->conversion); }

// Opens a field of `n_body` characters behind the prefix; answers the padding still due on the right.
static long open_field(struct __colt_sink *sink, const struct __colt_specification *spec, const char *prefix,
                       long n_body) {
    long n_pad = (long)spec->width - (long)colt_length(prefix) - n_body;
    if (!spec->left && !spec->zero)
        __colt_fill(sink, ' ', n_pad);
    __colt_emit(sink, prefix, colt_length(prefix));
    if (!spec->left && spec->zero)
        __colt_fill(sink, '0', n_pad);
    return spec->left ? n_pad : 0;
}

// `n` digits starting at place `from` of the expansion; places it does not have are zeros.
static void put_digits(struct __colt_sink *sink, const struct expansion *expansion, int from, int n) {
    int n_before = from < 0 ? (-from < n ? -from : n) : 0;
    __colt_fill(sink, '0', n_before);
    from += n_before;
    n -= n_before;
    int n_here = from < expansion->n ? (expansion->n - from < n ? expansion->n - from : n) : 0;
    __colt_emit(sink, expansion->digits + (n_here > 0 ? from : 0), (size_t)n_here);
    __colt_fill(sink, '0', n - n_here);
}

static void put_fixed(struct __colt_sink *sink, const struct __colt_specification *spec, const char *sign,
                      const struct expansion *expansion, int n_fraction) {
    int n_whole = expansion->point > 0 ? expansion->point : 1;
    int with_point = n_fraction > 0 || spec->alternate;
    long n_right = open_field(sink, spec, sign, (long)n_whole + with_point + n_fraction);
    put_digits(sink, expansion, expansion->point - n_whole, n_whole);
    __colt_emit(sink, ".", (size_t)with_point);
    put_digits(sink, expansion, expansion->point, n_fraction);
    __colt_fill(sink, ' ', n_right);
}

// letter, sign and at least `n_min` digits of an exponent; answers how many characters.
static int exponent_text(char *out, char letter, int exponent, int n_min) {
    int n = 0, magnitude = exponent < 0 ? -exponent : exponent, n_digits = 1;
    for (int rest = magnitude / 10; rest; rest /= 10)
        n_digits++;
    if (n_digits < n_min)
        n_digits = n_min;
    out[n++] = letter;
    out[n++] = exponent < 0 ? '-' : '+';
    for (int i = n_digits; i-- > 0; magnitude /= 10)
        out[n + i] = (char)('0' + magnitude % 10);
    return n + n_digits;
}

static void put_scientific(struct __colt_sink *sink, const struct __colt_specification *spec, const char *sign,
                           const struct expansion *expansion, int n_fraction) {
    char exponent[16];
    int power_of_ten = expansion->n > 0 ? expansion->point - 1 : 0;
    int n_exponent = exponent_text(exponent, is_upper_case(spec) ? 'E' : 'e', power_of_ten, 2);
    int with_point = n_fraction > 0 || spec->alternate;
    long n_right = open_field(sink, spec, sign, 1L + with_point + n_fraction + n_exponent);
    put_digits(sink, expansion, 0, 1);
    __colt_emit(sink, ".", (size_t)with_point);
    put_digits(sink, expansion, 1, n_fraction);
    __colt_emit(sink, exponent, (size_t)n_exponent);
    __colt_fill(sink, ' ', n_right);
}

static void put_shortest(struct __colt_sink *sink, const struct __colt_specification *spec, const char *sign,
                         struct expansion *expansion, int precision) {
    int n_significant = precision > 0 ? precision : 1;
    round_expansion(expansion, n_significant);
    int power_of_ten = expansion->n > 0 ? expansion->point - 1 : 0;
    int n_used = expansion->n;
    while (n_used > 0 && expansion->digits[n_used - 1] == '0')
        n_used--;
    if (power_of_ten >= -4 && power_of_ten < n_significant) {
        int n_fraction = n_significant - 1 - power_of_ten;
        int n_needed = n_used - 1 - power_of_ten;
        if (!spec->alternate && n_needed < n_fraction)
            n_fraction = n_needed > 0 ? n_needed : 0;
        put_fixed(sink, spec, sign, expansion, n_fraction);
    } else {
        int n_fraction = spec->alternate ? n_significant - 1 : n_used - 1;
        put_scientific(sink, spec, sign, expansion, n_fraction > 0 ? n_fraction : 0);
    }
}

// `leading` bits of the mantissa stand before the point, `n_fraction_digits` digits of four bits behind it.
static void put_hexadecimal(struct __colt_sink *sink, const struct __colt_specification *spec,
                            const struct number *number, uint64_t leading, uint64_t fraction, int n_fraction_digits,
                            int exponent) {
    char digits[16], tail[16], prefix[8];
    int letter_a = is_upper_case(spec) ? 'A' : 'a', n_prefix = 0, n = n_fraction_digits;
    int precision = spec->precision;
    if (precision >= 0 && precision < n) {
        int n_bits = (n - precision) * 4;
        uint64_t tail_bits = fraction & (((uint64_t)1 << n_bits) - 1), half = (uint64_t)1 << (n_bits - 1);
        fraction >>= n_bits;
        int odd = precision > 0 ? (int)(fraction & 1) : (int)(leading & 1);
        if (tail_bits > half || (tail_bits == half && odd))
            fraction++;
        n = precision;
        if (fraction >> (n * 4)) {
            fraction = 0;
            leading++;
        }
    }
    for (int i = 0; i < n; i++) {
        int digit = (int)(fraction >> ((n - 1 - i) * 4)) & 15;
        digits[i] = (char)(digit < 10 ? '0' + digit : letter_a + digit - 10);
    }
    if (precision < 0)
        while (n > 0 && digits[n - 1] == '0')
            n--;
    for (const char *sign = sign_of(number, spec); *sign; sign++)
        prefix[n_prefix++] = *sign;
    prefix[n_prefix++] = '0';
    prefix[n_prefix++] = is_upper_case(spec) ? 'X' : 'x';
    prefix[n_prefix] = 0;
    if (leading == 16) {
        leading = 1;
        exponent += 4;
    }
    char first = (char)(leading < 10 ? '0' + leading : (unsigned)letter_a + leading - 10);
    int n_tail = exponent_text(tail, is_upper_case(spec) ? 'P' : 'p', exponent, 1);
    int n_zeros = precision > n ? precision - n : 0, with_point = n + n_zeros > 0 || spec->alternate;
    long n_right = open_field(sink, spec, prefix, 1L + with_point + n + n_zeros + n_tail);
    __colt_emit(sink, &first, 1);
    __colt_emit(sink, ".", (size_t)with_point);
    __colt_emit(sink, digits, (size_t)n);
    __colt_fill(sink, '0', n_zeros);
    __colt_emit(sink, tail, (size_t)n_tail);
    __colt_fill(sink, ' ', n_right);
}

static void put_special(struct __colt_sink *sink, const struct __colt_specification *spec,
                        const struct number *number) {
    struct __colt_specification plain = *spec;
    plain.zero = 0;
    const char *text = number->kind == INFINITE ? (is_upper_case(spec) ? "INF" : "inf")
                                                : (is_upper_case(spec) ? "NAN" : "nan");
    long n_right = open_field(sink, &plain, sign_of(number, spec), 3);
    __colt_emit(sink, text, 3);
    __colt_fill(sink, ' ', n_right);
}

static void put_decimal(struct __colt_sink *sink, const struct __colt_specification *spec,
                        const struct number *number, uint32_t *limbs, char *digits) {
    struct expansion expansion = expand(number->mantissa, number->exponent, limbs, digits);
    const char *sign = sign_of(number, spec);
    int precision = spec->precision < 0 ? 6 : spec->precision;
    switch (spec->conversion | 32) {
    case 'f':
        round_expansion(&expansion, expansion.point + precision);
        if (expansion.n == 0)
            expansion.point = 0;
        put_fixed(sink, spec, sign, &expansion, precision);
        break;
    case 'e':
        round_expansion(&expansion, 1 + precision);
        put_scientific(sink, spec, sign, &expansion, precision);
        break;
    default:
        put_shortest(sink, spec, sign, &expansion, precision);
        break;
    }
}

// --- the two types --------------------------------------------------------------------------------------------------------

void __colt_format_double(struct __colt_sink *sink, const struct __colt_specification *spec, double value) {
    uint64_t bits;
    __builtin_memcpy(&bits, &value, sizeof bits);
    int biased = (int)(bits >> 52 & 0x7ff);
    uint64_t fraction = bits & 0xfffffffffffffull;
    struct number number = {FINITE, (int)(bits >> 63), fraction, -1074};
    if (biased == 0x7ff)
        number.kind = fraction ? NOT_A_NUMBER : INFINITE;
    if (biased > 0) {
        number.mantissa |= (uint64_t)1 << 52;
        number.exponent = biased - 1075;
    }
    if (number.kind != FINITE) {
        put_special(sink, spec, &number);
    } else if ((spec->conversion | 32) == 'a') {
        int exponent = number.mantissa ? number.exponent + 52 : 0;
        put_hexadecimal(sink, spec, &number, biased > 0, fraction, 13, exponent);
    } else {
        // Written, so that a digit at a place that depends on an input is no unknown one.
        uint32_t limbs[DOUBLE_LIMBS] = {0};
        char digits[DOUBLE_LIMBS * 9] = {0};
        put_decimal(sink, spec, &number, limbs, digits);
    }
}

void __colt_format_long_double(struct __colt_sink *sink, const struct __colt_specification *spec, long double value) {
    uint64_t mantissa;
    uint16_t top;
    __builtin_memcpy(&mantissa, &value, sizeof mantissa);
    __builtin_memcpy(&top, (const char *)&value + 8, sizeof top);
    int biased = top & 0x7fff;
    struct number number = {FINITE, top >> 15, mantissa, (biased ? biased : 1) - 16446};
    if (biased == 0x7fff)
        number.kind = mantissa << 1 ? NOT_A_NUMBER : INFINITE;
    if (number.kind != FINITE) {
        put_special(sink, spec, &number);
    } else if ((spec->conversion | 32) == 'a') {
        int exponent = mantissa ? number.exponent + 60 : 0;
        put_hexadecimal(sink, spec, &number, mantissa >> 60, mantissa & 0xfffffffffffffffull, 15, exponent);
    } else {
        uint32_t *limbs = __builtin_alloca(LONG_DOUBLE_LIMBS * sizeof *limbs);
        char *digits = __builtin_alloca(LONG_DOUBLE_LIMBS * 9);
        __builtin_memset(limbs, 0, LONG_DOUBLE_LIMBS * sizeof *limbs);
        __builtin_memset(digits, 0, LONG_DOUBLE_LIMBS * 9);
        put_decimal(sink, spec, &number, limbs, digits);
    }
}
