// A tokenizer for something like XML.
#include <colt.h>

enum state { TEXT, OPEN, NAME, CLOSE, ATTRIBUTES, VALUE, COMMENT };
static unsigned n_tags, n_closed, n_text, n_comments;

int main(void) {
    char text[14];
    colt_input(text, sizeof text, "text");
    enum state state = TEXT;
    unsigned depth = 0;
    for (unsigned i = 0; i < sizeof text; i++) {
        char c = text[i];
        if (c == 0)
            break;
        switch (state) {
        case TEXT:
            if (c == '<')
                state = OPEN;
            else
                n_text++;
            break;
        case OPEN:
            if (c == '/')
                state = CLOSE;
            else if (c == '!')
                state = COMMENT;
            else if (c >= 'a' && c <= 'z')
                state = NAME;
            else
                return 1;
            break;
        case NAME:
            if (c == '>') {
                n_tags++;
                depth++;
                state = TEXT;
            } else if (c == ' ')
                state = ATTRIBUTES;
            else if (c < 'a' || c > 'z')
                return 2;
            break;
        case CLOSE:
            if (c == '>') {
                if (depth == 0)
                    return 3;
                depth--;
                n_closed++;
                state = TEXT;
            } else if (c < 'a' || c > 'z')
                return 4;
            break;
        case ATTRIBUTES:
            if (c == '"')
                state = VALUE;
            else if (c == '>') {
                depth++;
                state = TEXT;
            }
            break;
        case VALUE:
            if (c == '"')
                state = ATTRIBUTES;
            break;
        case COMMENT:
            if (c == '>') {
                n_comments++;
                state = TEXT;
            }
            break;
        }
    }
    return state == TEXT && depth == 0 ? 0 : 5;
}
