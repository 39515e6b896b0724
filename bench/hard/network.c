// Sorting networks without branches: one that sorts and one with a comparator missing.
#include <assert.h>
#include <colt.h>

static void exchange(int *a, int i, int j) {
    int low = a[i] < a[j] ? a[i] : a[j], high = a[i] < a[j] ? a[j] : a[i];
    a[i] = low;
    a[j] = high;
}

static const int pairs[][2] = {{0, 1}, {2, 3}, {4, 5}, {0, 2}, {3, 5}, {1, 4}, {0, 1}, {2, 3}, {4, 5}, {1, 2}, {3, 4}, {2, 3}};

int main(void) {
    int a[6], b[6], sum = 0;
    colt_input(a, sizeof a, "a");
    for (int i = 0; i < 6; i++) {
        if (a[i] < -1000 || a[i] > 1000)
            return 0;
        b[i] = a[i];
        sum += a[i];
    }
    for (int i = 0; i < 12; i++)
        exchange(a, pairs[i][0], pairs[i][1]);
    for (int i = 0; i + 1 < 12; i++)
        exchange(b, pairs[i][0], pairs[i][1]);
    for (int i = 0; i < 5; i++)
        assert(a[i] <= a[i + 1]);
    if (sum == 77 && a[5] - a[0] == 55)
        assert(a[2] != a[3]);
    for (int i = 0; i < 5; i++)
        assert(b[i] <= b[i + 1]);
    return 0;
}
