// Whether a test is deadlocked: every thread of it waits, without a time limit, for another thread of it.
//
// Read from /proc twice: if no thread has run in between, all of them were waiting at one moment, and nobody is left who
// could end that. Where /proc does not tell, the answer is no, and the test's time limit decides.

struct stillness {
  uint64_t lines; // a hash of what was read
  int is_still;
};

static uint64_t hash_bytes(uint64_t hash, const char *bytes, size_t count) {
  for (size_t i = 0; i < count; i++)
    hash = (hash ^ (unsigned char)bytes[i]) * 1099511628211u;
  return hash;
}

static ssize_t read_task_file(pid_t process, const char *task, const char *name, char *buffer, size_t size) {
  char path[96];
  snprintf(path, sizeof path, "/proc/%d/task/%s/%s", (int)process, task, name);
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0)
    return -1;
  ssize_t count = read(fd, buffer, size - 1);
  close(fd);
  buffer[count < 0 ? 0 : count] = 0;
  return count;
}

// `number address operation value timeout ...`: a wait for a futex without a timeout.
static int waits_for_ever(const char *line) {
  long number = 0;
  unsigned long long address, operation, value, timeout;
  if (sscanf(line, "%ld %llx %llx %llx %llx", &number, &address, &operation, &value, &timeout) != 5)
    return 0;
  int is_futex = number == SYS_futex;
#ifdef SYS_futex_time64
  is_futex |= number == SYS_futex_time64;
#endif
  int command = (int)(operation & 0x7f);
  return is_futex && (command == FUTEX_WAIT || command == FUTEX_WAIT_BITSET || command == FUTEX_LOCK_PI) && timeout == 0;
}

// A handler could go on with the program.
static int expects_timer(const char *status) {
  const char *caught = strstr(status, "SigCgt:");
  unsigned long long mask = caught != NULL ? strtoull(caught + 7, NULL, 16) : ~0ull;
  const unsigned long long timers = 1ull << (SIGALRM - 1) | 1ull << (SIGVTALRM - 1) | 1ull << (SIGPROF - 1);
  return (mask & timers) != 0;
}

static struct stillness look_at(pid_t process) {
  struct stillness seen = {14695981039346656037u, 0};
  char path[64], buffer[4096];
  snprintf(path, sizeof path, "/proc/%d/task", (int)process);
  DIR *tasks = opendir(path);
  if (tasks == NULL)
    return seen;
  int n_tasks = 0, n_waiting = 0;
  for (struct dirent *task; (task = readdir(tasks)) != NULL;) {
    if (task->d_name[0] == '.')
      continue;
    n_tasks++;
    ssize_t count = read_task_file(process, task->d_name, "syscall", buffer, sizeof buffer);
    if (count <= 0 || !waits_for_ever(buffer))
      break;
    seen.lines = hash_bytes(seen.lines, buffer, (size_t)count);
    // Has the number of times it stopped running.
    count = read_task_file(process, task->d_name, "status", buffer, sizeof buffer);
    const char *switches = strstr(buffer, "voluntary_ctxt_switches");
    if (count <= 0 || switches == NULL || expects_timer(buffer))
      break;
    seen.lines = hash_bytes(seen.lines, switches, strlen(switches));
    n_waiting++;
  }
  closedir(tasks);
  seen.is_still = n_tasks > 0 && n_waiting == n_tasks;
  return seen;
}

static int is_stuck(pid_t process) {
  struct stillness before = look_at(process);
  if (!before.is_still)
    return 0;
  struct timespec pause = {.tv_sec = 0, .tv_nsec = 200000000};
  nanosleep(&pause, NULL);
  struct stillness after = look_at(process);
  return after.is_still && before.lines == after.lines;
}
