// WU-FTPD: a path is mapped for chdir and copied without looking at its length (figure 4.9).
#include <string.h>
#include <colt.h>

#define MAXPATHLEN 1024

static char pathspace[MAXPATHLEN];
static char old_mapped_path[MAXPATHLEN];
static char mapped_path[MAXPATHLEN] = "/";

struct session {
    int is_logged_in;
    int n_commands;
    char reply[128];
};

static struct session session;

static void reply(int code, const char *text) {
    session.reply[0] = (char)('0' + code / 100);
    session.reply[1] = (char)('0' + code / 10 % 10);
    session.reply[2] = (char)('0' + code % 10);
    strncpy(session.reply + 3, text, sizeof session.reply - 4);
    session.n_commands++;
}

/* One directory up: what stands behind the last slash goes. */
static void up(char *path) {
    char *slash = strrchr(path, '/');
    if (slash == path)
        slash++;
    if (slash)
        *slash = '\0';
}

static int do_elem(char *dir) {
    if (dir[0] == '\0' || (dir[0] == '.' && dir[1] == '\0'))
        return 0;
    if (strcmp(dir, "..") == 0) {
        up(mapped_path);
        return 0;
    }
    if (strlen(mapped_path) + strlen(dir) + 2 > sizeof mapped_path)
        return -1;
    if (!(mapped_path[0] == '/' && mapped_path[1] == '\0'))
        strcat(mapped_path, "/");
    strcat(mapped_path, dir);
    return 0;
}

static int mapping_chdir(const char *orig_path) {
    char *path = &pathspace[0], *sl;
    strcpy(old_mapped_path, mapped_path);
#ifdef FIXED
    if (strlen(orig_path) >= sizeof pathspace)
        return -1;
#endif
    strcpy(path, orig_path);
    if (path[0] == '/') {
        mapped_path[0] = '/';
        mapped_path[1] = '\0';
        path++;
    }
    while ((sl = strchr(path, '/')) != NULL) {
        char *dir = path;
        *sl = '\0';
        path = sl + 1;
        if (do_elem(dir) < 0) {
            strcpy(mapped_path, old_mapped_path);
            return -1;
        }
    }
    return *path ? do_elem(path) : 0;
}

int main(void) {
    char *path = colt_string("path");
    session.is_logged_in = 1;
    if (mapping_chdir(path) < 0)
        reply(550, "No such file or directory.");
    else
        reply(250, "CWD command successful.");
    return session.n_commands != 1;
}
