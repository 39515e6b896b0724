// The inputs of the running test, and every function through which a program may ask for one.

// Where the search for the next input starts: programs ask in the order in which the test lists the inputs, so that the
// first look usually succeeds.
static struct input *next_input;
static uint32_t next_idx;

static struct input *first_input(void) { return (struct input *)((char *)exchange + INPUTS_OFFSET); }

static const char *input_name(const struct input *input) { return (const char *)(input + 1); }

static unsigned char *input_bytes(struct input *input) {
  return (unsigned char *)(input + 1) + input->name_bytes;
}

// The next unused input of that name, marked used; NULL when there is none.
static struct input *find_input(const char *name) {
  if (next_input == NULL)
    next_input = first_input();
  for (uint32_t tried = 0; tried < exchange->n_inputs; tried++) {
    if (next_idx == exchange->n_inputs) {
      next_idx = 0;
      next_input = first_input();
    }
    struct input *input = next_input;
    next_input = (struct input *)((char *)input + input->next);
    next_idx++;
    if (!input->used && strcmp(input_name(input), name) == 0) {
      input->used = 1;
      return input;
    }
  }
  return NULL;
}

// Objects that pointers of the test point to: where the test says they are, and where they are here.
struct moved {
  uint64_t at;
  uint64_t size;
  int is_made;
  unsigned char *block;
};
static struct moved moved[4096];
static unsigned n_moved;
static int is_heap_built;

static void *keep(void *block);
static void *block_of(struct input *input);
#ifdef COLT_ADDRESS_SANITIZER
void *__wrap_malloc(size_t size);
#endif

// A pointer of the test becomes one into this process; anything else stays as it is.
static void correct(unsigned char *bytes, size_t size) {
  for (size_t at = 0; at + 8 <= size; at += 8) {
    uint64_t word;
    memcpy(&word, bytes + at, sizeof word);
    for (unsigned i = 0; i < n_moved; i++)
      if (word >= moved[i].at && word - moved[i].at <= moved[i].size) {
        word = (uint64_t)(uintptr_t)moved[i].block + (word - moved[i].at);
        memcpy(bytes + at, &word, sizeof word);
        break;
      }
  }
}

// Functions and variables that a pointer of the test may point to; only a harness that needs them has the list.
struct colt_function {
  const char *name;
  void *at;
};
WEAK extern const struct colt_function colt_functions[];

static unsigned char *function_named(const char *name) {
  for (const struct colt_function *function = colt_functions; function != NULL && function->name != NULL; function++)
    if (strcmp(function->name, name) == 0)
      return function->at;
  return NULL;
}

// Names of what the program does not ask for begin with a byte of their own: objects, and what the entry gives back.
static const char *object_name(const struct input *input) {
  const char *name = input_name(input);
  return name[0] == 1 && name[1] == '@' ? name + 2 : NULL;
}

static void build_heap(void) {
  if (is_heap_built)
    return;
  is_heap_built = 1;
  struct input *input = first_input();
  for (uint32_t i = 0; i < exchange->n_inputs; i++) {
    const char *object = object_name(input);
    const char *named = object == NULL ? NULL : strchr(object, '=');
    if (named != NULL && n_moved < sizeof moved / sizeof moved[0])
      moved[n_moved++] = (struct moved){strtoull(object, NULL, 16), input->size, 0, function_named(named + 1)};
    else if (object != NULL && n_moved < sizeof moved / sizeof moved[0]) {
#ifdef COLT_ADDRESS_SANITIZER
      unsigned char *block = __wrap_malloc(input->size);
#else
      unsigned char *block = malloc(input->size);
#endif
      memcpy(block, input_bytes(input), input->size);
      moved[n_moved++] = (struct moved){strtoull(object, NULL, 16), input->size, 1, keep(block)};
    }
    input = (struct input *)((char *)input + input->next);
  }
  for (unsigned i = 0; i < n_moved; i++)
    if (moved[i].is_made)
      correct(moved[i].block, moved[i].size);
}

static struct input *need_input(const char *name) {
  struct input *input = find_input(name);
  if (input == NULL)
    finish(OUTCOME_OUT_OF_INPUTS, name);
  return input;
}

static unsigned char *need_bytes(const char *name, size_t size) {
  struct input *input = need_input(name);
  if (input->size != size)
    finish(OUTCOME_INPUT_SIZE, name);
  return input_bytes(input);
}

