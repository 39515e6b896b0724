// Products and remainders of 32 and 64 bits.
#include <assert.h>
#include <colt.h>
#include <stdint.h>

int main(void) {
    uint64_t a = colt_uint32("a"), b = colt_uint32("b");
    uint32_t c = colt_uint32("c");
    if (a > 1 && b >= a && a * b == 998001ull * 1009)
        assert(a != 1009);
    if (a > 1 && b > 1 && a < 65536 && a * b == 2147117569ull)
        return 1;
    if (a > 100 && b > 100 && a * b % 1000003 == 1)
        return 2;
    if ((uint32_t)(c * c) == 0x5f3759d9u)
        return 3;
    if (c * 2654435761u == 0xdeadbeefu)
        assert(0);
    if (c > 1000 && 0xffffffffu % c == 17)
        assert(c < 100000);
    return 0;
}
