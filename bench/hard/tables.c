// Lookups chained through a table of 256 bytes, four rounds.
#include <assert.h>
#include <colt.h>
#include <stdint.h>

static uint8_t box[256];

int main(void) {
    for (int i = 0; i < 256; i++)
        box[i] = (uint8_t)(i * 167 + 13 ^ i * i * 29 >> 3);
    uint8_t k[4];
    colt_input(k, sizeof k, "k");
    uint8_t x = 0x3c, y = 0xa5;
    for (int round = 0; round < 4; round++) {
        x = box[x ^ k[round]];
        y = (uint8_t)(box[(uint8_t)(y + k[round])] + x);
    }
    if (x == 0x42)
        assert(y != 0x99);
    if (x == y && k[0] == k[3])
        assert(k[1] != k[2]);
    if (x == 1 && y == 2 && (k[0] ^ k[1]) == 0x55)
        assert(k[2] < 128);
    return 0;
}
