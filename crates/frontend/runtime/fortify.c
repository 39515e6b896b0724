// The checked names that programs compiled with _FORTIFY_SOURCE call in place of plain ones, and names that only the GNU
// headers know. Each is the plain function behind the check that the GNU library makes: `size` is what the compiler knew
// of the room, all ones when it knew nothing, and whoever wants more of it ends the program.
//
// Linked beside a whole C library too, but only into programs that use one of these names.
#include "common.h"
#include "stream.h"

_Noreturn void __chk_fail(void);

static void need(size_t wanted, size_t size) {
    if (wanted > size)
        __chk_fail();
}

// The same for `n` things of `unit` bytes each; dividing keeps the product from wrapping.
static void need_units(size_t n, size_t unit, size_t size) { need(n, size / unit); }

// --- formatted text ---------------------------------------------------------------------------------------------------

extern FILE *stdin, *stdout;
int vfprintf(FILE *stream, const char *format, va_list list);
int vdprintf(int fd, const char *format, va_list list);
int vsnprintf(char *text, size_t n, const char *format, va_list list);
int vasprintf(char **out, const char *format, va_list list);
void vsyslog(int priority, const char *format, va_list list);
int vfwprintf(FILE *stream, const wchar_t *format, va_list list);
int vswprintf(wchar_t *text, size_t n, const wchar_t *format, va_list list);

#define THROUGH_LIST(last, call)                                                                                       \
    va_list list;                                                                                                      \
    va_start(list, last);                                                                                              \
    int result = call;                                                                                                 \
    va_end(list);                                                                                                      \
    return result

int __vfprintf_chk(FILE *stream, int flag, const char *format, va_list list) {
    return (void)flag, vfprintf(stream, format, list);
}
int __vprintf_chk(int flag, const char *format, va_list list) { return (void)flag, vfprintf(stdout, format, list); }
int __vdprintf_chk(int fd, int flag, const char *format, va_list list) {
    return (void)flag, vdprintf(fd, format, list);
}
int __vasprintf_chk(char **out, int flag, const char *format, va_list list) {
    return (void)flag, vasprintf(out, format, list);
}
// The sanitizer of native replays has these two in its own way, which looks at bytes only as they are written. Hence the
// check comes last: what leaves the whole object is found as that, here as there.
int __vsnprintf_chk(char *text, size_t n, int flag, size_t size, const char *format, va_list list) {
    (void)flag;
    int result = vsnprintf(text, n, format, list);
    need(n, size);
    return result;
}
int __vsprintf_chk(char *text, int flag, size_t size, const char *format, va_list list) {
    (void)flag;
    int n = vsnprintf(text, INT_MAX, format, list);
    if (n >= 0)
        need((size_t)n + 1, size);
    return n;
}

int __fprintf_chk(FILE *stream, int flag, const char *format, ...) {
    THROUGH_LIST(format, __vfprintf_chk(stream, flag, format, list));
}
int __printf_chk(int flag, const char *format, ...) { THROUGH_LIST(format, __vprintf_chk(flag, format, list)); }
int __dprintf_chk(int fd, int flag, const char *format, ...) {
    THROUGH_LIST(format, __vdprintf_chk(fd, flag, format, list));
}
int __asprintf_chk(char **out, int flag, const char *format, ...) {
    THROUGH_LIST(format, __vasprintf_chk(out, flag, format, list));
}
int __snprintf_chk(char *text, size_t n, int flag, size_t size, const char *format, ...) {
    THROUGH_LIST(format, __vsnprintf_chk(text, n, flag, size, format, list));
}
int __sprintf_chk(char *text, int flag, size_t size, const char *format, ...) {
    THROUGH_LIST(format, __vsprintf_chk(text, flag, size, format, list));
}

void __vsyslog_chk(int priority, int flag, const char *format, va_list list) {
    (void)flag, vsyslog(priority, format, list);
}
void __syslog_chk(int priority, int flag, const char *format, ...) {
    va_list list;
    va_start(list, format);
    __vsyslog_chk(priority, flag, format, list);
    va_end(list);
}

