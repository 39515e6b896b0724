// Moves money between two accounts. No transfer may create money; `--check overflow` shows a second problem.
#include <colt.h>

struct account {
    int balance;
    int limit;
};

static int transfer(struct account *from, struct account *to, int amount) {
    if (from->balance + from->limit < amount)
        return 0;
    from->balance -= amount;
    to->balance += amount;
    return 1;
}

void check_transfer(int mine, int yours, int amount, int same) {
    colt_assume(mine >= 0 && mine <= 1000);
    colt_assume(yours >= 0 && yours <= 1000);
    struct account a = {mine, 100}, b = {yours, 100};
    transfer(&a, same ? &a : &b, amount);
    colt_assert(a.balance >= -100);
    colt_assert(b.balance >= yours);
}
