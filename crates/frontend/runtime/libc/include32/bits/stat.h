// Stands before musl's own header of this name in 32-bit programs: as the machine's headers lay it out for them, where a
// file's size has 32 bits.
struct stat {
    dev_t st_dev;
    unsigned short padding;
    ino_t st_ino;
    mode_t st_mode;
    nlink_t st_nlink;
    uid_t st_uid;
    gid_t st_gid;
    dev_t st_rdev;
    unsigned short more_padding;
    off_t st_size;
    blksize_t st_blksize;
    blkcnt_t st_blocks;
    struct timespec st_atim, st_mtim, st_ctim;
    unsigned long unused[2];
};
