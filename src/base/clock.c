/* Clocks of the C library in nanoseconds. */
#include "base/clock.h"

#include <errno.h>
#include <stdio.h>
#include <time.h>

#define NS_PER_S 1000000000

int64_t pw_clock_ns(void)
{
    struct timespec now = {0};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * NS_PER_S + now.tv_nsec;
}

int64_t pw_clock_wall_ms(void)
{
    struct timespec now = {0};
    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

const char *pw_clock_iso(int64_t wall_ms, char *dst, size_t dst_size)
{
    if (dst_size == 0)
        return dst;
    /* Rounded down also before 1970. */
    time_t seconds = (time_t)(wall_ms / 1000 - (wall_ms % 1000 < 0));
    struct tm parts;
    dst[0] = '\0';
    if (gmtime_r(&seconds, &parts) == NULL)
        snprintf(dst, dst_size, "?");
    else if (strftime(dst, dst_size, "%Y-%m-%dT%H:%M:%SZ", &parts) == 0)
        dst[0] = '\0';
    return dst;
}

bool pw_clock_parse_iso(const char *text, int64_t *wall_ms)
{
    struct tm parts = {0};
    int used = 0;

    if (sscanf(text, "%4d-%2d-%2dT%2d:%2d:%2dZ%n", &parts.tm_year, &parts.tm_mon, &parts.tm_mday, &parts.tm_hour,
               &parts.tm_min, &parts.tm_sec, &used) != 6 ||
        !used || text[used] || parts.tm_year < 1970 || parts.tm_mon < 1 || parts.tm_mon > 12 || parts.tm_mday < 1 ||
        parts.tm_mday > 31 || parts.tm_hour < 0 || parts.tm_hour > 23 || parts.tm_min < 0 || parts.tm_min > 59 ||
        parts.tm_sec < 0 || parts.tm_sec > 60)
        return false;
    parts.tm_year -= 1900;
    parts.tm_mon--;
    *wall_ms = (int64_t)timegm(&parts) * 1000;
    return true;
}

void pw_clock_sleep_ns(int64_t ns)
{
    if (ns <= 0)
        return;
    struct timespec left = {.tv_sec = (time_t)(ns / NS_PER_S), .tv_nsec = (long)(ns % NS_PER_S)};
    while (clock_nanosleep(CLOCK_MONOTONIC, 0, &left, &left) == EINTR)
        continue;
}
