// Shared by all files of this library: error numbers, limits and comparisons that never branch.
//
// The library runs under an engine that forks at every branch on symbolic data. Hence three habits:
// conditions over symbolic bytes are joined with & and | (which compute) rather than && and || (which branch);
// helpers are static or carry the __colt_ prefix, so that a program defining its own strlen or index does not change
// what printf does; and no function reads a byte that C does not allow it to read, since every access is checked.
#ifndef COLT_COMMON_H
#define COLT_COMMON_H

#include <limits.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include "engine.h"

#define COLT_ENOENT 2
#define COLT_EIO 5
#define COLT_EBADF 9
#define COLT_ECHILD 10
#define COLT_ENOMEM 12
#define COLT_EACCES 13
#define COLT_EINVAL 22
#define COLT_ENOTTY 25
#define COLT_ESPIPE 29
#define COLT_EDOM 33
#define COLT_ERANGE 34
#define COLT_ENOSYS 38
#define COLT_EOVERFLOW 75
#define COLT_EILSEQ 84

#define COLT_EOF (-1)

int *__errno_location(void);
#define colt_errno (*__errno_location())

typedef unsigned char byte;

// A va_list that can be handed on by pointer on every target (a bare one may be an array type).
struct __colt_arguments {
    va_list list;
};

static inline int colt_is_digit(int c) { return (unsigned)c - '0' < 10u; }
static inline int colt_is_upper(int c) { return (unsigned)c - 'A' < 26u; }
static inline int colt_is_lower(int c) { return (unsigned)c - 'a' < 26u; }
static inline int colt_is_alpha(int c) { return colt_is_upper(c) | colt_is_lower(c); }
static inline int colt_is_space(int c) { return (c == ' ') | ((unsigned)c - '\t' < 5u); }
static inline int colt_to_lower(int c) { return c + (colt_is_upper(c) << 5); }
static inline int colt_to_upper(int c) { return c - (colt_is_lower(c) << 5); }

// The value of `c` as a digit in base 36, or a number above 35 when it is none.
static inline unsigned colt_digit_value(int c) {
    unsigned decimal = (unsigned)c - '0';
    unsigned letter = (unsigned)colt_to_lower(c) - 'a';
    unsigned is_decimal = 0u - (unsigned)(decimal < 10u);
    unsigned is_letter = 0u - (unsigned)(letter < 26u);
    return (decimal & is_decimal) | ((letter + 10u) & is_letter) | (64u & ~(is_decimal | is_letter));
}

static inline int colt_seek(const void *s, size_t max, const void *stops, size_t n_stops, int not_in, size_t *result) {
    return __colt_spans() && __colt_seek(s, max, stops, n_stops, not_in, result);
}

static inline size_t colt_length(const char *s) {
    size_t n;
    if (colt_seek(s, SIZE_MAX, "", 1, 0, &n))
        return n;
    n = 0;
    while (s[n])
        n++;
    return n;
}

static inline size_t colt_length_up_to(const char *s, size_t max) {
    size_t n;
    if (colt_seek(s, max, "", 1, 0, &n))
        return n;
    n = 0;
    while (n < max && s[n])
        n++;
    return n;
}

#endif
