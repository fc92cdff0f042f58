/*
 * make gate-study: how often the gate cries wolf, and what it catches.
 *
 * Sessions are recorded for real: each opens the device anew (new processes, new memory) and measures every signature
 * of a small graph in turns on four sides: the kernel (A), the fast reference (R), the same kernel again (B), and the
 * kernel with a fifth or a tenth of its work repeated (S). One session in three runs beside a process that keeps a
 * core busy. A decision takes A/R of one session as the baseline and B/R of another as now, as if every kernel's text
 * had changed, so that nothing is excused by an equal hash; it is settled as a check settles it: pw_gate_decide, more
 * slices where it wants them, both kernels in pairs (A and B of the later session) where it wants those. First every
 * ordered pair of sessions with its slices as they were recorded, then more decisions on resampled ones (blocks of
 * three slices, as a pass measures them, drawn with replacement). Power: the same with one signature slowed, really (S,
 * with the slowdown that was measured) or by scaling its times.
 */
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/random.h"
#include "baseline/gate.h"
#include "bench/measure.h"
#include "op/cases.h"
#include "run/reference_process.h"
#include "verify/verify.h"

#define SIGNATURES_MAX 32
#define SESSIONS_MAX 32
#define SLICES 27
#define BLOCK 3
#define PASSES (SLICES / BLOCK)
#define FIRST 9 /* slices of a check */
#define MORE 18 /* slices of a round of "measuring more" */
#define RATIOS_MAX 99
#define PAIRS 120 /* of a confirmation: PW_VERSUS_PAIRS_MAX */
#define ROUNDS 3  /* as cli/check_settle.c */
#define DECISIONS 600
#define POWER_DECISIONS 500

enum { KERNEL, REFERENCE, AGAIN, SLOWED, SIDES };

static const char *const calls[] = {
    "MatMul-13 (float32[128,256], =float32[256,256] uniform 1)",
    "MatMul-13 (float32[64,384], =float32[384,384] uniform 2)",
    "MatMul-13 (float32[8,128,64], float32[8,64,128])",
    "Gemm-13 (float32[64,256], =float32[256,512] uniform 3, =float32[512] uniform 4)",
    "Conv-11 (float32[1,32,28,28], =float32[32,32,3,3] uniform 5)",
    "Softmax-13 (float32[512,256])",
    "LayerNormalization-17 (float32[256,384], =float32[384] uniform 6, =float32[384] uniform 7)",
    "Gelu-20 (float32[256,1024])",
    "Tanh-13 (float32[256,1024])",
    "Add-14 (float32[512,512], float32[512,512])",
    "Mul-14 (float32[512,512], float32[512])",
    "Transpose-13 perm=[1,0] (float32[512,384])",
    "ReduceMean-18 (float32[512,512], =int64[1] 1)",
    "Sigmoid-13 (float32[64,4096])",
};

struct recorded { /* one signature in one session */
    double slices[SIDES][SLICES];
    bool good;
};

struct study {
    int sessions, signatures;
    bool busy[SESSIONS_MAX];
    double extra[SESSIONS_MAX]; /* work that side SLOWED repeats */
    struct recorded record[SESSIONS_MAX][SIGNATURES_MAX];
    const struct pw_inventory *inventory;
    struct pw_kernels *kernels;
};

static struct study study; /* large: not on a stack */

/* ---- recording ---- */

static pid_t start_busy(void)
{
    pid_t pid = fork();

    if (pid == 0)
        for (volatile unsigned long i = 0;; i++)
            ;
    return pid;
}

static pw_status measure_session(int session, struct pw_device *device, struct pw_reference_process *reference,
                                 struct pw_quiet *quiet, struct pw_arena *arena, struct pw_error *err)
{
    struct pw_measure *measures[SIGNATURES_MAX] = {NULL};
    pw_status status = PW_OK;

