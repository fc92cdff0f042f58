/* Rows, comparisons, and what a node's errors mean. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "verify/divergence.h"

#define FAST_FACTOR 4.0  /* two roundings of float32 that differ in order differ by less */
#define CAST_FACTOR 8.0  /* half a unit each, twice that in a sum, over an eighth of the output's root mean square */
#define DRIFT_FACTOR 4.0 /* what arrived may be the nodes' tolerances amplified on the way */

const char *pw_node_standing_name(pw_node_standing standing)
{
    static const char *const names[PW_NODE_STANDING_COUNT] = {"held", "culprit", "victim", "drift", "failed", "drawn"};

    return standing < PW_NODE_STANDING_COUNT ? names[standing] : "?";
}

/* ---- rows ---- */

static int severity(pw_node_standing standing)
{
    static const int order[PW_NODE_STANDING_COUNT] = {
        [PW_NODE_HELD] = 0,   [PW_NODE_DRAWN] = 1,   [PW_NODE_DRIFT] = 2,
        [PW_NODE_VICTIM] = 3, [PW_NODE_CULPRIT] = 4, [PW_NODE_FAILED] = 5};

    return order[standing];
}

pw_status pw_divergence_push(struct pw_divergence *run, struct pw_endtoend_node *row, struct pw_error *err)
{
    pw_status status;

    for (size_t i = run->pending_count; i-- > 0 && row->runs > 0;)
        if (run->pending[i] == row)
            return PW_OK;
    status = PW_GROW(run->pending, run->pending_cap, run->pending_count + 1, err);
    if (status == PW_OK)
        run->pending[run->pending_count++] = row;
    return status;
}

bool pw_divergence_is_constant(const struct pw_node *node)
{
    return node->input_count == 0 && !strcmp(node->op_type, "Constant");
}

struct pw_endtoend_node *pw_divergence_new_row(struct pw_divergence *run, const struct pw_node *node, int pattern)
{
    struct pw_endtoend_node *row =
        run->spare_count ? run->spare[--run->spare_count] : pw_arena_alloc(&run->arena, 1, sizeof *row);

    if (row)
        *row = (struct pw_endtoend_node){.node = node,
                                         .pattern = pattern,
                                         .position = run->position++,
                                         .implementation = "",
                                         .note = "",
                                         .why = "",
                                         .reason = "",
                                         .isolated = {.worst = -1},
                                         .propagated = {.worst = -1},
                                         .output = -1};
    return row;
}

pw_status pw_divergence_row(struct pw_divergence *run, const struct pw_node *node, struct pw_endtoend_node **out,
                            struct pw_error *err)
{
    const struct pw_inventory *inventory = run->request->inventory;
    size_t number = pw_inference_node_number(inventory->inference, node);
    bool constant = pw_divergence_is_constant(node);
    struct pw_endtoend_node *row;
    pw_status status;

    if (number >= inventory->node_number_count)
        return pw_error_set(err, PW_ERR_INTERNAL, "a node of another model");
    row = run->rows[number];
    if (!row) {
        row = pw_divergence_new_row(run, node, inventory->node_pattern[number]);
        if (!row)
            return pw_error_memory(err, sizeof *row);
        run->rows[number] = row;
        run->totals->nodes += !constant;
    }
    status = constant ? PW_OK : pw_divergence_push(run, row, err); /* data, not work */
    row->runs += status == PW_OK;
    *out = row;
    return status;
}

void pw_divergence_settle(struct pw_divergence *run, struct pw_endtoend_node *row, pw_node_standing standing,
                          const char *reason)
{
    if (severity(standing) <= severity(row->standing))
        return;
    row->standing = standing;
    row->reason = pw_divergence_text(run, reason);
}

/* ---- comparing ---- */

static double rank(const struct pw_comparison *comparison)
{
    return comparison->mismatches ? INFINITY : comparison->max_error;
}

void pw_comparison_worse(struct pw_comparison *into, const struct pw_comparison *other)
{
    if (into->worst < 0 || rank(other) > rank(into) || (rank(other) == rank(into) && other->over > into->over))
        *into = *other;
}

