// Stands before musl's own header of this name: every system call is an ordinary call of the virtual world.
#define __SYSCALL_LL_E(x) (x)
#define __SYSCALL_LL_O(x) (x)
#define IPC_64 0

long __world_call(long number, long a, long b, long c, long d, long e, long f);

static inline long __syscall0(long n) { return __world_call(n, 0, 0, 0, 0, 0, 0); }
static inline long __syscall1(long n, long a) { return __world_call(n, a, 0, 0, 0, 0, 0); }
static inline long __syscall2(long n, long a, long b) { return __world_call(n, a, b, 0, 0, 0, 0); }
static inline long __syscall3(long n, long a, long b, long c) { return __world_call(n, a, b, c, 0, 0, 0); }
static inline long __syscall4(long n, long a, long b, long c, long d) { return __world_call(n, a, b, c, d, 0, 0); }
static inline long __syscall5(long n, long a, long b, long c, long d, long e) {
    return __world_call(n, a, b, c, d, e, 0);
}
static inline long __syscall6(long n, long a, long b, long c, long d, long e, long f) {
    return __world_call(n, a, b, c, d, e, f);
}
