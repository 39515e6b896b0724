// Sendmail: what is left of a buffer is computed without looking whether anything is.
#include <string.h>
#include <colt.h>
int main(void) {
    char *host = colt_string("host"), *user = colt_string("user"), buf[256];
    size_t n = strlen(host);
    if (n > 300)
        return 1;
#ifdef FIXED
    if (n + 2 > sizeof buf)
        return 2;
#endif
    memset(buf, 0, sizeof buf);
    unsigned left = (unsigned)(sizeof buf - n - 2);
    if (strlen(user) < left) {
        strcpy(buf, user);
        strcat(buf, "@");
        strcat(buf, host);
    }
    return 0;
}
