// WU-FTPD: whether there is room for a slash is asked the wrong way round (figure 4.2).
#include <string.h>
#include <colt.h>
#define MAXPATHLEN 1024
static char *realpath_of(char *resolved, const char *wbuf) {
    int rootd = resolved[0] == '/' && resolved[1] == '\0';
#ifdef FIXED
    if (strlen(resolved) + strlen(wbuf) + !rootd + 1 > MAXPATHLEN)
#else
    if (strlen(resolved) + strlen(wbuf) + rootd + 1 > MAXPATHLEN)
#endif
        return 0;
    if (rootd == 0)
        strcat(resolved, "/");
    strcat(resolved, wbuf);
    return resolved;
}
int main(void) {
    char resolved[MAXPATHLEN];
    colt_string_in(resolved, sizeof resolved, "resolved");
    char *name = colt_string("name");
    if (strlen(name) > 255)
        return 1;
    return realpath_of(resolved, name) == 0;
}
