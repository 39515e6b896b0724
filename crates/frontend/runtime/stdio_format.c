// The formatter of printf's family: everything but floating point.
//
// A number's length decides where the next character lands, so its sign and its number of digits fork; the digits
// themselves do not.
#include "common.h"
#include "stream.h"

// --- where text goes ---------------------------------------------------------------------------------------------------

void __colt_emit(struct __colt_sink *sink, const char *bytes, size_t n) {
    if (sink->text && __colt_spans()) {
        // Nothing is written where there is no room any more, and how much is there is no reason to part.
        size_t kept = __colt_least(sink->count, sink->room);
        __builtin_memmove(sink->text + kept, bytes, __colt_least(n, sink->room - kept));
        sink->count += n;
        return;
    }
    if (n == 0)
        return;
    if (!sink->text) {
        __colt_output(sink->fd, bytes, n);
    } else if (sink->count < sink->room) {
        size_t left = sink->room - sink->count;
        __builtin_memcpy(sink->text + sink->count, bytes, n < left ? n : left);
    }
    sink->count += n;
}

void __colt_fill(struct __colt_sink *sink, char c, long n) {
    char chunk[32];
    if (n <= 0)
        return;
    if (sink->text && __colt_spans()) {
        size_t kept = __colt_least(sink->count, sink->room);
        __builtin_memset(sink->text + kept, c, __colt_least((size_t)n, sink->room - kept));
        sink->count += (size_t)n;
        return;
    }
    __builtin_memset(chunk, c, sizeof chunk);
    for (; n > (long)sizeof chunk; n -= sizeof chunk)
        __colt_emit(sink, chunk, sizeof chunk);
    __colt_emit(sink, chunk, (size_t)n);
}

// --- reading a specification -------------------------------------------------------------------------------------------

static const char *read_flags(const char *p, struct __colt_specification *out) {
    for (;; p++) {
        switch (*p) {
        case '-': out->left = 1; break;
        case '+': out->plus = 1; break;
        case ' ': out->space = 1; break;
        case '#': out->alternate = 1; break;
        case '0': out->zero = 1; break;
        case '\'': case 'I': break;
        default: return p;
        }
    }
}

static const char *read_decimal(const char *p, int *out) {
    int value = 0;
    for (; colt_is_digit(*p); p++)
        if (value < 100000000)
            value = value * 10 + (*p - '0');
    *out = value;
    return p;
}

static const char *read_length(const char *p, enum __colt_length *out) {
    *out = COLT_LENGTH_NONE;
    switch (*p) {
    case 'h':
        *out = p[1] == 'h' ? COLT_LENGTH_CHAR : COLT_LENGTH_SHORT;
        return p + (p[1] == 'h' ? 2 : 1);
    case 'l':
        *out = p[1] == 'l' ? COLT_LENGTH_LONG_LONG : COLT_LENGTH_LONG;
        return p + (p[1] == 'l' ? 2 : 1);
    case 'q': *out = COLT_LENGTH_LONG_LONG; return p + 1;
    case 'j': *out = COLT_LENGTH_MAX; return p + 1;
    case 'z': case 'Z': *out = COLT_LENGTH_SIZE; return p + 1;
    case 't': *out = COLT_LENGTH_POINTER_DIFFERENCE; return p + 1;
    case 'L': *out = COLT_LENGTH_LONG_DOUBLE; return p + 1;
    default: return p;
    }
}

// `p` is just behind the percent sign. Widths and precisions given as * are taken from the arguments.
static const char *read_specification(const char *p, struct __colt_specification *out,
                                      struct __colt_arguments *arguments) {
    *out = (struct __colt_specification){.precision = -1};
    p = read_flags(p, out);
    if (*p == '*') {
        p++;
        out->width = va_arg(arguments->list, int);
        if (out->width < 0) {
            out->left = 1;
            out->width = -out->width;
        }
    } else {
        p = read_decimal(p, &out->width);
    }
    if (*p == '$')
        __colt_gap("printf with numbered arguments (%1$d)");
    if (*p == '.') {
        p++;
        if (*p == '*') {
            p++;
            out->precision = va_arg(arguments->list, int);
        } else {
            p = read_decimal(p, &out->precision);
        }
    }
    p = read_length(p, &out->length);
    out->conversion = *p;
    return *p ? p + 1 : p;
}

// --- integers ------------------------------------------------------------------------------------------------------------

struct integer {
    uint64_t magnitude;
    int negative;
    int bits;
};

static struct integer as_integer(int64_t value, int bits) {
    struct integer result = {(uint64_t)value, 0, bits};
    if (value < 0) {
        result.magnitude = 0u - (uint64_t)value;
        result.negative = 1;
    }
    return result;
}

