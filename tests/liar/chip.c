/* The chip's arithmetic: a request becomes a node and tensors, the float reference computes it, the result is rounded.
 */
#include "tests/liar/liar.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "base/random.h"
#include "graph/infer.h"
#include "run/eval.h"
#include "tensor/compare.h"
#include "verify/protocol.h"
#include "verify/verify_internal.h"

const struct pw_target_info liar_info = {
    .name = "liar",
    .kind = "liar",
    .driver = "1",
    .compute_units = 1,
    .vector_width = 8,
    .max_work_group = 1,
    .alignment_bytes = 64,
    .has_fp64 = true,
    .has_fp16 = true,
    .accuracy = {.divide = 2.5,
                 .sqrt = 3,
                 .rsqrt = 2,
                 .exp = 3,
                 .log = 3,
                 .sin = 4,
                 .cos = 4,
                 .tan = 5,
                 .tanh = 5,
                 .sinh = 4,
                 .cosh = 4,
                 .asin = 4,
                 .acos = 4,
                 .atan = 5,
                 .erf = 16,
                 .pow = 16,
                 .denormals = true,
                 .fma_fused = true,
                 .denormals_fp16 = true},
};

/* ---- the request ---- */

/* The call as a case whose inputs are there but empty, so that the texts' parser makes the node. */
static pw_status parse_node(struct liar_run *run, const struct pw_target_library_call *request, struct pw_error *err)
{
    struct pw_room_case c = {.name = request->op_type};
    pw_status status;

    if (request->input_count > PW_CASE_MAX_INPUTS || request->output_count > PW_CASE_MAX_OUTPUTS)
        return pw_error_set(err, PW_ERR_UNSUPPORTED, "more inputs or outputs than the liar has pins");
    c.call = pw_arena_printf(&run->arena, "%s%s%s-%d %s", request->domain, request->domain[0] ? ":" : "",
                             request->op_type, request->opset, request->attributes);
    if (!c.call)
        return pw_error_memory(err, strlen(request->attributes));
    for (size_t i = 0; i < request->input_count && i < PW_CASE_MAX_INPUTS - 1; i++)
        c.inputs[i] = request->inputs[i].buffer ? "uint8[0]" : "-";
    for (size_t i = 0; i < request->output_count && i < PW_CASE_MAX_OUTPUTS - 1; i++)
        c.outputs[i] = "-";
    status = pw_case_parse(&c, &run->data, err);
    if (status != PW_OK)
        return status;
    run->data.node->output_count = request->output_count;
    for (size_t i = 0; i < request->output_count; i++)
        if (!request->outputs[i].buffer)
            run->data.node->outputs[i] = PW_NO_VALUE;
    return PW_OK;
}

static pw_status take_inputs(struct liar_run *run, const struct pw_target_library_call *request,
                             const void *const *inputs, struct pw_error *err)
{
    run->input_count = (int)request->input_count;
    run->key = liar_hash(pw_hash64(request->op_type, strlen(request->op_type), (uint64_t)request->opset),
                         pw_hash64(request->attributes, strlen(request->attributes), 1));
    for (int i = 0; i < run->input_count; i++) {
        const struct pw_target_tensor *from = &request->inputs[i];
        struct pw_tensor *t = &run->values[i].tensor;
        pw_status status;
        size_t bytes;

        if (!from->buffer)
            continue;
        status = pw_tensor_init(t, (pw_dtype)from->dtype, from->rank, from->dims, err);
        if (status != PW_OK)
            return status;
        run->values[i].kind = PW_VALUE_TENSOR;
        run->in[i] = &run->values[i];
        bytes = pw_tensor_bytes(t);
        if (bytes > 0)
            memcpy(t->data, inputs[i], bytes);
        run->key = liar_hash(run->key, pw_hash64(from->dims, sizeof *from->dims * (size_t)from->rank,
                                                 (uint64_t)from->dtype + 100 * (uint64_t)i));
        run->inputs_hash = liar_hash(run->inputs_hash, pw_hash64(t->data, bytes, (uint64_t)i));
    }
    return PW_OK;
}

static pw_status make_outputs(struct liar_run *run, struct pw_error *err)
{
    int64_t most = -1;

    run->output_count = run->call.output_count;
    pw_call_take_most(&run->call);
    for (int i = 0; i < run->output_count; i++) {
        const struct pw_info *info = &run->call.out[i];
        int64_t dims[PW_MAX_RANK];
        pw_status status;

        if (!run->call.wanted[i])
            continue;
        for (int d = 0; d < info->rank; d++)
            if (!pw_dims_value(run->call.dims, info->dims[d], &dims[d]))
                return pw_call_error(&run->call, err, "output %d has no size", i);
        status = pw_tensor_init(&run->out[i], info->dtype, info->rank, dims, err);
        if (status != PW_OK)
            return status;
        run->wrote[i] = true;
        if (run->out[i].count > most) {
            most = run->out[i].count;
            run->main = i;
        }
    }
    run->unwritten_from = INT64_MAX;
    return PW_OK;
}

