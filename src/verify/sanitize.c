/* The choice of cases, their runs on Oclgrind, and the findings. */
#include "verify/sanitize.h"

#include <glob.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/parallel.h"
#include "graph/infer.h"
#include "op/cases.h"
#include "target/device.h"
#include "verify/sanitize_internal.h"

#define KERNELS_MAX 64      /* that serve one operator */
#define ELEMENTS_SMALL 3000 /* of a case's inputs and outputs together */
#define ELEMENTS_MAX 200000 /* of a kernel's smallest case, when it serves nothing small */
#define COMPLAINTS_MAX 16   /* of one run that are looked at */
#define DEADLINE_NS 60000000000

const char *pw_finding_name(pw_finding_kind kind)
{
    static const char *const names[PW_FINDING_COUNT] = {
        [PW_FINDING_BOUNDS] = "out of bounds",
        [PW_FINDING_RACE] = "data race",
        [PW_FINDING_UNINITIALISED] = "uninitialised read",
        [PW_FINDING_DIVERGENCE] = "barrier divergence",
        [PW_FINDING_OTHER] = "complaint",
        [PW_FINDING_RUN] = "did not run",
    };
    return kind < PW_FINDING_COUNT ? names[kind] : "?";
}

/* ---- the simulator ---- */

const char *pw_sanitize_library(void)
{
    static const char *const places[] = {
        "/usr/lib/oclgrind/liboclgrind-rt-icd.so",       "/usr/lib/*/oclgrind/liboclgrind-rt-icd.so",
        "/usr/local/lib/oclgrind/liboclgrind-rt-icd.so", "/usr/local/lib/liboclgrind-rt-icd.so",
        "/usr/lib64/oclgrind/liboclgrind-rt-icd.so",
    };
    static char found[512];
    const char *named = getenv("PORTWRIGHT_OCLGRIND");
    if (named && named[0])
        return pw_file_exists(named) ? named : NULL;
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        glob_t matches;
        if (glob(places[i], 0, NULL, &matches) != 0)
            continue;
        snprintf(found, sizeof found, "%s", matches.gl_pathv[0]);
        globfree(&matches);
        return found;
    }
    return NULL;
}

/* ---- what is run ---- */

/* How a kernel is launched: as a CPU that works alone on large parts, as a GPU in work-groups with barriers. */
enum { SHAPE_CPU, SHAPE_GPU, SHAPES };
static const char *const shape_names[SHAPES] = {"cpu", "gpu"};

struct candidate {
    const struct pw_room_case *c;
    const struct pw_kernel *kernel;
    int shape;
    int64_t elements;
    struct pw_hash128 key; /* programs, entries, work-group sizes */
    bool chosen;
};

struct sanitizer {
    const struct pw_sanitize_request *request;
    struct pw_device *device;
    struct pw_device_facts facts[SHAPES];
    struct candidate *candidates;
    size_t count, cap;
    struct pw_sanitize_totals *totals;
    pthread_mutex_t mutex; /* guards all below, the totals, and the callbacks */
    struct seen {
        const struct pw_kernel *kernel;
        char file[128];
        int line;
        pw_finding_kind kind;
    } * seen;
    size_t seen_count, seen_cap;
    size_t done, total;
    pw_status status;
    struct pw_error *err;
};

/* A case brought to a kernel. */
struct trial {
    struct pw_case_data data;
    struct pw_dims *dims;
    struct pw_arena arena;
    struct pw_call call;
    const struct pw_value *in[PW_CASE_MAX_INPUTS];
    struct pw_value outputs[PW_CASE_MAX_OUTPUTS];
    struct pw_plan plan;
    bool supported;
    int64_t elements;
};

static void trial_clear(struct trial *t)
{
    for (int i = 0; i < PW_CASE_MAX_OUTPUTS; i++)
        pw_value_clear(&t->outputs[i]);
    pw_plan_clear(&t->plan);
    pw_case_clear(&t->data);
    pw_dims_destroy(t->dims);
    pw_arena_clear(&t->arena);
    memset(t, 0, sizeof *t);
}

