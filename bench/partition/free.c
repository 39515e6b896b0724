// Figure 1(b): N pages, each with a use and a count. BROKEN counts one page wrongly.
#include <assert.h>
#include <colt.h>

#ifndef N
#define N 10
#endif

int main(void) {
    int A[N];
    unsigned count[N], old_count[N];
    colt_input(A, sizeof A, "A");
    colt_input(count, sizeof count, "count");
    for (int i = 0; i < N; i++)
        old_count[i] = count[i];
    for (int i = 0; i < N; i++)
        if (A[i] != 0)
            count[i]++;
#ifdef BROKEN
    if (A[BROKEN] == 12345)
        count[BROKEN]--;
#endif
    for (int i = 0; i < N; i++)
        if (A[i] != 0)
            assert(count[i] == old_count[i] + 1);
    return 0;
}
