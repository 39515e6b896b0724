// Sums: the order in which they are added, what is too small to count, and a sum that is corrected.
#include <assert.h>
#include <colt.h>

int main(void) {
    float x[4];
    colt_input(x, sizeof x, "x");
    for (int i = 0; i < 4; i++)
        if (!(x[i] > -100 && x[i] < 100))
            return 0;
    float forth = ((x[0] + x[1]) + x[2]) + x[3], back = x[0] + (x[1] + (x[2] + x[3]));
    if (forth != back)
        return 1;
    if (x[0] + x[1] == x[0] && x[1] != 0)
        return 2;
    float sum = 0, lost = 0;
    for (int i = 0; i < 4; i++) {
        float y = x[i] - lost, t = sum + y;
        lost = (t - sum) - y;
        sum = t;
    }
    if (sum == 10)
        return lost == 0 ? 3 : 4;
    if (sum > 399)
        return 5;
    assert(sum < 400.5f);
    return 6;
}
