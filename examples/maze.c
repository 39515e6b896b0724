// A maze that is not supposed to have a way out. Which moves lead there all the same?
#include <colt.h>

enum { WIDTH = 9, HEIGHT = 5, MOVES = 13 };

static const char maze[HEIGHT][WIDTH + 1] = {
    "#########",
    "#  #   ##",
    "## # # ##",
    "##   # #X",
    "#########",
};

int main(void) {
    char moves[MOVES];
    colt_input(moves, sizeof moves, "moves");
    int x = 1, y = 1;
    for (int step = 0; step < MOVES; step++) {
        int next_x = x, next_y = y;
        switch (moves[step]) {
        case 'u': next_y--; break;
        case 'd': next_y++; break;
        case 'l': next_x--; break;
        case 'r': next_x++; break;
        default: return 1;
        }
        if (maze[next_y][next_x] == '#' && !(next_y == 3 && next_x == 7))
            return 1;
        x = next_x;
        y = next_y;
        colt_assert(maze[y][x] != 'X');
    }
    return 0;
}
