// Interpolation between two points: the usual formula does not always end where it should.
#include <assert.h>
#include <colt.h>

static double between(double a, double b, double t) { return a + t * (b - a); }

int main(void) {
    double a, b, t;
    colt_input(&a, sizeof a, "a");
    colt_input(&b, sizeof b, "b");
    colt_input(&t, sizeof t, "t");
    if (!(a >= -10 && a <= 10 && b >= -10 && b <= 10 && a < b))
        return 0;
    if (!(t >= 0 && t <= 1))
        return 1;
    double y = between(a, b, t);
    if (t == 0)
        assert(y == a);
    if (t == 1)
        assert(y == b);
    if (y < a)
        return 2;
    if (y > b)
        return 3;
    if (y == 5 && a < 4 && b > 6)
        return t == 0.5 ? 4 : 5;
    return 6;
}
