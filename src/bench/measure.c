/* Slices in turns. */
#include "bench/measure.h"

#include <math.h>
#include <stdatomic.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/random.h"
#include "bench/machine.h"
#include "bench/stats.h"
#include "tensor/compare.h"

#define SLICE_NS 2000000
#define FLUSH_LEAST ((size_t)64 << 20)
#define FLUSH_MOST ((size_t)1 << 30)
#define LAUNCHES 64
#define CHECKED_RUN_NS 5000000 /* runs of at most so much are checked against this process's clock */
#define GUESS_RUNS 9
#define SLOWER_MOST 16 /* a slice of the slowest side on the target is so many times longer than asked for, at most */

struct side {
    struct pw_measure_side wanted;
    struct pw_plan plan;
    struct pw_plan_launch *launches; /* owned, with extra work: the plan's own are in its arena */
    bool planned;
    struct pw_measure_result result;
    size_t run_cap, slice_cap;
    double *outside; /* per slice: what this process's clock saw of it, in ns */
    size_t outside_cap;
    int64_t first_parent_ns; /* of the request with one timed run */
    double *device;
    size_t device_cap;
    uint64_t last_draw; /* of the slice that ran last */
    bool last_alternate;
    bool unseen; /* it has not had the inputs that there are now */
};

struct pw_measure {
    struct pw_measure_request request;
    struct side sides[PW_MEASURE_SIDES];
    struct pw_inputs *inputs;                   /* NULL: resting */
    struct pw_value sets[2][PW_OP_MAX_FORMALS]; /* fresh inputs of the slice, of the variable ones */
    const struct pw_value *in[2][PW_OP_MAX_FORMALS];
    struct pw_value outputs[PW_OP_MAX_FORMALS];
    bool calibrated;
    uint64_t draw; /* counts slices */
};

pw_status pw_measure_create(const struct pw_measure_request *request, struct pw_measure **out, struct pw_error *err)
{
    struct pw_measure *m;

    if (request->side_count < 1 || request->side_count > PW_MEASURE_SIDES)
        return pw_error_set(err, PW_ERR_USAGE, "%d sides to measure, expected 1 to %d", request->side_count,
                            PW_MEASURE_SIDES);
    m = pw_calloc(1, sizeof *m);
    if (!m)
        return pw_error_memory(err, sizeof *m);
    m->request = *request;
    if (m->request.slice_ns <= 0)
        m->request.slice_ns = SLICE_NS;
    for (int i = 0; i < request->side_count; i++) {
        m->sides[i].wanted = request->sides[i];
        m->sides[i].result.outside_ns = m->sides[i].result.fresh_ns = NAN;
    }
    m->request.sides = NULL;
    *out = m;
    return PW_OK;
}

void pw_measure_rest(struct pw_measure *m)
{
    for (int i = 0; i < PW_OP_MAX_FORMALS; i++) {
        pw_value_clear(&m->outputs[i]);
        pw_value_clear(&m->sets[0][i]);
        pw_value_clear(&m->sets[1][i]);
    }
    for (int i = 0; i < m->request.side_count; i++) {
        pw_plan_clear(&m->sides[i].plan);
        pw_free(m->sides[i].launches);
        m->sides[i].launches = NULL;
        m->sides[i].planned = false;
    }
    pw_inputs_destroy(m->inputs);
    m->inputs = NULL;
}

void pw_measure_destroy(struct pw_measure *m)
{
    if (!m)
        return;
    pw_measure_rest(m);
    for (int i = 0; i < m->request.side_count; i++) {
        struct side *s = &m->sides[i];

        pw_free(s->result.runs_ns);
        pw_free(s->result.slices_ns);
        pw_free(s->outside);
        pw_free(s->device);
        pw_buf_clear(&s->result.log);
    }
    pw_free(m);
}

const struct pw_measure_result *pw_measure_result(const struct pw_measure *m, int side)
{
    return &m->sides[side].result;
}

const struct pw_call *pw_measure_call(const struct pw_measure *m)
{
    return m->inputs ? pw_inputs_call(m->inputs) : NULL;
}

/* ---- inputs ---- */

static void fail_side(struct side *s, const struct pw_error *why)
{
    s->result.failed = true;
    s->result.error = *why;
}