    for (int i = 0; i < study.signatures && status == PW_OK; i++) {
        const struct pw_signature *s = &study.inventory->signatures[i];
        struct pw_impl_list *impls = pw_arena_alloc(arena, 1, sizeof *impls);

        if (!impls)
            return pw_error_memory(err, sizeof *impls);
        status = pw_impl_find(s->call, study.kernels, device, arena, impls, err);
        if (status != PW_OK || impls->selected < 0 || !impls->items[impls->selected].kernel)
            continue;
        const struct pw_impl *impl = &impls->items[impls->selected];
        const struct pw_measure_side sides[SIDES] = {
            {.impl = impl}, {.impl = NULL}, {.impl = impl}, {.impl = impl, .extra_work = study.extra[session]}};
        const struct pw_measure_request request = {.signature = s,
                                                   .device = device,
                                                   .reference = reference,
                                                   .quiet = quiet,
                                                   .sides = sides,
                                                   .side_count = SIDES,
                                                   .seed = (uint64_t)session + 1};
        status = pw_measure_create(&request, &measures[i], err);
    }
    for (int pass = 0; pass < PASSES && status == PW_OK; pass++)
        for (int i = 0; i < study.signatures && status == PW_OK; i++)
            if (measures[i])
                status = pw_measure_slices(measures[i], BLOCK, err);
    for (int i = 0; i < study.signatures; i++) {
        struct recorded *r = &study.record[session][i];

        r->good = measures[i] != NULL;
        for (int side = 0; side < SIDES && r->good; side++) {
            const struct pw_measure_result *from = pw_measure_result(measures[i], side);

            r->good = !from->failed && from->slices == SLICES;
            if (r->good)
                memcpy(r->slices[side], from->slices_ns, sizeof r->slices[side]);
        }
        pw_measure_destroy(measures[i]);
    }
    return status;
}

static pw_status record_session(int session, struct pw_error *err)
{
    struct pw_device *device = NULL;
    struct pw_reference_process *reference = NULL;
    struct pw_quiet quiet = {.lock_fd = -1, .stat_fd = -1};
    struct pw_arena arena = {0};
    int64_t begin = pw_clock_ns();
    pid_t busy = 0;
    pw_status status = pw_device_open("opencl", NULL, &device, err);

    if (status == PW_OK)
        status = pw_reference_open(0, &reference, err);
    if (status == PW_OK)
        status = pw_quiet_begin(&quiet, NULL, INT64_C(60000000000), NULL, err);
    if (status == PW_OK && study.busy[session])
        busy = start_busy();
    if (status == PW_OK)
        status = measure_session(session, device, reference, &quiet, &arena, err);
    if (busy > 0) {
        kill(busy, SIGKILL);
        waitpid(busy, NULL, 0);
    }
    printf("session %2d: %s, %d of %d slices begun beside other work, %.0f s\n", session + 1,
           study.busy[session] ? "beside a busy process" : "alone", quiet.busy_slices, quiet.slices,
           (double)(pw_clock_ns() - begin) * 1e-9);
    fflush(stdout);
    pw_quiet_end(&quiet);
    pw_reference_close(reference);
    pw_device_close(device);
    pw_arena_clear(&arena);
    return status;
}

/* What was recorded, as text: "session busy extra", then "session signature side" with the slices in ns. */
static pw_status save(const char *path, struct pw_error *err)
{
    FILE *file = fopen(path, "w");
    bool good = file;

    for (int s = 0; s < study.sessions && good; s++) {
        good = fprintf(file, "session %d %d %g\n", s, study.busy[s], study.extra[s]) > 0;
        for (int i = 0; i < study.signatures; i++)
            for (int side = 0; side < SIDES && study.record[s][i].good; side++) {
                fprintf(file, "slices %d %d %d", s, i, side);
                for (int k = 0; k < SLICES; k++)
                    fprintf(file, " %.1f", study.record[s][i].slices[side][k]);
                fputc('\n', file);
            }
    }
    if (file && fclose(file) != 0)
        good = false;
    return good ? PW_OK : pw_error_set(err, PW_ERR_IO, "%s: cannot be written", path);
}

static bool load_slices(FILE *file)
{
    int s, i, side;

    if (fscanf(file, "%d %d %d", &s, &i, &side) != 3 || s < 0 || s >= study.sessions || i < 0 || i >= SIGNATURES_MAX ||
        side < 0 || side >= SIDES)
        return false;
    for (int k = 0; k < SLICES; k++)
        if (fscanf(file, "%lf", &study.record[s][i].slices[side][k]) != 1)
            return false;
    study.record[s][i].good = true;
    return true;
}

static pw_status load(const char *path, struct pw_error *err)
{
    FILE *file = fopen(path, "r");
    char word[16];
    bool good = file;

    study.sessions = 0;
    while (good && fscanf(file, "%15s", word) == 1) {
        int s, busy;
        double extra;

        if (strcmp(word, "session") != 0) {
            good = !strcmp(word, "slices") && load_slices(file);
            continue;
        }
        good = fscanf(file, "%d %d %lf", &s, &busy, &extra) == 3 && s == study.sessions && s < SESSIONS_MAX;
        if (good) {
            study.busy[s] = busy;
            study.extra[s] = extra;
            study.sessions++;
        }
    }
    if (file)
        fclose(file);
    return good && study.sessions > 1 ? PW_OK : pw_error_set(err, PW_ERR_IO, "%s: no recorded sessions", path);
}