bool pw_divergence_exact(const struct pw_value *got, const struct pw_value *ref)
{
    double a[256], b[256];
    const struct pw_tensor *x = &got->tensor, *y = &ref->tensor;

    if (got->kind != ref->kind)
        return false;
    if (got->kind != PW_VALUE_TENSOR) {
        bool same = got->count == ref->count;

        for (size_t i = 0; same && i < got->count; i++)
            same = pw_divergence_exact(&got->items[i], &ref->items[i]);
        return same;
    }
    if (x->rank != y->rank || (x->rank && memcmp(x->dims, y->dims, (size_t)x->rank * sizeof *x->dims)))
        return false;
    if (!pw_dtype_is_float(x->dtype) || !pw_dtype_is_float(y->dtype)) {
        struct pw_comparison comparison;

        return x->dtype == y->dtype && pw_compare(x, y, 0, 0, &comparison, NULL) == PW_OK && !comparison.mismatches &&
               comparison.max_absolute == 0;
    }
    for (int64_t at = 0; at < x->count; at += 256) {
        int64_t part = x->count - at < 256 ? x->count - at : 256;

        pw_tensor_load(x, at, part, a);
        pw_tensor_load(y, at, part, b);
        for (int64_t i = 0; i < part; i++)
            if (a[i] != b[i] && !(isnan(a[i]) && isnan(b[i])))
                return false;
    }
    return true;
}

static void not_comparable(struct pw_comparison *out)
{
    *out = (struct pw_comparison){.count = 1, .mismatches = 1, .over = 1, .worst = 0, .nmse = INFINITY};
    out->max_error = out->max_absolute = out->max_relative = out->max_ulp = INFINITY;
    out->worst_got = out->worst_want = NAN;
}

pw_status pw_divergence_compare(const struct pw_value *got, const struct pw_value *ref, double tolerance,
                                struct pw_comparison *out, struct pw_buf *why, struct pw_error *err)
{
    static const char *const kinds[] = {"nothing", "a tensor", "a sequence"};
    struct pw_tensor view = got->tensor;
    struct pw_error refused = {0};
    pw_status status;

    *out = (struct pw_comparison){.worst = -1};
    if (got->kind != ref->kind || (got->kind == PW_VALUE_SEQUENCE && got->count != ref->count)) {
        pw_buf_printf(why, "expected %s of %zu, got %s of %zu", kinds[ref->kind], ref->count, kinds[got->kind],
                      got->count);
        not_comparable(out);
        return PW_OK;
    }
    for (size_t i = 0; got->kind == PW_VALUE_SEQUENCE && i < got->count; i++) {
        struct pw_comparison item;

        status = pw_divergence_compare(&got->items[i], &ref->items[i], tolerance, &item, why, err);
        if (status != PW_OK)
            return status;
        pw_comparison_worse(out, &item);
    }
    if (got->kind != PW_VALUE_TENSOR)
        return PW_OK;
    if (pw_dtype_is_float(view.nominal) && pw_dtype_is_float(ref->tensor.nominal))
        view.nominal = ref->tensor.nominal; /* a cast is no difference */
    status = pw_compare(&view, &ref->tensor, tolerance, -1, out, &refused);
    if (status == PW_ERR_NO_MEMORY)
        return pw_error_set(err, status, "%s", refused.message);
    if (status != PW_OK) {
        pw_buf_puts(why, refused.message);
        not_comparable(out);
    }
    return PW_OK;
}

/* ---- judging ---- */

