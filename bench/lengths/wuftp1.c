// WU-FTPD: the path is copied without looking at its length (figure 4.9).
#include <string.h>
#include <colt.h>
#define MAXPATHLEN 1024
char pathspace[MAXPATHLEN], old_mapped_path[MAXPATHLEN], mapped_path[MAXPATHLEN] = "/";
static int mapping_chdir(char *orig_path) {
    char *path = &pathspace[0];
    strcpy(old_mapped_path, mapped_path);
#ifdef FIXED
    if (strlen(orig_path) >= sizeof pathspace)
        return -1;
#endif
    strcpy(path, orig_path);
    if (path[0] != '/')
        strcat(mapped_path, "");
    return 0;
}
int main(void) {
    return mapping_chdir(colt_string("path"));
}
