// The world as a program finds it: standard streams, an empty folder with the files asked for, the environment.
#include "world.h"

char **__world_environment(void);
void __world_begin(void);

static void open_as(struct node *node, int flags, size_t offset) {
    struct opened *file = __world_new_opened(node, flags);
    file->offset = offset;
    __world_new_fd(file, 0);
}

static void open_streams(struct node *devices) {
    struct node *device = __world_new_node(KIND_NULL, 0666), *input = device;
    long size = __colt_world_number(WORLD_STDIN_SIZE, 0);
    if (size > 0) {
        input = __world_new_node(KIND_FILE, 0777);
        __world_resize(input, (size_t)size);
        size_t n_whole;
        const byte *whole = __colt_stream("stdin", &n_whole);
        if (whole) {
            __builtin_memcpy(input->data, whole, n_whole);
            input->size = n_whole;
        } else {
            for (long i = 0; i < size; i++)
                input->data[i] = (byte)__colt_stdin_room();
            input->size = (size_t)__colt_length("stdin", size);
        }
    }
    __world_enter(devices, "stdin", 5, input);
    __world_enter(devices, "stdout", 6, device);
    __world_enter(devices, "stderr", 6, device);
    open_as(input, O_RDWR, 0);
    open_as(device, O_RDWR, 1);
    open_as(device, O_RDWR, 2);
}

static struct node *make_folder(struct node *above, const char *name, unsigned mode) {
    struct node *folder = __world_new_node(KIND_FOLDER, mode);
    __world_enter(above, name, __builtin_strlen(name), folder);
    return folder;
}

// A file's folders are made as far as they are missing.
static void make_file(char *path, struct node *file) {
    struct node *folder = __world_cwd;
    char *name = path;
    for (char *at = path; *at; at++) {
        if (*at != '/')
            continue;
        *at = 0;
        struct place place = __world_walk(folder, name, LAST_FOLLOW);
        folder = place.node ? place.node : make_folder(folder, name, 0755);
        *at = '/';
        name = at + 1;
    }
    __world_enter(folder, name, __builtin_strlen(name), file);
}

static void make_files(void) {
    char name[272] = "file:";
    for (long idx = 0; __colt_world_text(WORLD_FILE_NAME, idx, name + 5, sizeof name - 5) >= 0; idx++) {
        size_t size = (size_t)__colt_world_number(WORLD_FILE_SIZE, idx);
        struct node *file = __world_new_node(KIND_FILE, 0644);
        if (size > 0) {
            __world_resize(file, size);
            colt_input(file->data, size, name);
            file->size = (size_t)__colt_length(name, (long)size);
        }
        make_file(name + 5, file);
    }
}

static void allow_real(void) {
    // Asking about the root tells whether any real folder may be read.
    if (__colt_real_kind("/") == 1) {
        __world_root->real = malloc(1);
        __world_root->real[0] = 0;
    }
}

void __world_begin(void) {
    __world_root = __world_new_node(KIND_FOLDER, 0755);
    struct node *devices = make_folder(__world_root, "dev", 0755);
    __world_enter(devices, "null", 4, __world_new_node(KIND_NULL, 0666));
    __world_enter(devices, "zero", 4, __world_new_node(KIND_ZERO, 0666));
    __world_enter(devices, "full", 4, __world_new_node(KIND_FULL, 0666));
    __world_enter(devices, "random", 6, __world_new_node(KIND_RANDOM, 0666));
    __world_enter(devices, "urandom", 7, __world_new_node(KIND_RANDOM, 0666));
    make_folder(__world_root, "tmp", 0777);
    char name[64];
    __colt_world_text(WORLD_CWD, 0, name, sizeof name);
    __world_cwd = make_folder(__world_root, name, 0777);
    open_streams(devices);
    make_files();
    allow_real();
}

char **__world_environment(void) {
    long n = 0;
    while (__colt_world_text(WORLD_ENVIRONMENT, n, NULL, 0) >= 0)
        n++;
    char **entries = malloc(((size_t)n + 1) * sizeof *entries);
    for (long idx = 0; idx < n; idx++) {
        size_t size = (size_t)__colt_world_text(WORLD_ENVIRONMENT, idx, NULL, 0) + 1;
        entries[idx] = malloc(size);
        __colt_world_text(WORLD_ENVIRONMENT, idx, entries[idx], size);
    }
    entries[n] = NULL;
    return entries;
}
