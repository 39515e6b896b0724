// WU-FTPD: what the directory of a stored file is, is put together from strings without looking at their lengths.
#include <stdio.h>
#include <string.h>
#include <colt.h>

#define MAXPATHLEN 512
#define N_COMMANDS 4

static const char *const commands[N_COMMANDS] = {"STOR", "RETR", "LIST", "MKD"};

struct request {
    int command;
    const char *argument;
    char path[MAXPATHLEN];
};

static int find_command(const char *word) {
    for (int i = 0; i < N_COMMANDS; i++)
        if (strncasecmp(word, commands[i], strlen(commands[i])) == 0)
            return i;
    return -1;
}

static void get_directory(char *path, const char *root, const char *home) {
    strcpy(path, root);
    if (home[0] != '/')
        strcat(path, "/");
    strcat(path, home);
}

static int make_path(struct request *request, const char *root, const char *home) {
    char path[MAXPATHLEN];
    if (strlen(root) > 100 || strlen(home) > 200)
        return -1;
    get_directory(path, root, home);
#ifdef FIXED
    if (strlen(path) + strlen(request->argument) + 2 > sizeof path)
        return -1;
#endif
    strcat(path, "/");
    strcat(path, request->argument);
    strcpy(request->path, path);
    return 0;
}

static int handle(char *line, const char *home) {
    struct request request;
    char *blank = strchr(line, ' ');
    if (!blank)
        return 500;
    *blank = '\0';
    request.command = find_command(line);
    request.argument = blank + 1;
    switch (request.command) {
    case 0:
    case 3:
        return make_path(&request, "/var/ftp", home) < 0 ? 553 : 150;
    case 1:
        return make_path(&request, "", home) < 0 ? 550 : 150;
    case 2:
        return 226;
    default:
        return 502;
    }
}

int main(void) {
    char *line = colt_string("line"), *home = colt_string("home");
    int code = handle(line, home);
    return code >= 500;
}
