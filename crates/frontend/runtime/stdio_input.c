// stdio.h: reading from standard input, and scanf's family.
#include "common.h"
#include "number.h"
#include "stream.h"

extern FILE *stdin;

// --- bytes ---------------------------------------------------------------------------------------------------------------

// Standard input as a text whose length is a term: it is taken in pieces.
static const byte *whole;
static size_t n_whole, n_taken;

static int is_text(const FILE *stream) {
    if (!__colt_spans() || stream->fd != 0 || stream->n_pushed > 0)
        return 0;
    if (!whole)
        whole = __colt_stream("stdin", &n_whole);
    return whole != NULL;
}

// Takes up to `max` bytes, and none behind the first `stop` if that is a byte; how many.
static size_t take_text(byte *out, size_t max, int stop) {
    size_t left = n_whole - n_taken, room = __colt_least(left, max), n = room;
    byte last = (byte)stop;
    if (stop != COLT_EOF && !colt_seek(whole + n_taken, room, &last, 1, 0, &n))
        for (n = 0; n < room && whole[n_taken + n] != last; n++)
            ;
    n = stop == COLT_EOF ? n : __colt_least(n + 1, room);
    __builtin_memmove(out, whole + n_taken, n);
    n_taken += n;
    return n;
}

// What the program finds at the end of the text.
static void note_end(FILE *stream, int is_over) { stream->flags |= COLT_AT_END & -is_over; }

ptrdiff_t __colt_take_input(void *out, size_t max) {
    if (!is_text(stdin))
        return -1;
    return (ptrdiff_t)take_text(out, max, COLT_EOF);
}

int __colt_stream_byte(FILE *stream) {
    if (is_text(stream)) {
        if (n_taken < n_whole)
            return whole[n_taken++];
        stream->flags |= COLT_AT_END;
        return COLT_EOF;
    }
    if (stream->n_pushed > 0)
        return stream->pushed[--stream->n_pushed];
    if (stream->fd != 0) {
        stream->flags |= COLT_FAILED;
        colt_errno = COLT_EBADF;
        return COLT_EOF;
    }
    int c = __colt_stdin_byte();
    if (c < 0) {
        stream->flags |= COLT_AT_END;
        return COLT_EOF;
    }
    return c;
}

int __colt_stream_unread(FILE *stream, int c) {
    if (c == COLT_EOF || stream->n_pushed == (int)sizeof stream->pushed)
        return COLT_EOF;
    stream->pushed[stream->n_pushed++] = (byte)c;
    stream->flags &= ~COLT_AT_END;
    return (byte)c;
}

int fgetc(FILE *stream) { return __colt_stream_byte(stream); }
int getc(FILE *stream) { return __colt_stream_byte(stream); }
int _IO_getc(FILE *stream) { return __colt_stream_byte(stream); }
int getchar(void) { return __colt_stream_byte(stdin); }
int getc_unlocked(FILE *stream) { return __colt_stream_byte(stream); }
int fgetc_unlocked(FILE *stream) { return __colt_stream_byte(stream); }
int getchar_unlocked(void) { return __colt_stream_byte(stdin); }
int __uflow(FILE *stream) { return __colt_stream_byte(stream); }
int ungetc(int c, FILE *stream) { return __colt_stream_unread(stream, c); }

// --- lines and blocks --------------------------------------------------------------------------------------------------------

char *fgets(char *restrict line, int size, FILE *restrict stream) {
    int n = 0;
    if (size <= 0)
        return NULL;
    if (size > 1 && is_text(stream)) {
        size_t left = n_whole - n_taken, n = take_text((byte *)line, (size_t)size - 1, '\n');
        note_end(stream, (n == left) & (left < (size_t)size - 1) & ((n == 0) | (n == left)));
        if (n == 0)
            return NULL;
        line[n] = 0;
        return line;
    }
    while (n < size - 1) {
        int c = __colt_stream_byte(stream);
        if (c == COLT_EOF) {
            if (n == 0)
                return NULL;
            break;
        }
        line[n++] = (char)c;
        if (c == '\n')
            break;
    }
    line[n] = 0;
    return line;
}
char *fgets_unlocked(char *restrict line, int size, FILE *restrict stream) { return fgets(line, size, stream); }

