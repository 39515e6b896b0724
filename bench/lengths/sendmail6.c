// Sendmail: a flag's number is read from an argument; one that is too large becomes negative and writes before the table.
#include <ctype.h>
#include <string.h>
#include <colt.h>

#define N_FLAGS 100

static unsigned char flags[N_FLAGS];

struct range {
    int first, last, level;
};

static const char *number(const char *s, int *value) {
    unsigned i = 0;
    while (isdigit((unsigned char)*s))
        i = i * 10 + (unsigned)(*s++ - '0');
    *value = (int)i;
    return s;
}

static const char *one_range(const char *s, struct range *range) {
    s = number(s, &range->first);
    if (*s == '-')
        s = number(s + 1, &range->last);
    else
        range->last = range->first;
    range->level = 1;
    if (*s == '.')
        s = number(s + 1, &range->level);
    return s;
}

/* 0-99.1,3.4 and so on. */
static int set_flags(const char *s) {
    struct range range;
    if (*s == '\0')
        s = "0-99.1";
    for (;;) {
        s = one_range(s, &range);
        if (range.first >= N_FLAGS)
            range.first = N_FLAGS - 1;
        if (range.last >= N_FLAGS)
            range.last = N_FLAGS - 1;
#ifdef FIXED
        if (range.first < 0 || range.last < 0)
            return -1;
#endif
        while (range.first <= range.last)
            flags[range.first++] = (unsigned char)range.level;
        if (*s == '\0' || *s++ != ',')
            return 0;
        if (*s == '\0')
            return 0;
    }
}

int main(void) {
    char *argument = colt_string("argument");
    size_t n = strlen(argument);
    if (n > 12)
        return 1;
    if (set_flags(argument) < 0)
        return 2;
    return flags[3] == 4;
}
