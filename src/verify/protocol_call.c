/*
 * What the protocol says of one call: tolerance with its reason, precision, accumulation, the host.
 *
 * The default tolerance follows the rounding analysis of the operator: the output is rounded once to its dtype
 * (half an epsilon), float arithmetic inside adds the ULP of the functions used, and an accumulation
 * of K terms adds a random walk of K roundings. Errors are judged against at least an eighth of the
 * output's root mean square (tensor/compare.h), hence the factor 8 on what does not scale with the
 * element itself. A device whose contract grants a function more than OpenCL's table gets the difference.
 */
#include <fnmatch.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/compiler.h"
#include "verify/protocol.h"

#define FLOOR_FACTOR 8.0  /* 1 / the floor's share of the root mean square */
#define WALK_FACTOR 2.0   /* worst of millions of elements against the walk's standard deviation */
#define ELEMENT_SLACK 2.0 /* roundings of an elementwise formula beside its functions */

static pw_dtype output_dtype(const struct pw_call *call)
{
    for (int i = 0; i < call->output_count; i++)
        if (call->wanted[i] && pw_dtype_is_float(call->out[i].dtype))
            return call->out[i].dtype;
    return PW_DTYPE_UNDEFINED;
}

static bool matches(const struct pw_rule_match *match, const struct pw_op *op, pw_dtype dtype, const char *node_name)
{
    return (!match->op || !strcmp(match->op, op->name)) &&
           (!match->category || !strcmp(match->category, pw_category_name(op->category))) &&
           (match->dtype == PW_DTYPE_UNDEFINED || match->dtype == dtype) &&
           (!match->node || (node_name && !fnmatch(match->node, node_name, 0)));
}

static const struct pw_tolerance_rule *matching_rule(const struct pw_protocol *protocol, const struct pw_call *call,
                                                     const char *node_name, pw_dtype dtype)
{
    for (size_t i = protocol->tolerance_count; i-- > 0;)
        if (matches(&protocol->tolerances[i].match, call->op, dtype, node_name))
            return &protocol->tolerances[i];
    return NULL;
}

static const struct pw_rule_match *matching_bitwise(const struct pw_protocol *protocol, const struct pw_call *call,
                                                    const char *node_name, pw_dtype dtype)
{
    for (size_t i = protocol->bitwise.rule_count; i-- > 0;)
        if (matches(&protocol->bitwise.rules[i].match, call->op, dtype, node_name))
            return &protocol->bitwise.rules[i].match;
    return NULL;
}

void pw_protocol_precision(const struct pw_protocol *protocol, const char *node_name, const struct pw_op *op,
                           pw_dtype dtype, struct pw_precision *out)
{
    memset(out, 0, sizeof *out);
    for (size_t i = protocol->precision_count; i-- > 0 && op;)
        if (matches(&protocol->precisions[i].match, op, dtype, node_name)) {
            out->storage = protocol->precisions[i].storage;
            out->accumulate = protocol->precisions[i].accumulate;
            out->line = protocol->precisions[i].match.line;
            return;
        }
}

const char *pw_accumulation_name(pw_accumulation accumulation)
{
    static const char *const names[PW_ACCUMULATION_COUNT] = {"free", "repeatable", "sequential", "pairwise"};

    return accumulation < PW_ACCUMULATION_COUNT ? names[accumulation] : "?";
}

static const struct pw_accumulation_rule *matching_accumulation(const struct pw_protocol *protocol,
                                                                const struct pw_call *call, const char *node_name)
{
    for (size_t i = protocol->bitwise.accumulation_count; i-- > 0;)
        if (matches(&protocol->bitwise.accumulations[i].match, call->op, output_dtype(call), node_name))
            return &protocol->bitwise.accumulations[i];
    return NULL;
}

pw_accumulation pw_protocol_accumulation(const struct pw_protocol *protocol, const struct pw_call *call,
                                         const char *node_name)
{
    const struct pw_accumulation_rule *rule = matching_accumulation(protocol, call, node_name);

    return rule ? rule->accumulation : PW_ACCUMULATION_FREE;
}

/* ---- the device's contract ---- */

/* Largest errors in ULP that OpenCL 3.0 allows a full-profile device in single precision (The OpenCL C Specification,
 * "Relative Error as ULPs"); what rooms' figures are made of. */
static const struct contract {
    const char *name;
    size_t offset;
    double opencl;
} contracts[] = {
#define FUNCTION(field, ulp)                                                                                           \
    {                                                                                                                  \
#field, offsetof(struct pw_target_accuracy, field), ulp                                                        \
    }
    FUNCTION(add, 0.5), FUNCTION(mul, 0.5), FUNCTION(fma, 0.5), FUNCTION(divide, 2.5), FUNCTION(sqrt, 3),
    FUNCTION(rsqrt, 2), FUNCTION(exp, 3),   FUNCTION(log, 3),   FUNCTION(sin, 4),      FUNCTION(cos, 4),
    FUNCTION(tan, 5),   FUNCTION(tanh, 5),  FUNCTION(sinh, 4),  FUNCTION(cosh, 4),     FUNCTION(asin, 4),
    FUNCTION(acos, 4),  FUNCTION(atan, 5),  FUNCTION(erf, 16),  FUNCTION(pow, 16),
#undef FUNCTION
};