/* Sessions that are drawn instead of recorded, for a check of the study itself: log-normal slices, a percent between
 * sessions, three within one, fifteen beside a busy process. */
static void draw_session(int session)
{
    uint64_t at = 0, seed = 77 + (uint64_t)session;
    double within = study.busy[session] ? 0.15 : 0.03;

    for (int i = 0; i < study.signatures; i++) {
        double shift = 0.01 * pw_random_normal(seed, 1, (uint64_t)i);

        study.record[session][i].good = true;
        for (int k = 0; k < SLICES; k++) {
            double mood = 0.02 * pw_random_normal(seed, 2, at++); /* of the machine: all sides have it */

            for (int side = 0; side < SIDES; side++) {
                double log_ns = 11 + mood + within * pw_random_normal(seed, 3, at++);

                log_ns += side == REFERENCE ? 0 : shift;
                log_ns += side == SLOWED ? log(1 + study.extra[session]) : 0;
                study.record[session][i].slices[side][k] = exp(log_ns);
            }
        }
    }
}

/* ---- drawing what a check would have measured ---- */

/* Slices as recorded, or blocks of them drawn anew. */
struct draw {
    bool resample;
    uint64_t seed, next;
};

/* Unchanged code: the two runs of the kernel in a session are exchangeable, so a resampled slice takes either. Without
 * that a bootstrap would take the chance difference of a session's few slices for a true one. */
static bool exchanged(struct draw *d)
{
    return d->resample && pw_random_range(d->seed, 4, d->next++, 0, 1) == 1;
}

/* Which recorded slice stands at place `i` of what was measured. */
static void order(struct draw *d, int *places, int count)
{
    for (int i = 0; i < count; i += BLOCK) {
        int block = d->resample ? (int)pw_random_range(d->seed, 1, d->next++, 0, PASSES - 1) : i / BLOCK % PASSES;

        for (int k = 0; k < BLOCK && i + k < count; k++)
            places[i + k] = block * BLOCK + k;
    }
}

struct now {                /* what stands for today: the kernel again, slowed really, or by a factor */
    int session, signature; /* of the slowed one; -1: none is */
    int side;
    double factor;
};

/* What today's kernel took in a slice, and what the baseline's took beside it. */
static double now_ns(struct draw *d, const struct now *now, int signature, int place, double *before_ns)
{
    const struct recorded *r = &study.record[now->session][signature];
    bool slowed = signature == now->signature, swap = exchanged(d) && !(slowed && now->side == SLOWED);
    int then = swap ? AGAIN : KERNEL, today = swap ? KERNEL : slowed ? now->side : AGAIN;

    *before_ns = r->slices[then][place];
    return r->slices[today][place] * (slowed ? now->factor : 1);
}

struct arrays { /* one signature of one decision */
    double before[RATIOS_MAX], now[RATIOS_MAX], before_ns[PAIRS], now_ns[PAIRS];
};

static void more_slices(struct draw *d, const struct now *now, int signature, int count, struct pw_gate_signature *s,
                        struct arrays *a)
{
    int places[RATIOS_MAX];

    if (count > RATIOS_MAX - (int)s->now.ratio_count)
        count = RATIOS_MAX - (int)s->now.ratio_count;
    if (d->resample) {
        order(d, places, count);
    } else { /* go on where the last measuring ended, as far as there is something */
        int left = SLICES - (int)s->now.ratio_count;

        count = count < left ? count : left;
        for (int i = 0; i < count; i++)
            places[i] = (int)s->now.ratio_count + i;
    }
    for (int i = 0; i < count; i++) {
        double unused;

        a->now[s->now.ratio_count++] = now_ns(d, now, signature, places[i], &unused) /
                                       study.record[now->session][signature].slices[REFERENCE][places[i]];
    }
}

static void confirm(struct draw *d, const struct now *now, int signature, struct pw_gate_signature *s, struct arrays *a)
{
    int places[PAIRS], count = d->resample ? PAIRS : SLICES;

    order(d, places, count);
    for (int i = 0; i < count; i++)
        a->now_ns[i] = now_ns(d, now, signature, places[i], &a->before_ns[i]);
    s->before_ns = a->before_ns;
    s->now_ns = a->now_ns;
    s->confirm_count = (size_t)count;
}

