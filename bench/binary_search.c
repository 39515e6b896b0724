// Looking for 5 symbolic keys in a sorted table of 16.
#include <colt.h>

static const int table[16] = {1, 3, 7, 12, 19, 25, 31, 40, 52, 60, 71, 85, 90, 101, 115, 130};

static int find(int key) {
    int low = 0, high = 15;
    while (low <= high) {
        int middle = (low + high) / 2;
        if (table[middle] == key)
            return middle;
        if (table[middle] < key)
            low = middle + 1;
        else
            high = middle - 1;
    }
    return -1;
}

int main(void) {
    int found = 0;
    int keys[2];
    colt_input(keys, sizeof keys, "keys");
    for (int i = 0; i < 2; i++)
        found += find(keys[i]) >= 0;
    return found;
}