char *gets(char *line) {
    size_t n = 0;
    int c;
    if (is_text(stdin)) {
        size_t left = n_whole - n_taken, length;
        if (left == 0) {
            note_end(stdin, 1);
            return NULL;
        }
        if (colt_seek(whole + n_taken, left, "\n", 1, 0, &length)) {
            __builtin_memmove(line, whole + n_taken, length);
            line[length] = 0;
            n_taken += __colt_least(length + 1, left);
            note_end(stdin, length == left);
            return line;
        }
    }
    while ((c = __colt_stream_byte(stdin)) != COLT_EOF && c != '\n')
        line[n++] = (char)c;
    if (c == COLT_EOF && n == 0)
        return NULL;
    line[n] = 0;
    return line;
}

size_t fread(void *restrict items, size_t size, size_t n, FILE *restrict stream) {
    size_t total = size * n, done = 0;
    if (total == 0)
        return 0;
    byte *out = items;
    if (is_text(stream)) {
        done = take_text(out, total, COLT_EOF);
        note_end(stream, done < total);
        return size == 1 ? done : done / size;
    }
    for (; done < total; done++) {
        int c = __colt_stream_byte(stream);
        if (c == COLT_EOF)
            return done / size;
        out[done] = (byte)c;
    }
    return n;
}
size_t fread_unlocked(void *restrict items, size_t size, size_t n, FILE *restrict stream) {
    return fread(items, size, n, stream);
}

void *realloc(void *old, size_t size);

ptrdiff_t getdelim(char **restrict line, size_t *restrict room, int delimiter, FILE *restrict stream) {
    size_t n = 0;
    if (!line || !room) {
        colt_errno = COLT_EINVAL;
        return -1;
    }
    if (!*line)
        *room = 0;
    for (;;) {
        int c = __colt_stream_byte(stream);
        if (n + 2 > *room) {
            size_t larger = *room < 60 ? 120 : *room * 2;
            char *grown = realloc(*line, larger);
            if (!grown)
                return -1;
            *line = grown;
            *room = larger;
        }
        if (c == COLT_EOF)
            break;
        (*line)[n++] = (char)c;
        if (c == delimiter)
            break;
    }
    if (n == 0)
        return -1;
    (*line)[n] = 0;
    return (ptrdiff_t)n;
}
ptrdiff_t __getdelim(char **line, size_t *room, int delimiter, FILE *stream) {
    return getdelim(line, room, delimiter, stream);
}
ptrdiff_t getline(char **restrict line, size_t *restrict room, FILE *restrict stream) {
    return getdelim(line, room, '\n', stream);
}

// --- scanf: where characters come from -------------------------------------------------------------------------------------------

struct source {
    // NULL when reading from a stream.
    const char *text;
    FILE *stream;
    size_t consumed;
};

static int source_next(struct source *source) {
    int c;
    if (source->text) {
        c = (byte)source->text[source->consumed];
        if (c == 0)
            return COLT_EOF;
    } else if ((c = __colt_stream_byte(source->stream)) == COLT_EOF) {
        return COLT_EOF;
    }
    source->consumed++;
    return c;
}

static void source_back(struct source *source, int c) {
    if (c == COLT_EOF)
        return;
    source->consumed--;
    if (!source->text)
        __colt_stream_unread(source->stream, c);
}

// Skips white space; answers the first other character, not yet consumed, or COLT_EOF.
static int skip_space(struct source *source) {
    int c;
    size_t n_space;
    if (source->text && colt_seek(source->text + source->consumed, SIZE_MAX, " \t\n\v\f\r", 6, 1, &n_space)) {
        source->consumed += n_space;
        c = (byte)source->text[source->consumed];
        return c ? c : COLT_EOF;
    }
    do
        c = source_next(source);
    while (c != COLT_EOF && colt_is_space(c));
    source_back(source, c);
    return c;
}

// --- scanf: one conversion -------------------------------------------------------------------------------------------------------

