// Harness of `make real` for cJSON: parse, print, parse again.
#include "cJSON.h"
#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    cJSON *tree = cJSON_ParseWithLength((const char *)data, size);
    if (!tree)
        return 0;
    char *text = cJSON_PrintUnformatted(tree);
    if (text)
        cJSON_Delete(cJSON_Parse(text));
    cJSON_free(text);
    cJSON_Delete(tree);
    return 0;
}
