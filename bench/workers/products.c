// Comparisons of products of symbolic numbers: the solver is what takes the time.
#include <colt.h>
#include <stdint.h>

int main(void) {
    uint16_t a[5];
    colt_input(a, sizeof a, "a");
    int n = 0;
    for (int i = 0; i + 1 < 5; i++) {
        uint32_t product = (uint32_t)a[i] * a[i + 1];
        if (product % 1000 > 500)
            n++;
        if (product > 40000u * (i + 1))
            n += 2;
    }
    return n;
}
