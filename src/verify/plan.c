/* The order of a signature's cases. */
#include <limits.h>
#include <string.h>

#include "base/compiler.h"
#include "base/hash.h"
#include "verify/draw.h"
#include "verify/plan.h"
#include "verify/property.h"
#include "verify/verify_internal.h"

#define MAX_STEPS 192
#define MAX_SEEN 4096
#define MAX_DTYPES 16
#define MAX_PROPERTIES 8
#define MAX_CAPTURED 4
#define SHAPE_TURN (PW_SHAPES_KINDS + 6) /* shapes of the rounds: the kinds and some mixtures */
#define SHAPE_STRIDE 5                   /* has no factor in common with it, so that all are met */
_Static_assert(SHAPE_TURN % SHAPE_STRIDE != 0, "the rounds would miss kinds of shapes");
#define TRIES 24 /* steps that may come to nothing before there is nothing more */

typedef enum { STEP_GRAPH, STEP_SHAPE, STEP_PROPERTY, STEP_CAPTURED } step_kind;

struct step {
    step_kind kind;
    pw_dist dist;
    int shape; /* SHAPE: which recipe; PROPERTY: which property, CAPTURED: which set */
    pw_dtype dtype;
    uint64_t seed;
};

struct pw_case_plan {
    const struct pw_signature *signature;
    const struct pw_verify_request *request;
    struct pw_shapes *shapes;
    bool shaped;                 /* other shapes are asked for */
    pw_dtype own;                /* UNDEFINED: the graph's; else what the protocol stores the node in */
    pw_dtype dtypes[MAX_DTYPES]; /* other dtypes of the same kind, beside `own` */
    size_t dtype_count;
    pw_dtype others[MAX_DTYPES]; /* and of another kind (integers where the graph has floats) */
    size_t other_count;
    pw_dist dists[PW_DIST_COUNT]; /* that say something about the call, in order of their worth */
    size_t dist_count;
    const char *properties[MAX_PROPERTIES];
    size_t property_count;
    const char *captured[MAX_CAPTURED];
    size_t captured_count;
    struct step steps[MAX_STEPS];
    size_t step_count, minimum;
    size_t next;    /* steps taken, the list's and then the rounds' */
    uint64_t *seen; /* hashes of ids that were made */
    size_t seen_count, seen_cap;
};

static void add(struct pw_case_plan *plan, step_kind kind, pw_dist dist, int shape, pw_dtype dtype, uint64_t seed)
{
    if (plan->step_count < MAX_STEPS)
        plan->steps[plan->step_count++] =
            (struct step){.kind = kind, .dist = dist, .shape = shape, .dtype = dtype, .seed = seed};
}

/* ---- what there is to try ---- */

static bool wanted(const struct pw_verify_effort *effort, pw_dist dist)
{
    return !effort->dists || (effort->dists >> dist & 1);
}

static bool has_floats(const struct pw_call *call)
{
    for (int i = 0; i < call->input_count; i++)
        if (call->in[i] && pw_dtype_is_float(call->in[i]->dtype))
            return true;
    return false;
}

static void find_dists(struct pw_case_plan *plan)
{
    static const pw_dist for_floats[] = {PW_DIST_NORMAL, PW_DIST_EXACT,  PW_DIST_SPECIAL, PW_DIST_UNIFORM,
                                         PW_DIST_WIDE,   PW_DIST_CANCEL, PW_DIST_MASKED};
    static const pw_dist for_integers[] = {PW_DIST_UNIFORM, PW_DIST_EXACT, PW_DIST_WIDE, PW_DIST_SPECIAL,
                                           PW_DIST_MASKED};
    const struct pw_call *call = plan->signature->call;
    const pw_dist *from = has_floats(call) ? for_floats : for_integers;
    size_t count = has_floats(call) ? PW_COUNT_OF(for_floats) : PW_COUNT_OF(for_integers);

    for (size_t i = 0; i < count; i++)
        if (wanted(&plan->request->effort, from[i]) && pw_draw_applies(call, from[i]))
            plan->dists[plan->dist_count++] = from[i];
}

/* Is the call served on the target with this storage dtype? */
static bool serves(struct pw_case_plan *plan, pw_dtype dtype)
{
    struct pw_case_spec spec = {.dtype = dtype};

    return pw_shapes_serves(plan->shapes, &spec, NULL);
}

static pw_dtype own_dtype(const struct pw_case_plan *plan)
{
    const struct pw_signature *signature = plan->signature;
    struct pw_precision precision;

    pw_protocol_precision(plan->request->protocol, signature->nodes[0]->name, signature->op, signature->dtype,
                          &precision);
    return precision.storage == signature->dtype ? PW_DTYPE_UNDEFINED : precision.storage;
}

