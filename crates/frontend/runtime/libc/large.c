// 32-bit programs that are compiled for large files: sizes and places in files have 64 bits there. The machine's headers
// give such programs other names for what they call.
#ifdef __i386__
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

typedef int64_t large;

// As the machine's headers lay it out.
struct large_stat {
    dev_t device;
    unsigned padding;
    uint32_t short_number;
    mode_t mode;
    nlink_t links;
    uid_t user;
    gid_t group;
    dev_t real_device;
    unsigned more_padding;
    large size;
    blksize_t block_size;
    large blocks;
    struct timespec accessed, modified, changed;
    uint64_t number;
};

static int tell(int result, const struct stat *found, struct large_stat *out) {
    if (result != 0)
        return result;
    *out = (struct large_stat){
        .device = found->st_dev,
        .short_number = found->st_ino,
        .mode = found->st_mode,
        .links = found->st_nlink,
        .user = found->st_uid,
        .group = found->st_gid,
        .real_device = found->st_rdev,
        .size = found->st_size,
        .block_size = found->st_blksize,
        .blocks = found->st_blocks,
        .accessed = found->st_atim,
        .modified = found->st_mtim,
        .changed = found->st_ctim,
        .number = found->st_ino,
    };
    return 0;
}

int stat64(const char *restrict path, struct large_stat *restrict out) {
    struct stat found;
    return tell(stat(path, &found), &found, out);
}
int lstat64(const char *restrict path, struct large_stat *restrict out) {
    struct stat found;
    return tell(lstat(path, &found), &found, out);
}
int fstat64(int fd, struct large_stat *out) {
    struct stat found;
    return tell(fstat(fd, &found), &found, out);
}
int fstatat64(int fd, const char *restrict path, struct large_stat *restrict out, int flags) {
    struct stat found;
    return tell(fstatat(fd, path, &found, flags), &found, out);
}

// The world has no file of two gigabytes; what lies beyond is beyond its end.
static int is_near(large place) {
    if (place >= LONG_MIN && place <= LONG_MAX)
        return 1;
    errno = EFBIG;
    return 0;
}

large lseek64(int fd, large offset, int whence) { return is_near(offset) ? lseek(fd, (off_t)offset, whence) : -1; }
int fseeko64(FILE *file, large offset, int whence) { return is_near(offset) ? fseeko(file, (off_t)offset, whence) : -1; }
large ftello64(FILE *file) { return ftello(file); }
int truncate64(const char *path, large size) { return is_near(size) ? truncate(path, (off_t)size) : -1; }
int ftruncate64(int fd, large size) { return is_near(size) ? ftruncate(fd, (off_t)size) : -1; }
ssize_t pread64(int fd, void *out, size_t n, large at) { return is_near(at) ? pread(fd, out, n, (off_t)at) : -1; }
ssize_t pwrite64(int fd, const void *in, size_t n, large at) { return is_near(at) ? pwrite(fd, in, n, (off_t)at) : -1; }
void *mmap64(void *where, size_t size, int protection, int flags, int fd, large offset) {
    return is_near(offset) ? mmap(where, size, protection, flags, fd, (off_t)offset) : MAP_FAILED;
}

struct large_entry {
    uint64_t number;
    large offset;
    unsigned short length;
    unsigned char type;
    char name[256];
};

// An entry stays as it is until the next call for its folder; eight in turn are enough for whoever walks several at a time.
struct large_entry *readdir64(DIR *folder) {
    static struct large_entry entries[8];
    static unsigned n_given;
    struct dirent *found = readdir(folder);
    if (!found)
        return NULL;
    struct large_entry *out = &entries[n_given++ % 8];
    *out = (struct large_entry){.number = found->d_ino, .offset = found->d_off, .type = found->d_type};
    out->length = sizeof *out;
    memcpy(out->name, found->d_name, strlen(found->d_name) + 1);
    return out;
}
#endif
