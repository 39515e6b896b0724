// BIND: an inverse query's answer is copied with the size that the query says. All 100 bytes are symbols.
#include <string.h>
#include <sys/types.h>
#include <colt.h>

#define QFIXED 4
#define HFIXED 12
#define MAXANS 40
#define FORMERR 1
#define NOTIMP 4

struct header {
    unsigned short id, flags, n_queries, n_answers;
};

struct reply {
    struct header header;
    int code;
    char answer[MAXANS];
    int n_answer;
};

static struct reply reply;

static unsigned get16(const u_char *cp) { return (unsigned)cp[0] << 8 | cp[1]; }
static unsigned get32(const u_char *cp) { return get16(cp) << 16 | get16(cp + 2); }

static int expand_name(const u_char *cp, const u_char *eom, char *name, int size) {
    const u_char *start = cp;
    int used = 0;
    while (cp < eom && *cp) {
        int n = *cp++;
        if (n > 63 || cp + n > eom || used + n + 1 >= size)
            return -1;
        memcpy(name + used, cp, (size_t)n);
        used += n;
        name[used++] = '.';
        cp += n;
    }
    if (cp >= eom)
        return -1;
    name[used] = '\0';
    return (int)(cp + 1 - start);
}

static int read_header(const u_char *msg, const u_char *eom, struct header *header) {
    if (msg + HFIXED > eom)
        return -1;
    header->id = (unsigned short)get16(msg);
    header->flags = (unsigned short)get16(msg + 2);
    header->n_queries = (unsigned short)get16(msg + 4);
    header->n_answers = (unsigned short)get16(msg + 6);
    return 0;
}

static int inverse_query(const u_char *msg, int n_msg) {
    const u_char *cp = msg, *eom = msg + n_msg;
    char name[32], answer[MAXANS];
    if (read_header(msg, eom, &reply.header) < 0 || reply.header.n_answers != 1)
        return FORMERR;
    cp += HFIXED;
    int n = expand_name(cp, eom, name, sizeof name);
    if (n < 0)
        return FORMERR;
    cp += n;
    if (cp + QFIXED + 6 > eom)
        return FORMERR;
    unsigned type = get16(cp), class = get16(cp + 2), ttl = get32(cp + 4), size = get16(cp + 8);
    cp += QFIXED + 6;
    if (ttl == 0 || class != 1)
        return FORMERR;
    switch (type) {
    case 1:
#ifdef FIXED
        if (size > MAXANS || cp + size > eom)
            return FORMERR;
#else
        if (cp + size > eom)
            return FORMERR;
#endif
        memcpy(answer, cp, size);
        break;
    default:
        return NOTIMP;
    }
    memcpy(reply.answer, answer, size < MAXANS ? size : MAXANS);
    reply.n_answer = (int)size;
    return 0;
}

int main(void) {
    u_char msg[100];
    colt_input(msg, sizeof msg, "msg");
    reply.code = inverse_query(msg, sizeof msg);
    return reply.code;
}
