// Calls on names, and what the world tells about nodes.
#include "world.h"

// The kernel's struct stat.
struct told {
    uint64_t device, number, links;
    uint32_t mode, user, group, padding;
    uint64_t real_device;
    int64_t size, block_size, blocks;
    struct {
        int64_t seconds, nanoseconds;
    } accessed, modified, changed;
    int64_t unused[3];
};

enum { NOBODY = 65534, LONG_AGO = 1000000000 };

static unsigned type_bits(const struct node *node) {
    static const unsigned bits[] = {
        [KIND_FILE] = 0100000, [KIND_FOLDER] = 0040000, [KIND_LINK] = 0120000, [KIND_NULL] = 0020000,
        [KIND_ZERO] = 0020000, [KIND_FULL] = 0020000,   [KIND_RANDOM] = 0020000, [KIND_PIPE] = 0010000,
    };
    return bits[node->kind];
}

static long tell(struct node *node, struct told *out) {
    if (node->kind == KIND_FILE)
        __world_load(node);
    __builtin_memset(out, 0, sizeof *out);
    out->device = IS_DEVICE(node) ? 5 : 1;
    out->number = node->number;
    out->links = node->links;
    out->mode = type_bits(node) | node->mode;
    out->user = out->group = IS_DEVICE(node) ? 0 : NOBODY;
    static const unsigned short numbers[] = {0x103, 0x105, 0x107, 0x108};
    out->real_device = IS_DEVICE(node) ? numbers[node->kind - KIND_NULL] : 0;
    out->size = node->kind == KIND_PIPE || IS_DEVICE(node) ? 0 : node->kind == KIND_FOLDER ? 40 : (int64_t)node->size;
    out->block_size = 4096;
    out->blocks = (out->size + 511) / 512;
    out->accessed.seconds = out->modified.seconds = out->changed.seconds = LONG_AGO;
    return 0;
}

static struct place find(long fd, const char *path, enum last last) {
    struct place nowhere = {0};
    struct node *start = __world_start_folder(fd, path, &nowhere.error);
    if (!start)
        return nowhere;
    struct place place = __world_walk(start, path, last);
    if (!place.folder)
        place.node = NULL;
    else if (!place.node)
        place.error = -ENOENT;
    return place;
}

long __world_stat_fd(long fd, void *out) {
    struct opened *file = __world_opened(fd);
    return file ? tell(file->node, out) : -EBADF;
}

long __world_stat_at(long fd, const char *path, void *out, long flags) {
    if ((flags & AT_EMPTY_PATH) && !path[0])
        return (int)fd == AT_CWD ? tell(__world_cwd, out) : __world_stat_fd(fd, out);
    if (__world_chance("stat", -1, 1))
        return -EACCES;
    struct place place = find(fd, path, flags & AT_NO_FOLLOW ? LAST_NO_FOLLOW : LAST_FOLLOW);
    return place.node ? tell(place.node, out) : place.error;
}

long __world_access(long fd, const char *path, long mode, long flags) {
    struct place place = find(fd, path, flags & AT_NO_FOLLOW ? LAST_NO_FOLLOW : LAST_FOLLOW);
    if (!place.node)
        return place.error;
    unsigned wanted = (unsigned)mode & 7;
    unsigned given = (place.node->mode >> 6) & 7;
    return (given & wanted) == wanted ? 0 : -EACCES;
}

// Whether something new may be made at a place.
static long check_new(const struct place *place) {
    if (!place->folder)
        return place->error;
    if (place->node)
        return -EEXIST;
    return place->folder->mode & 0222 ? 0 : -EACCES;
}

long __world_make_folder(long fd, const char *path, unsigned mode) {
    if (__world_chance("mkdir", -1, 1))
        return -EACCES;
    struct place place = find(fd, path, LAST_NO_FOLLOW);
    long error = check_new(&place);
    if (!error)
        __world_enter(place.folder, place.name, place.length, __world_new_node(KIND_FOLDER, mode & 0777));
    return error;
}

long __world_remove(long fd, const char *path, long flags) {
    int is_folder = (flags & AT_REMOVE_FOLDER) != 0;
    if (__world_chance(is_folder ? "rmdir" : "unlink", -1, 1))
        return -EACCES;
    struct place place = find(fd, path, LAST_NO_FOLLOW);
    struct node *node = place.node;
    if (!node)
        return place.error;
    if (is_folder && node->kind != KIND_FOLDER)
        return -ENOTDIR;
    if (!is_folder && node->kind == KIND_FOLDER)
        return -EISDIR;
    if (node->kind == KIND_FOLDER) {
        __world_load(node);
        if (node == place.folder)
            return -EINVAL;
        if (node->entries)
            return -ENOTEMPTY;
    }
    if (!(place.folder->mode & 0222))
        return -EACCES;
    __world_leave(place.folder, node, place.name, place.length);
    node->links = node->kind == KIND_FOLDER ? 0 : node->links - 1;
    return 0;
}

static int is_below(const struct node *folder, const struct node *other) {
    for (; folder; folder = folder->parent)
        if (folder == other)
            return 1;
    return 0;
}