/* Our own trouble ends the measurement; anything else is the side's. */
static bool own_trouble(pw_status status)
{
    return status == PW_ERR_NO_MEMORY || status == PW_ERR_CANCELLED || status == PW_ERR_INTERNAL;
}

/* A fraction of each launch's first dimension once more: the same results, so much more work. */
static pw_status add_work(struct side *s, struct pw_error *err)
{
    size_t count = s->plan.launch_count, at = 0;

    s->launches = pw_calloc(2 * count + 1, sizeof *s->launches);
    if (!s->launches)
        return pw_error_memory(err, 2 * count * sizeof *s->launches);
    for (size_t i = 0; i < count; i++) {
        const struct pw_plan_launch *from = &s->plan.launches[i];
        struct pw_plan_launch *again;
        int d = 0;

        s->launches[at++] = *from;
        if (from->pack)
            continue;
        for (int k = 1; k < from->work_dim; k++)
            d = from->global[k] > from->global[d] ? k : d;
        again = &s->launches[at];
        *again = *from;
        uint64_t unit = from->local[d] > 0 ? from->local[d] : 1;
        again->global[d] = (uint64_t)llround((double)(from->global[d] / unit) * s->wanted.extra_work) * unit;
        at += again->global[d] > 0;
    }
    s->plan.launches = s->launches;
    s->plan.launch_count = at;
    return PW_OK;
}

static pw_status plan_side(struct pw_measure *m, struct side *s, struct pw_error *err)
{
    const struct pw_call *call = pw_inputs_call(m->inputs);
    struct pw_error why = {0};
    pw_status status = PW_OK;

    if (s->planned || s->result.failed || !s->wanted.impl || !s->wanted.impl->kernel)
        return PW_OK;
    status = pw_kernel_plan(s->wanted.impl->kernel, call, pw_device_facts(m->request.device), NULL, 0, &s->plan, &why);
    if (status == PW_OK) {
        s->planned = true;
        return s->wanted.extra_work > 0 ? add_work(s, err) : PW_OK;
    }
    if (own_trouble(status))
        return pw_error_set(err, status, "%s", why.message);
    fail_side(s, &why);
    return PW_OK;
}

static pw_status wake(struct pw_measure *m, struct pw_error *err)
{
    struct pw_buf why = {0};
    pw_status status;

    if (m->inputs)
        return PW_OK;
    status = pw_inputs_draw(m->request.signature, m->request.seed, &m->inputs, &why, err);
    if (status == PW_OK && !m->inputs)
        status = pw_error_set(err, PW_ERR_UNSUPPORTED, "its inputs cannot be drawn: %s", pw_buf_text(&why));
    pw_buf_clear(&why);
    if (status != PW_OK)
        return status;
    for (int i = 0; i < pw_inputs_count(m->inputs) && status == PW_OK; i++) {
        const struct pw_value *value = pw_inputs_values(m->inputs)[i];

        m->in[0][i] = m->in[1][i] = value;
        for (int set = 0; set < 2 && status == PW_OK && pw_inputs_variable(m->inputs, i); set++) {
            status = pw_value_copy(&m->sets[set][i], value, err);
            m->in[set][i] = &m->sets[set][i];
        }
    }
    if (status == PW_OK)
        status = pw_inputs_outputs(m->inputs, m->outputs, err);
    for (int i = 0; i < m->request.side_count && status == PW_OK; i++)
        status = plan_side(m, &m->sides[i], err);
    if (status != PW_OK)
        pw_measure_rest(m);
    return status;
}

/* New contents at the price of a copy: the drawn elements, turned round by an offset that follows from the seed. */
static void refresh(struct pw_measure *m, uint64_t draw)
{
    for (int i = 0; i < m->request.side_count; i++)
        m->sides[i].unseen = true;
    for (int i = 0; i < pw_inputs_count(m->inputs); i++) {
        if (!pw_inputs_variable(m->inputs, i))
            continue;
        for (int set = 0; set < 2; set++) {
            const struct pw_tensor *from = &pw_inputs_values(m->inputs)[i]->tensor;
            struct pw_tensor *to = &m->sets[set][i].tensor;
            size_t size = pw_tensor_bytes(from), element = size / (size_t)from->count;
            size_t shift = element * (size_t)pw_random_range(m->request.seed, (uint64_t)i, 2 * draw + (uint64_t)set, 1,
                                                             from->count - 1);

            memcpy(to->data, (const char *)from->data + shift, size - shift);
            memcpy((char *)to->data + size - shift, from->data, shift);
        }
    }
}

