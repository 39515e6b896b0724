// Sendmail: the size is not looked at when a return is read.
#include <string.h>
#include <colt.h>
int main(void) {
    char *text = colt_string("text"), buf[32];
    size_t n = 0;
    for (const char *p = text; *p; p++) {
        if (*p == '\r') {
#ifdef FIXED
            if (n < sizeof buf - 1)
#endif
                buf[n++] = '\n';
        } else if (n < sizeof buf - 1)
            buf[n++] = *p;
    }
    buf[n] = 0;
    return 0;
}
