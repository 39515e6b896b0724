// string.h and strings.h: one byte at a time, so that each access is checked and each fork means something.
//
// strcmp and strncmp answer -1, 0 or 1, as the natively replayed program (built with AddressSanitizer) does; memcmp,
// strcasecmp and strncasecmp answer the difference of the first differing bytes, for the same reason.
#include "common.h"

// --- copying ------------------------------------------------------------------------------------------------------

void *memcpy(void *restrict to, const void *restrict from, size_t n) {
    byte *d = to;
    const byte *s = from;
    for (size_t i = 0; i < n; i++)
        d[i] = s[i];
    return to;
}

void *mempcpy(void *restrict to, const void *restrict from, size_t n) {
    byte *d = to;
    const byte *s = from;
    for (size_t i = 0; i < n; i++)
        d[i] = s[i];
    return d + n;
}

void *memmove(void *to, const void *from, size_t n) {
    byte *d = to;
    const byte *s = from;
    if ((uintptr_t)d - (uintptr_t)s >= n) {
        for (size_t i = 0; i < n; i++)
            d[i] = s[i];
    } else {
        for (size_t i = n; i > 0; i--)
            d[i - 1] = s[i - 1];
    }
    return to;
}

void *memset(void *to, int c, size_t n) {
    byte *d = to;
    for (size_t i = 0; i < n; i++)
        d[i] = (byte)c;
    return to;
}

void *memccpy(void *restrict to, const void *restrict from, int c, size_t n) {
    byte *d = to;
    const byte *s = from;
    for (size_t i = 0; i < n; i++) {
        d[i] = s[i];
        if (s[i] == (byte)c)
            return d + i + 1;
    }
    return NULL;
}

void bcopy(const void *from, void *to, size_t n) { memmove(to, from, n); }
void bzero(void *to, size_t n) { memset(to, 0, n); }
void explicit_bzero(void *to, size_t n) { memset(to, 0, n); }

// Which ranges must be apart is as AddressSanitizer sees it.
static char *copy_string(char *to, const char *from) {
    size_t length;
    if (__colt_spans() && __colt_copy_text(to, from, &length))
        return to + length;
    while ((*to = *from)) {
        to++;
        from++;
    }
    return to;
}

char *strcpy(char *restrict to, const char *restrict from) {
    if (__colt_checks_overlap()) {
        size_t size = colt_length(from) + 1;
        __colt_apart(to, size, from, size);
    }
    copy_string(to, from);
    return to;
}

char *stpcpy(char *restrict to, const char *restrict from) { return copy_string(to, from); }

static char *copy_padded(char *to, const char *from, size_t n) {
    if (__colt_spans_between(to, from)) {
        // No further than the loop comes before it writes outside.
        size_t length = colt_length_up_to(from, __colt_least(n, __colt_space(to)));
        __builtin_memmove(to, from, length);
        __builtin_memset(to + length, 0, n - length);
        return to + length;
    }
    size_t i = 0;
    while (i < n && (to[i] = from[i]))
        i++;
    char *end = to + i;
    for (; i < n; i++)
        to[i] = 0;
    return end;
}

char *strncpy(char *restrict to, const char *restrict from, size_t n) {
    if (__colt_checks_overlap()) {
        size_t length = colt_length_up_to(from, n), size = length < n ? length + 1 : n;
        __colt_apart(to, size, from, size);
    }
    copy_padded(to, from, n);
    return to;
}

char *stpncpy(char *restrict to, const char *restrict from, size_t n) { return copy_padded(to, from, n); }

char *strcat(char *restrict to, const char *restrict from) {
    if (__colt_checks_overlap()) {
        size_t length = colt_length(from);
        __colt_apart(to, length > 0 ? colt_length(to) + length + 1 : 0, from, length + 1);
    }
    copy_string(to + colt_length(to), from);
    return to;
}

char *strncat(char *restrict to, const char *restrict from, size_t n) {
    if (__colt_checks_overlap()) {
        size_t length = colt_length_up_to(from, n), copied = length < n ? length + 1 : n;
        __colt_apart(to, length > 0 ? colt_length(to) + copied + 1 : 0, from, copied);
    }
    char *end = to + colt_length(to);
    if (__colt_spans_between(to, from)) {
        size_t length = colt_length_up_to(from, n);
        __builtin_memmove(end, from, length);
        end[length] = 0;
        return to;
    }
    size_t i = 0;
    for (; i < n && from[i]; i++)
        end[i] = from[i];
    end[i] = 0;
    return to;
}

