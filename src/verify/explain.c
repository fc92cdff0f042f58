/* --explain: what is judged, how strictly, and who said so. */
#include <inttypes.h>
#include <string.h>

#include "verify/verify_state.h"

static const char guards[] = "guards: outputs and scratch poisoned before each run, canaries on both sides of every "
                             "buffer, inputs hashed before "
                             "and after, a second run at the end of its memory compared bit by bit, a deadline of ";

static void explain_tolerance(const struct pw_verify_state *state, const struct pw_signature *signature,
                              struct pw_buf *out)
{
    const struct pw_protocol *protocol = state->request->protocol;
    const char *node = signature->nodes[0]->name;
    struct pw_arena arena = {0};
    struct pw_tolerance tolerance = {0};
    struct pw_precision precision;
    pw_accumulation order = pw_protocol_accumulation(protocol, signature->call, node);

    if (pw_protocol_judgement(protocol, signature->call, node, pw_device_info(state->request->device), &arena,
                              &tolerance, NULL) == PW_OK)
        pw_buf_printf(out, "tolerance: %.3g (%s; warning above %.0f %% of it)\nbecause: %s\n", tolerance.value,
                      tolerance.bitwise     ? "bitwise, by a rule of the protocol"
                      : tolerance.by_rule   ? "by a rule of the protocol"
                      : tolerance.value > 0 ? "derived"
                                            : "bitwise",
                      100 * protocol->warn_share, tolerance.why);
    pw_protocol_precision(protocol, node, signature->op, signature->dtype, &precision);
    if (precision.line)
        pw_buf_printf(out, "precision: stored in %s, accumulated in %s (%s:%zu)\n",
                      precision.storage != PW_DTYPE_UNDEFINED ? pw_dtype_name(precision.storage) : "the graph's dtype",
                      precision.accumulate != PW_DTYPE_UNDEFINED ? pw_dtype_name(precision.accumulate) : "the kernel's",
                      protocol->path ? protocol->path : "protocol", precision.line);
    if (order != PW_ACCUMULATION_FREE)
        pw_buf_printf(out, "accumulation: %s%s\n", pw_accumulation_name(order),
                      order >= PW_ACCUMULATION_SEQUENTIAL && !tolerance.ordered
                          ? ": this operator has no sums in an order, so two runs must give the same bits"
                          : "");
    if (pw_judge_has_ties(signature->call, 0) || pw_judge_has_ties(signature->call, 1))
        pw_buf_printf(out, "ties: %s\n",
                      protocol->bitwise.ties ? "the index that ONNX names" : "any index of an equal value");
    pw_arena_clear(&arena);
}

/* Seconds; what the reference takes, which may give more, is not known before it runs. */
static double explain_deadline(const struct pw_verify_state *state, const struct pw_call *call)
{
    int64_t set = state->request->effort.case_timeout_ns;

    return (double)(set > 0 ? set : pw_case_deadline_ns(pw_case_work(call), 0, 1)) / 1e9;
}

pw_status pw_verify_explain(struct pw_verify_state *state, size_t position, struct pw_error *err)
{
    const struct pw_signature *signature = pw_verify_signature_at(state, position);
    struct pw_verify_signature *s = &state->signatures[position];
    struct pw_buf out = {0};

    if (s->skipped) {
        pw_buf_printf(&out, "stays on the host: %s%s\n", s->impls.reason ? s->impls.reason : "",
                      s->summary.gate_failed ? " (the protocol demands the target)" : "");
    } else {
        const struct pw_impl *impl = &s->impls.items[s->impls.selected];

        pw_buf_printf(&out, "implementation: %s %s\n", pw_coverage_name(impl->kind), impl->name);
        if (pw_call_draws(signature->call))
            pw_buf_puts(&out, "judged by property: shape, dtype, range and moments of the draws, the seed\n");
        else
            explain_tolerance(state, signature, &out);
        pw_buf_printf(&out, "cases: at least %zu\n", pw_case_plan_minimum(s->plan));
        pw_case_plan_describe(s->plan, &out);
        pw_buf_printf(&out, "%s%.3g s a run of the graph's shape\n", guards, explain_deadline(state, signature->call));
    }
    s->summary.explanation = out.failed ? NULL : pw_arena_strndup(&s->arena, pw_buf_text(&out), out.size);
    pw_buf_clear(&out);
    return s->summary.explanation ? PW_OK : pw_error_memory(err, 256);
}
