// time.h: calendar arithmetic, in UTC and the C locale. The clock itself is an input of the program (engine.h).
#include "common.h"

// GNU's layout.
struct tm {
    int tm_sec, tm_min, tm_hour, tm_mday, tm_mon, tm_year, tm_wday, tm_yday, tm_isdst;
    long tm_gmtoff;
    const char *tm_zone;
};
struct timeval {
    long seconds, microseconds;
};
struct timespec {
    long seconds, nanoseconds;
};

char *tzname[2] = {(char *)"UTC", (char *)"UTC"};
long timezone;
int daylight;
void tzset(void) {}

// --- days and dates -----------------------------------------------------------------------------------------------------
//
// The calendar repeats every 400 years, that is every 146,097 days. Years begin in March here, so that the leap day is
// the last of its year.

#define DAYS_OF_CYCLE 146097
// Days from 0000-03-01 to 1970-01-01.
#define DAYS_BEFORE_1970 719468

static int64_t floor_divide(int64_t a, int64_t b) {
    int64_t quotient = a / b;
    return quotient - (a % b < 0);
}

// The day number (0 is 1970-01-01) of a date in the proleptic Gregorian calendar; month 0 is January.
static int64_t day_number(int64_t year, int month, int64_t day) {
    int64_t from_march = (month + 10) % 12;
    year -= month < 2;
    int64_t cycle = floor_divide(year, 400), of_cycle = year - cycle * 400;
    int64_t day_of_year = (153 * from_march + 2) / 5 + day - 1;
    return cycle * DAYS_OF_CYCLE + of_cycle * 365 + of_cycle / 4 - of_cycle / 100 + day_of_year - DAYS_BEFORE_1970;
}

static int fill_date(int64_t seconds, struct tm *out) {
    int64_t day = floor_divide(seconds, 86400);
    int of_day = (int)(seconds - day * 86400);
    int64_t shifted = day + DAYS_BEFORE_1970, cycle = floor_divide(shifted, DAYS_OF_CYCLE);
    int of_cycle = (int)(shifted - cycle * DAYS_OF_CYCLE);
    int year = (of_cycle - of_cycle / 1460 + of_cycle / 36524 - of_cycle / 146096) / 365;
    int of_year = of_cycle - (365 * year + year / 4 - year / 100);
    int from_march = (5 * of_year + 2) / 153;
    int month = (from_march + 2) % 12;
    int64_t full_year = cycle * 400 + year + (month < 2);
    if (full_year - 1900 > INT_MAX || full_year - 1900 < INT_MIN) {
        colt_errno = COLT_EOVERFLOW;
        return 0;
    }
    out->tm_sec = of_day % 60;
    out->tm_min = of_day / 60 % 60;
    out->tm_hour = of_day / 3600;
    out->tm_mday = of_year - (153 * from_march + 2) / 5 + 1;
    out->tm_mon = month;
    out->tm_year = (int)(full_year - 1900);
    out->tm_wday = (int)(day + 4 - floor_divide(day + 4, 7) * 7);
    out->tm_yday = (int)(day - day_number(full_year, 0, 1));
    out->tm_isdst = 0;
    out->tm_gmtoff = 0;
    out->tm_zone = "GMT";
    return 1;
}

struct tm *gmtime_r(const long *restrict seconds, struct tm *restrict out) { return fill_date(*seconds, out) ? out : NULL; }

struct tm *localtime_r(const long *restrict seconds, struct tm *restrict out) {
    if (!fill_date(*seconds, out))
        return NULL;
    out->tm_zone = "UTC";
    return out;
}

static struct tm shared_date;
struct tm *gmtime(const long *seconds) { return gmtime_r(seconds, &shared_date); }
struct tm *localtime(const long *seconds) { return localtime_r(seconds, &shared_date); }

long timegm(struct tm *date) {
    int64_t years = floor_divide(date->tm_mon, 12);
    int64_t day = day_number((int64_t)date->tm_year + 1900 + years, (int)(date->tm_mon - years * 12), date->tm_mday);
    int64_t seconds = day * 86400 + (int64_t)date->tm_hour * 3600 + (int64_t)date->tm_min * 60 + date->tm_sec;
    if (seconds > LONG_MAX || seconds < LONG_MIN || !fill_date(seconds, date)) {
        colt_errno = COLT_EOVERFLOW;
        return -1;
    }
    return (long)seconds;
}

