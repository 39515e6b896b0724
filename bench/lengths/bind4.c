// BIND: a message is put together by sprintf without looking at its length.
#include <stdio.h>
#include <string.h>
#include <colt.h>
static void complain(const char *sysloginfo, const char *queryname, const char *complaint, const char *dname) {
    char buf[999];
#ifdef FIXED
    snprintf(buf, sizeof buf, "%s: query(%s) %s (%s:%s)", sysloginfo, queryname, complaint, dname, "127.0.0.1");
#else
    sprintf(buf, "%s: query(%s) %s (%s:%s)", sysloginfo, queryname, complaint, dname, "127.0.0.1");
#endif
}
int main(void) {
    char *a = colt_string("sysloginfo"), *b = colt_string("queryname");
    char *c = colt_string("complaint"), *d = colt_string("dname");
    if (strlen(a) > 250 || strlen(b) > 250 || strlen(c) > 250 || strlen(d) > 250)
        return 1;
    complain(a, b, c, d);
    return 0;
}