size_t pw_measure_bytes(const struct pw_measure *m)
{
    size_t sum = 0;

    for (int i = 0; m->inputs && i < pw_inputs_count(m->inputs); i++) {
        const struct pw_value *value = pw_inputs_values(m->inputs)[i];
        size_t bytes = value && value->kind == PW_VALUE_TENSOR ? pw_tensor_bytes(&value->tensor) : 0;

        sum += pw_inputs_variable(m->inputs, i) ? 3 * bytes : bytes;
    }
    return sum;
}

void pw_measure_traffic(const struct pw_measure *m, struct pw_measure_traffic *out)
{
    *out = (struct pw_measure_traffic){.read_bytes = 0};
    for (int i = 0; m->inputs && i < pw_inputs_count(m->inputs); i++) {
        const struct pw_value *value = pw_inputs_values(m->inputs)[i];
        double bytes = value && value->kind == PW_VALUE_TENSOR ? (double)pw_tensor_bytes(&value->tensor) : 0;

        out->read_bytes += bytes;
        out->footprint += pw_inputs_variable(m->inputs, i) ? 2 * bytes : bytes;
    }
    for (int i = 0; m->inputs && i < pw_inputs_call(m->inputs)->output_count; i++)
        if (m->outputs[i].kind == PW_VALUE_TENSOR)
            out->write_bytes += (double)pw_tensor_bytes(&m->outputs[i].tensor);
    out->footprint += out->write_bytes;
}

/* ---- one slice ---- */

static pw_status run_target(struct pw_measure *m, struct side *s, int runs, bool poison, int64_t *samples,
                            struct pw_exec_reply *reply, struct pw_error *err)
{
    const struct pw_measure_request *r = &m->request;
    struct pw_exec_request exec = {.plan = s->planned ? &s->plan : NULL,
                                   .call = pw_inputs_call(m->inputs),
                                   .library = s->wanted.impl->kind == PW_COVERAGE_LIBRARY,
                                   .inputs = m->in[0],
                                   .alternate = m->in[1],
                                   .input_count = pw_inputs_count(m->inputs),
                                   .constant = pw_inputs_constant(m->inputs),
                                   .outputs = m->outputs,
                                   .output_count = pw_inputs_call(m->inputs)->output_count,
                                   .seed = r->seed,
                                   .poison = poison,
                                   .repeats = runs,
                                   .samples_ns = samples,
                                   .flush_bytes = r->flush_bytes,
                                   .cancel = r->cancel};

    return pw_device_execute(r->device, &exec, reply, err);
}

static pw_status run_reference(struct pw_measure *m, struct side *s, int runs, int64_t *samples, int *count,
                               struct pw_error *err)
{
    const struct pw_reference_request request = {.call = pw_inputs_call(m->inputs),
                                                 .inputs = m->in[0],
                                                 .alternate = m->in[1],
                                                 .input_count = pw_inputs_count(m->inputs),
                                                 .repeats = runs,
                                                 .flush_bytes = m->request.flush_bytes,
                                                 .cancel = m->request.cancel};

    if (!m->request.reference)
        return pw_error_set(err, PW_ERR_UNSUPPORTED, "there is no reference to time");
    return pw_reference_measure(m->request.reference, &request, samples, count, &s->result.reference_name, err);
}

/* A request's times as this process saw them, for the check of the worker's clock. */
static pw_status note_target(struct side *s, int runs, const struct pw_exec_reply *reply, struct pw_error *err)
{
    size_t at = (size_t)s->result.slices;
    pw_status status = PW_GROW(s->outside, s->outside_cap, at + 1, err);

    if (status == PW_OK)
        status = PW_GROW(s->device, s->device_cap, at + 1, err);
    if (status != PW_OK)
        return status;
    s->outside[at] = (double)(reply->times.parent_ns - reply->times.build_ns);
    s->device[at] = (double)reply->times.device_ns;
    s->last_alternate = reply->alternate_last;
    if (s->unseen && reply->times.fresh_ns > 0 && !((double)reply->times.fresh_ns >= s->result.fresh_ns))
        s->result.fresh_ns = (double)reply->times.fresh_ns;
    s->unseen = false;
    if (runs == 1)
        s->first_parent_ns = reply->times.parent_ns - reply->times.build_ns;
    return PW_OK;
}

