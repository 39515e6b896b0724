// Sorting 7 symbolic ints: one path an order.
#include <colt.h>

enum { N = 7 };

int main(void) {
    int a[N];
    colt_input(a, sizeof a, "a");
    for (int i = 0; i < N - 1; i++)
        for (int j = 0; j < N - 1 - i; j++)
            if (a[j] > a[j + 1]) {
                int t = a[j];
                a[j] = a[j + 1];
                a[j + 1] = t;
            }
    return 0;
}