// A test that ends at this very call has no such input: what is wrong with the place shows when it is written to.
static void take(void *object, size_t size, const char *name) {
  struct input *input = find_input(name);
  if (input == NULL) {
    memset(object, 0, size);
    finish(OUTCOME_OUT_OF_INPUTS, name);
  }
  if (input->size != size)
    finish(OUTCOME_INPUT_SIZE, name);
  memcpy(object, input_bytes(input), size);
  build_heap();
  if (n_moved > 0)
    correct(object, size);
}

static void assume(int holds) {
  if (!holds)
    finish(OUTCOME_ASSUMED, "");
}

#define INPUT_BY_NAME(FUNCTION, TYPE)                                                                                  \
  WEAK TYPE FUNCTION(const char *name) {                                                                               \
    TYPE value;                                                                                                        \
    take(&value, sizeof value, name);                                                                                  \
    return value;                                                                                                      \
  }

#define VERIFIER_INPUT(SUFFIX, TYPE)                                                                                   \
  WEAK TYPE __VERIFIER_nondet_##SUFFIX(void) {                                                                         \
    TYPE value;                                                                                                        \
    take(&value, sizeof value, "__VERIFIER_nondet_" #SUFFIX);                                                          \
    return value;                                                                                                      \
  }

// colt.h

WEAK void colt_input(void *object, size_t size, const char *name) { take(object, size, name); }
WEAK void colt_string_in(char *buffer, size_t size, const char *name) { take(buffer, size, name); }
// As large as the string is, so that nothing behind its zero can be read.
WEAK char *colt_string(const char *name) { return block_of(need_input(name)); }
WEAK void colt_assume(int condition) { assume(condition != 0); }
// What follows decides whether an assumption holds: a fault in there says that it does not.
WEAK void __colt_suppose(int begins) {
  exchange->outcome = begins ? OUTCOME_ASSUMED : OUTCOME_NONE;
}
// What the entry gives back must be what the test says. Of a pointer to something it allocated only that it is one is known.
WEAK void __colt_returned(const char *name, const char *type, int kind, size_t size, uint64_t value) {
  (void)name;
  (void)type;
  struct input *input = find_input("\1()");
  if (input == NULL || size > sizeof value)
    return;
  uint64_t expected = 0, word;
  memcpy(&expected, input_bytes(input), size);
  word = expected;
  correct((unsigned char *)&expected, sizeof expected);
  int is_foreign = kind == 'p' && word != 0 && word == expected;
  if (is_foreign ? value == 0 : memcmp(&value, &expected, size) != 0)
    finish(OUTCOME_ABORT, "the entry returned something else");
}
WEAK void __colt_keeps(int condition, const char *what) {
  if (!condition)
    finish(OUTCOME_ASSERTION, what);
}
WEAK void colt_assert(int condition) {
  if (!condition)
    finish(OUTCOME_ASSERTION, "colt_assert");
}

WEAK int colt_bool(const char *name) {
  struct input *input = need_input(name);
  int value = 0;
  for (uint32_t i = 0; i < input->size; i++)
    value |= input_bytes(input)[i] != 0;
  return value;
}

INPUT_BY_NAME(colt_char, char)
INPUT_BY_NAME(colt_schar, signed char)
INPUT_BY_NAME(colt_uchar, unsigned char)
INPUT_BY_NAME(colt_short, short)
INPUT_BY_NAME(colt_ushort, unsigned short)
INPUT_BY_NAME(colt_int, int)
INPUT_BY_NAME(colt_uint, unsigned int)
INPUT_BY_NAME(colt_long, long)
INPUT_BY_NAME(colt_ulong, unsigned long)
INPUT_BY_NAME(colt_int8, int8_t)
INPUT_BY_NAME(colt_uint8, uint8_t)
INPUT_BY_NAME(colt_int16, int16_t)
INPUT_BY_NAME(colt_uint16, uint16_t)
INPUT_BY_NAME(colt_int32, int32_t)
INPUT_BY_NAME(colt_uint32, uint32_t)
INPUT_BY_NAME(colt_int64, int64_t)
INPUT_BY_NAME(colt_uint64, uint64_t)
INPUT_BY_NAME(colt_size, size_t)
INPUT_BY_NAME(colt_float, float)
INPUT_BY_NAME(colt_double, double)

