// Sendmail: quoted text is decoded, and where a line ends softly the size is not looked at.
#include <ctype.h>
#include <string.h>
#include <colt.h>

#define MAXBUF 100

struct body {
    char text[MAXBUF];
    int n_text, n_soft;
};

static struct body body;

static int hex_value(int c) {
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return -1;
}

/* =XX is a byte, = at the end of a line joins it with the next. */
static int decode(const char *from, char *to, int size) {
    int n = 0, c;
    while ((c = (unsigned char)*from++) != '\0') {
        if (c == '=') {
            int high, low;
            if (*from == '\n') {
                from++;
                body.n_soft++;
                continue;
            }
            high = hex_value((unsigned char)*from);
            if (high < 0)
                continue;
            from++;
            low = hex_value((unsigned char)*from);
            if (low < 0)
                continue;
            from++;
            if (n < size - 1)
                to[n++] = (char)(high << 4 | low);
            continue;
        }
        if (c == '\r') {
#ifdef FIXED
            if (n < size - 1)
#endif
                to[n++] = '\n';
            continue;
        }
        if (n >= size - 1)
            continue;
        to[n++] = (char)c;
    }
    to[n] = '\0';
    return n;
}

int main(void) {
    char *text = colt_string("text");
    if (text[0] == '\0' || strlen(text) > 1500)
        return 1;
    body.n_text = decode(text, body.text, sizeof body.text);
    return body.n_text == MAXBUF - 1;
}
