// The C library as this runtime itself uses it. The program may define any of these names, to mock it or for something
// else altogether, and the linker would give its definition to us as well; so every call goes to where the library keeps
// its own. Names behind which other functions stand when files are large are spelt out.
//
// MemorySanitizer knows what the library writes only by standing between: with it the names are used as they are.

#if defined(__has_feature)
#if __has_feature(memory_sanitizer)
#define COLT_PLAIN_NAMES
#endif
#endif

#ifdef COLT_PLAIN_NAMES
#define getpid() ((pid_t)kernel(SYS_getpid, 0))
static long kernel(long number, long a);
#else
#include <dlfcn.h>

#define OWN_NAMES(X)                                                                                                   \
  X(_exit, "_exit")                                                                                                    \
  X(chdir, "chdir")                                                                                                    \
  X(clearenv, "clearenv")                                                                                              \
  X(close, "close")                                                                                                    \
  X(closedir, "closedir")                                                                                              \
  X(dup2, "dup2")                                                                                                      \
  X(exit, "exit")                                                                                                      \
  X(fclose, "fclose")                                                                                                  \
  X(fdopendir, "fdopendir")                                                                                            \
  X(fopen, "fopen64")                                                                                                  \
  X(fork, "fork")                                                                                                      \
  X(getpid, "getpid")                                                                                                  \
  X(kill, "kill")                                                                                                      \
  X(lseek, "lseek64")                                                                                                  \
  X(memfd_create, "memfd_create")                                                                                      \
  X(mkdir, "mkdir")                                                                                                    \
  X(mmap, "mmap64")                                                                                                    \
  X(open, "open64")                                                                                                    \
  X(openat, "openat64")                                                                                                \
  X(opendir, "opendir")                                                                                                \
  X(prctl, "prctl")                                                                                                    \
  X(read, "read")                                                                                                      \
  X(readdir, "readdir64")                                                                                              \
  X(sched_yield, "sched_yield")                                                                                        \
  X(setenv, "setenv")                                                                                                  \
  X(setpgid, "setpgid")                                                                                                \
  X(setrlimit, "setrlimit64")                                                                                          \
  X(sigaddset, "sigaddset")                                                                                            \
  X(sigemptyset, "sigemptyset")                                                                                        \
  X(sigprocmask, "sigprocmask")                                                                                        \
  X(sigtimedwait, "sigtimedwait")                                                                                      \
  X(snprintf, "snprintf")                                                                                              \
  X(strcmp, "strcmp")                                                                                                  \
  X(strlen, "strlen")                                                                                                  \
  X(strncmp, "strncmp")                                                                                                \
  X(strstr, "strstr")                                                                                                  \
  X(strtoull, "strtoull")                                                                                              \
  X(syscall, "syscall")                                                                                                \
  X(sysconf, "sysconf")                                                                                                \
  X(unlinkat, "unlinkat")                                                                                              \
  X(waitpid, "waitpid")                                                                                                \
  X(write, "write")

#define OWN_FIELD(NAME, SYMBOL) __typeof__(&NAME) NAME##_;
static struct { OWN_NAMES(OWN_FIELD) } own;

// Before any constructor of the program, which may already ask for an input.
__attribute__((constructor(101))) static void find_own_names(void) {
  void *library = dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD);
  void *found;
#define OWN_FIND(NAME, SYMBOL)                                                                                         \
  found = library != NULL ? dlsym(library, SYMBOL) : NULL;                                                             \
  own.NAME##_ = found != NULL ? (__typeof__(&NAME))found : &NAME;
  OWN_NAMES(OWN_FIND)
}

#define _exit(...) own._exit_(__VA_ARGS__)
#define chdir(...) own.chdir_(__VA_ARGS__)
#define clearenv(...) own.clearenv_(__VA_ARGS__)
#define close(...) own.close_(__VA_ARGS__)
#define closedir(...) own.closedir_(__VA_ARGS__)
#define dup2(...) own.dup2_(__VA_ARGS__)
#define exit(...) own.exit_(__VA_ARGS__)
#define fclose(...) own.fclose_(__VA_ARGS__)
#define fdopendir(...) own.fdopendir_(__VA_ARGS__)
#define fopen(...) own.fopen_(__VA_ARGS__)
#define fork(...) own.fork_(__VA_ARGS__)
#define getpid(...) own.getpid_(__VA_ARGS__)
#define kill(...) own.kill_(__VA_ARGS__)
#define lseek(...) own.lseek_(__VA_ARGS__)
#define memfd_create(...) own.memfd_create_(__VA_ARGS__)
#define mkdir(...) own.mkdir_(__VA_ARGS__)
#define mmap(...) own.mmap_(__VA_ARGS__)
#define open(...) own.open_(__VA_ARGS__)
#define openat(...) own.openat_(__VA_ARGS__)
#define opendir(...) own.opendir_(__VA_ARGS__)
#define prctl(...) own.prctl_(__VA_ARGS__)
#define read(...) own.read_(__VA_ARGS__)
#define readdir(...) own.readdir_(__VA_ARGS__)
#define sched_yield(...) own.sched_yield_(__VA_ARGS__)
#define setenv(...) own.setenv_(__VA_ARGS__)
#define setpgid(...) own.setpgid_(__VA_ARGS__)
#define setrlimit(...) own.setrlimit_(__VA_ARGS__)
#define sigaddset(...) own.sigaddset_(__VA_ARGS__)
#define sigemptyset(...) own.sigemptyset_(__VA_ARGS__)
#define sigprocmask(...) own.sigprocmask_(__VA_ARGS__)
#define sigtimedwait(...) own.sigtimedwait_(__VA_ARGS__)
#define snprintf(...) own.snprintf_(__VA_ARGS__)
#define strcmp(...) own.strcmp_(__VA_ARGS__)
#define strlen(...) own.strlen_(__VA_ARGS__)
#define strncmp(...) own.strncmp_(__VA_ARGS__)
#define strstr(...) own.strstr_(__VA_ARGS__)
#define strtoull(...) own.strtoull_(__VA_ARGS__)
#define syscall(...) own.syscall_(__VA_ARGS__)
#define sysconf(...) own.sysconf_(__VA_ARGS__)
#define unlinkat(...) own.unlinkat_(__VA_ARGS__)
#define waitpid(...) own.waitpid_(__VA_ARGS__)
#define write(...) own.write_(__VA_ARGS__)
#endif

// Asked of the kernel itself: who we are must not depend on what the program makes of it.
static long kernel(long number, long a) {
#if defined(COLT_PLAIN_NAMES)
  return syscall(number, a);
#else
  return syscall(number, a, 0L, 0L, 0L, 0L, 0L);
#endif
}
