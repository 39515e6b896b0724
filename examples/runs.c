// A run-length decoder written for a fuzzer: pairs of a count and a byte. One check is missing.
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

enum { CAPACITY = 16 };

static size_t decode(const uint8_t *data, size_t size, uint8_t *out) {
    size_t used = 0;
    for (size_t i = 0; i + 1 < size; i += 2) {
        uint8_t count = data[i];
        if (count > CAPACITY)
            return 0;
        for (uint8_t n = 0; n < count; n++)
            out[used++] = data[i + 1];
    }
    return used;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    uint8_t *out = malloc(CAPACITY);
    if (out == NULL)
        return 0;
    decode(data, size, out);
    free(out);
    return 0;
}
