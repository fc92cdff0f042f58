/* The roofline. */
#include "bench/roofline.h"

#include <math.h>
#include <string.h>

#define ABOVE 1.05 /* beyond the upper quartile by so much: peaks have an error too */

const char *pw_bound_name(pw_bound bound)
{
    static const char *const names[PW_BOUND_COUNT] = {"unknown", "compute", "memory", "launch"};

    return (size_t)bound < PW_BOUND_COUNT ? names[bound] : "unknown";
}

/* The levels of these peaks in order of size; the level whose set the footprint fits, with as much again to spare:
 * sets are half of the caches. The last holds everything. */
static const char *level_of(const struct pw_peaks *peaks, double footprint)
{
    const struct pw_peak *best = NULL, *largest = NULL;

    for (size_t i = 0; i < peaks->count; i++) {
        const struct pw_peak *peak = &peaks->items[i];

        if (peak->kind == PW_PEAK_FMA)
            continue;
        if (!largest || peak->working_set_bytes > largest->working_set_bytes)
            largest = peak;
        if (footprint <= 2.0 * (double)peak->working_set_bytes &&
            (!best || peak->working_set_bytes < best->working_set_bytes))
            best = peak;
    }
    return best ? best->level : largest ? largest->level : NULL;
}

static const char *memory_level(const struct pw_peaks *peaks)
{
    return level_of(peaks, INFINITY);
}

/* Bytes a second of a kind at a level; a level's missing kind falls back to its reading. */
static double rate(const struct pw_peaks *peaks, pw_peak_kind kind, const char *level, bool high)
{
    const struct pw_peak *peak = pw_peaks_find(peaks, kind, level);

    if (!peak)
        peak = pw_peaks_find(peaks, PW_PEAK_READ, level);
    return peak ? (high ? peak->high : peak->median) : NAN;
}

static double memory_time(const struct pw_peaks *peaks, const struct pw_roof_request *r, const char *level, bool high)
{
    double both = fmin(r->read_bytes, r->write_bytes);

    if (r->cold) /* what is read comes from memory; what is written need not have arrived there yet */
        return 1e9 * fmax(r->read_bytes / rate(peaks, PW_PEAK_READ, memory_level(peaks), high),
                          r->write_bytes / rate(peaks, PW_PEAK_WRITE, level, high));
    /* As much as can be is copied (a copied byte counts twice), the rest is only read or only written. */
    return 1e9 * (2 * both / rate(peaks, PW_PEAK_COPY, level, high) +
                  (r->read_bytes - both) / rate(peaks, PW_PEAK_READ, level, high) +
                  (r->write_bytes - both) / rate(peaks, PW_PEAK_WRITE, level, high));
}

static double compute_time(const struct pw_peaks *peaks, const struct pw_roof_request *r, bool high)
{
    const struct pw_peak *fma = pw_peaks_find(peaks, PW_PEAK_FMA, NULL);
    double scale = r->flop_scale > 0 ? r->flop_scale : 1;

    return fma && !isnan(r->flops) ? 1e9 * r->flops / ((high ? fma->high : fma->median) * scale) : NAN;
}

/* The larger of two, unknown ones aside. */
static double larger(double a, double b)
{
    return isnan(a) ? b : isnan(b) ? a : fmax(a, b);
}

void pw_roofline(const struct pw_peaks *peaks, const struct pw_roof_request *r, struct pw_roof *out)
{
    *out = (struct pw_roof){.compute_ns = NAN, .memory_ns = NAN, .roof_ns = NAN, .share = NAN};
    out->level = level_of(peaks, r->footprint);
    out->compute_ns = compute_time(peaks, r, false);
    if (out->level)
        out->memory_ns = memory_time(peaks, r, out->level, false);
    out->roof_ns = larger(out->compute_ns, out->memory_ns);
    if (isnan(out->roof_ns) || !(r->latency_ns > 0))
        return;
    out->share = out->roof_ns / r->latency_ns;
    out->bound = isnan(out->memory_ns) || out->compute_ns > out->memory_ns ? PW_BOUND_COMPUTE : PW_BOUND_MEMORY;
    if (!isnan(r->launch_ns) && r->launch_ns >= r->latency_ns / 2)
        out->bound = PW_BOUND_LAUNCH;
    double least = larger(compute_time(peaks, r, true), out->level ? memory_time(peaks, r, out->level, true) : NAN);
    out->above = least > ABOVE * r->latency_ns;
    if (r->cold && out->level)
        out->level = memory_level(peaks);
}

void pw_roofline_declared(const struct pw_target_info *info, struct pw_peaks *out)
{
    memset(out, 0, sizeof *out);
    if (info->peak_flops > 0)
        out->items[out->count++] = (struct pw_peak){.kind = PW_PEAK_FMA,
                                                    .level = "declared",
                                                    .median = info->peak_flops,
                                                    .low = info->peak_flops,
                                                    .high = info->peak_flops};
    for (int kind = PW_PEAK_READ; kind < PW_PEAK_COUNT && info->peak_bytes > 0; kind++)
        out->items[out->count++] = (struct pw_peak){.kind = (pw_peak_kind)kind,
                                                    .level = "declared",
                                                    .working_set_bytes = INT64_MAX / 4,
                                                    .median = info->peak_bytes,
                                                    .low = info->peak_bytes,
                                                    .high = info->peak_bytes};
}
