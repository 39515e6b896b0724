// A step of a Kalman filter in one dimension, twice: the variance stays positive and gets smaller.
#include <assert.h>
#include <colt.h>

int main(void) {
    double z[2], r;
    colt_input(z, sizeof z, "z");
    colt_input(&r, sizeof r, "r");
    if (!(r > 0.01 && r < 100))
        return 0;
    double x = 0, p = 1;
    for (int i = 0; i < 2; i++) {
        if (!(z[i] > -1000 && z[i] < 1000))
            return 1;
        double k = p / (p + r);
        if (k > 0.99)
            return 2;
        x = x + k * (z[i] - x);
        double next = (1 - k) * p;
        assert(next > 0);
        assert(next <= p);
        p = next + 0.001;
    }
    if (x > 500)
        return 3;
    if (x == 1)
        return 4;
    if (p < 0.02)
        return 5;
    return 6;
}
