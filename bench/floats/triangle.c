// Which triangle three sides make; the inequality and the square of the hypotenuse.
#include <assert.h>
#include <colt.h>

int main(void) {
    float a, b, c;
    colt_input(&a, sizeof a, "a");
    colt_input(&b, sizeof b, "b");
    colt_input(&c, sizeof c, "c");
    if (!(a > 0) || !(b > 0) || !(c > 0))
        return 0;
    if (a > 1e6f || b > 1e6f || c > 1e6f)
        return 1;
    if (a + b <= c || b + c <= a || c + a <= b)
        return 2;
    // Two sides that are smaller than the third, and yet their sum is not.
    if (a < c - b)
        assert(0);
    if (a == b && b == c)
        return 3;
    if (a == b || b == c || a == c)
        return 4;
    if (a * a + b * b == c * c)
        return a > 100 ? 5 : 6;
    if (a * a + b * b > c * c)
        return 7;
    return 8;
}
