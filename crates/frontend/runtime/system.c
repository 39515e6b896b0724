// locale.h, signal.h, unistd.h and err.h: the little of the surrounding system that ordinary code asks about.
//
// The world here: the C locale, no terminal, no files but the standard streams, one process, no signals from outside.
#include "common.h"
#include "stream.h"

extern FILE *stderr;
int fprintf(FILE *stream, const char *format, ...);
int vfprintf(FILE *stream, const char *format, va_list list);
char *strerror(int number);
_Noreturn void exit(int status);

// --- locale.h ------------------------------------------------------------------------------------------------------------

struct lconv {
    char *decimal_point, *thousands_sep, *grouping, *int_curr_symbol, *currency_symbol, *mon_decimal_point;
    char *mon_thousands_sep, *mon_grouping, *positive_sign, *negative_sign;
    char rest[14];
};

char *setlocale(int category, const char *locale) {
    (void)category;
    if (!locale || !*locale || (locale[0] == 'C' && !locale[1]))
        return (char *)"C";
    const char *posix = "POSIX";
    while (*posix && *locale == *posix) {
        locale++;
        posix++;
    }
    return *locale == *posix ? (char *)"C" : NULL;
}

struct lconv *localeconv(void) {
    static char point[] = ".", empty[] = "";
    static struct lconv conventions;
    char unset = CHAR_MAX;
    conventions = (struct lconv){point, empty, empty, empty, empty, empty, empty, empty, empty, empty, {0}};
    __builtin_memset(conventions.rest, unset, sizeof conventions.rest);
    return &conventions;
}

char *nl_langinfo(int item) { return item == 14 ? (char *)"ANSI_X3.4-1968" : (char *)""; }
char *gettext(const char *text) { return (char *)text; }
char *dcgettext(const char *domain, const char *text, int category) {
    return (void)domain, (void)category, (char *)text;
}
char *dgettext(const char *domain, const char *text) { return (void)domain, (char *)text; }
char *bindtextdomain(const char *domain, const char *folder) { return (void)domain, (char *)folder; }
char *textdomain(const char *domain) { return (char *)domain; }

// --- signal.h: handlers are accepted and remembered; only raise calls them --------------------------------------------------

#define N_SIGNALS 65
#define SIGNAL_ABORT 6
#define SIGNAL_CHILD 17
typedef void (*handler)(int);
static handler handlers[N_SIGNALS];

handler signal(int number, handler new_handler) {
    if (number < 1 || number >= N_SIGNALS) {
        colt_errno = COLT_EINVAL;
        return (handler)-1;
    }
    handler old = handlers[number];
    handlers[number] = new_handler;
    return old;
}

int raise(int number) {
    if (number < 1 || number >= N_SIGNALS) {
        colt_errno = COLT_EINVAL;
        return -1;
    }
    handler current = handlers[number];
    if ((uintptr_t)current > 1) {
        current(number);
        return 0;
    }
    if (current == NULL && number == SIGNAL_ABORT)
        abort();
    if (current == NULL && number != SIGNAL_CHILD)
        __colt_gap("raise of a signal without a handler");
    return 0;
}

int sigaction(int number, const void *restrict action, void *restrict old) {
    (void)number, (void)action, (void)old;
    __colt_note("sigaction");
    return 0;
}
int sigemptyset(unsigned long *set) {
    *set = 0;
    return 0;
}
int sigfillset(unsigned long *set) {
    *set = ULONG_MAX;
    return 0;
}
int sigaddset(unsigned long *set, int number) {
    set[(size_t)(number - 1) / (sizeof *set * 8)] |= 1ul << ((size_t)(number - 1) % (sizeof *set * 8));
    return 0;
}
int sigprocmask(int how, const void *restrict set, void *restrict old) { return (void)how, (void)set, (void)old, 0; }
unsigned alarm(unsigned seconds) { return (void)seconds, 0; }

// --- unistd.h ------------------------------------------------------------------------------------------------------------------

