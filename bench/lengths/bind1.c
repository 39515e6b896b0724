// BIND: the size given to memcpy is a difference that may be negative (figures 4.6 and 4.7).
#include <string.h>
#include <colt.h>
#define MAXDATA 512
#define T_NXT 30
static void rrextract(const unsigned char *msg, int msglen) {
    unsigned char data[MAXDATA * 2];
    const unsigned char *eom = msg + msglen, *cp = msg;
    int n = (int)strlen((const char *)cp);
    if (n > 15 || cp + n + 5 > eom)
        return;
    cp += n + 1;
    short dlen = (short)(cp[0] << 8 | cp[1]);
    short type = (short)(cp[2] << 8 | cp[3]);
    cp += 4;
    if (cp + dlen > eom || type != T_NXT || dlen < 0)
        return;
    const unsigned char *end = memchr(cp, 0, (size_t)(eom - cp));
    if (!end)
        return;
    n = (int)(end - cp);
    if (n > 15)
        return;
#ifdef FIXED
    if (dlen - n < 0)
        return;
#endif
    memcpy(data, cp, (size_t)(dlen - n));
}
int main(void) {
    unsigned char msg[100];
    colt_input(msg, sizeof msg, "msg");
    msg[99] = 0;
    rrextract(msg, sizeof msg);
    return 0;
}
