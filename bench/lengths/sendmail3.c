// Sendmail: decoded lines are collected, and where one ends with a return its place is not set back: lines add up.
#include <string.h>
#include <colt.h>

#define MAXLINE 80
#define MAXHEADERS 8

struct message {
    char headers[MAXHEADERS][MAXLINE];
    int n_headers;
    long n_body;
    int is_eight_bit;
};

static struct message message;

static void keep_line(struct message *to, const char *line) {
    if (to->n_headers < MAXHEADERS) {
        strncpy(to->headers[to->n_headers], line, MAXLINE - 1);
        to->n_headers++;
    }
    to->n_body += (long)strlen(line);
}

static int is_eight_bit(int c) { return (c & 0x80) != 0; }

/* Cuts a text into lines and gives each of them to the message. */
static void collect(const char *text, struct message *to) {
    char line[MAXLINE];
    int at = 0, n_lines = 0;
    for (const char *p = text; *p != '\0'; p++) {
        if (*p == '\n') {
            line[at] = '\0';
            keep_line(to, line);
            at = 0;
            n_lines++;
            continue;
        }
        if (*p == '\r') {
            line[at] = '\0';
            keep_line(to, line);
            n_lines++;
#ifdef FIXED
            at = 0;
#else
            at += 1;
#endif
            continue;
        }
        if (is_eight_bit(*p))
            to->is_eight_bit = 1;
        if (at < MAXLINE - 2)
            line[at++] = *p;
    }
    line[at] = '\0';
    keep_line(to, line);
}

int main(void) {
    char *text = colt_string("text");
    if (strlen(text) > 1000)
        return 1;
    collect(text, &message);
    return message.is_eight_bit;
}
