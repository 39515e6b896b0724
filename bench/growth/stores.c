// A hundred writes at symbolic places of an array of N bytes, each read again at another.
//@ search: dfs
#include <colt.h>

static unsigned char a[N];

int main(void) {
    unsigned sum = 0;
    for (int i = 0; i < 100; i++) {
        unsigned at = colt_uint("at") % N;
        a[at] = i;
        sum += a[(at + 1) % N] == 7;
    }
    return sum == 1000;
}
