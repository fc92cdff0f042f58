/*
 * Paced executions: a foreign kernel runs in the worker's process and can say what it likes in its name, so the parent
 * says when it runs, keeps the time itself and looks at the outputs the moment that they are said to be there: what it
 * sees then is what is judged and what the caller gets. Before each batch of runs outputs and scratch are poisoned
 * anew, and behind it the outputs must be what an untimed run gave for the same inputs. A kernel that answers too
 * early, writes something quicker while it is timed or makes its clock run slow gains nothing. What it does gain who
 * keeps results for when the same inputs come again shows beside the time of a run on inputs that it has not seen
 * (fresh_ns), which whoever believes the figure must look at.
 *
 * What a message costs is part of a batch's time, but for the least that a round trip has taken, at most GRACE_NS:
 * that much can be gained by answering slowly when there is nothing to do.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

#include "base/clock.h"
#include "base/mem.h"
#include "target/device_internal.h"

#define BATCH_NS 2000000 /* a batch lasts about so long: messages weigh little in it */
#define BATCH_MAX 1000
#define GRACE_NS 50000

struct pace {
    struct pw_exec *x;
    struct pw_link *link;
    int64_t deadline; /* our clock */
    int64_t total_ns;
    int64_t round_trip_ns; /* least seen of a message and its answer */
    pw_message_type *type; /* of the last message received */
    struct pw_wire *wire;  /* its payload */
    uint8_t *expected[2];  /* outputs with `inputs`, with `alternate`, of an untimed run; NULL = not yet */
    size_t expected_bytes;
    struct pw_error *err;
};

/* One step there and back. A reply in its stead (the worker reports a failure) is left in type and wire. */
static pw_status step(struct pace *p, pw_step_kind kind, int64_t first, int count, int64_t *elapsed_ns)
{
    struct pw_exec *x = p->x;
    struct pw_buf payload = {0};
    uint64_t nonce = 0;
    if (getrandom(&nonce, sizeof nonce, 0) != (ssize_t)sizeof nonce)
        return pw_error_set(p->err, PW_ERR_TARGET, "no random numbers");
    pw_wire_u32(&payload, kind);
    pw_wire_u32(&payload, (uint32_t)count);
    pw_wire_u64(&payload, (uint64_t)first);
    pw_wire_u64(&payload, nonce);
    int64_t start = pw_clock_ns();
    pw_status status = payload.failed ? pw_error_memory(p->err, payload.size)
                                      : pw_link_continue(p->link, PW_MSG_STEP, payload.data, payload.size, p->err);
    pw_buf_clear(&payload);
    if (status != PW_OK) {
        pw_link_end(p->link);
        return status;
    }
    if (kind == PW_STEP_END)
        return PW_OK;
    int64_t left = p->deadline - start;
    struct pw_error failure = {0};
    status = pw_link_wait(p->link, PW_MSG_STEPPED, left > 0 ? left : 0, x->request->cancel, x->what, p->type, p->wire,
                          &x->reply->log, &failure);
    if (status == PW_ERR_TIMEOUT) /* of the whole, not of what was left for this step */
        pw_error_set(p->err, status, "%s: no answer within %.3g s; the worker process was ended", x->what,
                     (double)p->total_ns / 1e9);
    else if (status != PW_OK)
        pw_error_set(p->err, status, "%s", failure.message);
    *elapsed_ns = pw_clock_ns() - start;
    if (status != PW_OK || *p->type == PW_MSG_REPLY)
        return status;
    uint64_t said = pw_wire_read_u64(p->wire);
    if (p->wire->bad || said != nonce)
        return pw_link_refuse(p->link, x->what, p->err);
    if (kind == PW_STEP_PREPARE && *elapsed_ns < p->round_trip_ns)
        p->round_trip_ns = *elapsed_ns;
    return PW_OK;
}

/* ---- outputs ---- */

