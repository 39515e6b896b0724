// An interpreter of packet filters: checks a program of five instructions, then runs it on a packet.
#include <colt.h>

struct insn { unsigned char op, arg; };

static int check(const struct insn *code, unsigned n) {
    for (unsigned i = 0; i < n; i++) {
        switch (code[i].op) {
        case 0: case 1:
            if (code[i].arg >= 4)
                return 0;
            break;
        case 2: case 3:
            break;
        case 4: case 5:
            if (i + 1 + code[i].arg >= n)
                return 0;
            break;
        case 6:
            break;
        default:
            return 0;
        }
    }
    return code[n - 1].op == 6;
}

static unsigned run(const struct insn *code, const unsigned char *packet) {
    unsigned a = 0, scratch[4] = { 0 };
    for (unsigned at = 0;; at++) {
        const struct insn *insn = &code[at];
        switch (insn->op) {
        case 0: a = packet[insn->arg]; break;
        case 1: scratch[insn->arg] = a; break;
        case 2: a += insn->arg; break;
        case 3: a &= insn->arg; break;
        case 4: if (a == 0) at += insn->arg; break;
        case 5: if (a > 9) at += insn->arg; break;
        default: return a;
        }
    }
}

int main(void) {
    struct insn code[5];
    unsigned char packet[4];
    colt_input(code, sizeof code, "code");
    colt_input(packet, sizeof packet, "packet");
    if (!check(code, 5))
        return 1;
    return run(code, packet) > 5 ? 2 : 3;
}
