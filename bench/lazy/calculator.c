// A calculator with a hand-written lexer: numbers, four operators (each also as a word), a sign and parentheses, of which
// OPS along one path. The result is 0 for a valid input, else what is wrong with it.
#include <colt.h>
#ifndef OPS
#define OPS 1
#endif
#define SIZE (OPS * 12 + 8)

enum kind { END, NUMBER, PLUS, MINUS, TIMES, OVER, OPEN, CLOSE, BAD };
enum error { NONE, SYNTAX, DIVISION, TOO_LONG };

struct token {
    int kind;
    int value;
};

static char text[SIZE + 1];
static int position;
static struct token current;
static int n_operations;
static int error;

static int same(const char *a, const char *b) {
    while (*a && *a == *b) {
        a++;
        b++;
    }
    return *a == *b;
}

static struct token word(void) {
    static const char *const names[] = {"plus", "minus", "times", "over"};
    struct token token = {BAD, 0};
    char letters[8];
    int n = 0;
    while (text[position] >= 'a' && text[position] <= 'z') {
        if (n < 7)
            letters[n++] = text[position];
        position++;
    }
    letters[n] = 0;
    for (int i = 0; i < 4; i++)
        if (same(letters, names[i]))
            token.kind = PLUS + i;
    return token;
}

static struct token lex(void) {
    struct token token = {BAD, 0};
    while (text[position] == ' ')
        position++;
    char c = text[position];
    if (c == 0) {
        token.kind = END;
        return token;
    }
    if (c >= '0' && c <= '9') {
        token.kind = NUMBER;
        while (text[position] >= '0' && text[position] <= '9') {
            if (token.value < 100000)
                token.value = token.value * 10 + (text[position] - '0');
            position++;
        }
        return token;
    }
    if (c >= 'a' && c <= 'z')
        return word();
    position++;
    switch (c) {
    case '+': token.kind = PLUS; break;
    case '-': token.kind = MINUS; break;
    case '*': token.kind = TIMES; break;
    case '/': token.kind = OVER; break;
    case '(': token.kind = OPEN; break;
    case ')': token.kind = CLOSE; break;
    }
    return token;
}

static void fail(int what) {
    if (error == NONE)
        error = what;
}

static void advance(void) {
    current = lex();
}

// An operator was read: one operation more.
static void operation(void) {
    if (++n_operations > OPS)
        fail(TOO_LONG);
    else
        advance();
}

static int sum(void);

static int factor(void) {
    int value = 0;
    if (current.kind == NUMBER) {
        value = current.value;
        advance();
    } else if (current.kind == MINUS) {
        operation();
        if (error == NONE)
            value = -factor();
    } else if (current.kind == OPEN) {
        operation();
        if (error == NONE)
            value = sum();
        if (error == NONE) {
            if (current.kind == CLOSE)
                advance();
            else
                fail(SYNTAX);
        }
    } else {
        fail(SYNTAX);
    }
    return value;
}

static int product(void) {
    int value = factor();
    while (error == NONE && (current.kind == TIMES || current.kind == OVER)) {
        int operator = current.kind;
        operation();
        int right = error == NONE ? factor() : 1;
        if (error != NONE)
            break;
        if (operator == TIMES)
            value = (int)((unsigned)value * (unsigned)right);
        else if (right == 0)
            fail(DIVISION);
        else
            value = (int)((long long)value / right);
    }
    return value;
}

static int sum(void) {
    int value = product();
    while (error == NONE && (current.kind == PLUS || current.kind == MINUS)) {
        int operator = current.kind;
        operation();
        int right = error == NONE ? product() : 0;
        value = operator == PLUS ? (int)((unsigned)value + (unsigned)right) : (int)((unsigned)value - (unsigned)right);
    }
    return value;
}

int main(void) {
    colt_input(text, SIZE, "text");
    text[SIZE] = 0;
    advance();
    sum();
    if (error == NONE && current.kind != END)
        fail(SYNTAX);
    return error;
}
