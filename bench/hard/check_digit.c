// Numbers with check digits as text: a card number by Luhn, a book number, a bank account modulo 97.
#include <assert.h>
#include <colt.h>
#include <string.h>

static int luhn(const char *s, int n) {
    int sum = 0;
    for (int i = 0; i < n; i++) {
        int d = s[i] - '0';
        if ((n - i) % 2 == 0) {
            d *= 2;
            if (d > 9)
                d -= 9;
        }
        sum += d;
    }
    return sum % 10 == 0;
}

static int isbn(const char *s) {
    int sum = 0;
    for (int i = 0; i < 10; i++)
        sum += (10 - i) * (i == 9 && s[i] == 'X' ? 10 : s[i] - '0');
    return sum % 11 == 0;
}

static int mod97(const char *s, int n) {
    unsigned rest = 0;
    for (int i = 0; i < n; i++)
        rest = (rest * 10 + (unsigned)(s[i] - '0')) % 97;
    return rest == 1;
}

int main(void) {
    char s[11];
    colt_input(s, sizeof s, "s");
    for (int i = 0; i < 9; i++)
        if (s[i] < '0' || s[i] > '9')
            return 1;
    if ((s[9] < '0' || s[9] > '9') && s[9] != 'X')
        return 1;
    if (!isbn(s))
        return 2;
    if (s[9] == 'X')
        return 3;
    if (!luhn(s, 10))
        return 4;
    if (!mod97(s, 10))
        return 5;
    assert(s[0] != '7');
    return 0;
}