int __vfwprintf_chk(FILE *stream, int flag, const wchar_t *format, va_list list) {
    return (void)flag, vfwprintf(stream, format, list);
}
int __vwprintf_chk(int flag, const wchar_t *format, va_list list) { return (void)flag, vfwprintf(stdout, format, list); }
// Here `size` counts wide characters.
int __vswprintf_chk(wchar_t *text, size_t n, int flag, size_t size, const wchar_t *format, va_list list) {
    (void)flag;
    need(n, size);
    return vswprintf(text, n, format, list);
}
int __fwprintf_chk(FILE *stream, int flag, const wchar_t *format, ...) {
    THROUGH_LIST(format, __vfwprintf_chk(stream, flag, format, list));
}
int __wprintf_chk(int flag, const wchar_t *format, ...) { THROUGH_LIST(format, __vwprintf_chk(flag, format, list)); }
int __swprintf_chk(wchar_t *text, size_t n, int flag, size_t size, const wchar_t *format, ...) {
    THROUGH_LIST(format, __vswprintf_chk(text, n, flag, size, format, list));
}

// Output that nobody looks at: see stdio_light.c.
void __colt_vprintf_light(const char *format, va_list list);
void __colt_vfprintf_light(FILE *stream, const char *format, va_list list);

void __colt_printf_chk_light(int flag, const char *format, ...) {
    va_list list;
    (void)flag;
    va_start(list, format);
    __colt_vprintf_light(format, list);
    va_end(list);
}
void __colt_fprintf_chk_light(FILE *stream, int flag, const char *format, ...) {
    va_list list;
    (void)flag;
    va_start(list, format);
    __colt_vfprintf_light(stream, format, list);
    va_end(list);
}
void __colt_vprintf_chk_light(int flag, const char *format, va_list list) {
    (void)flag, __colt_vprintf_light(format, list);
}
void __colt_vfprintf_chk_light(FILE *stream, int flag, const char *format, va_list list) {
    (void)flag, __colt_vfprintf_light(stream, format, list);
}

// --- scanned text: what strto and scanf are called in C23 ---------------------------------------------------------------

int vfwscanf(FILE *stream, const wchar_t *format, va_list list);
int vswscanf(const wchar_t *text, const wchar_t *format, va_list list);
long wcstol(const wchar_t *text, wchar_t **end, int base);
unsigned long wcstoul(const wchar_t *text, wchar_t **end, int base);
long long wcstoll(const wchar_t *text, wchar_t **end, int base);
unsigned long long wcstoull(const wchar_t *text, wchar_t **end, int base);
int vscanf(const char *format, va_list list);
int vfscanf(FILE *stream, const char *format, va_list list);
int vsscanf(const char *text, const char *format, va_list list);

int __isoc23_vscanf(const char *format, va_list list) { return vscanf(format, list); }
int __isoc23_vfscanf(FILE *stream, const char *format, va_list list) { return vfscanf(stream, format, list); }
int __isoc23_vsscanf(const char *text, const char *format, va_list list) { return vsscanf(text, format, list); }
int __isoc23_scanf(const char *format, ...) { THROUGH_LIST(format, vscanf(format, list)); }
int __isoc23_fscanf(FILE *stream, const char *format, ...) { THROUGH_LIST(format, vfscanf(stream, format, list)); }
int __isoc23_sscanf(const char *text, const char *format, ...) { THROUGH_LIST(format, vsscanf(text, format, list)); }
int __isoc23_fwscanf(FILE *stream, const wchar_t *format, ...) { THROUGH_LIST(format, vfwscanf(stream, format, list)); }
int __isoc23_swscanf(const wchar_t *text, const wchar_t *format, ...) {
    THROUGH_LIST(format, vswscanf(text, format, list));
}
long __isoc23_wcstol(const wchar_t *text, wchar_t **end, int base) { return wcstol(text, end, base); }
unsigned long __isoc23_wcstoul(const wchar_t *text, wchar_t **end, int base) { return wcstoul(text, end, base); }
long long __isoc23_wcstoll(const wchar_t *text, wchar_t **end, int base) { return wcstoll(text, end, base); }
unsigned long long __isoc23_wcstoull(const wchar_t *text, wchar_t **end, int base) { return wcstoull(text, end, base); }

// --- memory and strings -------------------------------------------------------------------------------------------------

void *memcpy(void *to, const void *from, size_t n);
void *memmove(void *to, const void *from, size_t n);
void *memset(void *to, int c, size_t n);
void *mempcpy(void *to, const void *from, size_t n);
void *rawmemchr(const void *s, int c);
char *stpcpy(char *to, const char *from);
char *strncpy(char *to, const char *from, size_t n);
char *stpncpy(char *to, const char *from, size_t n);
size_t strlcpy(char *to, const char *from, size_t n);
size_t strlcat(char *to, const char *from, size_t n);

