// BIND: the size of a record is checked against the wrong buffer before it is copied.
#include <string.h>
#include <colt.h>
int main(void) {
    char *data = colt_string("data"), answer[1024], small[512];
    size_t n = strlen(data);
    if (n + 1 > sizeof answer)
        return 1;
    memcpy(answer, data, n + 1);
#ifdef FIXED
    if (n >= sizeof small)
        return 2;
#endif
    memcpy(small, answer, strlen(answer) + 1);
    return 0;
}
