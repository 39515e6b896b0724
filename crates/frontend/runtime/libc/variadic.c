// Functions that programs may call with fewer arguments than musl reads. Reading on is harmless on a machine, where it
// yields what a register happens to hold, but the engine sees a read past what was passed; here it yields zero.
#include <stdarg.h>
#include <stddef.h>
#include "syscall.h"

size_t __colt_room(const void *);

// The engine passes every variadic argument in memory. On x86-64 a va_list tells where among other things, elsewhere it is
// nothing but that place.
#ifdef __x86_64__
struct list {
    unsigned gp_offset, fp_offset;
    void *rest, *saved;
};
#define PLACE(LIST) (&((struct list *)(LIST))->rest)
#else
#define PLACE(LIST) ((void **)&(LIST))
#endif

static long next(void **rest) {
    if (__colt_room(*rest) < sizeof(long))
        return 0;
    // An int passed alone still fills a whole slot.
    long value = *(long *)*rest;
    *rest = (char *)*rest + sizeof(long);
    return value;
}

#define TAKE(N, LAST)                                                                                                  \
    va_list list;                                                                                                      \
    long argument[N];                                                                                                  \
    va_start(list, LAST);                                                                                              \
    for (int i = 0; i < (N); i++)                                                                                      \
        argument[i] = next(PLACE(list));                                                                               \
    va_end(list)

int fcntl(int fd, int command, ...) {
    TAKE(1, command);
    return (int)__syscall_ret((unsigned long)__world_call(SYS_fcntl, fd, command, argument[0], 0, 0, 0));
}

int ioctl(int fd, int request, ...) {
    TAKE(1, request);
    return (int)__syscall_ret((unsigned long)__world_call(SYS_ioctl, fd, request, argument[0], 0, 0, 0));
}

int prctl(int option, ...) {
    TAKE(4, option);
    return (int)__syscall_ret((unsigned long)__world_call(SYS_prctl, option, argument[0], argument[1], argument[2],
                                                          argument[3], 0));
}

#undef syscall
long syscall(long number, ...) {
    TAKE(6, number);
    return __syscall_ret((unsigned long)__world_call(number, argument[0], argument[1], argument[2], argument[3],
                                                     argument[4], argument[5]));
}