/* Tolerance of the node's own error in the dtype in which it ran. */
static pw_status find_tolerance(struct pw_node_run *nr, struct pw_error *err)
{
    const struct pw_value *const *from = nr->isolated ? nr->isolated_in : nr->gots;
    struct pw_value *casts = pw_calloc((size_t)nr->in_count + 1, sizeof *casts);
    const struct pw_value **in = pw_calloc((size_t)nr->in_count + 1, sizeof *in);
    struct pw_arena arena = {0};
    struct pw_dims *dims = NULL;
    struct pw_call call;
    const char *why = "";
    bool any;
    pw_status status = casts && in ? pw_dims_create(&dims, err) : pw_error_memory(err, sizeof *casts);

    if (status == PW_OK && nr->step.cast)
        status = pw_target_cast_inputs(nr->node, from, nr->in_count, pw_divergence_storage(nr), casts, in, &any, err);
    else if (status == PW_OK)
        memcpy(in, from, (size_t)nr->in_count * sizeof *in);
    if (status == PW_OK)
        status = pw_call_from_values(nr->node, in, nr->in_count, dims, &arena, &call, err);
    if (status == PW_OK)
        status = pw_protocol_tolerance(nr->run->request->protocol, &call, nr->node->name,
                                       pw_device_info(nr->run->request->device), &arena, &nr->tolerance, &why, err);
    if (status == PW_OK && (!nr->row->why[0] || nr->tolerance != nr->row->tolerance)) {
        nr->row->tolerance = nr->tolerance;
        nr->row->why = pw_divergence_text(nr->run, why);
    }
    for (int i = 0; casts && i < nr->in_count; i++)
        pw_value_clear(&casts[i]);
    pw_free(casts);
    pw_free(in);
    pw_dims_destroy(dims);
    pw_arena_clear(&arena);
    return status;
}

static void accuse(struct pw_node_run *nr, int output, const struct pw_value *ref, const struct pw_comparison *c,
                   const struct pw_buf *why)
{
    struct pw_buf text = {0};

    if (why->size) {
        pw_buf_printf(&text, "output %d: %s", output, pw_buf_text(why));
    } else {
        pw_buf_printf(&text, "output %d, element ", output);
        if (ref->kind == PW_VALUE_TENSOR)
            pw_compare_coordinates(&ref->tensor, c->worst, &text);
        pw_buf_printf(&text, ": got %.9g, golden %.9g, error %.3g, tolerance %.3g; %" PRId64 " of %" PRId64 " over",
                      c->worst_got, c->worst_want, c->max_error, nr->tolerance, c->over, c->count);
    }
    nr->culprit = true;
    pw_divergence_settle(nr->run, nr->row, PW_NODE_CULPRIT, pw_buf_text(&text));
    pw_buf_clear(&text);
}

/* Some inputs are ill-conditioned for any float32 arithmetic (activations that cancel). What is over the tolerance is
 * measured against the fast reference on the same inputs; it counts as the target's fault only beyond a few times that.
 * Leaves *error NaN where there is no fast reference. */
static pw_status fast_error(struct pw_node_run *nr, int output, const struct pw_value *ref, double *error,
                            struct pw_error *err)
{
    struct pw_value *values = pw_calloc(3 * (size_t)nr->in_count + (size_t)nr->out_count + 4, sizeof *values);
    struct pw_value *casts = values, *carried = values + nr->in_count + 1, *out = carried + nr->in_count + 1;
    const struct pw_value **in = pw_calloc((size_t)nr->in_count + 1, sizeof *in);
    struct pw_value rounded = {0};
    struct pw_comparison comparison;
    struct pw_error ignored = {0};
    struct pw_buf why = {0};
    bool any;
    pw_status status = values && in ? PW_OK : pw_error_memory(err, (size_t)nr->in_count * sizeof *values);

