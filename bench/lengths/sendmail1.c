// Sendmail: a counter of what is left is not decreased for a character that is kept twice over: <> in a row.
#include <string.h>
#include <colt.h>
#define MAXNAME 50
int main(void) {
    char *addr = colt_string("addr"), buf[MAXNAME + 1];
    char *out = buf, *limit = buf + MAXNAME - 4;
    int depth = 0;
    for (const char *p = addr; *p; p++) {
        if (*p == '<') {
            depth++;
            if (depth == 1 && out < limit)
                *out++ = *p;
        } else if (*p == '>') {
            if (depth > 0) {
                depth--;
#ifdef FIXED
                if (out < limit)
#endif
                    *out++ = *p;
            }
        } else if (out < limit)
            *out++ = *p;
    }
    *out = 0;
    return 0;
}
