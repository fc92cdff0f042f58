/* Running a property: the frame around the tests of property_table.c. */
#include "verify/property.h"

#include <math.h>
#include <string.h>

#include "graph/infer.h"

/* "MatMul" of ai.onnx, "com.microsoft:MultiHeadAttention". */
static bool names(const struct pw_property *property, const struct pw_op *op)
{
    size_t domain = strlen(op->domain);

    if (!domain)
        return !strcmp(property->op, op->name);
    return !strncmp(property->op, op->domain, domain) && property->op[domain] == ':' &&
           !strcmp(property->op + domain + 1, op->name);
}

static const struct pw_property *find(const struct pw_call *call, const char *name)
{
    for (const struct pw_property *p = pw_properties; p->op; p++)
        if (names(p, call->op) && !strcmp(p->name, name) && (!p->applies || p->applies(call)))
            return p;
    return NULL;
}

/* Properties are stated of floats that flow in at input 0 and of one output. */
static bool fits(const struct pw_call *call)
{
    return call->input_count > 0 && call->in[0] && call->in[0]->kind == PW_VALUE_TENSOR && call->output_count > 0 &&
           call->wanted[0] && call->out[0].kind == PW_VALUE_TENSOR && pw_dtype_is_float(call->in[0]->dtype) &&
           pw_dtype_bytes(call->in[0]->dtype) >= 2 && pw_dtype_is_float(call->out[0].dtype);
}

size_t pw_property_list(const struct pw_call *call, const char **out, size_t cap)
{
    size_t count = 0;

    if (!fits(call))
        return 0;
    for (const struct pw_property *p = pw_properties; p->op; p++)
        if (names(p, call->op) && (!p->applies || p->applies(call))) {
            if (count < cap)
                out[count] = p->name;
            count++;
        }
    return count < cap ? count : cap;
}

pw_dist pw_property_dist(const struct pw_call *call, const char *name)
{
    const struct pw_property *p = find(call, name);

    return p ? p->dist : PW_DIST_NORMAL;
}

/* ---- for tests ---- */

pw_status pw_property_vary(const struct pw_property_work *work, struct pw_case_inputs *out, struct pw_error *err)
{
    const struct pw_case_inputs *from = &work->run->inputs;
    pw_status status = pw_dims_create(&out->dims, err);

    out->count = from->count;
    for (int i = 0; i < from->count && status == PW_OK; i++) {
        if (!from->in[i])
            continue;
        status = pw_value_copy(&out->values[i], from->in[i], err);
        out->in[i] = &out->values[i];
        out->constant[i] = false; /* what was packed for other contents does not serve */
    }
    return status;
}

pw_status pw_property_ready(const struct pw_property_work *work, const struct pw_node *node, struct pw_case_inputs *in,
                            struct pw_error *err)
{
    pw_status status = pw_call_from_values(node ? node : work->run->inputs.call.node, in->in, in->count, in->dims,
                                           &in->arena, &in->call, err);

    in->call.seed = work->run->inputs.call.seed;
    return status;
}

pw_status pw_property_run(struct pw_property_work *work, struct pw_case_inputs *in, struct pw_value *out,
                          struct pw_error *err)
{
    struct pw_case_run *run = work->run;
    struct pw_plan plan = {0};
    struct pw_error refused = {0};
    pw_status status = PW_OK;

    work->ran = false;
    if (!run->library)
        status = pw_kernel_plan(run->plan.kernel, &in->call, pw_device_facts(run->request->device), NULL, 0, &plan,
                                &refused);
    if (status != PW_OK && status != PW_ERR_NO_MEMORY) {
        pw_case_settle(run, PW_VERDICT_SKIPPED, refused.message);
        return PW_OK;
    }
    if (status != PW_OK)
        return pw_error_set(err, status, "%s", refused.message);
    status = pw_case_outputs(&in->call, out, err);
    if (status == PW_OK)
        status = pw_case_target(run, in, &plan, false, out, &work->ran, err);
    pw_plan_clear(&plan);
    return status;
}

void pw_property_clear(struct pw_value *values)
{
    for (int i = 0; i < PW_OP_MAX_FORMALS; i++)
        pw_value_clear(&values[i]);
}

