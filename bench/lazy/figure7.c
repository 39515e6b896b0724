// The first 'a' of a buffer, and what follows it.
#include <colt.h>
#ifndef N
#define N 16
#endif

static int locate(const char *s, int c) {
    int i = 0;
    while (s[i] != c) {
        if (s[i] == 0)
            return -1;
        i++;
    }
    return i;
}

int top(const char *input) {
    int z = locate(input, 'a');
    if (z == -1)
        return -1;
    if (input[z + 1] != ':')
        return 1;
    return 0;
}

int main(void) {
    static char buffer[N];
    colt_input(buffer, N, "buffer");
    buffer[N - 1] = 0;
    return top(buffer);
}