static int in_range(int low, int high, const char *name) {
  int value;
  take(&value, sizeof value, name);
  assume(low <= value && value < high);
  return value;
}

WEAK int colt_range(int low, int high, const char *name) { return in_range(low, high, name); }

// klee.h

WEAK void klee_make_symbolic(void *object, size_t size, const char *name) { take(object, size, name); }
WEAK int klee_range(int low, int high, const char *name) { return in_range(low, high, name); }
INPUT_BY_NAME(klee_int, int)
WEAK void klee_assume(uintptr_t condition) { assume(condition != 0); }
WEAK void klee_prefer_cex(void *object, uintptr_t condition) { (void)object, (void)condition; }
WEAK void klee_posix_prefer_cex(void *object, uintptr_t condition) { (void)object, (void)condition; }
WEAK NO_RETURN void klee_silent_exit(int status) { _exit(status); }
WEAK NO_RETURN void klee_abort(void) { finish(OUTCOME_ABORT, "klee_abort"); }
WEAK NO_RETURN void klee_report_error(const char *file, int line, const char *message, const char *suffix) {
  (void)file, (void)line, (void)suffix;
  finish(OUTCOME_ASSERTION, message);
}
WEAK unsigned klee_is_symbolic(uintptr_t value) { return (void)value, 0; }
WEAK float klee_get_valuef(float value) { return value; }
WEAK double klee_get_valued(double value) { return value; }
WEAK long klee_get_valuel(long value) { return value; }
WEAK long long klee_get_valuell(long long value) { return value; }
WEAK int32_t klee_get_value_i32(int32_t value) { return value; }
WEAK int64_t klee_get_value_i64(int64_t value) { return value; }
WEAK void klee_warning(const char *message) { (void)message; }
WEAK void klee_warning_once(const char *message) { (void)message; }

// SV-COMP

WEAK _Bool __VERIFIER_nondet_bool(void) { return *need_bytes("__VERIFIER_nondet_bool", 1) != 0; }
VERIFIER_INPUT(char, char)
VERIFIER_INPUT(schar, signed char)
VERIFIER_INPUT(uchar, unsigned char)
VERIFIER_INPUT(unsigned_char, unsigned char)
VERIFIER_INPUT(short, short)
VERIFIER_INPUT(ushort, unsigned short)
VERIFIER_INPUT(int, int)
VERIFIER_INPUT(uint, unsigned int)
VERIFIER_INPUT(unsigned, unsigned int)
VERIFIER_INPUT(unsigned_int, unsigned int)
VERIFIER_INPUT(long, long)
VERIFIER_INPUT(ulong, unsigned long)
VERIFIER_INPUT(longlong, long long)
VERIFIER_INPUT(ulonglong, unsigned long long)
VERIFIER_INPUT(u8, uint8_t)
VERIFIER_INPUT(u16, uint16_t)
VERIFIER_INPUT(u32, uint32_t)
VERIFIER_INPUT(u64, uint64_t)
VERIFIER_INPUT(S8, int8_t)
VERIFIER_INPUT(size_t, size_t)
VERIFIER_INPUT(loff_t, loff_t)
VERIFIER_INPUT(sector_t, unsigned long)
VERIFIER_INPUT(float, float)
VERIFIER_INPUT(double, double)
VERIFIER_INPUT(pointer, void *)
VERIFIER_INPUT(pchar, char *)
VERIFIER_INPUT(charp, char *)
#ifdef __SIZEOF_INT128__
VERIFIER_INPUT(int128, __int128)
VERIFIER_INPUT(uint128, unsigned __int128)
#endif

WEAK void __VERIFIER_nondet_memory(void *object, size_t size) { take(object, size, "__VERIFIER_nondet_memory"); }
WEAK void __VERIFIER_assume(int condition) { assume(condition != 0); }
WEAK void __VERIFIER_assert(int condition) {
  if (!condition)
    finish(OUTCOME_ASSERTION, "__VERIFIER_assert");
}
WEAK NO_RETURN void __VERIFIER_error(void) { finish(OUTCOME_ASSERTION, "__VERIFIER_error"); }
WEAK NO_RETURN void reach_error(void) { finish(OUTCOME_ASSERTION, "reach_error"); }
WEAK void __VERIFIER_atomic_begin(void) {}
WEAK void __VERIFIER_atomic_end(void) {}
