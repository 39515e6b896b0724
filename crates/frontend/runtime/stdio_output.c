// stdio.h: the standard streams, printf's family and everything else that writes.
#include "common.h"
#include "stream.h"

static FILE standard_input = {.fd = 0};
static FILE standard_output = {.fd = 1};
static FILE standard_error = {.fd = 2};
FILE *stdin = &standard_input;
FILE *stdout = &standard_output;
FILE *stderr = &standard_error;

size_t __colt_stream_write(FILE *stream, const void *bytes, size_t n) {
    if (stream->fd != 1 && stream->fd != 2) {
        stream->flags |= COLT_FAILED;
        colt_errno = COLT_EBADF;
        return 0;
    }
    if (n > 0)
        __colt_output(stream->fd, bytes, n);
    return n;
}

// --- formatted output to a stream -------------------------------------------------------------------------------------

static int print(int fd, const char *format, struct __colt_arguments *arguments) {
    struct __colt_sink sink = {fd, NULL, 0, 0, 0};
    return __colt_format(&sink, format, arguments);
}

static int print_to_stream(FILE *stream, const char *format, struct __colt_arguments *arguments) {
    if (stream->fd != 1 && stream->fd != 2) {
        stream->flags |= COLT_FAILED;
        colt_errno = COLT_EBADF;
        return -1;
    }
    return print(stream->fd, format, arguments);
}

// Runs `expression` with `arguments` holding the variable arguments behind `last`.
#define WITH_ARGUMENTS(last, expression)                                                                              \
    struct __colt_arguments arguments;                                                                                \
    va_start(arguments.list, last);                                                                                   \
    int result = expression;                                                                                          \
    va_end(arguments.list);                                                                                           \
    return result

#define WITH_LIST(expression)                                                                                         \
    struct __colt_arguments arguments;                                                                                \
    va_copy(arguments.list, list);                                                                                    \
    int result = expression;                                                                                          \
    va_end(arguments.list);                                                                                           \
    return result

int printf(const char *restrict format, ...) { WITH_ARGUMENTS(format, print_to_stream(stdout, format, &arguments)); }
int vprintf(const char *restrict format, va_list list) { WITH_LIST(print_to_stream(stdout, format, &arguments)); }
int fprintf(FILE *restrict stream, const char *restrict format, ...) {
    WITH_ARGUMENTS(format, print_to_stream(stream, format, &arguments));
}
int vfprintf(FILE *restrict stream, const char *restrict format, va_list list) {
    WITH_LIST(print_to_stream(stream, format, &arguments));
}
int dprintf(int fd, const char *restrict format, ...) { WITH_ARGUMENTS(format, print(fd, format, &arguments)); }
int vdprintf(int fd, const char *restrict format, va_list list) { WITH_LIST(print(fd, format, &arguments)); }

// --- formatted output to memory ------------------------------------------------------------------------------------------

static int print_to_memory(char *text, size_t size, const char *format, struct __colt_arguments *arguments) {
    // A place for text even when the caller has none: a sink without text would go to a descriptor.
    char nowhere;
    struct __colt_sink sink = {-1, size ? text : &nowhere, size ? size - 1 : 0, 0, 0};
    int result = __colt_format(&sink, format, arguments);
    if (size)
        text[__colt_least(sink.count, sink.room)] = 0;
    return result;
}

// No bound is given, so every byte is written, and it is the machine that says which is out of bounds.
static int print_unbounded(char *text, const char *format, struct __colt_arguments *arguments) {
    return print_to_memory(text, SIZE_MAX, format, arguments);
}

static int print_to_new_block(char **out, const char *format, struct __colt_arguments *arguments) {
    struct __colt_arguments again;
    va_copy(again.list, arguments->list);
    int length = print_to_memory(NULL, 0, format, arguments);
    int result = -1;
    if (length >= 0 && (*out = malloc((size_t)length + 1)))
        result = print_unbounded(*out, format, &again);
    va_end(again.list);
    return result;
}

int sprintf(char *restrict text, const char *restrict format, ...) {
    WITH_ARGUMENTS(format, print_unbounded(text, format, &arguments));
}
int vsprintf(char *restrict text, const char *restrict format, va_list list) {
    WITH_LIST(print_unbounded(text, format, &arguments));
}
int snprintf(char *restrict text, size_t size, const char *restrict format, ...) {
    WITH_ARGUMENTS(format, print_to_memory(text, size, format, &arguments));
}
int vsnprintf(char *restrict text, size_t size, const char *restrict format, va_list list) {
    WITH_LIST(print_to_memory(text, size, format, &arguments));
}
int asprintf(char **restrict out, const char *restrict format, ...) {
    WITH_ARGUMENTS(format, print_to_new_block(out, format, &arguments));
}
int vasprintf(char **restrict out, const char *restrict format, va_list list) {
    WITH_LIST(print_to_new_block(out, format, &arguments));
}

// --- plain output -------------------------------------------------------------------------------------------------------------

int fputc(int c, FILE *stream) {
    byte b = (byte)c;
    return __colt_stream_write(stream, &b, 1) == 1 ? b : COLT_EOF;
}
int putc(int c, FILE *stream) { return fputc(c, stream); }
int _IO_putc(int c, FILE *stream) { return fputc(c, stream); }
int putchar(int c) { return fputc(c, stdout); }
int putc_unlocked(int c, FILE *stream) { return fputc(c, stream); }
int fputc_unlocked(int c, FILE *stream) { return fputc(c, stream); }
int putchar_unlocked(int c) { return fputc(c, stdout); }
int __overflow(FILE *stream, int c) { return fputc(c, stream); }

