// 512 paths, each with 2 million rounds of concrete mixing: the machine is what takes the time.
#include <colt.h>
#include <stdint.h>

int main(void) {
    uint8_t bits[9];
    colt_input(bits, sizeof bits, "bits");
    uint32_t hash = 2166136261u;
    for (int i = 0; i < 9; i++)
        hash = (hash ^ (bits[i] < 100 ? 1 : 2)) * 16777619u;
    for (int round = 0; round < 2000000; round++) {
        hash *= 16777619u;
        hash ^= hash >> 15;
    }
    return hash == 0;
}
