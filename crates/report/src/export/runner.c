// Feeds the tables above to the program, one child process a test, and compares how it ends.
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { COLT_STATUS, COLT_BUG, COLT_ASSUMED, COLT_OPEN, COLT_HANG };
enum { COLT_SKIPPED = 77, COLT_FAULT = 86 };

static const struct colt_case *colt_current;
static int colt_next;

static const struct colt_value *colt_take(const char *name) {
    while (colt_current && colt_next < colt_current->n_values) {
        const struct colt_value *value = &colt_current->values[colt_next++];
        // A first byte of 1: an object, or what the entry gives back.
        if (strcmp(value->name, "stdin") == 0 || strncmp(value->name, "argv[", 5) == 0 || value->name[0] == 1)
            continue;
        return value;
    }
    fprintf(stderr, "the test has no value for input %s\n", name);
    _exit(COLT_SKIPPED);
}

// Objects that pointers of a test point to: where the test has them, and where they are here.
static struct { uint64_t at, size; int is_made; unsigned char *block; } colt_moved[1024];
static unsigned colt_n_moved;
static int colt_has_heap;

static void colt_correct(unsigned char *bytes, size_t size) {
    for (size_t at = 0; at + 8 <= size; at += 8) {
        uint64_t word;
        memcpy(&word, bytes + at, sizeof word);
        for (unsigned i = 0; i < colt_n_moved; i++)
            if (word >= colt_moved[i].at && word - colt_moved[i].at <= colt_moved[i].size) {
                word = (uint64_t)(uintptr_t)colt_moved[i].block + (word - colt_moved[i].at);
                memcpy(bytes + at, &word, sizeof word);
                break;
            }
    }
}

struct colt_function { const char *name; void *at; };
__attribute__((weak)) extern const struct colt_function colt_functions[];

static void colt_build_heap(void) {
    for (int n = 0; !colt_has_heap && colt_current && n < colt_current->n_values && colt_n_moved < 1024; n++) {
        const struct colt_value *value = &colt_current->values[n];
        if (value->name[0] != 1 || value->name[1] != '@')
            continue;
        const char *name = strchr(value->name, '=');
        unsigned char *block = name ? NULL : malloc(value->size);
        for (const struct colt_function *f = colt_functions; name && f && f->name; f++)
            if (strcmp(f->name, name + 1) == 0)
                block = f->at;
        if (!name)
            memcpy(block, value->bytes, value->size);
        colt_moved[colt_n_moved].at = strtoull(value->name + 2, NULL, 16);
        colt_moved[colt_n_moved].size = value->size;
        colt_moved[colt_n_moved].is_made = !name;
        colt_moved[colt_n_moved++].block = block;
    }
    for (unsigned i = 0; !colt_has_heap && i < colt_n_moved; i++)
        if (colt_moved[i].is_made)
            colt_correct(colt_moved[i].block, colt_moved[i].size);
    colt_has_heap = 1;
}

// What follows decides whether an assumption holds; natively a fault in there ends the test like any other.
void __colt_suppose(int begins) { (void)begins; }

void colt_input(void *object, size_t size, const char *name) {
    const struct colt_value *value = colt_take(name);
    memset(object, 0, size);
    memcpy(object, value->bytes, value->size < size ? value->size : size);
    colt_build_heap();
    colt_correct(object, size);
}

// The entry must give back what it gave back when the test was made. Of a pointer to something it allocated only that it is one.
void __colt_returned(const char *name, const char *type, int kind, size_t size, uint64_t value) {
    uint64_t expected = 0, word;
    for (int n = 0; colt_current && n < colt_current->n_values; n++) {
        const struct colt_value *known = &colt_current->values[n];
        if (strcmp(known->name, "\1()") != 0)
            continue;
        memcpy(&expected, known->bytes, size);
        memcpy(&word, &expected, sizeof word);
        colt_correct((unsigned char *)&expected, sizeof expected);
        int is_foreign = kind == 'p' && word != 0 && word == expected;
        if (is_foreign ? value != 0 : memcmp(&value, &expected, size) == 0)
            return;
        fprintf(stderr, "%s returned %#llx, a %s; the test expects %#llx\n", name, (unsigned long long)value, type,
                (unsigned long long)expected);
        abort();
    }
}