size_t strlcpy(char *restrict to, const char *restrict from, size_t size) {
    size_t length = colt_length(from);
    if (size == 0)
        return length;
    if (__colt_spans_between(to, from)) {
        size_t kept = __colt_least(length, size - 1);
        __builtin_memmove(to, from, kept);
        to[kept] = 0;
        return length;
    }
    size_t kept = length < size ? length : size - 1;
    for (size_t i = 0; i < kept; i++)
        to[i] = from[i];
    to[kept] = 0;
    return length;
}

size_t strlcat(char *restrict to, const char *restrict from, size_t size) {
    size_t used = colt_length_up_to(to, size);
    if (used == size)
        return size + colt_length(from);
    return used + strlcpy(to + used, from, size - used);
}

static char *duplicate(const char *s, size_t length) {
    char *copy = malloc(length + 1);
    if (!copy)
        return NULL;
    if (__colt_spans()) {
        __builtin_memmove(copy, s, length);
        copy[length] = 0;
        return copy;
    }
    for (size_t i = 0; i < length; i++)
        copy[i] = s[i];
    copy[length] = 0;
    return copy;
}

char *strdup(const char *s) { return duplicate(s, colt_length(s)); }
char *__strdup(const char *s) { return duplicate(s, colt_length(s)); }
char *strndup(const char *s, size_t n) { return duplicate(s, colt_length_up_to(s, n)); }
char *__strndup(const char *s, size_t n) { return duplicate(s, colt_length_up_to(s, n)); }

size_t strxfrm(char *restrict to, const char *restrict from, size_t n) { return strlcpy(to, from, n); }

// --- comparing ----------------------------------------------------------------------------------------------------

static int order(unsigned a, unsigned b) { return (a > b) - (a < b); }

// From the last byte to the first, so that the first difference is the one that stays: one term, no fork.
int memcmp(const void *left, const void *right, size_t n) {
    const byte *a = left, *b = right;
    byte differing[2];
    if (__colt_spans() && n > 0 && __colt_differ(left, right, n, 0, 0, differing))
        return differing[0] - differing[1];
    int result = 0;
    for (size_t i = n; i > 0; i--) {
        int difference = a[i - 1] - b[i - 1];
        result = difference | (result & -(difference == 0));
    }
    return result;
}

int bcmp(const void *left, const void *right, size_t n) { return memcmp(left, right, n); }

int strcmp(const char *left, const char *right) {
    const byte *a = (const byte *)left, *b = (const byte *)right;
    byte differing[2];
    if (__colt_spans() && __colt_differ(left, right, SIZE_MAX, 1, 0, differing))
        return order(differing[0], differing[1]);
    while (*a == *b) {
        if (!*a)
            return 0;
        a++;
        b++;
    }
    return order(*a, *b);
}

int strcoll(const char *left, const char *right) { return strcmp(left, right); }

int strncmp(const char *left, const char *right, size_t n) {
    const byte *a = (const byte *)left, *b = (const byte *)right;
    byte differing[2];
    if (__colt_spans() && n > 0 && __colt_differ(left, right, n, 1, 0, differing))
        return order(differing[0], differing[1]);
    for (size_t i = 0; i < n; i++) {
        if (a[i] != b[i])
            return order(a[i], b[i]);
        if (!a[i])
            return 0;
    }
    return 0;
}

int strncasecmp(const char *left, const char *right, size_t n) {
    const byte *a = (const byte *)left, *b = (const byte *)right;
    byte differing[2];
    if (__colt_spans() && n > 0 && __colt_differ(left, right, n, 1, 1, differing))
        return differing[0] - differing[1];
    for (size_t i = 0; i < n; i++) {
        int x = colt_to_lower(a[i]), y = colt_to_lower(b[i]);
        if (x != y)
            return x - y;
        if (!x)
            return 0;
    }
    return 0;
}

int strcasecmp(const char *left, const char *right) { return strncasecmp(left, right, SIZE_MAX); }

// --- searching ----------------------------------------------------------------------------------------------------

size_t strlen(const char *s) { return colt_length(s); }
size_t strnlen(const char *s, size_t max) { return colt_length_up_to(s, max); }

void *memchr(const void *s, int c, size_t n) {
    const byte *p = s;
    byte stop = (byte)c;
    size_t at;
    if (colt_seek(s, n, &stop, 1, 0, &at))
        return at < n ? (void *)(p + at) : NULL;
    for (size_t i = 0; i < n; i++)
        if (p[i] == (byte)c)
            return (void *)(p + i);
    return NULL;
}

void *memrchr(const void *s, int c, size_t n) {
    const byte *p = s;
    byte stop = (byte)c;
    size_t at;
    if (__colt_spans() && __colt_seek_last(s, n, &stop, 1, 0, &at))
        return at < n ? (void *)(p + at) : NULL;
    for (size_t i = n; i > 0; i--)
        if (p[i - 1] == (byte)c)
            return (void *)(p + i - 1);
    return NULL;
}