static int64_t count_elements(const struct trial *t)
{
    int64_t total = 0;
    for (size_t i = 0; i < t->data.input_count; i++)
        if (t->in[i] && t->in[i]->kind == PW_VALUE_TENSOR)
            total += t->in[i]->tensor.count;
    for (int i = 0; i < t->call.output_count; i++) {
        int64_t count = 1;
        for (int d = 0; d < t->call.out[i].rank; d++)
            count = t->call.out[i].dims[d] < ELEMENTS_MAX ? count * t->call.out[i].dims[d] : ELEMENTS_MAX;
        total += count < ELEMENTS_MAX ? count : ELEMENTS_MAX;
    }
    return total;
}

static pw_status make_call(struct trial *t, const struct pw_room_case *c, struct pw_error *err)
{
    pw_status status = pw_case_parse(c, &t->data, err);
    if (status == PW_OK)
        status = pw_dims_create(&t->dims, err);
    for (size_t i = 0; i < t->data.input_count; i++)
        t->in[i] = t->data.inputs[i].kind == PW_VALUE_NONE ? NULL : &t->data.inputs[i];
    if (status == PW_OK)
        status = pw_call_from_values(t->data.node, t->in, (int)t->data.input_count, t->dims, &t->arena, &t->call, err);
    if (status == PW_OK) {
        pw_call_take_most(&t->call);
        t->elements = count_elements(t);
    }
    return status;
}

static pw_status make_plan(struct trial *t, const struct pw_kernel *kernel, const struct pw_device_facts *facts,
                           struct pw_error *err)
{
    struct pw_buf why = {0};
    int64_t priority;
    pw_status status = pw_kernel_supports(kernel, &t->call, facts, NULL, 0, &t->supported, &priority, &why, err);
    pw_buf_clear(&why);
    if (status == PW_OK && t->supported)
        status = pw_kernel_plan(kernel, &t->call, facts, NULL, 0, &t->plan, err);
    return status;
}

static pw_status make_outputs(struct trial *t, struct pw_error *err)
{
    pw_status status = PW_OK;
    for (int i = 0; i < t->call.output_count && status == PW_OK; i++) {
        const struct pw_info *info = &t->call.out[i];
        int64_t dims[PW_MAX_RANK];
        if (!t->call.wanted[i])
            continue;
        for (int d = 0; d < info->rank; d++)
            dims[d] = info->dims[d];
        status = pw_tensor_init(&t->outputs[i].tensor, info->dtype, info->rank, dims, err);
        if (status == PW_OK)
            t->outputs[i].kind = PW_VALUE_TENSOR;
    }
    return status;
}

/* ---- the choice ---- */

static pw_status key_of(const struct pw_plan *plan, struct pw_hash128 *key, struct pw_error *err)
{
    struct pw_hasher hasher;
    if (pw_hasher_init(&hasher) != 0)
        return pw_error_memory(err, sizeof hasher);
    for (size_t i = 0; i < plan->program_count; i++)
        pw_hasher_add(&hasher, plan->programs[i].options, strlen(plan->programs[i].options) + 1);
    for (size_t i = 0; i < plan->launch_count; i++) {
        pw_hasher_add(&hasher, plan->launches[i].entry, strlen(plan->launches[i].entry) + 1);
        pw_hasher_add(&hasher, plan->launches[i].local, sizeof plan->launches[i].local);
    }
    *key = pw_hasher_end(&hasher);
    return PW_OK;
}

