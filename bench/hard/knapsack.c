// A knapsack: so much value within so much weight.
#include <assert.h>
#include <colt.h>

int main(void) {
    static const unsigned weight[] = {41, 50, 49, 59, 45, 47, 42, 44}, value[] = {442, 525, 511, 593, 546, 564, 617, 500};
    unsigned n[8], total = 0, worth = 0;
    colt_input(n, sizeof n, "n");
    for (int i = 0; i < 8; i++) {
        if (n[i] > 3)
            return 0;
        total += n[i] * weight[i];
        worth += n[i] * value[i];
    }
    if (total > 300)
        return 0;
    if (worth > 3400)
        assert(n[0] != 1);
    if (worth == 3333)
        assert(n[1] != 1);
    return 0;
}
