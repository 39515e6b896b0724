// A guard in front of N independent fields.
#include <colt.h>
#include <stdint.h>

#ifndef N
#define N 16
#endif

struct packet {
    uint8_t version, protocol;
    uint16_t length;
    uint8_t field[N];
};

static int is_udp(const struct packet *p) {
    if (p->version != 4)
        return 0;
    if (p->protocol != 17)
        return 0;
    if (p->length < 8)
        return 0;
    return 1;
}

int main(void) {
    static int seen[N];
    struct packet p;
    colt_input(&p, sizeof p, "p");
    if (!is_udp(&p))
        return 1;
    for (int i = 0; i < N; i++) {
        if (p.field[i] > 200)
            seen[i] = 1;
        else if (p.field[i] == 7)
            seen[i] = 2;
    }
    return 0;
}
