// Harness of `make real` for inih: a text is parsed, from memory and as a file, and every entry looked at.
#include "ini.h"
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

// An entry without a value is one that the program does not want.
static int entry(void *user, const char *section, const char *name, const char *value) {
    *(size_t *)user += strlen(section) + strlen(name);
    return value && *value;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char text[64];
    size_t total = 0;
    if (size >= sizeof text)
        return 0;
    memcpy(text, data, size);
    text[size] = 0;
    ini_parse_string(text, entry, &total);
    FILE *file = size > 0 ? fmemopen(text, size, "r") : NULL;
    if (!file)
        return 0;
    ini_parse_file(file, entry, &total);
    fclose(file);
    return 0;
}