static pw_status find_tolerance(struct liar_run *run, struct pw_error *err)
{
    struct pw_protocol *protocol = NULL;
    const char *why;
    pw_status status = pw_protocol_default(&protocol, err);

    if (status == PW_OK)
        status = pw_protocol_tolerance(protocol, &run->call, "", &liar_info, &run->arena, &run->tolerance, &why, err);
    pw_protocol_destroy(protocol);
    return status;
}

/*
 * The verifier adds what the data amplifies where the formula always may (attention, normalization of a few elements;
 * elsewhere by the distribution, which the chip does not know): a fault just above the tolerance has to know it too.
 */
static pw_status widen(struct liar_run *run, struct pw_error *err)
{
    const struct pw_case_spec spec = {.dist = PW_DIST_EXACT, .seed = run->call.seed};
    struct pw_accuracy accuracy = {.length = 1};
    struct pw_case_run *judged;
    pw_category category = run->call.op->category;
    pw_status status;

    if ((category != PW_CATEGORY_ATTENTION && category != PW_CATEGORY_NORMALIZATION) || run->tolerance <= 0 ||
        run->input_count > PW_OP_MAX_FORMALS)
        return PW_OK;
    status = liar_golden(run, err);
    judged = status == PW_OK ? pw_calloc(1, sizeof *judged) : NULL;
    if (!judged)
        return status == PW_OK ? pw_error_memory(err, sizeof *judged) : status;
    if (run->call.op->accuracy)
        run->call.op->accuracy(&run->call, &accuracy);
    judged->spec = &spec;
    judged->result.tolerance = run->tolerance;
    judged->result.tolerance_why = "";
    judged->floor = accuracy.pointwise ? pw_dtype_facts(run->out[run->main].dtype)->min_normal : -1;
    judged->inputs.call = run->call;
    judged->inputs.count = run->input_count;
    memcpy(judged->inputs.in, run->in, (size_t)run->input_count * sizeof *run->in);
    status = pw_judge_condition(judged, run->golden, err);
    run->tolerance = judged->result.tolerance;
    pw_arena_clear(&judged->arena);
    pw_free(judged);
    return status;
}

/* The chip's notes on calls of this key; of the oldest key when all pages are full. */
static struct liar_memory *remember(struct liar_chip *chip, uint64_t key)
{
    struct liar_memory *memory = &chip->memory[key % LIAR_MEMORY];

    if (memory->key != key) {
        pw_free(memory->answer);
        *memory = (struct liar_memory){.key = key};
    }
    memory->calls++;
    return memory;
}

pw_status liar_run_begin(struct liar_run *run, struct liar_chip *chip, const struct pw_target_library_call *request,
                         const void *const *inputs, struct pw_error *err)
{
    pw_status status;

    *run = (struct liar_run){.chip = chip, .strength = chip->strength};
    status = parse_node(run, request, err);
    if (status == PW_OK)
        status = take_inputs(run, request, inputs, err);
    if (status == PW_OK)
        status = pw_dims_create(&run->dims, err);
    if (status == PW_OK)
        status =
            pw_call_from_values(run->data.node, run->in, run->input_count, run->dims, &run->arena, &run->call, err);
    if (status != PW_OK)
        return status;
    run->call.seed = request->seed;
    status = make_outputs(run, err);
    if (status == PW_OK)
        status = find_tolerance(run, err);
    run->memory = remember(chip, run->key);
    return status;
}

void liar_run_clear(struct liar_run *run)
{
    for (int i = 0; i < PW_CASE_MAX_INPUTS; i++)
        pw_value_clear(&run->values[i]);
    for (int i = 0; i < LIAR_OUTPUTS; i++) {
        pw_value_clear(&run->golden[i]);
        pw_tensor_clear(&run->out[i]);
    }
    pw_case_clear(&run->data);
    pw_dims_destroy(run->dims);
    pw_arena_clear(&run->arena);
}

/* ---- evaluation ---- */

static pw_status evaluate(struct liar_run *run, pw_eval_mode mode, struct pw_value *outputs, struct pw_error *err)
{
    struct pw_value carried[PW_CASE_MAX_INPUTS] = {0};
    const struct pw_value *in[PW_CASE_MAX_INPUTS] = {0};
    pw_status status = PW_OK;

    for (int i = 0; i < run->input_count && status == PW_OK; i++)
        if (run->in[i]) {
            status = pw_eval_carry(&carried[i], run->in[i], mode, err);
            in[i] = &carried[i];
        }
    if (status == PW_OK)
        status = pw_eval_node(run->data.node, mode, in, run->input_count, outputs, (int)run->data.node->output_count,
                              run->call.seed, err);
    for (int i = 0; i < PW_CASE_MAX_INPUTS; i++)
        pw_value_clear(&carried[i]);
    return status;
}

pw_status liar_carried(struct liar_run *run, struct pw_value *outputs, struct pw_error *err)
{
    return evaluate(run, PW_EVAL_GOLDEN, outputs, err);
}

