// Reading numbers from text, shared by strtol's family, strtod's family and scanf.
#ifndef COLT_NUMBER_H
#define COLT_NUMBER_H

#include "common.h"

// An integer while its digits arrive. `ceiling` is the largest value that as many digits could have: it is concrete
// even when the digits are not, so the test for overflow costs nothing until overflow is possible at all.
struct __colt_integer {
    uint64_t magnitude;
    uint64_t ceiling;
    unsigned base;
    int overflowed;
};

static inline struct __colt_integer colt_integer_start(unsigned base) {
    struct __colt_integer number = {0, 0, base, 0};
    return number;
}

static inline void colt_integer_push(struct __colt_integer *number, unsigned digit) {
    uint64_t base = number->base;
    if (number->ceiling > (UINT64_MAX - (base - 1)) / base) {
        number->ceiling = UINT64_MAX;
        if (number->magnitude > (UINT64_MAX - digit) / base)
            number->overflowed = 1;
    } else {
        number->ceiling = number->ceiling * base + (base - 1);
    }
    number->magnitude = number->magnitude * base + digit;
}

// The C types strtol's family can answer with.
enum __colt_integer_type { COLT_SIGNED_LONG, COLT_UNSIGNED_LONG, COLT_SIGNED_LONG_LONG, COLT_UNSIGNED_LONG_LONG };

// The value as `type`, its sign applied without a branch (`negative` is 0 or 1); out of range gives the nearest limit
// and ERANGE.
uint64_t __colt_integer_finish(const struct __colt_integer *number, int negative, enum __colt_integer_type type);

// A binary floating-point number that text stands for: mantissa * 2^exponent.
enum __colt_float_kind { COLT_FLOAT_FINITE, COLT_FLOAT_INFINITE, COLT_FLOAT_NAN };
struct __colt_float {
    enum __colt_float_kind kind;
    int negative;
    uint64_t mantissa;
    int exponent;
};

double __colt_text_to_double(const char *text, char **end);
float __colt_text_to_float(const char *text, char **end);
long double __colt_text_to_long_double(const char *text, char **end);

#endif
