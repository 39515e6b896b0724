// A call through a wild function pointer leaves nothing for the sanitizer's unwinder: notes who called.

#if defined(COLT_ADDRESS_SANITIZER) && (defined(__x86_64__) || defined(__i386__))

#include <ucontext.h>

#ifdef __x86_64__
enum { REGISTER_PC = REG_RIP, REGISTER_SP = REG_RSP };
#else
enum { REGISTER_PC = REG_EIP, REGISTER_SP = REG_ESP };
#endif

static struct sigaction sanitizer_action;

static void note_wild_call(int number, siginfo_t *info, void *data) {
  const ucontext_t *context = data;
  uintptr_t pc = (uintptr_t)context->uc_mcontext.gregs[REGISTER_PC];
  uintptr_t sp = (uintptr_t)context->uc_mcontext.gregs[REGISTER_SP];
  // Fetching an instruction failed, so the last thing that worked was a call that pushed its return address.
  if (pc == (uintptr_t)info->si_addr && getpid() == test_pid) {
    exchange->image_base = (uintptr_t)__ehdr_start;
    exchange->frames[0] = *(uintptr_t *)sp - 1;
    exchange->n_frames = 1;
  }
  sanitizer_action.sa_sigaction(number, info, data);
}

static void watch_wild_calls(void) {
  if (sigaction(SIGSEGV, NULL, &sanitizer_action) != 0 || !(sanitizer_action.sa_flags & SA_SIGINFO))
    return;
  struct sigaction ours = sanitizer_action;
  ours.sa_sigaction = note_wild_call;
  sigaction(SIGSEGV, &ours, NULL);
}

#else

static void watch_wild_calls(void) {}

#endif
