// A recursive-descent parser for PL/0 with its lexer (names are of small letters), on programs of at most TOKENS tokens. The result is 0 for a valid
// program, 1 for a syntax error, 2 for a program that is longer.
#include <colt.h>
#include <stdlib.h>
#ifndef TOKENS
#define TOKENS 7
#endif
#define SIZE (TOKENS * 10)
#define LONGEST 9

enum symbol {
    END_OF_TEXT, CALL, CONST, VAR, PROCEDURE, BEGIN, END, IF, THEN, WHILE, DO, ODD,
    NAME, NUMBER, BECOMES, EQUAL, UNEQUAL, LESS, LESS_EQUAL, GREATER, GREATER_EQUAL,
    PLUS, MINUS, TIMES, SLASH, OPEN, CLOSE, COMMA, SEMICOLON, PERIOD, UNKNOWN
};

static const char *const keywords[] = {
    "call", "const", "var", "procedure", "begin", "end", "if", "then", "while", "do", "odd"
};

static char text[SIZE + 1];
static int position;
static int symbol;
static int n_symbols;

static int same(const char *a, const char *b) {
    while (*a && *a == *b) {
        a++;
        b++;
    }
    return *a == *b;
}

static int word(void) {
    char letters[LONGEST + 1];
    int n = 0;
    while (text[position] >= 'a' && text[position] <= 'z') {
        if (n < LONGEST)
            letters[n++] = text[position];
        position++;
    }
    letters[n] = 0;
    for (int i = 0; i < 11; i++)
        if (same(letters, keywords[i]))
            return CALL + i;
    return NAME;
}

static int lex(void) {
    while (text[position] == ' ' || text[position] == '\n')
        position++;
    if (text[position] >= 'a' && text[position] <= 'z')
        return word();
    if (text[position] >= '0' && text[position] <= '9') {
        while (text[position] >= '0' && text[position] <= '9')
            position++;
        return NUMBER;
    }
    switch (text[position]) {
    case 0: return END_OF_TEXT;
    case '=': position++; return EQUAL;
    case '#': position++; return UNEQUAL;
    case '+': position++; return PLUS;
    case '-': position++; return MINUS;
    case '*': position++; return TIMES;
    case '/': position++; return SLASH;
    case '(': position++; return OPEN;
    case ')': position++; return CLOSE;
    case ',': position++; return COMMA;
    case ';': position++; return SEMICOLON;
    case '.': position++; return PERIOD;
    case ':':
        if (text[position + 1] == '=') {
            position += 2;
            return BECOMES;
        }
        return UNKNOWN;
    case '<':
        position++;
        if (text[position] != '=')
            return LESS;
        position++;
        return LESS_EQUAL;
    case '>':
        position++;
        if (text[position] != '=')
            return GREATER;
        position++;
        return GREATER_EQUAL;
    }
    return UNKNOWN;
}

static void advance(void) {
    if (n_symbols == TOKENS)
        exit(2);
    n_symbols++;
    symbol = lex();
}

static void expect(int wanted) {
    if (symbol != wanted)
        exit(1);
    advance();
}

static void expression(void);

static void factor(void) {
    if (symbol == NAME || symbol == NUMBER) {
        advance();
    } else {
        expect(OPEN);
        expression();
        expect(CLOSE);
    }
}

static void term(void) {
    factor();
    while (symbol == TIMES || symbol == SLASH) {
        advance();
        factor();
    }
}

static void expression(void) {
    if (symbol == PLUS || symbol == MINUS)
        advance();
    term();
    while (symbol == PLUS || symbol == MINUS) {
        advance();
        term();
    }
}

static void condition(void) {
    if (symbol == ODD) {
        advance();
        expression();
        return;
    }
    expression();
    switch (symbol) {
    case EQUAL: advance(); break;
    case UNEQUAL: advance(); break;
    case LESS: advance(); break;
    case LESS_EQUAL: advance(); break;
    case GREATER: advance(); break;
    case GREATER_EQUAL: advance(); break;
    default: exit(1);
    }
    expression();
}

static void statement(void) {
    switch (symbol) {
    case NAME:
        advance();
        expect(BECOMES);
        expression();
        break;
    case CALL:
        advance();
        expect(NAME);
        break;
    case BEGIN:
        advance();
        statement();
        while (symbol == SEMICOLON) {
            advance();
            statement();
        }
        expect(END);
        break;
    case IF:
        advance();
        condition();
        expect(THEN);
        statement();
        break;
    case WHILE:
        advance();
        condition();
        expect(DO);
        statement();
        break;
    }
}

static void block(void) {
    if (symbol == CONST) {
        do {
            advance();
            expect(NAME);
            expect(EQUAL);
            expect(NUMBER);
        } while (symbol == COMMA);
        expect(SEMICOLON);
    }
    if (symbol == VAR) {
        do {
            advance();
            expect(NAME);
        } while (symbol == COMMA);
        expect(SEMICOLON);
    }
    while (symbol == PROCEDURE) {
        advance();
        expect(NAME);
        expect(SEMICOLON);
        block();
        expect(SEMICOLON);
    }
    statement();
}

int main(void) {
    colt_input(text, SIZE, "text");
    text[SIZE] = 0;
    advance();
    block();
    return symbol == PERIOD ? 0 : 1;
}