pw_status liar_golden(struct liar_run *run, struct pw_error *err)
{
    pw_status status;

    if (run->has_golden)
        return PW_OK;
    status = evaluate(run, PW_EVAL_GOLDEN, run->golden, err);
    if (status != PW_OK)
        return status;
    run->has_golden = true;
    if (run->golden[run->main].kind == PW_VALUE_TENSOR)
        run->floor = pw_compare_floor(&run->golden[run->main].tensor);
    return PW_OK;
}

/* A size that the data decided: the output becomes as large as it came out, within what there is room for. */
static void take_found(struct liar_run *run, int i, const struct pw_tensor *made)
{
    struct pw_tensor *t = &run->out[i];
    int64_t room = t->count > 0 ? t->count : 0, count = 1;

    if (!run->call.out[i].open || made->rank != t->rank || made->count > room)
        return;
    for (int d = 0; d < t->rank; d++) {
        if (run->call.out[i].open >> d & 1)
            run->found = t->dims[d] = made->dims[d];
        count *= t->dims[d];
    }
    t->count = count;
}

pw_status liar_store(struct liar_run *run, const struct pw_value *carried, struct pw_error *err)
{
    for (int i = 0; i < run->output_count; i++) {
        struct pw_value rounded = {0};
        size_t bytes, most = pw_tensor_bytes(&run->out[i]);
        pw_status status;

        if (!run->call.wanted[i] || carried[i].kind != PW_VALUE_TENSOR)
            continue;
        status = pw_eval_round(&rounded, &carried[i], err);
        if (status != PW_OK)
            return status;
        take_found(run, i, &rounded.tensor);
        bytes = pw_tensor_bytes(&rounded.tensor);
        if (rounded.tensor.dtype == run->out[i].dtype && bytes > 0)
            memcpy(run->out[i].data, rounded.tensor.data, bytes < most ? bytes : most);
        pw_value_clear(&rounded);
    }
    return PW_OK;
}

/*
 * Operators that have no float reference are computed in double; a float chip would be off by roundings, so that much
 * is added: up to half the ULP bounds of the functions inside and of a walk over what is accumulated. What float holds
 * with bits to spare (small integers, powers of two) is what float arithmetic gives exactly too.
 */
static void roughen(const struct liar_run *run, struct pw_tensor *t)
{
    struct pw_accuracy accuracy = {.length = 1, .ulp = 1};
    double relative;

    if (run->call.op->accuracy)
        run->call.op->accuracy(&run->call, &accuracy);
    if (accuracy.exact || t->dtype != PW_DTYPE_FLOAT64 || t->nominal == PW_DTYPE_FLOAT64)
        return;
    relative = pw_dtype_epsilon(PW_DTYPE_FLOAT32) * 0.5 *
               (accuracy.ulp + sqrt(accuracy.length > 1 ? (double)accuracy.length : 0));
    for (int64_t i = 0; i < t->count; i++) {
        double *y = (double *)t->data + i;

        if (isfinite(*y) && ldexp(*y, 12) != floor(ldexp(*y, 12)))
            *y += *y * relative * (2.0 * (double)pw_random_unit(run->chip->seed, run->key, (uint64_t)i) - 1.0);
    }
}

pw_status liar_honest(struct liar_run *run, struct pw_error *err)
{
    struct pw_value outputs[LIAR_OUTPUTS] = {0};
    bool fast = run->call.op->fast != NULL;
    pw_status status = evaluate(run, fast ? PW_EVAL_FAST : PW_EVAL_GOLDEN, outputs, err);

    for (int i = 0; i < run->output_count && status == PW_OK && !fast; i++)
        if (outputs[i].kind == PW_VALUE_TENSOR)
            roughen(run, &outputs[i].tensor);
    if (status == PW_OK)
        status = liar_store(run, outputs, err);
    for (int i = 0; i < LIAR_OUTPUTS; i++)
        pw_value_clear(&outputs[i]);
    return status;
}

/* Keeps the first answer of a key for the chip's lazier moments. */
static void keep_answer(struct liar_run *run)
{
    struct liar_memory *memory = run->memory;
    const struct pw_tensor *t = &run->out[run->main];

    if (memory->answer || !t->data)
        return;
    memory->size = pw_tensor_bytes(t);
    memory->answer = pw_alloc_aligned(memory->size);
    memory->inputs = run->inputs_hash;
    if (memory->answer)
        memcpy(memory->answer, t->data, memory->size);
}

pw_status liar_run_compute(struct liar_run *run, struct pw_error *err)
{
    const struct liar_fault *fault = run->chip->fault;
    pw_status status = PW_OK;

    if (fault && !fault->applies(&run->call))
        fault = NULL;
    if (fault)
        status = widen(run, err);
    if (status == PW_OK && fault && fault->before)
        status = fault->before(run, err);
    if (status == PW_OK)
        status = fault && fault->instead ? fault->instead(run, err) : liar_honest(run, err);
    if (status == PW_OK && fault && fault->after)
        status = liar_golden(run, err);
    if (status == PW_OK && fault && fault->after)
        fault->after(run);
    keep_answer(run);
    return status;
}