long mktime(struct tm *date) {
    long seconds = timegm(date);
    date->tm_zone = "UTC";
    return seconds;
}
long timelocal(struct tm *date) { return mktime(date); }

double difftime(long later, long earlier) { return (double)later - (double)earlier; }

// --- the clock ---------------------------------------------------------------------------------------------------------------

int gettimeofday(struct timeval *restrict out, void *restrict zone) {
    (void)zone;
    out->seconds = time(NULL);
    out->microseconds = 0;
    return 0;
}

int clock_gettime(int clock, struct timespec *out) {
    (void)clock;
    out->seconds = time(NULL);
    out->nanoseconds = 0;
    return 0;
}

int timespec_get(struct timespec *out, int base) {
    out->seconds = time(NULL);
    out->nanoseconds = 0;
    return base;
}

int clock_getres(int clock, struct timespec *out) {
    (void)clock;
    if (out)
        *out = (struct timespec){0, 1};
    return 0;
}

// Other threads run meanwhile.
void __colt_thread_yield(void);
unsigned sleep(unsigned seconds) { return __colt_thread_yield(), (void)seconds, 0; }
int usleep(unsigned microseconds) { return __colt_thread_yield(), (void)microseconds, 0; }
int nanosleep(const struct timespec *time, struct timespec *left) {
    __colt_thread_yield();
    (void)time;
    if (left)
        *left = (struct timespec){0, 0};
    return 0;
}

// --- dates as text ------------------------------------------------------------------------------------------------------------

static const char *const weekdays[] = {"Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"};
static const char *const months[] = {"January", "February", "March",     "April",   "May",      "June",
                                     "July",    "August",   "September", "October", "November", "December"};

struct text {
    char *out;
    size_t room;
    size_t n;
};

static void put(struct text *text, const char *s, size_t n) {
    for (size_t i = 0; i < n; i++, text->n++)
        if (text->n < text->room)
            text->out[text->n] = s[i];
}

static void put_name(struct text *text, const char *const *names, int n_names, int which, size_t n) {
    if (which < 0 || which >= n_names) {
        put(text, "?", 1);
        return;
    }
    size_t length = colt_length(names[which]);
    put(text, names[which], n < length ? n : length);
}

static void put_number(struct text *text, long value, int width, char pad) {
    char digits[24];
    int n = 0;
    unsigned long magnitude = value < 0 ? 0ul - (unsigned long)value : (unsigned long)value;
    do
        digits[sizeof digits - 1 - (size_t)n++] = (char)('0' + magnitude % 10);
    while ((magnitude /= 10) || (pad && n + (value < 0) < width && pad == '0'));
    while (pad == ' ' && n < width)
        digits[sizeof digits - 1 - (size_t)n++] = ' ';
    if (value < 0)
        digits[sizeof digits - 1 - (size_t)n++] = '-';
    put(text, digits + sizeof digits - n, (size_t)n);
}

static int is_leap(long year) { return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0); }

// The ISO 8601 week; *year becomes the year that the week belongs to.
static int iso_week(const struct tm *date, long *year) {
    *year = date->tm_year + 1900L;
    int monday_based = (date->tm_wday + 6) % 7;
    int week = (date->tm_yday - monday_based + 10) / 7;
    if (week < 1) {
        --*year;
        int yday = date->tm_yday + (is_leap(*year) ? 366 : 365);
        return (yday - monday_based + 10) / 7;
    }
    if (week == 53) {
        int n_days = is_leap(*year) ? 366 : 365;
        if (date->tm_yday - monday_based + 3 >= n_days) {
            ++*year;
            return 1;
        }
    }
    return week;
}

static void put_format(struct text *text, const char *format, const struct tm *date);

static int twelve_hour(const struct tm *date) { return date->tm_hour % 12 ? date->tm_hour % 12 : 12; }

