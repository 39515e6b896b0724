// wchar.h and wctype.h in the C locale: a wide character is one byte below 128, or an error.
#include "common.h"

typedef unsigned wint;
#define WIDE_END ((wint)-1)
#define CONVERSION_FAILED ((size_t)-1)

// --- wide strings -----------------------------------------------------------------------------------------------------

static int order(wchar_t a, wchar_t b) { return (a > b) - (a < b); }

size_t wcslen(const wchar_t *s) {
    size_t n = 0;
    while (s[n])
        n++;
    return n;
}
size_t wcsnlen(const wchar_t *s, size_t max) {
    size_t n = 0;
    while (n < max && s[n])
        n++;
    return n;
}
wchar_t *wcscpy(wchar_t *restrict to, const wchar_t *restrict from) {
    for (size_t i = 0; (to[i] = from[i]); i++) {
    }
    return to;
}
wchar_t *wcsncpy(wchar_t *restrict to, const wchar_t *restrict from, size_t n) {
    size_t i = 0;
    for (; i < n && (to[i] = from[i]); i++) {
    }
    for (; i < n; i++)
        to[i] = 0;
    return to;
}
wchar_t *wcscat(wchar_t *restrict to, const wchar_t *restrict from) {
    wcscpy(to + wcslen(to), from);
    return to;
}
wchar_t *wcsncat(wchar_t *restrict to, const wchar_t *restrict from, size_t n) {
    wchar_t *end = to + wcslen(to);
    size_t i = 0;
    for (; i < n && from[i]; i++)
        end[i] = from[i];
    end[i] = 0;
    return to;
}
int wcsncmp(const wchar_t *a, const wchar_t *b, size_t n) {
    for (size_t i = 0; i < n; i++) {
        if (a[i] != b[i])
            return order(a[i], b[i]);
        if (!a[i])
            return 0;
    }
    return 0;
}
int wcscmp(const wchar_t *a, const wchar_t *b) { return wcsncmp(a, b, SIZE_MAX); }
int wcscoll(const wchar_t *a, const wchar_t *b) { return wcsncmp(a, b, SIZE_MAX); }
wchar_t *wcschr(const wchar_t *s, wchar_t c) {
    for (;; s++) {
        if (*s == c)
            return (wchar_t *)s;
        if (!*s)
            return NULL;
    }
}
wchar_t *wcsrchr(const wchar_t *s, wchar_t c) {
    for (size_t n = wcslen(s) + 1; n > 0; n--)
        if (s[n - 1] == c)
            return (wchar_t *)(s + n - 1);
    return NULL;
}
wchar_t *wcsstr(const wchar_t *hay, const wchar_t *needle) {
    size_t n = wcslen(needle);
    for (;; hay++) {
        if (wcsncmp(hay, needle, n) == 0)
            return (wchar_t *)hay;
        if (!*hay)
            return NULL;
    }
}
static int is_member(wchar_t c, const wchar_t *set) {
    int found = 0;
    for (; *set; set++)
        found |= c == *set;
    return found;
}
size_t wcsspn(const wchar_t *s, const wchar_t *set) {
    size_t n = 0;
    while (is_member(s[n], set))
        n++;
    return n;
}
size_t wcscspn(const wchar_t *s, const wchar_t *set) {
    size_t n = 0;
    while (!((s[n] == 0) | is_member(s[n], set)))
        n++;
    return n;
}
wchar_t *wcsdup(const wchar_t *s) {
    size_t n = wcslen(s) + 1;
    wchar_t *copy = malloc(n * sizeof *copy);
    if (copy)
        __builtin_memcpy(copy, s, n * sizeof *copy);
    return copy;
}
wchar_t *wmemcpy(wchar_t *restrict to, const wchar_t *restrict from, size_t n) {
    for (size_t i = 0; i < n; i++)
        to[i] = from[i];
    return to;
}
wchar_t *wmemmove(wchar_t *to, const wchar_t *from, size_t n) {
    __builtin_memmove(to, from, n * sizeof *to);
    return to;
}
wchar_t *wmemset(wchar_t *to, wchar_t c, size_t n) {
    for (size_t i = 0; i < n; i++)
        to[i] = c;
    return to;
}
int wmemcmp(const wchar_t *a, const wchar_t *b, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (a[i] != b[i])
            return order(a[i], b[i]);
    return 0;
}
wchar_t *wmemchr(const wchar_t *s, wchar_t c, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (s[i] == c)
            return (wchar_t *)(s + i);
    return NULL;
}

