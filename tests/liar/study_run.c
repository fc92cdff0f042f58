/* Running mutants and the honest chip through the verifier, in as many threads as asked for. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "tests/liar/study.h"

#define THREADS_MAX 16

/* One signature on one device; stops at the first failure when asked to. */
struct trial {
    bool stop_at_failure;
    atomic_bool stop; /* read by the verifier */
    size_t cases, warned, failed, no_evidence;
    pw_standing standing;
    bool gate_failed;
    char failed_case[PW_CASE_ID_MAX];
    char reason[200];
    char first_case[PW_CASE_ID_MAX];
};

static void on_event(void *user, const struct pw_verify_event *event)
{
    struct trial *trial = user;

    if (event->kind == PW_VERIFY_DONE_SIGNATURE) {
        trial->standing = event->summary->standing;
        trial->gate_failed = event->summary->gate_failed;
    }
    if (event->kind != PW_VERIFY_CASE)
        return;
    trial->cases++;
    trial->warned += event->result->verdict == PW_VERDICT_WARN;
    trial->no_evidence += event->result->verdict >= PW_VERDICT_UNSUPPORTED;
    if (!trial->first_case[0])
        snprintf(trial->first_case, sizeof trial->first_case, "%s", event->result->id);
    if (event->result->verdict <= PW_VERDICT_WARN || event->result->verdict >= PW_VERDICT_UNSUPPORTED)
        return;
    if (trial->failed++ == 0) {
        snprintf(trial->failed_case, sizeof trial->failed_case, "%s", event->result->id);
        snprintf(trial->reason, sizeof trial->reason, "%s", event->result->reason);
    }
    trial->stop = trial->stop_at_failure;
}

static pw_status try_site(const struct liar_study *study, const struct liar_site *site, struct pw_device *device,
                          uint64_t seed, struct trial *trial, struct pw_error *err)
{
    struct pw_verify_request request = {.inventory = site->inventory,
                                        .kernels = study->kernels,
                                        .device = device,
                                        .protocol = study->protocol,
                                        .effort = {.no_shrink = true},
                                        .seed = seed,
                                        .jobs = 1,
                                        .cancel = &trial->stop,
                                        .emit = on_event,
                                        .user = trial};
    struct pw_verify_totals totals;
    struct pw_error own = {0};
    pw_status status = pw_verify_run(&request, &totals, &own);

    if (status == PW_ERR_CANCELLED && trial->stop)
        return PW_OK;
    if (status != PW_OK)
        pw_error_set(err, status, "%s: %s", site->text, own.message);
    return status;
}

static pw_status open_liar(const struct liar_study *study, const char *fault, double strength, uint64_t seed,
                           int workers, struct pw_device **device, struct pw_error *err)
{
    struct pw_device_options options = {.workers = workers};
    char spec[1024];

    if (fault)
        snprintf(spec, sizeof spec, "plugin:%s:fault=%s,strength=%g,seed=%llu", study->plugin, fault, strength,
                 (unsigned long long)seed);
    else if (study->honest)
        snprintf(spec, sizeof spec, "%s", study->honest);
    else
        snprintf(spec, sizeof spec, "plugin:%s:seed=%llu", study->plugin, (unsigned long long)seed);
    return pw_device_open(spec, &options, device, err);
}

/* ---- a pool of threads over numbered pieces of work ---- */

struct pool {
    struct liar_study *study;
    pw_status (*work)(struct pool *pool, size_t i, struct pw_error *err);
    size_t first, last;
    atomic_size_t next, done;
    pthread_mutex_t lock; /* of what follows, and of progress */
    pw_status status;
    struct pw_error error;
    liar_progress *progress;
    void *user;
    int seeds;                  /* honest */
    struct liar_alarms *alarms; /* honest */
};

static void *pool_thread(void *user)
{
    struct pool *pool = user;

    for (;;) {
        size_t i = atomic_fetch_add(&pool->next, 1);
        struct pw_error err = {0};
        pw_status status;

        if (i >= pool->last || pool->status != PW_OK)
            return NULL;
        status = pool->work(pool, i, &err);
        pthread_mutex_lock(&pool->lock);
        if (status != PW_OK && pool->status == PW_OK) {
            pool->status = status;
            pool->error = err;
        }
        if (pool->progress)
            pool->progress(pool->user, ++pool->done, pool->last - pool->first);
        pthread_mutex_unlock(&pool->lock);
    }
}

static pw_status pool_run(struct pool *pool, struct pw_error *err)
{
    int jobs = pool->study->jobs > 0 && pool->study->jobs <= THREADS_MAX ? pool->study->jobs : 2, started = 0;
    pthread_t threads[THREADS_MAX];

    pool->next = pool->first;
    pthread_mutex_init(&pool->lock, NULL);
    while (started < jobs && pthread_create(&threads[started], NULL, pool_thread, pool) == 0)
        started++;
    for (int i = 0; i < started; i++)
        pthread_join(threads[i], NULL);
    pthread_mutex_destroy(&pool->lock);
    if (started == 0)
        return pw_error_set(err, PW_ERR_INTERNAL, "no thread could be started");
    if (pool->status != PW_OK)
        pw_error_set(err, pool->status, "%s", pool->error.message);
    return pool->status;
}

