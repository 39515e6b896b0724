// RGB to HSV and back to hue sector: index 0..5, h may become 6 or negative.
#include <assert.h>
#include <math.h>
#include <colt.h>
static const int order[6] = {1, 2, 3, 4, 5, 6};
int main(void) {
    unsigned char c[3]; colt_input(c, 3, "c");
    float r = c[0] / 255.0f, g = c[1] / 255.0f, b = c[2] / 255.0f;
    float mx = fmaxf(r, fmaxf(g, b)), mn = fminf(r, fminf(g, b)), d = mx - mn, h;
    if (d == 0) return 0;
    if (mx == r) h = (g - b) / d; else if (mx == g) h = 2 + (b - r) / d; else h = 4 + (r - g) / d;
    /* bug: negative h not wrapped */
    return order[(int)floorf(h)];
}
