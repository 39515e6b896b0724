// What clang calls for complex arithmetic and integer powers instead of writing it out: the compiler's own library.

#include "common.h"

// Annex G of the C standard: a product or quotient with infinite parts is infinite even where the textbook formula
// gives NaN. Quotients are within a rounding error of the native library's, not always the same to the last bit.

#define IS_NAN(x) ((x) != (x))
#define IS_INFINITE(x) ((x) - (x) != (x) - (x) && (x) == (x))
#define ABSOLUTE(x) ((x) < 0 ? -(x) : (x))

#define DEFINE_COMPLEX(NAME, TYPE, MULTIPLY, DIVIDE)                                                                   \
    static TYPE NAME##_sign(TYPE magnitude, TYPE sign) {                                                               \
        int negative = sign < 0 || (sign == 0 && 1 / sign < 0);                                                        \
        return negative ? -magnitude : magnitude;                                                                      \
    }                                                                                                                  \
    static TYPE NAME##_unit(TYPE x) { return NAME##_sign(IS_INFINITE(x) ? 1 : 0, x); }                                 \
    static TYPE NAME##_zero_if_nan(TYPE x) { return IS_NAN(x) ? NAME##_sign(0, x) : x; }                               \
                                                                                                                       \
    _Complex TYPE MULTIPLY(TYPE a, TYPE b, TYPE c, TYPE d) {                                                           \
        TYPE ac = a * c, bd = b * d, ad = a * d, bc = b * c;                                                           \
        TYPE real = ac - bd, imaginary = ad + bc;                                                                      \
        if (IS_NAN(real) && IS_NAN(imaginary)) {                                                                       \
            int recalculate = 0;                                                                                       \
            if (IS_INFINITE(a) || IS_INFINITE(b)) {                                                                    \
                a = NAME##_unit(a), b = NAME##_unit(b);                                                                \
                c = NAME##_zero_if_nan(c), d = NAME##_zero_if_nan(d);                                                  \
                recalculate = 1;                                                                                       \
            }                                                                                                          \
            if (IS_INFINITE(c) || IS_INFINITE(d)) {                                                                    \
                c = NAME##_unit(c), d = NAME##_unit(d);                                                                \
                a = NAME##_zero_if_nan(a), b = NAME##_zero_if_nan(b);                                                  \
                recalculate = 1;                                                                                       \
            }                                                                                                          \
            if (!recalculate && (IS_INFINITE(ac) || IS_INFINITE(bd) || IS_INFINITE(ad) || IS_INFINITE(bc))) {          \
                a = NAME##_zero_if_nan(a), b = NAME##_zero_if_nan(b);                                                  \
                c = NAME##_zero_if_nan(c), d = NAME##_zero_if_nan(d);                                                  \
                recalculate = 1;                                                                                       \
            }                                                                                                          \
            if (recalculate) {                                                                                         \
                TYPE infinite = (TYPE)__builtin_inf();                                                                 \
                real = infinite * (a * c - b * d);                                                                     \
                imaginary = infinite * (a * d + b * c);                                                                \
            }                                                                                                          \
        }                                                                                                              \
        _Complex TYPE result;                                                                                          \
        __real__ result = real;                                                                                        \
        __imag__ result = imaginary;                                                                                   \
        return result;                                                                                                 \
    }                                                                                                                  \
                                                                                                                       \
    _Complex TYPE DIVIDE(TYPE a, TYPE b, TYPE c, TYPE d) {                                                             \
        /* Scaled by a power of two so that the denominator neither overflows nor vanishes. */                         \
        TYPE larger = ABSOLUTE(c) > ABSOLUTE(d) ? ABSOLUTE(c) : ABSOLUTE(d);                                           \
        TYPE scale = 1;                                                                                                \
        if (larger > 0 && !IS_INFINITE(larger)) {                                                                      \
            while (larger * scale >= 2)                                                                                \
                scale /= 2;                                                                                            \
            while (larger * scale < 1)                                                                                 \
                scale *= 2;                                                                                            \
        }                                                                                                              \
        TYPE sc = c * scale, sd = d * scale;                                                                           \
        TYPE denominator = sc * sc + sd * sd;                                                                          \
        TYPE real = (a * sc + b * sd) / denominator * scale;                                                           \
        TYPE imaginary = (b * sc - a * sd) / denominator * scale;                                                      \
        if (IS_NAN(real) && IS_NAN(imaginary)) {                                                                       \
            TYPE infinite = (TYPE)__builtin_inf();                                                                     \
            if (denominator == 0 && (!IS_NAN(a) || !IS_NAN(b))) {                                                      \
                real = NAME##_sign(infinite, c) * a;                                                                   \
                imaginary = NAME##_sign(infinite, c) * b;                                                              \
            } else if ((IS_INFINITE(a) || IS_INFINITE(b)) && c - c == 0 && d - d == 0) {                               \
                a = NAME##_unit(a), b = NAME##_unit(b);                                                                \
                real = infinite * (a * c + b * d);                                                                     \
                imaginary = infinite * (b * c - a * d);                                                                \
            } else if ((IS_INFINITE(c) || IS_INFINITE(d)) && a - a == 0 && b - b == 0) {                               \
                c = NAME##_unit(c), d = NAME##_unit(d);                                                                \
                real = 0 * (a * c + b * d);                                                                            \
                imaginary = 0 * (b * c - a * d);                                                                       \
            }                                                                                                          \
        }                                                                                                              \
        _Complex TYPE result;                                                                                          \
        __real__ result = real;                                                                                        \
        __imag__ result = imaginary;                                                                                   \
        return result;                                                                                                 \
    }

DEFINE_COMPLEX(float_part, float, __mulsc3, __divsc3)
DEFINE_COMPLEX(double_part, double, __muldc3, __divdc3)
DEFINE_COMPLEX(long_double_part, long double, __mulxc3, __divxc3)

#define DEFINE_POWER(TYPE, NAME)                                                                                       \
    TYPE NAME(TYPE base, int exponent) {                                                                               \
        int negative = exponent < 0;                                                                                   \
        TYPE result = 1;                                                                                               \
        for (;;) {                                                                                                     \
            if (exponent & 1)                                                                                          \
                result *= base;                                                                                        \
            exponent /= 2;                                                                                             \
            if (exponent == 0)                                                                                         \
                break;                                                                                                 \
            base *= base;                                                                                              \
        }                                                                                                              \
        return negative ? 1 / result : result;                                                                         \
    }

DEFINE_POWER(float, __powisf2)
DEFINE_POWER(double, __powidf2)
DEFINE_POWER(long double, __powixf2)
