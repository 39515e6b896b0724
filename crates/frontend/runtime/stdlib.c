// stdlib.h without the environment and the exit: integers from text, arithmetic, sorting, searching, random numbers.
#include "common.h"
#include "number.h"

// --- integers from text ---------------------------------------------------------------------------------------------

uint64_t __colt_integer_finish(const struct __colt_integer *number, int negative, enum __colt_integer_type type) {
    uint64_t magnitude = number->magnitude, sign = 0u - (uint64_t)negative;
    uint64_t limit = UINT64_MAX;
    int is_signed = type == COLT_SIGNED_LONG || type == COLT_SIGNED_LONG_LONG;
    if (type == COLT_UNSIGNED_LONG)
        limit = ULONG_MAX;
    else if (is_signed)
        limit = type == COLT_SIGNED_LONG ? (uint64_t)LONG_MAX : (uint64_t)INT64_MAX;
    if (number->ceiling >= limit) {
        uint64_t reach = is_signed ? limit + (uint64_t)negative : limit;
        if (number->overflowed | (magnitude > reach)) {
            colt_errno = COLT_ERANGE;
            return is_signed ? (reach ^ sign) - sign : limit;
        }
    }
    return (magnitude ^ sign) - sign;
}

// One fork for each character that may end the number; the sign and the digits' values cause none.
static uint64_t parse_integer(const char *text, char **end, int base, enum __colt_integer_type type) {
    const char *p = text;
    while (colt_is_space(*p))
        p++;
    int negative = *p == '-';
    if ((*p == '+') | (*p == '-'))
        p++;
    if (base < 0 || base == 1 || base > 36) {
        if (end)
            *end = (char *)text;
        colt_errno = COLT_EINVAL;
        return 0;
    }
    if (base == 0 || base == 16) {
        if (*p == '0' && (p[1] | 32) == 'x' && colt_digit_value(p[2]) < 16) {
            p += 2;
            base = 16;
        } else if (base == 0) {
            base = *p == '0' ? 8 : 10;
        }
    }
    struct __colt_integer number = colt_integer_start((unsigned)base);
    const char *first = p;
    if (base <= 10) {
        unsigned digit;
        for (; (digit = (unsigned)*p - '0') < (unsigned)base; p++)
            colt_integer_push(&number, digit);
    } else {
        unsigned digit;
        for (; (digit = colt_digit_value(*p)) < (unsigned)base; p++)
            colt_integer_push(&number, digit);
    }
    if (end)
        *end = (char *)(p == first ? text : p);
    return __colt_integer_finish(&number, negative, type);
}

#define DEFINE_STRTO(name, result, kind)                                                                              \
    result name(const char *restrict text, char **restrict end, int base) {                                           \
        return (result)parse_integer(text, end, base, kind);                                                          \
    }

DEFINE_STRTO(strtol, long, COLT_SIGNED_LONG)
DEFINE_STRTO(strtoul, unsigned long, COLT_UNSIGNED_LONG)
DEFINE_STRTO(strtoll, long long, COLT_SIGNED_LONG_LONG)
DEFINE_STRTO(strtoull, unsigned long long, COLT_UNSIGNED_LONG_LONG)
DEFINE_STRTO(strtoq, long long, COLT_SIGNED_LONG_LONG)
DEFINE_STRTO(strtouq, unsigned long long, COLT_UNSIGNED_LONG_LONG)
DEFINE_STRTO(strtoimax, intmax_t, COLT_SIGNED_LONG_LONG)
DEFINE_STRTO(strtoumax, uintmax_t, COLT_UNSIGNED_LONG_LONG)
DEFINE_STRTO(__isoc23_strtol, long, COLT_SIGNED_LONG)
DEFINE_STRTO(__isoc23_strtoul, unsigned long, COLT_UNSIGNED_LONG)
DEFINE_STRTO(__isoc23_strtoll, long long, COLT_SIGNED_LONG_LONG)
DEFINE_STRTO(__isoc23_strtoull, unsigned long long, COLT_UNSIGNED_LONG_LONG)
DEFINE_STRTO(__isoc23_strtoimax, intmax_t, COLT_SIGNED_LONG_LONG)
DEFINE_STRTO(__isoc23_strtoumax, uintmax_t, COLT_UNSIGNED_LONG_LONG)

long __strtol_internal(const char *text, char **end, int base, int group) {
    return (void)group, (long)parse_integer(text, end, base, COLT_SIGNED_LONG);
}
unsigned long __strtoul_internal(const char *text, char **end, int base, int group) {
    return (void)group, (unsigned long)parse_integer(text, end, base, COLT_UNSIGNED_LONG);
}

int atoi(const char *text) { return (int)parse_integer(text, NULL, 10, COLT_SIGNED_LONG); }
long atol(const char *text) { return (long)parse_integer(text, NULL, 10, COLT_SIGNED_LONG); }
long long atoll(const char *text) { return (long long)parse_integer(text, NULL, 10, COLT_SIGNED_LONG_LONG); }

double strtod(const char *restrict text, char **restrict end) { return __colt_text_to_double(text, end); }
float strtof(const char *restrict text, char **restrict end) { return __colt_text_to_float(text, end); }
long double strtold(const char *restrict text, char **restrict end) { return __colt_text_to_long_double(text, end); }
double atof(const char *text) { return __colt_text_to_double(text, NULL); }

// --- arithmetic -------------------------------------------------------------------------------------------------------

