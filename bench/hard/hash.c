// Hashes of short texts that are to have given values.
#include <assert.h>
#include <colt.h>
#include <stdint.h>

int main(void) {
    char s[7];
    colt_input(s, sizeof s, "s");
    for (int i = 0; i < 6; i++)
        if (s[i] < 'a' || s[i] > 'z')
            return 0;
    if (s[6])
        return 0;
    uint32_t djb = 5381, fnv = 2166136261u, sum = 0;
    for (int i = 0; i < 6; i++) {
        djb = djb * 33 + (uint8_t)s[i];
        fnv = (fnv ^ (uint8_t)s[i]) * 16777619u;
        sum = (sum << 4) + (uint8_t)s[i];
        sum ^= (sum & 0xf0000000u) >> 24;
    }
    if (djb % 1009 == 17)
        assert(fnv % 64 != 3);
    if (sum % 211 == 5)
        assert(s[0] != 'k');
    if (djb == 0xfd1a81f0u)
        assert(0);
    return 0;
}
