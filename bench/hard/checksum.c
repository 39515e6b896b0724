// Adler-32 and Fletcher-16 of a packet whose header names them.
#include <assert.h>
#include <colt.h>
#include <stdint.h>

int main(void) {
    uint8_t p[10];
    colt_input(p, sizeof p, "p");
    if (p[0] != 0x7e || p[1] > 4)
        return 1;
    uint32_t a = 1, b = 0;
    uint16_t c = 0, d = 0;
    for (int i = 2; i < 8; i++) {
        a = (a + p[i]) % 65521;
        b = (b + a) % 65521;
        c = (uint16_t)((c + p[i]) % 255);
        d = (uint16_t)((d + c) % 255);
    }
    if (p[1] == 1 && ((b << 16 | a) & 0xffff) != (uint32_t)(p[8] << 8 | p[9]))
        return 2;
    if (p[1] == 2 && (c != p[8] || d != p[9]))
        return 3;
    if (p[1] == 3 && ((c ^ d) & 0xff) != (p[8] ^ p[9]))
        return 4;
    if (p[1] == 2)
        assert(!(d == 200 && c == 100));
    if (p[1] == 1)
        assert(b != 4321);
    return 0;
}
