// Conversions and rounding: money in cents, seconds in ticks, a number that is no integer.
#include <assert.h>
#include <colt.h>
#include <math.h>

int main(void) {
    double price;
    float seconds;
    int n;
    colt_input(&price, sizeof price, "price");
    colt_input(&seconds, sizeof seconds, "seconds");
    colt_input(&n, sizeof n, "n");
    if (!(price >= 0 && price < 1e6))
        return 0;
    long cents = (long)(price * 100 + 0.5);
    if (cents == 1999)
        return 1;
    if (price == floor(price) && cents % 100 != 0)
        assert(0);
    if (seconds > 0 && seconds < 1000) {
        unsigned ticks = (unsigned)(seconds * 1000.0f);
        if (ticks == 0)
            return 2;
        if ((float)ticks / 1000.0f == seconds)
            return 3;
    }
    if (n > 0 && (int)(float)n != n)
        return n == 16777217 ? 4 : 5;
    if ((double)n / 3 * 3 != n)
        return 6;
    return 7;
}