static void find_dtypes(struct pw_case_plan *plan)
{
    static const pw_dtype order[] = {PW_DTYPE_FLOAT32, PW_DTYPE_FLOAT16, PW_DTYPE_BFLOAT16, PW_DTYPE_FLOAT64,
                                     PW_DTYPE_INT64,   PW_DTYPE_INT32,   PW_DTYPE_INT8,     PW_DTYPE_UINT8,
                                     PW_DTYPE_INT16,   PW_DTYPE_UINT16,  PW_DTYPE_UINT32,   PW_DTYPE_UINT64};
    struct pw_case_spec graph = {0};
    pw_dtype now = pw_case_dtype(plan->signature, &graph);
    unsigned asked = plan->request->effort.dtypes;

    plan->own = own_dtype(plan);
    if (plan->own != PW_DTYPE_UNDEFINED && (!pw_dtype_is_float(now) || !serves(plan, plan->own)))
        plan->own = PW_DTYPE_UNDEFINED;
    for (size_t i = 0; i < PW_COUNT_OF(order) && asked; i++) {
        bool same_kind = pw_dtype_is_float(order[i]) == pw_dtype_is_float(now);

        if (order[i] == now || order[i] == plan->own || !(asked >> order[i] & 1) || !serves(plan, order[i]))
            continue;
        if (same_kind && plan->dtype_count < MAX_DTYPES)
            plan->dtypes[plan->dtype_count++] = order[i];
        else if (plan->other_count < MAX_DTYPES)
            plan->others[plan->other_count++] = order[i];
    }
    if (asked && asked != UINT_MAX && !(asked >> now & 1)) { /* the graph's own dtype is not asked for */
        bool found = plan->dtype_count > 0;

        plan->own = found ? plan->dtypes[0] : plan->own;
        if (found)
            memmove(plan->dtypes, plan->dtypes + 1, --plan->dtype_count * sizeof *plan->dtypes);
        else
            plan->dist_count = 0; /* nothing is served in what was asked for */
    }
}

/* ---- the list ---- */

static pw_dist dist_at(const struct pw_case_plan *plan, size_t i)
{
    return plan->dists[i % plan->dist_count];
}

/* Distributions that go with other shapes: what makes many NaN hides a wrong index. */
static pw_dist plain_dist(const struct pw_case_plan *plan, size_t i)
{
    static const pw_dist plain[] = {PW_DIST_NORMAL, PW_DIST_EXACT, PW_DIST_UNIFORM, PW_DIST_CANCEL};

    for (size_t k = 0; k < PW_COUNT_OF(plain); k++) {
        pw_dist dist = plain[(i + k) % PW_COUNT_OF(plain)];

        for (size_t d = 0; d < plan->dist_count; d++)
            if (plan->dists[d] == dist)
                return dist;
    }
    return dist_at(plan, i);
}

static bool has_inputs(const struct pw_call *call)
{
    for (int i = 0; i < call->input_count; i++) {
        const struct pw_formal *formal = pw_op_formal(call->op->inputs, (size_t)i);

        if (call->in[i] && formal && !(formal->flags & PW_FORMAL_PARAM))
            return true;
    }
    return false;
}

