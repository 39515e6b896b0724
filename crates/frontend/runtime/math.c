// Functions of math.h that take numbers apart: exact, and on the bits, so that symbolic numbers stay symbolic.
#include "float_bits.h"

// The exponent as it is stored, and the same number with another one.
static int stored_exponent(double x) { return (int)(bits_of(x) >> 52) & 0x7ff; }
static int stored_exponentf(float x) { return (int)(bits_of_float(x) >> 23) & 0xff; }
static int stored_exponentl(long double x) { return extended_of(x).top & 0x7fff; }
static double with_exponent(double x, int stored) {
    return number_of((bits_of(x) & 0x800fffffffffffffull) | (uint64_t)stored << 52);
}
static float with_exponentf(float x, int stored) {
    return float_of((bits_of_float(x) & 0x807fffffu) | (uint32_t)stored << 23);
}
static long double with_exponentl(long double x, int stored) {
    struct extended parts = extended_of(x);
    parts.top = (uint16_t)((parts.top & 0x8000) | stored);
    return long_double_of(parts);
}

// The neighbour further from zero (step 1) or nearer to it (step -1); the number is not zero.
static double neighbour(double x, int step) { return number_of(bits_of(x) + (uint64_t)(int64_t)step); }
static float neighbourf(float x, int step) { return float_of(bits_of_float(x) + (uint32_t)step); }
static long double neighbourl(long double x, int step) {
    struct extended parts = extended_of(x);
    parts.fraction += (uint64_t)(int64_t)step;
    // The bit before the point is stored: it is set from the first normal number on.
    if (step > 0 && parts.fraction == 0) {
        parts.fraction = 0x8000000000000000ull;
        parts.top++;
    } else if (step > 0 && !(parts.top & 0x7fff) && parts.fraction >> 63) {
        parts.top++;
    } else if (step < 0 && (parts.top & 0x7fff) && !(parts.fraction >> 63)) {
        parts.top--;
        if (parts.top & 0x7fff)
            parts.fraction |= 0x8000000000000000ull;
    }
    return long_double_of(parts);
}

