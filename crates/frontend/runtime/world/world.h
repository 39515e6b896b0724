// The virtual world below the C library: its nodes, open files and the calls on them.
//
// All of it is ordinary memory of the program under test, so it forks with the state. Nothing here reaches the machine:
// bytes written to the standard streams go to the engine, and real files come in through it, read-only.
//
// The numbers are those of Linux on x86-64, which is what musl is compiled for; for 32-bit programs, too. What such a program
// gets is laid out for it: times, sizes and places in files have as many bits as a long.
#ifndef COLT_WORLD_H
#define COLT_WORLD_H

#include "../engine.h"
#include <stdint.h>

typedef unsigned char byte;

enum {
    EPERM = 1,
    ENOENT = 2,
    EINTR = 4,
    EIO = 5,
    EBADF = 9,
    ECHILD = 10,
    EAGAIN = 11,
    ENOMEM = 12,
    EACCES = 13,
    EFAULT = 14,
    EBUSY = 16,
    EEXIST = 17,
    EXDEV = 18,
    ENOTDIR = 20,
    EISDIR = 21,
    EINVAL = 22,
    EMFILE = 24,
    ENOTTY = 25,
    EFBIG = 27,
    ENOSPC = 28,
    ESPIPE = 29,
    EPIPE = 32,
    ERANGE = 34,
    ENAMETOOLONG = 36,
    ENOSYS = 38,
    ENOTEMPTY = 39,
    ELOOP = 40,
};

enum {
    O_ACCESS = 3,
    O_WRONLY = 1,
    O_RDWR = 2,
    O_CREAT = 0100,
    O_EXCL = 0200,
    O_TRUNC = 01000,
    O_APPEND = 02000,
    O_NONBLOCK = 04000,
    O_DIRECTORY = 0200000,
    O_NOFOLLOW = 0400000,
    O_CLOEXEC = 02000000,
    O_PATH = 010000000,
    O_TMPFILE = 020000000,
};

enum { AT_CWD = -100, AT_NO_FOLLOW = 0x100, AT_REMOVE_FOLDER = 0x200, AT_EMPTY_PATH = 0x1000 };

// From the fourth on: /dev/null, zero, full and random, and the pipe.
enum kind { KIND_FILE, KIND_FOLDER, KIND_LINK, KIND_NULL, KIND_ZERO, KIND_FULL, KIND_RANDOM, KIND_PIPE };
#define IS_DEVICE(NODE) ((NODE)->kind >= KIND_NULL && (NODE)->kind <= KIND_RANDOM)
long __world_random(byte *out, size_t n);
// Who runs the program: inputs, each asked for once.
int __colt_identity(int which);
int __colt_is_own_process(long pid);

struct entry {
    char *name;
    size_t length;
    struct node *node;
    struct entry *next;
};

struct node {
    enum kind kind;
    unsigned mode; // permission bits
    unsigned links;
    unsigned long number;
    // A file's bytes, a pipe's bytes that nobody has read yet, or where a symbolic link leads.
    byte *data;
    size_t size, room;
    // A folder's entries in the order of their making, and the folder above.
    struct entry *entries;
    struct node *parent;
    // The real file or folder behind it that was not read yet; NULL for none.
    char *real;
    // A pipe's ends.
    unsigned n_readers, n_writers;
};

// What a descriptor stands for; shared by duplicates of it.
struct opened {
    struct node *node;
    size_t offset;
    int flags;
    unsigned n_refs;
};

enum { MAX_DESCRIPTORS = 256 };

// --- tree.c -----------------------------------------------------------------------------------------------------------

extern struct node *__world_root, *__world_cwd;

struct node *__world_new_node(enum kind kind, unsigned mode);
// Adds an entry; the name is copied.
void __world_enter(struct node *folder, const char *name, size_t length, struct node *node);

