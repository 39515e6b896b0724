// Text to float, double and long double, correctly rounded.
//
// First the grammar is walked, which forks only on what each character may be. Short numbers then need one exact
// multiplication or division, so that symbolic digits meet floating point in a single place. All others take the slow
// road: the digits are made concrete and the decimal is scaled by powers of two, exactly, until its leading bits show.
#include "common.h"
#include "number.h"

// --- formats and rounding -----------------------------------------------------------------------------------------------

struct format {
    int mantissa_bits;
    // The exponent of the least positive number's single bit: every number is a multiple of 2^least.
    int least;
    // Finite numbers are below 2^above.
    int above;
};

static const struct format float_format = {24, -149, 128};
static const struct format double_format = {53, -1074, 1024};
static const struct format long_double_format = {64, -16445, 16384};

// What lies below the last bit kept.
enum rest { REST_NONE, REST_BELOW_HALF, REST_HALF, REST_ABOVE_HALF };

// Whether a number in the binade just below the normal range would round up out of it if exponents had no limit: then
// it does not count as having underflowed.
static int rounds_up_to_power(uint64_t mantissa, enum rest rest, int mantissa_bits, int kept) {
    if (kept != mantissa_bits - 1)
        return 0;
    if (mantissa_bits == 64)
        return mantissa == UINT64_MAX && rest >= REST_HALF;
    return mantissa >> (63 - mantissa_bits) == UINT64_MAX >> (63 - mantissa_bits);
}

// (mantissa + rest) * 2^exponent to the nearest number of the format, ties to even. The mantissa has its top bit set
// or is zero. ERANGE when the result overflows, or is below the normal range and inexact.
static struct __colt_float round_to_format(uint64_t mantissa, enum rest rest, int exponent, int negative,
                                           const struct format *format) {
    struct __colt_float result = {COLT_FLOAT_FINITE, negative, 0, 0};
    if (mantissa == 0 && rest == REST_NONE)
        return result;
    int kept = format->mantissa_bits, subnormal = 0;
    enum rest original_rest = rest;
    if (exponent + 64 - kept < format->least) {
        kept = exponent + 64 - format->least;
        subnormal = 1;
    }
    if (kept < 0) {
        colt_errno = COLT_ERANGE;
        return result;
    }
    int dropped = 64 - kept;
    uint64_t whole = dropped == 64 ? 0 : mantissa >> dropped;
    if (dropped > 0) {
        uint64_t tail = dropped == 64 ? mantissa : mantissa & (((uint64_t)1 << dropped) - 1);
        uint64_t half = (uint64_t)1 << (dropped - 1);
        if (tail > half || (tail == half && rest != REST_NONE))
            rest = REST_ABOVE_HALF;
        else if (tail == half)
            rest = REST_HALF;
        else
            rest = tail != 0 || rest != REST_NONE ? REST_BELOW_HALF : REST_NONE;
    }
    exponent += dropped;
    if (rest == REST_ABOVE_HALF || (rest == REST_HALF && (whole & 1))) {
        whole++;
        if (whole == 0) {
            whole = (uint64_t)1 << 63;
            exponent++;
        }
    }
    if (subnormal && rest != REST_NONE && !rounds_up_to_power(mantissa, original_rest, format->mantissa_bits, kept))
        colt_errno = COLT_ERANGE;
    result.mantissa = whole;
    result.exponent = exponent;
    int bits = whole ? 64 - __builtin_clzll(whole) : 0;
    if (whole && exponent + bits > format->above) {
        colt_errno = COLT_ERANGE;
        result.kind = COLT_FLOAT_INFINITE;
    }
    return result;
}

// --- decimals -------------------------------------------------------------------------------------------------------------

// 0.d1d2d3... * 10^point. More digits than fit are summed up in `truncated`: something nonzero follows. 800 digits
// place every double, and every halfway point between two doubles, exactly.
#define MAX_DIGITS 800
struct decimal {
    int n;
    int point;
    int truncated;
    byte digits[MAX_DIGITS + 24];
};

static void decimal_trim(struct decimal *decimal) {
    if (decimal->n > MAX_DIGITS) {
        for (int i = MAX_DIGITS; i < decimal->n; i++)
            decimal->truncated |= decimal->digits[i] != 0;
        decimal->n = MAX_DIGITS;
    }
    while (decimal->n > 0 && decimal->digits[decimal->n - 1] == 0)
        decimal->n--;
}

