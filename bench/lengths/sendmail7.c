// Sendmail: how much strncpy copies is what the other side says.
#include <string.h>
#include <colt.h>
int main(void) {
    char *record = colt_string("record"), answer[512];
    unsigned short size = (unsigned short)colt_ushort("size");
#ifdef FIXED
    if (size > sizeof answer)
        return 1;
#endif
    strncpy(answer, record, size);
    return 0;
}