/* ULP that the device may lose beyond OpenCL's table in the functions that the operator names. */
static double device_extra(const struct pw_accuracy *accuracy, const struct pw_target_info *info)
{
    double extra = 0;

    for (const char *at = accuracy->functions; at && info && *at;) {
        size_t length = strcspn(at, " ");

        for (size_t i = 0; i < PW_COUNT_OF(contracts); i++)
            if (strlen(contracts[i].name) == length && !memcmp(contracts[i].name, at, length)) {
                double device = *(const double *)((const char *)&info->accuracy + contracts[i].offset);

                if (device > contracts[i].opencl)
                    extra += device - contracts[i].opencl;
            }
        at += length;
        at += strspn(at, " ");
    }
    return extra;
}

/* Does the device round all of these functions correctly, as IEEE 754 does a division? Unknown is negative. */
static bool rounds_correctly(const char *functions, const struct pw_target_info *info)
{
    for (const char *at = functions; at && *at;) {
        size_t length = strcspn(at, " ");
        double ulp = INFINITY;

        for (size_t i = 0; i < PW_COUNT_OF(contracts); i++)
            if (strlen(contracts[i].name) == length && !memcmp(contracts[i].name, at, length))
                ulp =
                    info ? *(const double *)((const char *)&info->accuracy + contracts[i].offset) : contracts[i].opencl;
        if (!(ulp >= 0 && ulp <= 0.5))
            return false;
        at += length;
        at += strspn(at, " ");
    }
    return true;
}

void pw_protocol_order(const struct pw_protocol *protocol, const struct pw_call *call, const char *node_name,
                       const struct pw_target_info *info, struct pw_order_demand *out)
{
    const struct pw_accumulation_rule *rule = matching_accumulation(protocol, call, node_name);
    pw_dtype dtype = output_dtype(call), inside = dtype == PW_DTYPE_FLOAT64 ? dtype : PW_DTYPE_FLOAT32;
    struct pw_precision precision;

    *out = (struct pw_order_demand){0};
    if (!rule || rule->accumulation < PW_ACCUMULATION_SEQUENTIAL || !call->op->ordered || dtype == PW_DTYPE_UNDEFINED)
        return;
    pw_protocol_precision(protocol, node_name, call->op, dtype, &precision);
    if (precision.accumulate != PW_DTYPE_UNDEFINED)
        inside = precision.accumulate;
    out->demanded = true;
    out->line = rule->match.line;
    out->bits = rounds_correctly(call->op->ordered_functions, info);
    out->order = (struct pw_order){
        .kind = rule->accumulation == PW_ACCUMULATION_PAIRWISE ? PW_ORDER_PAIRWISE : PW_ORDER_SEQUENTIAL,
        .dtype = inside,
        .flush = info && inside != PW_DTYPE_FLOAT64 && /* whose denormals every device keeps */
                 !(inside == PW_DTYPE_FLOAT16 ? info->accuracy.denormals_fp16 : info->accuracy.denormals)};
}

/* ---- tolerances ---- */

/* What the arithmetic itself may lose, relative to max(|ref|, floor). */
static double derived(const struct pw_accuracy *accuracy, pw_dtype dtype, pw_dtype accumulate, double extra_ulp,
                      struct pw_arena *arena, const char **why)
{
    double out = pw_dtype_epsilon(dtype);
    double inside = dtype == PW_DTYPE_FLOAT64 ? out : pw_dtype_epsilon(PW_DTYPE_FLOAT32);
    double amplification = accuracy->amplification > 1 ? accuracy->amplification : 1;
    double ulp = accuracy->ulp + extra_ulp + ELEMENT_SLACK;
    double element = ulp * inside * amplification;
    double adding = accumulate != PW_DTYPE_UNDEFINED ? pw_dtype_epsilon(accumulate) : inside;
    struct pw_buf text = {0};
    double walk = 0;

    pw_buf_printf(&text, "%s output rounding %.2g + %.3g ULP of %s functions %.2g", pw_dtype_name(dtype), 0.5 * out,
                  ulp, dtype == PW_DTYPE_FLOAT64 ? "double" : "float", element);
    if (extra_ulp > 0)
        pw_buf_printf(&text, " (%.3g of them by the device's contract)", extra_ulp);
    if (accuracy->length > 1) {
        walk = WALK_FACTOR * FLOOR_FACTOR * adding * sqrt((double)accuracy->length) * amplification;
        pw_buf_printf(&text, " + random walk of %lld terms accumulated in %s %.2g", (long long)accuracy->length,
                      accumulate != PW_DTYPE_UNDEFINED
                          ? pw_dtype_name(accumulate)
                          : pw_dtype_name(dtype == PW_DTYPE_FLOAT64 ? dtype : PW_DTYPE_FLOAT32),
                      walk);
    }
    if (amplification > 1)
        pw_buf_printf(&text, ", amplified %.3g times by the formula", amplification);
    if (accuracy->why && accuracy->why[0])
        pw_buf_printf(&text, ": %s", accuracy->why);
    *why = text.failed ? NULL : pw_arena_strndup(arena, pw_buf_text(&text), text.size);
    pw_buf_clear(&text);
    return 0.5 * out + element + walk;
}

