// N inputs of one name on one path.
//@ search: dfs
#include <colt.h>

int main(void) {
    unsigned sum = 0;
    for (int i = 0; i < N; i++)
        sum += colt_uchar("x");
    return sum == 3;
}
