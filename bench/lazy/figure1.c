// Two strings against two constants: 720 paths through the comparisons, 3 through what is tested.
#include <colt.h>
#include <stdio.h>

static int compare(const char *a, const char *b) {
    while (*a != '\0' && *b != '\0' && *a == *b) {
        a++;
        b++;
    }
    return *a - *b;
}

void testme(void) {
    char s1[32], s2[32];
    colt_input(s1, sizeof s1, "s1");
    colt_input(s2, sizeof s2, "s2");
    int first = compare(s1, "Hello World");
    int second = compare(s2, "Hello ESEC/FSE");
    if (first == 0) {
        if (second == 0)
            printf("Success");
    }
}