/* ---- mutants: a device a fault ---- */

static pw_status run_mutant(const struct liar_study *study, struct liar_mutant *mutant, struct pw_device *device,
                            struct pw_error *err)
{
    pw_status status = PW_OK;

    for (size_t i = 0; i < mutant->site_count && !mutant->caught && status == PW_OK; i++) {
        const struct liar_site *site = &study->sites[mutant->sites[i]];
        struct trial trial = {.stop_at_failure = true, .standing = PW_STANDING_UNPROVEN};

        status = try_site(study, site, device, study->seed, &trial, err);
        mutant->cases += trial.cases;
        mutant->caught = trial.failed > 0;
        mutant->catcher = mutant->sites[i];
        if (trial.failed > 0)
            snprintf(mutant->reproducer, sizeof mutant->reproducer, "%s: %s", trial.failed_case, trial.reason);
        else if (!mutant->reproducer[0])
            snprintf(mutant->reproducer, sizeof mutant->reproducer, "\"%s\" --case %s%s", site->text, trial.first_case,
                     trial.no_evidence == trial.cases ? " (no case ran)" : "");
    }
    return status;
}

/* One fault: its mutants lie together. */
static pw_status run_fault(struct pool *pool, size_t i, struct pw_error *err)
{
    struct liar_study *study = pool->study;
    struct pw_device *device = NULL;
    const struct liar_fault *fault = study->mutants[i].fault;
    pw_status status = PW_OK;

    if (i > pool->first && i % 64 != 0 && study->mutants[i - 1].fault == fault)
        return PW_OK; /* the thread that took the first of this run does it */
    status = open_liar(study, fault->name, fault->least, study->seed, 1, &device, err);
    for (size_t k = i; k < pool->last && status == PW_OK && study->mutants[k].fault == fault && (k == i || k % 64); k++)
        if (!study->mutants[k].equivalent)
            status = run_mutant(study, &study->mutants[k], device, err);
    pw_device_close(device);
    return status;
}

pw_status liar_study_run(struct liar_study *study, size_t first, size_t last, liar_progress *progress, void *user,
                         struct pw_error *err)
{
    struct pool pool = {
        .study = study, .work = run_fault, .first = first, .last = last, .progress = progress, .user = user};

    return pool_run(&pool, err);
}

/* ---- the honest chip: a device a seed and a share of the sites ---- */

#define SHARE 64

/* After how many seeds a dtype's turn comes again. */
static size_t period(const struct pool *pool, const struct liar_site *site)
{
    return site->turns < (size_t)pool->seeds ? site->turns : (size_t)pool->seeds;
}

static pw_status run_honest(struct pool *pool, size_t i, struct pw_error *err)
{
    struct liar_study *study = pool->study;
    size_t shares = (study->site_count + SHARE - 1) / SHARE, from = i % shares * SHARE;
    uint64_t seed = study->seed + i / shares;
    struct pw_device *device = NULL;
    pw_status status = open_liar(study, NULL, 1, seed, 1, &device, err);

    for (size_t k = from; k < from + SHARE && k < study->site_count && status == PW_OK; k++) {
        const struct liar_site *site = &study->sites[k];
        struct liar_alarms *alarms = pool->alarms;
        struct trial trial = {.standing = PW_STANDING_UNPROVEN};

        if (site->left_out || site->turn % period(pool, site) != i / shares % period(pool, site))
            continue;
        status = try_site(study, site, device, seed, &trial, err);
        pthread_mutex_lock(&pool->lock);
        alarms->runs++;
        alarms->cases += trial.cases;
        alarms->warned += trial.warned;
        alarms->failed += trial.failed;
        alarms->skipped += trial.no_evidence;
        alarms->unproven += trial.standing == PW_STANDING_UNPROVEN;
        alarms->mistrusted += trial.standing == PW_STANDING_MISTRUSTED;
        if (trial.failed > 0)
            pw_buf_printf(&alarms->text, "alarm: \"%s\" --case %s: %s\n", site->text, trial.failed_case, trial.reason);
        else if (trial.standing == PW_STANDING_UNPROVEN || trial.standing == PW_STANDING_MISTRUSTED)
            pw_buf_printf(&alarms->text, "%s: \"%s\" --case %s\n", pw_standing_name(trial.standing), site->text,
                          trial.first_case);
        pthread_mutex_unlock(&pool->lock);
    }
    pw_device_close(device);
    return status;
}

pw_status liar_study_honest(struct liar_study *study, int seeds, struct liar_alarms *out, liar_progress *progress,
                            void *user, struct pw_error *err)
{
    size_t shares = (study->site_count + SHARE - 1) / SHARE;
    struct pool pool = {.study = study,
                        .work = run_honest,
                        .last = shares * (size_t)seeds,
                        .progress = progress,
                        .user = user,
                        .seeds = seeds,
                        .alarms = out};

    *out = (struct liar_alarms){0};
    return pool_run(&pool, err);
}
