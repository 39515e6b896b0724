// Standard output. It is never a terminal here, so it is fully buffered from the start: musl finds that out at its first
// write only, and until then looks for line ends in everything printed, which forks where that is symbolic.
#include "stdio_impl.h"

#undef stdout

static unsigned char room[UNGET + BUFSIZ];
hidden FILE __stdout_FILE = {
    .fd = 1,
    .flags = F_PERM | F_NORD,
    .buf = room + UNGET,
    .buf_size = BUFSIZ,
    .lbf = EOF,
    .lock = -1,
    .write = __stdio_write,
    .seek = __stdio_seek,
    .close = __stdio_close,
};
FILE *const stdout = &__stdout_FILE;
FILE *volatile __stdout_used = &__stdout_FILE;
