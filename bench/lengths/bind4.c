// BIND: a message is put together by sprintf without looking at its length.
#include <stdio.h>
#include <string.h>
#include <colt.h>

#define MAXCOMPLAINT 999
#define MAXARG 250

struct zone {
    const char *origin;
    unsigned long address;
};

struct complaint {
    char text[MAXCOMPLAINT];
    int level;
};

static struct complaint said[2];
static int n_said;

static const char *dotted(unsigned long address) {
    static char text[16];
    snprintf(text, sizeof text, "%lu.%lu.%lu.%lu", address >> 24 & 255, address >> 16 & 255, address >> 8 & 255,
             address & 255);
    return text;
}

static void say(int level, const char *text) {
    if (n_said == 2)
        n_said = 0;
    strncpy(said[n_said].text, text, sizeof said[n_said].text - 1);
    said[n_said].level = level;
    n_said++;
}

static void complain(const char *info, const char *query, const char *what, const char *name, const struct zone *zone) {
    char buf[MAXCOMPLAINT];
    const char *where = dotted(zone->address);
    if (!*query)
        query = "?";
    if (info && *info) {
#ifdef FIXED
        snprintf(buf, sizeof buf, "%s: query(%s) %s (%s:%s)", info, query, what, name, where);
#else
        sprintf(buf, "%s: query(%s) %s (%s:%s)", info, query, what, name, where);
#endif
    } else {
        snprintf(buf, sizeof buf, "query(%s) %s (%s)", query, what, name);
    }
    say(3, buf);
}

static int is_too_long(const char *text) { return strlen(text) > MAXARG; }

int main(void) {
    char *info = colt_string("sysloginfo"), *query = colt_string("queryname");
    char *what = colt_string("complaint"), *name = colt_string("dname");
    struct zone zone = {.origin = "example.org", .address = 0x7f000001};
    if (is_too_long(info) || is_too_long(query) || is_too_long(what) || is_too_long(name))
        return 1;
    complain(info, query, what, name, &zone);
    return said[0].level != 3;
}