void *__memcpy_chk(void *to, const void *from, size_t n, size_t size) { return need(n, size), memcpy(to, from, n); }
void *__mempcpy_chk(void *to, const void *from, size_t n, size_t size) { return need(n, size), mempcpy(to, from, n); }
void *__memmove_chk(void *to, const void *from, size_t n, size_t size) { return need(n, size), memmove(to, from, n); }
void *__memset_chk(void *to, int c, size_t n, size_t size) { return need(n, size), memset(to, c, n); }
void __explicit_bzero_chk(void *to, size_t n, size_t size) { need(n, size), memset(to, 0, n); }
char *__strncpy_chk(char *to, const char *from, size_t n, size_t size) { return need(n, size), strncpy(to, from, n); }
char *__stpncpy_chk(char *to, const char *from, size_t n, size_t size) { return need(n, size), stpncpy(to, from, n); }
size_t __strlcpy_chk(char *to, const char *from, size_t n, size_t size) { return need(n, size), strlcpy(to, from, n); }
size_t __strlcat_chk(char *to, const char *from, size_t n, size_t size) { return need(n, size), strlcat(to, from, n); }

// At most `max` bytes of a string and a NUL, into a room of `size` bytes; where the NUL went.
static char *copy_into(char *to, const char *from, size_t max, size_t size) {
    for (;; to++, from++, size--, max--) {
        need(1, size);
        if (max == 0) {
            *to = 0;
            return to;
        }
        if (!(*to = *from))
            return to;
    }
}

char *__stpcpy_chk(char *to, const char *from, size_t size) { return copy_into(to, from, SIZE_MAX, size); }
char *__strcpy_chk(char *to, const char *from, size_t size) { return copy_into(to, from, SIZE_MAX, size), to; }
char *__strncat_chk(char *to, const char *from, size_t n, size_t size) {
    size_t used = colt_length_up_to(to, size);
    return copy_into(to + used, from, n, size - used), to;
}
char *__strcat_chk(char *to, const char *from, size_t size) { return __strncat_chk(to, from, SIZE_MAX, size); }

void *__mempcpy(void *to, const void *from, size_t n) { return mempcpy(to, from, n); }
char *__stpcpy(char *to, const char *from) { return stpcpy(to, from); }
void *__rawmemchr(const void *s, int c) { return rawmemchr(s, c); }

// --- wide characters: `size` counts them, not bytes -------------------------------------------------------------------------

wchar_t *wmemcpy(wchar_t *to, const wchar_t *from, size_t n);
wchar_t *wmemmove(wchar_t *to, const wchar_t *from, size_t n);
wchar_t *wmemset(wchar_t *to, wchar_t c, size_t n);
wchar_t *wcsncpy(wchar_t *to, const wchar_t *from, size_t n);
size_t mbstowcs(wchar_t *to, const char *from, size_t n);
size_t wcstombs(char *to, const wchar_t *from, size_t n);
size_t mbsrtowcs(wchar_t *to, const char **from, size_t n, void *state);
size_t wcsrtombs(char *to, const wchar_t **from, size_t n, void *state);
int wctomb(char *to, wchar_t c);
size_t wcrtomb(char *to, wchar_t c, void *state);
size_t __ctype_get_mb_cur_max(void);

wchar_t *__wmemcpy_chk(wchar_t *to, const wchar_t *from, size_t n, size_t size) {
    return need(n, size), wmemcpy(to, from, n);
}
wchar_t *__wmempcpy_chk(wchar_t *to, const wchar_t *from, size_t n, size_t size) {
    return need(n, size), wmemcpy(to, from, n) + n;
}
wchar_t *__wmemmove_chk(wchar_t *to, const wchar_t *from, size_t n, size_t size) {
    return need(n, size), wmemmove(to, from, n);
}
wchar_t *__wmemset_chk(wchar_t *to, wchar_t c, size_t n, size_t size) { return need(n, size), wmemset(to, c, n); }
wchar_t *__wcsncpy_chk(wchar_t *to, const wchar_t *from, size_t n, size_t size) {
    return need(n, size), wcsncpy(to, from, n);
}

