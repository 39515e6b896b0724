// Directed rounding: the interval contains the exact quotient.
#include <assert.h>
#include <fenv.h>
#include <colt.h>
#pragma STDC FENV_ACCESS ON
int main(void) {
    short a; unsigned char b; colt_input(&a, 2, "a"); colt_input(&b, 1, "b");
    if (b == 0) return 0;
    volatile double x = a, y = b;
    fesetround(FE_DOWNWARD); volatile double lo = x / y;
    fesetround(FE_UPWARD); volatile double hi = x / y;
    fesetround(FE_TONEAREST); volatile double m = x / y;
    assert(lo <= m && m <= hi);
    if (lo == hi) { assert(lo * y == x); return 1; }
    return 2;
}
