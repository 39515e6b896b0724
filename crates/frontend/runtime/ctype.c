// ctype.h: tests of characters that never branch, with the very values the GNU tables give.
//
// GNU's header turns isalpha(c) into a look-up in the table behind __ctype_b_loc unless __NO_CTYPE is defined; the
// functions here cost the solver less, the tables are there for code compiled without that definition.
#include "common.h"

// Bits of a table entry on a little-endian machine.
enum {
    UPPER = 0x100,
    LOWER = 0x200,
    ALPHA = 0x400,
    DIGIT = 0x800,
    XDIGIT = 0x1000,
    SPACE = 0x2000,
    PRINT = 0x4000,
    GRAPH = 0x8000,
    BLANK = 0x1,
    CNTRL = 0x2,
    PUNCT = 0x4,
    ALNUM = 0x8,
};

static int is_graph(int c) { return (unsigned)c - 0x21 < 94u; }
static int is_alnum(int c) { return colt_is_alpha(c) | colt_is_digit(c); }

int isupper(int c) { return colt_is_upper(c) * UPPER; }
int islower(int c) { return colt_is_lower(c) * LOWER; }
int isalpha(int c) { return colt_is_alpha(c) * ALPHA; }
int isdigit(int c) { return colt_is_digit(c) * DIGIT; }
int isxdigit(int c) { return (colt_is_digit(c) | (((unsigned)c | 32) - 'a' < 6u)) * XDIGIT; }
int isspace(int c) { return colt_is_space(c) * SPACE; }
int isprint(int c) { return ((unsigned)c - 0x20 < 95u) * PRINT; }
int isgraph(int c) { return is_graph(c) * GRAPH; }
int isblank(int c) { return ((c == ' ') | (c == '\t')) * BLANK; }
int iscntrl(int c) { return (((unsigned)c < 32u) | (c == 127)) * CNTRL; }
int ispunct(int c) { return (is_graph(c) & !is_alnum(c)) * PUNCT; }
int isalnum(int c) { return is_alnum(c) * ALNUM; }
int isascii(int c) { return (unsigned)c < 128u; }
int toascii(int c) { return c & 127; }
int tolower(int c) { return colt_to_lower(c); }
int toupper(int c) { return colt_to_upper(c); }

// --- the tables: index -128..255, the C locale -----------------------------------------------------------------------

#define CASE_ENTRY(c, first, delta) ((c) + ((unsigned)(c) - (first) < 26u ? (delta) : 0))
#define CLASS_ENTRY(c)                                                                                            \
    (unsigned short)(((unsigned)(c) - 'A' < 26u ? UPPER | ALPHA : 0) |                                            \
                     ((unsigned)(c) - 'a' < 26u ? LOWER | ALPHA : 0) |                                            \
                     ((unsigned)(c) - '0' < 10u ? DIGIT | XDIGIT | ALNUM : 0) |                                   \
                     (((unsigned)(c) | 32) - 'a' < 6u ? XDIGIT : 0) |                                             \
                     (((unsigned)(c) | 32) - 'a' < 26u ? ALNUM : 0) |                                             \
                     ((c) == ' ' || (unsigned)(c) - 9 < 5u ? SPACE : 0) |                                         \
                     ((unsigned)(c) - 0x20 < 95u ? PRINT : 0) | ((unsigned)(c) - 0x21 < 94u ? GRAPH : 0) |        \
                     ((c) == ' ' || (c) == 9 ? BLANK : 0) | ((unsigned)(c) < 32u || (c) == 127 ? CNTRL : 0) |     \
                     ((unsigned)(c) - 0x21 < 94u && !((unsigned)(c) - '0' < 10u) &&                               \
                              !(((unsigned)(c) | 32) - 'a' < 26u)                                                 \
                          ? PUNCT                                                                                 \
                          : 0))
#define LOWER_ENTRY(c) CASE_ENTRY(c, 'A', 32)
#define UPPER_ENTRY(c) CASE_ENTRY(c, 'a', -32)
// GNU's case tables map a negative index to the byte it stands for, except -1, which is EOF.
#define NEGATIVE_ENTRY(c) ((c) == 255 ? -1 : (c))

#define FOUR(f, c) f(c), f((c) + 1), f((c) + 2), f((c) + 3)
#define SIXTEEN(f, c) FOUR(f, c), FOUR(f, (c) + 4), FOUR(f, (c) + 8), FOUR(f, (c) + 12)
#define SIXTY_FOUR(f, c) SIXTEEN(f, c), SIXTEEN(f, (c) + 16), SIXTEEN(f, (c) + 32), SIXTEEN(f, (c) + 48)
#define LOW_HALF(f) SIXTY_FOUR(f, 0), SIXTY_FOUR(f, 64)
#define HIGH_HALF(f) SIXTY_FOUR(f, 128), SIXTY_FOUR(f, 192)

static const unsigned short classes[384] = {[128] = LOW_HALF(CLASS_ENTRY)};
static const int lower_case[384] = {HIGH_HALF(NEGATIVE_ENTRY), LOW_HALF(LOWER_ENTRY), HIGH_HALF(LOWER_ENTRY)};
static const int upper_case[384] = {HIGH_HALF(NEGATIVE_ENTRY), LOW_HALF(UPPER_ENTRY), HIGH_HALF(UPPER_ENTRY)};

static const unsigned short *const classes_at_zero = classes + 128;
static const int *const lower_case_at_zero = lower_case + 128;
static const int *const upper_case_at_zero = upper_case + 128;

const unsigned short **__ctype_b_loc(void) { return (const unsigned short **)&classes_at_zero; }
const int **__ctype_tolower_loc(void) { return (const int **)&lower_case_at_zero; }
const int **__ctype_toupper_loc(void) { return (const int **)&upper_case_at_zero; }
