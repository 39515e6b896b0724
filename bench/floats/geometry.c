// Where two lines cross, and on which side of a line a point is.
#include <assert.h>
#include <colt.h>

struct point {
    double x, y;
};

static double turn(struct point a, struct point b, struct point c) {
    return (b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x);
}

int main(void) {
    struct point a = {0, 0}, b, c;
    colt_input(&b, sizeof b, "b");
    colt_input(&c, sizeof c, "c");
    double all[] = {b.x, b.y, c.x, c.y};
    for (int i = 0; i < 4; i++)
        if (!(all[i] >= -100 && all[i] <= 100))
            return 0;
    double side = turn(a, b, c);
    if (side == 0)
        return b.x == 0 && b.y == 0 ? 1 : 2;
    // Twice the area, from another corner.
    double other = turn(b, c, a);
    if (side > 0 && other < 0)
        return 3;
    if (side != other)
        return 4;
    double dot = b.x * c.x + b.y * c.y;
    if (dot == 0)
        return 5;
    return dot > 0 ? 6 : 7;
}
