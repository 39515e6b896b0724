// Two searches in one buffer.
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

int top(const char *input) {
    int a = locate(input, 'a');
    int b = locate(input, 'b');
    if (a == -1)
        return -1;
    if (b == -1)
        return -2;
    if (input[a + 1] != ':')
        return 1;
    if (input[b + 1] != ':')
        return 2;
    return 0;
}

int main(void) {
    char input[N];
    colt_input(input, N, "input");
    input[N - 1] = 0;
    return top(input);
}
