// 20 million rounds of integer mixing over a 4 KiB table, one symbolic byte at the end: the speed of concrete code.
//@ also: --compile=false
#include <colt.h>
#include <stdint.h>

static uint32_t table[1024];

int main(void) {
    uint32_t h = 2166136261u;
    for (uint32_t i = 0; i < 20000000; i++) {
        h = (h ^ i) * 16777619u;
        table[i & 1023] += h;
        h ^= table[(i * 7) & 1023] >> 3;
    }
    unsigned char c = colt_uint8("c");
    if (c == (h & 0xff))
        return 1;
    return 0;
}
