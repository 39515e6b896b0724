// Sendmail: how much strncpy copies of a TXT record is what the record says. All 100 bytes are symbols.
#include <stdlib.h>
#include <string.h>
#include <colt.h>

#define MAXTXT 60
#define T_TXT 16
#define T_A 1

struct reply {
    unsigned type, class;
    unsigned short size;
    char *text;
};

static unsigned get_short(const unsigned char *p) { return (unsigned)p[0] << 8 | p[1]; }

static void free_reply(struct reply *reply) {
    free(reply->text);
    reply->text = NULL;
}

static int parse_text(const unsigned char *p, const unsigned char *end, struct reply *reply) {
    reply->text = malloc(MAXTXT);
    if (!reply->text)
        return -1;
#ifdef FIXED
    if (reply->size >= MAXTXT || p + reply->size > end)
        return -1;
#else
    if (p + 1 > end)
        return -1;
#endif
    strncpy(reply->text, (const char *)p, reply->size);
    return 0;
}

static int parse_reply(const unsigned char *data, int n_data, struct reply *reply) {
    const unsigned char *p = data, *end = data + n_data;
    if (p + 12 > end || get_short(p + 4) != 1)
        return -1;
    p += 12;
    reply->type = get_short(p);
    reply->class = get_short(p + 2);
    reply->size = (unsigned short)get_short(p + 8);
    p += 10;
    if (reply->class != 1)
        return -1;
    switch (reply->type) {
    case T_TXT:
        return parse_text(p, end, reply);
    case T_A:
        if (reply->size != 4)
            return -1;
        return 0;
    default:
        return -1;
    }
}

int main(void) {
    unsigned char data[100];
    struct reply reply = {0};
    colt_input(data, sizeof data, "data");
    data[99] = 0;
    int result = parse_reply(data, sizeof data, &reply);
    free_reply(&reply);
    return result < 0;
}
