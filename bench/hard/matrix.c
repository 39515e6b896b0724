// The square and the determinant of a matrix.
#include <assert.h>
#include <colt.h>

int main(void) {
    int a[4];
    colt_input(a, sizeof a, "a");
    for (int i = 0; i < 4; i++)
        if (a[i] < -50 || a[i] > 50)
            return 0;
    int s[4] = {a[0] * a[0] + a[1] * a[2], a[0] * a[1] + a[1] * a[3], a[2] * a[0] + a[3] * a[2], a[2] * a[1] + a[3] * a[3]};
    int det = a[0] * a[3] - a[1] * a[2];
    if (s[0] == 7 && s[1] == 10)
        assert(!(s[2] == 15 && s[3] == 22));
    if (det == 1 && a[0] + a[3] == 3)
        assert(a[1] <= 10);
    if (det == 5 && s[0] == s[3] && s[1] == 0)
        assert(a[0] == 0);
    return 0;
}
