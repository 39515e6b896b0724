// getopt.h: options of a command line, with GNU's habit of moving what is not an option to the end.
#include "common.h"

typedef struct __colt_stream FILE;
extern FILE *stderr;
int fprintf(FILE *stream, const char *format, ...);

struct option {
    const char *name;
    int has_arg;
    int *flag;
    int val;
};
enum { NO_ARGUMENT, REQUIRED_ARGUMENT, OPTIONAL_ARGUMENT };

char *optarg;
int optind = 1, opterr = 1, optopt = '?';

// The rest of a cluster such as -abc; NULL or at its NUL when the next element is due.
static char *cluster;
// Elements first_operand..last_operand-1 are operands already passed over.
static int first_operand, last_operand;

static void reverse(char **elements, int from, int to) {
    for (to--; from < to; from++, to--) {
        char *element = elements[from];
        elements[from] = elements[to];
        elements[to] = element;
    }
}

// Moves the operands behind the options that followed them.
static void move_operands(char **argv) {
    int n_options = optind - last_operand;
    reverse(argv, first_operand, last_operand);
    reverse(argv, last_operand, optind);
    reverse(argv, first_operand, optind);
    first_operand += n_options;
    last_operand = optind;
}

static int is_option(const char *element) { return element[0] == '-' && element[1] != 0; }

static int same_text(const char *a, const char *b) {
    while (*a && *a == *b) {
        a++;
        b++;
    }
    return *a == *b;
}

// Steps to the next element that is an option; answers 0 when there is none left.
static int find_option(int argc, char **argv, int stay_in_order) {
    if (first_operand < last_operand && last_operand != optind)
        move_operands(argv);
    else if (last_operand != optind)
        first_operand = optind;
    if (!stay_in_order)
        while (optind < argc && !is_option(argv[optind]))
            optind++;
    last_operand = optind;
    if (optind < argc && same_text(argv[optind], "--")) {
        optind++;
        if (first_operand < last_operand)
            move_operands(argv);
        else
            first_operand = optind;
        last_operand = argc;
        optind = argc;
    }
    if (optind >= argc) {
        if (first_operand != last_operand)
            optind = first_operand;
        return 0;
    }
    return is_option(argv[optind]);
}

static int complain(const char *options, const char *program, const char *text, int option) {
    optopt = option;
    if (opterr && *options != ':')
        fprintf(stderr, text, program, option);
    return '?';
}

static int short_option(int argc, char **argv, const char *options) {
    int c = (byte)*cluster++;
    const char *found = NULL;
    for (const char *p = options; *p; p++)
        if (*p == c && c != ':' && c != ';')
            found = found ? found : p;
    if (!*cluster)
        optind++;
    if (!found)
        return complain(options, argv[0], "%s: invalid option -- '%c'\n", c);
    if (found[1] != ':')
        return c;
    if (*cluster) {
        optarg = cluster;
        optind++;
    } else if (found[2] == ':') {
        optarg = NULL;
    } else if (optind < argc) {
        optarg = argv[optind++];
    } else {
        cluster = NULL;
        complain(options, argv[0], "%s: option requires an argument -- '%c'\n", c);
        return *options == ':' ? ':' : '?';
    }
    cluster = NULL;
    return c;
}

// The option `name` (up to its = sign) names: an exact match, or the only one it abbreviates. NULL otherwise.
static const struct option *find_long(const char *name, size_t n, const struct option *table) {
    const struct option *abbreviated = NULL;
    int n_abbreviated = 0;
    for (const struct option *option = table; option->name; option++) {
        size_t i = 0;
        while (i < n && option->name[i] == name[i])
            i++;
        if (i < n)
            continue;
        if (!option->name[n])
            return option;
        if (!abbreviated || abbreviated->has_arg != option->has_arg || abbreviated->flag != option->flag ||
            abbreviated->val != option->val)
            n_abbreviated++;
        abbreviated = abbreviated ? abbreviated : option;
    }
    return n_abbreviated == 1 ? abbreviated : NULL;
}

static int long_option(int argc, char **argv, const char *options, const struct option *table, int *which,
                       const char *name) {
    size_t n = 0;
    while (name[n] && name[n] != '=')
        n++;
    const struct option *option = find_long(name, n, table);
    optind++;
    cluster = NULL;
    if (!option) {
        optopt = 0;
        if (opterr && *options != ':')
            fprintf(stderr, "%s: unrecognized option '--%s'\n", argv[0], name);
        return '?';
    }
    if (name[n] == '=') {
        if (option->has_arg == NO_ARGUMENT) {
            optopt = option->val;
            if (opterr && *options != ':')
                fprintf(stderr, "%s: option '--%s' doesn't allow an argument\n", argv[0], option->name);
            return '?';
        }
        optarg = (char *)name + n + 1;
    } else if (option->has_arg == REQUIRED_ARGUMENT) {
        if (optind >= argc) {
            optopt = option->val;
            if (opterr && *options != ':')
                fprintf(stderr, "%s: option '--%s' requires an argument\n", argv[0], option->name);
            return *options == ':' ? ':' : '?';
        }
        optarg = argv[optind++];
    }
    if (which)
        *which = (int)(option - table);
    if (option->flag) {
        *option->flag = option->val;
        return 0;
    }
    return option->val;
}

static int next_option(int argc, char **argv, const char *options, const struct option *table, int *which) {
    if (argc < 1)
        return -1;
    optarg = NULL;
    if (optind == 0) {
        optind = 1;
        cluster = NULL;
        first_operand = last_operand = 1;
    }
    if (first_operand == 0)
        first_operand = last_operand = optind;
    int stay_in_order = *options == '+', one_by_one = *options == '-';
    if (stay_in_order || one_by_one)
        options++;
    if (!cluster || !*cluster) {
        if (last_operand > optind)
            last_operand = optind;
        if (first_operand > optind)
            first_operand = optind;
        if (!find_option(argc, argv, stay_in_order || one_by_one)) {
            if (one_by_one && optind < argc && last_operand != argc) {
                optarg = argv[optind++];
                return 1;
            }
            return -1;
        }
        const char *element = argv[optind];
        if (table && element[1] == '-')
            return long_option(argc, argv, options, table, which, element + 2);
        cluster = argv[optind] + 1;
    }
    return short_option(argc, argv, options);
}

int getopt(int argc, char *const argv[], const char *options) {
    return next_option(argc, (char **)argv, options, NULL, NULL);
}
int __posix_getopt(int argc, char *const argv[], const char *options) { return getopt(argc, argv, options); }
int getopt_long(int argc, char *const argv[], const char *options, const struct option *table, int *which) {
    return next_option(argc, (char **)argv, options, table, which);
}
