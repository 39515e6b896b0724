// Bit tricks: counting, reversing, spreading.
#include <assert.h>
#include <colt.h>
#include <stdint.h>

static uint32_t count(uint32_t x) {
    x = x - (x >> 1 & 0x55555555u);
    x = (x & 0x33333333u) + (x >> 2 & 0x33333333u);
    x = x + (x >> 4) & 0x0f0f0f0fu;
    return x * 0x01010101u >> 24;
}

static uint32_t reverse(uint32_t x) {
    x = (x >> 1 & 0x55555555u) | (x & 0x55555555u) << 1;
    x = (x >> 2 & 0x33333333u) | (x & 0x33333333u) << 2;
    x = (x >> 4 & 0x0f0f0f0fu) | (x & 0x0f0f0f0fu) << 4;
    x = (x >> 8 & 0x00ff00ffu) | (x & 0x00ff00ffu) << 8;
    return x >> 16 | x << 16;
}

int main(void) {
    uint32_t x = colt_uint32("x"), y = colt_uint32("y");
    if (count(x) == 16 && reverse(x) == x)
        assert(x % 1001 != 7);
    if (count(x ^ y) == 1 && (x & y) == 0x00ff00ffu)
        assert((x & -x) == 1);
    if (count(x) + count(y) != count(x | y) + count(x & y))
        assert(0);
    if (x && y && (x & x - 1) == 0 && (y & y - 1) == 0 && x * y == 0 && x != y)
        assert(x + y != 0x80010000u);
    return 0;
}
