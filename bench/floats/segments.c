// Segment intersection with division, parallel lines guarded by exact zero.
#include <assert.h>
#include <stdio.h>
#include <colt.h>
typedef struct { double x, y; } Vec;
static int segment_cross(Vec a, Vec b, Vec c, Vec d, Vec *out) {
    double rx = b.x - a.x, ry = b.y - a.y, sx = d.x - c.x, sy = d.y - c.y;
    double den = rx * sy - ry * sx;
    if (den == 0) return 0;
    double t = ((c.x - a.x) * sy - (c.y - a.y) * sx) / den;
    double u = ((c.x - a.x) * ry - (c.y - a.y) * rx) / den;
    if (t < 0 || t > 1 || u < 0 || u > 1) return 0;
    out->x = a.x + t * rx; out->y = a.y + t * ry;
    return 1;
}
int main(void) {
    signed char p[4]; colt_input(p, 4, "p");
    for (int i = 0; i < 4; i++) if (p[i] < -10 || p[i] > 10) return 0;
    Vec a = {0, 0}, b = {10, 10}, c = {p[0], p[1]}, d = {p[2], p[3]}, r;
    if (segment_cross(a, b, c, d, &r)) {
        assert(r.x >= 0 && r.x <= 10);
        // claims that the point is on the diagonal exactly
        assert(r.x == r.y);
        // claims that it is on the other segment exactly: wrong
        double e = (r.x - c.x) * (d.y - c.y) - (r.y - c.y) * (d.x - c.x);
        assert(e == 0);
        return 1;
    }
    return 2;
}