static void first_look(struct draw *d, int before, const struct now *now, int signature, struct pw_gate_signature *s,
                       struct arrays *a)
{
    int places[FIRST];

    *s = (struct pw_gate_signature){.id = study.inventory->signatures[signature].id,
                                    .op = study.inventory->signatures[signature].op_label};
    s->before = (struct pw_gate_side){.present = true,
                                      .measured = true,
                                      .coverage = PW_COVERAGE_KERNEL,
                                      .kernel = "kernel",
                                      .kernel_hash = "then",
                                      .error = NAN,
                                      .tolerance = NAN,
                                      .limit = NAN,
                                      .ratios = a->before};
    s->now = s->before;
    s->now.kernel_hash = "now";
    s->now.ratios = a->now;
    order(d, places, FIRST);
    for (int i = 0; i < FIRST; i++)
        a->before[i] = study.record[before][signature].slices[exchanged(d) ? AGAIN : KERNEL][places[i]] /
                       study.record[before][signature].slices[REFERENCE][places[i]];
    s->before.ratio_count = FIRST;
    more_slices(d, now, signature, FIRST, s, a);
}

/* A whole gate, settled; signatures that did not measure in either session are left out. results by signature. */
static pw_status decide(struct draw *d, int before, const struct now *now, struct pw_gate_result *out, bool *failed,
                        struct pw_error *err)
{
    static struct arrays arrays[SIGNATURES_MAX];
    struct pw_gate_signature signatures[SIGNATURES_MAX];
    struct pw_gate_result results[SIGNATURES_MAX];
    struct pw_gate_options options = pw_gate_options_default();
    struct pw_gate_totals totals;
    int of[SIGNATURES_MAX], count = 0;
    pw_status status;

    options.precision = options.coverage = false;
    for (int i = 0; i < study.signatures; i++)
        if (study.record[before][i].good && study.record[now->session][i].good) {
            first_look(d, before, now, i, &signatures[count], &arrays[i]);
            of[count++] = i;
        }
    status = pw_gate_decide(&options, signatures, (size_t)count, results, &totals, err);
    for (int round = 0; round < ROUNDS && status == PW_OK && totals.wants; round++) {
        for (int i = 0; i < count; i++)
            if (results[i].wants_confirmation && !signatures[i].confirm_count)
                confirm(d, now, of[i], &signatures[i], &arrays[of[i]]);
        status = pw_gate_decide(&options, signatures, (size_t)count, results, &totals, err);
        for (int i = 0; i < count && status == PW_OK; i++)
            if (results[i].wants_samples)
                more_slices(d, now, of[i], MORE, &signatures[i], &arrays[of[i]]);
        if (status == PW_OK)
            status = pw_gate_decide(&options, signatures, (size_t)count, results, &totals, err);
    }
    for (int i = 0; i < count; i++)
        out[of[i]] = results[i];
    *failed = totals.worse > 0;
    return status;
}

/* ---- the studies ---- */

static void say(const char *what, size_t hits, size_t count)
{
    struct pw_stats_interval i = pw_stats_proportion(hits, count, 0.95);

    printf("%s: %zu of %zu (%.2f %%, 95 %% interval %.2f to %.2f %%)\n", what, hits, count, count ? 100 * i.value : 0,
           100 * i.low, 100 * i.high);
}

static pw_status false_alarms(int wanted, bool *reached, struct pw_error *err)
{
    struct pw_gate_result results[SIGNATURES_MAX];
    size_t real = 0, real_failed = 0, all = 0, all_failed = 0, busy = 0, busy_failed = 0;
    pw_status status = PW_OK;

    for (int i = 0; status == PW_OK && i < study.sessions * study.sessions; i++) {
        struct draw d = {.resample = false};
        struct now now = {.session = i / study.sessions, .signature = -1};
        bool failed;

        if (i % study.sessions == now.session)
            continue;
        status = decide(&d, i % study.sessions, &now, results, &failed, err);
        real++;
        real_failed += failed;
    }
    all = real;
    all_failed = real_failed;
    for (uint64_t i = 0; status == PW_OK && (int)all < wanted; i++) {
        struct draw d = {.resample = true, .seed = 1000 + i};
        int before = (int)pw_random_range(1, 2, i, 0, study.sessions - 1);
        struct now now = {.session = (int)pw_random_range(1, 3, i, 0, study.sessions - 2), .signature = -1};
        bool failed;

        now.session += now.session >= before;
        status = decide(&d, before, &now, results, &failed, err);
        all++;
        all_failed += failed;
        busy += study.busy[before] || study.busy[now.session];
        busy_failed += failed && (study.busy[before] || study.busy[now.session]);
    }
    if (status != PW_OK)
        return status;
    printf("\nfalse alarms, unchanged code\n");
    say("  decisions that failed, as recorded", real_failed, real);
    say("  decisions that failed, resampled too", all_failed, all);
    say("  of them with a busy session on a side", busy_failed, busy);
    *reached = all > 0 && (double)all_failed / (double)all <= 0.01;
    return PW_OK;
}

