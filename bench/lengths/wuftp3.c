// WU-FTPD: several names are appended to a command without looking at its length.
#include <string.h>
#include <stdio.h>
#include <colt.h>
int main(void) {
    char *dir = colt_string("dir"), *file = colt_string("file"), cmd[512];
    if (strlen(dir) > 200)
        return 1;
#ifdef FIXED
    if (strlen(dir) + strlen(file) + 10 > sizeof cmd)
        return 2;
#endif
    strcpy(cmd, "/bin/ls ");
    strcat(cmd, dir);
    strcat(cmd, "/");
    strcat(cmd, file);
    return strlen(cmd) > 511;
}