/* Runs a side; `runs` samples are appended after what is there. *ran: false when the side failed. */
static pw_status run_side(struct pw_measure *m, struct side *s, int runs, bool *ran, struct pw_error *err)
{
    size_t at = (size_t)s->result.slices * (size_t)s->result.runs_per_slice;
    struct pw_exec_reply reply = {0};
    struct pw_error why = {0};
    int count = 0;
    pw_status status = PW_GROW(s->result.runs_ns, s->run_cap, at + (size_t)runs, err);

    *ran = false;
    if (status != PW_OK)
        return status;
    if (s->wanted.impl)
        status = run_target(m, s, runs, false, s->result.runs_ns + at, &reply, &why);
    else
        status = run_reference(m, s, runs, s->result.runs_ns + at, &count, &why);
    if (s->wanted.impl && status == PW_OK) {
        count = reply.sample_count;
        status = note_target(s, runs, &reply, &why);
        if (reply.times.build_ns > s->result.build_ns)
            s->result.build_ns = reply.times.build_ns;
    }
    if (reply.log.size > 0 && s->result.log.size < 1 << 16)
        pw_buf_append(&s->result.log, pw_buf_text(&reply.log), reply.log.size);
    pw_exec_reply_clear(&reply);
    s->last_draw = m->draw;
    if (status == PW_OK && count != runs)
        status = pw_error_set(&why, PW_ERR_TARGET, "%d timed runs came back, expected %d", count, runs);
    *ran = status == PW_OK;
    if (status == PW_OK)
        return PW_OK;
    if (own_trouble(status))
        return pw_error_set(err, status, "%s", why.message);
    fail_side(s, &why);
    return PW_OK;
}

/* How long a run of the side takes, by the quickest of some: other work only makes runs longer. A guess that a busy
 * moment made ten times too long would give the side a tenth of the runs in every slice, and their median would not be
 * the other sides' median. *once_ns: 0 when the side failed. */
static pw_status guess(struct pw_measure *m, struct side *s, double *once_ns, struct pw_error *err)
{
    bool ran = false;
    pw_status status = run_side(m, s, 1, &ran, err);
    int count = 1;

    *once_ns = 0;
    /* The first may have compiled; the second says what a request with one timed run takes. */
    if (ran && s->wanted.impl && s->result.runs_ns[0] < CHECKED_RUN_NS)
        status = run_side(m, s, 1, &ran, err);
    if (ran && s->result.runs_ns[0] < m->request.slice_ns && !m->request.flush_bytes)
        status = run_side(m, s, count = GUESS_RUNS, &ran, err);
    for (int i = 0; ran && i < count; i++) {
        double ns = s->result.runs_ns[i] > 1 ? (double)s->result.runs_ns[i] : 1;

        *once_ns = i == 0 || ns < *once_ns ? ns : *once_ns;
    }
    return status;
}

static int runs_of(const struct pw_measure *m, double once_ns)
{
    double runs = (double)m->request.slice_ns / once_ns;
    int count = runs < 1 ? 1 : runs > PW_MEASURE_RUNS_MAX ? PW_MEASURE_RUNS_MAX : (int)runs;

    /* Emptying the caches takes ten milliseconds a run: fewer will do. */
    return m->request.flush_bytes > 0 && count > 5 ? 5 : count;
}

/* How many runs make a slice. The sides on the target are compared with each other, so they take as many: what the
 * quickest wants, unless the slowest's slices would become very long. */
static pw_status calibrate(struct pw_measure *m, struct pw_error *err)
{
    double once[PW_MEASURE_SIDES] = {0}, quickest = 0, slowest = 0;
    pw_status status = PW_OK;

    refresh(m, m->draw++);
    for (int i = 0; i < m->request.side_count && status == PW_OK; i++) {
        if (m->sides[i].result.failed)
            continue;
        status = guess(m, &m->sides[i], &once[i], err);
        if (!(once[i] > 0))
            continue;
        m->sides[i].result.runs_per_slice = runs_of(m, once[i]);
        if (m->sides[i].wanted.impl) {
            quickest = quickest > 0 && quickest < once[i] ? quickest : once[i];
            slowest = slowest > once[i] ? slowest : once[i];
        }
    }
    for (int i = 0; i < m->request.side_count; i++)
        if (m->sides[i].wanted.impl && once[i] > 0)
            m->sides[i].result.runs_per_slice =
                runs_of(m, slowest > SLOWER_MOST * quickest ? slowest / SLOWER_MOST : quickest);
    m->calibrated = status == PW_OK;
    return status;
}

