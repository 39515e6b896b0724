// The rest of stdlib.h: the environment, and how a program ends.
#include "common.h"

// --- the environment: empty at first -----------------------------------------------------------------------------------

static char *no_environment[1];
char **environ = no_environment;
char **__environ = no_environment;

// The place of `name` in the environment, or of the NULL that ends it.
static char **find_variable(const char *name, size_t n_name) {
    char **place = environ;
    for (; *place; place++) {
        size_t i = 0;
        while (i < n_name && (*place)[i] && (*place)[i] == name[i])
            i++;
        if (i == n_name && (*place)[i] == '=')
            break;
    }
    return place;
}

char *getenv(const char *name) {
    if (!*environ) {
        __colt_check_string(name, SIZE_MAX);
        return NULL;
    }
    size_t n_name = colt_length(name);
    char *found = *find_variable(name, n_name);
    return found ? found + n_name + 1 : NULL;
}

char *secure_getenv(const char *name) { return getenv(name); }

static int is_variable_name(const char *name) {
    if (!name || !*name)
        return 0;
    for (; *name; name++)
        if (*name == '=')
            return 0;
    return 1;
}

// Blocks of the environment are never freed: the program may hold pointers from getenv.
static int put_variable(char *entry, size_t n_name) {
    char **place = find_variable(entry, n_name);
    if (*place) {
        *place = entry;
        return 0;
    }
    size_t n = (size_t)(place - environ);
    char **larger = malloc((n + 2) * sizeof *larger);
    if (!larger) {
        colt_errno = COLT_ENOMEM;
        return -1;
    }
    for (size_t i = 0; i < n; i++)
        larger[i] = environ[i];
    larger[n] = entry;
    larger[n + 1] = NULL;
    environ = __environ = larger;
    return 0;
}

int setenv(const char *name, const char *value, int overwrite) {
    if (!is_variable_name(name)) {
        colt_errno = COLT_EINVAL;
        return -1;
    }
    size_t n_name = colt_length(name), n_value = colt_length(value);
    if (!overwrite && *find_variable(name, n_name))
        return 0;
    char *entry = malloc(n_name + n_value + 2);
    if (!entry) {
        colt_errno = COLT_ENOMEM;
        return -1;
    }
    __builtin_memcpy(entry, name, n_name);
    entry[n_name] = '=';
    __builtin_memcpy(entry + n_name + 1, value, n_value + 1);
    return put_variable(entry, n_name);
}

int unsetenv(const char *name) {
    if (!is_variable_name(name)) {
        colt_errno = COLT_EINVAL;
        return -1;
    }
    for (char **place = find_variable(name, colt_length(name)); *place; place++)
        *place = place[1];
    return 0;
}

int putenv(char *entry) {
    size_t n_name = 0;
    while (entry[n_name] && entry[n_name] != '=')
        n_name++;
    return entry[n_name] ? put_variable(entry, n_name) : unsetenv(entry);
}

int clearenv(void) {
    environ = __environ = no_environment;
    return 0;
}

// --- the exit ------------------------------------------------------------------------------------------------------------

struct exit_handler {
    struct exit_handler *earlier;
    void (*run)(void);
    void (*run_with)(int, void *);
    void *argument;
};

static struct exit_handler *last_handler;
static struct exit_handler first_handlers[32];
static size_t n_first_handlers;

// The first 32 need no heap, so that a leak check does not see them.
static struct exit_handler *new_handler(void) {
    struct exit_handler *handler;
    if (n_first_handlers < 32)
        handler = &first_handlers[n_first_handlers++];
    else if (!(handler = malloc(sizeof *handler)))
        return NULL;
    handler->earlier = last_handler;
    handler->run = NULL;
    handler->run_with = NULL;
    handler->argument = NULL;
    last_handler = handler;
    return handler;
}

int atexit(void (*run)(void)) {
    struct exit_handler *handler = new_handler();
    if (!handler)
        return -1;
    handler->run = run;
    return 0;
}

int on_exit(void (*run)(int, void *), void *argument) {
    struct exit_handler *handler = new_handler();
    if (!handler)
        return -1;
    handler->run_with = run;
    handler->argument = argument;
    return 0;
}

// Runs the handlers, latest first; one that registers another sees it run next. The engine calls this when main
// returns, exit calls it itself.
void __colt_run_thread_exits(void);
void __colt_run_exit_handlers(int status) {
    __colt_run_thread_exits();
    while (last_handler) {
        struct exit_handler *handler = last_handler;
        last_handler = handler->earlier;
        if (handler->run)
            handler->run();
        else
            handler->run_with(status, handler->argument);
    }
}

static void (*quick_handlers[32])(void);
static size_t n_quick_handlers;

int at_quick_exit(void (*run)(void)) {
    if (n_quick_handlers == 32)
        return -1;
    quick_handlers[n_quick_handlers++] = run;
    return 0;
}

_Noreturn void exit(int status) {
    __colt_run_exit_handlers(status);
    __colt_exit(status);
}

_Noreturn void quick_exit(int status) {
    while (n_quick_handlers > 0)
        quick_handlers[--n_quick_handlers]();
    __colt_exit(status);
}

_Noreturn void _exit(int status) { __colt_exit(status); }
_Noreturn void _Exit(int status) { __colt_exit(status); }
