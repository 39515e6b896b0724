// Time, identity, signals, memory: calls that have nothing to do with files.
#include "world.h"

// Lets other threads run.
void __colt_thread_yield(void);

enum {
    SYS_mmap = 9,
    SYS_mprotect = 10,
    SYS_munmap = 11,
    SYS_brk = 12,
    SYS_rt_sigaction = 13,
    SYS_rt_sigprocmask = 14,
    SYS_sched_yield = 24,
    SYS_madvise = 28,
    SYS_nanosleep = 35,
    SYS_alarm = 37,
    SYS_getpid = 39,
    SYS_exit = 60,
    SYS_kill = 62,
    SYS_uname = 63,
    SYS_umask = 95,
    SYS_gettimeofday = 96,
    SYS_getrlimit = 97,
    SYS_getrusage = 98,
    SYS_sysinfo = 99,
    SYS_times = 100,
    SYS_getuid = 102,
    SYS_getgid = 104,
    SYS_geteuid = 107,
    SYS_getegid = 108,
    SYS_getppid = 110,
    SYS_getpgrp = 111,
    SYS_getgroups = 115,
    SYS_sigaltstack = 131,
    SYS_gettid = 186,
    SYS_tkill = 200,
    SYS_time = 201,
    SYS_futex = 202,
    SYS_sched_getaffinity = 204,
    SYS_set_tid_address = 218,
    SYS_clock_gettime = 228,
    SYS_clock_getres = 229,
    SYS_clock_nanosleep = 230,
    SYS_exit_group = 231,
    SYS_tgkill = 234,
    SYS_prlimit64 = 302,
    SYS_getrandom = 318,
};

enum { PID = 2, NOBODY = 65534, N_SIGNALS = 65, SIGNAL_ABORT = 6 };

// --- signals: nobody sends any from outside ---------------------------------------------------------------------------------

// The kernel's struct sigaction.
struct action {
    void (*handler)(int, void *, void *);
    unsigned long flags;
    void (*restorer)(void);
    uint64_t mask;
};
static struct action actions[N_SIGNALS];
static uint64_t blocked, waiting;

static long set_action(unsigned long signal, const struct action *action, struct action *old) {
    enum { SIGNAL_KILL = 9, SIGNAL_STOP = 19 };
    if (signal - 1 >= N_SIGNALS - 1 || (action && (signal == SIGNAL_KILL || signal == SIGNAL_STOP)))
        return -EINVAL;
    if (old)
        *old = actions[signal];
    if (action)
        actions[signal] = *action;
    return 0;
}

static int is_harmless(unsigned long signal) {
    enum { SIGNAL_CHILD = 17, SIGNAL_CONTINUE = 18, SIGNAL_URGENT = 23, SIGNAL_WINDOW = 28 };
    return signal == SIGNAL_CHILD || signal == SIGNAL_CONTINUE || signal == SIGNAL_URGENT || signal == SIGNAL_WINDOW;
}

static void deliver(unsigned long signal) {
    enum { RESET_HANDLER = 0x80000000u, INFORMS = 4, INFO_BYTES = 128 };
    struct action action = actions[signal];
    uintptr_t handler = (uintptr_t)action.handler;
    if (handler == 1 || (handler == 0 && is_harmless(signal)))
        return;
    if (handler == 0) {
        if (signal == SIGNAL_ABORT)
            abort();
        __colt_gap("the end of the process by a signal");
    }
    if (action.flags & RESET_HANDLER)
        actions[signal].handler = NULL;
    int info[INFO_BYTES / sizeof(int)] = {(int)signal};
    uint64_t before = blocked;
    blocked |= action.mask | 1ull << (signal - 1);
    if (action.flags & INFORMS)
        action.handler((int)signal, info, NULL);
    else
        ((void (*)(int))action.handler)((int)signal);
    blocked = before;
}

static void deliver_waiting(void) {
    for (unsigned long signal = 1; signal < N_SIGNALS; signal++)
        if (waiting & ~blocked & 1ull << (signal - 1)) {
            waiting &= ~(1ull << (signal - 1));
            deliver(signal);
        }
}

static long send_signal(long pid, unsigned long signal) {
    if (pid != PID && pid != 0 && pid != -1 && pid != -PID && !__colt_is_own_process(pid))
        return -3;
    if (signal >= N_SIGNALS)
        return -EINVAL;
    if (signal) {
        waiting |= 1ull << (signal - 1);
        deliver_waiting();
    }
    return 0;
}

static long change_mask(int how, const uint64_t *set, uint64_t *old) {
    uint64_t before = blocked;
    if (set) {
        uint64_t bits = *set;
        if ((unsigned)how > 2)
            return -EINVAL;
        blocked = how == 0 ? blocked | bits : how == 1 ? blocked & ~bits : bits;
    }
    if (old)
        *old = before;
    deliver_waiting();
    return 0;
}

// --- memory -------------------------------------------------------------------------------------------------------------------

static long map(size_t size, long flags, long fd, long offset) {
    enum { SHARED = 1, ANONYMOUS = 0x20 };
    if (__world_chance("mmap", -1, 1))
        return -ENOMEM;
    if (size == 0)
        return -EINVAL;
    size_t whole = (size + 4095) & ~(size_t)4095;
    byte *block = __colt_malloc_aligned(4096, whole);
    if (!block)
        return -ENOMEM;
    __builtin_memset(block, 0, whole);
    if (flags & ANONYMOUS)
        return (long)block;
    if (flags & SHARED)
        __colt_note("a shared mapping of a file: what is written to it does not reach the file");
    long got = __world_read_at(fd, block, size, offset);
    if (got < 0) {
        free(block);
        return got;
    }
    return (long)block;
}