static pw_status one_slice(struct pw_measure *m, struct side *s, struct pw_error *err)
{
    struct pw_measure_result *r = &s->result;
    bool ran;
    pw_status status;

    if (r->failed)
        return PW_OK;
    if (m->request.quiet)
        pw_quiet_slice(m->request.quiet);
    status = run_side(m, s, r->runs_per_slice, &ran, err);
    if (status != PW_OK || !ran)
        return status;
    status = PW_GROW(r->slices_ns, s->slice_cap, (size_t)r->slices + 1, err);
    if (status != PW_OK)
        return status;
    r->slices_ns[r->slices] =
        pw_stats_median_ns(r->runs_ns + (size_t)r->slices * (size_t)r->runs_per_slice, (size_t)r->runs_per_slice);
    if (!(r->slices_ns[r->slices] > 0))
        r->slices_ns[r->slices] = 1; /* a clock too coarse, or one that lies: the roofline will tell */
    r->slices++;
    return PW_OK;
}

/* What this process's clock says of one run: a request with k timed runs against the request with one. Of a foreign
 * kernel all times are this clock's. */
static void look_from_outside(struct side *s, bool flushed)
{
    struct pw_measure_result *r = &s->result;

    if (!s->wanted.impl || r->slices < 1 || r->failed)
        return;
    bool ours = s->planned && s->plan.program_count > 0 && s->plan.programs[0].foreign;
    r->device_ns = pw_stats_median(s->device, (size_t)r->slices);
    /* The quickest slice: what else ran only makes slices longer. */
    double least = s->outside[0];
    for (int i = 1; i < r->slices; i++)
        least = s->outside[i] < least ? s->outside[i] : least;
    if (r->runs_per_slice >= 8 && !flushed && !ours)
        r->outside_ns = (least - (double)s->first_parent_ns) / (r->runs_per_slice - 1);
}

pw_status pw_measure_slices(struct pw_measure *m, int count, struct pw_error *err)
{
    pw_status status = wake(m, err);

    if (status == PW_OK && !m->calibrated)
        status = calibrate(m, err);
    for (int k = 0; k < count && status == PW_OK; k++) {
        bool backwards = m->draw % 2 == 1;

        refresh(m, m->draw);
        for (int i = 0; i < m->request.side_count && status == PW_OK; i++) {
            if (m->request.cancel && *m->request.cancel)
                status = pw_error_set(err, PW_ERR_CANCELLED, "cancelled while measuring");
            else
                status = one_slice(m, &m->sides[backwards ? m->request.side_count - 1 - i : i], err);
        }
        m->draw++;
    }
    for (int i = 0; i < m->request.side_count; i++)
        look_from_outside(&m->sides[i], m->request.flush_bytes > 0);
    return status;
}

const struct pw_plan *pw_measure_plan(const struct pw_measure *m, int side)
{
    return m->sides[side].planned ? &m->sides[side].plan : NULL;
}

const bool *pw_measure_constant(const struct pw_measure *m)
{
    return m->inputs ? pw_inputs_constant(m->inputs) : NULL;
}

/* ---- checks ---- */

static pw_status largest_error(const struct pw_value *timed, const struct pw_value *again, double *error,
                               struct pw_error *err)
{
    struct pw_comparison c;
    struct pw_tensor carried = {0};
    const struct pw_tensor *golden = &again->tensor;
    pw_status status = PW_OK;

    if (timed->kind != PW_VALUE_TENSOR || again->kind != PW_VALUE_TENSOR)
        return PW_OK;
    if (pw_dtype_is_float(golden->dtype) && golden->dtype != PW_DTYPE_FLOAT64) {
        status = pw_tensor_convert(&carried, golden, PW_DTYPE_FLOAT64, err);
        carried.nominal = golden->dtype;
        golden = &carried;
    }
    if (status == PW_OK)
        status = pw_compare(&timed->tensor, golden, 0, -1, &c, err);
    if (status == PW_OK && c.max_error > *error)
        *error = c.max_error;
    pw_tensor_clear(&carried);
    return status;
}

