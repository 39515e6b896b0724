// A path of N decisions on fresh inputs, and one more path beside each of them.
//@ search: dfs
#include <colt.h>

int main(void) {
    for (int i = 0; i < N; i++)
        if (colt_uchar("x") == 'q')
            return 1;
    return 0;
}