static struct integer fetch_signed(enum __colt_length length, struct __colt_arguments *arguments) {
    switch (length) {
    case COLT_LENGTH_CHAR: return as_integer((signed char)va_arg(arguments->list, int), 8);
    case COLT_LENGTH_SHORT: return as_integer((short)va_arg(arguments->list, int), 16);
    case COLT_LENGTH_LONG: return as_integer(va_arg(arguments->list, long), sizeof(long) * 8);
    case COLT_LENGTH_SIZE:
    case COLT_LENGTH_POINTER_DIFFERENCE:
        return as_integer(va_arg(arguments->list, ptrdiff_t), sizeof(ptrdiff_t) * 8);
    case COLT_LENGTH_LONG_LONG:
    case COLT_LENGTH_MAX:
    case COLT_LENGTH_LONG_DOUBLE: return as_integer(va_arg(arguments->list, long long), 64);
    default: return as_integer(va_arg(arguments->list, int), 32);
    }
}

static struct integer fetch_unsigned(enum __colt_length length, struct __colt_arguments *arguments) {
    switch (length) {
    case COLT_LENGTH_CHAR: return (struct integer){(unsigned char)va_arg(arguments->list, unsigned), 0, 8};
    case COLT_LENGTH_SHORT: return (struct integer){(unsigned short)va_arg(arguments->list, unsigned), 0, 16};
    case COLT_LENGTH_LONG: return (struct integer){va_arg(arguments->list, unsigned long), 0, sizeof(long) * 8};
    case COLT_LENGTH_SIZE:
    case COLT_LENGTH_POINTER_DIFFERENCE:
        return (struct integer){va_arg(arguments->list, size_t), 0, sizeof(size_t) * 8};
    case COLT_LENGTH_LONG_LONG:
    case COLT_LENGTH_MAX:
    case COLT_LENGTH_LONG_DOUBLE: return (struct integer){va_arg(arguments->list, unsigned long long), 0, 64};
    default: return (struct integer){va_arg(arguments->list, unsigned), 0, 32};
    }
}

#define MAX_INTEGER_DIGITS 24

// Digits are counted by comparing with powers of ten and each is computed from the whole number, in 32 bits where that
// is enough: simple terms for the solver.
static int decimal_digits(const struct integer *integer, char *out) {
    uint64_t value = integer->magnitude, unit = 1;
    int n_max = integer->bits <= 8 ? 3 : integer->bits <= 16 ? 5 : integer->bits <= 32 ? 10 : 20, n = 1;
    while (n < n_max && value >= unit * 10) {
        unit *= 10;
        n++;
    }
    for (int i = 0; i < n; i++, unit /= 10) {
        if (integer->bits <= 32)
            out[i] = (char)('0' + (uint32_t)value / (uint32_t)unit % 10);
        else
            out[i] = (char)('0' + value / unit % 10);
    }
    return n;
}

static int binary_digits(const struct integer *integer, int bits_each, int letter_a, char *out) {
    uint64_t value = integer->magnitude;
    int n_max = (integer->bits + bits_each - 1) / bits_each, n = 1;
    while (n < n_max && value >> (n * bits_each))
        n++;
    for (int i = 0; i < n; i++) {
        int digit = (int)(value >> ((n - 1 - i) * bits_each)) & ((1 << bits_each) - 1);
        out[i] = (char)('0' + digit + (digit > 9) * (letter_a - '0' - 10));
    }
    return n;
}

// `prefix` is the sign or 0x, in front of the zeros that a width or precision asks for.
static void put_integer(struct __colt_sink *sink, const struct __colt_specification *spec, const char *prefix,
                        const char *digits, int n_digits) {
    int n_prefix = (int)colt_length(prefix);
    int n_zeros = spec->precision > n_digits ? spec->precision - n_digits : 0;
    long n_pad = (long)spec->width - n_prefix - n_zeros - n_digits;
    int pad_with_zeros = spec->zero && !spec->left && spec->precision < 0;
    if (!spec->left && !pad_with_zeros)
        __colt_fill(sink, ' ', n_pad);
    __colt_emit(sink, prefix, (size_t)n_prefix);
    if (pad_with_zeros)
        __colt_fill(sink, '0', n_pad);
    __colt_fill(sink, '0', n_zeros);
    __colt_emit(sink, digits, (size_t)n_digits);
    if (spec->left)
        __colt_fill(sink, ' ', n_pad);
}

static void put_signed(struct __colt_sink *sink, const struct __colt_specification *spec, struct integer integer) {
    char digits[MAX_INTEGER_DIGITS];
    int n = spec->precision == 0 && integer.magnitude == 0 ? 0 : decimal_digits(&integer, digits);
    const char *prefix = integer.negative ? "-" : spec->plus ? "+" : spec->space ? " " : "";
    put_integer(sink, spec, prefix, digits, n);
}