static pw_status consider(struct sanitizer *s, struct trial *t, const struct pw_room_case *c,
                          const struct pw_kernel *kernel, struct pw_error *err)
{
    pw_status status = PW_OK;
    for (int shape = 0; shape < SHAPES && status == PW_OK; shape++) {
        struct candidate candidate = {.c = c, .kernel = kernel, .shape = shape, .elements = t->elements};
        status = make_plan(t, kernel, &s->facts[shape], err);
        if (status == PW_OK && t->supported)
            status = key_of(&t->plan, &candidate.key, err);
        if (status == PW_OK && t->supported && t->plan.launch_count > 0)
            status = PW_GROW(s->candidates, s->cap, s->count + 1, err);
        if (status == PW_OK && t->supported && t->plan.launch_count > 0)
            s->candidates[s->count++] = candidate;
        pw_plan_clear(&t->plan);
        memset(&t->plan, 0, sizeof t->plan);
    }
    return status;
}

static bool asked_for(const struct pw_sanitize_request *r, const struct pw_kernel *kernel, const struct pw_op *op)
{
    return (!r->part || strstr(pw_kernel_name(kernel), r->part) || strstr(op->name, r->part)) &&
           (!r->wants || r->wants(r->user, op));
}

/* For any of its operators. */
static bool asked_for_any(const struct pw_sanitize_request *r, const struct pw_kernel *kernel)
{
    for (const struct pw_room *room = pw_rooms; room->name; room++)
        for (const struct pw_op *op = room->ops; op->name; op++)
            if (pw_kernel_implements(kernel, op) && asked_for(r, kernel, op))
                return true;
    return false;
}

static pw_status consider_case(struct sanitizer *s, const struct pw_room_case *c, struct pw_error *err)
{
    const struct pw_kernel *found[KERNELS_MAX];
    struct trial t = {0};
    pw_status status = make_call(&t, c, err);
    size_t count = status == PW_OK ? pw_kernels_for(s->request->kernels, t.call.op, found, KERNELS_MAX) : 0;
    if (t.elements > ELEMENTS_MAX)
        count = 0;
    for (size_t i = 0; i < count && i < KERNELS_MAX && status == PW_OK; i++)
        if (asked_for(s->request, found[i], t.call.op))
            status = consider(s, &t, c, found[i], err);
    trial_clear(&t);
    return status;
}

static bool same_key(const struct candidate *a, const struct candidate *b)
{
    return a->kernel == b->kernel && a->key.high == b->key.high && a->key.low == b->key.low;
}

static int by_key(const void *left, const void *right)
{
    const struct candidate *a = left, *b = right;
    if (a->kernel != b->kernel)
        return (uintptr_t)a->kernel < (uintptr_t)b->kernel ? -1 : 1;
    if (a->key.high != b->key.high)
        return a->key.high < b->key.high ? -1 : 1;
    if (a->key.low != b->key.low)
        return a->key.low < b->key.low ? -1 : 1;
    return a->elements < b->elements ? -1 : a->elements > b->elements;
}

/* Leaves the small cases, or a kernel's smallest when none is small. */
static void keep_small(struct sanitizer *s)
{
    size_t kept = 0;
    for (size_t begin = 0, end; begin < s->count; begin = end) {
        int64_t least = INT64_MAX;
        for (end = begin; end < s->count && s->candidates[end].kernel == s->candidates[begin].kernel; end++)
            least = s->candidates[end].elements < least ? s->candidates[end].elements : least;
        for (size_t i = begin; i < end; i++)
            if (s->candidates[i].elements <= (least > ELEMENTS_SMALL ? least : ELEMENTS_SMALL))
                s->candidates[kept++] = s->candidates[i];
    }
    s->count = kept;
}

/* Of each way to run a kernel the smallest case and the largest: the one has the edges, the other the middle. */
static void choose(struct sanitizer *s)
{
    if (s->count > 0)
        qsort(s->candidates, s->count, sizeof *s->candidates, by_key);
    keep_small(s);
    for (size_t i = 0; i < s->count; i++) {
        bool first = i == 0 || !same_key(&s->candidates[i - 1], &s->candidates[i]);
        bool last = i + 1 == s->count || !same_key(&s->candidates[i], &s->candidates[i + 1]);
        s->candidates[i].chosen = first || last || s->request->thorough;
        s->total += s->candidates[i].chosen;
    }
}

