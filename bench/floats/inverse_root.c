// Fast inverse square root within 0.2 %.
#include <assert.h>
#include <stdint.h>
#include <string.h>
#include <math.h>
#include <colt.h>
static float q_rsqrt(float n) {
    float x2 = n * 0.5f, y = n; uint32_t i;
    memcpy(&i, &y, 4); i = 0x5f3759df - (i >> 1); memcpy(&y, &i, 4);
    return y * (1.5f - x2 * y * y);
}
int main(void) {
    float n; colt_input(&n, 4, "n");
    if (!(n >= 1 && n <= 4)) return 0;
    float y = q_rsqrt(n);
    float e = y * y * n;
    assert(e > 0.99f && e < 1.01f);
    assert(e <= 1.0f);
    return 1;
}
