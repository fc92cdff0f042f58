/*
 * Peaks. A work-item has a slab of the working set of its own and passes over it `loops` times, so that a
 * launch takes milliseconds at every level; sums are float additions, which a compiler may not reorder, so
 * no pass can be left out. FMA: independent accumulators that never leave the registers; which number and
 * width is best depends on the machine, so several are tried and the fastest counts.
 */
#include "bench/peaks.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "bench/machine.h"

#define SAMPLES_DEFAULT 15
#define SAMPLES_MAX 101
#define PASS_BYTES (INT64_C(1) << 30) /* moved in one launch at least */
#define MEMORY_BYTES (INT64_C(192) << 20)
#define SMALL_BYTES (INT64_C(1) << 20)
#define VECTOR_BYTES 64
#define UNROLL 8
#define FMA_LOOPS 400000

static const char source[] =
    "#define ADD(k) s##k += x[i + k];\n"
    "#define ALL(m) m(0) m(1) m(2) m(3) m(4) m(5) m(6) m(7)\n"
    "#define DECLARE(k) float16 s##k = (float16)(0.0f);\n"
    "__kernel void peak_read(__global const float16 *w, __global float16 *out, long n, int loops)\n"
    "{\n"
    "    __global const float16 *x = w + get_global_id(0) * n;\n"
    "    ALL(DECLARE)\n"
    "    for (int r = 0; r < loops; r++)\n"
    "        for (long i = 0; i < n; i += 8) { ALL(ADD) }\n"
    "    out[get_global_id(0)] = s0 + s1 + s2 + s3 + s4 + s5 + s6 + s7;\n"
    "}\n"
    "#define PUT(k) x[i + k] = v;\n"
    "__kernel void peak_write(__global float16 *w, __global float16 *out, long n, int loops)\n"
    "{\n"
    "    __global float16 *x = w + get_global_id(0) * n;\n"
    "    for (int r = 0; r < loops; r++) {\n"
    "        float16 v = (float16)((float)r);\n"
    "        for (long i = 0; i < n; i += 8) { ALL(PUT) }\n"
    "    }\n"
    "    out[get_global_id(0)] = x[n / 2];\n"
    "}\n"
    "#define MOVE(k) y[i + k] = x[i + k] + v;\n"
    "__kernel void peak_copy(__global float16 *w, __global float16 *out, long n, int loops)\n"
    "{\n"
    "    long h = n / 2;\n"
    "    __global const float16 *x = w + get_global_id(0) * n;\n"
    "    __global float16 *y = w + get_global_id(0) * n + h;\n"
    "    for (int r = 0; r < loops; r++) {\n"
    "        float16 v = (float16)((float)r);\n"
    "        for (long i = 0; i < h; i += 8) { ALL(MOVE) }\n"
    "    }\n"
    "    out[get_global_id(0)] = y[h / 2];\n"
    "}\n"
    "#define FMA_KERNEL(name, T, declare, step, sum) \\\n"
    "__kernel void name(__global float16 *w, __global float16 *out, long n, int loops) \\\n"
    "{ \\\n"
    "    T a = (T)(0.999f), b = (T)((float)n); declare \\\n"
    "    for (int r = 0; r < loops; r++) { step } \\\n"
    "    vstore_half((sum).s0, 0, (__global half *)(out + get_global_id(0))); \\\n"
    "}\n"
    "#define F(k) s##k = fma(s##k, a, b);\n"
    "#define F8 F(0) F(1) F(2) F(3) F(4) F(5) F(6) F(7)\n"
    "#define D8(T) T s0 = a, s1 = a + 1, s2 = a + 2, s3 = a + 3, s4 = a + 4, s5 = a + 5, s6 = a + 6, s7 = a + 7;\n"
    "#define D4(T) T s8 = a + 8, s9 = a + 9, s10 = a + 10, s11 = a + 11;\n"
    "#define S8 s0 + s1 + s2 + s3 + s4 + s5 + s6 + s7\n"
    "FMA_KERNEL(peak_fma_8x8, float8, D8(float8), F8, S8)\n"
    "FMA_KERNEL(peak_fma_12x8, float8, D8(float8) D4(float8), F8 F(8) F(9) F(10) F(11), S8 + s8 + s9 + s10 + s11)\n"
    "FMA_KERNEL(peak_fma_8x16, float16, D8(float16), F8, S8)\n"
    "FMA_KERNEL(peak_fma_12x16, float16, D8(float16) D4(float16), F8 F(8) F(9) F(10) F(11), S8 + s8 + s9 + s10 + s11)\n"
    "FMA_KERNEL(peak_fma_12x4, float4, D8(float4) D4(float4), F8 F(8) F(9) F(10) F(11), S8 + s8 + s9 + s10 + s11)\n";