// --- time ------------------------------------------------------------------------------------------------------------------------

struct moment {
    long seconds, part;
};

static long now(long clock, struct moment *out) {
    (void)clock;
    out->seconds = time(NULL);
    out->part = 0;
    return 0;
}

// --- identity ----------------------------------------------------------------------------------------------------------------------

static long tell_system(char (*out)[65]) {
    static const char *const texts[] = {"Linux", "colt", "5.0.0", "#1", "x86_64", ""};
    for (int i = 0; i < 6; i++) {
        __builtin_memset(out[i], 0, 65);
        __builtin_memcpy(out[i], texts[i], __builtin_strlen(texts[i]));
    }
    return 0;
}

static long tell_limit(long resource, unsigned long *out) {
    enum { STACK = 3, FILES = 7 };
    if (out)
        out[0] = out[1] = resource == FILES ? MAX_DESCRIPTORS : resource == STACK ? 8ul << 20 : ~0ul;
    return 0;
}

// The kernel's struct sysinfo.
struct system {
    unsigned long running, loads[3], memory, memory_free, shared, buffers, swap, swap_free;
    unsigned short processes;
    unsigned long high, high_free;
    unsigned unit;
};

// A gigabyte, half of it free.
static long tell_memory(struct system *out) {
    *out = (struct system){.memory = 1ul << 30, .memory_free = 1ul << 29, .unit = 1};
    return 0;
}

static long one_processor(byte *out, size_t size) {
    if (size < 8)
        return -EINVAL;
    __builtin_memset(out, 0, 8);
    out[0] = 1;
    return 8;
}

long __world_random(byte *out, size_t n) {
    static uint64_t state = 88172645463325252ull;
    __colt_note("random bytes: always the same ones");
    for (size_t i = 0; i < n; i++) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        out[i] = (byte)state;
    }
    return (long)n;
}

static unsigned mask = 022;

static long change_umask(unsigned new_mask) {
    unsigned old = mask;
    mask = new_mask & 0777;
    return old;
}

unsigned __world_umask(void) { return mask; }

static long zeroed(void *out, size_t n) {
    __builtin_memset(out, 0, n);
    return 0;
}

long __world_process_call(long number, long a, long b, long c, long d) {
    switch (number) {
    case SYS_exit:
    case SYS_exit_group:
        __colt_exit((int)a);
    case SYS_gettid:
    case SYS_set_tid_address:
        return PID;
    case SYS_getpid:
        return __colt_identity(0);
    case SYS_getppid:
        return __colt_identity(1);
    case SYS_getpgrp:
        return 1;
    case SYS_getuid:
        return __colt_identity(2);
    case SYS_geteuid:
        return __colt_identity(3);
    case SYS_getgid:
        return __colt_identity(4);
    case SYS_getegid:
        return __colt_identity(5);
    case SYS_getgroups:
        return 0;
    case SYS_umask:
        return change_umask((unsigned)a);
    case SYS_uname:
        return tell_system((char(*)[65])a);
    case SYS_clock_gettime:
        return now(a, (struct moment *)b);
    case SYS_gettimeofday:
        return a ? now(0, (struct moment *)a) : 0;
    case SYS_time:
        return time((long *)a);
    case SYS_clock_getres:
        if (b)
            *(struct moment *)b = (struct moment){0, 1};
        return 0;
    case SYS_nanosleep:
    case SYS_clock_nanosleep:
    case SYS_sched_yield:
        __colt_thread_yield();
        return 0;
    case SYS_alarm:
    case SYS_sigaltstack:
    case SYS_madvise:
    case SYS_mprotect:
        return 0;
    case SYS_sysinfo:
        return tell_memory((struct system *)a);
    case SYS_sched_getaffinity:
        return one_processor((byte *)c, (size_t)b);
    case SYS_times:
        return a ? zeroed((void *)a, 4 * sizeof(long)) : 0;
    case SYS_getrusage:
        return zeroed((void *)b, 18 * sizeof(long));
    case SYS_getrlimit:
        return tell_limit(a, (unsigned long *)b);
    case SYS_prlimit64:
        return tell_limit(b, (unsigned long *)d);
    case SYS_rt_sigaction:
        return set_action((unsigned long)a, (const struct action *)b, (struct action *)c);
    case SYS_rt_sigprocmask:
        return change_mask((int)a, (const uint64_t *)b, (uint64_t *)c);
    case SYS_kill:
    case SYS_tkill:
        return send_signal(a, (unsigned long)b);
    case SYS_tgkill:
        return send_signal(b, (unsigned long)c);
    case SYS_munmap:
        free((void *)a);
        return 0;
    case SYS_brk:
        return -ENOMEM;
    case SYS_getrandom:
        return __world_random((byte *)a, (size_t)b);
    case SYS_futex:
        return 0;
    }
    (void)d;
    return -ENOSYS;
}

long __world_map(long size, long flags, long fd, long offset) { return map((size_t)size, flags, fd, offset); }
