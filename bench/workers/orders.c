// Sorting 8 symbolic ints: 40,320 short paths, each with a test to write.
#include <colt.h>

enum { N = 8 };

int main(void) {
    int a[N];
    colt_input(a, sizeof a, "a");
    for (int i = 0; i + 1 < N; i++)
        for (int j = 0; j + 1 < N - i; j++)
            if (a[j] > a[j + 1]) {
                int swapped = a[j];
                a[j] = a[j + 1];
                a[j + 1] = swapped;
            }
    return 0;
}