static bool copies(const struct pw_op *op)
{
    return op->category == PW_CATEGORY_LAYOUT || op->category == PW_CATEGORY_EMBEDDING;
}

/* The order is given, so nothing is allowed for it: what is left are functions that the device may round otherwise. */
static void judge_order(const struct pw_order_demand *demand, const char *file, const struct pw_call *call,
                        struct pw_accuracy *accuracy, double extra_ulp, struct pw_arena *arena,
                        struct pw_tolerance *out)
{
    const char *kind = demand->order.kind == PW_ORDER_PAIRWISE ? "pairwise" : "sequential", *why = NULL;
    const char *dtype = pw_dtype_name(demand->order.dtype);

    out->ordered = true;
    out->line = demand->line;
    if (demand->bits) {
        out->value = 0;
        out->rounding = 0;
        out->bitwise = out->by_rule = true;
        out->why = pw_arena_printf(arena, "%s:%zu: the bits of a %s sum in %s", file, demand->line, kind, dtype);
        return;
    }
    if (!out->by_rule) {
        accuracy->length = 1;
        out->rounding = 0.5 * pw_dtype_epsilon(output_dtype(call));
        out->value = derived(accuracy, output_dtype(call), PW_DTYPE_UNDEFINED, extra_ulp, arena, &why);
    }
    out->why = pw_arena_printf(arena, "%s:%zu: a %s sum in %s, then %s, which the device need not round correctly: %s",
                               file, demand->line, kind, dtype, call->op->ordered_functions,
                               out->by_rule ? out->why
                               : why        ? why
                                            : "");
}

pw_status pw_protocol_judgement(const struct pw_protocol *protocol, const struct pw_call *call, const char *node_name,
                                const struct pw_target_info *info, struct pw_arena *arena, struct pw_tolerance *out,
                                struct pw_error *err)
{
    struct pw_accuracy accuracy = {.length = 1, .amplification = 1, .ulp = 1};
    pw_dtype dtype = output_dtype(call);
    const struct pw_tolerance_rule *rule = matching_rule(protocol, call, node_name, dtype);
    const struct pw_rule_match *bitwise = matching_bitwise(protocol, call, node_name, dtype);
    const char *file = protocol->path ? protocol->path : "protocol";
    struct pw_order_demand demand;
    struct pw_precision precision;

    *out = (struct pw_tolerance){0};
    if (call->op->accuracy)
        call->op->accuracy(call, &accuracy);
    pw_protocol_precision(protocol, node_name, call->op, dtype, &precision);
    if (rule) {
        out->value = rule->value;
        out->by_rule = true;
        out->line = rule->match.line;
        out->why = pw_arena_printf(arena, "%s:%zu", file, rule->match.line);
    } else if (dtype == PW_DTYPE_UNDEFINED || (accuracy.exact && (protocol->bitwise.copies || !copies(call->op)))) {
        out->why = accuracy.why ? accuracy.why : "integers and copies are bitwise";
    } else {
        out->rounding = 0.5 * pw_dtype_epsilon(dtype);
        out->value = derived(&accuracy, dtype, precision.accumulate, device_extra(&accuracy, info), arena, &out->why);
    }
    out->beside = out->value;
    if (bitwise && out->why) {
        out->value = out->rounding = 0;
        out->bitwise = out->by_rule = true;
        out->line = bitwise->line;
        out->why = pw_arena_printf(arena, "%s:%zu: bitwise", file, bitwise->line);
    }
    pw_protocol_order(protocol, call, node_name, info, &demand);
    if (demand.demanded && out->why)
        judge_order(&demand, file, call, &accuracy, device_extra(&accuracy, info), arena, out);
    return out->why ? PW_OK : pw_error_memory(err, 128);
}

pw_status pw_protocol_tolerance(const struct pw_protocol *protocol, const struct pw_call *call, const char *node_name,
                                const struct pw_target_info *info, struct pw_arena *arena, double *tolerance,
                                const char **why, struct pw_error *err)
{
    struct pw_tolerance judged;
    pw_status status = pw_protocol_judgement(protocol, call, node_name, info, arena, &judged, err);

    if (status == PW_OK) {
        *tolerance = judged.ordered ? judged.beside : judged.value;
        *why = judged.why;
    }
    return status;
}

bool pw_protocol_host_allowed(const struct pw_protocol *protocol, const struct pw_call *call, bool shape_arithmetic)
{
    if (shape_arithmetic || !call->op || call->op->category == PW_CATEGORY_CONTROL)
        return call->op != NULL;
    for (size_t i = 0; i < protocol->host_allowed_count; i++)
        if (!strcmp(protocol->host_allowed[i], call->op->name))
            return true;
    for (int i = 0; i < call->input_count; i++)
        if (call->in[i] && pw_dtype_is_float(call->in[i]->dtype))
            return false;
    return output_dtype(call) == PW_DTYPE_UNDEFINED;
}
