/* Time. CLOCK_MONOTONIC for spans, wall time only for records. */
#ifndef PW_BASE_CLOCK_H
#define PW_BASE_CLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

int64_t pw_clock_ns(void);                                             /* monotonic */
int64_t pw_clock_wall_ms(void);                                        /* Unix epoch */
const char *pw_clock_iso(int64_t wall_ms, char *dst, size_t dst_size); /* "2026-03-01T12:34:56Z" */
bool pw_clock_parse_iso(const char *text, int64_t *wall_ms);           /* that form only, its whole seconds */
void pw_clock_sleep_ns(int64_t ns);

#endif
