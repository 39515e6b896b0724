// Calls our C library and the system's on the same random arguments and compares everything that comes back.
//
// The library is compiled with its names changed to rt_* and with the sanitizers on; arguments lie in heap blocks of
// exactly their size, so a read of one byte too many is an error too.
#define _GNU_SOURCE
#include <ctype.h>
#include <errno.h>
#include <float.h>
#include <getopt.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <wchar.h>

// --- the engine's side --------------------------------------------------------------------------------------------------

static char output[4096];
static size_t n_output;
static const char *standard_input;

void __colt_output(int fd, const void *bytes, size_t n) {
    (void)fd;
    memcpy(output + n_output, bytes, n);
    n_output += n;
}
int __colt_stdin_byte(void) { return *standard_input ? (unsigned char)*standard_input++ : -1; }
void __colt_check_string(const char *text, size_t max) {
    for (size_t i = 0; i < max && ((volatile const char *)text)[i]; i++) {
    }
}
void __colt_gap(const char *what) { printf("gap: %s\n", what); }
void __colt_note(const char *what) { (void)what; }
void __colt_puts_out(unsigned long long value) { (void)value; }
int colt_range(int low, int high, const char *name) { return (void)high, (void)name, low; }
int __colt_concrete(int value, const char *why) { return (void)why, value; }
_Noreturn void __colt_exit(int status) { exit(status); }
_Noreturn void __colt_assert_fail(const char *e, const char *f, unsigned l, const char *g) {
    (void)e, (void)f, (void)l, (void)g;
    abort();
}
size_t malloc_usable_size(void *);
int __colt_checks_overlap(void) { return 1; }
void __colt_apart(const void *to, size_t n_to, const void *from, size_t n_from) { (void)to, (void)n_to, (void)from, (void)n_from; }
// Lengths are numbers here: most of what follows is never called.
int __colt_spans(void) { return 0; }
int __colt_spans_between(const void *to, const void *from) { return (void)to, (void)from, 0; }
int __colt_seek(const void *start, size_t max, const void *stops, size_t n_stops, int not_in, size_t *result) { abort(); }
int __colt_seek_last(const void *start, size_t max, const void *stops, size_t n_stops, int not_in, size_t *result) { abort(); }
int __colt_differ(const void *a, const void *b, size_t max, int to_zero, int folds, unsigned char bytes[2]) { abort(); }
int __colt_find(const char *hay, const char *needle, int folds, size_t *result) { abort(); }
int __colt_copy_text(char *to, const char *from, size_t *length) { abort(); }
const void *__colt_stream(const char *name, size_t *size) { abort(); }
size_t __colt_space(const void *pointer) { abort(); }
size_t __colt_least(size_t a, size_t b) { return a < b ? a : b; }
int __colt_is_open(long number) { abort(); }
size_t __colt_object_size(void *p) { return malloc_usable_size(p); }
void __colt_realloc_check(void *p) { (void)p; }
void *__colt_malloc_aligned(size_t alignment, size_t size) { return aligned_alloc(alignment, size); }
// Threads need the engine; nothing compared here starts one.
int __colt_thread_new(void (*function)(void *), void *argument) { abort(); }
void __colt_thread_switch(int number) { abort(); }
_Noreturn void __colt_thread_end(int number) { abort(); }
_Noreturn void __colt_deadlock(const char *text) { abort(); }

int *rt___errno_location(void);
#define rt_errno (*rt___errno_location())

// --- random arguments -------------------------------------------------------------------------------------------------------

static uint64_t seed = 88172645463325252ull;
static uint64_t next(void) {
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return seed;
}
static unsigned below(unsigned n) { return (unsigned)((next() >> 11) % n); }
static int pick(const char *set) { return set[below((unsigned)strlen(set))]; }