static void decimal_double(struct decimal *decimal, int shift) {
    uint64_t carry = 0;
    for (int i = decimal->n; i-- > 0;) {
        uint64_t sum = ((uint64_t)decimal->digits[i] << shift) + carry;
        carry = sum / 10;
        decimal->digits[i] = (byte)(sum % 10);
    }
    int n_new = 0;
    for (uint64_t left = carry; left; left /= 10)
        n_new++;
    __builtin_memmove(decimal->digits + n_new, decimal->digits, (size_t)decimal->n);
    for (int i = n_new; i-- > 0; carry /= 10)
        decimal->digits[i] = (byte)(carry % 10);
    decimal->n += n_new;
    decimal->point += n_new;
    decimal_trim(decimal);
}

static void decimal_halve(struct decimal *decimal, int shift) {
    uint64_t mask = ((uint64_t)1 << shift) - 1, window = 0;
    int read = 0, written = 0;
    while (read < decimal->n || window) {
        unsigned digit = read < decimal->n ? decimal->digits[read] : 0;
        window = window * 10 + digit;
        read++;
        byte quotient = (byte)(window >> shift);
        window &= mask;
        if (written == 0 && quotient == 0) {
            decimal->point--;
            continue;
        }
        if (written < MAX_DIGITS)
            decimal->digits[written++] = quotient;
        else
            decimal->truncated |= quotient != 0;
    }
    decimal->n = written;
    decimal_trim(decimal);
}

// The largest shift, at most 59, with 2^shift <= 10^n.
static int bits_below(int n) { return n >= 18 ? 59 : n * 3322 / 1000; }

static struct __colt_float decimal_to_float(struct decimal *decimal, int negative, const struct format *format) {
    int exponent = 0;
    if (decimal->n == 0)
        return round_to_format(0, REST_NONE, 0, negative, format);
    if (decimal->point > 5000)
        return round_to_format((uint64_t)1 << 63, REST_NONE, 20000, negative, format);
    if (decimal->point < -5500)
        return round_to_format((uint64_t)1 << 63, REST_NONE, -30000, negative, format);
    while (decimal->point > 0) {
        int shift = bits_below(decimal->point);
        decimal_halve(decimal, shift);
        exponent += shift;
    }
    while (decimal->point < 0 || decimal->digits[0] < 5) {
        int shift = decimal->point < 0 ? bits_below(-decimal->point) : 1;
        decimal_double(decimal, shift);
        exponent -= shift;
    }
    // Now at least one half and below one: 64 more bits make the mantissa an integer.
    decimal_double(decimal, 32);
    decimal_double(decimal, 32);
    uint64_t mantissa = 0;
    for (int i = 0; i < decimal->point; i++)
        mantissa = mantissa * 10 + (i < decimal->n ? decimal->digits[i] : 0);
    enum rest rest = decimal->truncated ? REST_BELOW_HALF : REST_NONE;
    if (decimal->n > decimal->point) {
        byte first = decimal->digits[decimal->point];
        int more = decimal->n > decimal->point + 1 || decimal->truncated;
        rest = first < 5 ? REST_BELOW_HALF : first == 5 && !more ? REST_HALF : REST_ABOVE_HALF;
    }
    return round_to_format(mantissa, rest, exponent - 64, negative, format);
}

// --- the grammar ------------------------------------------------------------------------------------------------------------

// How a text reads as a number. For NUMBER_DECIMAL the digits lie between `first` and `last` (a point may be among
// them); `scale` is the power of ten of the last digit.
enum number_class { NUMBER_NONE, NUMBER_INFINITE, NUMBER_NAN, NUMBER_DECIMAL, NUMBER_HEXADECIMAL };
struct number_text {
    enum number_class class;
    int negative;
    const char *first, *last, *end;
    int n_digits, scale;
    // The digits as an integer; meaningful while there are at most 19 of them.
    uint64_t value;
};

// Whether `text` goes on with `word` (lower case), in any case of letters.
static int follows(const char *text, const char *word) {
    for (; *word; text++, word++)
        if (colt_to_lower((byte)*text) != *word)
            return 0;
    return 1;
}

static const char *read_exponent(const char *p, int mark, int *exponent) {
    *exponent = 0;
    if ((*p | 32) != mark)
        return p;
    const char *digits = p + 1;
    int negative = *digits == '-';
    if ((*digits == '+') | (*digits == '-'))
        digits++;
    if (!colt_is_digit(*digits))
        return p;
    int value = 0;
    for (; colt_is_digit(*digits); digits++) {
        int digit = __colt_concrete(*digits - '0', "exponent of a floating-point number in text");
        if (value < 100000)
            value = value * 10 + digit;
    }
    negative = __colt_concrete(negative, "exponent of a floating-point number in text");
    *exponent = negative ? -value : value;
    return digits;
}

