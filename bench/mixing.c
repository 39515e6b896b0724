// Mixing that no solver inverts: the question stays unanswered, is in the ledger, and the other paths are not harmed.
//@ flags: --solver-timeout 500ms
#include <colt.h>
#include <stdint.h>

int main(void) {
    uint64_t x = colt_uint64("x");
    unsigned char c = colt_uint8("c");
    uint64_t h = x;
    for (int round = 0; round < 24; round++) {
        h ^= h >> 29;
        h *= 0xbf58476d1ce4e5b9ull + 2 * (uint64_t)round;
        h = (h << 17 | h >> 47) + (x ^ (uint64_t)round * 0x9e3779b97f4a7c15ull);
    }
    if (h == 0x0123456789abcdefull)
        return 2;
    if (c > 100)
        return 1;
    return 0;
}
