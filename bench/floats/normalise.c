// Normalising a vector: length may be 0, tiny or overflow.
#include <assert.h>
#include <math.h>
#include <colt.h>
struct v3 { float x, y, z; };
int main(void) {
    struct v3 v; colt_input(&v, sizeof v, "v");
    if (isnan(v.x) || isnan(v.y) || isnan(v.z) || isinf(v.x) || isinf(v.y) || isinf(v.z)) return 0;
    if (v.x == 0 && v.y == 0 && v.z == 0) return 1;
    float len = sqrtf(v.x * v.x + v.y * v.y + v.z * v.z);
    float nx = v.x / len;
    assert(!isnan(nx));
    assert(fabsf(nx) <= 1.0f);
    return 2;
}