enum length { LENGTH_INT, LENGTH_CHAR, LENGTH_SHORT, LENGTH_LONG, LENGTH_LONG_LONG, LENGTH_SIZE, LENGTH_LONG_DOUBLE };

struct conversion {
    // No target: the value is read and dropped (%*d).
    int suppressed;
    int allocates;
    // Characters it may consume; INT_MAX when not given.
    int width;
    enum length length;
    char kind;
    // For %[: the characters between the brackets.
    const char *set, *set_end;
    int set_negated;
};

enum outcome { MATCHED, MISMATCH, INPUT_ENDED };

// Takes the next character if the width allows it; *width counts down.
static int take(struct source *source, int *width) {
    if (*width <= 0)
        return COLT_EOF;
    int c = source_next(source);
    if (c != COLT_EOF)
        --*width;
    return c;
}

static void put_back(struct source *source, int *width, int c) {
    if (c == COLT_EOF)
        return;
    source_back(source, c);
    ++*width;
}

static void store_integer(void *target, enum length length, uint64_t value) {
    switch (length) {
    case LENGTH_CHAR: *(unsigned char *)target = (unsigned char)value; break;
    case LENGTH_SHORT: *(unsigned short *)target = (unsigned short)value; break;
    case LENGTH_LONG: *(unsigned long *)target = (unsigned long)value; break;
    case LENGTH_SIZE: *(size_t *)target = (size_t)value; break;
    case LENGTH_LONG_LONG:
    case LENGTH_LONG_DOUBLE: *(unsigned long long *)target = value; break;
    default: *(unsigned *)target = (unsigned)value; break;
    }
}

static enum __colt_integer_type integer_type(const struct conversion *conversion) {
    int is_long_long = conversion->length == LENGTH_LONG_LONG || conversion->length == LENGTH_LONG_DOUBLE;
    if (conversion->kind == 'd' || conversion->kind == 'i')
        return is_long_long ? COLT_SIGNED_LONG_LONG : COLT_SIGNED_LONG;
    return is_long_long ? COLT_UNSIGNED_LONG_LONG : COLT_UNSIGNED_LONG;
}

static enum outcome scan_integer(struct source *source, const struct conversion *conversion, unsigned base,
                                 void *target) {
    int width = conversion->width, n_digits = 0;
    int c = take(source, &width);
    if (c == COLT_EOF)
        return INPUT_ENDED;
    int negative = c == '-';
    if ((c == '-') | (c == '+'))
        c = take(source, &width);
    if ((base == 0 || base == 16) && c == '0') {
        n_digits = 1;
        c = take(source, &width);
        if (c != COLT_EOF && (c | 32) == 'x') {
            base = 16;
            c = take(source, &width);
        } else if (base == 0) {
            base = 8;
        }
    } else if (base == 0) {
        base = 10;
    }
    struct __colt_integer number = colt_integer_start(base);
    for (; c != COLT_EOF; c = take(source, &width)) {
        unsigned digit = base <= 10 ? (unsigned)c - '0' : colt_digit_value(c);
        if (digit >= base)
            break;
        colt_integer_push(&number, digit);
        n_digits++;
    }
    put_back(source, &width, c);
    if (n_digits == 0)
        return MISMATCH;
    if (target)
        store_integer(target, conversion->length,
                      __colt_integer_finish(&number, negative, integer_type(conversion)));
    return MATCHED;
}

static enum outcome scan_pointer(struct source *source, const struct conversion *conversion, void *target) {
    struct conversion plain = *conversion;
    plain.length = LENGTH_SIZE;
    plain.kind = 'x';
    int width = plain.width, c = take(source, &width);
    put_back(source, &width, c);
    if (c == '(') {
        for (const char *nil = "(nil)"; *nil; nil++)
            if (take(source, &width) != *nil)
                return MISMATCH;
        if (target)
            *(void **)target = NULL;
        return MATCHED;
    }
    return scan_integer(source, &plain, 16, target);
}

// Collects the characters of a floating-point number, for strtod to read.
#define MAX_FLOAT_TEXT 1100
struct float_text {
    struct source *source;
    int width;
    int n;
    char text[MAX_FLOAT_TEXT + 1];
};

