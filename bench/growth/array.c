// 1,024 paths that wait at the same time, with writes of their own into an array of N bytes.
//@ search: bfs
#include <colt.h>

static unsigned char a[N];

int main(void) {
    for (int i = 1; i <= 10; i++)
        if (colt_uchar("x") == 'q')
            a[(i * 37 + 5) % N] = 1;
        else
            a[(i * 41 + 7) % N] = 2;
    return a[N / 2];
}
