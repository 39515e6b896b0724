// errno.h, and the assertion that assert.h calls.
#include "common.h"

static int current_errno;

int *__errno_location(void) { return &current_errno; }

_Noreturn void __assert_fail(const char *expression, const char *file, unsigned line, const char *function) {
    __colt_assert_fail(expression, file, line, function);
}
