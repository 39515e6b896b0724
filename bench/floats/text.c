// A number read from text, digit by digit, and compared.
#include <assert.h>
#include <colt.h>

int main(void) {
    char s[6];
    colt_input(s, sizeof s, "s");
    double value = 0, scale = 1;
    int i = 0, behind = 0;
    for (; i < 6 && s[i]; i++) {
        if (s[i] == '.' && !behind) {
            behind = 1;
            continue;
        }
        if (s[i] < '0' || s[i] > '9')
            return 0;
        value = value * 10 + (s[i] - '0');
        if (behind)
            scale *= 10;
    }
    double x = value / scale;
    if (x == 3.14)
        return 1;
    if (x > 99.9 && x < 100)
        return 2;
    if (x * 2 == 1.5)
        return 3;
    if (x * 3 == 1)
        assert(0);
    return 4;
}