static void put_field(struct text *text, char field, const struct tm *date, char pad) {
    long year = date->tm_year + 1900L, week_year;
    char zero = pad ? pad : '0', blank = pad ? pad : ' ';
    if (zero == '-')
        zero = 0;
    if (blank == '-')
        blank = 0;
    switch (field) {
    case 'a': put_name(text, weekdays, 7, date->tm_wday, 3); break;
    case 'A': put_name(text, weekdays, 7, date->tm_wday, SIZE_MAX); break;
    case 'b': case 'h': put_name(text, months, 12, date->tm_mon, 3); break;
    case 'B': put_name(text, months, 12, date->tm_mon, SIZE_MAX); break;
    case 'c': put_format(text, "%a %b %e %H:%M:%S %Y", date); break;
    case 'C': put_number(text, year / 100, 2, zero); break;
    case 'd': put_number(text, date->tm_mday, 2, zero); break;
    case 'D': case 'x': put_format(text, "%m/%d/%y", date); break;
    case 'e': put_number(text, date->tm_mday, 2, blank); break;
    case 'F': put_format(text, "%Y-%m-%d", date); break;
    case 'g': put_number(text, (iso_week(date, &week_year), week_year % 100), 2, zero); break;
    case 'G': put_number(text, (iso_week(date, &week_year), week_year), 1, zero); break;
    case 'H': put_number(text, date->tm_hour, 2, zero); break;
    case 'I': put_number(text, twelve_hour(date), 2, zero); break;
    case 'j': put_number(text, date->tm_yday + 1, 3, zero); break;
    case 'k': put_number(text, date->tm_hour, 2, blank); break;
    case 'l': put_number(text, twelve_hour(date), 2, blank); break;
    case 'm': put_number(text, date->tm_mon + 1, 2, zero); break;
    case 'M': put_number(text, date->tm_min, 2, zero); break;
    case 'n': put(text, "\n", 1); break;
    case 'p': put(text, date->tm_hour >= 12 ? "PM" : "AM", 2); break;
    case 'P': put(text, date->tm_hour >= 12 ? "pm" : "am", 2); break;
    case 'r': put_format(text, "%I:%M:%S %p", date); break;
    case 'R': put_format(text, "%H:%M", date); break;
    case 's': {
        struct tm copy = *date;
        put_number(text, mktime(&copy), 1, zero);
        break;
    }
    case 'S': put_number(text, date->tm_sec, 2, zero); break;
    case 't': put(text, "\t", 1); break;
    case 'T': case 'X': put_format(text, "%H:%M:%S", date); break;
    case 'u': put_number(text, date->tm_wday ? date->tm_wday : 7, 1, zero); break;
    case 'U': put_number(text, (date->tm_yday - date->tm_wday + 7) / 7, 2, zero); break;
    case 'V': put_number(text, iso_week(date, &week_year), 2, zero); break;
    case 'w': put_number(text, date->tm_wday, 1, zero); break;
    case 'W': put_number(text, (date->tm_yday - (date->tm_wday + 6) % 7 + 7) / 7, 2, zero); break;
    case 'y': put_number(text, ((year % 100) + 100) % 100, 2, zero); break;
    case 'Y': put_number(text, year, 1, zero); break;
    case 'z':
        put(text, "+", 1);
        put_number(text, 0, 4, zero);
        break;
    case 'Z': put(text, date->tm_zone ? date->tm_zone : "", date->tm_zone ? colt_length(date->tm_zone) : 0); break;
    case '%': put(text, "%", 1); break;
    default:
        put(text, "%", 1);
        put(text, &field, 1);
    }
}

static void put_format(struct text *text, const char *format, const struct tm *date) {
    for (; *format; format++) {
        if (*format != '%') {
            put(text, format, 1);
            continue;
        }
        char pad = 0;
        format++;
        if (*format == '-' || *format == '_' || *format == '0') {
            pad = *format == '_' ? ' ' : *format;
            format++;
        }
        if (*format == 'E' || *format == 'O')
            format++;
        if (!*format)
            return;
        put_field(text, *format, date, pad);
    }
}

size_t strftime(char *restrict out, size_t size, const char *restrict format, const struct tm *restrict date) {
    struct text text = {out, size, 0};
    put_format(&text, format, date);
    if (text.n >= size)
        return 0;
    out[text.n] = 0;
    return text.n;
}

char *asctime_r(const struct tm *restrict date, char *restrict out) {
    struct text text = {out, 25, 0};
    put_format(&text, "%a %b ", date);
    put_number(&text, date->tm_mday, 3 - 1, ' ');
    put_format(&text, " %H:%M:%S %Y\n", date);
    out[text.n < 25 ? text.n : 25] = 0;
    return out;
}

static char shared_text[26];
char *asctime(const struct tm *date) { return asctime_r(date, shared_text); }
char *ctime_r(const long *restrict seconds, char *restrict out) {
    struct tm date;
    return localtime_r(seconds, &date) ? asctime_r(&date, out) : NULL;
}
char *ctime(const long *seconds) { return ctime_r(seconds, shared_text); }