    *error = NAN;
    if (status == PW_OK && nr->step.cast)
        status = pw_target_cast_inputs(nr->node, nr->isolated_in, nr->in_count, pw_divergence_storage(nr), casts, in,
                                       &any, err);
    else if (status == PW_OK)
        memcpy(in, nr->isolated_in, (size_t)nr->in_count * sizeof *in);
    for (int i = 0; i < nr->in_count && status == PW_OK; i++)
        if (in[i]) {
            status = pw_eval_carry(&carried[i], in[i], PW_EVAL_FAST, err);
            in[i] = &carried[i];
        }
    if (status == PW_OK &&
        pw_eval_node(nr->node, PW_EVAL_FAST, in, nr->in_count, out, nr->out_count, nr->seed, &ignored) == PW_OK) {
        status = pw_eval_round(&rounded, &out[output], err);
        if (status == PW_OK)
            status = pw_divergence_compare(&rounded, ref, 0, &comparison, &why, err);
        if (status == PW_OK && !comparison.mismatches)
            *error = comparison.max_error;
    }
    for (int i = 0; values && i < 3 * nr->in_count + nr->out_count + 4; i++)
        pw_value_clear(&values[i]);
    pw_value_clear(&rounded);
    pw_buf_clear(&why);
    pw_free(values);
    pw_free(in);
    return status;
}

/* True when the fast reference loses about as much; the row's tolerance is then what was allowed in the end. */
static pw_status is_excused(struct pw_node_run *nr, int output, const struct pw_value *ref,
                            const struct pw_comparison *comparison, bool *excused, struct pw_error *err)
{
    double error = NAN;
    pw_status status;

    *excused = false;
    if (nr->tolerance <= 0 || comparison->mismatches || !nr->node->op->fast)
        return PW_OK;
    status = fast_error(nr, output, ref, &error, err);
    *excused = status == PW_OK && comparison->max_error <= FAST_FACTOR * error;
    if (*excused) {
        nr->tolerance = nr->row->tolerance = FAST_FACTOR * error;
        nr->row->why = "four times what the float32 reference loses on the same inputs, which are ill-conditioned";
    }
    return status;
}

static pw_status judge_isolated(struct pw_node_run *nr, struct pw_error *err)
{
    for (int o = 0; o < nr->out_count; o++) {
        const struct pw_value *got = nr->share_got ? &nr->out[o].got : &nr->isolated_got[o];
        const struct pw_value *ref = nr->share_ref ? &nr->out[o].ref : &nr->isolated_ref[o];
        struct pw_comparison comparison;
        struct pw_buf why = {0};
        bool excused = false;
        pw_status status;

        if (ref->kind == PW_VALUE_NONE && got->kind == PW_VALUE_NONE)
            continue;
        status = pw_divergence_compare(got, ref, nr->tolerance, &comparison, &why, err);
        if (status == PW_OK && comparison.over > 0)
            status = is_excused(nr, o, ref, &comparison, &excused, err);
        if (status == PW_OK && comparison.over > 0 && !excused)
            accuse(nr, o, ref, &comparison, &why);
        pw_buf_clear(&why);
        if (status != PW_OK)
            return status;
        if (nr->row->output < 0 || rank(&comparison) > rank(&nr->row->isolated))
            nr->row->output = o;
        pw_comparison_worse(&nr->row->isolated, &comparison);
        nr->row->has_isolated = true;
    }
    return PW_OK;
}

static bool has_nan(const struct pw_value *value)
{
    double block[256];
    bool found = false;

    for (size_t i = 0; value->kind == PW_VALUE_SEQUENCE && i < value->count && !found; i++)
        found = has_nan(&value->items[i]);
    if (value->kind != PW_VALUE_TENSOR || !pw_dtype_is_float(value->tensor.dtype))
        return found;
    for (int64_t at = 0; at < value->tensor.count && !found; at += 256) {
        int64_t part = value->tensor.count - at < 256 ? value->tensor.count - at : 256;

        pw_tensor_load(&value->tensor, at, part, block);
        for (int64_t i = 0; i < part; i++)
            found = found || isnan(block[i]);
    }
    return found;
}

void pw_inherited_add(struct pw_inherited *into, const struct pw_inherited *other)
{
    into->allowed = other->allowed > into->allowed ? other->allowed : into->allowed;
    into->tainted |= other->tainted;
    into->bad |= other->bad;
    into->drawn |= other->drawn;
    into->ref_nan |= other->ref_nan;
}

struct pw_inherited pw_inherited_from(struct pw_pair *const *in, size_t count)
{
    struct pw_inherited from = {0};