/* Median of the slowed side over the kernel, in pairs. */
static double real_slowdown(int session, int signature)
{
    const struct recorded *r = &study.record[session][signature];
    struct pw_stats_interval i = {.value = NAN};

    if (r->good)
        pw_stats_paired(r->slices[KERNEL], r->slices[SLOWED], SLICES, 0.95, NULL, &i, NULL);
    return i.value;
}

static bool pick(uint64_t i, double slowdown, bool real, int *before, struct now *now)
{
    for (uint64_t attempt = 0; attempt < 200; attempt++) {
        uint64_t at = i * 200 + attempt;
        double found;

        *before = (int)pw_random_range(2, 2, at, 0, study.sessions - 1);
        now->session = (int)pw_random_range(2, 3, at, 0, study.sessions - 2);
        now->session += now->session >= *before;
        now->signature = (int)pw_random_range(2, 4, at, 0, study.signatures - 1);
        if (!study.record[*before][now->signature].good || !study.record[now->session][now->signature].good)
            continue;
        if (!real) {
            now->side = AGAIN;
            now->factor = slowdown;
            return true;
        }
        found = real_slowdown(now->session, now->signature);
        now->side = SLOWED;
        now->factor = 1;
        if (fabs(found - slowdown) < 0.03)
            return true;
    }
    return false;
}

static pw_status power(double slowdown, bool real, int wanted, size_t *caught, size_t *made, struct pw_error *err)
{
    struct pw_gate_result results[SIGNATURES_MAX];
    pw_status status = PW_OK;

    for (uint64_t i = 0; status == PW_OK && (int)i < wanted; i++) {
        struct draw d = {.resample = true, .seed = 500000 + i};
        struct now now;
        int before;
        bool failed;

        if (!pick(i, slowdown, real, &before, &now))
            break;
        status = decide(&d, before, &now, results, &failed, err);
        *made += 1;
        *caught += results[now.signature].outcome[PW_GATE_THROUGHPUT] == PW_GATE_WORSE;
    }
    return status;
}

static pw_status power_study(double slowdown, double target, int wanted, bool *reached, struct pw_error *err)
{
    size_t caught = 0, made = 0, real_caught = 0, real_made = 0;
    char text[96];
    pw_status status = power(slowdown, true, wanted / 2, &real_caught, &real_made, err);

    if (status == PW_OK)
        status = power(slowdown, false, wanted - (int)real_made, &caught, &made, err);
    if (status != PW_OK)
        return status;
    printf("\npower, one kernel of all slowed by %.0f %%\n", 100 * (slowdown - 1));
    snprintf(text, sizeof text, "  caught, with work that was really repeated (+-3 %%)");
    say(text, real_caught, real_made);
    say("  caught, times scaled", caught, made);
    say("  caught, together", real_caught + caught, real_made + made);
    *reached = real_made + made > 0 && (double)(real_caught + caught) / (double)(real_made + made) >= target;
    return PW_OK;
}

static void describe(void)
{
    printf("\n%-28s %10s %12s %18s\n", "signature", "median", "ratio to R", "sessions' ratios");
    for (int i = 0; i < study.signatures; i++) {
        double low = INFINITY, high = 0, ns = NAN, middle[SESSIONS_MAX];
        char label[32], time[24];
        size_t n = 0;

        for (int s = 0; s < study.sessions; s++) {
            const struct recorded *r = &study.record[s][i];
            double ratios[SLICES], median;

            if (!r->good)
                continue;
            for (int k = 0; k < SLICES; k++)
                ratios[k] = r->slices[KERNEL][k] / r->slices[REFERENCE][k];
            median = pw_stats_median(ratios, SLICES);
            middle[n++] = median;
            low = fmin(low, median);
            high = fmax(high, median);
            ns = pw_stats_median(r->slices[KERNEL], SLICES);
        }
        if (n)
            printf("%-28s %10s %12.3f %8.3f .. %.3f\n",
                   pw_text_show(label, sizeof label, study.inventory->signatures[i].op_label, 28),
                   pw_text_duration(time, sizeof time, ns * 1e-9), pw_stats_median(middle, n), low, high);
    }
}