void *rawmemchr(const void *s, int c) {
    const byte *p = s;
    byte stop = (byte)c;
    size_t at;
    if (colt_seek(s, SIZE_MAX, &stop, 1, 0, &at))
        return (void *)(p + at);
    while (*p != (byte)c)
        p++;
    return (void *)p;
}

char *strchrnul(const char *s, int c) {
    char stops[2] = {(char)c, 0};
    size_t at;
    if (colt_seek(s, SIZE_MAX, stops, 2, 0, &at))
        return (char *)(s + at);
    while ((*s != (char)c) & (*s != 0))
        s++;
    return (char *)s;
}

char *strchr(const char *s, int c) {
    char stops[2] = {(char)c, 0};
    size_t at;
    if (colt_seek(s, SIZE_MAX, stops, 2, 0, &at))
        return s[at] == (char)c ? (char *)(s + at) : NULL;
    for (;; s++) {
        if (*s == (char)c)
            return (char *)s;
        if (!*s)
            return NULL;
    }
}

// From the end, once the end is known: looking forward would fork at every byte that may be the last match so far.
char *strrchr(const char *s, int c) {
    if (__colt_spans()) {
        size_t size = colt_length(s) + 1, at;
        char stop = (char)c;
        if (__colt_seek_last(s, size, &stop, 1, 0, &at))
            return at < size ? (char *)(s + at) : NULL;
    }
    for (size_t n = colt_length(s) + 1; n > 0; n--)
        if (s[n - 1] == (char)c)
            return (char *)(s + n - 1);
    return NULL;
}

char *index(const char *s, int c) { return strchr(s, c); }
char *rindex(const char *s, int c) { return strrchr(s, c); }

// Whether `c` is one of the first `n` bytes of `set`: one condition, whatever the size of the set.
static int is_member(char c, const char *set, size_t n) {
    int found = 0;
    for (size_t i = 0; i < n; i++)
        found |= c == set[i];
    return found;
}

static size_t span_of(const char *s, const char *set) {
    size_t n_set = colt_length(set), n;
    if (colt_seek(s, SIZE_MAX, set, n_set, 1, &n))
        return n;
    n = 0;
    while (is_member(s[n], set, n_set))
        n++;
    return n;
}

static size_t span_until(const char *s, const char *set) {
    size_t n_set = colt_length(set), n;
    // The set's own zero is a stop as well.
    if (colt_seek(s, SIZE_MAX, set, n_set + 1, 0, &n))
        return n;
    n = 0;
    while (!((s[n] == 0) | is_member(s[n], set, n_set)))
        n++;
    return n;
}

size_t strspn(const char *s, const char *set) { return span_of(s, set); }
size_t strcspn(const char *s, const char *set) { return span_until(s, set); }

char *strpbrk(const char *s, const char *set) {
    s += span_until(s, set);
    return *s ? (char *)s : NULL;
}

static int equal_bytes(const char *a, const char *b, size_t n) {
    unsigned difference = 0;
    for (size_t i = 0; i < n; i++)
        difference |= (byte)(a[i] ^ b[i]);
    return difference == 0;
}

// Looks at no byte beyond the end of the first match: `known` counts the bytes already seen not to be NUL.
char *strstr(const char *hay, const char *needle) {
    size_t n = colt_length(needle), known = 0, at_once;
    if (__colt_spans() && n > 0 && __colt_find(hay, needle, 0, &at_once))
        return at_once != SIZE_MAX ? (char *)hay + at_once : NULL;
    for (size_t at = 0;; at++) {
        while (known < at + n) {
            if (!hay[known])
                return NULL;
            known++;
        }
        if (equal_bytes(hay + at, needle, n))
            return (char *)(hay + at);
    }
}

char *strcasestr(const char *hay, const char *needle) {
    size_t n = colt_length(needle), known = 0, at_once;
    if (__colt_spans() && n > 0 && __colt_find(hay, needle, 1, &at_once))
        return at_once != SIZE_MAX ? (char *)hay + at_once : NULL;
    for (size_t at = 0;; at++) {
        while (known < at + n) {
            if (!hay[known])
                return NULL;
            known++;
        }
        unsigned difference = 0;
        for (size_t i = 0; i < n; i++)
            difference |= (unsigned)(colt_to_lower((byte)hay[at + i]) ^ colt_to_lower((byte)needle[i]));
        if (difference == 0)
            return (char *)(hay + at);
    }
}

char *strnstr(const char *hay, const char *needle, size_t max) {
    size_t n = colt_length(needle), n_hay = colt_length_up_to(hay, max);
    for (size_t at = 0; at + n <= n_hay; at++)
        if (equal_bytes(hay + at, needle, n))
            return (char *)(hay + at);
    return NULL;
}