int __colt_identity(int which);
int getpid(void) { return __colt_identity(0); }
int getppid(void) { return __colt_identity(1); }
unsigned getuid(void) { return (unsigned)__colt_identity(2); }
unsigned geteuid(void) { return (unsigned)__colt_identity(3); }
unsigned getgid(void) { return (unsigned)__colt_identity(4); }
unsigned getegid(void) { return (unsigned)__colt_identity(5); }
int getpagesize(void) { return 4096; }

int isatty(int fd) {
    colt_errno = fd >= 0 && fd <= 2 ? COLT_ENOTTY : COLT_EBADF;
    return 0;
}

ptrdiff_t write(int fd, const void *bytes, size_t n) {
    if (fd != 1 && fd != 2) {
        colt_errno = COLT_EBADF;
        return -1;
    }
    if (n > 0)
        __colt_output(fd, bytes, n);
    return (ptrdiff_t)n;
}

ptrdiff_t __colt_take_input(void *out, size_t max);

ptrdiff_t read(int fd, void *bytes, size_t n) {
    byte *out = bytes;
    size_t done = 0;
    if (fd != 0) {
        colt_errno = COLT_EBADF;
        return -1;
    }
    if (__colt_spans()) {
        ptrdiff_t taken = __colt_take_input(bytes, n);
        if (__colt_is_open(taken) || taken >= 0)
            return taken;
    }
    for (; done < n; done++) {
        int c = __colt_stdin_byte();
        if (c < 0)
            break;
        out[done] = (byte)c;
    }
    return (ptrdiff_t)done;
}

static int no_such_file(const char *path, const char *what) {
    __colt_check_string(path, SIZE_MAX);
    __colt_note(what);
    colt_errno = COLT_ENOENT;
    return -1;
}
int open(const char *path, int flags, ...) { return (void)flags, no_such_file(path, "open"); }
int open64(const char *path, int flags, ...) { return (void)flags, no_such_file(path, "open"); }
int creat(const char *path, unsigned mode) { return (void)mode, no_such_file(path, "creat"); }
int access(const char *path, int mode) { return (void)mode, no_such_file(path, "access"); }
int stat(const char *restrict path, void *restrict out) { return (void)out, no_such_file(path, "stat"); }
int close(int fd) {
    if (fd >= 0 && fd <= 2)
        return 0;
    colt_errno = COLT_EBADF;
    return -1;
}

// --- err.h ------------------------------------------------------------------------------------------------------------

extern char *__progname, *program_invocation_name, *program_invocation_short_name;
char *__progname = (char *)"program";
char *program_invocation_name = (char *)"program";
char *program_invocation_short_name = (char *)"program";

static void complain(const char *format, va_list list, int number) {
    fprintf(stderr, "program: ");
    if (format)
        vfprintf(stderr, format, list);
    if (number >= 0)
        fprintf(stderr, "%s%s", format ? ": " : "", strerror(number));
    fprintf(stderr, "\n");
}

void vwarn(const char *format, va_list list) { complain(format, list, colt_errno); }
void vwarnx(const char *format, va_list list) { complain(format, list, -1); }
_Noreturn void verr(int status, const char *format, va_list list) {
    complain(format, list, colt_errno);
    exit(status);
}
_Noreturn void verrx(int status, const char *format, va_list list) {
    complain(format, list, -1);
    exit(status);
}
void warn(const char *format, ...) {
    va_list list;
    va_start(list, format);
    vwarn(format, list);
    va_end(list);
}
void warnx(const char *format, ...) {
    va_list list;
    va_start(list, format);
    vwarnx(format, list);
    va_end(list);
}
_Noreturn void err(int status, const char *format, ...) {
    va_list list;
    va_start(list, format);
    verr(status, format, list);
}
_Noreturn void errx(int status, const char *format, ...) {
    va_list list;
    va_start(list, format);
    verrx(status, format, list);
}