/* ---- findings ---- */

static bool seen_before(struct sanitizer *s, const struct candidate *c, const struct pw_complaint *complaint)
{
    for (size_t i = 0; i < s->seen_count; i++)
        if (s->seen[i].kernel == c->kernel && s->seen[i].kind == complaint->kind &&
            s->seen[i].line == complaint->line && strcmp(s->seen[i].file, complaint->file) == 0)
            return true;
    if (PW_GROW(s->seen, s->seen_cap, s->seen_count + 1, NULL) != PW_OK)
        return false;
    struct seen *seen = &s->seen[s->seen_count++];
    memset(seen, 0, sizeof *seen);
    seen->kernel = c->kernel;
    seen->kind = complaint->kind;
    seen->line = complaint->line;
    snprintf(seen->file, sizeof seen->file, "%s", complaint->file);
    return false;
}

static void tell(struct sanitizer *s, const struct candidate *c, const struct pw_complaint *complaint,
                 const char *source)
{
    char quoted[200], text[512];
    if (seen_before(s, c, complaint))
        return;
    pw_sanitize_quote(source, complaint->file, complaint->line, quoted, sizeof quoted);
    snprintf(text, sizeof text, "%s%s%s", complaint->text, quoted[0] ? ": " : "", quoted);
    struct pw_finding finding = {.kind = complaint->kind,
                                 .kernel = pw_kernel_name(c->kernel),
                                 .path = pw_kernel_path(c->kernel),
                                 .entry = complaint->entry,
                                 .file = complaint->file,
                                 .line = complaint->line,
                                 .case_name = c->c->name,
                                 .shape = shape_names[c->shape],
                                 .text = text};
    s->totals->findings++;
    s->totals->per_kind[complaint->kind]++;
    if (s->request->found)
        s->request->found(s->request->user, &finding);
}

/* ---- a run ---- */

static void run(struct sanitizer *s, const struct candidate *c)
{
    struct trial t = {0};
    struct pw_error err = {0};
    struct pw_exec_reply reply = {0};
    struct pw_complaint complaints[COMPLAINTS_MAX];
    size_t count = 0;
    pw_status status = make_call(&t, c->c, &err);
    if (status == PW_OK)
        status = make_plan(&t, c->kernel, &s->facts[c->shape], &err);
    if (status == PW_OK)
        status = make_outputs(&t, &err);
    struct pw_exec_request request = {.plan = &t.plan,
                                      .call = &t.call,
                                      .inputs = t.in,
                                      .input_count = t.call.input_count,
                                      .outputs = t.outputs,
                                      .output_count = t.call.output_count,
                                      .deadline_ns = DEADLINE_NS,
                                      .exact_end = true,
                                      .unwritten = true,
                                      .cancel = s->request->cancel};
    if (status == PW_OK)
        status = pw_device_execute(s->device, &request, &reply, &err);
    if (status == PW_OK)
        count = pw_sanitize_complaints(pw_buf_text(&reply.log), complaints, COMPLAINTS_MAX);
    if (status != PW_OK && status != PW_ERR_CANCELLED) {
        struct pw_complaint *complaint = &complaints[count++];
        memset(complaint, 0, sizeof *complaint);
        complaint->kind = PW_FINDING_RUN;
        snprintf(complaint->text, sizeof complaint->text, "%.100s: %.140s", err.message, pw_buf_text(&reply.log));
    }
    const char *source = t.plan.program_count > 0 ? t.plan.programs[0].source : "";
    pthread_mutex_lock(&s->mutex);
    for (size_t i = 0; i < count; i++)
        tell(s, c, &complaints[i], source);
    s->totals->runs++;
    s->done++;
    if (s->request->progress)
        s->request->progress(s->request->user, s->done, s->total);
    pthread_mutex_unlock(&s->mutex);
    pw_exec_reply_clear(&reply);
    trial_clear(&t);
}

