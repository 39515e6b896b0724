// One lookup in a 64 KiB table by a symbolic index.
#include <colt.h>
#include <stdint.h>

static uint8_t table[65536];

int main(void) {
    uint32_t h = 1;
    for (int i = 0; i < 65536; i++) {
        h = h * 1664525u + 1013904223u;
        table[i] = h >> 24;
    }
    uint16_t index = colt_uint16("index");
    if (table[index] == 0x5a)
        return 1;
    return 0;
}