// For a type: bits of its fraction, its bias, the stored exponent of infinity, two to the power of its fraction's bits
// plus two and its inverse, numbers whose squares over- and underflow, the least number, the largest.
#define DEFINE_MATH(S, TYPE, FRACTION, BIAS, TOP, UP, DOWN, HUGE, TINY, LEAST, LARGEST)                                \
    TYPE frexp##S(TYPE x, int *exponent) {                                                                             \
        int stored = stored_exponent##S(x), extra = 0;                                                                 \
        *exponent = 0;                                                                                                 \
        if (stored == (TOP) || x == 0)                                                                                 \
            return x + x;                                                                                              \
        if (stored == 0) {                                                                                             \
            x *= (UP);                                                                                                 \
            stored = stored_exponent##S(x);                                                                            \
            extra = (FRACTION) + 2;                                                                                    \
        }                                                                                                              \
        *exponent = stored - ((BIAS) - 1) - extra;                                                                     \
        return with_exponent##S(x, (BIAS) - 1);                                                                        \
    }                                                                                                                  \
                                                                                                                       \
    /* One rounding at most: where the result is subnormal, in the last multiplication. */                            \
    static TYPE scale##S(TYPE x, long n) {                                                                             \
        int exponent;                                                                                                  \
        if (stored_exponent##S(x) == (TOP) || x == 0)                                                                  \
            return x + x;                                                                                              \
        TYPE half = frexp##S(x, &exponent);                                                                            \
        n = n > 70000 ? 70000 : n < -70000 ? -70000 : n;                                                               \
        n += exponent;                                                                                                 \
        if (n > (BIAS) + 1)                                                                                            \
            return (x < 0 ? -(HUGE) : (HUGE)) * (HUGE);                                                                \
        if (n >= 2 - (BIAS))                                                                                           \
            return with_exponent##S(half, (int)n - 1 + (BIAS));                                                        \
        if (n < -(BIAS) - (FRACTION))                                                                                  \
            return (x < 0 ? -(TINY) : (TINY)) * (TINY);                                                                \
        return with_exponent##S(half, (int)n + (FRACTION) + 1 + (BIAS)) * (DOWN);                                      \
    }                                                                                                                  \
    TYPE ldexp##S(TYPE x, int n) { return scale##S(x, n); }                                                            \
    TYPE scalbn##S(TYPE x, int n) { return scale##S(x, n); }                                                           \
    TYPE scalbln##S(TYPE x, long n) { return scale##S(x, n); }                                                         \
                                                                                                                       \
    int ilogb##S(TYPE x) {                                                                                             \
        int exponent;                                                                                                  \
        if (x == 0 || x != x)                                                                                          \
            return INT_MIN;                                                                                            \
        if (stored_exponent##S(x) == (TOP))                                                                            \
            return INT_MAX;                                                                                            \
        frexp##S(x, &exponent);                                                                                        \
        return exponent - 1;                                                                                           \
    }                                                                                                                  \
    TYPE logb##S(TYPE x) {                                                                                             \
        if (x == 0)                                                                                                    \
            return -1 / (x * x);                                                                                       \
        if (stored_exponent##S(x) == (TOP))                                                                            \
            return x * x;                                                                                              \
        return (TYPE)ilogb##S(x);                                                                                      \
    }                                                                                                                  \
                                                                                                                       \
    TYPE modf##S(TYPE x, TYPE *whole) {                                                                                \
        TYPE integral = __builtin_trunc##S(x);                                                                         \
        *whole = integral;                                                                                             \
        return x != x ? integral : __builtin_copysign##S(x == integral ? 0 : x - integral, x);                         \
    }                                                                                                                  \
                                                                                                                       \
    TYPE fdim##S(TYPE x, TYPE y) { return x <= y ? 0 : x - y; }                                                        \
                                                                                                                       \
    TYPE nextafter##S(TYPE x, TYPE y) {                                                                                \
        if (x != x || y != y)                                                                                          \
            return x + y;                                                                                              \
        if (x == y)                                                                                                    \
            return y;                                                                                                  \
        if (x == 0)                                                                                                    \
            return y < 0 ? -(LEAST) : (LEAST);                                                                         \
        return neighbour##S(x, (x < y) == (x > 0) ? 1 : -1);                                                           \
    }                                                                                                                  \
                                                                                                                       \
    /* The quotient's lowest three bits are those of what is left by eight times the divisor. */                      \
    TYPE remquo##S(TYPE x, TYPE y, int *quotient) {                                                                    \
        TYPE left = __builtin_fabs##S(x), divisor = __builtin_fabs##S(y);                                              \
        int bits = 0, is_opposite = __builtin_signbit(x) != __builtin_signbit(y);                                      \
        TYPE rest = remainder##S(x, y);                                                                                \
        *quotient = 0;                                                                                                 \
        if (rest != rest || divisor > (LARGEST))                                                                       \
            return rest;                                                                                               \
        if (divisor <= (LARGEST) / 8)                                                                                  \
            left = fmod##S(left, 8 * divisor);                                                                         \
        for (int bit = 4; bit; bit /= 2) {                                                                             \
            if (divisor <= (LARGEST) / (TYPE)bit && left >= (TYPE)bit * divisor) {                                     \
                left -= (TYPE)bit * divisor;                                                                           \
                bits += bit;                                                                                           \
            }                                                                                                          \
        }                                                                                                              \
        /* What is left is below the divisor: above its half, or on it and odd, the quotient is one more. */          \
        TYPE other = divisor - left;                                                                                   \
        bits += left > other || (left == other && (bits & 1));                                                         \
        *quotient = is_opposite ? -bits : bits;                                                                        \
        return rest;                                                                                                   \
    }

double remainder(double, double);
double fmod(double, double);
float remainderf(float, float);
float fmodf(float, float);
long double remainderl(long double, long double);
long double fmodl(long double, long double);

DEFINE_MATH(, double, 52, 1023, 0x7ff, 0x1p54, 0x1p-54, 0x1p1000, 0x1p-1000, 0x1p-1074, 0x1.fffffffffffffp1023)
DEFINE_MATH(f, float, 23, 127, 0xff, 0x1p25f, 0x1p-25f, 0x1p120f, 0x1p-120f, 0x1p-149f, 0x1.fffffep127f)
DEFINE_MATH(l, long double, 63, 16383, 0x7fff, 0x1p65L, 0x1p-65L, 0x1p16000L, 0x1p-16000L, 0x1p-16445L,
            0x1.fffffffffffffffep16383L)