static void run_range(void *user, int64_t begin, int64_t end)
{
    struct sanitizer *s = user;
    for (int64_t i = begin; i < end; i++)
        if (s->candidates[i].chosen && !(s->request->cancel && *s->request->cancel))
            run(s, &s->candidates[i]);
}

/* ---- all of it ---- */

static void take_facts(struct sanitizer *s)
{
    struct pw_device_facts facts = *pw_device_facts(s->device);
    /* What the simulator reports of itself stands for no device. */
    facts.vector_width = 8;
    facts.work_group_multiple = 8;
    facts.compute_units = 2;
    s->facts[SHAPE_CPU] = s->facts[SHAPE_GPU] = facts;
    s->facts[SHAPE_CPU].is_cpu = true;
    s->facts[SHAPE_GPU].is_cpu = false;
    s->facts[SHAPE_GPU].work_group_multiple = 32;
}

static bool has_candidate(const struct sanitizer *s, const struct pw_kernel *kernel)
{
    for (size_t i = 0; i < s->count; i++)
        if (s->candidates[i].kernel == kernel)
            return true;
    return false;
}

static void count_kernels(struct sanitizer *s)
{
    const struct pw_sanitize_request *r = s->request;
    for (size_t i = 0; i < pw_kernels_count(r->kernels); i++) {
        const struct pw_kernel *kernel = pw_kernels_at(r->kernels, i);
        bool ran = has_candidate(s, kernel);
        bool asked = asked_for_any(r, kernel);
        s->totals->kernels += asked;
        s->totals->kernels_ran += ran;
        if (asked && !ran && r->without)
            r->without(r->user, kernel);
    }
}

static pw_status open_simulator(struct sanitizer *s, const char *const *environment, struct pw_error *err)
{
    struct pw_device_options options = {.workers = s->request->jobs, .environment = environment};
    pw_status status = pw_device_open("opencl:Oclgrind", &options, &s->device, err);
    if (status == PW_OK)
        take_facts(s);
    return status;
}

pw_status pw_sanitize(const struct pw_sanitize_request *request, struct pw_sanitize_totals *totals,
                      struct pw_error *err)
{
    char vendors[600];
    const char *library = pw_sanitize_library();
    /* Inlined functions with restrict fail in it; optimised code hides decisions on what was never written. */
    const char *const environment[] = {vendors,
                                       "OCLGRIND_DATA_RACES=1",
                                       "OCLGRIND_UNINITIALIZED=1",
                                       "OCLGRIND_MAX_ERRORS=1000000",
                                       "OCLGRIND_NUM_THREADS=1",
                                       "OCLGRIND_BUILD_OPTIONS=-Drestrict= -cl-opt-disable",
                                       NULL};
    struct sanitizer s = {.request = request, .totals = totals};
    memset(totals, 0, sizeof *totals);
    if (!library)
        return pw_error_set(err, PW_ERR_TARGET,
                            "Oclgrind is not installed (on Debian: apt-get install oclgrind), or PORTWRIGHT_OCLGRIND "
                            "does not name its liboclgrind-rt-icd.so");
    snprintf(vendors, sizeof vendors, "OCL_ICD_VENDORS=%s", library);
    pthread_mutex_init(&s.mutex, NULL);
    pw_status status = open_simulator(&s, environment, err);
    for (const struct pw_room *room = pw_rooms; room->name && status == PW_OK; room++)
        for (const struct pw_room_case *c = room->cases; c->name && status == PW_OK; c++)
            if (!c->error)
                status = consider_case(&s, c, err);
    if (status == PW_OK) {
        choose(&s);
        count_kernels(&s);
        pw_parallel_for((int64_t)s.count, 8, run_range, &s);
    }
    pw_device_close(s.device);
    pthread_mutex_destroy(&s.mutex);
    pw_free(s.candidates);
    pw_free(s.seen);
    if (status == PW_OK && request->cancel && *request->cancel)
        status = pw_error_set(err, PW_ERR_CANCELLED, "cancelled");
    return status;
}
