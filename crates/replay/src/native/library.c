// Library functions that must behave natively as they do in the engine: assertions, random numbers, the clock.

WEAK NO_RETURN void __assert_fail(const char *expression, const char *file, unsigned line, const char *function) {
  (void)file, (void)line, (void)function;
  finish(OUTCOME_ASSERTION, expression);
}

static unsigned long random_state = 1;

static unsigned next_random(unsigned long *state) {
  *state = *state * 1103515245 + 12345;
  return (unsigned)(*state / 65536) % 32768;
}

// With --rand-input every number is an input.
static int is_told_random(int *value) {
  struct input *input = test_pid != 0 ? find_input("rand") : NULL;
  if (input == NULL || input->size != sizeof *value)
    return 0;
  memcpy(value, input_bytes(input), sizeof *value);
  return 1;
}

static int random_number(void) {
  int value;
  return is_told_random(&value) ? value : (int)next_random(&random_state);
}

WEAK int rand(void) { return random_number(); }
WEAK void srand(unsigned seed) { random_state = seed; }
WEAK long random(void) { return random_number(); }
WEAK void srandom(unsigned seed) { random_state = seed; }

// The engine's own, which are GNU's.
WEAK int rand_r(unsigned *seed) {
  int value;
  if (is_told_random(&value))
    return value;
  static const unsigned parts[3] = {2048, 1024, 1024};
  unsigned result = 0;
  for (int i = 0; i < 3; i++) {
    *seed = *seed * 1103515245u + 12345u;
    result = (result << 10) ^ (*seed / 65536u % parts[i]);
  }
  return (int)result;
}

static uint64_t random_state_48;

static uint64_t next_random_48(void) {
  random_state_48 = (random_state_48 * 0x5deece66dull + 11) & 0xffffffffffffull;
  return random_state_48;
}

WEAK void srand48(long seed) { random_state_48 = (uint64_t)(uint32_t)seed << 16 | 0x330e; }
WEAK double drand48(void) { return (double)next_random_48() / 281474976710656.0; }
WEAK long lrand48(void) {
  int value;
  return is_told_random(&value) ? value : (long)(next_random_48() >> 17);
}
WEAK long mrand48(void) {
  int value;
  return is_told_random(&value) ? value : (long)(int32_t)(next_random_48() >> 16);
}

// The engine gives these eight bytes on every target.
static int64_t take_clock(const char *name) {
  int64_t value;
  take(&value, sizeof value, name);
  return value;
}

WEAK clock_t clock(void) { return (clock_t)take_clock("clock"); }

// By wrapping, because the sanitizers define `time` themselves.
WEAK time_t __wrap_time(time_t *where) {
  time_t now = (time_t)take_clock("time");
  if (where != NULL)
    *where = now;
  return now;
}

// Every clock tells seconds that are inputs, as in the engine; without such an input, the time it really is.
int __real_clock_gettime(clockid_t clock, struct timespec *now);

static int take_time(time_t *seconds) {
  struct input *input = test_pid != 0 ? find_input("time") : NULL;
  int64_t value;
  if (input == NULL || input->size != sizeof value)
    return 0;
  memcpy(&value, input_bytes(input), sizeof value);
  *seconds = (time_t)value;
  return 1;
}

WEAK int __wrap_clock_gettime(clockid_t clock, struct timespec *now) {
  now->tv_nsec = 0;
  return take_time(&now->tv_sec) ? 0 : __real_clock_gettime(clock, now);
}

WEAK int __wrap_gettimeofday(struct timeval *now, void *zone) {
  struct timespec precise;
  (void)zone;
  __wrap_clock_gettime(CLOCK_REALTIME, &precise);
  now->tv_sec = precise.tv_sec;
  now->tv_usec = precise.tv_nsec / 1000;
  return 0;
}

// Nobody waits longer than for other threads: no time passes in the engine either.
static int give_way(void) { return sched_yield(), 0; }
WEAK unsigned sleep(unsigned seconds) { return (void)seconds, (unsigned)give_way(); }
WEAK int usleep(useconds_t microseconds) { return (void)microseconds, give_way(); }
WEAK int nanosleep(const struct timespec *wanted, struct timespec *left) { return (void)wanted, (void)left, give_way(); }
