// Six queens, each in a column of its own.
#include <assert.h>
#include <colt.h>
#include <stdlib.h>

#define N 6

int main(void) {
    int row[N];
    for (int i = 0; i < N; i++) {
        row[i] = colt_int("row");
        if (row[i] < 0 || row[i] >= N)
            return 0;
    }
    for (int i = 0; i < N; i++)
        for (int j = i + 1; j < N; j++) {
            if (row[i] == row[j])
                return 0;
            if (row[i] - row[j] == j - i || row[j] - row[i] == j - i)
                return 0;
        }
    assert(row[0] != 3);
    return 0;
}
