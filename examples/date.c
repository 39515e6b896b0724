// Which day of the year is "MM-DD"? The table is right; the check of the month is not.
#include <colt.h>

static const int days_before[13] = {0, 0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334};

static int number(const char *text) {
    if (text[0] < '0' || text[0] > '9' || text[1] < '0' || text[1] > '9')
        return -1;
    return (text[0] - '0') * 10 + (text[1] - '0');
}

int day_of_year(const char *date) {
    int month = number(date);
    if (month < 1 || month > 13 || date[2] != '-')
        return -1;
    int day = number(date + 3);
    if (day < 1 || day > 31 || date[5] != '\0')
        return -1;
    return days_before[month] + day;
}

int main(void) {
    char date[6];
    colt_input(date, sizeof date, "date");
    return day_of_year(date) > 0 ? 0 : 1;
}
