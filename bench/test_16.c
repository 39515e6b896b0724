// 16 inputs looked at twice; the second look never sees a zero: 2^16 paths.
#include <colt.h>

enum { N = 16 };

int main(void) {
    int a[N], errors = 0;
    colt_input(a, sizeof a, "a");
    for (int i = 0; i < N; i++)
        if (a[i] == 0)
            a[i] = 1;
    for (int i = 0; i < N; i++)
        if (a[i] == 0)
            errors++;
    colt_assert(errors == 0);
    return 0;
}
