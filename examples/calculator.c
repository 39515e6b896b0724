// A calculator in reverse Polish notation: "34+" is 7. Four characters are enough to break it in several ways.
#include <assert.h>
#include <colt.h>

enum { LENGTH = 4, DEPTH = 3 };

static int stack[DEPTH];
static int height;

static void push(int value) {
    assert(height < DEPTH);
    stack[height++] = value;
}

static int pop(void) { return stack[--height]; }

static int evaluate(const char *text) {
    for (int i = 0; i < LENGTH && text[i] != '\0'; i++) {
        char c = text[i];
        if (c >= '0' && c <= '9') {
            push(c - '0');
            continue;
        }
        int right = pop();
        int left = pop();
        switch (c) {
        case '+': push(left + right); break;
        case '*': push(left * right); break;
        case '/': push(left / right); break;
        default: return -1;
        }
    }
    return height == 1 ? stack[0] : -1;
}

int main(void) {
    char text[LENGTH];
    colt_input(text, sizeof text, "text");
    return evaluate(text) == 42;
}