void *memmem(const void *hay, size_t n_hay, const void *needle, size_t n_needle) {
    if (n_needle > n_hay)
        return NULL;
    for (size_t at = 0; at <= n_hay - n_needle; at++)
        if (equal_bytes((const char *)hay + at, needle, n_needle))
            return (char *)hay + at;
    return NULL;
}

// --- cutting into tokens ------------------------------------------------------------------------------------------

char *strtok_r(char *restrict s, const char *restrict separators, char **restrict rest) {
    if (!s)
        s = *rest;
    if (!s)
        return NULL;
    s += span_of(s, separators);
    if (!*s) {
        *rest = s;
        return NULL;
    }
    char *end = s + span_until(s, separators);
    if (*end)
        *end++ = 0;
    *rest = end;
    return s;
}

char *__strtok_r(char *restrict s, const char *restrict separators, char **restrict rest) {
    return strtok_r(s, separators, rest);
}

char *strtok(char *restrict s, const char *restrict separators) {
    static char *rest;
    return strtok_r(s, separators, &rest);
}

char *strsep(char **restrict cursor, const char *restrict separators) {
    char *s = *cursor;
    if (!s)
        return NULL;
    char *end = s + span_until(s, separators);
    if (*end) {
        *end = 0;
        *cursor = end + 1;
    } else {
        *cursor = NULL;
    }
    return s;
}

// --- paths --------------------------------------------------------------------------------------------------------

char *basename(const char *path) {
    size_t n = colt_length(path);
    while (n > 0 && path[n - 1] != '/')
        n--;
    return (char *)(path + n);
}

char *__xpg_basename(char *path) {
    if (!path || !*path)
        return (char *)".";
    size_t n = colt_length(path);
    while (n > 1 && path[n - 1] == '/')
        path[--n] = 0;
    return n == 1 && path[0] == '/' ? path : basename(path);
}

char *dirname(char *path) {
    size_t n = path ? colt_length(path) : 0;
    while (n > 1 && path[n - 1] == '/')
        n--;
    while (n > 0 && path[n - 1] != '/')
        n--;
    if (n == 0)
        return (char *)".";
    while (n > 1 && path[n - 1] == '/')
        n--;
    // Exactly two slashes at the front may mean something and stay.
    if (n == 1 && path[0] == '/' && path[1] == '/' && path[2] != '/')
        n = 2;
    path[n] = 0;
    return path;
}

// --- messages -----------------------------------------------------------------------------------------------------

static const char *const messages[] = {
    "Success", "Operation not permitted", "No such file or directory", "No such process", "Interrupted system call",
    "Input/output error", "No such device or address", "Argument list too long", "Exec format error",
    "Bad file descriptor", "No child processes", "Resource temporarily unavailable", "Cannot allocate memory",
    "Permission denied", "Bad address", "Block device required", "Device or resource busy", "File exists",
    "Invalid cross-device link", "No such device", "Not a directory", "Is a directory", "Invalid argument",
    "Too many open files in system", "Too many open files", "Inappropriate ioctl for device", "Text file busy",
    "File too large", "No space left on device", "Illegal seek", "Read-only file system", "Too many links",
    "Broken pipe", "Numerical argument out of domain", "Numerical result out of range",
};

char *strerror(int number) {
    static char unknown[32];
    if (number >= 0 && (size_t)number < sizeof messages / sizeof *messages)
        return (char *)messages[number];
    if (number == COLT_EOVERFLOW)
        return (char *)"Value too large for defined data type";
    if (number == COLT_EILSEQ)
        return (char *)"Invalid or incomplete multibyte or wide character";
    if (number == COLT_ENOSYS)
        return (char *)"Function not implemented";
    char *end = copy_string(unknown, "Unknown error ");
    unsigned magnitude = number < 0 ? 0u - (unsigned)number : (unsigned)number;
    unsigned unit = 1;
    if (number < 0)
        *end++ = '-';
    while (magnitude / unit >= 10)
        unit *= 10;
    for (; unit; unit /= 10)
        *end++ = (char)('0' + magnitude / unit % 10);
    *end = 0;
    return unknown;
}

// The GNU form, which may ignore the buffer.
char *strerror_r(int number, char *buffer, size_t size) {
    (void)buffer;
    (void)size;
    return strerror(number);
}

// The POSIX form.
int __xpg_strerror_r(int number, char *buffer, size_t size) {
    return strlcpy(buffer, strerror(number), size) < size ? 0 : COLT_ERANGE;
}

// --- single bits --------------------------------------------------------------------------------------------------

int ffs(int value) { return __builtin_ffs(value); }
int ffsl(long value) { return __builtin_ffsl(value); }
int ffsll(long long value) { return __builtin_ffsll(value); }