static int n_failed, n_compared;
#define CHECK(condition, ...)                                                                                         \
    do {                                                                                                              \
        n_compared++;                                                                                                 \
        if (!(condition) && n_failed++ < 40) {                                                                        \
            printf("line %d: %s: ", __LINE__, #condition);                                                            \
            printf(__VA_ARGS__);                                                                                      \
            printf("\n");                                                                                             \
        }                                                                                                             \
    } while (0)

// A string in a block of exactly its size.
static char *random_string(unsigned max, const char *alphabet) {
    unsigned n = below(max + 1);
    char *s = malloc(n + 1);
    for (unsigned i = 0; i < n; i++)
        s[i] = (char)pick(alphabet);
    s[n] = 0;
    return s;
}
static char *block_of(const char *text) { return strcpy(malloc(strlen(text) + 1), text); }

static int sign(int x) { return (x > 0) - (x < 0); }

// --- string.h -------------------------------------------------------------------------------------------------------------------

size_t rt_strlen(const char *), rt_strnlen(const char *, size_t), rt_strspn(const char *, const char *),
    rt_strcspn(const char *, const char *);
int rt_strcmp(const char *, const char *), rt_strncmp(const char *, const char *, size_t),
    rt_strcasecmp(const char *, const char *), rt_strncasecmp(const char *, const char *, size_t),
    rt_memcmp(const void *, const void *, size_t);
char *rt_strchr(const char *, int), *rt_strrchr(const char *, int), *rt_strchrnul(const char *, int),
    *rt_strstr(const char *, const char *), *rt_strcasestr(const char *, const char *),
    *rt_strpbrk(const char *, const char *), *rt_strcpy(char *, const char *), *rt_stpcpy(char *, const char *),
    *rt_strncpy(char *, const char *, size_t), *rt_strcat(char *, const char *),
    *rt_strncat(char *, const char *, size_t), *rt_strdup(const char *), *rt_strndup(const char *, size_t),
    *rt_strtok_r(char *, const char *, char **), *rt_strsep(char **, const char *), *rt_strerror(int),
    *rt___xpg_basename(char *), *rt_dirname(char *);
void *rt_memchr(const void *, int, size_t), *rt_memrchr(const void *, int, size_t),
    *rt_memmem(const void *, size_t, const void *, size_t), *rt_memmove(void *, const void *, size_t),
    *rt_memset(void *, int, size_t), *rt_memcpy(void *, const void *, size_t),
    *rt_memccpy(void *, const void *, int, size_t);
char *__xpg_basename(char *);
char *dirname(char *);

static void compare_tokens(const char *text, const char *separators) {
    char *a = block_of(text), *b = block_of(text), *rest_a = NULL, *rest_b = NULL, *x = a, *y = b;
    do {
        x = strtok_r(x == a ? a : NULL, separators, &rest_a);
        y = rt_strtok_r(y == b ? b : NULL, separators, &rest_b);
        CHECK((x == NULL) == (y == NULL) && (!x || x - a == y - b), "strtok_r(%s, %s)", text, separators);
        if (!x || !y || x == a)
            break;
    } while (1);
    strcpy(a, text);
    strcpy(b, text);
    x = a;
    y = b;
    for (int i = 0; i < 20 && x && y; i++) {
        char *u = strsep(&x, separators), *v = rt_strsep(&y, separators);
        CHECK(u - a == v - b && (x == NULL) == (y == NULL), "strsep(%s, %s)", text, separators);
    }
    CHECK(memcmp(a, b, strlen(text) + 1) == 0, "what strsep leaves of %s", text);
    free(a);
    free(b);
}

static void compare_strings(void) {
    char *a = random_string(8, "aAbB/"), *b = random_string(4, "aAbB/");
    size_t n = below(10), n_a = strlen(a), n_b = strlen(b);
    int c = below(8) ? pick("aAbB/") : 0;
#define SAME(call) CHECK(call == rt_##call, "a=\"%s\" b=\"%s\" n=%zu c=%d", a, b, n, c)
    SAME(strlen(a));
    SAME(strnlen(a, n));
    SAME(strspn(a, b));
    SAME(strcspn(a, b));
    SAME(strcmp(a, b));
    SAME(strncmp(a, b, n));
    SAME(strcasecmp(a, b));
    SAME(strncasecmp(a, b, n));
    SAME(strchr(a, c));
    SAME(strrchr(a, c));
    SAME(strchrnul(a, c));
    SAME(strstr(a, b));
    SAME(strcasestr(a, b));
    SAME(strpbrk(a, b));
    SAME(memchr(a, c, n_a));
    SAME(memrchr(a, c, n_a));
    SAME(memmem(a, n_a, b, n_b));
    size_t least = n_a < n_b ? n_a : n_b;
    CHECK(sign(memcmp(a, b, least)) == sign(rt_memcmp(a, b, least)), "memcmp %s %s", a, b);
    CHECK(sign(strcmp(a, a)) == 0 && rt_strcmp(a, a) == 0, "strcmp of %s with itself", a);

    char x[64], y[64];
    memset(x, 'x', sizeof x);
    memcpy(y, x, sizeof y);
    strcpy(x, a), rt_strcpy(y, a);
    strcat(x, b), rt_strcat(y, b);
    strncat(x, b, n), rt_strncat(y, b, n);
    CHECK(stpcpy(x + 30, b) - x == rt_stpcpy(y + 30, b) - y, "stpcpy %s", b);
    strncpy(x + 40, a, n), rt_strncpy(y + 40, a, n);
    size_t from = below(20), to = below(20), size = below(30);
    memmove(x + to, x + from, size), rt_memmove(y + to, y + from, size);
    memset(x + from, c, n), rt_memset(y + from, c, n);
    void *p = memccpy(x + 50, a, c, least), *q = rt_memccpy(y + 50, a, c, least);
    CHECK((p == NULL) == (q == NULL) && (!p || (char *)p - x == (char *)q - y), "memccpy %s", a);
    CHECK(memcmp(x, y, sizeof x) == 0, "copies of %s %s n=%zu", a, b, n);
    char *d = rt_strndup(a, n), *e = rt_strdup(a), *f = strndup(a, n);
    CHECK(strcmp(d, f) == 0 && strcmp(e, a) == 0, "strdup %s", a);
    free(d), free(e), free(f);
    compare_tokens(a, b);

    char *g = block_of(a), *h = block_of(a);
    CHECK(strcmp(__xpg_basename(g), rt___xpg_basename(h)) == 0, "basename %s", a);
    strcpy(g, a), strcpy(h, a);
    CHECK(strcmp(dirname(g), rt_dirname(h)) == 0, "dirname %s", a);
    free(g), free(h), free(a), free(b);
}

// --- ctype.h ------------------------------------------------------------------------------------------------------------------------

#define CTYPES(X)                                                                                                     \
    X(isalpha) X(isdigit) X(isalnum) X(isspace) X(isupper) X(islower) X(isxdigit) X(isprint) X(isgraph) X(isblank)    \
    X(iscntrl) X(ispunct)
#define DECLARE(name) int rt_##name(int);
CTYPES(DECLARE)
int rt_tolower(int), rt_toupper(int);
const unsigned short **rt___ctype_b_loc(void);
const int **rt___ctype_tolower_loc(void), **rt___ctype_toupper_loc(void);

static void compare_characters(void) {
    for (int c = -1; c < 256; c++) {
#define SAME_CLASS(name) CHECK((name)(c) == rt_##name(c), "%s(%d)", #name, c);
        CTYPES(SAME_CLASS)
        CHECK((tolower)(c) == rt_tolower(c) && (toupper)(c) == rt_toupper(c), "case of %d", c);
    }
    for (int c = -128; c < 256; c++) {
        CHECK((*__ctype_b_loc())[c] == (*rt___ctype_b_loc())[c], "class table at %d", c);
        CHECK((*__ctype_tolower_loc())[c] == (*rt___ctype_tolower_loc())[c], "lower table at %d", c);
        CHECK((*__ctype_toupper_loc())[c] == (*rt___ctype_toupper_loc())[c], "upper table at %d", c);
    }
}

// --- numbers from text -------------------------------------------------------------------------------------------------------------------

long rt_strtol(const char *, char **, int);
unsigned long rt_strtoul(const char *, char **, int);
long long rt_strtoll(const char *, char **, int);
unsigned long long rt_strtoull(const char *, char **, int);
int rt_atoi(const char *);
double rt_strtod(const char *, char **);
float rt_strtof(const char *, char **);
long double rt_strtold(const char *, char **);

static char *random_integer_text(void) {
    static const char *const edges[] = {
        "9223372036854775807", "9223372036854775808", "-9223372036854775808", "-9223372036854775809",
        "18446744073709551615", "18446744073709551616", "-18446744073709551615", "-18446744073709551616",
        "2147483647", "2147483648", "-2147483648", "-2147483649", "4294967295", "4294967296", "0x7fffffffffffffff",
        "0x8000000000000000", "0xffffffffffffffff", "0x10000000000000000", "0x", "0xg", "0X1f", "-", "+", "",
        "01777777777777777777777", "99999999999999999999999999999999", " \t\n-12", "zz", "ZZZZZZZZZZZZZZZZ"};
    if (below(3) == 0)
        return block_of(edges[below(sizeof edges / sizeof *edges)]);
    return random_string(below(2) ? 6 : 26, below(2) ? "0123456789" : " -+0123456789abcfxXzZ");
}

static void compare_integers_in_text(void) {
    static const int bases[] = {0, 10, 16, 2, 8, 36, 3, 1, -1, 37};
    char *text = random_integer_text();
    int base = bases[below(10)];
#define SAME_INTEGER(name)                                                                                            \
    {                                                                                                                 \
        char *p = NULL, *q = NULL;                                                                                    \
        errno = rt_errno = 0;                                                                                         \
        long long x = (long long)name(text, &p, base), y = (long long)rt_##name(text, &q, base);                      \
        int valid = base == 0 || (base > 1 && base <= 36);                                                            \
        CHECK(x == y && (p == q || !valid) && errno == rt_errno, #name "(\"%s\", %d): %lld %lld errno %d %d", text,   \
              base, x, y, errno, rt_errno);                                                                           \
    }
    SAME_INTEGER(strtol)
    SAME_INTEGER(strtoul)
    SAME_INTEGER(strtoll)
    SAME_INTEGER(strtoull)
    CHECK(atoi(text) == rt_atoi(text), "atoi(%s)", text);
    free(text);
}

static double random_double(void) {
    uint64_t bits = next();
    double value;
    switch (below(6)) {
    case 0: memcpy(&value, &bits, sizeof value); return value;
    case 1: return (double)(int64_t)bits / 1e9;
    case 2: return (int)below(2000) / 8.0 - 100;
    case 3: return (int)below(100000) / 1000.0;
    case 4: return below(2) ? ldexp(1.0, (int)below(2098) - 1074) : -0.0;
    default: return (double)below(1000000) * pow(10, (int)below(40) - 20);
    }
}

static long double random_long_double(void) {
    if (below(2))
        return random_double();
    return ldexpl((long double)next(), (int)below(below(3) ? 200 : 32000) - (below(3) ? 130 : 16400));
}

static void random_float_text(char *out, size_t size) {
    static const char *const edges[] = {
        "inf", "-INFINITY", "infinit", "nan", "nan(12)", "nan(1-", "+", "-", ".", "-.", "1e", "1e+", "0x", "0x.p1",
        "0x1p", "0x1.8p+1", "-0x.8p-3", "1e400", "-1e400", "1e-400", "4.9e-324", "2.4703282292062327e-324",
        "2.4703282292062328e-324", "1.7976931348623157e308", "1.7976931348623159e308", "2.2250738585072011e-308",
        "2.2250738585072014e-308", "9007199254740993", "0.500000000000000166533453693773481063544750213623046875",
        "0x1.fffffffffffff7p0", "0x1.fffffffffffff8p0", "0x1.00000000000008p0", "0x123456789abcdef0123.8p-4", "-0",
        "3.4028235e38", "3.4028236e38", "1.17549429e-38", "1.175494341e-38", "1.175494350e-38", "2.22507385850720137e-308",
        "2.2250738585072012595e-308", "1e-45", "7e-46", "1e4932", "1e5000", "3.6e-4951",
        "1.8225997659412373013e-4951", "0x1.ffffffffffffffffp0", "0x8.0000000000000008p0", "0x0p5", "0e99999",
        "100000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000001e-90",
        "0.000000000000000000000000000000000000000000000000000000000000000000000000000000000000001e+99", "1..2"};
    switch (below(6)) {
    case 0: snprintf(out, size, "%s", edges[below(sizeof edges / sizeof *edges)]); break;
    case 1: snprintf(out, size, "%.*e", (int)below(25), random_double()); break;
    case 2: snprintf(out, size, "%.*Lg", (int)below(30), random_long_double()); break;
    case 3: snprintf(out, size, "%a", random_double()); break;
    case 4: {
        // Halfway between two neighbours, and a little beside it.
        double low = fabs(random_double());
        if (!(low < 1e300))
            low = 1;
        long double middle = ((long double)low + nextafter(low, INFINITY)) / 2;
        int n = snprintf(out, size, "%.*Le", 40 + (int)below(760), middle);
        if (n > 4 && below(2))
            out[3 + below((unsigned)n - 8)] ^= 1;
        break;
    }
    default:
        for (size_t n = 0;; n++) {
            if (n == 12 || below(8) == 0) {
                out[n] = 0;
                break;
            }
            out[n] = (char)pick("0123456789.eE+- x");
        }
    }
}

static void compare_floats_in_text(void) {
    char buffer[2000];
    random_float_text(buffer, sizeof buffer);
    char *text = block_of(buffer);
#define SAME_FLOAT(type, name)                                                                                        \
    {                                                                                                                 \
        char *p = NULL, *q = NULL;                                                                                    \
        errno = rt_errno = 0;                                                                                         \
        type x = name(text, &p), y = rt_##name(text, &q);                                                             \
        int same = (isnan(x) && isnan(y)) || (x == y && signbit(x) == signbit(y));                                    \
        CHECK(same && p == q && errno == rt_errno, #name "(\"%s\"): %La %La, %td %td, errno %d %d", text,             \
              (long double)x, (long double)y, p - text, q - text, errno, rt_errno);                                   \
    }
    SAME_FLOAT(double, strtod)
    SAME_FLOAT(float, strtof)
    SAME_FLOAT(long double, strtold)
    free(text);
}

// --- printf ----------------------------------------------------------------------------------------------------------------------------------

int rt_snprintf(char *, size_t, const char *, ...), rt_sprintf(char *, const char *, ...), rt_printf(const char *, ...),
    rt_asprintf(char **, const char *, ...), rt_puts(const char *);
void __colt_printf_light(const char *, ...);

static char *random_specification(char *p, const char *lengths[], unsigned n_lengths, const char *conversions) {
    *p++ = '%';
    while (below(2))
        *p++ = (char)pick("-+ #0");
    if (below(2))
        p += sprintf(p, "%u", below(30));
    if (below(2))
        p += below(6) ? sprintf(p, ".%u", below(25)) : sprintf(p, ".");
    p = stpcpy(p, lengths[below(n_lengths)]);
    *p++ = (char)pick(conversions);
    *p = 0;
    return p;
}

#define SAME_TEXT(...)                                                                                                \
    {                                                                                                                 \
        static char a[12000], b[12000];                                                                               \
        size_t size = below(4) ? sizeof a : below(20);                                                                \
        memset(a, '?', 64), memset(b, '?', 64);                                                                       \
        int x = snprintf(a, size, format, __VA_ARGS__), y = rt_snprintf(b, size, format, __VA_ARGS__);                \
        CHECK(x == y && (size == 0 ? memcmp(a, b, 64) : strcmp(a, b)) == 0, "\"%s\" size %zu: <%s> <%s> %d %d",      \
              format, size, a, b, x, y);                                                                              \
    }

static void compare_formatted(void) {
    char format[100];
    long long value = below(3) ? (long long)next() >> below(64) : (long long)below(3);
    static const char *ints[] = {"", "hh", "h"}, *longs[] = {"l", "z", "t"}, *long_longs[] = {"ll", "j", "q"};
    static const char *none[] = {""}, *long_double_length[] = {"L"};
    char *p = stpcpy(format, "<");
    switch (below(7)) {
    case 0:
        strcpy(random_specification(p, ints, 3, "diuoxXc"), "%%>");
        SAME_TEXT((int)value);
        break;
    case 1:
        strcpy(random_specification(p, longs, 3, "diuoxX"), ">");
        SAME_TEXT((long)value);
        break;
    case 2:
        strcpy(random_specification(p, long_longs, 3, "diuoxX"), ">%d");
        SAME_TEXT(value, 7);
        break;
    case 3: {
        char *text = random_string(12, "abc"), *end = random_specification(p, none, 1, "sp");
        strcpy(end, ">");
        char *argument = below(8) ? text : NULL;
        SAME_TEXT(argument);
        free(text);
        break;
    }
    case 4:
        strcpy(random_specification(p, long_double_length, 1, "fFeEgGaA"), ">");
        long double wide = random_long_double();
        SAME_TEXT(wide);
        break;
    case 5: {
        int n_a = 0, n_b = 0;
        char a[400], b[400];
        double d = random_double();
        d = fabs(d) < 1e100 ? d : 1;
        int width = (int)below(20) - 10, precision = (int)below(10) - 2;
        sprintf(a, "%*.*d%n|%-*s|%+.*g", width, precision, (int)value, &n_a, width, "xyz", precision, d);
        rt_sprintf(b, "%*.*d%n|%-*s|%+.*g", width, precision, (int)value, &n_b, width, "xyz", precision, d);
        CHECK(strcmp(a, b) == 0 && n_a == n_b, "stars %d %d: <%s> <%s>", width, precision, a, b);
        break;
    }
    default:
        strcpy(random_specification(p, none, 1, "fFeEgGaA"), ">");
        double narrow = random_double();
        SAME_TEXT(narrow);
    }
}

static void compare_printing(void) {
    char expected[200], *made;
    n_output = 0;
    int n = rt_printf("%s-%05d|%c%%", "text", -42, 'z');
    CHECK(n == 13 && n_output == 13 && memcmp(output, "text--0042|z%", 13) == 0, "printf gave %d", n);
    n_output = 0;
    CHECK(rt_puts("line") == 5 && n_output == 5 && memcmp(output, "line\n", 5) == 0, "puts");
    n = rt_asprintf(&made, "%d and %s %.3f", 12, "more", 1.5);
    CHECK(n == sprintf(expected, "%d and %s %.3f", 12, "more", 1.5) && strcmp(made, expected) == 0, "asprintf");
    free(made);
    n_output = 0;
    char *text = block_of("abc");
    __colt_printf_light("%d %s %Lf %f %*lld %c", 1, text, 2.0L, 1.0, 4, 5ll, 'c');
    __colt_printf_light("%.2s", text);
    CHECK(n_output == 0, "light printing prints");
    free(text);
}

// --- scanf -----------------------------------------------------------------------------------------------------------------------------------

int rt_sscanf(const char *, const char *, ...), rt_scanf(const char *, ...);

static void compare_scanned(void) {
    static const char *const formats[] = {"%d", "%i", "%u", "%x", "%o", "%ld %c", "%lli", "%hhd%n", "%hd,%n", "%3d%2d",
                                          "%*d %d", "%5x", "%d%%%d"};
    static const char *const texts[] = {"%s", "%3s%s", "%[0-9]%n", "%[^ ]%n", "%2c%n", "%5[]a-c-]%s", "%*s%s",
                                        " %1[+-]%s%n", "%s %n", "0x%s", "%c%c"};
    static const char *const floats[] = {"%lf%n", "%5lf%n", "%lf,%lf"};
    char *text = below(3) ? random_string(12, " 0123456789-+xXabc,%]") : random_integer_text();
    char a[4][64], b[4][64];
    memset(a, 0, sizeof a), memset(b, 0, sizeof b);
    const char *format = NULL;
    char number[2000];
    switch (below(3)) {
    case 0: format = formats[below(sizeof formats / sizeof *formats)]; break;
    case 1: format = texts[below(sizeof texts / sizeof *texts)]; break;
    default:
        format = floats[below(sizeof floats / sizeof *floats)];
        random_float_text(number, sizeof number);
        number[40] = 0;
        free(text);
        text = block_of(number);
    }
    int x = sscanf(text, format, a[0], a[1], a[2], a[3]), y = rt_sscanf(text, format, b[0], b[1], b[2], b[3]);
    CHECK(x == y && memcmp(a, b, sizeof a) == 0, "sscanf(\"%s\", \"%s\"): %d %d; %lx %lx; %d %d", text, format, x, y,
          *(long *)a[0], *(long *)b[0], *(int *)a[1], *(int *)b[1]);
    free(text);
}

struct rt_file;
extern struct rt_file *rt_stdin;
char *rt_fgets(char *, int, struct rt_file *);
int rt_getchar(void), rt_ungetc(int, struct rt_file *), rt_feof(struct rt_file *);
ssize_t rt_getline(char **, size_t *, struct rt_file *);
size_t rt_fread(void *, size_t, size_t, struct rt_file *);

static void compare_input(void) {
    char line[8];
    standard_input = "one two\n3 x4\nlast";
    CHECK(rt_fgets(line, sizeof line, rt_stdin) && strcmp(line, "one two") == 0, "fgets stops when full: %s", line);
    CHECK(rt_getchar() == '\n' && rt_ungetc('7', rt_stdin) == '7', "ungetc");
    int n = 0;
    char c = 0;
    CHECK(rt_scanf("%d %c", &n, &c) == 2 && n == 73 && c == 'x', "scanf %d %c", n, c);
    char *whole = NULL;
    size_t room = 0;
    CHECK(rt_getline(&whole, &room, rt_stdin) == 2 && strcmp(whole, "4\n") == 0, "getline");
    free(whole);
    CHECK(rt_fread(line, 1, 8, rt_stdin) == 4 && memcmp(line, "last", 4) == 0, "fread");
    CHECK(rt_feof(rt_stdin) && rt_getchar() == EOF && !rt_fgets(line, 8, rt_stdin), "end of input");
}

// --- stdlib.h -----------------------------------------------------------------------------------------------------------------------------------

void rt_qsort(void *, size_t, size_t, int (*)(const void *, const void *));
void *rt_bsearch(const void *, const void *, size_t, size_t, int (*)(const void *, const void *));
void *rt_calloc(size_t, size_t), *rt_realloc(void *, size_t);
char *rt_getenv(const char *);
int rt_setenv(const char *, const char *, int), rt_unsetenv(const char *), rt_abs(int), rt_rand_r(unsigned *), rt_rand(void);
void rt_srand(unsigned);
long rt_lrand48(void);
void rt_srand48(long);

struct item {
    int key, rank, more;
};
static int by_key(const void *a, const void *b) { return ((const struct item *)a)->key - ((const struct item *)b)->key; }

static void compare_sorting(void) {
    size_t n = below(below(5) ? 12 : 120);
    struct item *a = malloc(n * sizeof *a + 1), *b = malloc(n * sizeof *b + 1), key = {(int)below(20), 0, 0};
    for (size_t i = 0; i < n; i++)
        a[i] = (struct item){(int)below(20), (int)i, 0};
    memcpy(b, a, n * sizeof *a);
    qsort(a, n, sizeof *a, by_key);
    rt_qsort(b, n, sizeof *b, by_key);
    CHECK(memcmp(a, b, n * sizeof *a) == 0, "qsort of %zu", n);
    CHECK(bsearch(&key, a, n, sizeof *a, by_key) == rt_bsearch(&key, a, n, sizeof *a, by_key), "bsearch in %zu", n);
    free(a), free(b);
}

static void compare_rest_of_stdlib(void) {
    unsigned s = 5, t = 5;
    for (int i = 0; i < 100; i++)
        CHECK(rand_r(&s) == rt_rand_r(&t) && s == t, "rand_r");
    srand48(77), rt_srand48(77);
    for (int i = 0; i < 100; i++)
        CHECK(lrand48() == rt_lrand48(), "lrand48");
    rt_srand(1);
    unsigned state = 1;
    for (int i = 0; i < 100; i++) {
        state = state * 1103515245u + 12345u;
        CHECK(rt_rand() == (int)(state / 65536 % 32768), "rand");
    }
    CHECK(rt_abs(-5) == 5 && rt_abs(7) == 7 && rt_abs(INT_MIN) == INT_MIN, "abs");
    CHECK(!rt_getenv("A"), "empty environment");
    CHECK(rt_setenv("A", "1", 1) == 0 && rt_setenv("AB", "2", 1) == 0 && rt_setenv("A", "3", 0) == 0, "setenv");
    CHECK(strcmp(rt_getenv("A"), "1") == 0 && strcmp(rt_getenv("AB"), "2") == 0, "getenv");
    CHECK(rt_setenv("A", "4", 1) == 0 && strcmp(rt_getenv("A"), "4") == 0, "setenv again");
    CHECK(rt_unsetenv("A") == 0 && !rt_getenv("A") && rt_getenv("AB"), "unsetenv");
    char *block = rt_calloc(3, 4);
    for (int i = 0; i < 12; i++)
        CHECK(block[i] == 0, "calloc");
    strcpy(block, "hello");
    block = rt_realloc(block, 6);
    CHECK(strcmp(block, "hello") == 0, "realloc");
    CHECK(rt_realloc(block, 0) == NULL && !rt_calloc(SIZE_MAX / 2, 3), "realloc to nothing, calloc too large");
    for (int i = -2; i < 35; i++)
        CHECK(strcmp(strerror(i), rt_strerror(i)) == 0, "strerror(%d)", i);
}

// --- time.h -----------------------------------------------------------------------------------------------------------------------------------------

struct tm *rt_gmtime(const time_t *), *rt_localtime(const time_t *);
time_t rt_mktime(struct tm *);
size_t rt_strftime(char *, size_t, const char *, const struct tm *);
char *rt_asctime(const struct tm *), *rt_ctime(const time_t *);

static int same_date(const struct tm *a, const struct tm *b) {
    return a->tm_sec == b->tm_sec && a->tm_min == b->tm_min && a->tm_hour == b->tm_hour && a->tm_mday == b->tm_mday &&
           a->tm_mon == b->tm_mon && a->tm_year == b->tm_year && a->tm_wday == b->tm_wday &&
           a->tm_yday == b->tm_yday && a->tm_isdst == b->tm_isdst && strcmp(a->tm_zone, b->tm_zone) == 0;
}

static void compare_dates(void) {
    time_t when = below(3) ? (time_t)((int64_t)next() >> (below(2) ? 30 : 34)) : (time_t)((int64_t)next() >> 40);
    struct tm a = *gmtime(&when), b = *rt_gmtime(&when);
    CHECK(same_date(&a, &b), "gmtime(%ld)", (long)when);
    a = *localtime(&when), b = *rt_localtime(&when);
    CHECK(same_date(&a, &b), "localtime(%ld)", (long)when);
    char x[400], y[400], format[80];
    int n = 0;
    for (int i = 0; i < 5; i++)
        n += sprintf(format + n, "%%%s%c ", below(4) ? "" : below(2) ? "-" : "_", pick("aAbBcCdDeFgGHIjklmMnpPrRsStTuUVwWxXyYzZ%"));
    size_t size = below(5) ? sizeof x : below(40), n_x = strftime(x, size, format, &a), n_y = rt_strftime(y, size, format, &b);
    CHECK(n_x == n_y && (n_x == 0 || strcmp(x, y) == 0), "strftime(%s) of %ld: <%s> <%s>", format, (long)when, x, y);
    if (a.tm_year < 8000 && a.tm_year > -900) {
        CHECK(strcmp(ctime(&when), rt_ctime(&when)) == 0, "ctime(%ld)", (long)when);
        CHECK(strcmp(asctime(&a), rt_asctime(&b)) == 0, "asctime(%ld)", (long)when);
    }
    a.tm_mon += (int)below(60) - 30, a.tm_mday += (int)below(1000) - 500, a.tm_sec += (int)below(100000) - 50000;
    b.tm_mon = a.tm_mon, b.tm_mday = a.tm_mday, b.tm_sec = a.tm_sec;
    time_t t = mktime(&a), u = rt_mktime(&b);
    CHECK(t == u && same_date(&a, &b), "mktime near %ld: %ld %ld", (long)when, (long)t, (long)u);
}

// --- getopt.h ---------------------------------------------------------------------------------------------------------------------------------------

int rt_getopt_long(int, char *const *, const char *, const struct option *, int *);
extern int rt_optind, rt_opterr, rt_optopt;
extern char *rt_optarg;

static void compare_options(void) {
    static const char *const elements[] = {"-a", "-b", "-bx", "-ab", "-cy", "-c", "word", "other", "--", "-", "--alpha",
                                           "--beta", "--beta=3", "--alp", "--gamma=q", "--gamma", "--none", "-z", "--al=1"};
    static const char *const option_strings[] = {"ab:c::", "+ab:c::", ":ab:c::", "-ab:c::"};
    static int flag;
    static const struct option table[] = {
        {"alpha", 0, NULL, 'a'}, {"beta", 1, NULL, 'b'}, {"gamma", 2, NULL, 'g'}, {"alpine", 0, &flag, 7}, {NULL, 0, NULL, 0}};
    char *x[9] = {"program"}, *y[9];
    int n = 1 + (int)below(7), stop = 0;
    for (int i = 1; i < n; i++)
        x[i] = (char *)elements[below(sizeof elements / sizeof *elements)];
    x[n] = NULL;
    char line[200] = "";
    for (int i = 1; i < n; i++)
        strcat(strcat(line, " "), x[i]);
    memcpy(y, x, sizeof x);
    const char *options = option_strings[below(4)];
    optind = rt_optind = 0;
    opterr = rt_opterr = 0;
    for (int i = 0; i < 20 && !stop; i++) {
        int which_a = -1, which_b = -1, a = getopt_long(n, x, options, table, &which_a),
            b = rt_getopt_long(n, y, options, table, &which_b);
        CHECK(a == b && optarg == rt_optarg && optind == rt_optind && which_a == which_b && (a != '?' || optopt == rt_optopt),
              "getopt_long(%s)%s, step %d: %d %d optind %d %d optopt %d %d", options, line, i, a, b, optind, rt_optind,
              optopt, rt_optopt);
        stop = a == -1 || b == -1;
    }
    CHECK(memcmp(x, y, (size_t)n * sizeof *x) == 0, "order left by getopt_long(%s)%s", options, line);
}

// --- wchar.h ----------------------------------------------------------------------------------------------------------------------------------------

size_t rt_wcslen(const wchar_t *), rt_mbstowcs(wchar_t *, const char *, size_t), rt_wcstombs(char *, const wchar_t *, size_t);
int rt_wcscmp(const wchar_t *, const wchar_t *);
wchar_t *rt_wcsstr(const wchar_t *, const wchar_t *), *rt_wcschr(const wchar_t *, wchar_t);

static void compare_wide(void) {
    char *a = random_string(8, "abc"), *b = random_string(3, "abc"), back[20] = {0}, tuo[20] = {0};
    wchar_t x[20] = {0}, y[20] = {0}, z[20] = {0};
    size_t n = below(12);
    CHECK(mbstowcs(x, a, n) == rt_mbstowcs(y, a, n) && memcmp(x, y, sizeof x) == 0, "mbstowcs(%s)", a);
    CHECK(mbstowcs(NULL, a, 0) == rt_mbstowcs(NULL, a, 0), "length by mbstowcs(%s)", a);
    mbstowcs(z, b, 20);
    CHECK(wcslen(x) == rt_wcslen(x) && sign(wcscmp(x, z)) == sign(rt_wcscmp(x, z)), "wcscmp(%s, %s)", a, b);
    CHECK(wcsstr(x, z) == rt_wcsstr(x, z) && wcschr(x, 'b') == rt_wcschr(x, 'b'), "wcsstr(%s, %s)", a, b);
    CHECK(wcstombs(back, x, n) == rt_wcstombs(tuo, x, n) && memcmp(back, tuo, sizeof back) == 0, "wcstombs(%s)", a);
    free(a), free(b);
}

int main(void) {
    setenv("TZ", "UTC", 1);
    unsetenv("POSIXLY_CORRECT");
    compare_characters();
    compare_printing();
    compare_input();
    compare_rest_of_stdlib();
    for (int i = 0; i < 20000; i++) {
        compare_strings();
        compare_integers_in_text();
        compare_formatted();
        compare_scanned();
    }
    for (int i = 0; i < 4000; i++)
        compare_floats_in_text();
    for (int i = 0; i < 2000; i++)
        compare_sorting();
    for (int i = 0; i < 20000; i++) {
        compare_dates();
        compare_options();
        compare_wide();
    }
    printf("%d comparisons, %d differences\n", n_compared, n_failed);
    return n_failed != 0;
}