// Without a branch: the sign as a mask. Unsigned inside, so that the smallest value answers itself as it does natively.
int abs(int value) {
    unsigned sign = 0u - (unsigned)(value < 0);
    return (int)(((unsigned)value ^ sign) - sign);
}
long labs(long value) {
    unsigned long sign = 0ul - (unsigned long)(value < 0);
    return (long)(((unsigned long)value ^ sign) - sign);
}
long long llabs(long long value) {
    unsigned long long sign = 0ull - (unsigned long long)(value < 0);
    return (long long)(((unsigned long long)value ^ sign) - sign);
}
intmax_t imaxabs(intmax_t value) { return (intmax_t)llabs(value); }

struct int_division {
    int quot, rem;
};
struct long_division {
    long quot, rem;
};
struct long_long_division {
    long long quot, rem;
};

struct int_division div(int a, int b) { return (struct int_division){a / b, a % b}; }
struct long_division ldiv(long a, long b) { return (struct long_division){a / b, a % b}; }
struct long_long_division lldiv(long long a, long long b) { return (struct long_long_division){a / b, a % b}; }
struct long_long_division imaxdiv(intmax_t a, intmax_t b) { return (struct long_long_division){a / b, a % b}; }

// --- sorting and searching --------------------------------------------------------------------------------------------

typedef int (*comparison)(const void *, const void *);
typedef int (*comparison_with_argument)(const void *, const void *, void *);

struct sorting {
    size_t size;
    comparison_with_argument compare;
    void *argument;
    char *scratch;
};

// A stable merge sort that halves as GNU's does, so that equal elements and careless comparison functions end in the
// same order as natively. Elements are moved whole.
static void merge_sort(const struct sorting *sorting, char *base, size_t n) {
    if (n <= 1)
        return;
    size_t size = sorting->size, n_left = n / 2, n_right = n - n_left;
    char *left = base, *right = base + n_left * size, *out = sorting->scratch;
    merge_sort(sorting, left, n_left);
    merge_sort(sorting, right, n_right);
    while (n_left > 0 && n_right > 0) {
        if (sorting->compare(left, right, sorting->argument) <= 0) {
            __builtin_memcpy(out, left, size);
            left += size;
            n_left--;
        } else {
            __builtin_memcpy(out, right, size);
            right += size;
            n_right--;
        }
        out += size;
    }
    if (n_left > 0)
        __builtin_memcpy(out, left, n_left * size);
    __builtin_memcpy(base, sorting->scratch, (n - n_right) * size);
}

void qsort_r(void *base, size_t n, size_t size, comparison_with_argument compare, void *argument) {
    if (n <= 1 || size == 0)
        return;
    struct sorting sorting = {size, compare, argument, NULL};
    size_t total = n * size;
    if (total < 1024) {
        sorting.scratch = __builtin_alloca(total);
        merge_sort(&sorting, base, n);
        return;
    }
    sorting.scratch = malloc(total);
    merge_sort(&sorting, base, n);
    free(sorting.scratch);
}

struct plain_comparison {
    comparison compare;
};

static int compare_plainly(const void *a, const void *b, void *argument) {
    return ((struct plain_comparison *)argument)->compare(a, b);
}

void qsort(void *base, size_t n, size_t size, comparison compare) {
    struct plain_comparison plain = {compare};
    qsort_r(base, n, size, compare_plainly, &plain);
}

void *bsearch(const void *key, const void *base, size_t n, size_t size, comparison compare) {
    size_t low = 0, high = n;
    while (low < high) {
        size_t middle = (low + high) / 2;
        const char *element = (const char *)base + middle * size;
        int order = compare(key, element);
        if (order == 0)
            return (void *)element;
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return NULL;
}

void *lfind(const void *key, const void *base, size_t *n, size_t size, comparison compare) {
    const char *element = base;
    for (size_t i = 0; i < *n; i++, element += size)
        if (compare(key, element) == 0)
            return (void *)element;
    return NULL;
}

void *lsearch(const void *key, void *base, size_t *n, size_t size, comparison compare) {
    void *found = lfind(key, base, n, size, compare);
    if (found)
        return found;
    return __builtin_memcpy((char *)base + (*n)++ * size, key, size);
}

// --- random numbers: the same fixed generator as in native replay ------------------------------------------------------

static uint32_t random_state = 1;

static int next_random(void) {
    random_state = random_state * 1103515245u + 12345u;
    return (int)(random_state / 65536u % 32768u);
}

int rand(void) { return next_random(); }
void srand(unsigned seed) { random_state = seed; }
long random(void) { return next_random(); }
void srandom(unsigned seed) { random_state = seed; }

// GNU's: three steps of the generator make 31 bits.
int rand_r(unsigned *seed) {
    static const unsigned parts[3] = {2048, 1024, 1024};
    unsigned next = *seed, result = 0;
    for (int i = 0; i < 3; i++) {
        next = next * 1103515245u + 12345u;
        result = (result << 10) ^ (next / 65536u % parts[i]);
    }
    *seed = next;
    return (int)result;
}

static uint64_t random_state_48;

static uint64_t next_random_48(void) {
    random_state_48 = (random_state_48 * 0x5deece66dull + 11) & 0xffffffffffffull;
    return random_state_48;
}

void srand48(long seed) { random_state_48 = (uint64_t)(uint32_t)seed << 16 | 0x330e; }
long lrand48(void) { return (long)(next_random_48() >> 17); }
long mrand48(void) { return (int32_t)(next_random_48() >> 16); }
double drand48(void) { return (double)next_random_48() / 281474976710656.0; }
