// Harness of `make real` for cJSON: parse, copy, compare, print in both ways, parse again, take the blanks out.
#include "cJSON.h"
#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    cJSON *tree = cJSON_ParseWithLength((const char *)data, size);
    if (!tree)
        return 0;
    cJSON *copy = cJSON_Duplicate(tree, 1);
    cJSON_Compare(tree, copy, 0);
    cJSON_Delete(copy);
    char *text = cJSON_PrintUnformatted(tree);
    if (text)
        cJSON_Delete(cJSON_Parse(text));
    cJSON_free(text);
    char *lines = cJSON_Print(tree);
    if (lines)
        cJSON_Minify(lines);
    cJSON_free(lines);
    cJSON_Delete(tree);
    return 0;
}