static void read_decimal(struct number_text *number, const char *p) {
    int n_fraction = 0, after_point = 0, exponent;
    number->first = p;
    for (;; p++) {
        if (colt_is_digit(*p)) {
            number->value = number->value * 10 + (unsigned)(*p - '0');
            number->n_digits++;
            n_fraction += after_point;
        } else if (!after_point && *p == '.') {
            after_point = 1;
        } else {
            break;
        }
    }
    if (number->n_digits == 0)
        return;
    number->class = NUMBER_DECIMAL;
    number->last = p;
    number->end = read_exponent(p, 'e', &exponent);
    number->scale = exponent - n_fraction;
}

static struct number_text read_number(const char *text) {
    struct number_text number = {NUMBER_NONE, 0, NULL, NULL, text, 0, 0, 0};
    const char *p = text;
    while (colt_is_space(*p))
        p++;
    number.negative = *p == '-';
    if ((*p == '+') | (*p == '-'))
        p++;
    int letter = *p | 32;
    if (letter == 'i' && follows(p, "inf")) {
        number.class = NUMBER_INFINITE;
        number.end = follows(p + 3, "inity") ? p + 8 : p + 3;
    } else if (letter == 'n' && follows(p, "nan")) {
        number.class = NUMBER_NAN;
        number.end = p + 3;
        const char *close = p + 3;
        if (*close == '(') {
            do
                close++;
            while (colt_is_alpha(*close) | colt_is_digit(*close) | (*close == '_'));
            if (*close == ')')
                number.end = close + 1;
        }
    } else if (*p == '0' && (p[1] | 32) == 'x' &&
               (colt_digit_value(p[2]) < 16 || (p[2] == '.' && colt_digit_value(p[3]) < 16))) {
        number.class = NUMBER_HEXADECIMAL;
        number.first = p + 2;
    } else {
        read_decimal(&number, p);
        if (number.class == NUMBER_NONE)
            number.negative = 0;
    }
    return number;
}

static struct __colt_float read_hexadecimal(struct number_text *number, const struct format *format) {
    uint64_t mantissa = 0;
    int exponent = 0, after_point = 0, power, n_lost = 0, more = 0;
    // The first digit that does not fit, and whether a later one is not zero.
    unsigned extra = 0;
    const char *p = number->first;
    for (;; p++) {
        unsigned digit = colt_digit_value(*p);
        if (digit < 16) {
            digit = (unsigned)__colt_concrete((int)digit, "digits of a hexadecimal floating-point number in text");
            if (mantissa >> 60 == 0) {
                mantissa = mantissa << 4 | digit;
                exponent -= 4 * after_point;
            } else {
                if (n_lost++ == 0)
                    extra = digit;
                else
                    more |= digit != 0;
                exponent += 4 * !after_point;
            }
        } else if (!after_point && *p == '.') {
            after_point = 1;
        } else {
            break;
        }
    }
    number->end = read_exponent(p, 'p', &power);
    if (mantissa) {
        int shift = __builtin_clzll(mantissa);
        mantissa <<= shift;
        exponent -= shift;
        if (n_lost > 0) {
            mantissa |= extra >> (4 - shift);
            extra = extra << shift & 15;
        }
    }
    enum rest rest = REST_NONE;
    if (extra > 8 || (extra == 8 && more))
        rest = REST_ABOVE_HALF;
    else if (extra == 8)
        rest = REST_HALF;
    else if (extra || more)
        rest = REST_BELOW_HALF;
    return round_to_format(mantissa, rest, exponent + power, number->negative, format);
}

static struct __colt_float read_slowly(const struct number_text *number, const struct format *format) {
    struct decimal decimal;
    decimal.n = 0;
    decimal.truncated = 0;
    int n_leading = 0;
    for (const char *p = number->first; p != number->last; p++) {
        if (*p == '.')
            continue;
        byte digit = (byte)__colt_concrete(*p - '0', "digits of a floating-point number in text");
        if (decimal.n == 0 && digit == 0)
            n_leading++;
        else if (decimal.n < MAX_DIGITS)
            decimal.digits[decimal.n++] = digit;
        else
            decimal.truncated |= digit != 0;
    }
    decimal.point = number->n_digits - n_leading + number->scale;
    decimal_trim(&decimal);
    return decimal_to_float(&decimal, number->negative, format);
}

