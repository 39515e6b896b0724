// What the engine makes inputs of that the kernel or another program would answer: who runs the program, what a command
// gave back. Without such an input the answer is the real one, or that nothing can be started.

static int told(const char *name, long *value) {
  struct input *input = test_pid != 0 && getpid() == test_pid ? find_input(name) : NULL;
  int32_t number;
  if (input == NULL || input->size != sizeof number)
    return 0;
  memcpy(&number, input_bytes(input), sizeof number);
  *value = number;
  return 1;
}

// Asked again, a process is still the same.
static long identity(const char *name, long call) {
  static struct { const char *name; long value; } known[8];
  unsigned idx = 0;
  for (; idx < 8 && known[idx].name != NULL; idx++)
    if (strcmp(known[idx].name, name) == 0 && test_pid != 0 && getpid() == test_pid)
      return known[idx].value;
  long value;
  if (!told(name, &value))
    return kernel(call, 0);
  if (idx < 8) {
    known[idx].name = name;
    known[idx].value = value;
  }
  return value;
}

#undef getpid
WEAK pid_t getpid(void) { return (pid_t)identity("getpid", SYS_getpid); }
WEAK pid_t getppid(void) { return (pid_t)identity("getppid", SYS_getppid); }
WEAK uid_t getuid(void) { return (uid_t)identity("getuid", SYS_getuid); }
WEAK uid_t geteuid(void) { return (uid_t)identity("geteuid", SYS_geteuid); }
WEAK gid_t getgid(void) { return (gid_t)identity("getgid", SYS_getgid); }
WEAK gid_t getegid(void) { return (gid_t)identity("getegid", SYS_getegid); }
#ifdef COLT_PLAIN_NAMES
#define getpid() ((pid_t)kernel(SYS_getpid, 0))
#else
#define getpid(...) own.getpid_(__VA_ARGS__)
#endif

// No command is ever run: what it leaves behind is an input.
WEAK int system(const char *command) {
  long value;
  (void)command;
  return told("system", &value) ? (int)value : -1;
}
WEAK FILE *popen(const char *command, const char *type) {
  (void)command, (void)type;
  errno = EAGAIN;
  return NULL;
}
