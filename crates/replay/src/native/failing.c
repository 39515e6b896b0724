// System calls that a test makes fail (inputs named fail:CALL or fail:CALL(FD)). The kernel hands every such call to a
// signal handler, wherever in the C library it is made; the handler answers it with an error or makes it after all.

#if defined(__x86_64__)
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/syscall.h>

// Makes a system call from one known place, which the filter lets pass.
long colt_gate(long number, long a, long b, long c, long d, long e, long f);
extern const char colt_gate_end[] __attribute__((visibility("hidden")));
__asm__(".text\n"
        ".hidden colt_gate\n"
        ".globl colt_gate\n"
        ".type colt_gate, @function\n"
        "colt_gate:\n"
        "  mov %rdi, %rax\n"
        "  mov %rsi, %rdi\n"
        "  mov %rdx, %rsi\n"
        "  mov %rcx, %rdx\n"
        "  mov %r8, %r10\n"
        "  mov %r9, %r8\n"
        "  mov 8(%rsp), %r9\n"
        "  syscall\n"
        ".hidden colt_gate_end\n"
        ".globl colt_gate_end\n"
        "colt_gate_end:\n"
        "  ret\n");

enum shape { SHAPE_PLAIN, SHAPE_FD, SHAPE_STAT };
enum { SHORT = -1 };

// Which calls go by which name, and what their ways of failing are, as in the engine's world.
static const struct failing {
  long number;
  const char *name;
  enum shape shape;
  int ways[2];
} failing[] = {
    {SYS_open, "open", SHAPE_PLAIN, {EACCES, EMFILE}},
    {SYS_openat, "open", SHAPE_PLAIN, {EACCES, EMFILE}},
    {SYS_creat, "open", SHAPE_PLAIN, {EACCES, EMFILE}},
    {SYS_close, "close", SHAPE_FD, {EIO}},
    {SYS_read, "read", SHAPE_FD, {EIO, SHORT}},
    {SYS_readv, "read", SHAPE_FD, {EIO, SHORT}},
    {SYS_pread64, "read", SHAPE_FD, {EIO}},
    {SYS_write, "write", SHAPE_FD, {ENOSPC, SHORT}},
    {SYS_writev, "write", SHAPE_FD, {ENOSPC, SHORT}},
    {SYS_pwrite64, "write", SHAPE_FD, {ENOSPC}},
    {SYS_stat, "stat", SHAPE_PLAIN, {EACCES}},
    {SYS_lstat, "stat", SHAPE_PLAIN, {EACCES}},
    {SYS_newfstatat, "stat", SHAPE_STAT, {EACCES}},
    {SYS_ftruncate, "ftruncate", SHAPE_PLAIN, {EIO}},
    {SYS_dup, "dup", SHAPE_FD, {EMFILE}},
    {SYS_dup2, "dup", SHAPE_FD, {EMFILE}},
    {SYS_dup3, "dup", SHAPE_FD, {EMFILE}},
    {SYS_pipe, "pipe", SHAPE_PLAIN, {EMFILE}},
    {SYS_pipe2, "pipe", SHAPE_PLAIN, {EMFILE}},
    {SYS_mkdir, "mkdir", SHAPE_PLAIN, {EACCES}},
    {SYS_mkdirat, "mkdir", SHAPE_PLAIN, {EACCES}},
    {SYS_rmdir, "rmdir", SHAPE_PLAIN, {EACCES}},
    {SYS_unlink, "unlink", SHAPE_PLAIN, {EACCES}},
    {SYS_unlinkat, "unlink", SHAPE_PLAIN, {EACCES}},
    {SYS_rename, "rename", SHAPE_PLAIN, {EACCES}},
    {SYS_renameat, "rename", SHAPE_PLAIN, {EACCES}},
    {SYS_renameat2, "rename", SHAPE_PLAIN, {EACCES}},
    {SYS_chdir, "chdir", SHAPE_PLAIN, {EACCES}},
    {SYS_getcwd, "getcwd", SHAPE_PLAIN, {ENOENT}},
    {SYS_chmod, "chmod", SHAPE_PLAIN, {EPERM}},
    {SYS_fchmodat, "chmod", SHAPE_PLAIN, {EPERM}},
    {SYS_getdents64, "getdents", SHAPE_FD, {EIO}},
    {SYS_fsync, "fsync", SHAPE_FD, {EIO}},
    {SYS_fdatasync, "fsync", SHAPE_FD, {EIO}},
};
enum { N_FAILING = sizeof failing / sizeof failing[0] };

