// The tree of files and folders, and how a path is walked.
#include "world.h"

struct node *__world_root, *__world_cwd;
static unsigned long last_number;

struct node *__world_new_node(enum kind kind, unsigned mode) {
    struct node *node = malloc(sizeof *node);
    __builtin_memset(node, 0, sizeof *node);
    node->kind = kind;
    node->mode = mode;
    node->links = kind == KIND_FOLDER ? 2 : 1;
    node->number = ++last_number;
    return node;
}

void __world_enter(struct node *folder, const char *name, size_t length, struct node *node) {
    struct entry *entry = malloc(sizeof *entry);
    entry->name = malloc(length + 1);
    __builtin_memcpy(entry->name, name, length);
    entry->name[length] = 0;
    entry->length = length;
    entry->node = node;
    entry->next = NULL;
    struct entry **end = &folder->entries;
    while (*end)
        end = &(*end)->next;
    *end = entry;
    if (node->kind == KIND_FOLDER) {
        node->parent = folder;
        folder->links++;
    }
}

static int same_name(const struct entry *entry, const char *name, size_t length) {
    if (entry->length != length)
        return 0;
    int differs = 0;
    for (size_t i = 0; i < length; i++)
        differs |= entry->name[i] ^ name[i];
    return !differs;
}

void __world_leave(struct node *folder, const struct node *node, const char *name, size_t length) {
    for (struct entry **at = &folder->entries; *at; at = &(*at)->next) {
        struct entry *entry = *at;
        if (entry->node != node || !same_name(entry, name, length))
            continue;
        *at = entry->next;
        if (node->kind == KIND_FOLDER)
            folder->links--;
        free(entry->name);
        free(entry);
        return;
    }
}

// --- real folders ------------------------------------------------------------------------------------------------------

static struct node *find(struct node *folder, const char *name, size_t length);

static char *joined(const char *folder, const char *name, size_t length) {
    size_t n = __builtin_strlen(folder);
    char *path = malloc(n + length + 2);
    __builtin_memcpy(path, folder, n);
    path[n] = '/';
    __builtin_memcpy(path + n + 1, name, length);
    path[n + 1 + length] = 0;
    return path;
}

void __world_load(struct node *node) {
    if (!node->real)
        return;
    char *real = node->real;
    node->real = NULL;
    long size = __colt_real_size(real);
    if (size < 0)
        return;
    byte *bytes = malloc((size_t)size + 1);
    size = __colt_real_read(real, bytes, (size_t)size);
    if (node->kind == KIND_FILE) {
        node->data = bytes;
        node->size = node->room = (size_t)size;
        return;
    }
    for (size_t at = 0; at < (size_t)size;) {
        char *name = (char *)bytes + at;
        size_t length = __builtin_strlen(name);
        at += length + 1;
        char *path = joined(real, name, length);
        long kind = __colt_real_kind(path);
        if (kind < 0)
            continue;
        struct node *inner = find(node, name, length);
        if (!inner) {
            inner = __world_new_node(kind ? KIND_FOLDER : KIND_FILE, kind ? 0555 : 0444);
            __world_enter(node, name, length, inner);
        } else if (inner->kind != KIND_FOLDER || !kind)
            continue;
        inner->real = path;
    }
    free(bytes);
}

// --- paths ----------------------------------------------------------------------------------------------------------------

static struct node *find(struct node *folder, const char *name, size_t length) {
    if (length == 1 && name[0] == '.')
        return folder;
    if (length == 2 && name[0] == '.' && name[1] == '.')
        return folder->parent ? folder->parent : folder;
    __world_load(folder);
    for (struct entry *entry = folder->entries; entry; entry = entry->next)
        if (same_name(entry, name, length))
            return entry->node;
    return NULL;
}

// The entry that the whole of `path` names, or NULL. One question for each entry, however many bytes are symbolic.
static struct node *find_whole(struct node *folder, const char *path, size_t room, size_t *length) {
    __world_load(folder);
    for (struct entry *entry = folder->entries; entry; entry = entry->next) {
        if (entry->length >= room)
            continue;
        int differs = path[entry->length];
        for (size_t i = 0; i < entry->length; i++)
            differs |= path[i] ^ entry->name[i];
        if (!differs) {
            *length = entry->length;
            return entry->node;
        }
    }
    return NULL;
}

enum { MAX_LINKS = 40 };

static struct place walk(struct node *folder, const char *path, enum last last, int n_links) {
    struct place place = {0};
    if (!path[0]) {
        place.error = -ENOENT;
        return place;
    }
    size_t length;
    struct node *whole = find_whole(folder, path, __colt_room(path), &length);
    if (whole && (whole->kind != KIND_LINK || last == LAST_NO_FOLLOW)) {
        place.folder = folder, place.node = whole, place.name = path, place.length = length;
        return place;
    }
    if (path[0] == '/')
        folder = __world_root;
    for (;;) {
        while (*path == '/')
            path++;
        length = 0;
        while (path[length] && path[length] != '/')
            length++;
        size_t end = length;
        while (path[end] == '/')
            end++;
        int is_last = !path[end];
        if (length > 255) {
            place.error = -ENAMETOOLONG;
            return place;
        }
        struct node *node = length ? find(folder, path, length) : folder;
        int follows = node && node->kind == KIND_LINK && (!is_last || last == LAST_FOLLOW || end != length);
        struct node *above = folder;
        const char *name = path;
        if (follows) {
            if (n_links >= MAX_LINKS) {
                place.error = -ELOOP;
                return place;
            }
            struct place target = walk(folder, (const char *)node->data, LAST_FOLLOW, n_links + 1);
            if (!target.folder)
                return target;
            node = target.node, above = target.folder, name = target.name, length = target.length;
        }
        if (is_last) {
            place.folder = above, place.node = node, place.name = name, place.length = length;
            place.wants_folder = end != length;
            if (node && place.wants_folder && node->kind != KIND_FOLDER) {
                place.folder = NULL;
                place.error = -ENOTDIR;
            }
            return place;
        }
        if (!node || node->kind != KIND_FOLDER) {
            place.error = node ? -ENOTDIR : -ENOENT;
            return place;
        }
        folder = node;
        path += end;
    }
}

struct place __world_walk(struct node *start, const char *path, enum last last) { return walk(start, path, last, 0); }

size_t __world_name(const struct node *folder, char *out, size_t room) {
    const char *names[64];
    size_t lengths[64], n = 0, total = 0;
    for (; folder->parent && n < 64; folder = folder->parent) {
        struct entry *entry = folder->parent->entries;
        while (entry && entry->node != folder)
            entry = entry->next;
        if (!entry)
            break;
        names[n] = entry->name;
        lengths[n] = entry->length;
        total += entry->length + 1;
        n++;
    }
    if (total + 1 + (n == 0) > room)
        return 0;
    char *at = out;
    if (n == 0)
        *at++ = '/';
    while (n-- > 0) {
        *at++ = '/';
        __builtin_memcpy(at, names[n], lengths[n]);
        at += lengths[n];
    }
    *at = 0;
    return (size_t)(at - out) + 1;
}
