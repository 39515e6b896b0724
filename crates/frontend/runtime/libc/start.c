// What musl expects to find when a program starts: a thread descriptor, the environment, the program's name. Compiled
// together with musl, whose internal headers it needs.
#include "libc.h"
#include "locale_impl.h"
#include "pthread_impl.h"
#include <unistd.h>

hidden struct pthread __world_main_thread = {
    .self = &__world_main_thread,
    .next = &__world_main_thread,
    .prev = &__world_main_thread,
    .tid = 2,
    .detach_state = DT_JOINABLE,
    .locale = &__libc.global_locale,
    .robust_list = {.head = &__world_main_thread.robust_list.head},
};
uintptr_t __world_thread_pointer = (uintptr_t)&__world_main_thread;

hidden void __funcs_on_exit(void);
hidden void __stdio_exit(void);
static void nothing(void) {}
weak_alias(nothing, __funcs_on_exit);
weak_alias(nothing, __stdio_exit);

// The entry returned: what exit would do before it ends the process.
void __colt_run_exit_handlers(int status) {
    (void)status;
    __funcs_on_exit();
    __stdio_exit();
}

char **__world_environment(void);
void __world_begin(void);

// Before the program's own constructors.
__attribute__((constructor(101))) void __world_start(void) {
    static char name[] = "program";
    __progname = __progname_full = name;
    __world_begin();
    __environ = __world_environment();
}
