// BIND: the size given to memcpy is a difference that may be negative (figures 4.6 and 4.7). All 100 bytes are symbols.
#include <string.h>
#include <sys/types.h>
#include <colt.h>

#define MAXDATA 512
#define MAXNAME 15
#define INT16SZ 2
#define INT32SZ 4
#define T_NXT 30
#define C_IN 1

#define GETSHORT(s, cp) do { \
        const u_char *t_cp = (const u_char *)(cp); \
        (s) = (short)(((unsigned)t_cp[0] << 8) | (unsigned)t_cp[1]); \
        (cp) += INT16SZ; \
    } while (0)

#define GETLONG(l, cp) do { \
        const u_char *t_cp = (const u_char *)(cp); \
        (l) = ((unsigned)t_cp[0] << 24) | ((unsigned)t_cp[1] << 16) | ((unsigned)t_cp[2] << 8) | (unsigned)t_cp[3]; \
        (cp) += INT32SZ; \
    } while (0)

struct record {
    short type, class;
    unsigned ttl;
    int size;
    u_char data[MAXDATA * 2];
};

static struct record last;

/* A name, its zero included; 0 if it is too long or does not end. */
static int skip_name(const u_char *cp, const u_char *eom) {
    int n = (int)strnlen((const char *)cp, (size_t)(eom - cp));
    if (n > MAXNAME || cp + n == eom)
        return 0;
    return n + 1;
}

static void keep(short type, short class, unsigned ttl, const u_char *data, int size) {
    last.type = type;
    last.class = class;
    last.ttl = ttl;
    last.size = size;
    if (size > 0 && size <= (int)sizeof last.data)
        memcpy(last.data, data, (size_t)size);
}

/* Takes a resource record apart; the bytes of it, or -1. */
static int rrextract(const u_char *msg, int msglen) {
    u_char data[MAXDATA * 2], *cp1 = data;
    const u_char *eom = msg + msglen, *cp = msg;
    short type, class, dlen;
    unsigned ttl;
    int n = skip_name(cp, eom);
    if (n == 0)
        return -1;
    cp += n;
    if (cp + 2 * INT16SZ + INT32SZ + INT16SZ > eom)
        return -1;
    GETSHORT(type, cp);
    GETSHORT(class, cp);
    GETLONG(ttl, cp);
    GETSHORT(dlen, cp);
    if (class != C_IN || dlen < 0 || cp + dlen > eom)
        return -1;
    switch (type) {
    case T_NXT:
        n = skip_name(cp, eom);
        if (n == 0)
            return -1;
        memcpy(cp1, cp, (size_t)n);
        cp += n;
        cp1 += n;
#ifdef FIXED
        if (dlen - n < 0)
            return -1;
#endif
        memcpy(cp1, cp, (size_t)(dlen - n));
        cp1 += dlen - n;
        cp += dlen - n;
        break;
    default:
        memcpy(cp1, cp, (size_t)dlen);
        cp1 += dlen;
        cp += dlen;
    }
    keep(type, class, ttl, data, (int)(cp1 - data));
    return (int)(cp - msg);
}

int main(void) {
    u_char msg[100];
    colt_input(msg, sizeof msg, "msg");
    return rrextract(msg, sizeof msg) < 0;
}
