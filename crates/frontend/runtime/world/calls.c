// System calls: from a number and its arguments to what the world does. What is not here answers ENOSYS and is in the
// ledger.
#include "world.h"

long __world_map(long size, long flags, long fd, long offset);
unsigned __world_umask(void);

enum {
    SYS_read,
    SYS_write,
    SYS_open,
    SYS_close,
    SYS_stat,
    SYS_fstat,
    SYS_lstat,
    SYS_poll,
    SYS_lseek,
    SYS_mmap,
    SYS_ioctl = 16,
    SYS_pread64,
    SYS_pwrite64,
    SYS_readv,
    SYS_writev,
    SYS_access,
    SYS_pipe,
    SYS_select,
    SYS_dup = 32,
    SYS_dup2,
    SYS_fork = 57,
    SYS_vfork,
    SYS_execve,
    SYS_wait4 = 61,
    SYS_fcntl = 72,
    SYS_flock,
    SYS_fsync,
    SYS_fdatasync,
    SYS_truncate,
    SYS_ftruncate,
    SYS_getcwd = 79,
    SYS_chdir,
    SYS_fchdir,
    SYS_rename,
    SYS_mkdir,
    SYS_rmdir,
    SYS_creat,
    SYS_link,
    SYS_unlink,
    SYS_symlink,
    SYS_readlink,
    SYS_chmod,
    SYS_fchmod,
    SYS_chown,
    SYS_fchown,
    SYS_lchown,
    SYS_getdents64 = 217,
    SYS_fadvise64 = 221,
    SYS_openat = 257,
    SYS_mkdirat,
    SYS_fchownat = 260,
    SYS_newfstatat = 262,
    SYS_unlinkat,
    SYS_renameat,
    SYS_linkat,
    SYS_symlinkat,
    SYS_readlinkat,
    SYS_fchmodat,
    SYS_faccessat,
    SYS_utimensat = 280,
    SYS_dup3 = 292,
    SYS_pipe2,
    SYS_renameat2 = 316,
    SYS_statx = 332,
    SYS_faccessat2 = 439,
};

struct slice {
    byte *start;
    size_t size;
};

// The pieces become one call each until one is short, as a kernel would fill them from one read.
static long read_slices(long fd, const struct slice *slices, long n) {
    size_t total = 0;
    for (long i = 0; i < n; i++)
        total += slices[i].size;
    // This is how stdio fills its buffer, and it asks again: what nobody has looked at stays open. Where sizes may be terms it does anyway.
    if (total > 1 && !__colt_spans() && __world_is_open_ended(fd))
        total = 1;
    if (n == 1)
        return __world_read(fd, slices[0].start, total);
    if (total > (256u << 20))
        return -EINVAL;
    byte *bytes = malloc(total);
    long got = __world_read(fd, bytes, total);
    size_t done = 0;
    for (long i = 0; i < n && (long)done < got; i++) {
        size_t piece = slices[i].size < (size_t)got - done ? slices[i].size : (size_t)got - done;
        __builtin_memcpy(slices[i].start, bytes + done, piece);
        done += piece;
    }
    free(bytes);
    return got;
}

static long write_slices(long fd, const struct slice *slices, long n) {
    size_t total = 0;
    for (long i = 0; i < n; i++)
        total += slices[i].size;
    for (long i = 0; i < n; i++)
        if (slices[i].size == total)
            return __world_write(fd, slices[i].start, total);
    if (total > (256u << 20))
        return -EINVAL;
    byte *bytes = malloc(total);
    size_t done = 0;
    for (long i = 0; i < n; i++) {
        __builtin_memcpy(bytes + done, slices[i].start, slices[i].size);
        done += slices[i].size;
    }
    long put = __world_write(fd, bytes, total);
    free(bytes);
    return put;
}

struct poll {
    int fd;
    short wanted, got;
};

static long poll(struct poll *entries, size_t n) {
    enum { IN = 1, OUT = 4, HANG_UP = 16, INVALID = 32 };
    long n_ready = 0;
    for (size_t i = 0; i < n; i++) {
        struct poll *entry = &entries[i];
        struct opened *file = __world_opened(entry->fd);
        entry->got = 0;
        if (entry->fd < 0)
            continue;
        if (!file)
            entry->got = INVALID;
        else if (file->node->kind == KIND_PIPE && (file->flags & O_ACCESS) == 0)
            entry->got = file->node->size ? entry->wanted & IN : file->node->n_writers ? 0 : HANG_UP;
        else
            entry->got = entry->wanted & (IN | OUT);
        n_ready += entry->got != 0;
    }
    return n_ready;
}

static long truncate(const char *path, long size) {
    long fd = __world_open(AT_CWD, path, O_WRONLY, 0);
    if (fd < 0)
        return fd;
    long result = __world_truncate(__world_opened(fd), size);
    __world_close(fd);
    return result;
}

static long control_device(long fd) { return __world_opened(fd) ? -ENOTTY : -EBADF; }
static long only_check(long fd) { return __world_opened(fd) ? 0 : -EBADF; }

static long sync(long fd, const char *call) {
    if (!__world_opened(fd))
        return -EBADF;
    if (__world_opened(fd)->node->kind == KIND_PIPE)
        return -EINVAL;
    return __world_chance(call, fd, 1) ? -EIO : 0;
}

static long change_mode_fd(long fd, long mode) {
    struct opened *file = __world_opened(fd);
    if (!file)
        return -EBADF;
    file->node->mode = (unsigned)mode & 07777;
    return 0;
}

