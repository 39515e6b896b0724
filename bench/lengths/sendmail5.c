// Sendmail: a path of nothing but slashes is checked one short.
#include <string.h>
#include <colt.h>
int main(void) {
    char *path = colt_string("path"), dir[256];
    const char *p = path;
    char *to = dir;
    while (*p == '/'
#ifdef FIXED
           && to < dir + sizeof dir - 1
#endif
    ) {
        *to++ = *p++;
    }
#ifdef FIXED
    *to = 0;
    if (p - path > 255)
        return 1;
#else
    *to = 0;
#endif
    return 0;
}
