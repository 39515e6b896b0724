// error.h, and what the compiler and the headers call when a check of theirs fails.
#include "common.h"
#include "stream.h"

extern FILE *stdout, *stderr;
int fflush(FILE *stream);
int fprintf(FILE *stream, const char *format, ...);
int vfprintf(FILE *stream, const char *format, va_list list);
char *strerror(int number);
_Noreturn void exit(int status);

unsigned error_message_count;
void (*error_print_progname)(void);

void error(int status, int number, const char *format, ...) {
    va_list list;
    va_start(list, format);
    fflush(stdout);
    if (error_print_progname)
        error_print_progname();
    else
        fprintf(stderr, "program: ");
    vfprintf(stderr, format, list);
    va_end(list);
    if (number)
        fprintf(stderr, ": %s", strerror(number));
    fprintf(stderr, "\n");
    error_message_count++;
    if (status)
        exit(status);
}

_Noreturn void __stack_chk_fail(void) { abort(); }
_Noreturn void __chk_fail(void) { abort(); }

_Noreturn void __assert(const char *expression, const char *file, int line) {
    __colt_assert_fail(expression, file, (unsigned)line, "");
}

_Noreturn void __assert_perror_fail(int number, const char *file, unsigned line, const char *function) {
    (void)number;
    __colt_assert_fail("unexpected error", file, line, function);
}