    for (size_t i = 0; i < count; i++)
        if (in[i])
            pw_inherited_add(&from, &in[i]->from);
    return from;
}

/* One output's propagated error, and what it hands on. */
static pw_status judge_output(struct pw_divergence *run, struct pw_endtoend_node *row, const struct pw_inherited *from,
                              double tolerance, bool culprit, struct pw_pair *out, struct pw_error *err)
{
    struct pw_comparison comparison;
    struct pw_buf why = {0};
    bool floating, over;
    pw_status status;

    status = pw_divergence_compare(&out->got, &out->ref, DRIFT_FACTOR * out->from.allowed, &comparison, &why, err);
    if (status != PW_OK)
        return status;
    floating = out->got.kind == PW_VALUE_TENSOR && pw_dtype_is_float(out->got.tensor.dtype);
    out->exact = pw_divergence_exact(&out->got, &out->ref);
    out->from.tainted = (from->tainted || culprit) && !out->exact;
    out->from.bad = (floating && comparison.mismatches > 0 && !why.size) || (from->bad && !out->exact && !floating);
    out->from.ref_nan = has_nan(&out->ref);
    pw_comparison_worse(&row->propagated, &comparison);
    if (out->from.allowed > row->allowed)
        row->allowed = out->from.allowed;
    row->nonfinite_origin |= out->from.bad && !from->bad;
    row->reference_nan |= out->from.ref_nan && !from->ref_nan;
    over = comparison.mismatches > 0 || comparison.max_error > tolerance;
    if (from->tainted && over && !culprit)
        pw_divergence_settle(run, row, PW_NODE_VICTIM, pw_buf_text(&why));
    else if (comparison.over > 0 && !culprit)
        pw_divergence_settle(run, row, PW_NODE_DRIFT, pw_buf_text(&why));
    pw_buf_clear(&why);
    return PW_OK;
}

pw_status pw_divergence_judge(struct pw_node_run *nr, struct pw_error *err)
{
    struct pw_inherited from = pw_inherited_from(nr->in, (size_t)nr->in_count);
    bool nodes = nr->run->request->mode == PW_ENDTOEND_NODES;
    /* a cast of the inputs rounds each of them: no fault of the node, but what it hands on differs by that */
    double casts = nr->step.cast ? CAST_FACTOR * pw_dtype_epsilon(pw_divergence_storage(nr)) : 0;
    pw_status status = nr->failed || nr->drawn ? PW_OK : find_tolerance(nr, err);

    if (status == PW_OK && nodes && !nr->failed && !nr->drawn)
        status = judge_isolated(nr, err);
    for (int o = 0; o < nr->out_count && status == PW_OK; o++) {
        struct pw_pair *out = &nr->out[o];

        out->from.allowed = from.allowed + nr->tolerance + casts;
        out->from.drawn |= from.drawn;
        if (nodes && (out->ref.kind != PW_VALUE_NONE || out->got.kind != PW_VALUE_NONE))
            status = judge_output(nr->run, nr->row, &from, nr->tolerance, nr->culprit, out, err);
    }
    return status;
}

pw_status pw_divergence_judge_outer(struct pw_divergence *run, const struct pw_node *node, struct pw_pair *const *in,
                                    struct pw_pair *out, pw_node_standing standing, const char *reason,
                                    struct pw_error *err)
{
    struct pw_inherited from = pw_inherited_from(in, node->input_count);
    struct pw_endtoend_node *row = NULL;
    pw_status status = pw_divergence_row(run, node, &row, err);

    if (status == PW_OK && reason[0])
        pw_divergence_settle(run, row, standing, reason);
    for (size_t o = 0; o < node->output_count && status == PW_OK; o++) {
        pw_inherited_add(&from, &out[o].from); /* what the body brought */
        out[o].from = from;
        if (run->request->mode == PW_ENDTOEND_NODES &&
            (out[o].ref.kind != PW_VALUE_NONE || out[o].got.kind != PW_VALUE_NONE))
            status = judge_output(run, row, &from, from.allowed, false, &out[o], err);
    }
    return status;
}