/* The same poison each time: what a kernel may leave alone looks the same each time too. Scratch holds nothing from
 * run to run: it would tell a kernel that it has been here. */
static void poison(const struct pace *p)
{
    const struct pw_exec *x = p->x;
    for (size_t i = 0; i < x->work.buffer_count; i++) {
        const struct pw_work_buffer *b = &x->work.buffers[i];
        if (b->region == PW_REGION_OUT)
            pw_shm_poison(p->link->out.data + b->slot.offset + b->slot.front, b->size,
                          x->tensors[i] ? x->tensors[i]->dtype : PW_DTYPE_UNDEFINED, x->request->seed + i);
    }
}

static pw_status remember(struct pace *p, int set)
{
    const struct pw_exec *x = p->x;
    size_t at = 0;
    p->expected[set] = pw_calloc(1, p->expected_bytes + 1);
    if (!p->expected[set])
        return pw_error_memory(p->err, p->expected_bytes);
    for (size_t i = 0; i < x->work.buffer_count; i++) {
        const struct pw_work_buffer *b = &x->work.buffers[i];
        if (b->kind == PW_BUFFER_OUTPUT && b->size > 0)
            memcpy(p->expected[set] + at, x->tensors[i]->data, b->size);
        at += b->kind == PW_BUFFER_OUTPUT ? b->size : 0;
    }
    return PW_OK;
}

/* How one output differs from what the untimed run gave. */
struct difference {
    size_t elements, differ, untouched; /* untouched: of those that differ, poison still */
    double error, power;                /* sums of squares, of the difference and of what is expected */
    bool odd;                           /* NaN or infinite on one side only */
};

/* expected NULL: all may differ. */
static void look(const uint8_t *got, const uint8_t *expected, const uint8_t *poisoned, size_t size, size_t width,
                 struct difference *d)
{
    for (size_t i = 0; i + width <= size; i += width) {
        d->elements++;
        if (expected && memcmp(got + i, expected + i, width) == 0)
            continue;
        d->differ++;
        d->untouched += memcmp(got + i, poisoned + i, width) == 0;
    }
}

#define PART 1024

static void measure(const struct pw_tensor *got, const struct pw_tensor *expected, struct difference *d)
{
    double x[PART], want[PART];
    for (int64_t at = 0; at < got->count; at += PART) {
        int64_t count = got->count - at < PART ? got->count - at : PART;
        pw_tensor_load(got, at, count, x);
        pw_tensor_load(expected, at, count, want);
        for (int64_t i = 0; i < count; i++) {
            if (isfinite(x[i]) && isfinite(want[i])) {
                d->error += (x[i] - want[i]) * (x[i] - want[i]);
                d->power += want[i] * want[i];
            } else if (isnan(x[i]) ? !isnan(want[i]) : x[i] != want[i]) {
                d->odd = true;
            }
        }
    }
}

/* A complex tensor as the numbers that it is made of. */
static void numbers_of(const struct pw_tensor *tensor, const void *data, struct pw_tensor *out)
{
    bool complex = pw_dtype_facts(tensor->dtype)->kind == PW_KIND_COMPLEX;
    int64_t count = complex ? 2 * tensor->count : tensor->count;
    pw_dtype part = tensor->dtype == PW_DTYPE_COMPLEX64 ? PW_DTYPE_FLOAT32 : PW_DTYPE_FLOAT64;
    pw_tensor_borrow(out, complex ? part : tensor->dtype, 1, &count, data);
}

/* Sums in an order that varies give results that vary a little, ties decided by chance a few that vary much. */
static bool same_work(const struct difference *d)
{
    return 100 * d->differ <= d->elements || (!d->odd && d->error <= 1e-3 * d->power);
}

/* Where the data decides how much there is, most of an output may be left alone. */
static bool may_leave_alone(const struct pw_exec *x)
{
    for (size_t i = 0; i < x->work.buffer_count; i++)
        if (x->work.buffers[i].kind == PW_BUFFER_FOUND)
            return true;
    return false;
}

