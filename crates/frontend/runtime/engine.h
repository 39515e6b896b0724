// What the engine offers to this library: functions that have no body here and that the machine carries out itself.
#ifndef COLT_ENGINE_H
#define COLT_ENGINE_H

#include <stddef.h>

// --- memory -------------------------------------------------------------------------------------------------------

// A fresh heap object of exactly `size` bytes, or NULL above the engine's limit. malloc(0) is a unique pointer.
void *malloc(size_t size);
// Ends a heap object's life; NULL is accepted, anything else that is not a live heap object is a finding.
void free(void *pointer);
// A fresh heap object whose address is a multiple of `alignment` (a power of two). Released by free.
void *__colt_malloc_aligned(size_t alignment, size_t size);
// The size in bytes of the live object that starts at `pointer`.
size_t __colt_object_size(void *pointer);
// Reports what free(pointer) would report (double or invalid free), but leaves a valid object alive.
void __colt_realloc_check(void *pointer);

// --- strings that are only looked at ------------------------------------------------------------------------------

// Reports an out-of-bounds read unless a NUL lies among the first `max` bytes of `text` or those `max` bytes all
// belong to its object. Never forks on where the NUL is.
void __colt_check_string(const char *text, size_t max);
// Whether it is a fault when strings are copied onto themselves, and the fault: `n_to` bytes from `to` on have some in common
// with `n_from` from `from` on.
int __colt_checks_overlap(void);
void __colt_apart(const void *to, size_t n_to, const void *from, size_t n_from);
// A number that is written out.
void __colt_puts_out(unsigned long long value);

// --- lengths that are terms ---------------------------------------------------------------------------------------

// Whether lengths that depend on inputs are terms. What follows is only for then.
int __colt_spans(void);
// The same where the two lie in different objects: a loop that reads what it has just written is left to itself.
int __colt_spans_between(const void *to, const void *from);
// How far it is from `start` to the first of the `n_stops` bytes at `stops` (with `not_in`: to the first other byte), or `max` if none of
// the first `max` is one. 0 where a loop may as well look; else it is in `result`. Checks what the loop would read.
int __colt_seek(const void *start, size_t max, const void *stops, size_t n_stops, int not_in, size_t *result);
// The same for the last of them among the first `max`.
int __colt_seek_last(const void *start, size_t max, const void *stops, size_t n_stops, int not_in, size_t *result);
// Copies a string as a loop would, and gives its length; 0 where a loop may as well do it.
int __colt_copy_text(char *to, const char *from, size_t *length);
// The two bytes at the first place below `max` where `a` and `b` differ (with `to_zero`: or `a` has a zero; without, all `max` bytes are read), small letters and large ones being the same with
// `folds`; two zeros if there is none. 0 where a loop may as well look. Checks what the loop would read.
int __colt_differ(const void *a, const void *b, size_t max, int to_zero, int folds, unsigned char bytes[2]);
// How far it is to the first place where the string `hay` has `needle`, or to its end. 0 where a loop may as well look.
int __colt_find(const char *hay, const char *needle, int folds, size_t *result);
// The bytes of the stream of that name, and how many there are; NULL where they are not a text.
const void *__colt_stream(const char *name, size_t *size);
// Bytes from here to the end of the object.
size_t __colt_space(const void *pointer);
// The smaller number, without a branch.
size_t __colt_least(size_t a, size_t b);

// --- the outside world --------------------------------------------------------------------------------------------

// `count` bytes written to descriptor `fd` (1 or 2). Reads, and so checks, all of them; then discards or records them.
void __colt_output(int fd, const void *bytes, size_t count);
// The next byte of standard input as a value in 0..255, or -1 at its end.
int __colt_stdin_byte(void);
// The same, without looking whether standard input is over.
int __colt_stdin_room(void);
// How many bytes the input of that name has: a symbol where a technique lets that open, else `most`.
long __colt_length(const char *name, long most);
// Whether a number is a symbol.
int __colt_is_open(long number);
// Seconds since 1970, an input of the program; also stored in `result` unless that is NULL.
long time(long *result);

// --- endings ------------------------------------------------------------------------------------------------------

// The path ends as Exited(status & 0xff). Handlers of atexit have already run.
_Noreturn void __colt_exit(int status);
// The path ends with an assertion failure.
_Noreturn void __colt_assert_fail(const char *expression, const char *file, unsigned line, const char *function);
// The path ends with the finding `abort`.
_Noreturn void abort(void);

// --- honesty ------------------------------------------------------------------------------------------------------

// Something this library cannot do faithfully: the path ends as Unsupported with this message and a ledger entry.
void __colt_gap(const char *what);
// Something modelled only roughly (say, opening a file fails): a ledger entry, and the path goes on.
void __colt_note(const char *what);
// `value` itself when it is concrete. Otherwise one feasible value: the path is constrained to it and the ledger
// gets an entry naming `why`.
int __colt_concrete(int value, const char *why);

#endif