static int next_of_float(struct float_text *out) { return take(out->source, &out->width); }

static int keep(struct float_text *out, int c) {
    if (out->n < MAX_FLOAT_TEXT)
        out->text[out->n++] = (char)c;
    return next_of_float(out);
}

// Appends the rest of `word`; answers whether all of it was there. *c is the current character.
static int keep_word(struct float_text *out, const char *word, int *c) {
    for (; *word; word++) {
        if (*c == COLT_EOF || colt_to_lower(*c) != *word)
            return 0;
        *c = keep(out, *c);
    }
    return 1;
}

// As GNU's scanf: an exponent mark without digits is consumed and ignored, and "0x." counts as zero.
static int keep_number(struct float_text *out, int *c) {
    int n_digits = 0, hexadecimal = 0, after_point = 0;
    if (*c == '0') {
        n_digits = 1;
        *c = keep(out, *c);
        if (*c != COLT_EOF && (*c | 32) == 'x') {
            hexadecimal = 1;
            n_digits = 0;
            *c = keep(out, *c);
        }
    }
    for (;; *c = keep(out, *c)) {
        if (*c == COLT_EOF)
            break;
        if (hexadecimal ? colt_digit_value(*c) < 16 : colt_is_digit(*c))
            n_digits++;
        else if (!after_point && *c == '.')
            after_point = 1;
        else
            break;
    }
    if (n_digits == 0)
        return hexadecimal && after_point;
    if (*c != COLT_EOF && (*c | 32) == (hexadecimal ? 'p' : 'e')) {
        *c = keep(out, *c);
        if (*c != COLT_EOF && ((*c == '+') | (*c == '-')))
            *c = keep(out, *c);
        while (*c != COLT_EOF && colt_is_digit(*c))
            *c = keep(out, *c);
    }
    return 1;
}

static enum outcome scan_float(struct source *source, const struct conversion *conversion, void *target) {
    struct float_text text;
    text.source = source;
    text.width = conversion->width;
    text.n = 0;
    int c = next_of_float(&text), good;
    if (c == COLT_EOF)
        return INPUT_ENDED;
    if ((c == '-') | (c == '+'))
        c = keep(&text, c);
    if (c == COLT_EOF) {
        good = 0;
    } else if ((c | 32) == 'n') {
        good = keep_word(&text, "nan", &c);
    } else if ((c | 32) == 'i') {
        good = keep_word(&text, "inf", &c);
        if (good && c != COLT_EOF && (c | 32) == 'i')
            good = keep_word(&text, "inity", &c);
    } else {
        good = keep_number(&text, &c);
    }
    put_back(source, &text.width, c);
    if (!good)
        return MISMATCH;
    text.text[text.n] = 0;
    if (!target)
        return MATCHED;
    if (conversion->length == LENGTH_LONG_DOUBLE || conversion->length == LENGTH_LONG_LONG)
        *(long double *)target = __colt_text_to_long_double(text.text, NULL);
    else if (conversion->length == LENGTH_LONG)
        *(double *)target = __colt_text_to_double(text.text, NULL);
    else
        *(float *)target = __colt_text_to_float(text.text, NULL);
    return MATCHED;
}

// One condition for the whole set, ranges such as a-z included.
static int is_in_set(const struct conversion *conversion, int c) {
    int found = 0;
    for (const char *p = conversion->set; p < conversion->set_end; p++) {
        if (p + 2 < conversion->set_end && p[1] == '-') {
            found |= (c >= (byte)p[0]) & (c <= (byte)p[2]);
            p += 2;
        } else {
            found |= c == (byte)*p;
        }
    }
    return found ^ conversion->set_negated;
}

static int belongs(const struct conversion *conversion, int c) {
    if (conversion->kind == 'c')
        return 1;
    return conversion->kind == 's' ? !colt_is_space(c) : is_in_set(conversion, c);
}

