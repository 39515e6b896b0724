// All-interval series: a permutation of 0..7 whose neighbours are at all distances.
#include <assert.h>
#include <colt.h>
#include <stdlib.h>

#define N 8

int main(void) {
    int s[N];
    colt_input(s, sizeof s, "s");
    for (int i = 0; i < N; i++)
        if (s[i] < 0 || s[i] >= N)
            abort();
    for (int i = 0; i < N; i++)
        for (int j = i + 1; j < N; j++)
            if (s[i] == s[j])
                abort();
    for (int i = 0; i + 1 < N; i++)
        for (int j = i + 1; j + 1 < N; j++)
            if (abs(s[i + 1] - s[i]) == abs(s[j + 1] - s[j]))
                abort();
    assert(s[0] > s[N - 1]);
    return 0;
}
