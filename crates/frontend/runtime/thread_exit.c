// What compilers register for the end of a thread (C++'s and others' thread-local objects): run before what atexit knows.
#include "common.h"

int atexit(void (*run)(void));
int __cxa_thread_atexit_impl(void (*run)(void *), void *object, void *image);
void __colt_run_thread_exits(void);

struct thread_exit {
    struct thread_exit *earlier;
    void (*run)(void *);
    void *object;
};
static struct thread_exit *last;
static struct thread_exit first_few[16];
static size_t n_first_few;

void __colt_run_thread_exits(void) {
    while (last) {
        struct thread_exit *now = last;
        last = now->earlier;
        now->run(now->object);
    }
}

int __cxa_thread_atexit_impl(void (*run)(void *), void *object, void *image) {
    (void)image;
    struct thread_exit *entry = n_first_few < 16 ? &first_few[n_first_few++] : malloc(sizeof *entry);
    if (!entry)
        return -1;
    if (n_first_few == 1)
        atexit(__colt_run_thread_exits);
    entry->earlier = last;
    entry->run = run;
    entry->object = object;
    last = entry;
    return 0;
}