static void make_list(struct pw_case_plan *plan)
{
    const struct pw_verify_effort *effort = &plan->request->effort;
    uint64_t seed = plan->request->seed;
    int shape = 0, shapes = plan->shaped ? PW_SHAPES_KINDS : 0;
    size_t wanted_cases = effort->min_cases > 0 ? (size_t)effort->min_cases : PW_VERIFY_MIN_CASES;

    if (plan->dist_count)
        for (size_t d = 0; d < plan->dist_count; d++) {
            add(plan, STEP_GRAPH, plan->dists[d], 0, plan->own, seed);
            if (plan->dists[d] == PW_DIST_SPECIAL && has_floats(plan->signature->call))
                for (uint64_t k = 1; k < PW_DRAW_MIXTURES; k++)
                    add(plan, STEP_GRAPH, PW_DIST_SPECIAL, 0, plan->own, seed + k);
            for (int k = 0; k < 2 && shape < shapes; k++, shape++)
                add(plan, STEP_SHAPE, plain_dist(plan, (size_t)shape), shape, plan->own, seed);
            if (d < plan->property_count)
                add(plan, STEP_PROPERTY, PW_DIST_NORMAL, (int)d, plan->own, seed);
            if (d < plan->captured_count)
                add(plan, STEP_CAPTURED, PW_DIST_CAPTURED, (int)d, PW_DTYPE_UNDEFINED, 0);
        }
    for (size_t p = plan->dist_count; p < plan->property_count; p++)
        add(plan, STEP_PROPERTY, PW_DIST_NORMAL, (int)p, plan->own, seed);
    for (size_t c = plan->dist_count; c < plan->captured_count; c++)
        add(plan, STEP_CAPTURED, PW_DIST_CAPTURED, (int)c, PW_DTYPE_UNDEFINED, 0);
    for (; shape < shapes && plan->dist_count; shape++)
        add(plan, STEP_SHAPE, plain_dist(plan, (size_t)shape), shape, plan->own, seed);
    for (size_t t = 0; t < plan->dtype_count && plan->dist_count; t++) {
        add(plan, STEP_GRAPH, plain_dist(plan, 0), 0, plan->dtypes[t], seed);
        add(plan, STEP_GRAPH, plain_dist(plan, 1), 0, plan->dtypes[t], seed);
        if (shapes)
            add(plan, STEP_SHAPE, plain_dist(plan, t), (int)t, plan->dtypes[t], seed + 1);
        add(plan, STEP_GRAPH, dist_at(plan, 2 + t), 0, plan->dtypes[t], seed + 1);
    }
    for (size_t t = 0; t < plan->other_count && plan->dist_count; t++)
        add(plan, STEP_GRAPH, plain_dist(plan, 2 + t), 0, plan->others[t], seed);
    plan->minimum = effort->min_cases > 0 || plan->step_count < wanted_cases ? wanted_cases : plan->step_count;
    if (!pw_case_plan_varies(plan))
        plan->minimum = plan->step_count < 2 ? plan->step_count : 2; /* nothing varies */
    if (!plan->dist_count) /* captured sets only, or nothing that was asked for can be made */
        plan->minimum = plan->step_count;
}

/* Rounds after the list: new seeds, all dtypes in turn, three shapes to one of the graph's. */
static struct step round_step(const struct pw_case_plan *plan, size_t n)
{
    size_t kinds = 4, dtypes = 1 + plan->dtype_count;
    uint64_t seed = plan->request->seed + 2 + n / kinds;
    size_t t = n / 2 % (2 * dtypes);
    pw_dtype dtype = t < dtypes || !plan->dtype_count ? plan->own : plan->dtypes[(t - dtypes) % plan->dtype_count];

    if (n % kinds == 3 && plan->property_count)
        return (struct step){STEP_PROPERTY, n / kinds % 2 ? PW_DIST_UNIFORM : PW_DIST_NORMAL,
                             (int)(n / kinds % plan->property_count), dtype, seed};
    if (n % kinds == 0 || !plan->shaped)
        return (struct step){STEP_GRAPH, dist_at(plan, n / kinds), 0, dtype, seed};
    return (struct step){STEP_SHAPE, n % 5 ? plain_dist(plan, n) : dist_at(plan, n),
                         (int)(n * SHAPE_STRIDE % SHAPE_TURN), dtype, seed};
}

/* ---- from steps to specs ---- */

static bool is_new(struct pw_case_plan *plan, const struct pw_case_spec *spec)
{
    char id[PW_CASE_ID_MAX];
    uint64_t hash;

    if (!pw_case_id_print(plan->signature, spec, id))
        return false;
    hash = pw_hash64(id, strlen(id), 0);
    for (size_t i = 0; i < plan->seen_count; i++)
        if (plan->seen[i] == hash)
            return false;
    if (plan->seen_count == MAX_SEEN || PW_GROW(plan->seen, plan->seen_cap, plan->seen_count + 1, NULL) != PW_OK)
        return false;
    plan->seen[plan->seen_count++] = hash;
    return true;
}

static bool make(struct pw_case_plan *plan, const struct step *step, struct pw_case_spec *spec)
{
    *spec = (struct pw_case_spec){.dist = step->dist, .seed = step->seed, .dtype = step->dtype};
    switch (step->kind) {
    case STEP_SHAPE:
        if (!pw_shapes_make(plan->shapes, step->seed, step->shape, spec))
            return false;
        break;
    case STEP_PROPERTY:
        memcpy(spec->property, plan->properties[step->shape], strlen(plan->properties[step->shape]) + 1);
        spec->dist = pw_property_dist(plan->signature->call, spec->property);
        break;
    case STEP_CAPTURED:
        memcpy(spec->captured, plan->captured[step->shape], sizeof spec->captured);
        break;
    default:
        break;
    }
    return is_new(plan, spec);
}