static const struct {
    const char *entry;
    int lanes; /* floats a loop works on */
} fma_kernels[] = {
    {"peak_fma_8x8", 64}, {"peak_fma_12x8", 96}, {"peak_fma_8x16", 128}, {"peak_fma_12x16", 192}, {"peak_fma_12x4", 48},
};

static const char *const kind_names[PW_PEAK_COUNT] = {"fma", "read", "write", "copy"};
static const char *const bandwidth_entries[PW_PEAK_COUNT] = {NULL, "peak_read", "peak_write", "peak_copy"};

const char *pw_peak_name(pw_peak_kind kind)
{
    return (size_t)kind < PW_PEAK_COUNT ? kind_names[kind] : "?";
}

int pw_peaks_levels(const struct pw_target_info *info, struct pw_peaks_level *levels)
{
    static const char *const names[] = {"L1", "L2", "L3"};
    struct pw_machine machine;
    int count = 0;
    int64_t largest = 0;
    pw_machine_read(&machine);
    const int64_t caches[] = {machine.l1_bytes, machine.l2_bytes, machine.l3_bytes};
    for (int i = 0; info->is_cpu && i < 3; i++) {
        int64_t bytes = caches[i] / 2 * (i < 2 ? info->compute_units : 1);
        /* A level that is hardly larger than the one below it cannot be told apart from it. */
        if (caches[i] > 0 && bytes >= largest * 2) {
            levels[count++] = (struct pw_peaks_level){names[i], bytes};
            largest = bytes;
        }
    }
    if (count == 0)
        levels[count++] = (struct pw_peaks_level){"small", SMALL_BYTES};
    int64_t memory = largest * 6 > MEMORY_BYTES ? largest * 6 : MEMORY_BYTES;
    if (machine.memory_bytes > 0 && memory > machine.memory_bytes / 8)
        memory = machine.memory_bytes / 8;
    levels[count++] = (struct pw_peaks_level){"memory", memory};
    return count;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* One launch: which kernel, over how much. */
struct measurement {
    struct pw_device *device;
    const atomic_bool *cancel;
    const char *entry;
    uint64_t items;
    int64_t bytes;   /* working set */
    int64_t vectors; /* a slab, in vectors of 64 bytes */
    int loops;
    double work; /* FLOP or bytes of one launch */
    int samples;
};

static pw_status measure(const struct measurement *m, struct pw_peak *peak, struct pw_error *err)
{
    int64_t times[SAMPLES_MAX];
    double rates[SAMPLES_MAX];
    struct pw_plan_buffer buffers[2] = {
        {.kind = PW_BUFFER_SCRATCH, .index = 0, .size_bytes = (size_t)(m->bytes > 0 ? m->bytes : VECTOR_BYTES)},
        {.kind = PW_BUFFER_SCRATCH, .index = 1, .size_bytes = (size_t)m->items * VECTOR_BYTES}};
    struct pw_plan_arg args[4] = {{.kind = PW_ARG_BUFFER, .buffer = 0},
                                  {.kind = PW_ARG_BUFFER, .buffer = 1},
                                  {.kind = PW_ARG_LONG, .i = m->vectors},
                                  {.kind = PW_ARG_INT, .i = m->loops}};
    struct pw_plan_program program = {.language = "opencl", .source = source, .options = ""};
    struct pw_plan_launch launch = {
        .entry = m->entry, .work_dim = 1, .global = {m->items}, .local = {1}, .args = args, .arg_count = 4};
    struct pw_plan plan = {.buffers = buffers,
                           .buffer_count = 2,
                           .programs = &program,
                           .program_count = 1,
                           .launches = &launch,
                           .launch_count = 1};
    struct pw_exec_request request = {.plan = &plan, .repeats = m->samples, .samples_ns = times, .cancel = m->cancel};
    struct pw_exec_reply reply;
    pw_status status = pw_device_execute(m->device, &request, &reply, err);
    int count = status == PW_OK ? reply.sample_count : 0;
    if (status != PW_OK && err && reply.log.size > 0) {
        size_t used = strlen(err->message);
        snprintf(err->message + used, sizeof err->message - used, "\n%s", pw_buf_text(&reply.log));
    }
    pw_exec_reply_clear(&reply);
    if (status != PW_OK)
        return status;
    if (count < 1)
        return pw_error_set(err, PW_ERR_TARGET, "measuring %s: no samples", m->entry);
    for (int i = 0; i < count; i++)
        rates[i] = m->work * 1e9 / (double)(times[i] > 0 ? times[i] : 1);
    qsort(rates, (size_t)count, sizeof *rates, by_value);
    peak->median = rates[count / 2];
    peak->low = rates[count / 4];
    peak->high = rates[count - 1 - count / 4];
    peak->samples = count;
    return PW_OK;
}

static pw_status measure_fma(struct measurement m, struct pw_peak *peak, struct pw_error *err)
{
    pw_status status = PW_OK;
    *peak = (struct pw_peak){.kind = PW_PEAK_FMA, .level = "registers"};
    for (size_t i = 0; i < sizeof fma_kernels / sizeof *fma_kernels && status == PW_OK; i++) {
        struct pw_peak one = *peak;
        m.entry = fma_kernels[i].entry;
        m.loops = FMA_LOOPS;
        m.work = 2.0 * fma_kernels[i].lanes * m.loops * (double)m.items;
        status = measure(&m, &one, err);
        if (status == PW_OK && one.median > peak->median)
            *peak = one;
    }
    return status;
}

static pw_status measure_bandwidth(struct measurement m, pw_peak_kind kind, const struct pw_peaks_level *level,
                                   struct pw_peak *peak, struct pw_error *err)
{
    /* Slabs of a whole number of unrolled steps, also when halved for the copy. */
    int64_t step = VECTOR_BYTES * UNROLL * 2;
    int64_t slab = level->bytes / (int64_t)m.items / step * step;
    if (slab < step)
        slab = step;
    m.entry = bandwidth_entries[kind];
    m.vectors = slab / VECTOR_BYTES;
    m.bytes = slab * (int64_t)m.items;
    int64_t loops = PASS_BYTES / m.bytes;
    m.loops = (int)(loops < 1 ? 1 : loops);
    m.work = (double)m.bytes * m.loops;
    *peak = (struct pw_peak){.kind = kind, .level = level->name, .working_set_bytes = m.bytes};
    return measure(&m, peak, err);
}

pw_status pw_peaks_measure(struct pw_device *device, int sample_count, const atomic_bool *cancel, struct pw_peaks *out,
                           struct pw_error *err)
{
    const struct pw_target_info *info = pw_device_info(device);
    struct pw_peaks_level levels[PW_PEAKS_LEVELS];
    struct pw_peaks made = {.count = 0};
    pw_status status = PW_OK;
    if (pw_device_is_reference(device) || strcmp(info->languages[0], "opencl") != 0)
        return pw_error_set(err, PW_ERR_UNSUPPORTED, "%s: peaks are measured with OpenCL kernels only",
                            pw_device_spec(device));
    struct measurement m = {.device = device,
                            .cancel = cancel,
                            .samples = sample_count <= 0            ? SAMPLES_DEFAULT
                                       : sample_count > SAMPLES_MAX ? SAMPLES_MAX
                                                                    : sample_count,
                            /* A CPU's unit runs one work-item at full width; others need many to be busy. */
                            .items = (uint64_t)info->compute_units * (info->is_cpu ? 1 : 1024)};
    int level_count = pw_peaks_levels(info, levels);
    status = measure_fma(m, &made.items[made.count++], err);
    for (int i = 0; i < level_count; i++)
        for (int kind = PW_PEAK_READ; kind < PW_PEAK_COUNT && status == PW_OK; kind++)
            status = measure_bandwidth(m, (pw_peak_kind)kind, &levels[i], &made.items[made.count++], err);
    if (status == PW_OK)
        *out = made;
    return status;
}

void pw_peaks_best(struct pw_peaks *best, const struct pw_peaks *again)
{
    for (size_t i = 0; i < again->count; i++) {
        const struct pw_peak *one = &again->items[i];
        size_t k = 0;

        while (k < best->count && (best->items[k].kind != one->kind || strcmp(best->items[k].level, one->level) != 0))
            k++;
        if (k == best->count && k < PW_PEAKS_MAX)
            best->items[best->count++] = *one;
        else if (k < best->count && one->median > best->items[k].median)
            best->items[k] = *one;
    }
}

const struct pw_peak *pw_peaks_find(const struct pw_peaks *peaks, pw_peak_kind kind, const char *level)
{
    const struct pw_peak *best = NULL;
    for (size_t i = 0; i < peaks->count; i++) {
        const struct pw_peak *peak = &peaks->items[i];
        if (peak->kind == kind && (!level || strcmp(peak->level, level) == 0) && (!best || peak->median > best->median))
            best = peak;
    }
    return best;
}
