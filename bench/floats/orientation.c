// Orientation predicate in floats: not consistent under cyclic permutation.
#include <assert.h>
#include <colt.h>
typedef struct { float x, y; } P;
static int side(P a, P b, P c) { float d = (b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x); return (d > 0) - (d < 0); }
int main(void) {
    P p[3]; colt_input(p, sizeof p, "p");
    for (int i = 0; i < 3; i++) if (!(p[i].x >= 0 && p[i].x <= 1 && p[i].y >= 0 && p[i].y <= 1)) return 0;
    int s = side(p[0], p[1], p[2]);
    assert(s == side(p[1], p[2], p[0]));
    return s;
}