static wchar_t *copy_wide_into(wchar_t *to, const wchar_t *from, size_t max, size_t size) {
    for (;; to++, from++, size--, max--) {
        need(1, size);
        if (max == 0) {
            *to = 0;
            return to;
        }
        if (!(*to = *from))
            return to;
    }
}
wchar_t *__wcpcpy_chk(wchar_t *to, const wchar_t *from, size_t size) {
    return copy_wide_into(to, from, SIZE_MAX, size);
}
wchar_t *__wcscpy_chk(wchar_t *to, const wchar_t *from, size_t size) {
    return copy_wide_into(to, from, SIZE_MAX, size), to;
}
wchar_t *__wcsncat_chk(wchar_t *to, const wchar_t *from, size_t n, size_t size) {
    size_t used = 0;
    while (used < size && to[used])
        used++;
    return copy_wide_into(to + used, from, n, size - used), to;
}
wchar_t *__wcscat_chk(wchar_t *to, const wchar_t *from, size_t size) { return __wcsncat_chk(to, from, SIZE_MAX, size); }

size_t __mbstowcs_chk(wchar_t *to, const char *from, size_t n, size_t size) {
    return need(n, size), mbstowcs(to, from, n);
}
size_t __wcstombs_chk(char *to, const wchar_t *from, size_t n, size_t size) {
    return need(n, size), wcstombs(to, from, n);
}
size_t __mbsrtowcs_chk(wchar_t *to, const char **from, size_t n, void *state, size_t size) {
    return need(n, size), mbsrtowcs(to, from, n, state);
}
size_t __wcsrtombs_chk(char *to, const wchar_t **from, size_t n, void *state, size_t size) {
    return need(n, size), wcsrtombs(to, from, n, state);
}
int __wctomb_chk(char *to, wchar_t c, size_t size) { return need(__ctype_get_mb_cur_max(), size), wctomb(to, c); }
size_t __wcrtomb_chk(char *to, wchar_t c, void *state, size_t size) {
    return need(__ctype_get_mb_cur_max(), size), wcrtomb(to, c, state);
}

// --- input ------------------------------------------------------------------------------------------------------------------

char *fgets(char *line, int n, FILE *stream);
int fgetc(FILE *stream);
int ferror(FILE *stream);
wchar_t *fgetws(wchar_t *line, int n, FILE *stream);
size_t fread(void *items, size_t unit, size_t n, FILE *stream);
ptrdiff_t read(int fd, void *bytes, size_t n);
ptrdiff_t pread(int fd, void *bytes, size_t n, long offset);
ptrdiff_t pread64(int fd, void *bytes, size_t n, long long offset);
ptrdiff_t recv(int fd, void *bytes, size_t n, int flags);
ptrdiff_t recvfrom(int fd, void *bytes, size_t n, int flags, void *address, unsigned *n_address);

// A line may be allowed to be longer than the room as long as none that long comes.
char *__fgets_chk(char *line, size_t size, int n, FILE *stream) {
    size_t used = 0;
    if (n <= 0 || (size_t)n <= size)
        return fgets(line, n, stream);
    while (used < (size_t)n - 1) {
        int c = fgetc(stream);
        if (c == COLT_EOF && (used == 0 || ferror(stream)))
            return NULL;
        if (c == COLT_EOF)
            break;
        need(used + 2, size);
        line[used++] = (char)c;
        if (c == '\n')
            break;
    }
    line[used] = 0;
    return line;
}
char *__fgets_unlocked_chk(char *line, size_t size, int n, FILE *stream) {
    return __fgets_chk(line, size, n, stream);
}
wchar_t *__fgetws_chk(wchar_t *line, size_t size, int n, FILE *stream) { return (void)size, fgetws(line, n, stream); }
wchar_t *__fgetws_unlocked_chk(wchar_t *line, size_t size, int n, FILE *stream) {
    return __fgetws_chk(line, size, n, stream);
}
char *__gets_chk(char *line, size_t size) {
    size_t used = 0;
    int c;
    while ((c = fgetc(stdin)) != COLT_EOF && c != '\n') {
        need(used + 2, size);
        line[used++] = (char)c;
    }
    if (c == COLT_EOF && (used == 0 || ferror(stdin)))
        return NULL;
    line[used] = 0;
    return line;
}
size_t __fread_chk(void *items, size_t size, size_t unit, size_t n, FILE *stream) {
    if (unit)
        need_units(n, unit, size);
    return fread(items, unit, n, stream);
}
size_t __fread_unlocked_chk(void *items, size_t size, size_t unit, size_t n, FILE *stream) {
    return __fread_chk(items, size, unit, n, stream);
}
ptrdiff_t __read_chk(int fd, void *bytes, size_t n, size_t size) { return need(n, size), read(fd, bytes, n); }
ptrdiff_t __pread_chk(int fd, void *bytes, size_t n, long offset, size_t size) {
    return need(n, size), pread(fd, bytes, n, offset);
}
ptrdiff_t __pread64_chk(int fd, void *bytes, size_t n, long long offset, size_t size) {
    return need(n, size), pread64(fd, bytes, n, offset);
}
ptrdiff_t __recv_chk(int fd, void *bytes, size_t n, size_t size, int flags) {
    return need(n, size), recv(fd, bytes, n, flags);
}
ptrdiff_t __recvfrom_chk(int fd, void *bytes, size_t n, size_t size, int flags, void *address, unsigned *n_address) {
    return need(n, size), recvfrom(fd, bytes, n, flags, address, n_address);
}

