// Printing to standard streams that nobody reads: as stdio_light.c, where it cannot make a difference. It can where the
// stream leads to a file or a pipe, or where writing may fail.
#include "../common.h"
#include "../stream.h"
int vfprintf(FILE *stream, const char *format, va_list list);
int puts(const char *text);
int fputs(const char *text, FILE *stream);
extern FILE *stdout, *stderr;

int __world_is_unseen(int fd);

// Where a result goes that nobody wants: a call whose result is dropped would be one of these functions again.
static volatile int unwanted;

static int nobody_looks(FILE *stream) {
    return (stream == stdout && __world_is_unseen(1)) || (stream == stderr && __world_is_unseen(2));
}

// Arguments by position and stored counts are left to the library.
static int is_simple(const char *format) {
    while (*format) {
        if (*format++ != '%')
            continue;
        while (*format == '.' || *format == '*' || *format == '-' || *format == '+' || *format == ' ' ||
               *format == '#' || colt_is_digit(*format))
            format++;
        while (*format == 'l' || *format == 'h' || *format == 'j' || *format == 'z' || *format == 't' || *format == 'L')
            format++;
        if (*format == '$' || *format == 'n')
            return 0;
        format += *format != 0;
    }
    return 1;
}

static void print(FILE *stream, const char *format, va_list list) {
    if (!nobody_looks(stream) || !is_simple(format)) {
        unwanted = vfprintf(stream, format, list);
        return;
    }
    struct __colt_arguments arguments;
    va_copy(arguments.list, list);
    __colt_look_at(format, &arguments);
    va_end(arguments.list);
}

void __colt_vfprintf_light(FILE *stream, const char *format, va_list list) { print(stream, format, list); }
void __colt_vprintf_light(const char *format, va_list list) { print(stdout, format, list); }

void __colt_fprintf_light(FILE *stream, const char *format, ...) {
    va_list list;
    va_start(list, format);
    print(stream, format, list);
    va_end(list);
}

void __colt_printf_light(const char *format, ...) {
    va_list list;
    va_start(list, format);
    print(stdout, format, list);
    va_end(list);
}

void __colt_puts_light(const char *text) {
    if (nobody_looks(stdout))
        __colt_check_string(text, SIZE_MAX);
    else
        unwanted = puts(text);
}

void __colt_fputs_light(const char *text, FILE *stream) {
    if (nobody_looks(stream))
        __colt_check_string(text, SIZE_MAX);
    else
        unwanted = fputs(text, stream);
}
