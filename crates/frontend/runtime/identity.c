// Who runs the program. The kernel answers as it likes, so each answer is an input; asked again it is the same.
#include "common.h"

int colt_range(int low, int high, const char *name);
int __colt_identity(int which);
int __colt_is_own_process(long pid);

enum { PID_LIMIT = 4194304, N_IDENTITIES = 6 };
static int known[N_IDENTITIES], is_known[N_IDENTITIES];

int __colt_identity(int which) {
    static const char *const names[N_IDENTITIES] = {"getpid", "getppid", "getuid", "geteuid", "getgid", "getegid"};
    if (!is_known[which]) {
        known[which] = which < 2 ? colt_range(1, PID_LIMIT, names[which]) : colt_range(0, INT_MAX, names[which]);
        is_known[which] = 1;
    }
    return known[which];
}

// A process that never asked for its number cannot know it.
int __colt_is_own_process(long pid) {
    long own = known[0];
    return is_known[0] && (pid == own || pid == -own);
}
