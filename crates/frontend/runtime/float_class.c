// Classes of floating-point numbers, by the names that math.h's macros use. Decided on the bits, so that numbers made of
// symbolic bytes stay as they are.
#include "float_bits.h"

enum { CLASS_NAN, CLASS_INFINITE, CLASS_ZERO, CLASS_SUBNORMAL, CLASS_NORMAL };

static int classify(uint64_t magnitude, uint64_t smallest_normal, uint64_t infinity) {
    return magnitude > infinity           ? CLASS_NAN
           : magnitude == infinity        ? CLASS_INFINITE
           : magnitude >= smallest_normal ? CLASS_NORMAL
           : magnitude                    ? CLASS_SUBNORMAL
                                          : CLASS_ZERO;
}
static int class_of(double x) {
    return classify(bits_of(x) & 0x7fffffffffffffffull, 0x0010000000000000ull, 0x7ff0000000000000ull);
}
static int class_of_float(float x) { return classify(bits_of_float(x) & 0x7fffffffu, 0x00800000u, 0x7f800000u); }

static int class_of_long(long double x) {
    struct extended parts = extended_of(x);
    unsigned exponent = parts.top & 0x7fffu;
    if (exponent == 0x7fff)
        return parts.fraction == 0x8000000000000000ull ? CLASS_INFINITE : CLASS_NAN;
    if (exponent)
        return parts.fraction >> 63 ? CLASS_NORMAL : CLASS_NAN;
    return parts.fraction ? CLASS_SUBNORMAL : CLASS_ZERO;
}

int __fpclassify(double x) { return class_of(x); }
int __fpclassifyf(float x) { return class_of_float(x); }
int __fpclassifyl(long double x) { return class_of_long(x); }

int __signbit(double x) { return (int)(bits_of(x) >> 63); }
int __signbitf(float x) { return (int)(bits_of_float(x) >> 31); }
int __signbitl(long double x) { return extended_of(x).top >> 15; }

// GNU's: the sign of an infinity, zero for everything else.
static int infinite(int class, int sign) { return class == CLASS_INFINITE ? (sign ? -1 : 1) : 0; }

#define CLASS_TESTS(SUFFIX, TYPE, CLASS)                                                                               \
    int __isnan##SUFFIX(TYPE x) { return CLASS(x) == CLASS_NAN; }                                                      \
    int isnan##SUFFIX(TYPE x) { return CLASS(x) == CLASS_NAN; }                                                        \
    int __isinf##SUFFIX(TYPE x) { return infinite(CLASS(x), __signbit##SUFFIX(x)); }                                   \
    int isinf##SUFFIX(TYPE x) { return infinite(CLASS(x), __signbit##SUFFIX(x)); }                                     \
    int __finite##SUFFIX(TYPE x) { return CLASS(x) > CLASS_INFINITE; }                                                 \
    int finite##SUFFIX(TYPE x) { return CLASS(x) > CLASS_INFINITE; }
CLASS_TESTS(, double, class_of)
CLASS_TESTS(f, float, class_of_float)
CLASS_TESTS(l, long double, class_of_long)