bool pw_case_plan_next(struct pw_case_plan *plan, struct pw_case_spec *spec)
{
    for (int tries = 0; tries < TRIES && plan->dist_count + plan->captured_count > 0;) {
        size_t n = plan->next++;
        struct step step = n < plan->step_count ? plan->steps[n] : (struct step){0};

        if (n >= plan->step_count) {
            if (!plan->dist_count)
                return false;
            step = round_step(plan, n - plan->step_count);
            tries++;
        }
        if (make(plan, &step, spec))
            return true;
    }
    return false;
}

bool pw_case_plan_varies(const struct pw_case_plan *plan)
{
    return plan->shaped || has_inputs(plan->signature->call);
}

size_t pw_case_plan_minimum(const struct pw_case_plan *plan)
{
    return plan->minimum;
}

struct pw_shapes *pw_case_plan_shapes(const struct pw_case_plan *plan)
{
    return plan->shapes;
}

pw_status pw_case_plan_create(const struct pw_signature *signature, const struct pw_verify_request *request,
                              const struct pw_impl *impl, const struct pw_capture *capture, struct pw_case_plan **out,
                              struct pw_error *err)
{
    struct pw_case_plan *plan = pw_calloc(1, sizeof *plan);
    pw_status status;

    if (!plan)
        return pw_error_memory(err, sizeof *plan);
    plan->signature = signature;
    plan->request = request;
    status = pw_shapes_create(signature, request, impl, &plan->shapes, err);
    if (status != PW_OK) {
        pw_case_plan_destroy(plan);
        return status;
    }
    plan->shaped = request->effort.shapes >= 0 && pw_shapes_can_vary(plan->shapes);
    find_dists(plan);
    find_dtypes(plan);
    if (plan->dist_count && wanted(&request->effort, PW_DIST_NORMAL) && !pw_call_draws(signature->call))
        plan->property_count = pw_property_list(signature->call, plan->properties, MAX_PROPERTIES);
    if (capture && wanted(&request->effort, PW_DIST_CAPTURED))
        for (size_t i = 0; i < signature->node_count && plan->captured_count < MAX_CAPTURED; i++) {
            size_t room = MAX_CAPTURED - plan->captured_count;
            size_t found = pw_capture_sets(capture, signature->nodes[i], plan->captured + plan->captured_count, room);

            plan->captured_count += found < room ? found : room;
        }
    make_list(plan);
    *out = plan;
    return PW_OK;
}

void pw_case_plan_destroy(struct pw_case_plan *plan)
{
    if (!plan)
        return;
    pw_shapes_destroy(plan->shapes);
    pw_free(plan->seen);
    pw_free(plan);
}

/* Which kinds of other shapes there are for this call, and which it does not allow. */
static void describe_kinds(const struct pw_case_plan *plan, struct pw_buf *out)
{
    for (int want = 1; want >= 0; want--) {
        const char *between = want ? "shapes:" : "; not here:";

        for (int n = 0; n < PW_SHAPES_KINDS; n++) {
            struct pw_case_spec spec = {.dtype = plan->own};

            if (pw_shapes_make(plan->shapes, plan->request->seed, n, &spec) != (want == 1))
                continue;
            pw_buf_printf(out, "%s %s", between, pw_shapes_kind(n));
            between = ",";
        }
    }
    pw_buf_puts(out, "\n");
}

void pw_case_plan_describe(const struct pw_case_plan *plan, struct pw_buf *out)
{
    pw_buf_puts(out, "distributions:");
    for (size_t i = 0; i < plan->dist_count; i++)
        pw_buf_printf(out, " %s", pw_dist_name(plan->dists[i]));
    if (plan->captured_count)
        pw_buf_printf(out, " captured (%zu)", plan->captured_count);
    if (plan->property_count) {
        pw_buf_puts(out, "\nproperties:");
        for (size_t i = 0; i < plan->property_count; i++)
            pw_buf_printf(out, " %s", plan->properties[i]);
    }
    if (plan->dist_count && (plan->own != PW_DTYPE_UNDEFINED || plan->dtype_count || plan->other_count)) {
        pw_buf_puts(out, "\nalso in:");
        if (plan->own != PW_DTYPE_UNDEFINED)
            pw_buf_printf(out, " %s (by the protocol)", pw_dtype_name(plan->own));
        for (size_t i = 0; i < plan->dtype_count; i++)
            pw_buf_printf(out, " %s", pw_dtype_name(plan->dtypes[i]));
        for (size_t i = 0; i < plan->other_count; i++)
            pw_buf_printf(out, " %s", pw_dtype_name(plan->others[i]));
    }
    pw_buf_puts(out, "\n");
    if (plan->shaped && plan->dist_count) {
        describe_kinds(plan, out);
        pw_shapes_describe(plan->shapes, out);
    }
}
