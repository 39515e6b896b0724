// WU-FTPD: a path is resolved; whether there is room for a slash is asked the wrong way round (figure 4.2).
#include <string.h>
#include <colt.h>

#define MAXPATHLEN 1024
#define MAXNAMLEN 255

static char resolved_path[MAXPATHLEN];

/* What stands behind the last slash of a path, and the path without it. */
static const char *last_part(char *path) {
    char *slash = strrchr(path, '/');
    if (!slash)
        return path;
    if (slash[1] == '\0' && slash != path) {
        *slash = '\0';
        slash = strrchr(path, '/');
        if (!slash)
            return path;
    }
    return slash + 1;
}

static int is_root(const char *path) { return path[0] == '/' && path[1] == '\0'; }

/* Joins a resolved directory and a name. */
static char *join(char *resolved, const char *wbuf) {
    int rootd = is_root(resolved);
#ifdef FIXED
    if (strlen(resolved) + strlen(wbuf) + !rootd + 1 > MAXPATHLEN)
#else
    if (strlen(resolved) + strlen(wbuf) + rootd + 1 > MAXPATHLEN)
#endif
        return NULL;
    if (rootd == 0)
        strcat(resolved, "/");
    strcat(resolved, wbuf);
    return resolved;
}

static char *fb_realpath(char *name, char *resolved) {
    char wbuf[MAXNAMLEN + 1];
    const char *part = last_part(name);
    if (strlen(part) > MAXNAMLEN)
        return NULL;
    strcpy(wbuf, part);
    if (wbuf[0] == '\0' || strcmp(wbuf, ".") == 0)
        return resolved;
    return join(resolved, wbuf);
}

int main(void) {
    colt_string_in(resolved_path, sizeof resolved_path, "resolved");
    char *name = colt_string("name");
    if (resolved_path[0] != '/')
        return 1;
    return fb_realpath(name, resolved_path) == NULL;
}
