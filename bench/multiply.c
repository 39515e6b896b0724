// A product of two symbolic 32-bit factors compared with a constant: factoring.
#include <colt.h>
#include <stdint.h>

int main(void) {
    uint64_t a = colt_uint32("a"), b = colt_uint32("b");
    colt_assume(a > 1 && b > 1);
    if (a * b == 3215031751ull)
        return 1;
    return 0;
}
