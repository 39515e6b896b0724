// N paths that all wait at the same time.
//@ search: bfs
#include <colt.h>

int main(void) {
    unsigned a = 0;
    for (unsigned n = 1; n < N; n *= 2) {
        a *= 2;
        if (colt_uchar("x") == 'q')
            a++;
    }
    return a & 1;
}
