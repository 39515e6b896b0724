// A counter that runs up to an input: N decisions about one symbol.
//@ search: dfs
#include <colt.h>

int main(void) {
    unsigned n = colt_uint("n"), i = 0;
    colt_assume(n <= N);
    while (i < n)
        i++;
    return i > N;
}