// --- the system ---------------------------------------------------------------------------------------------------------------

int open(const char *path, int flags, ...);
int openat(int fd, const char *path, int flags, ...);
ptrdiff_t readlink(const char *path, char *text, size_t n);
ptrdiff_t readlinkat(int fd, const char *path, char *text, size_t n);
char *getcwd(char *text, size_t n);
char *realpath(const char *path, char *resolved);
size_t confstr(int name, char *text, size_t n);
int getgroups(int n, unsigned *groups);
int ttyname_r(int fd, char *text, size_t n);
int getlogin_r(char *text, size_t n);
int ptsname_r(int fd, char *text, size_t n);
int gethostname(char *text, size_t n);
int getdomainname(char *text, size_t n);
int poll(void *waiting, unsigned long n, int timeout);
int ppoll(void *waiting, unsigned long n, const void *timeout, const void *mask);

// Creating a file takes a third argument, which these names do not have.
static int without_mode(int flags) {
    enum { CREATE = 0100, TEMPORARY = 020200000 };
    if ((flags & CREATE) || (flags & TEMPORARY) == TEMPORARY)
        __chk_fail();
    return flags;
}
int __open_2(const char *path, int flags) { return open(path, without_mode(flags)); }
int __open64_2(const char *path, int flags) { return open(path, without_mode(flags)); }
int __openat_2(int fd, const char *path, int flags) { return openat(fd, path, without_mode(flags)); }
int __openat64_2(int fd, const char *path, int flags) { return openat(fd, path, without_mode(flags)); }

ptrdiff_t __readlink_chk(const char *path, char *text, size_t n, size_t size) {
    return need(n, size), readlink(path, text, n);
}
ptrdiff_t __readlinkat_chk(int fd, const char *path, char *text, size_t n, size_t size) {
    return need(n, size), readlinkat(fd, path, text, n);
}
char *__getcwd_chk(char *text, size_t n, size_t size) { return need(n, size), getcwd(text, n); }
// The GNU library insists on room for the longest path there may be.
char *__realpath_chk(const char *path, char *resolved, size_t size) { return need(4096, size), realpath(path, resolved); }
size_t __confstr_chk(int name, char *text, size_t n, size_t size) { return need(n, size), confstr(name, text, n); }
int __getgroups_chk(int n, unsigned *groups, size_t size) {
    if (n > 0)
        need_units((size_t)n, sizeof *groups, size);
    return getgroups(n, groups);
}
int __ttyname_r_chk(int fd, char *text, size_t n, size_t size) { return need(n, size), ttyname_r(fd, text, n); }
int __ptsname_r_chk(int fd, char *text, size_t n, size_t size) { return need(n, size), ptsname_r(fd, text, n); }
int __getlogin_r_chk(char *text, size_t n, size_t size) { return need(n, size), getlogin_r(text, n); }
int __gethostname_chk(char *text, size_t n, size_t size) { return need(n, size), gethostname(text, n); }
int __getdomainname_chk(char *text, size_t n, size_t size) { return need(n, size), getdomainname(text, n); }

// A struct pollfd has 8 bytes everywhere.
int __poll_chk(void *waiting, unsigned long n, int timeout, size_t size) {
    return need_units(n, 8, size), poll(waiting, n, timeout);
}
int __ppoll_chk(void *waiting, unsigned long n, const void *timeout, const void *mask, size_t size) {
    return need_units(n, 8, size), ppoll(waiting, n, timeout, mask);
}

// The word of an fd_set that a descriptor is in.
long __fdelt_chk(long fd) {
    if (fd < 0 || fd >= 1024)
        __chk_fail();
    return fd / (long)(8 * sizeof(long));
}
