// A recursive-descent calculator on 6 symbolic bytes.
#include <colt.h>
#include <stdlib.h>

static const char *at;

static int expression(void);

static int factor(void) {
    int value = 0;
    if (*at == '(') {
        at++;
        value = expression();
        if (*at++ != ')')
            exit(1);
        return value;
    }
    if (*at < '0' || *at > '9')
        exit(1);
    while (*at >= '0' && *at <= '9')
        value = value * 10 + (*at++ - '0');
    return value;
}

static int term(void) {
    int value = factor();
    while (*at == '*' || *at == '/') {
        char operator = *at++;
        int right = factor();
        if (operator == '*')
            value *= right;
        else if (right != 0)
            value /= right;
    }
    return value;
}

static int expression(void) {
    int value = term();
    while (*at == '+' || *at == '-') {
        char operator = *at++;
        int right = term();
        value = operator == '+' ? value + right : value - right;
    }
    return value;
}

int main(void) {
    char text[7];
    colt_input(text, 6, "text");
    text[6] = '\0';
    at = text;
    int value = expression();
    if (*at == '\0' && value == 42)
        return 1;
    return 0;
}
