// Figure 1(a): N inputs, each made nonzero and then found so. No two of them ever meet.
#include <colt.h>

#ifndef N
#define N 10
#endif

static void error(void) {
    colt_assert(0);
}

int main(void) {
    int a[N];
    colt_input(a, sizeof a, "a");
    for (int i = 0; i < N; i++)
        if (a[i] == 0)
            a[i] = 1;
    for (int i = 0; i < N; i++)
        if (a[i] == 0)
            error();
    return 0;
}
