/* The declarations that programs written for KLEE expect, so that they compile unchanged with Colt.

   Only the names Colt understands are here; a call to anything else is reported as an unknown function. */
#ifndef KLEE_H
#define KLEE_H

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__) || defined(__clang__)
#define COLT_NO_RETURN __attribute__((noreturn))
#else
#define COLT_NO_RETURN
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Inputs. `klee_range` gives low <= value < high. */
void klee_make_symbolic(void *object, size_t size, const char *name);
int klee_int(const char *name);
int klee_range(int low, int high, const char *name);

/* Conditions. A false assumption ends the path; a preference changes nothing about what is possible. */
void klee_assume(uintptr_t condition);
void klee_prefer_cex(void *object, uintptr_t condition);
void klee_posix_prefer_cex(void *object, uintptr_t condition);

/* Endings. */
void klee_silent_exit(int status) COLT_NO_RETURN;
void klee_abort(void) COLT_NO_RETURN;
void klee_report_error(const char *file, int line, const char *message, const char *suffix) COLT_NO_RETURN;

/* Questions about values. */
unsigned klee_is_symbolic(uintptr_t value);
float klee_get_valuef(float value);
double klee_get_valued(double value);
long klee_get_valuel(long value);
#if defined(__GNUC__) || defined(__clang__)
__extension__ long long klee_get_valuell(long long value);
#endif
int32_t klee_get_value_i32(int32_t value);
int64_t klee_get_value_i64(int64_t value);

/* Messages for people. */
void klee_warning(const char *message);
void klee_warning_once(const char *message);

/* Declared here too, so that klee_assert needs no second header. */
void colt_assert(int condition);
#define klee_assert(condition) colt_assert((condition) ? 1 : 0)

#ifdef __cplusplus
}
#endif

#undef COLT_NO_RETURN

#endif