void colt_assume(int condition) {
    if (!condition)
        _exit(COLT_SKIPPED);
}

void __colt_keeps(int condition, const char *what) {
    if (!condition) {
        fprintf(stderr, "%s\n", what);
        abort();
    }
}

void colt_assert(int condition) {
    if (!condition)
        abort();
}

#define COLT_TYPED(function, type)                                                                                     \
    type function(const char *name) {                                                                                  \
        type value;                                                                                                    \
        colt_input(&value, sizeof value, name);                                                                        \
        return value;                                                                                                  \
    }
COLT_TYPED(colt_char, char)
COLT_TYPED(colt_schar, signed char)
COLT_TYPED(colt_uchar, unsigned char)
COLT_TYPED(colt_short, short)
COLT_TYPED(colt_ushort, unsigned short)
COLT_TYPED(colt_int, int)
COLT_TYPED(colt_uint, unsigned int)
COLT_TYPED(colt_long, long)
COLT_TYPED(colt_ulong, unsigned long)
COLT_TYPED(colt_int8, int8_t)
COLT_TYPED(colt_uint8, uint8_t)
COLT_TYPED(colt_int16, int16_t)
COLT_TYPED(colt_uint16, uint16_t)
COLT_TYPED(colt_int32, int32_t)
COLT_TYPED(colt_uint32, uint32_t)
COLT_TYPED(colt_int64, int64_t)
COLT_TYPED(colt_uint64, uint64_t)
COLT_TYPED(colt_size, size_t)
COLT_TYPED(colt_float, float)
COLT_TYPED(colt_double, double)
COLT_TYPED(klee_int, int)

// Inputs keep the size they were recorded with, so `bool` is read in whatever size that was.
int colt_bool(const char *name) {
    const struct colt_value *value = colt_take(name);
    int result = 0;
    for (unsigned long i = 0; i < value->size; i++)
        result |= value->bytes[i];
    return result != 0;
}

int colt_range(int low, int high, const char *name) {
    int value = colt_int(name);
    colt_assume(low <= value && value < high);
    return value;
}

void klee_make_symbolic(void *object, size_t size, const char *name) { colt_input(object, size, name); }
void klee_assume(uintptr_t condition) { colt_assume(condition != 0); }
int klee_range(int low, int high, const char *name) { return colt_range(low, high, name); }
void klee_prefer_cex(void *object, uintptr_t condition) { (void)object, (void)condition; }
void klee_silent_exit(int status) { _exit(status); }
void klee_abort(void) { abort(); }
void klee_warning(const char *message) { (void)message; }
void klee_warning_once(const char *message) { (void)message; }
unsigned klee_is_symbolic(uintptr_t value) { return (void)value, 0; }
void klee_report_error(const char *file, int line, const char *message, const char *suffix) {
    fprintf(stderr, "%s:%d: %s (%s)\n", file, line, message, suffix);
    abort();
}
#define COLT_VALUE(suffix, type)                                                                                       \
    type klee_get_value##suffix(type value) { return value; }
COLT_VALUE(f, float)
COLT_VALUE(d, double)
COLT_VALUE(l, long)
COLT_VALUE(ll, long long)
COLT_VALUE(_i32, int32_t)
COLT_VALUE(_i64, int64_t)

#define COLT_NONDET(suffix, type)                                                                                      \
    type __VERIFIER_nondet_##suffix(void) {                                                                            \
        type value;                                                                                                    \
        colt_input(&value, sizeof value, "__VERIFIER_nondet_" #suffix);                                                \
        return value;                                                                                                  \
    }
COLT_NONDET(bool, _Bool)
COLT_NONDET(char, char)
COLT_NONDET(uchar, unsigned char)
COLT_NONDET(short, short)
COLT_NONDET(ushort, unsigned short)
COLT_NONDET(int, int)
COLT_NONDET(uint, unsigned int)
COLT_NONDET(long, long)
COLT_NONDET(ulong, unsigned long)
COLT_NONDET(longlong, long long)
COLT_NONDET(ulonglong, unsigned long long)
COLT_NONDET(float, float)
COLT_NONDET(double, double)
COLT_NONDET(pointer, void *)
COLT_NONDET(size_t, size_t)

