// Dates: day numbers, weekdays, leap years.
#include <assert.h>
#include <colt.h>

static int days(int y, int m, int d) {
    y -= m <= 2;
    int era = (y >= 0 ? y : y - 399) / 400;
    int yoe = y - era * 400;
    int doy = (153 * (m + (m > 2 ? -3 : 9)) + 2) / 5 + d - 1;
    int doe = yoe * 365 + yoe / 4 - yoe / 100 + doy;
    return era * 146097 + doe - 719468;
}

int main(void) {
    int y = colt_int("y"), m = colt_int("m"), d = colt_int("d");
    if (y < 1600 || y > 2400 || m < 1 || m > 12 || d < 1 || d > 31)
        return 0;
    int leap = (y % 4 == 0 && y % 100 != 0) || y % 400 == 0;
    int n = days(y, m, d);
    int weekday = ((n + 4) % 7 + 7) % 7;
    if (m == 2 && d == 29 && leap && weekday == 0)
        assert(y < 2000);
    if (d == 13 && weekday == 5)
        assert(y * 12 + m != 24313);
    if (n == 20000)
        assert(y != 2024);
    if (y % 100 * 10000 + m * 100 + d == 290230)
        return 1;
    return 0;
}
