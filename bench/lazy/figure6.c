// The skipped call would have changed a global: the label behind the first branch is never reached.
#include <colt.h>

int global;

static int foo(int u) {
    global = 1;
    if (u == 0)
        return 0;
    return 1;
}

int main(void) {
    global = 0;
    int y;
    colt_input(&y, sizeof y, "y");
    int x = foo(y);
    if (global == 0 && x == 0)
        return 1;
    return 0;
}
