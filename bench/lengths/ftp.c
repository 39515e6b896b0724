// An FTP server reads commands and joins paths (figure 3.2): what CWD is given does not fit behind where it is.
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <colt.h>

#define MAXPATHLEN 1024
#define MAXLINE 2048

enum command { USER, PASS, CWD, CDUP, PWD, LIST, MKD, QUIT, UNKNOWN };

static const struct {
    const char *name;
    enum command command;
    int takes_argument;
} commands[] = {
    {"USER", USER, 1}, {"PASS", PASS, 1}, {"CWD", CWD, 1},  {"CDUP", CDUP, 0},
    {"PWD", PWD, 0},   {"LIST", LIST, 0}, {"MKD", MKD, 1}, {"QUIT", QUIT, 0},
};

struct session {
    char cwd[MAXPATHLEN];
    char user[64];
    int is_logged_in, n_replies;
};

static void reply(struct session *session, int code) {
    session->n_replies++;
    if (code == 421)
        session->is_logged_in = 0;
}

/* Blanks at the end of a line do not count. */
static void trim(char *line) {
    char *end = line + strlen(line);
    while (end > line && isspace((unsigned char)end[-1]))
        *--end = '\0';
}

static enum command parse(char *line, char **argument) {
    char *p = line;
    while (*p && *p != ' ') {
        *p = (char)toupper((unsigned char)*p);
        p++;
    }
    *argument = NULL;
    if (*p == ' ') {
        *p++ = '\0';
        while (*p == ' ')
            p++;
        *argument = p;
    }
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
        if (strcmp(line, commands[i].name) == 0) {
            if (commands[i].takes_argument && (!*argument || !**argument))
                return UNKNOWN;
            return commands[i].command;
        }
    return UNKNOWN;
}

/* The directory that a path names, seen from where the session is. */
static int join(const char *cwd, const char *path, char *resolved) {
    int rootd;
    if (path[0] == '/') {
        if (strlen(path) >= MAXPATHLEN)
            return -1;
        strcpy(resolved, path);
        return 0;
    }
    strcpy(resolved, cwd);
    rootd = resolved[0] == '/' && resolved[1] == '\0';
#ifdef FIXED
    if (strlen(resolved) + strlen(path) + !rootd + 1 > MAXPATHLEN)
#else
    if (strlen(resolved) + strlen(path) + rootd + 1 > MAXPATHLEN)
#endif
        return -1;
    if (rootd == 0)
        strcat(resolved, "/");
    strcat(resolved, path);
    return 0;
}

static int change_directory(struct session *session, const char *path) {
    char resolved[MAXPATHLEN];
    if (join(session->cwd, path, resolved) < 0)
        return 550;
    strcpy(session->cwd, resolved);
    return 250;
}

static int handle(struct session *session, char *line) {
    char *argument;
    trim(line);
    switch (parse(line, &argument)) {
    case USER:
        snprintf(session->user, sizeof session->user, "%s", argument);
        return 331;
    case PASS:
        session->is_logged_in = strcmp(session->user, "anonymous") == 0;
        return session->is_logged_in ? 230 : 530;
    case CWD:
        return change_directory(session, argument);
    case CDUP: {
        char *slash = strrchr(session->cwd, '/');
        if (slash && slash != session->cwd)
            *slash = '\0';
        return 200;
    }
    case PWD:
    case LIST:
        return 257;
    case MKD:
        return strlen(argument) >= MAXPATHLEN ? 553 : 257;
    case QUIT:
        return 221;
    default:
        return 500;
    }
}

int main(void) {
    static struct session session = {.cwd = "/home"};
    char *line = colt_string("line");
    if (strlen(line) >= MAXLINE)
        return 1;
    reply(&session, handle(&session, line));
    return session.n_replies != 1;
}