// %s, %c and %[: characters into `out`, growing a block of our own for the m flag.
static enum outcome scan_text(struct source *source, const struct conversion *conversion, void *target) {
    int width = conversion->kind == 'c' && conversion->width == INT_MAX ? 1 : conversion->width;
    size_t n = 0, room = 0;
    char *out = conversion->allocates ? NULL : target;
    int c = COLT_EOF;
    if (conversion->kind == 's' && source->text && out && __colt_spans_between(out, source->text)) {
        const char *from = source->text + source->consumed;
        size_t most = width == INT_MAX ? SIZE_MAX : (size_t)width;
        // The zero is a stop as well.
        if (colt_seek(from, most, " \t\n\v\f\r", 7, 0, &n)) {
            if (n == 0)
                return *from ? MISMATCH : INPUT_ENDED;
            __builtin_memmove(out, from, n);
            out[n] = 0;
            source->consumed += n;
            return MATCHED;
        }
        n = 0;
    }
    for (;;) {
        if (target && conversion->allocates && n + 1 >= room) {
            room = room ? room * 2 : 32;
            if (!(out = realloc(out, room)))
                return MISMATCH;
        }
        c = take(source, &width);
        if (c == COLT_EOF)
            break;
        if (!belongs(conversion, c)) {
            put_back(source, &width, c);
            break;
        }
        if (out)
            out[n] = (char)c;
        n++;
    }
    if (n == 0) {
        if (target && conversion->allocates)
            free(out);
        return c == COLT_EOF ? INPUT_ENDED : MISMATCH;
    }
    if (out && conversion->kind != 'c')
        out[n] = 0;
    if (target && conversion->allocates)
        *(char **)target = out;
    return MATCHED;
}

// --- scanf: the format ----------------------------------------------------------------------------------------------------------------

static const char *read_length(const char *p, enum length *out) {
    *out = LENGTH_INT;
    switch (*p) {
    case 'h':
        *out = p[1] == 'h' ? LENGTH_CHAR : LENGTH_SHORT;
        return p + (p[1] == 'h' ? 2 : 1);
    case 'l':
        *out = p[1] == 'l' ? LENGTH_LONG_LONG : LENGTH_LONG;
        return p + (p[1] == 'l' ? 2 : 1);
    case 'q': case 'j': *out = LENGTH_LONG_LONG; return p + 1;
    case 'z': case 't': *out = LENGTH_SIZE; return p + 1;
    case 'L': *out = LENGTH_LONG_DOUBLE; return p + 1;
    default: return p;
    }
}

static const char *read_set(const char *p, struct conversion *out) {
    if (*p == '^') {
        out->set_negated = 1;
        p++;
    }
    out->set = p;
    if (*p == ']')
        p++;
    while (*p && *p != ']')
        p++;
    out->set_end = p;
    return *p ? p + 1 : p;
}

// `p` is just behind the percent sign.
static const char *read_conversion(const char *p, struct conversion *out) {
    *out = (struct conversion){.width = INT_MAX};
    for (; *p == '*' || *p == '\'' || *p == 'I'; p++)
        out->suppressed |= *p == '*';
    if (colt_is_digit(*p)) {
        int width = 0;
        for (; colt_is_digit(*p); p++)
            if (width < 100000000)
                width = width * 10 + (*p - '0');
        out->width = width ? width : INT_MAX;
    }
    if (*p == '$')
        __colt_gap("scanf with numbered arguments (%1$d)");
    if (*p == 'm') {
        out->allocates = 1;
        p++;
    }
    p = read_length(p, &out->length);
    out->kind = *p;
    if (*p)
        p++;
    return out->kind == '[' ? read_set(p, out) : p;
}

