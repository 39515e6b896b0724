// Insertion sort with NaNs; claims sorted.
#include <assert.h>
#include <colt.h>
int main(void) {
    float a[3]; colt_input(a, sizeof a, "a");
    for (int i = 1; i < 3; i++) for (int j = i; j > 0 && a[j] < a[j - 1]; j--) { float t = a[j]; a[j] = a[j - 1]; a[j - 1] = t; }
    for (int i = 1; i < 3; i++) assert(a[i - 1] <= a[i]);
    return 0;
}
