// Patriot: time in tenths accumulated in float.
#include <assert.h>
#include <math.h>
#include <colt.h>
int main(void) {
    unsigned ticks; colt_input(&ticks, 4, "ticks");
    if (ticks > 5000000) return 0;
    float t = ticks * 0.1f;
    double exact = ticks / 10.0;
    assert(fabs(t - exact) < 0.3);
    return 0;
}