// Programs bring some of these themselves.
__attribute__((weak)) void __VERIFIER_assume(int condition) { colt_assume(condition); }
__attribute__((weak)) void __VERIFIER_error(void) { abort(); }
__attribute__((weak)) void reach_error(void) { abort(); }

// The harness of `--entry` asks for these.
void __colt_bounded_pointer(const char *parameter) { (void)parameter; }
size_t __colt_next_size(size_t most) {
    size_t size = colt_current && colt_next < colt_current->n_values ? colt_current->values[colt_next].size : 0;
    return size < most ? size : most;
}

static unsigned long colt_random = 1;
void srand(unsigned seed) { colt_random = seed; }
int rand(void) {
    colt_random = colt_random * 1103515245 + 12345;
    return (int)(colt_random / 65536 % 32768);
}
#ifdef COLT_HAS_TIME
time_t time(time_t *result) {
    time_t value;
    colt_input(&value, sizeof value, "time");
    if (result)
        *result = value;
    return value;
}
#endif
#ifdef COLT_HAS_CLOCK
clock_t clock(void) {
    clock_t value;
    colt_input(&value, sizeof value, "clock");
    return value;
}
#endif

// Standard input is a file with the test's bytes, empty where the test has none.
static void colt_feed_stdin(const struct colt_case *test) {
    FILE *file = tmpfile();
    if (!file)
        return;
    for (int i = 0; i < test->n_values; i++)
        if (strcmp(test->values[i].name, "stdin") == 0)
            fwrite(test->values[i].bytes, 1, test->values[i].size, file);
    fflush(file);
    rewind(file);
    dup2(fileno(file), 0);
}

static int colt_run(const struct colt_case *test) {
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        const char *arguments[64] = {"program"};
        int n_arguments = 1;
        for (int i = 0; i < test->n_values && n_arguments < 63; i++)
            if (strncmp(test->values[i].name, "argv[", 5) == 0)
                arguments[n_arguments++] = (const char *)test->values[i].bytes;
        colt_feed_stdin(test);
        setenv("COLT_TEST", test->id, 1);
        // What sanitizers end with is no status of the program.
        setenv("ASAN_OPTIONS", "exitcode=86", 0);
        setenv("UBSAN_OPTIONS", "exitcode=86", 0);
        const char *seconds = getenv("COLT_SECONDS");
        alarm(seconds ? (unsigned)atoi(seconds) : 10);
        execv("/proc/self/exe", (char **)arguments);
        _exit(127);
    }
    int status = 0;
    waitpid(child, &status, 0);
    int is_skipped = WIFEXITED(status) && WEXITSTATUS(status) == COLT_SKIPPED;
    int is_as_expected = WIFEXITED(status) && WEXITSTATUS(status) == (test->status & 0xff);
    int passes = test->ending == COLT_STATUS ? is_as_expected : WIFEXITED(status) && (is_skipped || WEXITSTATUS(status) == 0);
    if (test->ending == COLT_OPEN)
        passes = WIFEXITED(status);
    if (test->ending == COLT_HANG)
        passes = WIFEXITED(status) && WEXITSTATUS(status) != COLT_FAULT;
    const char *why = WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM ? " (its time was over)" : "";
    printf("%s %s: %s%s\n", passes ? "ok    " : "FAILED", test->id, test->what, why);
    return passes;
}

__attribute__((constructor)) static void colt_start(int argc, char **argv) {
    const char *chosen = getenv("COLT_TEST");
    if (chosen) {
        for (const struct colt_case *test = colt_cases; test->id; test++)
            if (strcmp(test->id, chosen) == 0)
                colt_current = test;
        unsetenv("COLT_TEST");
        return;
    }
    int n_run = 0, n_passing = 0;
    for (const struct colt_case *test = colt_cases; test->id; test++) {
        if (argc > 1 && strcmp(argv[1], test->id) != 0)
            continue;
        n_run++;
        n_passing += colt_run(test);
    }
    printf("%d of %d tests pass\n", n_passing, n_run);
    fflush(stdout);
    _exit(n_run == 0 ? 2 : n_passing == n_run ? 0 : 1);
}
