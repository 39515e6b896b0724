// Two searches in two buffers.
#include <colt.h>
#define N 27

static int locate(const char *s, int c) {
    int i = 0;
    while (s[i] != c) {
        if (s[i] == 0)
            return -1;
        i++;
    }
    return i;
}

int top(const char *first, const char *second) {
    int a = locate(first, 'a');
    int b = locate(second, 'b');
    if (a == -1)
        return -1;
    if (b == -1)
        return -2;
    if (first[a + 1] != ':')
        return 1;
    if (second[b + 1] != ':')
        return 2;
    return 0;
}

int main(void) {
    char first[N], second[N];
    colt_input(first, N, "first");
    colt_input(second, N, "second");
    first[N - 1] = 0;
    second[N - 1] = 0;
    return top(first, second);
}
