// Where the process starts: serves tests, and in the child of one test calls the program's entry.

#if defined(COLT_ENTRY_MAIN)
int __real_main(int argc, char **argv, char **environment);
#elif defined(COLT_ENTRY_FUZZER)
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
WEAK int LLVMFuzzerInitialize(int *argc, char ***argv);
#else
void colt_replay_entry(void);
#endif

// Kept reachable, so that what the harness allocates is never taken for a leak of the program.
static void *kept[4096];
static unsigned n_kept;

static void *keep(void *block) {
  if (n_kept < sizeof kept / sizeof kept[0])
    kept[n_kept++] = block;
  never_leaks(block);
  return block;
}

// A fresh heap block that ends exactly where the input ends, so that a step past it is seen.
static void *block_of(struct input *input) {
  // Not by `malloc`, which counts what the program itself allocates.
  void *block = without_spare_byte(__real_malloc(input->size), input->size == 0);
  memcpy(block, input_bytes(input), input->size);
  return keep(block);
}

// What a generated harness calls for a parameter passed by value.
void *colt_replay_value(const char *name, size_t size);
void *colt_replay_value(const char *name, size_t size) { return need_bytes(name, size); }

// What a generated harness calls for a pointer parameter: its pointee, or the pointer itself when the test gives that.
void *colt_replay_pointer(const char *pointee_name, const char *name);
void *colt_replay_pointer(const char *pointee_name, const char *name) {
  struct input *pointee = find_input(pointee_name);
  if (pointee != NULL)
    return block_of(pointee);
  void *pointer;
  struct input *value = find_input(name);
  if (value == NULL)
    finish(OUTCOME_OUT_OF_INPUTS, pointee_name);
  if (value->size != sizeof pointer)
    finish(OUTCOME_INPUT_SIZE, name);
  memcpy(&pointer, input_bytes(value), sizeof pointer);
  return pointer;
}

#if defined(COLT_ENTRY_MAIN)
static int call_entry(void) {
  static char program[] = "program";
  unsigned argc = 1;
  char name[32];
  struct input *arguments[256];
  for (; argc < 256; argc++) {
    snprintf(name, sizeof name, "argv[%u]", argc);
    arguments[argc] = find_input(name);
    if (arguments[argc] == NULL)
      break;
  }
  char **argv = keep(__real_malloc((argc + 1) * sizeof *argv));
  argv[0] = program;
  for (unsigned i = 1; i < argc; i++)
    argv[i] = block_of(arguments[i]);
  argv[argc] = NULL;
  return __real_main((int)argc, argv, environ);
}
#elif defined(COLT_ENTRY_FUZZER)
static int call_entry(void) {
  struct input *data = need_input("data");
  LLVMFuzzerTestOneInput(block_of(data), data->size);
  return 0;
}
#else
static int call_entry(void) {
  colt_replay_entry();
  return 0;
}
#endif

static int has_own_tmp;

static void prepare_server(const char *folder) {
  void *memory = mmap(NULL, EXCHANGE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, EXCHANGE_FD, 0);
  // Never empty a folder that is not the one meant for the tests.
  if (memory == MAP_FAILED || chdir(folder) != 0 || (folder_fd = open(".", O_RDONLY | O_DIRECTORY)) < 0)
    _exit(1);
  exchange = memory;
  // A working folder of that name is one in the sandbox, where /tmp is our own, too.
  has_own_tmp = strcmp(folder, "/tmp/work") == 0 && getpid() == 1;
  int null_fd = open("/dev/null", O_RDWR);
  for (int fd = 0; null_fd >= 0 && fd < 3; fd++)
    dup2(null_fd, fd);
  if (null_fd > 2)
    close(null_fd);
  clearenv();
  leave_root();
  note_memory_in_use();
  sigset_t child_signal;
  sigemptyset(&child_signal);
  sigaddset(&child_signal, SIGCHLD);
  sigprocmask(SIG_BLOCK, &child_signal, NULL);
#if defined(COLT_ENTRY_FUZZER)
  if (LLVMFuzzerInitialize) {
    static char program[] = "program";
    static char *arguments[] = {program, NULL};
    int argc = 1;
    char **argv = arguments;
    LLVMFuzzerInitialize(&argc, &argv);
  }
#endif
}

// Returns in the child of a test only.
static void serve(void) {
  char command = 'h';
  if (write(RESULT_FD, &command, 1) != 1)
    _exit(1);
  for (;;) {
    ssize_t got = read(CONTROL_FD, &command, 1);
    if (got < 0 && errno == EINTR)
      continue;
    if (got != 1)
      _exit(0);
    pid_t child = fork();
    if (child < 0)
      _exit(1);
    if (child == 0) {
      become_test();
      return;
    }
    struct result result = wait_for(child);
    empty_folder(openat(folder_fd, ".", O_RDONLY | O_DIRECTORY));
    if (has_own_tmp)
      empty_folder(open("/tmp", O_RDONLY | O_DIRECTORY));
    if (write(RESULT_FD, &result, sizeof result) != (ssize_t)sizeof result)
      _exit(1);
  }
}

// Pointers left on the dead stack below us would keep a leaked object reachable for the leak check.
__attribute__((noinline)) static void scrub_stack(void) {
  volatile char room[64 * 1024];
  for (size_t i = 0; i < sizeof room; i++)
    room[i] = 0;
}

int __wrap_main(int argc, char **argv);
int __wrap_main(int argc, char **argv) {
  if (argc != 2)
    _exit(1);
  prepare_server(argv[1]);
  serve();
  int status = call_entry() & 0xff;
  scrub_stack();
  record(OUTCOME_RETURNED, status, "");
  exit(status);
}
