// Squares and distances: triples, points of a circle, four that are equally far apart.
#include <assert.h>
#include <colt.h>
#include <stdlib.h>

int main(void) {
    int p[6];
    colt_input(p, sizeof p, "p");
    for (int i = 0; i < 6; i++)
        if (p[i] < 0 || p[i] > 100)
            return 0;
    int ab = (p[0] - p[2]) * (p[0] - p[2]) + (p[1] - p[3]) * (p[1] - p[3]);
    int bc = (p[2] - p[4]) * (p[2] - p[4]) + (p[3] - p[5]) * (p[3] - p[5]);
    int ca = (p[4] - p[0]) * (p[4] - p[0]) + (p[5] - p[1]) * (p[5] - p[1]);
    if (ab == 0 || bc == 0 || ca == 0)
        return 0;
    if (ab == bc && bc == ca)
        return 1;
    if (ab + bc == ca && ab == 1105)
        assert(abs(p[0] - p[2]) <= abs(p[1] - p[3]));
    if (ab == 65 * 65 && p[0] != p[2] && p[1] != p[3])
        assert(abs(p[0] - p[2]) + abs(p[1] - p[3]) == 89);
    return 0;
}