// --- bytes to wide characters and back -----------------------------------------------------------------------------------

static size_t conversion_failed(void) {
    colt_errno = COLT_EILSEQ;
    return CONVERSION_FAILED;
}

int mbtowc(wchar_t *restrict out, const char *restrict s, size_t n) {
    if (!s)
        return 0;
    if (n == 0)
        return -1;
    if ((byte)*s >= 128)
        return (int)conversion_failed();
    if (out)
        *out = *s;
    return *s != 0;
}
int mblen(const char *s, size_t n) { return mbtowc(NULL, s, n); }
int wctomb(char *out, wchar_t c) {
    if (!out)
        return 0;
    if ((unsigned)c >= 128)
        return (int)conversion_failed();
    *out = (char)c;
    return 1;
}
size_t mbstowcs(wchar_t *restrict out, const char *restrict s, size_t max) {
    for (size_t n = 0; !out || n < max; n++) {
        if ((byte)s[n] >= 128)
            return conversion_failed();
        if (out)
            out[n] = s[n];
        if (!s[n])
            return n;
    }
    return max;
}
size_t wcstombs(char *restrict out, const wchar_t *restrict s, size_t max) {
    for (size_t n = 0; !out || n < max; n++) {
        if ((unsigned)s[n] >= 128)
            return conversion_failed();
        if (out)
            out[n] = (char)s[n];
        if (!s[n])
            return n;
    }
    return max;
}
size_t mbrtowc(wchar_t *restrict out, const char *restrict s, size_t n, void *restrict state) {
    (void)state;
    if (!s)
        return 0;
    if (n == 0)
        return (size_t)-2;
    if ((byte)*s >= 128)
        return conversion_failed();
    if (out)
        *out = *s;
    return *s != 0;
}
size_t wcrtomb(char *restrict out, wchar_t c, void *restrict state) {
    (void)state;
    if (!out)
        return 1;
    if ((unsigned)c >= 128)
        return conversion_failed();
    *out = (char)c;
    return 1;
}
wint btowc(int c) { return (unsigned)c < 128 ? (wint)c : WIDE_END; }
int wctob(wint c) { return c < 128 ? (int)c : COLT_EOF; }

// --- classes -----------------------------------------------------------------------------------------------------------------

static int is_graph(wint c) { return c - 0x21 < 94u; }
static int is_alnum(wint c) { return colt_is_alpha((int)c) | colt_is_digit((int)c); }

int iswalpha(wint c) { return colt_is_alpha((int)c); }
int iswdigit(wint c) { return colt_is_digit((int)c); }
int iswalnum(wint c) { return is_alnum(c); }
int iswupper(wint c) { return colt_is_upper((int)c); }
int iswlower(wint c) { return colt_is_lower((int)c); }
int iswspace(wint c) { return colt_is_space((int)c); }
int iswxdigit(wint c) { return colt_is_digit((int)c) | ((c | 32) - 'a' < 6u); }
int iswprint(wint c) { return c - 0x20 < 95u; }
int iswgraph(wint c) { return is_graph(c); }
int iswblank(wint c) { return (c == ' ') | (c == '\t'); }
int iswcntrl(wint c) { return (c < 32u) | (c == 127); }
int iswpunct(wint c) { return is_graph(c) & !is_alnum(c); }
wint towlower(wint c) { return (wint)colt_to_lower((int)c); }
wint towupper(wint c) { return (wint)colt_to_upper((int)c); }
size_t __ctype_get_mb_cur_max(void) { return 1; }
