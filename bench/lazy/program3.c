// A variant of figure 1: either string may match first, and both lengths are alike.
#include <colt.h>

static int compare(const char *a, const char *b) {
    while (*a != '\0' && *b != '\0' && *a == *b) {
        a++;
        b++;
    }
    return *a - *b;
}

int testme(void) {
    char s1[32], s2[32];
    colt_input(s1, sizeof s1, "s1");
    colt_input(s2, sizeof s2, "s2");
    int first = compare(s1, "Hello, World!");
    int second = compare(s2, "Hello ESEC/FSE");
    if (first == 0)
        return second == 0 ? 2 : 1;
    if (second == 0)
        return -1;
    return 0;
}
