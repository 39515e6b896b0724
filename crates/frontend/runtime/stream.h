// The three standard streams, and where formatted output goes.
#ifndef COLT_STREAM_H
#define COLT_STREAM_H

#include "common.h"

// Programs see this only as an opaque FILE. Optimised ones do look inside: GNU's header has getc_unlocked, putc_unlocked,
// feof_unlocked and ferror_unlocked in line there. Hence its flags come first, with its values for the two that the header
// tests, then its six pointers into buffers, which stay null: an empty buffer makes it call __uflow or __overflow.
enum { COLT_AT_END = 0x10, COLT_FAILED = 0x20 };
struct __colt_stream {
    int flags;
    const char *read_from, *read_to, *read_base;
    const char *write_base, *write_from, *write_to;
    int fd;
    int n_pushed;
    byte pushed[8];
};
typedef struct __colt_stream FILE;

// The next byte of a stream open for reading, or COLT_EOF.
int __colt_stream_byte(FILE *stream);
// Undoes one __colt_stream_byte; answers the byte, or COLT_EOF when there is no room or nothing to undo.
int __colt_stream_unread(FILE *stream, int c);
// Writes to a stream open for writing; the number of bytes written.
size_t __colt_stream_write(FILE *stream, const void *bytes, size_t n);

// Formatted text on its way to a descriptor (`text` is NULL) or into memory. `count` is what the whole text needs,
// `room` how much of it memory may take (not counting the NUL).
struct __colt_sink {
    int fd;
    char *text;
    size_t room;
    size_t count;
    int failed;
};

// The formatter behind all of printf's family. Answers what printf answers.
int __colt_format(struct __colt_sink *sink, const char *format, struct __colt_arguments *arguments);

// Fetches and checks what a formatted text would be made of, but does not make it.
void __colt_look_at(const char *format, struct __colt_arguments *arguments);

// A conversion specification of printf: %[flags][width][.precision][length]conversion.
enum __colt_length {
    COLT_LENGTH_NONE,
    COLT_LENGTH_CHAR,
    COLT_LENGTH_SHORT,
    COLT_LENGTH_LONG,
    COLT_LENGTH_LONG_LONG,
    COLT_LENGTH_MAX,
    COLT_LENGTH_SIZE,
    COLT_LENGTH_POINTER_DIFFERENCE,
    COLT_LENGTH_LONG_DOUBLE,
};
struct __colt_specification {
    int left, plus, space, alternate, zero;
    int width;
    // Negative when not given.
    int precision;
    enum __colt_length length;
    char conversion;
};

void __colt_emit(struct __colt_sink *sink, const char *bytes, size_t n);
void __colt_fill(struct __colt_sink *sink, char c, long n);
// sign * mantissa * 2^exponent as %f, %e, %g or %a want it.
void __colt_format_double(struct __colt_sink *sink, const struct __colt_specification *specification, double value);
void __colt_format_long_double(struct __colt_sink *sink, const struct __colt_specification *specification,
                               long double value);

#endif
