// Sendmail: an address is rewritten, and a closing bracket takes room that was not kept for it: many <> in a row overflow.
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <colt.h>

#define MAXNAME 256

struct parsed {
    char text[MAXNAME + 1];
    int n_groups;
    int in_comment;
};

static struct parsed parsed;

/* The part of a header line that is the address, with comments and quoted text kept as far as there is room. */
static char *crackaddr(const char *addr, struct parsed *to) {
    int cmtlev = 0, anglelev = 0, copylev = 0, qmode = 0;
    char c;
    const char *p;
    char *bp = to->text, *buflim = to->text + sizeof to->text - 7;
    while (*addr != '\0' && isspace((unsigned char)*addr))
        addr++;
    for (p = addr; (c = *p++) != '\0';) {
        int skipping = bp >= buflim;
        /* Backslash: the next one stands for itself. */
        if (c == '\\') {
            if (cmtlev <= 0 && !skipping)
                *bp++ = c;
            if ((c = *p++) == '\0')
                break;
            if (!skipping)
                *bp++ = c;
            continue;
        }
        if (c == '"' && cmtlev <= 0) {
            qmode = !qmode;
            if (copylev > 0 && !skipping)
                *bp++ = c;
            continue;
        }
        if (qmode) {
            if (!skipping)
                *bp++ = c;
            continue;
        }
        if (c == '(') {
            cmtlev++;
            if (!skipping) {
                buflim--;
                if (copylev++ <= 0)
                    *bp++ = c;
            }
            continue;
        }
        if (c == ')') {
            if (cmtlev > 0) {
                cmtlev--;
                if (!skipping)
                    buflim++;
                copylev--;
            }
            if (!skipping)
                *bp++ = c;
            continue;
        }
        if (c == '<') {
            anglelev++;
            if (!skipping) {
                buflim--;
                *bp++ = c;
            }
            to->n_groups++;
            continue;
        }
        if (c == '>') {
            if (anglelev > 0) {
                anglelev--;
#ifdef FIXED
                if (!skipping)
#endif
                {
                    buflim++;
                    *bp++ = c;
                }
            } else if (!skipping)
                *bp++ = c;
            continue;
        }
        if (!skipping)
            *bp++ = c;
    }
    to->in_comment = cmtlev > 0;
    *bp = '\0';
    return to->text;
}

int main(void) {
    char *line = colt_string("line");
    if (strlen(line) > 2000)
        return 1;
    char *got = crackaddr(line, &parsed);
    return *got == '@';
}
