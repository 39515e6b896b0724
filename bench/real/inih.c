// Harness of `make real` for inih: a text is parsed and every entry looked at.
#include "ini.h"
#include <stddef.h>
#include <stdint.h>
#include <string.h>

static int entry(void *user, const char *section, const char *name, const char *value) {
    *(size_t *)user += strlen(section) + strlen(name) + (value ? strlen(value) : 0);
    return 1;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char text[64];
    size_t total = 0;
    if (size >= sizeof text)
        return 0;
    memcpy(text, data, size);
    text[size] = 0;
    ini_parse_string(text, entry, &total);
    return 0;
}
