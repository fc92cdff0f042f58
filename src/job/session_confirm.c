/* The session's confirmation job: kernels of a baseline, as they were kept, beside today's on the worker's thread. */
#include <string.h>

#include "baseline/kept.h"
#include "bench/versus.h"
#include "job/session_internal.h"

struct confirmation {
    struct pw_session *session;
    const struct pw_job *job;
    struct pw_kernels **kept;     /* by suspect, owned: the kernels come from them */
    struct pw_kernels *today;     /* owned: the session's folders, as foreign ones */
    struct pw_impl *before, *now; /* by suspect */
    struct pw_versus_item *items;
    struct pw_arena *arena; /* of the FINISHED event */
};

/* A kept kernel is foreign code, which is timed by our clock: today's is timed in the same way, or the two would not
 * compare. */
static pw_status load_today(struct confirmation *c, struct pw_error *err)
{
    const struct pw_session *session = c->session;
    struct pw_ops_dir *dirs = pw_calloc(session->ops_dir_count + 1, sizeof *dirs);
    pw_status status;

    if (!dirs)
        return pw_error_memory(err, session->ops_dir_count * sizeof *dirs);
    for (size_t i = 0; i < session->ops_dir_count; i++) {
        dirs[i] = session->ops_dirs[i];
        dirs[i].foreign = true;
    }
    status = pw_kernels_load(dirs, session->ops_dir_count, &c->today, err);
    pw_free(dirs);
    return status;
}

/* The selected kernel, loaded as a foreign one; a reason when it cannot be. */
static const char *find_today(struct confirmation *c, size_t i, const struct pw_impl *selected)
{
    const struct pw_kernel *kernel;
    struct pw_hash128 a, b;

    if (!selected->kernel)
        return "it is the library's now, which is timed in another way than a kept kernel";
    kernel = pw_kernels_find(c->today, selected->name);
    if (!kernel)
        return "today's kernel is gone from its folder";
    a = pw_kernel_hash(kernel);
    b = pw_kernel_hash(selected->kernel);
    if (a.high != b.high || a.low != b.low)
        return "today's kernel was changed during the check";
    c->now[i] = (struct pw_impl){
        .kind = selected->kind, .kernel = kernel, .name = pw_kernel_name(kernel), .supported = true, .why = ""};
    return NULL;
}

static pw_status prepare(struct confirmation *c, size_t i, struct pw_error *err)
{
    struct pw_session *session = c->session;
    const struct pw_session_suspect *suspect = &c->job->suspects[i];
    const struct pw_impl_list *impls = &session->impls[suspect->signature];
    const struct pw_kernel *kernel = NULL;
    struct pw_versus_item *item = &c->items[i];
    struct pw_buf why = {0};
    pw_status status;

    *item =
        (struct pw_versus_item){.signature = &session->concrete->signatures[session->to_concrete[suspect->signature]],
                                .before = &c->before[i],
                                .now = &c->now[i]};
    item->why = impls->selected < 0 || impls->items[impls->selected].kind == PW_COVERAGE_HOST
                    ? "it is not on the target now"
                    : find_today(c, i, &impls->items[impls->selected]);
    if (item->why)
        return PW_OK;
    status =
        pw_kept_load(c->job->kept_root, suspect->kept, suspect->kernel, suspect->hash, &c->kept[i], &kernel, &why, err);
    if (status == PW_OK && !c->kept[i]) {
        item->why = pw_arena_strndup(c->arena, pw_buf_text(&why), why.size);
        if (!item->why)
            status = pw_error_memory(err, why.size);
    }
    if (status == PW_OK && !item->why)
        c->before[i] = (struct pw_impl){
            .kind = PW_COVERAGE_KERNEL, .kernel = kernel, .name = pw_kernel_name(kernel), .supported = true, .why = ""};
    pw_buf_clear(&why);
    return status;
}

/* Items become what the client reads. */
static pw_status hand_over(const struct confirmation *c, struct pw_event *finished, struct pw_error *err)
{
    size_t count = c->job->suspect_count;
    struct pw_session_pair *pairs = pw_arena_alloc(c->arena, count + 1, sizeof *pairs);

    if (!pairs)
        return pw_error_memory(err, count * sizeof *pairs);
    for (size_t i = 0; i < count; i++)
        pairs[i] = (struct pw_session_pair){.signature = c->job->suspects[i].signature,
                                            .before_ns = c->items[i].before_ns,
                                            .now_ns = c->items[i].now_ns,
                                            .count = c->items[i].count,
                                            .why = c->items[i].why};
    finished->pairs = pairs;
    finished->pair_count = count;
    return PW_OK;
}

void pw_session_confirm_job(struct pw_session *session, const struct pw_job *job, struct pw_event *over)
{
    struct confirmation c = {.session = session, .job = job};
    struct pw_versus_request request = {.device = session->device,
                                        .count = job->suspect_count,
                                        .time_ns = job->confirm_ns,
                                        .seed = session->seed,
                                        .cancel = &job->cancel};
    struct pw_error err = {0};
    pw_status status = PW_OK;

    c.arena = &over->arena;
    c.kept = pw_calloc(job->suspect_count + 1, sizeof(struct pw_kernels *));
    c.before = pw_calloc(job->suspect_count + 1, sizeof *c.before);
    c.now = pw_calloc(job->suspect_count + 1, sizeof *c.now);
    c.items = pw_calloc(job->suspect_count + 1, sizeof *c.items);
    if (!c.kept || !c.before || !c.now || !c.items)
        status = pw_error_memory(&err, job->suspect_count * sizeof *c.items);
    request.items = c.items;
    if (status == PW_OK)
        status = load_today(&c, &err);
    for (size_t i = 0; i < job->suspect_count && status == PW_OK; i++)
        status = prepare(&c, i, &err);
    if (status == PW_OK)
        status = pw_versus_run(&request, c.arena, &err);
    if (status == PW_OK)
        status = hand_over(&c, over, &err);
    if (status != PW_OK)
        pw_event_set_error(over, &err);
    for (size_t i = 0; c.kept && i < job->suspect_count; i++)
        pw_kernels_destroy(c.kept[i]);
    pw_free(c.kept);
    pw_kernels_destroy(c.today);
    pw_free(c.before);
    pw_free(c.now);
    pw_free(c.items);
    pw_session_end_job(session, over);
}

pw_status pw_session_confirm(struct pw_session *session, const char *kept_root,
                             const struct pw_session_suspect *suspects, size_t count, int64_t time_ns,
                             struct pw_error *err)
{
    struct pw_job *job = pw_job_create(err);
    struct pw_session_suspect *copy = pw_calloc(count + 1, sizeof *copy);

    if (!job || !copy || !(job->kept_root = pw_strdup(kept_root))) {
        pw_free(copy);
        pw_job_free(job);
        return pw_error_memory(err, count * sizeof *copy);
    }
    memcpy(copy, suspects, count * sizeof *copy);
    job->suspects = copy;
    job->suspect_count = count;
    job->confirm_ns = time_ns;
    pw_session_submit(session, job, NULL);
    return PW_OK;
}
