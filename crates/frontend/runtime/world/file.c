// Descriptors: opening, reading, writing, seeking, pipes.
#include "world.h"

static struct opened *descriptors[MAX_DESCRIPTORS];
static byte closes_on_exec[MAX_DESCRIPTORS];

struct opened *__world_opened(long fd) { return (unsigned long)fd < MAX_DESCRIPTORS ? descriptors[fd] : NULL; }

struct opened *__world_new_opened(struct node *node, int flags) {
    struct opened *file = malloc(sizeof *file);
    file->node = node;
    file->offset = 0;
    file->flags = flags;
    file->n_refs = 0;
    if (node->kind == KIND_PIPE) {
        node->n_readers += (flags & O_ACCESS) != O_WRONLY;
        node->n_writers += (flags & O_ACCESS) != 0;
    }
    return file;
}

long __world_new_fd(struct opened *file, long lowest) {
    for (long fd = lowest; fd < MAX_DESCRIPTORS; fd++)
        if (!descriptors[fd]) {
            descriptors[fd] = file;
            closes_on_exec[fd] = (file->flags & O_CLOEXEC) != 0;
            file->n_refs++;
            return fd;
        }
    return -EMFILE;
}

static void let_go(struct opened *file) {
    if (--file->n_refs)
        return;
    if (file->node->kind == KIND_PIPE) {
        file->node->n_readers -= (file->flags & O_ACCESS) != O_WRONLY;
        file->node->n_writers -= (file->flags & O_ACCESS) != 0;
    }
    free(file);
}

void __world_resize(struct node *node, size_t size) {
    if (size > node->room) {
        size_t room = size < 64 ? 64 : size + size / 2;
        byte *data = malloc(room);
        if (node->size)
            __builtin_memcpy(data, node->data, node->size);
        free(node->data);
        node->data = data;
        node->room = room;
    }
    if (size > node->size)
        __builtin_memset(node->data + node->size, 0, size - node->size);
    node->size = size;
}

struct node *__world_start_folder(long fd, const char *path, long *error) {
    if ((int)fd == AT_CWD || path[0] == '/')
        return __world_cwd;
    struct opened *file = __world_opened(fd);
    *error = !file ? -EBADF : file->node->kind != KIND_FOLDER ? -ENOTDIR : 0;
    return *error ? NULL : file->node;
}

static long check_open(struct node *node, int flags) {
    int writes = (flags & O_ACCESS) != 0;
    if ((flags & O_CREAT) && (flags & O_EXCL))
        return -EEXIST;
    if (node->kind == KIND_LINK)
        return -ELOOP;
    if (node->kind == KIND_FOLDER && (writes || (flags & O_CREAT)))
        return -EISDIR;
    if (node->kind != KIND_FOLDER && (flags & O_DIRECTORY))
        return -ENOTDIR;
    if (writes && !(node->mode & 0222))
        return -EACCES;
    if ((flags & O_ACCESS) != O_WRONLY && !(node->mode & 0444))
        return -EACCES;
    return 0;
}

long __world_open(long fd, const char *path, int flags, unsigned mode) {
    switch (__world_chance("open", -1, 2)) {
    case 1:
        return -EACCES;
    case 2:
        return -EMFILE;
    }
    long error = 0;
    struct node *start = __world_start_folder(fd, path, &error);
    if (!start)
        return error;
    int keeps_link = (flags & O_NOFOLLOW) || ((flags & O_CREAT) && (flags & O_EXCL));
    struct place place = __world_walk(start, path, keeps_link ? LAST_NO_FOLLOW : LAST_FOLLOW);
    if (!place.folder)
        return place.error;
    struct node *node = place.node;
    if (node) {
        error = check_open(node, flags);
        if (error)
            return error;
        __world_load(node);
        if (node->kind == KIND_FILE && (flags & O_TRUNC) && (flags & O_ACCESS))
            node->size = 0;
    } else {
        if (!(flags & O_CREAT))
            return -ENOENT;
        if (place.wants_folder)
            return -EISDIR;
        if (!(place.folder->mode & 0222))
            return -EACCES;
        node = __world_new_node(KIND_FILE, mode & 0777);
        __world_enter(place.folder, place.name, place.length, node);
    }
    struct opened *file = __world_new_opened(node, flags);
    long new_fd = __world_new_fd(file, 0);
    if (new_fd < 0)
        free(file);
    return new_fd;
}

long __world_close(long fd) {
    struct opened *file = __world_opened(fd);
    if (!file)
        return -EBADF;
    int fails = __world_chance("close", fd, 1);
    // Linux closes the descriptor even where it reports an error.
    descriptors[fd] = NULL;
    let_go(file);
    return fails ? -EIO : 0;
}