static void put_unsigned(struct __colt_sink *sink, const struct __colt_specification *spec, struct integer integer) {
    char digits[MAX_INTEGER_DIGITS];
    const char *prefix = "";
    int empty = spec->precision == 0 && integer.magnitude == 0, n = 0;
    switch (spec->conversion) {
    case 'u':
        n = empty ? 0 : decimal_digits(&integer, digits);
        break;
    case 'o':
        digits[0] = '0';
        n = empty ? 0 : binary_digits(&integer, 3, 'a', digits + 1);
        // The alternate form begins with a zero, unless the digits or the precision already give one.
        if (spec->alternate && spec->precision <= n && (empty || integer.magnitude != 0)) {
            put_integer(sink, spec, "", digits, n + 1);
            return;
        }
        put_integer(sink, spec, "", digits + 1, n);
        return;
    default:
        n = empty ? 0 : binary_digits(&integer, 4, spec->conversion == 'X' ? 'A' : 'a', digits);
        if (spec->alternate && integer.magnitude != 0)
            prefix = spec->conversion == 'X' ? "0X" : "0x";
        break;
    }
    put_integer(sink, spec, prefix, digits, n);
}

static void put_pointer(struct __colt_sink *sink, const struct __colt_specification *spec, const void *pointer) {
    if (!pointer) {
        long n_pad = (long)spec->width - 5;
        if (!spec->left)
            __colt_fill(sink, ' ', n_pad);
        __colt_emit(sink, "(nil)", 5);
        if (spec->left)
            __colt_fill(sink, ' ', n_pad);
        return;
    }
    char digits[MAX_INTEGER_DIGITS];
    struct integer integer = {(uintptr_t)pointer, 0, sizeof pointer * 8};
    int n = binary_digits(&integer, 4, 'a', digits);
    put_integer(sink, spec, spec->plus ? "+0x" : spec->space ? " 0x" : "0x", digits, n);
}

// --- text ----------------------------------------------------------------------------------------------------------------

static void put_text(struct __colt_sink *sink, const struct __colt_specification *spec, const char *text, size_t n) {
    long n_pad = spec->width > 0 && (size_t)spec->width > n ? (long)((size_t)spec->width - n) : 0;
    if (!spec->left)
        __colt_fill(sink, ' ', n_pad);
    __colt_emit(sink, text, n);
    if (spec->left)
        __colt_fill(sink, ' ', n_pad);
}

static void put_string(struct __colt_sink *sink, const struct __colt_specification *spec, const char *text) {
    if (!text)
        text = spec->precision >= 0 && spec->precision < 6 ? "" : "(null)";
    size_t n = spec->precision < 0 ? colt_length(text) : colt_length_up_to(text, (size_t)spec->precision);
    put_text(sink, spec, text, n);
}

// In the C locale a wide character is a byte below 128 or an error.
static void put_wide_string(struct __colt_sink *sink, const struct __colt_specification *spec, const wchar_t *text) {
    if (!text) {
        put_string(sink, spec, NULL);
        return;
    }
    size_t max = spec->precision < 0 ? SIZE_MAX : (size_t)spec->precision, n = 0;
    for (; n < max && text[n]; n++) {
        if ((unsigned)text[n] >= 128) {
            colt_errno = COLT_EILSEQ;
            sink->failed = 1;
            return;
        }
    }
    long n_pad = spec->width > 0 && (size_t)spec->width > n ? (long)((size_t)spec->width - n) : 0;
    if (!spec->left)
        __colt_fill(sink, ' ', n_pad);
    for (size_t i = 0; i < n; i++) {
        char c = (char)text[i];
        __colt_emit(sink, &c, 1);
    }
    if (spec->left)
        __colt_fill(sink, ' ', n_pad);
}

static void put_character(struct __colt_sink *sink, const struct __colt_specification *spec,
                          struct __colt_arguments *arguments) {
    unsigned value = va_arg(arguments->list, unsigned);
    int is_wide = spec->conversion == 'C' || spec->length == COLT_LENGTH_LONG;
    if (is_wide && value >= 128) {
        colt_errno = COLT_EILSEQ;
        sink->failed = 1;
        return;
    }
    char c = (char)value;
    put_text(sink, spec, &c, 1);
}

static void store_count(struct __colt_sink *sink, enum __colt_length length, struct __colt_arguments *arguments) {
    void *target = va_arg(arguments->list, void *);
    switch (length) {
    case COLT_LENGTH_CHAR: *(signed char *)target = (signed char)sink->count; break;
    case COLT_LENGTH_SHORT: *(short *)target = (short)sink->count; break;
    case COLT_LENGTH_LONG: *(long *)target = (long)sink->count; break;
    case COLT_LENGTH_SIZE:
    case COLT_LENGTH_POINTER_DIFFERENCE: *(ptrdiff_t *)target = (ptrdiff_t)sink->count; break;
    case COLT_LENGTH_LONG_LONG:
    case COLT_LENGTH_MAX: *(long long *)target = (long long)sink->count; break;
    default: *(int *)target = (int)sink->count; break;
    }
}