enum last { LAST_FOLLOW, LAST_NO_FOLLOW };
// Where a path leads. `folder` is NULL when the folder of the last component does not exist (`error` says why); `node`
// is NULL when that folder has no such entry.
struct place {
    struct node *folder, *node;
    const char *name;
    size_t length;
    long error;
    int wants_folder; // the path ends in a slash
};
struct place __world_walk(struct node *start, const char *path, enum last last);
// Takes the entry for `node` called so out of its folder.
void __world_leave(struct node *folder, const struct node *node, const char *name, size_t length);
// Writes the absolute name of a folder; its length with the NUL, or 0 when there is no room.
size_t __world_name(const struct node *folder, char *out, size_t room);
// Brings in a real folder's entries.
void __world_load(struct node *node);

// --- file.c -----------------------------------------------------------------------------------------------------------

struct opened *__world_opened(long fd);
long __world_new_fd(struct opened *file, long lowest);
struct opened *__world_new_opened(struct node *node, int flags);
void __world_resize(struct node *node, size_t size);
struct node *__world_start_folder(long fd, const char *path, long *error);

long __world_open(long fd, const char *path, int flags, unsigned mode);
long __world_close(long fd);
long __world_read(long fd, byte *out, size_t n);
int __world_is_open_ended(long fd);
long __world_write(long fd, const byte *in, size_t n);
long __world_read_at(long fd, byte *out, size_t n, long offset);
long __world_write_at(long fd, const byte *in, size_t n, long offset);
long __world_seek(long fd, long offset, int whence);
long __world_duplicate(long fd, long lowest, int flags);
long __world_duplicate_to(long from, long to, int flags);
long __world_pipe(int *out, int flags);
long __world_control(long fd, long command, long argument);
int __world_is_unseen(int fd);
long __world_truncate(struct opened *file, long size);

// --- names.c: calls on names, and what is told about nodes --------------------------------------------------------------

long __world_stat_fd(long fd, void *out);
long __world_stat_at(long fd, const char *path, void *out, long flags);
long __world_access(long fd, const char *path, long mode, long flags);
long __world_make_folder(long fd, const char *path, unsigned mode);
long __world_remove(long fd, const char *path, long flags);
long __world_rename(long from_fd, const char *from, long to_fd, const char *to);
long __world_link(long from_fd, const char *from, long to_fd, const char *to);
long __world_make_link(const char *target, long fd, const char *path);
long __world_read_link(long fd, const char *path, char *out, size_t room);
long __world_change_folder(const char *path);
long __world_change_folder_fd(long fd);
long __world_where(char *out, size_t room);
long __world_list(long fd, byte *out, size_t room);
long __world_change_mode(long fd, const char *path, unsigned mode);

// --- chance.c: calls that may fail ---------------------------------------------------------------------------------------

// 0, or which of `n_ways` ways of failing this call takes; `fd` is part of the input's name unless negative.
int __world_chance(const char *call, long fd, int n_ways);

// --- process.c -------------------------------------------------------------------------------------------------------------

long __world_process_call(long number, long a, long b, long c, long d);

// --- the engine ------------------------------------------------------------------------------------------------------------

// A symbolic int with low <= value < high, as an input of that name.
int colt_range(int low, int high, const char *name);
// Makes bytes an input.
void colt_input(void *bytes, size_t size, const char *name);
// Bytes from `pointer` to the end of its object; 0 when there is none.
size_t __colt_room(const void *pointer);
// What was asked for on the command line: the `idx`-th text of a kind copied to `out` (cut to `room`), its whole length
// answered; -1 when there are no more.
enum { WORLD_FILE_NAME, WORLD_FILE_SIZE, WORLD_ENVIRONMENT, WORLD_FAIL_CALLS, WORLD_STDIN_SIZE, WORLD_CWD };
long __colt_world_text(int what, long idx, char *out, size_t room);
long __colt_world_number(int what, long idx);
// The real file system below the folders that may be read: what is there (-1 nothing, 0 a file, 1 a folder), the size
// of a file or of a folder's listing (names, each with its NUL), and its bytes.
long __colt_real_kind(const char *path);
long __colt_real_size(const char *path);
long __colt_real_read(const char *path, void *out, size_t n);

#endif