// --- bytes -----------------------------------------------------------------------------------------------------------------

static size_t smaller(size_t a, size_t b) { return a < b ? a : b; }

static long read_pipe(struct opened *file, byte *out, size_t n) {
    struct node *pipe = file->node;
    if (!pipe->size && n) {
        if (pipe->n_writers && !(file->flags & O_NONBLOCK))
            __colt_gap("reading from a pipe that is empty and that nobody but this process writes to");
        return pipe->n_writers ? -EAGAIN : 0;
    }
    n = smaller(n, pipe->size);
    __builtin_memcpy(out, pipe->data, n);
    __builtin_memmove(pipe->data, pipe->data + n, pipe->size - n);
    pipe->size -= n;
    return (long)n;
}

static long readable(struct opened *file) {
    if (!file || (file->flags & O_ACCESS) == O_WRONLY || (file->flags & O_PATH))
        return -EBADF;
    return file->node->kind == KIND_FOLDER ? -EISDIR : 0;
}

static long read_bytes(struct opened *file, byte *out, size_t n, size_t offset) {
    struct node *node = file->node;
    if (node->kind == KIND_ZERO || node->kind == KIND_FULL) {
        __builtin_memset(out, 0, n);
        return (long)n;
    }
    if (node->kind == KIND_RANDOM)
        return __world_random(out, n);
    if (node->kind == KIND_NULL || offset >= node->size)
        return 0;
    n = smaller(n, node->size - offset);
    if (!__colt_spans())
        n = (size_t)__colt_concrete((int)n, "how much there is to read");
    __builtin_memcpy(out, node->data + offset, n);
    return (long)n;
}

// Whether it is open how much there is to read.
int __world_is_open_ended(long fd) {
    struct opened *file = __world_opened(fd);
    return file && __colt_is_open((long)file->node->size);
}

long __world_read(long fd, byte *out, size_t n) {
    struct opened *file = __world_opened(fd);
    long error = readable(file);
    if (error)
        return error;
    // How many bytes are asked for decides how the program goes on; it is never left symbolic.
    n = (size_t)__colt_concrete((int)smaller(n, 0x7ffff000), "the size of a read");
    switch (__world_chance("read", fd, n > 1 ? 2 : 1)) {
    case 1:
        return -EIO;
    case 2:
        n = 1;
        break;
    }
    if (file->node->kind == KIND_PIPE)
        return read_pipe(file, out, n);
    long done = read_bytes(file, out, n, file->offset);
    file->offset += (size_t)done;
    return done;
}

long __world_read_at(long fd, byte *out, size_t n, long offset) {
    struct opened *file = __world_opened(fd);
    long error = readable(file);
    if (error)
        return error;
    if (file->node->kind == KIND_PIPE)
        return -ESPIPE;
    if (offset < 0)
        return -EINVAL;
    if (__world_chance("read", fd, 1))
        return -EIO;
    return read_bytes(file, out, n, (size_t)offset);
}

static long write_bytes(struct opened *file, const byte *in, size_t n, size_t offset) {
    struct node *node = file->node;
    if (offset + n > node->size)
        __world_resize(node, offset + n);
    __builtin_memcpy(node->data + offset, in, n);
    return (long)n;
}

static long writable(struct opened *file) {
    return !file || !(file->flags & O_ACCESS) || (file->flags & O_PATH) ? -EBADF : 0;
}

long __world_write(long fd, const byte *in, size_t n) {
    struct opened *file = __world_opened(fd);
    long error = writable(file);
    if (error)
        return error;
    n = (size_t)__colt_concrete((int)smaller(n, 0x7ffff000), "the size of a write");
    switch (__world_chance("write", fd, n > 1 ? 2 : 1)) {
    case 1:
        return -ENOSPC;
    case 2:
        n = 1;
        break;
    }
    struct node *node = file->node;
    if (!n)
        return 0;
    if (node->kind == KIND_FULL)
        return -ENOSPC;
    if (IS_DEVICE(node)) {
        // The standard streams; the offset says which, and is 0 where a program opened /dev/null itself.
        if (file->offset && node->kind == KIND_NULL)
            __colt_output((int)file->offset, in, n);
        return (long)n;
    }
    if (node->kind == KIND_PIPE) {
        if (!node->n_readers)
            __colt_gap("writing to a pipe that nobody reads (a signal)");
        return write_bytes(file, in, n, node->size);
    }
    if (file->flags & O_APPEND)
        file->offset = node->size;
    long done = write_bytes(file, in, n, file->offset);
    file->offset += (size_t)done;
    return done;
}

