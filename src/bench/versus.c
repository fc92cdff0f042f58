#include "bench/versus.h"

#include <string.h>

#include "base/clock.h"
#include "base/mem.h"

#define PASS_SLICES 5 /* of every item in turn: a busy spell hits a few slices of each */
#define LOCK_WAIT_NS INT64_C(60000000000)

struct versus {
    const struct pw_versus_request *request;
    struct pw_arena *arena;
    struct pw_measure **measures; /* by item */
    struct pw_quiet quiet;
    int64_t begin_ns;
};

static const char *keep(struct versus *v, const char *text)
{
    const char *copy = pw_arena_strndup(v->arena, text, strlen(text));

    return copy ? copy : "out of memory";
}

static pw_status prepare(struct versus *v, size_t i, struct pw_error *err)
{
    struct pw_versus_item *item = &v->request->items[i];
    const struct pw_measure_side sides[2] = {{.impl = item->before}, {.impl = item->now}};
    const struct pw_measure_request request = {.signature = item->signature,
                                               .device = v->request->device,
                                               .quiet = &v->quiet,
                                               .sides = sides,
                                               .side_count = 2,
                                               .seed = v->request->seed,
                                               .cancel = v->request->cancel};

    item->before_ns = item->now_ns = NULL;
    item->count = 0;
    return item->why ? PW_OK : pw_measure_create(&request, &v->measures[i], err);
}

/* One pass over one item; a side that fails ends it. */
static pw_status pass(struct versus *v, size_t i, struct pw_error *err)
{
    struct pw_measure *m = v->measures[i];
    pw_status status = pw_measure_slices(m, PASS_SLICES, err);

    for (int side = 0; side < 2 && status == PW_OK; side++) {
        const struct pw_measure_result *r = pw_measure_result(m, side);

        if (r->failed && !v->request->items[i].why)
            v->request->items[i].why = keep(v, r->error.message[0] ? r->error.message
                                               : side              ? "it failed"
                                                                   : "the baseline's kernel failed");
    }
    pw_measure_rest(m);
    return status;
}

static bool time_left(const struct versus *v)
{
    return pw_clock_ns() - v->begin_ns < v->request->time_ns;
}

static pw_status measure(struct versus *v, struct pw_error *err)
{
    pw_status status = PW_OK;

    for (int slices = 0; slices < PW_VERSUS_PAIRS_MAX && status == PW_OK; slices += PASS_SLICES) {
        if (slices >= PW_VERSUS_PAIRS_MIN && !time_left(v))
            break;
        for (size_t i = 0; i < v->request->count && status == PW_OK; i++)
            if (v->measures[i] && !v->request->items[i].why)
                status = pass(v, i, err);
    }
    return status;
}

static pw_status take(struct versus *v, size_t i, struct pw_error *err)
{
    struct pw_versus_item *item = &v->request->items[i];
    const struct pw_measure_result *a = pw_measure_result(v->measures[i], 0), *b = pw_measure_result(v->measures[i], 1);
    size_t count = (size_t)(a->slices < b->slices ? a->slices : b->slices);
    double *copy = pw_arena_alloc(v->arena, 2 * count + 1, sizeof *copy);

    if (!copy)
        return pw_error_memory(err, 2 * count * sizeof *copy);
    if (count) {
        memcpy(copy, a->slices_ns, count * sizeof *copy);
        memcpy(copy + count, b->slices_ns, count * sizeof *copy);
    }
    item->before_ns = copy;
    item->now_ns = copy + count;
    item->count = count;
    return PW_OK;
}

pw_status pw_versus_run(const struct pw_versus_request *request, struct pw_arena *arena, struct pw_error *err)
{
    struct versus v = {.request = request, .arena = arena, .quiet = {.lock_fd = -1, .stat_fd = -1}};
    pw_status status = PW_OK;

    v.measures = pw_calloc(request->count + 1, sizeof *v.measures);
    if (!v.measures)
        return pw_error_memory(err, request->count * sizeof *v.measures);
    for (size_t i = 0; i < request->count && status == PW_OK; i++)
        status = prepare(&v, i, err);
    if (status == PW_OK)
        status = pw_quiet_begin(&v.quiet, NULL, LOCK_WAIT_NS, request->cancel, err);
    v.begin_ns = pw_clock_ns();
    if (status == PW_OK)
        status = measure(&v, err);
    pw_quiet_end(&v.quiet);
    for (size_t i = 0; i < request->count && status == PW_OK; i++)
        if (v.measures[i] && !request->items[i].why)
            status = take(&v, i, err);
    for (size_t i = 0; i < request->count; i++)
        pw_measure_destroy(v.measures[i]);
    pw_free(v.measures);
    return status;
}
