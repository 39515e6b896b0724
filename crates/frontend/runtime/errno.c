// errno.h, assert.h: where errors are noted and how assertions end.
#include "common.h"

static int current_errno;

int *__errno_location(void) { return &current_errno; }

_Noreturn void __assert_fail(const char *expression, const char *file, unsigned line, const char *function) {
    __colt_assert_fail(expression, file, line, function);
}

_Noreturn void __assert(const char *expression, const char *file, int line) {
    __colt_assert_fail(expression, file, (unsigned)line, "");
}

_Noreturn void __assert_perror_fail(int number, const char *file, unsigned line, const char *function) {
    (void)number;
    __colt_assert_fail("unexpected error", file, line, function);
}