int fputs(const char *restrict text, FILE *restrict stream) {
    size_t n = colt_length(text);
    return __colt_stream_write(stream, text, n) == n ? 1 : COLT_EOF;
}
int fputs_unlocked(const char *restrict text, FILE *restrict stream) { return fputs(text, stream); }

int puts(const char *text) {
    size_t n = colt_length(text);
    if (__colt_stream_write(stdout, text, n) != n || fputc('\n', stdout) == COLT_EOF)
        return COLT_EOF;
    return n < INT_MAX ? (int)n + 1 : INT_MAX;
}

size_t fwrite(const void *restrict items, size_t size, size_t n, FILE *restrict stream) {
    size_t total = size * n;
    if (total == 0)
        return 0;
    return __colt_stream_write(stream, items, total) == total ? n : 0;
}
size_t fwrite_unlocked(const void *restrict items, size_t size, size_t n, FILE *restrict stream) {
    return fwrite(items, size, n, stream);
}

char *strerror(int number);

void perror(const char *prefix) {
    if (prefix && *prefix)
        fprintf(stderr, "%s: ", prefix);
    fprintf(stderr, "%s\n", strerror(colt_errno));
}

// --- streams themselves --------------------------------------------------------------------------------------------------------
//
// Nothing is buffered here, and there are no files yet: opening one fails and the ledger says so.

int fflush(FILE *stream) { return (void)stream, 0; }
int fflush_unlocked(FILE *stream) { return (void)stream, 0; }
int setvbuf(FILE *restrict stream, char *restrict buffer, int mode, size_t size) {
    return (void)stream, (void)buffer, (void)mode, (void)size, 0;
}
void setbuf(FILE *restrict stream, char *restrict buffer) { (void)stream, (void)buffer; }
void setbuffer(FILE *stream, char *buffer, size_t size) { (void)stream, (void)buffer, (void)size; }
void setlinebuf(FILE *stream) { (void)stream; }
void flockfile(FILE *stream) { (void)stream; }
void funlockfile(FILE *stream) { (void)stream; }

int feof(FILE *stream) { return (stream->flags & COLT_AT_END) != 0; }
int ferror(FILE *stream) { return (stream->flags & COLT_FAILED) != 0; }
int feof_unlocked(FILE *stream) { return feof(stream); }
int ferror_unlocked(FILE *stream) { return ferror(stream); }
void clearerr(FILE *stream) { stream->flags &= ~(COLT_AT_END | COLT_FAILED); }
void clearerr_unlocked(FILE *stream) { clearerr(stream); }
int fileno(FILE *stream) { return stream->fd; }

static FILE *no_file(const char *what) {
    __colt_note(what);
    colt_errno = COLT_ENOENT;
    return NULL;
}

FILE *fopen(const char *restrict path, const char *restrict mode) {
    __colt_check_string(path, SIZE_MAX);
    __colt_check_string(mode, SIZE_MAX);
    return no_file("fopen");
}
FILE *fopen64(const char *restrict path, const char *restrict mode) { return fopen(path, mode); }
FILE *freopen(const char *restrict path, const char *restrict mode, FILE *restrict stream) {
    return (void)path, (void)mode, (void)stream, no_file("freopen");
}
FILE *popen(const char *command, const char *mode) { return (void)command, (void)mode, no_file("popen"); }
FILE *tmpfile(void) { return no_file("tmpfile"); }
FILE *tmpfile64(void) { return no_file("tmpfile"); }

// Names of files that are not there, one after the other.
char *tmpnam(char *out) {
    static char own[20];
    static unsigned n_made;
    char *name = out ? out : own;
    __builtin_memcpy(name, "/tmp/fileAAAAAA", 16);
    __colt_note("tmpnam: a name that the library makes up");
    unsigned number = n_made++;
    for (int at = 14; number; at--, number /= 26)
        name[at] = (char)('A' + number % 26);
    return name;
}
FILE *fdopen(int fd, const char *mode) {
    (void)mode;
    return fd == 0 ? stdin : fd == 1 ? stdout : fd == 2 ? stderr : no_file("fdopen");
}

int fclose(FILE *stream) {
    stream->fd = -1;
    return 0;
}
int pclose(FILE *stream) { return fclose(stream); }

static int not_seekable(void) {
    colt_errno = COLT_ESPIPE;
    return -1;
}
int fseek(FILE *stream, long offset, int whence) { return (void)stream, (void)offset, (void)whence, not_seekable(); }
int fseeko(FILE *stream, long offset, int whence) { return (void)stream, (void)offset, (void)whence, not_seekable(); }
long ftell(FILE *stream) { return (void)stream, not_seekable(); }
long ftello(FILE *stream) { return (void)stream, not_seekable(); }
void rewind(FILE *stream) { clearerr(stream); }

static int no_such_file(const char *path, const char *what) {
    __colt_check_string(path, SIZE_MAX);
    __colt_note(what);
    colt_errno = COLT_ENOENT;
    return -1;
}
int remove(const char *path) { return no_such_file(path, "remove"); }
int unlink(const char *path) { return no_such_file(path, "unlink"); }
int rename(const char *from, const char *to) { return (void)to, no_such_file(from, "rename"); }
