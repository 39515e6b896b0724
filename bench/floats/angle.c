// Wrap an angle into [0, 360) with fmod: -1e-20 + 360 gives 360.
#include <assert.h>
#include <math.h>
#include <colt.h>
static double wrap(double a) { a = fmod(a, 360.0); if (a < 0) a += 360.0; return a; }
int main(void) {
    double a; colt_input(&a, 8, "a");
    if (!(a >= -1000 && a <= 1000)) return 0;
    double w = wrap(a);
    assert(w >= 0 && w < 360.0);
    return (int)(w / 90);
}