static enum outcome scan_conversion(struct source *source, const struct conversion *conversion, void *target) {
    if (conversion->kind != 'c' && conversion->kind != '[' && skip_space(source) == COLT_EOF)
        return INPUT_ENDED;
    if (conversion->length == LENGTH_LONG &&
        (conversion->kind == 's' || conversion->kind == 'c' || conversion->kind == '['))
        __colt_gap("scanf into wide characters (%ls, %lc)");
    switch (conversion->kind) {
    case 'd': case 'u': return scan_integer(source, conversion, 10, target);
    case 'i': return scan_integer(source, conversion, 0, target);
    case 'o': return scan_integer(source, conversion, 8, target);
    case 'x': case 'X': return scan_integer(source, conversion, 16, target);
    case 'p': return scan_pointer(source, conversion, target);
    case 's': case 'c': case '[': return scan_text(source, conversion, target);
    case 'f': case 'F': case 'e': case 'E': case 'g': case 'G': case 'a': case 'A':
        return scan_float(source, conversion, target);
    default: return MISMATCH;
    }
}

static int scan(struct source *source, const char *format, struct __colt_arguments *arguments) {
    int n_stored = 0;
    enum outcome outcome = MATCHED;
    for (const char *p = format; *p && outcome == MATCHED;) {
        if (colt_is_space(*p)) {
            skip_space(source);
            p++;
            continue;
        }
        if (*p != '%' || p[1] == '%') {
            if (*p == '%') {
                skip_space(source);
                p++;
            }
            int c = source_next(source);
            if (c != (byte)*p) {
                source_back(source, c);
                outcome = c == COLT_EOF ? INPUT_ENDED : MISMATCH;
            }
            p++;
            continue;
        }
        struct conversion conversion;
        p = read_conversion(p + 1, &conversion);
        void *target = conversion.suppressed ? NULL : va_arg(arguments->list, void *);
        if (conversion.kind == 'n') {
            if (target)
                store_integer(target, conversion.length, source->consumed);
            continue;
        }
        outcome = scan_conversion(source, &conversion, target);
        if (outcome == MATCHED)
            n_stored += !conversion.suppressed;
    }
    return outcome == INPUT_ENDED && n_stored == 0 ? COLT_EOF : n_stored;
}

// --- scanf: its names -------------------------------------------------------------------------------------------------------------------

static int scan_text_of(const char *text, const char *format, struct __colt_arguments *arguments) {
    struct source source = {text, NULL, 0};
    return scan(&source, format, arguments);
}

static int scan_stream(FILE *stream, const char *format, struct __colt_arguments *arguments) {
    struct source source = {NULL, stream, 0};
    return scan(&source, format, arguments);
}

#define WITH_ARGUMENTS(expression)                                                                                    \
    struct __colt_arguments arguments;                                                                                \
    va_start(arguments.list, format);                                                                                 \
    int result = expression;                                                                                          \
    va_end(arguments.list);                                                                                           \
    return result

#define WITH_LIST(expression)                                                                                         \
    struct __colt_arguments arguments;                                                                                \
    va_copy(arguments.list, list);                                                                                    \
    int result = expression;                                                                                          \
    va_end(arguments.list);                                                                                           \
    return result

// GNU's headers call these by other names in newer versions of C.
#define DEFINE_SCANF_FAMILY(prefix)                                                                                   \
    int prefix##scanf(const char *restrict format, ...) { WITH_ARGUMENTS(scan_stream(stdin, format, &arguments)); }   \
    int prefix##vscanf(const char *restrict format, va_list list) {                                                   \
        WITH_LIST(scan_stream(stdin, format, &arguments));                                                            \
    }                                                                                                                 \
    int prefix##fscanf(FILE *restrict stream, const char *restrict format, ...) {                                     \
        WITH_ARGUMENTS(scan_stream(stream, format, &arguments));                                                      \
    }                                                                                                                 \
    int prefix##vfscanf(FILE *restrict stream, const char *restrict format, va_list list) {                           \
        WITH_LIST(scan_stream(stream, format, &arguments));                                                           \
    }                                                                                                                 \
    int prefix##sscanf(const char *restrict text, const char *restrict format, ...) {                                 \
        WITH_ARGUMENTS(scan_text_of(text, format, &arguments));                                                       \
    }                                                                                                                 \
    int prefix##vsscanf(const char *restrict text, const char *restrict format, va_list list) {                       \
        WITH_LIST(scan_text_of(text, format, &arguments));                                                            \
    }

DEFINE_SCANF_FAMILY()
DEFINE_SCANF_FAMILY(__isoc99_)
