// The fork server: started once, it runs every test in a forked child, so that starting the sanitizers is paid once.

#ifdef COLT_SANITIZER
void __sanitizer_set_report_fd(void *fd);
#endif

#define COMMON_OPTIONS                                                                                                 \
  "symbolize=0:print_summary=0:exitcode=99:handle_abort=1:handle_segv=1:handle_sigbus=1:handle_sigfpe=1:"              \
  "handle_sigill=1:allocator_may_return_null=1:max_allocation_size_mb=256:abort_on_error=0"

// What nobody wrote is nothing that looks right by chance, unless it is to be zero.
#ifdef COLT_UNINIT_ZERO
#define COLT_MALLOC_FILL "malloc_fill_byte=0:max_malloc_fill_size=268435456"
#else
#define COLT_MALLOC_FILL "malloc_fill_byte=170:max_malloc_fill_size=65536"
#endif

const char *__asan_default_options(void);
const char *__asan_default_options(void) {
  return COMMON_OPTIONS ":" COLT_MALLOC_FILL ":detect_stack_use_after_return=1:"
                        "detect_odr_violation=0:print_legend=0:redzone=64:halt_on_error=0:detect_leaks=" COLT_DETECT_LEAKS
                        COLT_LEAK_OPTIONS;
}

// A copy between ranges that overlap is told and done all the same: the overflow behind it would stay unseen otherwise.
// Everything else ends the program, as if it were to halt at every error.
#ifdef COLT_ADDRESS_SANITIZER
void __asan_set_error_report_callback(void (*callback)(const char *));
static void end_at_error(const char *report) {
  if (strstr(report, "-param-overlap") == NULL)
    _exit(SANITIZER_STATUS);
}
#endif

// Registers may still hold a pointer that the program has lost.
const char *__lsan_default_options(void);
const char *__lsan_default_options(void) {
  return COLT_LEAK_ALL ? "use_registers=0:use_globals=0:use_stacks=0:use_tls=0:use_root_regions=0:print_suppressions=0"
                       : "use_registers=0:print_suppressions=0";
}

const char *__ubsan_default_options(void);
const char *__ubsan_default_options(void) { return "print_stacktrace=1:symbolize=0:print_summary=0"; }

const char *__msan_default_options(void);
const char *__msan_default_options(void) { return COMMON_OPTIONS; }

struct result {
  uint32_t wait_status;
  uint32_t timed_out;
};

static uint64_t vm_bytes;
static uint64_t data_bytes;
static int folder_fd;

// Limits are on top of what the sanitizer itself has mapped.
static void note_memory_in_use(void) {
  unsigned long long size = 0, data = 0;
  FILE *statm = fopen("/proc/self/statm", "r");
  if (statm != NULL) {
    if (fscanf(statm, "%llu %*u %*u %*u %*u %llu", &size, &data) != 2)
      size = data = 0;
    fclose(statm);
  }
  vm_bytes = size * (uint64_t)sysconf(_SC_PAGESIZE);
  data_bytes = data * (uint64_t)sysconf(_SC_PAGESIZE);
}

static void limit(int what, uint64_t value) {
  struct rlimit both = {.rlim_cur = value, .rlim_max = value};
  setrlimit(what, &both);
}

static void limit_memory(uint64_t bytes) {
  if (vm_bytes != 0) {
    limit(RLIMIT_AS, vm_bytes + bytes);
    limit(RLIMIT_DATA, data_bytes + bytes);
  }
}

// Without root the process limit holds, and files only root may read stay closed. Dumpable again, or the sanitizer
// could not read its own /proc entries.
static void leave_root(void) {
  if (kernel(SYS_geteuid, 0) != 0)
    return;
  const long nobody = 65534;
  if (kernel(SYS_setgid, nobody) == 0 && kernel(SYS_setuid, nobody) == 0)
    prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
}

static void attach_stdin(void) {
  struct input *input = find_input("stdin");
  int fd = -1;
  if (input != NULL) {
    fd = memfd_create("stdin", 0);
    if (fd >= 0 && (write(fd, input_bytes(input), input->size) < 0 || lseek(fd, 0, SEEK_SET) < 0))
      _exit(SANITIZER_STATUS);
  } else {
    fd = open("/dev/null", O_RDONLY);
  }
  if (fd > 0) {
    dup2(fd, 0);
    close(fd);
  }
}

// Signals that whoever started Colt ignores are not ignored in the engine.
static void forget_ignored_signals(void) {
  struct sigaction action;
  for (int number = 1; number < NSIG; number++)
    if (sigaction(number, NULL, &action) == 0 && action.sa_handler == SIG_IGN)
      signal(number, SIG_DFL);
}

static void become_test(void) {
  test_pid = getpid();
  setpgid(0, 0);
  close(CONTROL_FD);
  close(RESULT_FD);
  close(EXCHANGE_FD);
  close(folder_fd);
  attach_stdin();
  make_world();
  forget_ignored_signals();
  watch_wild_calls();
#ifdef COLT_SANITIZER
  // In the child: the sanitizers forget a descriptor that was set in another process.
  __sanitizer_set_report_fd((void *)(intptr_t)REPORT_FD);
#endif
#ifdef COLT_ADDRESS_SANITIZER
  __asan_set_error_report_callback(end_at_error);
#endif
  look_at_exit();
  limit_memory((uint64_t)exchange->memory_mb << 20);
  limit(RLIMIT_CPU, exchange->timeout_ms / 1000 + 2);
  limit(RLIMIT_FSIZE, (uint64_t)exchange->file_mb << 20);
  limit(RLIMIT_NPROC, exchange->max_processes);
  limit(RLIMIT_NOFILE, 256);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, NULL);
  be_alone();
  watch_failing_calls();
}

static int64_t now_ms(void) {
  struct timespec now;
  __real_clock_gettime(CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

// How often a test that takes long is looked at for a deadlock.
#define STUCK_MS 1000

// Waits for the test until its time is over or it can never end; afterwards nothing that it started is left.
static struct result wait_for(pid_t child) {
  struct result result = {0, 0};
  int64_t deadline = now_ms() + exchange->timeout_ms;
  sigset_t child_signal;
  sigemptyset(&child_signal);
  sigaddset(&child_signal, SIGCHLD);
  for (;;) {
    int status;
    pid_t ended;
    while ((ended = waitpid(-1, &status, WNOHANG)) > 0 && ended != child) {
    }
    if (ended == child) {
      result.wait_status = (uint32_t)status;
      break;
    }
    int64_t left_ms = deadline - now_ms();
    if (left_ms <= 0 || (left_ms < exchange->timeout_ms - STUCK_MS && is_stuck(child))) {
      result.timed_out = 1;
      kill(child, SIGKILL);
      while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
      }
      break;
    }
    if (left_ms > STUCK_MS)
      left_ms = STUCK_MS;
    struct timespec left = {.tv_sec = left_ms / 1000, .tv_nsec = left_ms % 1000 * 1000000};
    sigtimedwait(&child_signal, NULL, &left);
  }
  // As process 1 we are in a process namespace of our own: -1 means what the test left behind and nothing else.
  if (getpid() == 1) {
    if (kill(-1, SIGKILL) == 0)
      while (waitpid(-1, NULL, 0) > 0) {
      }
  } else {
    kill(-child, SIGKILL);
  }
  return result;
}
