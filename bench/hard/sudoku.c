// A sudoku of nine by nine with eleven empty fields.
#include <assert.h>
#include <colt.h>
#include <stdlib.h>

static int grid[9][9] = {
    {5, 3, 4, 6, 7, 8, 9, 1, 2}, {6, 0, 2, 1, 9, 5, 3, 4, 8}, {1, 9, 0, 3, 4, 2, 5, 6, 7},
    {8, 5, 9, 0, 6, 1, 4, 2, 3}, {4, 2, 6, 8, 0, 3, 7, 9, 1}, {7, 1, 3, 9, 2, 0, 8, 5, 6},
    {9, 6, 1, 5, 3, 7, 0, 8, 4}, {2, 8, 0, 4, 1, 0, 6, 0, 5}, {3, 4, 0, 2, 8, 6, 1, 0, 0},
};

static void different(int a, int b) {
    if (a == b)
        abort();
}

int main(void) {
    for (int i = 0; i < 9; i++)
        for (int j = 0; j < 9; j++)
            if (grid[i][j] == 0) {
                grid[i][j] = colt_int("field");
                if (grid[i][j] < 1 || grid[i][j] > 9)
                    abort();
            }
    for (int i = 0; i < 9; i++)
        for (int j = 0; j < 9; j++)
            for (int k = j + 1; k < 9; k++) {
                different(grid[i][j], grid[i][k]);
                different(grid[j][i], grid[k][i]);
                different(grid[i / 3 * 3 + j / 3][i % 3 * 3 + j % 3], grid[i / 3 * 3 + k / 3][i % 3 * 3 + k % 3]);
            }
    assert(grid[8][8] != 9);
    return 0;
}