enum source { RECORDED, DRAWN, LOADED };

static pw_status take_sessions(int sessions, enum source source, const char *path, struct pw_error *err)
{
    pw_status status = PW_OK;

    study.sessions = sessions;
    if (source == LOADED)
        return load(path, err);
    for (int i = 0; i < sessions && status == PW_OK; i++) {
        study.busy[i] = i % 3 == 2;
        study.extra[i] = i % 2 ? 0.1 : 0.2;
        if (source == DRAWN)
            draw_session(i);
        else
            status = record_session(i, err);
    }
    return status == PW_OK && path ? save(path, err) : status;
}

static pw_status run(int sessions, int decisions, enum source source, const char *path, bool *good,
                     struct pw_error *err)
{
    const struct pw_ops_dir dir = {.path = pw_ops_dir_default()};
    struct pw_model *model = NULL;
    struct pw_inference *inference = NULL;
    struct pw_inventory *inventory = NULL;
    struct pw_buf bytes = {0};
    bool quiet = false, twenty = false, ten = false;
    pw_status status = pw_case_model(calls, sizeof calls / sizeof *calls, &bytes, err);

    if (status == PW_OK)
        status = pw_model_parse(bytes.data, bytes.size, "gate-study.onnx", NULL, &model, err);
    if (status == PW_OK)
        status = pw_infer_graph(model, NULL, 0, &inference, err);
    if (status == PW_OK)
        status = pw_inventory_create(model, inference, &inventory, err);
    if (status == PW_OK)
        status = pw_kernels_load(&dir, 1, &study.kernels, err);
    if (status == PW_OK) {
        study.inventory = inventory;
        study.signatures =
            inventory->signature_count < SIGNATURES_MAX ? (int)inventory->signature_count : SIGNATURES_MAX;
    }
    if (status == PW_OK)
        status = take_sessions(sessions, source, path, err);
    if (status == PW_OK)
        describe();
    if (status == PW_OK)
        status = false_alarms(decisions, &quiet, err);
    if (status == PW_OK)
        status = power_study(1.2, 0.95, POWER_DECISIONS, &twenty, err);
    if (status == PW_OK)
        status = power_study(1.1, 0.80, POWER_DECISIONS, &ten, err);
    *good = quiet && twenty && ten;
    if (status == PW_OK)
        printf("\nat most 1 %% false alarms: %s; 20 %% caught in at least 95 %%: %s; 10 %% in at least 80 %%: %s\n",
               quiet ? "yes" : "NO", twenty ? "yes" : "NO", ten ? "yes" : "NO");
    pw_inventory_destroy(inventory);
    pw_inference_destroy(inference);
    pw_model_destroy(model);
    pw_kernels_destroy(study.kernels);
    pw_buf_clear(&bytes);
    return status;
}

int main(int argc, char **argv)
{
    struct pw_error err = {0};
    int64_t sessions = 12, begin = pw_clock_ns();
    enum source source = RECORDED;
    bool good = false;

    if (argc > 1 && !strcmp(argv[1], "--worker"))
        return pw_worker_main(argc, argv);
    if (argc > 1 && !strcmp(argv[1], "--reference"))
        return pw_reference_main(argc, argv);
    if (argc > 1 && (!pw_text_int64(argv[1], &sessions) || sessions < 2 || sessions > SESSIONS_MAX)) {
        fprintf(stderr,
                "gate_study [SESSIONS [drawn | save FILE | load FILE]]: 2 to %d sessions, default 12; drawn: none is "
                "recorded; save: what was recorded is kept, for load to decide on anew\n",
                SESSIONS_MAX);
        return 2;
    }
    if (argc > 2)
        source = !strcmp(argv[2], "drawn") ? DRAWN : !strcmp(argv[2], "load") ? LOADED : RECORDED;
    if (run((int)sessions, DECISIONS, source, argc > 3 ? argv[3] : NULL, &good, &err) != PW_OK) {
        fprintf(stderr, "gate_study: %s\n", err.message);
        return 2;
    }
    printf("%.0f s\n", (double)(pw_clock_ns() - begin) * 1e-9);
    return good ? 0 : 1;
}
