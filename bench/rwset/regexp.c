// A matcher of regular expressions with `.`, `*`, `?`, `^` and `$`, pattern and text both unknown.
#include <colt.h>

static int match_here(const char *re, const char *text);

static int match_star(char c, const char *re, const char *text) {
    do {
        if (match_here(re, text))
            return 1;
    } while (*text != 0 && (*text++ == c || c == '.'));
    return 0;
}

static int match_here(const char *re, const char *text) {
    if (re[0] == 0)
        return 1;
    if (re[1] == '*')
        return match_star(re[0], re + 2, text);
    if (re[1] == '?') {
        if (*text != 0 && (re[0] == '.' || re[0] == *text) && match_here(re + 2, text + 1))
            return 1;
        return match_here(re + 2, text);
    }
    if (re[0] == '$' && re[1] == 0)
        return *text == 0;
    if (*text != 0 && (re[0] == '.' || re[0] == *text))
        return match_here(re + 1, text + 1);
    return 0;
}

static int match(const char *re, const char *text) {
    if (re[0] == '^')
        return match_here(re + 1, text);
    do {
        if (match_here(re, text))
            return 1;
    } while (*text++ != 0);
    return 0;
}

int main(void) {
    char re[6], text[5];
    colt_input(re, sizeof re, "re");
    colt_input(text, sizeof text, "text");
    re[5] = 0;
    text[4] = 0;
    return match(re, text);
}
