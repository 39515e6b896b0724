// SEND + MORE = MONEY: eight different digits.
#include <assert.h>
#include <colt.h>
#include <stdlib.h>

int main(void) {
    int d[8];
    colt_input(d, sizeof d, "d");
    for (int i = 0; i < 8; i++)
        if (!(d[i] >= 0 && d[i] <= 9))
            return 0;
    for (int i = 0; i < 8; i++)
        for (int j = 0; j < i; j++)
            if (d[i] == d[j])
                return 0;
    int S = d[0], E = d[1], N = d[2], D = d[3], M = d[4], O = d[5], R = d[6], Y = d[7];
    if (S == 0 || M == 0)
        return 0;
    int send = S * 1000 + E * 100 + N * 10 + D;
    int more = M * 1000 + O * 100 + R * 10 + E;
    int money = M * 10000 + O * 1000 + N * 100 + E * 10 + Y;
    if (send + more == money)
        assert(Y != 2);
    return 0;
}