// --- the three types -----------------------------------------------------------------------------------------------------------

#define NAN_OF(type) ((type)__builtin_nan(""))
#define INFINITY_OF(type) ((type)__builtin_inf())

static double pack_double(const struct __colt_float *number) {
    uint64_t mantissa = number->mantissa, bits = 0;
    if (mantissa) {
        int shift = __builtin_clzll(mantissa) - 11, exponent = number->exponent;
        if (exponent - shift < -1074)
            shift = exponent + 1074;
        mantissa = shift >= 0 ? mantissa << shift : mantissa >> -shift;
        exponent -= shift;
        uint64_t biased = mantissa >> 52 ? (uint64_t)(exponent + 1075) : 0;
        bits = biased << 52 | (mantissa & 0xfffffffffffffull);
    }
    double result;
    bits |= (uint64_t)number->negative << 63;
    __builtin_memcpy(&result, &bits, sizeof result);
    return result;
}

static float pack_float(const struct __colt_float *number) { return (float)pack_double(number); }

// The x87 format: an explicit leading bit, then sign and exponent in sixteen bits.
static long double pack_long_double(const struct __colt_float *number) {
    struct {
        uint64_t mantissa;
        uint16_t exponent;
    } bits = {0, 0};
    if (number->mantissa) {
        int shift = __builtin_clzll(number->mantissa), exponent = number->exponent;
        if (exponent - shift < -16445)
            shift = exponent + 16445;
        bits.mantissa = number->mantissa << shift;
        bits.exponent = bits.mantissa >> 63 ? (uint16_t)(exponent - shift + 16446) : 0;
    }
    bits.exponent |= (uint16_t)(number->negative << 15);
    long double result = 0;
    __builtin_memcpy(&result, &bits, 10);
    return result;
}

static const float float_powers[] = {1e0f, 1e1f, 1e2f, 1e3f, 1e4f, 1e5f, 1e6f, 1e7f, 1e8f, 1e9f, 1e10f};
static const double double_powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                       1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
static const long double long_double_powers[] = {
    1e0L,  1e1L,  1e2L,  1e3L,  1e4L,  1e5L,  1e6L,  1e7L,  1e8L,  1e9L,  1e10L, 1e11L, 1e12L, 1e13L,
    1e14L, 1e15L, 1e16L, 1e17L, 1e18L, 1e19L, 1e20L, 1e21L, 1e22L, 1e23L, 1e24L, 1e25L, 1e26L, 1e27L};

// The quick road is exact up to its one rounding: the digits fit the mantissa and so does the power of ten.
#define DEFINE_TEXT_TO(type, name, format, pack, powers, max_digits, max_power)                                       \
    type name(const char *text, char **end) {                                                                         \
        struct number_text number = read_number(text);                                                                \
        type result = 0;                                                                                              \
        if (number.class == NUMBER_INFINITE) {                                                                        \
            result = INFINITY_OF(type);                                                                               \
        } else if (number.class == NUMBER_NAN) {                                                                      \
            result = NAN_OF(type);                                                                                    \
        } else if (number.class == NUMBER_DECIMAL && number.n_digits <= (max_digits) &&                               \
                   number.scale >= -(max_power) && number.scale <= (max_power)) {                                     \
            result = (type)number.value;                                                                              \
            result = number.scale < 0 ? result / powers[-number.scale] : result * powers[number.scale];               \
        } else if (number.class != NUMBER_NONE) {                                                                     \
            int negative = number.negative;                                                                           \
            number.negative = 0;                                                                                      \
            struct __colt_float slow = number.class == NUMBER_DECIMAL ? read_slowly(&number, &format)                 \
                                                                      : read_hexadecimal(&number, &format);           \
            result = slow.kind == COLT_FLOAT_INFINITE ? INFINITY_OF(type) : pack(&slow);                              \
            number.negative = negative;                                                                               \
        }                                                                                                             \
        if (end)                                                                                                      \
            *end = (char *)number.end;                                                                                \
        return number.negative ? -result : result;                                                                    \
    }

DEFINE_TEXT_TO(float, __colt_text_to_float, float_format, pack_float, float_powers, 7, 10)
DEFINE_TEXT_TO(double, __colt_text_to_double, double_format, pack_double, double_powers, 15, 22)
DEFINE_TEXT_TO(long double, __colt_text_to_long_double, long_double_format, pack_long_double, long_double_powers, 19,
               27)
