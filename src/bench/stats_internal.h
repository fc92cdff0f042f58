/* Shared by stats*.c. Not for others. */
#ifndef PW_BENCH_STATS_INTERNAL_H
#define PW_BENCH_STATS_INTERNAL_H

#include "bench/stats.h"

void pw_stats_sort(double *values, size_t count);
double pw_stats_middle(const double *sorted, size_t count);             /* median */
double pw_stats_quantile(const double *sorted, size_t count, double q); /* count > 0 */
/* PW_ERR_USAGE unless 1 to PW_STATS_SAMPLES_MAX positive finite samples. */
pw_status pw_stats_check(const double *samples, size_t count, const char *what, struct pw_error *err);

#endif