long __world_rename(long from_fd, const char *from, long to_fd, const char *to) {
    if (__world_chance("rename", -1, 1))
        return -EACCES;
    struct place source = find(from_fd, from, LAST_NO_FOLLOW);
    if (!source.node)
        return source.error;
    struct place target = find(to_fd, to, LAST_NO_FOLLOW);
    if (!target.folder)
        return target.error;
    if (!(source.folder->mode & target.folder->mode & 0222))
        return -EACCES;
    if (source.node == target.node)
        return 0;
    int moves_folder = source.node->kind == KIND_FOLDER;
    if (moves_folder && is_below(target.folder, source.node))
        return -EINVAL;
    if (target.node) {
        if (moves_folder && target.node->kind != KIND_FOLDER)
            return -ENOTDIR;
        if (!moves_folder && target.node->kind == KIND_FOLDER)
            return -EISDIR;
        if (target.node->entries)
            return -ENOTEMPTY;
        __world_leave(target.folder, target.node, target.name, target.length);
        target.node->links--;
    }
    __world_enter(target.folder, target.name, target.length, source.node);
    __world_leave(source.folder, source.node, source.name, source.length);
    if (moves_folder)
        source.node->parent = target.folder;
    return 0;
}

long __world_link(long from_fd, const char *from, long to_fd, const char *to) {
    struct place source = find(from_fd, from, LAST_NO_FOLLOW);
    if (!source.node)
        return source.error;
    if (source.node->kind == KIND_FOLDER)
        return -EPERM;
    struct place target = find(to_fd, to, LAST_NO_FOLLOW);
    long error = check_new(&target);
    if (error)
        return error;
    __world_enter(target.folder, target.name, target.length, source.node);
    source.node->links++;
    return 0;
}

long __world_make_link(const char *target, long fd, const char *path) {
    struct place place = find(fd, path, LAST_NO_FOLLOW);
    long error = check_new(&place);
    if (error)
        return error;
    size_t length = __builtin_strlen(target);
    struct node *node = __world_new_node(KIND_LINK, 0777);
    __world_resize(node, length + 1);
    __builtin_memcpy(node->data, target, length + 1);
    node->size = length;
    __world_enter(place.folder, place.name, place.length, node);
    return 0;
}

long __world_read_link(long fd, const char *path, char *out, size_t room) {
    struct place place = find(fd, path, LAST_NO_FOLLOW);
    if (!place.node)
        return place.error;
    if (place.node->kind != KIND_LINK)
        return -EINVAL;
    size_t n = place.node->size < room ? place.node->size : room;
    __builtin_memcpy(out, place.node->data, n);
    return (long)n;
}

long __world_change_folder(const char *path) {
    if (__world_chance("chdir", -1, 1))
        return -EACCES;
    struct place place = find(AT_CWD, path, LAST_FOLLOW);
    if (!place.node)
        return place.error;
    if (place.node->kind != KIND_FOLDER)
        return -ENOTDIR;
    __world_cwd = place.node;
    return 0;
}

long __world_change_folder_fd(long fd) {
    struct opened *file = __world_opened(fd);
    if (!file)
        return -EBADF;
    if (file->node->kind != KIND_FOLDER)
        return -ENOTDIR;
    __world_cwd = file->node;
    return 0;
}

long __world_where(char *out, size_t room) {
    if (__world_chance("getcwd", -1, 1))
        return -ENOENT;
    size_t n = __world_name(__world_cwd, out, room);
    return n ? (long)n : -ERANGE;
}

// What readdir gives its callers as it is: the machine's headers have numbers and offsets as wide as a long.
struct listed {
    unsigned long number;
    long next;
    unsigned short length;
    byte type;
    char name[];
};

long __world_list(long fd, byte *out, size_t room) {
    struct opened *file = __world_opened(fd);
    if (!file)
        return -EBADF;
    struct node *folder = file->node;
    if (folder->kind != KIND_FOLDER)
        return -ENOTDIR;
    if (__world_chance("getdents", fd, 1))
        return -EIO;
    __world_load(folder);
    size_t done = 0, position = 0;
    struct entry above = {(char *)"..", 2, folder->parent ? folder->parent : folder, folder->entries};
    struct entry self = {(char *)".", 1, folder, &above};
    for (struct entry *entry = &self; entry; entry = entry->next, position++) {
        if (position < file->offset)
            continue;
        size_t length = (offsetof(struct listed, name) + entry->length + 1 + 7) & ~(size_t)7;
        if (done + length > room)
            return done ? (long)done : -EINVAL;
        struct listed *at = (struct listed *)(out + done);
        __builtin_memset(at, 0, length);
        at->number = entry->node->number;
        at->next = (long)position + 1;
        at->length = (unsigned short)length;
        at->type = (byte)(type_bits(entry->node) >> 12);
        __builtin_memcpy(at->name, entry->name, entry->length);
        done += length;
        file->offset = position + 1;
    }
    return (long)done;
}

long __world_change_mode(long fd, const char *path, unsigned mode) {
    if (__world_chance("chmod", -1, 1))
        return -EPERM;
    struct place place = find(fd, path, LAST_FOLLOW);
    if (!place.node)
        return place.error;
    place.node->mode = mode & 07777;
    return 0;
}
