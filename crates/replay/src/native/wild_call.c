// Two things that come as a fault of the processor. A call through a wild function pointer leaves nothing for the
// sanitizer's unwinder: notes who called. And where the test says what the processor's time stamp is, reading it is made
// a fault, and answered here.

#if defined(COLT_ADDRESS_SANITIZER) && (defined(__x86_64__) || defined(__i386__))

#include <ucontext.h>

#ifdef __x86_64__
enum { REGISTER_PC = REG_RIP, REGISTER_SP = REG_RSP, REGISTER_LOW = REG_RAX, REGISTER_HIGH = REG_RDX };
enum { REGISTER_NUMBER = REG_RCX };
#else
enum { REGISTER_PC = REG_EIP, REGISTER_SP = REG_ESP, REGISTER_LOW = REG_EAX, REGISTER_HIGH = REG_EDX };
enum { REGISTER_NUMBER = REG_ECX };
#endif

extern const char _end[] __attribute__((visibility("hidden")));

// The C library asks for the time that way, too, and gets what it really is.
static int answer_time_stamp(const siginfo_t *info, ucontext_t *context) {
  const unsigned char *pc = (const unsigned char *)context->uc_mcontext.gregs[REGISTER_PC];
  // Where the address is that of the instruction, the instruction could not even be read.
  if (pc == NULL || pc == info->si_addr || pc[0] != 0x0f)
    return 0;
  // rdtsc, and rdtscp, which tells the processor's number as well.
  int n_bytes = pc[1] == 0x31 ? 2 : pc[1] == 0x01 && pc[2] == 0xf9 ? 3 : 0;
  if (n_bytes == 0)
    return 0;
  unsigned number = 0;
  int is_ours = (const char *)pc >= __ehdr_start && (const char *)pc < _end;
  struct input *input = is_ours && getpid() == test_pid ? find_input("rdtsc") : NULL;
  uint64_t stamp;
  if (input != NULL && input->size == sizeof stamp) {
    memcpy(&stamp, input_bytes(input), sizeof stamp);
  } else {
    prctl(PR_SET_TSC, PR_TSC_ENABLE, 0, 0, 0);
    stamp = n_bytes == 3 ? __builtin_ia32_rdtscp(&number) : __builtin_ia32_rdtsc();
    prctl(PR_SET_TSC, PR_TSC_SIGSEGV, 0, 0, 0);
  }
  context->uc_mcontext.gregs[REGISTER_LOW] = (greg_t)(uint32_t)stamp;
  context->uc_mcontext.gregs[REGISTER_HIGH] = (greg_t)(uint32_t)(stamp >> 32);
  if (n_bytes == 3)
    context->uc_mcontext.gregs[REGISTER_NUMBER] = (greg_t)number;
  context->uc_mcontext.gregs[REGISTER_PC] += n_bytes;
  return 1;
}

static struct sigaction sanitizer_action;

static void note_wild_call(int number, siginfo_t *info, void *data) {
  ucontext_t *context = data;
  if (answer_time_stamp(info, context))
    return;
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
  if (sigaction(SIGSEGV, &ours, NULL) != 0)
    return;
  struct input *input = first_input();
  for (uint32_t i = 0; i < exchange->n_inputs; i++) {
    if (strcmp(input_name(input), "rdtsc") == 0) {
      prctl(PR_SET_TSC, PR_TSC_SIGSEGV, 0, 0, 0);
      return;
    }
    input = (struct input *)((char *)input + input->next);
  }
}

#else

static void watch_wild_calls(void) {}

#endif
