// Counting 12 flags, each checked again afterwards: 2^12 paths.
#include <assert.h>
#include <colt.h>

enum { N = 12 };

int main(void) {
    int flags[N], count[N], before[N];
    colt_input(flags, sizeof flags, "flags");
    colt_input(count, sizeof count, "count");
    for (int i = 0; i < N; i++)
        before[i] = count[i];
    for (int i = 0; i < N; i++)
        if (flags[i] != 0)
            count[i]++;
    for (int i = 0; i < N; i++)
        if (flags[i] != 0)
            assert((unsigned)count[i] == (unsigned)before[i] + 1);
    return 0;
}
