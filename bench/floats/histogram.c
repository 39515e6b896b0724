// Histogram bins by a float index computed from range: max lands in bin N.
#include <colt.h>
#define N 8
int main(void) {
    double x[3]; int bins[N] = {0};
    colt_input(x, sizeof x, "x");
    double lo = x[0], hi = x[0];
    for (int i = 1; i < 3; i++) { if (x[i] < lo) lo = x[i]; if (x[i] > hi) hi = x[i]; }
    if (!(lo > -100 && hi < 100 && hi - lo > 0.5)) return 0;
    for (int i = 0; i < 3; i++) bins[(int)((x[i] - lo) / (hi - lo) * N)]++;
    return bins[0];
}