pw_status pw_measure_recheck(struct pw_measure *m, int side, double *error, struct pw_error *err)
{
    struct side *s = &m->sides[side];
    struct pw_value timed[PW_OP_MAX_FORMALS] = {0};
    const struct pw_value *saved[PW_OP_MAX_FORMALS];
    struct pw_exec_reply reply = {0};
    int64_t sample[PW_MEASURE_RUNS_MAX];
    int outputs;
    pw_status status = wake(m, err);

    *error = 0;
    if (status != PW_OK)
        return status;
    if (!s->wanted.impl || s->result.failed || !m->calibrated)
        return pw_error_set(err, PW_ERR_USAGE, "nothing on the target was timed");
    outputs = pw_inputs_call(m->inputs)->output_count;
    refresh(m, m->draw++);
    status = run_target(m, s, s->result.runs_per_slice, true, sample, &reply, err);
    bool alternate = reply.alternate_last;
    pw_exec_reply_clear(&reply);
    for (int i = 0; i < outputs && status == PW_OK; i++)
        status = pw_value_copy(&timed[i], &m->outputs[i], err);
    if (status != PW_OK)
        goto done;
    memcpy(saved, m->in[0], sizeof saved);
    if (alternate)
        memcpy(m->in[0], m->in[1], sizeof saved);
    status = run_target(m, s, 0, true, NULL, &reply, err);
    pw_exec_reply_clear(&reply);
    memcpy(m->in[0], saved, sizeof saved);
    for (int i = 0; i < outputs && status == PW_OK; i++)
        status = largest_error(&timed[i], &m->outputs[i], error, err);
done:
    for (int i = 0; i < PW_OP_MAX_FORMALS; i++)
        pw_value_clear(&timed[i]);
    return status;
}

/* ---- overheads ---- */

double pw_measure_timer_ns(void)
{
    int64_t begin = pw_clock_ns(), end = begin;

    for (int i = 0; i < 1000; i++)
        end = pw_clock_ns();
    return (double)(end - begin) / 1000;
}

size_t pw_measure_flush_bytes(const struct pw_target_info *info)
{
    struct pw_machine machine;
    size_t bytes;

    pw_machine_read(&machine);
    bytes = 2 * (size_t)(machine.l3_bytes + machine.cores * (machine.l2_bytes + machine.l1_bytes));
    if (info && !info->shares_host_memory && bytes < 4 * FLUSH_LEAST)
        bytes = 4 * FLUSH_LEAST; /* a device's caches are not known: tens of MiB on large ones */
    return bytes < FLUSH_LEAST ? FLUSH_LEAST : bytes > FLUSH_MOST ? FLUSH_MOST : bytes;
}

double pw_measure_launch_ns(struct pw_device *device, const atomic_bool *cancel)
{
    int64_t samples[LAUNCHES];
    struct pw_plan_buffer buffer = {.kind = PW_BUFFER_SCRATCH, .size_bytes = 64};
    struct pw_plan_arg arg = {.kind = PW_ARG_BUFFER, .buffer = 0};
    struct pw_plan_program program = {
        .language = "opencl", .source = "__kernel void pw_empty(__global float *x) { (void)x; }\n", .options = ""};
    struct pw_plan_launch launch = {
        .entry = "pw_empty", .work_dim = 1, .global = {1}, .local = {1}, .args = &arg, .arg_count = 1};
    struct pw_plan plan = {.buffers = &buffer,
                           .buffer_count = 1,
                           .programs = &program,
                           .program_count = 1,
                           .launches = &launch,
                           .launch_count = 1};
    struct pw_exec_request request = {.plan = &plan, .repeats = LAUNCHES, .samples_ns = samples, .cancel = cancel};
    struct pw_exec_reply reply;
    double median = NAN;

    if (pw_device_is_reference(device) || strcmp(pw_device_info(device)->languages[0], "opencl") != 0)
        return NAN;
    if (pw_device_execute(device, &request, &reply, NULL) == PW_OK && reply.sample_count > 0)
        median = pw_stats_median_ns(samples, (size_t)reply.sample_count);
    pw_exec_reply_clear(&reply);
    return median;
}
