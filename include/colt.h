/* What a C program may say to Colt: which bytes are inputs, what may be assumed about them, what must hold.

   The declarations work under every C standard from C89 on and in C++. The same program runs under the engine, where
   inputs are symbolic, and natively under `colt replay`, where they have the values of one test. */
#ifndef COLT_H
#define COLT_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Makes the `size` bytes at `object` an input called `name`. */
void colt_input(void *object, size_t size, const char *name);

/* A string that is an input: in memory of its own, as large as it needs, its terminating zero included. With `--with lengths` it is
   of any length up to `--lengths-max`, else of up to 15 bytes. It is not to be freed. */
char *colt_string(const char *name);

/* Makes a string of up to `size - 1` bytes at `buffer` an input; the rest of the `size` bytes is zero. */
void colt_string_in(char *buffer, size_t size, const char *name);

/* Ends the path, as `assumed`, unless `condition` is nonzero. */
void colt_assume(int condition);

/* Reports an assertion failure at the call unless `condition` is nonzero. */
void colt_assert(int condition);

/* An input of the named type, returned by value. */
int colt_bool(const char *name); /* 0 or 1 */
char colt_char(const char *name);
signed char colt_schar(const char *name);
unsigned char colt_uchar(const char *name);
short colt_short(const char *name);
unsigned short colt_ushort(const char *name);
int colt_int(const char *name);
unsigned int colt_uint(const char *name);
long colt_long(const char *name);
unsigned long colt_ulong(const char *name);
int8_t colt_int8(const char *name);
uint8_t colt_uint8(const char *name);
int16_t colt_int16(const char *name);
uint16_t colt_uint16(const char *name);
int32_t colt_int32(const char *name);
uint32_t colt_uint32(const char *name);
int64_t colt_int64(const char *name);
uint64_t colt_uint64(const char *name);
size_t colt_size(const char *name);
float colt_float(const char *name);
double colt_double(const char *name);

/* An int input with low <= value < high; the path ends as `assumed` where no such value is left. */
int colt_range(int low, int high, const char *name);

#ifdef __cplusplus
}
#endif

#endif
