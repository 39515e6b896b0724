// Newton's iteration for a square root, and what is left of the error.
#include <assert.h>
#include <colt.h>

int main(void) {
    double x;
    colt_input(&x, sizeof x, "x");
    if (!(x >= 0.25 && x <= 4))
        return 0;
    double y = 1;
    for (int i = 0; i < 4; i++) {
        double next = (y + x / y) / 2;
        if (next == y)
            return i == 0 ? 1 : 2;
        y = next;
    }
    double error = y * y - x;
    if (error < 0)
        error = -error;
    if (error == 0)
        return 3;
    if (error > 1e-3)
        return 4;
    if (error > 1e-9)
        return 5;
    assert(error < 1e-8);
    return 6;
}
