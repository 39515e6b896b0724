// Two comparisons of symbolic strings with constant ones: 24 times 30 paths.
#include <colt.h>

static int compare(const char *a, const char *b) {
    while (*a != '\0' && *b != '\0' && *a == *b) {
        a++;
        b++;
    }
    return *a - *b;
}

int main(void) {
    char s1[13], s2[16];
    colt_input(s1, sizeof s1, "s1");
    colt_input(s2, sizeof s2, "s2");
    int first = compare(s1, "Hello World");
    int second = compare(s2, "Hello ESEC/FSE");
    return first == 0 && second == 0;
}
