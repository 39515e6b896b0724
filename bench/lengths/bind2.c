// BIND: a name is copied with a limit that leaves no room for its end.
#include <string.h>
#include <colt.h>
#define MAXDNAME 256
struct zone { char origin[MAXDNAME]; char file[MAXDNAME]; };
static int set_origin(struct zone *zone, const char *name) {
    size_t n = strlen(name);
#ifdef FIXED
    if (n >= sizeof zone->origin)
#else
    if (n > sizeof zone->origin)
#endif
        return -1;
    memcpy(zone->origin, name, n + 1);
    return 0;
}
int main(void) {
    static struct zone zones[1];
    char *name = colt_string("name"), origin[MAXDNAME];
    struct zone *zone = zones;
    if (set_origin(zone, name) < 0)
        return 1;
    size_t n = strlen(name);
#ifdef FIXED
    if (n + 1 > sizeof origin)
        return 1;
#endif
    memcpy(origin, name, n + 1);
    return 0;
}