long __world_write_at(long fd, const byte *in, size_t n, long offset) {
    struct opened *file = __world_opened(fd);
    long error = writable(file);
    if (error)
        return error;
    if (file->node->kind == KIND_PIPE)
        return -ESPIPE;
    if (offset < 0)
        return -EINVAL;
    if (__world_chance("write", fd, 1))
        return -ENOSPC;
    if (file->node->kind == KIND_FULL)
        return -ENOSPC;
    return IS_DEVICE(file->node) ? (long)n : write_bytes(file, in, n, (size_t)offset);
}

long __world_seek(long fd, long offset, int whence) {
    struct opened *file = __world_opened(fd);
    if (!file)
        return -EBADF;
    if (file->node->kind == KIND_PIPE)
        return -ESPIPE;
    if (IS_DEVICE(file->node))
        return 0;
    long base = whence == 1 ? (long)file->offset : whence == 2 ? (long)file->node->size : 0;
    if ((unsigned)whence > 2 || base + offset < 0)
        return -EINVAL;
    file->offset = (size_t)(base + offset);
    return base + offset;
}

// Whether a standard stream still leads where nobody reads, and writing to it never fails.
int __world_is_unseen(int fd) {
    struct opened *file = __world_opened(fd);
    return file && file->node->kind == KIND_NULL && __colt_world_number(WORLD_FAIL_CALLS, 0) == 0;
}

long __world_truncate(struct opened *file, long size) {
    if (!file)
        return -EBADF;
    if (file->node->kind != KIND_FILE || !(file->flags & O_ACCESS) || size < 0)
        return -EINVAL;
    if (__world_chance("ftruncate", -1, 1))
        return -EIO;
    __world_resize(file->node, (size_t)size);
    return 0;
}

// --- descriptors --------------------------------------------------------------------------------------------------------------

long __world_duplicate(long fd, long lowest, int flags) {
    struct opened *file = __world_opened(fd);
    if (!file)
        return -EBADF;
    if ((unsigned long)lowest >= MAX_DESCRIPTORS)
        return -EINVAL;
    if (__world_chance("dup", fd, 1))
        return -EMFILE;
    long new_fd = __world_new_fd(file, lowest);
    if (new_fd >= 0)
        closes_on_exec[new_fd] = (flags & O_CLOEXEC) != 0;
    return new_fd;
}

long __world_duplicate_to(long from, long to, int flags) {
    struct opened *file = __world_opened(from);
    if (!file || (unsigned long)to >= MAX_DESCRIPTORS)
        return -EBADF;
    if (from == to)
        return to;
    if (__world_chance("dup", from, 1))
        return -EMFILE;
    if (descriptors[to])
        let_go(descriptors[to]);
    descriptors[to] = file;
    closes_on_exec[to] = (flags & O_CLOEXEC) != 0;
    file->n_refs++;
    return to;
}

long __world_pipe(int *out, int flags) {
    if (__world_chance("pipe", -1, 1))
        return -EMFILE;
    struct node *node = __world_new_node(KIND_PIPE, 0600);
    long reader = __world_new_fd(__world_new_opened(node, flags & ~O_ACCESS), 0);
    long writer = __world_new_fd(__world_new_opened(node, (flags & ~O_ACCESS) | O_WRONLY), 0);
    if (reader < 0 || writer < 0)
        return -EMFILE;
    out[0] = (int)reader;
    out[1] = (int)writer;
    return 0;
}

enum { F_DUPFD, F_GETFD, F_SETFD, F_GETFL, F_SETFL, F_GETLK, F_SETLK, F_SETLKW, F_DUPFD_CLOEXEC = 1030 };

long __world_control(long fd, long command, long argument) {
    struct opened *file = __world_opened(fd);
    if (!file)
        return -EBADF;
    switch (command) {
    case F_DUPFD:
    case F_DUPFD_CLOEXEC:
        return __world_duplicate(fd, argument, command == F_DUPFD ? 0 : O_CLOEXEC);
    case F_GETFD:
        return closes_on_exec[fd];
    case F_SETFD:
        closes_on_exec[fd] = argument & 1;
        return 0;
    case F_GETFL:
        return file->flags & ~(O_CREAT | O_EXCL | O_TRUNC | O_CLOEXEC);
    case F_SETFL:
        file->flags = (file->flags & ~(O_APPEND | O_NONBLOCK)) | ((int)argument & (O_APPEND | O_NONBLOCK));
        return 0;
    case F_SETLK:
    case F_SETLKW:
        return 0;
    }
    return -EINVAL;
}