/* expected NULL: of the untimed run. */
static pw_status check_output(struct pace *p, const struct pw_tensor *got, const uint8_t *expected, uint64_t seed)
{
    size_t size = pw_tensor_bytes(got), width = pw_dtype_bytes(got->dtype);
    struct difference d = {.elements = 0};
    struct pw_tensor numbers, want;
    if (expected ? memcmp(got->data, expected, size) == 0 : may_leave_alone(p->x))
        return PW_OK;
    uint8_t *poisoned = pw_calloc(1, size);
    if (!poisoned)
        return pw_error_memory(p->err, size);
    pw_shm_poison(poisoned, size, got->dtype, seed);
    look(got->data, expected, poisoned, size, width > 0 ? width : 1, &d);
    pw_free(poisoned);
    /* Narrow types meet their poison by chance, but not mostly. */
    if (d.untouched > 0 && 2 * d.untouched > d.differ)
        return pw_error_set(p->err, PW_ERR_TARGET, "%s: %s said that it was done before its outputs were written",
                            p->x->what, expected ? "a timed run" : "the run before the timed ones");
    if (!expected)
        return PW_OK;
    numbers_of(got, got->data, &numbers);
    numbers_of(got, expected, &want);
    measure(&numbers, &want, &d);
    if (!same_work(&d))
        return pw_error_set(p->err, PW_ERR_TARGET,
                            "%s: a timed run gave other results than an untimed one for the same inputs (%zu of %zu "
                            "elements differ)",
                            p->x->what, d.differ, d.elements);
    return PW_OK;
}

/* Right after a batch: was the work done? The caller has the outputs already. */
static pw_status check_outputs(struct pace *p, int set)
{
    const struct pw_exec *x = p->x;
    size_t at = 0;
    pw_status status = PW_OK;
    for (size_t i = 0; i < x->work.buffer_count && status == PW_OK; i++) {
        const struct pw_work_buffer *b = &x->work.buffers[i];
        if (b->kind != PW_BUFFER_OUTPUT || b->size == 0)
            continue;
        const uint8_t *expected = p->expected[set] ? p->expected[set] + at : NULL;
        status = check_output(p, x->tensors[i], expected, x->request->seed + i);
        at += b->size;
    }
    return status == PW_OK && !p->expected[set] ? remember(p, set) : status;
}

/* ---- runs ---- */

static bool alternates(const struct pw_exec *x)
{
    for (size_t i = 0; i < x->work.buffer_count; i++)
        if (x->work.buffers[i].alternate >= 0)
            return true;
    return false;
}

/* Runs first … first + count - 1, and the outputs of the last. *each_ns: of one. */
static pw_status batch(struct pace *p, int64_t first, int count, int64_t *each_ns)
{
    bool own_memory = !p->x->device->info.shares_host_memory;
    int64_t elapsed = 0, unused;
    poison(p);
    pw_status status = step(p, PW_STEP_PREPARE, 0, 0, &unused);
    if (status == PW_OK && *p->type == PW_MSG_STEPPED)
        status = step(p, PW_STEP_RUN, first, count, &elapsed);
    if (status != PW_OK || *p->type != PW_MSG_STEPPED)
        return status;
    /* Code on a device of its own cannot speak for the worker, so its outputs may be fetched first. */
    if (own_memory)
        status = step(p, PW_STEP_FETCH, 0, 0, &unused);
    if (status != PW_OK || *p->type != PW_MSG_STEPPED)
        return status;
    /* A copy at once: what comes later does not count. */
    pw_exec_take_outputs(p->x, p->link);
    p->x->paced_ns += elapsed;
    int64_t grace = p->round_trip_ns < GRACE_NS ? p->round_trip_ns : GRACE_NS;
    *each_ns = elapsed > grace ? (elapsed - grace) / count : 1;
    *each_ns = *each_ns > 0 ? *each_ns : 1;
    int set = alternates(p->x) && (first + count - 1) % 2 == 0;
    return p->x->work.repeats > 0 ? check_outputs(p, set) : PW_OK;
}

