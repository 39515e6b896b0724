// Sendmail: a path is made shorter; slashes in a row go past a bound that is looked at for other characters only.
#include <ctype.h>
#include <string.h>
#include <colt.h>

#define MAXPATHLEN 256

struct target {
    char dir[MAXPATHLEN];
    char file[MAXPATHLEN];
    int is_absolute;
};

static struct target target;

/* Copies a path; a character after a slash is looked at, and other characters need room. */
static int scan_path(const char *path, char *to, size_t size) {
    char *limit = to + size - 2, *start = to;
    const char *p = path;
    int c, n_slashes = 0;
    while ((c = *p++) != '\0') {
        if (iscntrl((unsigned char)c))
            return -1;
        if (c == '/') {
            n_slashes++;
#ifdef FIXED
            if (to >= limit)
                return -1;
#else
            if (to >= limit && n_slashes == 1)
                return -1;
#endif
            *to++ = '/';
            continue;
        }
        n_slashes = 0;
        if (to >= limit)
            return -1;
        *to++ = (char)c;
    }
    *to = '\0';
    return (int)(to - start);
}

static void split(struct target *to, const char *path) {
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    strncpy(to->file, name, sizeof to->file - 1);
    to->is_absolute = path[0] == '/';
}

int main(void) {
    char *path = colt_string("path");
    if (strlen(path) == 0)
        return 1;
    if (scan_path(path, target.dir, sizeof target.dir) < 0)
        return 2;
    split(&target, target.dir);
    return target.is_absolute;
}
