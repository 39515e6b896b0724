// The program is alone, as in the engine's world: it makes no other process, starts no program and has no network. The kernel
// answers such calls with the errors that the engine's world has for them. Threads are made as ever.

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>

#if defined(__x86_64__)
#define OWN_ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined(__i386__)
#define OWN_ARCHITECTURE AUDIT_ARCH_I386
#endif

#ifdef OWN_ARCHITECTURE
#define ANSWER(ERROR) BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (ERROR))
#define PASS BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)
#define FIELD(NAME) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, NAME))
#define DENY(NUMBER, ERROR) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (NUMBER), 0, 1), ANSWER(ERROR)

static void be_alone(void) {
  struct sock_filter filter[] = {
      FIELD(arch),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, OWN_ARCHITECTURE, 1, 0),
      PASS,
      FIELD(nr),
      DENY(SYS_fork, EAGAIN),
      DENY(SYS_vfork, EAGAIN),
      DENY(SYS_execve, ENOENT),
      DENY(SYS_execveat, ENOENT),
      DENY(SYS_socket, ENOSYS),
      DENY(SYS_socketpair, ENOSYS),
#ifdef SYS_socketcall
      DENY(SYS_socketcall, ENOSYS),
#endif
      // Its flags are in memory, where nobody can look: the library then takes the older call.
      DENY(SYS_clone3, ENOSYS),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone, 1, 0),
      PASS,
      // Threads, and the one that AddressSanitizer looks for leaks with.
      FIELD(args[0]),
      BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, CLONE_THREAD | CLONE_UNTRACED, 0, 1),
      PASS,
      ANSWER(EAGAIN),
  };
  struct sock_fprog program = {.len = sizeof filter / sizeof filter[0], .filter = filter};
  // Where the kernel does not let us, the program finds what the machine has.
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0)
    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}
#else
static void be_alone(void) {}
#endif
