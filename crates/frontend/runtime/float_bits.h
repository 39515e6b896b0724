// The bits of numbers, and numbers of bits.
#ifndef COLT_FLOAT_BITS_H
#define COLT_FLOAT_BITS_H

#include "common.h"

// The 80-bit format keeps its leading one; what lacks it where it has to be is no number.
struct extended { uint64_t fraction; uint16_t top; };

static inline uint64_t bits_of(double x) {
    union { double number; uint64_t bits; } both = {x};
    return both.bits;
}
static inline double number_of(uint64_t bits) {
    union { uint64_t bits; double number; } both = {bits};
    return both.number;
}
static inline uint32_t bits_of_float(float x) {
    union { float number; uint32_t bits; } both = {x};
    return both.bits;
}
static inline float float_of(uint32_t bits) {
    union { uint32_t bits; float number; } both = {bits};
    return both.number;
}
static inline struct extended extended_of(long double x) {
    union { long double number; struct extended parts; } both = {x};
    return both.parts;
}
static inline long double long_double_of(struct extended parts) {
    union { long double number; struct extended parts; } both = {0};
    both.parts.fraction = parts.fraction;
    both.parts.top = parts.top;
    return both.number;
}

#endif
