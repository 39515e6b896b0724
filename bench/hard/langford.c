// Langford's pairs: between the two cards k there are k others, k = 1..4.
#include <assert.h>
#include <colt.h>
#include <stdlib.h>

#define K 4

int main(void) {
    unsigned first[K];
    char used[2 * K] = {0};
    colt_input(first, sizeof first, "first");
    for (unsigned k = 1; k <= K; k++) {
        if (first[k - 1] >= 2 * K - k - 1)
            abort();
        unsigned at = first[k - 1], other = at + k + 1;
        if (used[at] || used[other])
            abort();
        used[at] = used[other] = 1;
    }
    assert(first[3] == 0);
    return 0;
}
