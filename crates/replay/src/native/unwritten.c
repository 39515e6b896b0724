// Memory that nobody wrote has the values of the test. Written here without the sanitizer knowing: it stays unwritten for it.

// Not even for MemorySanitizer a write, which `no_sanitize` leaves one.
#define UNSEEN __attribute__((disable_sanitizer_instrumentation, noinline))

static const char unwritten_mark[] = "unwritten:";

static unsigned n_allocations;

// How often the variable of a declaration has begun to live in the running call of its function.
static struct {
  const char *name;
  unsigned count;
} lives[256];
static unsigned n_lives;

UNSEEN static unsigned next_life(const char *name) {
  for (unsigned i = 0; i < n_lives; i++)
    if (lives[i].name == name)
      return ++lives[i].count;
  if (n_lives < sizeof lives / sizeof lives[0]) {
    lives[n_lives].name = name;
    lives[n_lives++].count = 1;
  }
  return 1;
}

void __colt_enter(const char *function);
UNSEEN void __colt_enter(const char *function) {
  for (unsigned i = 0; i < n_lives; i++) {
    const char *of = lives[i].name, *p = function;
    while (*of != '@')
      of++;
    for (of++; *p != 0 && *p == *of; p++, of++)
      ;
    if (*p == *of)
      lives[i].count = 0;
  }
}

enum filling { TAKES, LOOKS };

// Fills what the test says about `name`: the first unused value for each offset, because a variable may live several times.
UNSEEN static void fill_unwritten(unsigned char *start, const char *name, size_t name_bytes, unsigned life,
                                  enum filling filling) {
  if (exchange == NULL || test_pid == 0)
    return;
  struct input *input = first_input();
  unsigned char seen[256];
  for (size_t i = 0; i < sizeof seen; i++)
    seen[i] = 0;
  for (uint32_t idx = 0; idx < exchange->n_inputs; idx++, input = (struct input *)((char *)input + input->next)) {
    const char *text = input_name(input);
    size_t at = 0;
    if (input->used)
      continue;
    while (unwritten_mark[at] != 0 && text[at] == unwritten_mark[at])
      at++;
    if (unwritten_mark[at] != 0)
      continue;
    text += at;
    for (at = 0; at < name_bytes && text[at] == name[at]; at++)
      ;
    if (at < name_bytes)
      continue;
    // Behind the name of an allocation its place follows.
    while (text[at] != '+' && text[at] != 0 && name[0] == 'm' && name[name_bytes - 1] == '@')
      at++;
    if (text[at] == '#') {
      unsigned wanted = 0;
      for (at++; text[at] >= '0' && text[at] <= '9'; at++)
        wanted = wanted * 10 + (unsigned)(text[at] - '0');
      if (wanted != life)
        continue;
    }
    if (text[at] != '+')
      continue;
    size_t offset = 0;
    for (at++; text[at] >= '0' && text[at] <= '9'; at++)
      offset = offset * 10 + (size_t)(text[at] - '0');
    // A second value for the same place is that of a later life.
    if (offset < sizeof seen && seen[offset])
      continue;
    for (uint32_t i = 0; i < input->size; i++) {
      start[offset + i] = input_bytes(input)[i];
      if (offset + i < sizeof seen)
        seen[offset + i] = 1;
    }
    input->used = filling == TAKES;
  }
}

UNSEEN static void fill_allocation(void *start) {
  char name[32];
  size_t length = 0;
  char digits[12];
  int n_digits = 0;
  for (const char *p = "malloc#"; *p; p++)
    name[length++] = *p;
  for (unsigned rest = n_allocations; n_digits == 0 || rest != 0; rest /= 10)
    digits[n_digits++] = (char)('0' + rest % 10);
  while (n_digits > 0)
    name[length++] = digits[--n_digits];
  name[length++] = '@';
  fill_unwritten(start, name, length, 0, TAKES);
}

void __colt_unwritten(void *variable, const char *name);
UNSEEN void __colt_unwritten(void *variable, const char *name) {
  size_t length = 0;
  while (name[length] != 0)
    length++;
  fill_unwritten(variable, name, length, next_life(name), TAKES);
}

// Where its function begins, for a variable whose declaration a jump may pass by. One without a value of its own is filled again
// at its declaration, if control comes there.
void __colt_unwritten_before(void *variable, const char *name, int has_value);
UNSEEN void __colt_unwritten_before(void *variable, const char *name, int has_value) {
  size_t length = 0;
  while (name[length] != 0)
    length++;
  fill_unwritten(variable, name, length, 1, has_value ? TAKES : LOOKS);
}

// Where MemorySanitizer looks at arguments, it sees here what it passes over: the condition of `c ? a : b` that became no
// branch, and the address of a function that is called.
void __colt_decides(_Bool condition);
UNSEEN void __colt_decides(_Bool condition) { (void)condition; }
void __colt_called(void *function);
UNSEEN void __colt_called(void *function) { (void)function; }

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *start, size_t size);

#ifdef COLT_ADDRESS_SANITIZER
void __asan_poison_memory_region(const volatile void *start, size_t size);
#endif

// AddressSanitizer makes an allocation of no bytes one byte large and lets that byte be used.
static void *without_spare_byte(void *start, int is_empty) {
#ifdef COLT_ADDRESS_SANITIZER
  if (is_empty && start != NULL)
    __asan_poison_memory_region(start, 1);
#else
  (void)is_empty;
#endif
  return start;
}

WEAK void *__wrap_malloc(size_t size) {
  void *start = without_spare_byte(__real_malloc(size), size == 0);
  n_allocations++;
  if (start != NULL)
    fill_allocation(start);
  return start;
}

WEAK void *__wrap_calloc(size_t count, size_t size) {
  return without_spare_byte(__real_calloc(count, size), count == 0 || size == 0);
}

WEAK void *__wrap_realloc(void *old, size_t size) {
  void *start = __real_realloc(old, size);
  if (size != 0 || old == NULL)
    n_allocations++;
  if (start != NULL)
    fill_allocation(start);
  return start;
}