// --- the formatter ---------------------------------------------------------------------------------------------------------

char *strerror(int number);

static void put_conversion(struct __colt_sink *sink, const struct __colt_specification *spec, const char *start,
                           const char *end, struct __colt_arguments *arguments) {
    switch (spec->conversion) {
    case 'd': case 'i': put_signed(sink, spec, fetch_signed(spec->length, arguments)); break;
    case 'u': case 'o': case 'x': case 'X': put_unsigned(sink, spec, fetch_unsigned(spec->length, arguments)); break;
    case 'c': case 'C': put_character(sink, spec, arguments); break;
    case 'S': put_wide_string(sink, spec, va_arg(arguments->list, wchar_t *)); break;
    case 's':
        if (spec->length == COLT_LENGTH_LONG)
            put_wide_string(sink, spec, va_arg(arguments->list, wchar_t *));
        else
            put_string(sink, spec, va_arg(arguments->list, char *));
        break;
    case 'p': put_pointer(sink, spec, va_arg(arguments->list, void *)); break;
    case 'f': case 'F': case 'e': case 'E': case 'g': case 'G': case 'a': case 'A':
        if (spec->length == COLT_LENGTH_LONG_DOUBLE)
            __colt_format_long_double(sink, spec, va_arg(arguments->list, long double));
        else
            __colt_format_double(sink, spec, va_arg(arguments->list, double));
        break;
    case 'n': store_count(sink, spec->length, arguments); break;
    case 'm': put_string(sink, spec, strerror(colt_errno)); break;
    case '%': __colt_emit(sink, "%", 1); break;
    default: __colt_emit(sink, start, (size_t)(end - start)); break;
    }
}

int __colt_format(struct __colt_sink *sink, const char *format, struct __colt_arguments *arguments) {
    const char *p = format;
    while (*p && !sink->failed) {
        const char *literal = p;
        while (*p && *p != '%')
            p++;
        __colt_emit(sink, literal, (size_t)(p - literal));
        if (*p != '%')
            break;
        struct __colt_specification spec;
        const char *start = p;
        p = read_specification(p + 1, &spec, arguments);
        if (!spec.conversion) {
            // A lone percent sign at the end.
            colt_errno = COLT_EINVAL;
            sink->failed = 1;
            break;
        }
        put_conversion(sink, &spec, start, p, arguments);
    }
    if (sink->failed)
        return -1;
    if (sink->count > INT_MAX) {
        colt_errno = COLT_EOVERFLOW;
        return -1;
    }
    return (int)sink->count;
}

// --- the light formatter -----------------------------------------------------------------------------------------------------
//
// Output that nobody looks at and whose length nobody asks for: no number may fork, yet a bad string argument is
// still a bug. See stdio_light.c.

static void check_string(const struct __colt_specification *spec, const char *text) {
    if (text)
        __colt_check_string(text, spec->precision < 0 ? SIZE_MAX : (size_t)spec->precision);
}

static void puts_out_double(double value) {
    union {
        double number;
        unsigned long long bits;
    } both = {.number = value};
    __colt_puts_out(both.bits);
}

static void look_at_conversion(const struct __colt_specification *spec, struct __colt_arguments *arguments) {
    switch (spec->conversion) {
    case 'd': case 'i': case 'u': case 'o': case 'x': case 'X': __colt_puts_out(fetch_unsigned(spec->length, arguments).magnitude); break;
    case 'c': case 'C': __colt_puts_out((unsigned)va_arg(arguments->list, int)); break;
    case 's':
        if (spec->length != COLT_LENGTH_LONG) {
            check_string(spec, va_arg(arguments->list, char *));
            break;
        }
        (void)va_arg(arguments->list, void *);
        break;
    case 'S': case 'p': __colt_puts_out((uintptr_t)va_arg(arguments->list, void *)); break;
    case 'f': case 'F': case 'e': case 'E': case 'g': case 'G': case 'a': case 'A':
        if (spec->length == COLT_LENGTH_LONG_DOUBLE)
            (void)va_arg(arguments->list, long double);
        else
            puts_out_double(va_arg(arguments->list, double));
        break;
    case 'n':
        (void)va_arg(arguments->list, void *);
        __colt_gap("printf %n");
        break;
    default: break;
    }
}

void __colt_look_at(const char *format, struct __colt_arguments *arguments) {
    for (const char *p = format; *p;) {
        if (*p++ != '%')
            continue;
        struct __colt_specification spec;
        p = read_specification(p, &spec, arguments);
        look_at_conversion(&spec, arguments);
    }
}
