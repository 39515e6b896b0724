// Sendmail: an index is not set back after a return, so that lines add up.
#include <string.h>
#include <colt.h>
#define MAXLINE 40
int main(void) {
    char *text = colt_string("text"), line[MAXLINE];
    int at = 0;
    for (const char *p = text; *p; p++) {
        if (*p == '\n') {
            line[at] = 0;
#ifdef FIXED
            at = 0;
#endif
            continue;
        }
#ifdef FIXED
        if (at < MAXLINE - 1)
#else
        if (p - text < MAXLINE - 1 || at < MAXLINE)
#endif
            line[at++] = *p;
    }
    line[at] = 0;
    return 0;
}
