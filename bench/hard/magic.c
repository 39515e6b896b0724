// A magic square of three by three.
#include <assert.h>
#include <colt.h>
#include <stdlib.h>

int main(void) {
    int m[9];
    colt_input(m, sizeof m, "m");
    for (int i = 0; i < 9; i++)
        if (m[i] < 1 || m[i] > 9)
            abort();
    for (int i = 0; i < 9; i++)
        for (int j = i + 1; j < 9; j++)
            if (m[i] == m[j])
                abort();
    static const int lines[8][3] = {{0, 1, 2}, {3, 4, 5}, {6, 7, 8}, {0, 3, 6}, {1, 4, 7}, {2, 5, 8}, {0, 4, 8}, {2, 4, 6}};
    for (int i = 0; i < 8; i++)
        if (m[lines[i][0]] + m[lines[i][1]] + m[lines[i][2]] != 15)
            abort();
    assert(m[0] != 8);
    return 0;
}
