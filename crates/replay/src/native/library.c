// Library functions that must behave natively as they do in the engine: assertions, random numbers, the clock, malloc(0).

WEAK NO_RETURN void __assert_fail(const char *expression, const char *file, unsigned line, const char *function) {
  (void)file, (void)line, (void)function;
  finish(OUTCOME_ASSERTION, expression);
}

static unsigned long random_state = 1;

static unsigned next_random(unsigned long *state) {
  *state = *state * 1103515245 + 12345;
  return (unsigned)(*state / 65536) % 32768;
}

WEAK int rand(void) { return (int)next_random(&random_state); }
WEAK void srand(unsigned seed) { random_state = seed; }
WEAK long random(void) { return (long)next_random(&random_state); }
WEAK void srandom(unsigned seed) { random_state = seed; }

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

// AddressSanitizer makes an allocation of no bytes one byte large and lets that byte be used.
#ifdef COLT_ADDRESS_SANITIZER
void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void __asan_poison_memory_region(const volatile void *start, size_t size);

WEAK void *__wrap_malloc(size_t size) {
  void *start = __real_malloc(size);
  if (size == 0 && start != NULL)
    __asan_poison_memory_region(start, 1);
  return start;
}

WEAK void *__wrap_calloc(size_t count, size_t size) {
  void *start = __real_calloc(count, size);
  if ((count == 0 || size == 0) && start != NULL)
    __asan_poison_memory_region(start, 1);
  return start;
}
#endif
