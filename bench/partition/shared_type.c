// A type byte in front of N independent fields.
#include <colt.h>
#include <stdint.h>

#ifndef N
#define N 32
#endif

struct message {
    uint8_t type;
    uint8_t field[N];
};

int main(void) {
    static int seen[N];
    struct message m;
    colt_input(&m, sizeof m, "m");
    switch (m.type) {
    case 1:
        for (int i = 0; i < N; i++)
            if (m.field[i] > 200)
                seen[i] = 1;
        break;
    case 2:
        for (int i = 0; i < N; i++)
            if (m.field[i] == 7)
                seen[i] = 2;
        break;
    default:
        return 1;
    }
    return 0;
}
