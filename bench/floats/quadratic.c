// The roots of a quadratic equation, as it is taught and as it should be done.
#include <assert.h>
#include <colt.h>
#include <math.h>

static int is_small(double x) { return x > -1e3 && x < 1e3; }

int main(void) {
    double a, b, c;
    colt_input(&a, sizeof a, "a");
    colt_input(&b, sizeof b, "b");
    colt_input(&c, sizeof c, "c");
    if (!is_small(a) || !is_small(b) || !is_small(c))
        return 0;
    if (a == 0)
        return b == 0 ? c == 0 : 1;
    double d = b * b - 4 * a * c;
    if (d < 0)
        return 2;
    if (d == 0)
        return b == 3 ? 3 : 4;
    double root = sqrt(d);
    double x1 = (-b + root) / (2 * a), x2 = (-b - root) / (2 * a);
    if (x1 == 2 && x2 == -1)
        return 5;
    // Cancellation: a root that is lost.
    if (b > 100 && c > 0.5 && a == 1)
        assert(x1 != 0);
    if (x1 == x2)
        return 6;
    return x1 < x2 ? 7 : 8;
}
