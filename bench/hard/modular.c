// Equations of remainders: powers, inverses, the Chinese rest.
#include <assert.h>
#include <colt.h>
#include <stdint.h>

int main(void) {
    uint32_t x = colt_uint32("x"), y = colt_uint32("y");
    if (x >= 10007 || y >= 10007)
        return 0;
    if (x * y % 10007 == 1)
        assert(x != 1234);
    if (x * x % 10007 * x % 10007 == 5)
        assert(y % 2);
    if (x % 7 == 3 && x % 11 == 4 && x % 13 == 5)
        assert(y != x + 1);
    if ((3 * x + 5 * y) % 101 == 7 && (x + 2 * y) % 103 == 9)
        assert(x < 9000);
    return 0;
}