static long new_process(void) {
    if (!__world_chance("fork", -1, 1))
        __colt_note("a new process: it cannot be made");
    return -EAGAIN;
}

static long unmodelled(long number) {
    char text[32] = "system call number ";
    size_t n = 19;
    for (long unit = 1000; unit; unit /= 10)
        if (number >= unit || unit == 1)
            text[n++] = (char)('0' + number / unit % 10);
    text[n] = 0;
    __colt_note(text);
    return -ENOSYS;
}

static unsigned masked(long mode) { return (unsigned)mode & ~__world_umask(); }

long __world_call(long number, long a, long b, long c, long d, long e, long f) {
    const char *text = (const char *)a, *text2 = (const char *)b;
    switch (number) {
    case SYS_read:
        return __world_read(a, (byte *)b, (size_t)c);
    case SYS_write:
        return __world_write(a, (const byte *)b, (size_t)c);
    case SYS_readv:
        return read_slices(a, (const struct slice *)b, c);
    case SYS_writev:
        return write_slices(a, (const struct slice *)b, c);
    case SYS_pread64:
        return __world_read_at(a, (byte *)b, (size_t)c, d);
    case SYS_pwrite64:
        return __world_write_at(a, (const byte *)b, (size_t)c, d);
    case SYS_open:
        return __world_open(AT_CWD, text, (int)b, masked(c));
    case SYS_openat:
        return __world_open(a, text2, (int)c, masked(d));
    case SYS_creat:
        return __world_open(AT_CWD, text, O_CREAT | O_WRONLY | O_TRUNC, masked(b));
    case SYS_close:
        return __world_close(a);
    case SYS_lseek:
        return __world_seek(a, b, (int)c);
    case SYS_stat:
        return __world_stat_at(AT_CWD, text, (void *)b, 0);
    case SYS_lstat:
        return __world_stat_at(AT_CWD, text, (void *)b, AT_NO_FOLLOW);
    case SYS_fstat:
        return __world_stat_fd(a, (void *)b);
    case SYS_newfstatat:
        return __world_stat_at(a, text2, (void *)c, d);
    case SYS_access:
        return __world_access(AT_CWD, text, b, 0);
    case SYS_faccessat:
    case SYS_faccessat2:
        return __world_access(a, text2, c, d);
    case SYS_poll:
        return poll((struct poll *)a, (size_t)b);
    case SYS_mmap:
        return __world_map(b, d, e, f);
    case SYS_ioctl:
        return control_device(a);
    case SYS_pipe:
        return __world_pipe((int *)a, 0);
    case SYS_pipe2:
        return __world_pipe((int *)a, (int)b);
    case SYS_dup:
        return __world_duplicate(a, 0, 0);
    case SYS_dup2:
        return __world_duplicate_to(a, b, 0);
    case SYS_dup3:
        return a == b ? -EINVAL : __world_duplicate_to(a, b, (int)c);
    case SYS_fcntl:
        return __world_control(a, b, c);
    case SYS_flock:
    case SYS_fadvise64:
    case SYS_fchown:
        return only_check(a);
    case SYS_fsync:
    case SYS_fdatasync:
        return sync(a, "fsync");
    case SYS_truncate:
        return truncate(text, b);
    case SYS_ftruncate:
        return __world_truncate(__world_opened(a), b);
    case SYS_getcwd:
        return __world_where((char *)a, (size_t)b);
    case SYS_chdir:
        return __world_change_folder(text);
    case SYS_fchdir:
        return __world_change_folder_fd(a);
    case SYS_rename:
        return __world_rename(AT_CWD, text, AT_CWD, text2);
    case SYS_renameat:
    case SYS_renameat2:
        return __world_rename(a, text2, c, (const char *)d);
    case SYS_mkdir:
        return __world_make_folder(AT_CWD, text, masked(b));
    case SYS_mkdirat:
        return __world_make_folder(a, text2, masked(c));
    case SYS_rmdir:
        return __world_remove(AT_CWD, text, AT_REMOVE_FOLDER);
    case SYS_unlink:
        return __world_remove(AT_CWD, text, 0);
    case SYS_unlinkat:
        return __world_remove(a, text2, c);
    case SYS_link:
        return __world_link(AT_CWD, text, AT_CWD, text2);
    case SYS_linkat:
        return __world_link(a, text2, c, (const char *)d);
    case SYS_symlink:
        return __world_make_link(text, AT_CWD, text2);
    case SYS_symlinkat:
        return __world_make_link(text, b, (const char *)c);
    case SYS_readlink:
        return __world_read_link(AT_CWD, text, (char *)b, (size_t)c);
    case SYS_readlinkat:
        return __world_read_link(a, text2, (char *)c, (size_t)d);
    case SYS_chmod:
        return __world_change_mode(AT_CWD, text, (unsigned)b);
    case SYS_fchmodat:
        return __world_change_mode(a, text2, (unsigned)c);
    case SYS_fchmod:
        return change_mode_fd(a, b);
    case SYS_chown:
    case SYS_lchown:
        return __world_access(AT_CWD, text, 0, 0);
    case SYS_fchownat:
    case SYS_utimensat:
        return b ? __world_access(a, text2, 0, 0) : only_check(a);
    case SYS_getdents64:
        return __world_list(a, (byte *)b, (size_t)c);
    case SYS_fork:
    case SYS_vfork:
        return new_process();
    case SYS_execve:
        __colt_note("execve: no program can be started");
        return -ENOENT;
    case SYS_wait4:
        return -ECHILD;
    }
    long result = __world_process_call(number, a, b, c, d);
    return result == -ENOSYS ? unmodelled(number) : result;
}
