// Output that nobody looks at. The engine calls these in place of printf, fprintf, vprintf, vfprintf, puts and fputs when the
// result is unused and output is not recorded. The world below a whole C library has its own.
#include "common.h"
#include "stream.h"

void __colt_vprintf_light(const char *format, va_list list) {
    struct __colt_arguments arguments;
    va_copy(arguments.list, list);
    __colt_look_at(format, &arguments);
    va_end(arguments.list);
}

void __colt_printf_light(const char *format, ...) {
    struct __colt_arguments arguments;
    va_start(arguments.list, format);
    __colt_look_at(format, &arguments);
    va_end(arguments.list);
}

// Reading the descriptor makes a null or dangling FILE pointer the bug that it is.
static void touch_stream(const FILE *stream) { (void)*(const volatile int *)&stream->fd; }

void __colt_vfprintf_light(FILE *stream, const char *format, va_list list) {
    touch_stream(stream);
    __colt_vprintf_light(format, list);
}

void __colt_fprintf_light(FILE *stream, const char *format, ...) {
    struct __colt_arguments arguments;
    touch_stream(stream);
    va_start(arguments.list, format);
    __colt_look_at(format, &arguments);
    va_end(arguments.list);
}

void __colt_puts_light(const char *text) { __colt_check_string(text, SIZE_MAX); }

void __colt_fputs_light(const char *text, FILE *stream) {
    touch_stream(stream);
    __colt_check_string(text, SIZE_MAX);
}