static int batch_size(const struct pw_exec *x, int64_t each_ns, int left)
{
    int64_t count = BATCH_NS / each_ns;
    /* Caches are emptied before a batch, and outputs poisoned: where all runs have the same inputs, those of one batch
     * would find their work done. */
    if (count < 1 || x->work.flush_bytes > 0 || !alternates(x))
        count = 1;
    if (count > BATCH_MAX)
        count = BATCH_MAX;
    return count < left ? (int)count : left;
}

static pw_status timed_runs(struct pace *p)
{
    struct pw_exec *x = p->x;
    const struct pw_exec_request *r = x->request;
    int64_t total = 0, each = BATCH_NS;
    int done = 0;
    while (done < x->work.repeats && (x->work.min_time_ns <= 0 || total < x->work.min_time_ns)) {
        int count = batch_size(x, each, x->work.repeats - done);
        pw_status status = batch(p, done, count, &each);
        if (status != PW_OK || *p->type != PW_MSG_STEPPED)
            return status;
        for (int i = 0; i < count && r->samples_ns; i++)
            r->samples_ns[done + i] = each;
        done += count;
        total += each * count;
    }
    x->reply->sample_count = done;
    return PW_OK;
}

pw_status pw_exec_pace(struct pw_exec *x, struct pw_link *link, int64_t *left_ns, pw_message_type *type,
                       struct pw_wire *wire, struct pw_error *err)
{
    struct pace p = {.x = x,
                     .link = link,
                     .deadline = pw_clock_ns() + *left_ns,
                     .total_ns = *left_ns,
                     .round_trip_ns = INT64_MAX,
                     .type = type,
                     .wire = wire,
                     .err = err};
    int64_t unused;
    for (size_t i = 0; i < x->work.buffer_count; i++)
        p.expected_bytes += x->work.buffers[i].kind == PW_BUFFER_OUTPUT ? x->work.buffers[i].size : 0;
    x->reply->times.build_ns = pw_clock_ns() - link->sent_ns;
    *type = PW_MSG_STEPPED;
    pw_status status = batch(&p, PW_STEP_FIRST, 1, &x->reply->times.wall_ns);
    if (status == PW_OK && *type == PW_MSG_STEPPED && x->work.repeats > 0 && alternates(x))
        status = batch(&p, PW_STEP_FIRST_ALTERNATE, 1, &x->reply->times.fresh_ns);
    if (status == PW_OK && *type == PW_MSG_STEPPED)
        status = timed_runs(&p);
    if (status == PW_OK && *type == PW_MSG_STEPPED)
        status = step(&p, PW_STEP_END, 0, 0, &unused);
    pw_free(p.expected[0]);
    pw_free(p.expected[1]);
    if (status != PW_OK)
        pw_link_end(link); /* it waits for a step, or worse */
    int64_t left = p.deadline - pw_clock_ns();
    *left_ns = left > 0 ? left : 0;
    return status;
}

pw_status pw_exec_paced_end(struct pw_exec *x, struct pw_link *link, struct pw_wire *wire, struct pw_error *err)
{
    struct pw_exec_reply *reply = x->reply;
    for (int i = 0; i < 3; i++)
        pw_wire_read_u64(wire); /* times */
    reply->input_changed = pw_wire_read_u32(wire) != 0;
    pw_wire_read_u64(wire); /* a library's size; a kernel's came with the outputs */
    if (pw_wire_read_count(wire, sizeof(int64_t)) != 0 || wire->bad)
        return pw_link_refuse(link, x->what, err);
    reply->times.parent_ns = reply->times.build_ns + x->paced_ns;
    reply->alternate_last = alternates(x) && reply->sample_count % 2 == 1;
    return PW_OK;
}
