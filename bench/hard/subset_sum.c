// Which of these numbers add up to the target?
#include <assert.h>
#include <colt.h>

int main(void) {
    static const int numbers[] = {267, 961, 1153, 1000, 1922, 493, 1598, 869, 1766, 1246, 711, 1432, 1902, 587, 1777, 345};
    int sum = 0;
    for (int i = 0; i < 16; i++) {
        int take = colt_int("take");
        if (take != 0 && take != 1)
            return 0;
        sum += take * numbers[i];
    }
    assert(sum != 10101);
    return 0;
}
