// The part of Colt that is linked into the natively built program: serves tests, hands out inputs, records endings.
//
// One translation unit, so that building it costs one compiler start. Everything the program could define itself is
// weak: the program's own definition wins.

#define _GNU_SOURCE
#define _FILE_OFFSET_BITS 64

#include "exchange.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>
#include <unwind.h>

#define WEAK __attribute__((weak))
#define NO_RETURN __attribute__((noreturn))

#include "own.h"
#include "record.c"
#include "inputs.c"
#include "library.c"
#include "identity.c"
#include "leaks.c"
#include "unwritten.c"
#include "steps.c"
#include "folder.c"
#include "wild_call.c"
#include "world.c"
#include "alone.c"
#include "failing.c"
#include "stuck.c"
#include "server.c"
#include "entry.c"