pw_status pw_property_carrier(const struct pw_tensor *like, struct pw_tensor *out, struct pw_error *err)
{
    pw_status status = pw_tensor_init(out, PW_DTYPE_FLOAT64, like->rank, like->dims, err);

    out->nominal = like->nominal;
    return status;
}

static void take_comparison(struct pw_property_work *work, const struct pw_tensor *want)
{
    const struct pw_comparison *c = &work->run->result.comparison;

    work->run->result.output = 0;
    work->run->result.least_tolerance = c->max_error;
    work->holds = c->over == 0;
    if (work->holds)
        return;
    pw_buf_puts(&work->why, ": element ");
    pw_compare_coordinates(want, c->worst, &work->why);
    pw_buf_printf(&work->why, " is %.9g and should be %.9g, error %.3g, bound %.3g", c->worst_got, c->worst_want,
                  c->max_error, work->bound);
}

pw_status pw_property_equal(struct pw_property_work *work, const struct pw_tensor *got, const struct pw_tensor *want,
                            double floor, struct pw_error *err)
{
    pw_status status = pw_compare(got, want, work->bound, floor, &work->run->result.comparison, err);

    if (status == PW_OK)
        take_comparison(work, want);
    return status;
}

pw_status pw_property_equal_sized(struct pw_property_work *work, const struct pw_tensor *got,
                                  const struct pw_tensor *want, const struct pw_tensor *size, struct pw_error *err)
{
    struct pw_comparison *c = &work->run->result.comparison;
    struct pw_tensor a = {0}, b = {0};
    double floor = pw_compare_floor(want);
    pw_status status = pw_property_carrier(want, &a, err);

    if (status == PW_OK)
        status = pw_property_carrier(want, &b, err);
    for (int64_t i = 0; i < want->count && status == PW_OK; i++) {
        double scale = fmax(pw_tensor_get(size, i), floor);

        scale = isfinite(scale) ? scale : 1;
        pw_tensor_set(&a, i, pw_tensor_get(got, i) / scale);
        pw_tensor_set(&b, i, pw_tensor_get(want, i) / scale);
    }
    if (status == PW_OK)
        status = pw_compare(&a, &b, work->bound, 1, c, err);
    if (status == PW_OK && c->worst >= 0) {
        c->worst_got = pw_tensor_get(got, c->worst);
        c->worst_want = pw_tensor_get(want, c->worst);
    }
    if (status == PW_OK)
        take_comparison(work, want);
    pw_tensor_clear(&a);
    pw_tensor_clear(&b);
    return status;
}

/* ---- the verdict ---- */

static pw_status run_test(struct pw_property_work *work, struct pw_error *err)
{
    struct pw_case_run *run = work->run;
    pw_status status = pw_case_outputs(&run->inputs.call, work->first, err);

    if (status == PW_OK)
        status = pw_case_target(run, &run->inputs, &run->plan, false, work->first, &work->ran, err);
    if (status == PW_OK && work->ran)
        status = work->property->test(work, err);
    return status;
}

pw_status pw_property_judge(struct pw_case_run *run, struct pw_error *err)
{
    struct pw_property_work work = {.run = run, .tolerance = run->result.tolerance};
    pw_status status;

    work.property = fits(&run->inputs.call) ? find(&run->inputs.call, run->spec->property) : NULL;
    if (!work.property)
        return pw_error_set(err, PW_ERR_USAGE, "%s has no property '%s' here", run->signature->op_label,
                            run->spec->property);
    work.bound = 2 * work.tolerance; /* two results of the target differ by the errors of both */
    status = run_test(&work, err);
    run->result.tolerance = work.bound;
    run->result.tolerance_why = "what the operator's own tolerance lets the two sides of the property differ by";
    if (status == PW_OK && work.ran) {
        struct pw_buf text = {0};

        pw_buf_printf(&text, "property %s does not hold%s", work.property->name, pw_buf_text(&work.why));
        pw_case_settle(run, work.holds ? PW_VERDICT_PASS : PW_VERDICT_FAIL, work.holds ? "" : pw_buf_text(&text));
        pw_buf_clear(&text);
    }
    pw_property_clear(work.first);
    pw_buf_clear(&work.why);
    return status;
}