static int way_of(const struct failing *call, long fd) {
  char name[48];
  if (call->shape == SHAPE_FD)
    snprintf(name, sizeof name, "fail:%s(%ld)", call->name, fd);
  else
    snprintf(name, sizeof name, "fail:%s", call->name);
  struct input *input = find_input(name);
  int way = 0;
  if (input != NULL && input->size == sizeof way)
    memcpy(&way, input_bytes(input), sizeof way);
  return way >= 1 && way <= 2 ? call->ways[way - 1] : 0;
}

// One byte instead of as many as asked for.
static long short_call(long number, const greg_t *regs) {
  if (number == SYS_readv || number == SYS_writev) {
    const struct iovec *slices = (const struct iovec *)regs[REG_RSI];
    long idx = 0;
    while (idx < regs[REG_RDX] && slices[idx].iov_len == 0)
      idx++;
    if (idx == regs[REG_RDX])
      return 0;
    long plain = number == SYS_readv ? SYS_read : SYS_write;
    return colt_gate(plain, regs[REG_RDI], (long)slices[idx].iov_base, 1, 0, 0, 0);
  }
  return colt_gate(number, regs[REG_RDI], regs[REG_RSI], 1, 0, 0, 0);
}

static long pass(long number, const greg_t *regs) {
  return colt_gate(number, regs[REG_RDI], regs[REG_RSI], regs[REG_RDX], regs[REG_R10], regs[REG_R8], regs[REG_R9]);
}

static void on_trapped_call(int signal, siginfo_t *info, void *context) {
  (void)signal, (void)info;
  greg_t *regs = ((ucontext_t *)context)->uc_mcontext.gregs;
  long number = regs[REG_RAX];
  const struct failing *call = NULL;
  for (int i = 0; i < N_FAILING && call == NULL; i++)
    if (failing[i].number == number)
      call = &failing[i];
  int saved = errno;
  // What stat asks about a descriptor goes by an empty name and never fails here.
  int is_asked = call != NULL && getpid() == test_pid &&
                 (call->shape != SHAPE_STAT || *(const char *)regs[REG_RSI] != 0);
  int error = is_asked ? way_of(call, regs[REG_RDI]) : 0;
  if (error == 0)
    regs[REG_RAX] = pass(number, regs);
  else if (error == SHORT)
    regs[REG_RAX] = short_call(number, regs);
  else {
    if (number == SYS_close)
      pass(number, regs);
    regs[REG_RAX] = -error;
  }
  errno = saved;
}

static int has_failing_calls(void) {
  struct input *input = first_input();
  for (uint32_t i = 0; i < exchange->n_inputs; i++) {
    if (strncmp(input_name(input), "fail:", 5) == 0)
      for (uint32_t at = 0; at < input->size; at++)
        if (input_bytes(input)[at] != 0)
          return 1;
    input = (struct input *)((char *)input + input->next);
  }
  return 0;
}

#define LOAD(FIELD) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, FIELD))
#define LOAD_HIGH(FIELD) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, FIELD) + 4)
#define JUMP_UNLESS(VALUE, N) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)(VALUE), 0, (N))

static void watch_failing_calls(void) {
  if (!has_failing_calls())
    return;
  uintptr_t gate = (uintptr_t)colt_gate_end;
  struct sock_filter filter[8 + 2 * N_FAILING] = {
      LOAD(arch),
      JUMP_UNLESS(AUDIT_ARCH_X86_64, 4),
      LOAD(instruction_pointer),
      JUMP_UNLESS(gate, 3),
      LOAD_HIGH(instruction_pointer),
      JUMP_UNLESS(gate >> 32, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
      LOAD(nr),
  };
  unsigned short n = 8;
  for (int i = 0; i < N_FAILING; i++) {
    filter[n++] = (struct sock_filter)JUMP_UNLESS(failing[i].number, 1);
    filter[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP);
  }
  struct sock_filter whole[sizeof filter / sizeof filter[0] + 1];
  memcpy(whole, filter, sizeof filter);
  whole[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
  struct sock_fprog program = {.len = n, .filter = whole};
  struct sigaction action = {.sa_sigaction = on_trapped_call, .sa_flags = SA_SIGINFO | SA_NODEFER};
  if (sigaction(SIGSYS, &action, NULL) != 0 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
      prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
    finish(OUTCOME_OUT_OF_INPUTS, "failing calls: the kernel does not let us watch them");
}
#else
static void watch_failing_calls(void) {}
#endif
