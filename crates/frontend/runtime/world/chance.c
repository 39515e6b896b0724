// Calls that may fail: each of them is asked, through an input, whether and how it fails this time, as long as fewer
// than the allowed number have failed on this path.
#include "world.h"

static long n_left = -1;

static char *append(char *at, const char *text) {
    while (*text)
        *at++ = *text++;
    return at;
}

// fail:read(3). The name carries the descriptor, so that the native run finds the same call again.
static void spell(char *out, const char *call, long fd) {
    char *at = append(append(out, "fail:"), call);
    if (fd >= 0) {
        *at++ = '(';
        if (fd >= 100)
            *at++ = (char)('0' + fd / 100);
        if (fd >= 10)
            *at++ = (char)('0' + fd / 10 % 10);
        *at++ = (char)('0' + fd % 10);
        *at++ = ')';
    }
    *at = 0;
}

int __world_chance(const char *call, long fd, int n_ways) {
    if (n_left < 0)
        n_left = __colt_world_number(WORLD_FAIL_CALLS, 0);
    if (n_left == 0)
        return 0;
    char name[48];
    spell(name, call, fd);
    int way = colt_range(0, n_ways + 1, name);
    for (int taken = 0; taken <= n_ways; taken++)
        if (way == taken) {
            n_left -= taken != 0;
            return taken;
        }
    return 0;
}
