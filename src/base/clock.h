/* Time. CLOCK_MONOTONIC for spans, wall time only for records. */
#ifndef PW_BASE_CLOCK_H
#define PW_BASE_CLOCK_H

#include <stddef.h>
#include <stdint.h>

int64_t pw_clock_ns(void);                                             /* monotonic */
int64_t pw_clock_wall_ms(void);                                        /* Unix epoch */
const char *pw_clock_iso(int64_t wall_ms, char *dst, size_t dst_size); /* "2026-03-01T12:34:56Z" */
void pw_clock_sleep_ns(int64_t ns);

#endif
