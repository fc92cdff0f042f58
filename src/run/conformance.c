#include "run/conformance.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/file.h"
#include "graph/graph.h"
#include "run/data_set.h"
#include "run/eval.h"
#include "run/property.h"
#include "run/target_eval.h"
#include "tensor/compare.h"

#define MAX_SETS 1000

/* ---- comparison ---- */

/* Whole graphs: what another framework computed in float32 has its own rounding behind it, some units in the last
 * place of the output's scale after dozens of layers, and an element that happens to lie near zero shows it as a large
 * relative error. (PyTorch and ONNX Runtime differ so among themselves: a few elements in ten thousand, by up to 2e-6
 * of the output's root mean square.) Such an element is judged against the scale: 32 units, 2^-18 of the root mean
 * square. One-operator tests and explicit --rtol or --atol have no such rule. */
#define SCALE_SHARE 3.814697265625e-06

struct judge {
    const struct pw_conformance_options *options;
    bool whole_graph;
    bool drawn;                 /* the output descends from draws: compared as a sample */
    int64_t by_scale, elements; /* elements that the rule above let pass, and all */
};

/* Judges the elements that are not close against the output's scale; *bad = the first that is not even within that. */
static void judge_by_scale(struct judge *judge, const struct pw_tensor *got, const struct pw_tensor *want, int64_t *bad)
{
    double square = 0, bound;
    int64_t count = 0;

    for (int64_t i = 0; i < want->count; i++) {
        double w = pw_tensor_get(want, i);

        if (isfinite(w))
            square += w * w;
    }
    bound = SCALE_SHARE * sqrt(square / (double)want->count);
    for (int64_t i = *bad; i < want->count; i++) {
        double w = pw_tensor_get(want, i), error = fabs(pw_tensor_get(got, i) - w);

        if (w == pw_tensor_get(got, i) || (isnan(w) && isnan(pw_tensor_get(got, i))) ||
            error <= judge->options->atol + judge->options->rtol * fabs(w))
            continue;
        if (!(error <= bound)) {
            *bad = i;
            return;
        }
        count++;
    }
    judge->by_scale += count;
    *bad = -1;
}

static pw_status same_value(const struct pw_value *got, const struct pw_value *want, struct judge *judge,
                            const char *name, struct pw_error *err);

static pw_status same_tensor(const struct pw_tensor *got, const struct pw_tensor *want, struct judge *judge,
                             const char *name, struct pw_error *err)
{
    struct pw_buf place = {0}, found = {0}, wanted = {0};
    double rtol = judge->options->rtol;
    int64_t bad = -1;
    pw_status status = PW_OK;

    /* bfloat16 has fewer digits than the suite's tolerance asks for, and its sets truncate: one unit of the last
     * place is what they can tell. */
    if (want->dtype == PW_DTYPE_BFLOAT16 && rtol < pw_dtype_epsilon(want->dtype))
        rtol = pw_dtype_epsilon(want->dtype);
    pw_tensor_describe(got, &found);
    pw_tensor_describe(want, &wanted);
    if (got->dtype != want->dtype || got->rank != want->rank ||
        memcmp(got->dims, want->dims, (size_t)got->rank * sizeof *got->dims) != 0) {
        status = pw_error_set(err, PW_ERR_FORMAT, "output '%s': expected %s, got %s", name, pw_buf_text(&wanted),
                              pw_buf_text(&found));
        goto done;
    }
    if (judge->drawn) {
        status = pw_property_alike(got, want, name, err);
        goto done;
    }
    status = pw_compare_close(got, want, rtol, judge->options->atol, &bad, err);
    judge->elements += want->count;
    if (status == PW_OK && bad >= 0 && judge->whole_graph && pw_dtype_is_float(want->dtype))
        judge_by_scale(judge, got, want, &bad);
    if (status == PW_OK && bad >= 0) {
        pw_compare_coordinates(want, bad, &place);
        if (want->dtype == PW_DTYPE_STRING)
            status = pw_error_set(err, PW_ERR_FORMAT, "output '%s' %s: strings differ first at %s", name,
                                  pw_buf_text(&wanted), pw_buf_text(&place));
        else
            status = pw_error_set(err, PW_ERR_FORMAT, "output '%s' %s differs first at %s: got %.9g, expected %.9g",
                                  name, pw_buf_text(&wanted), pw_buf_text(&place), pw_tensor_get(got, bad),
                                  pw_tensor_get(want, bad));
    }
done:
    pw_buf_clear(&place);
    pw_buf_clear(&found);
    pw_buf_clear(&wanted);
    return status;
}

static pw_status same_sequence(const struct pw_value *got, const struct pw_value *want, struct judge *judge,
                               const char *name, struct pw_error *err)
{
    if (got->count != want->count)
        return pw_error_set(err, PW_ERR_FORMAT, "output '%s': expected a sequence of %zu, got %zu", name, want->count,
                            got->count);
    for (size_t i = 0; i < want->count; i++) {
        pw_status status = same_value(&got->items[i], &want->items[i], judge, name, err);

        if (status != PW_OK) {
            pw_error_prefix(err, "item %zu", i);
            return status;
        }
    }
    return PW_OK;
}

static pw_status same_value(const struct pw_value *got, const struct pw_value *want, struct judge *judge,
                            const char *name, struct pw_error *err)
{
    static const char *const kinds[] = {"nothing", "a tensor", "a sequence"};

    if (got->kind != want->kind)
        return pw_error_set(err, PW_ERR_FORMAT, "output '%s': expected %s, got %s", name, kinds[want->kind],
                            kinds[got->kind]);
    if (want->kind == PW_VALUE_TENSOR)
        return same_tensor(&got->tensor, &want->tensor, judge, name, err);
    return want->kind == PW_VALUE_SEQUENCE ? same_sequence(got, want, judge, name, err) : PW_OK;
}

/* ---- one data set ---- */

struct set_data {
    struct pw_data_set files;
    struct pw_value *results;
};

static void set_clear(struct set_data *data)
{
    for (size_t i = 0; data->results && i < data->files.output_count; i++)
        pw_value_clear(&data->results[i]);
    pw_free(data->results);
    pw_data_set_clear(&data->files);
}

static pw_status read_set(const struct pw_graph *graph, const char *folder, struct set_data *data, struct pw_error *err)
{
    data->results = pw_calloc(graph->output_count + 1, sizeof *data->results);
    if (!data->results)
        return pw_error_memory(err, graph->output_count * sizeof *data->results);
    return pw_data_set_read(graph, folder, true, &data->files, err);
}

/* One run: what it does on a target, and what it draws. */
struct set_run {
    struct pw_target_eval target;
    struct pw_property_watch watch;
};

static pw_status run_node(void *user, const struct pw_node *node, const struct pw_value *const *inputs, int input_count,
                          struct pw_value *outputs, int output_count, bool *handled, struct pw_error *err)
{
    struct set_run *run = user;

    return pw_target_eval_node(&run->target, node, inputs, input_count, outputs, output_count, handled, err);
}

static pw_status watch_node(void *user, const struct pw_node *node, const struct pw_value *const *inputs,
                            const struct pw_value *outputs, struct pw_error *err)
{
    struct set_run *run = user;

    return pw_property_observe(&run->watch, node, inputs, outputs, err);
}

static void add_note(struct pw_conformance_set *set, const char *text)
{
    size_t used = strlen(set->note);

    snprintf(set->note + used, sizeof set->note - used, "%s%s", used ? "; " : "", text);
}

static pw_status compare_outputs(const struct pw_graph *graph, const struct set_run *run, const struct set_data *data,
                                 struct judge *judge, struct pw_conformance_set *set, struct pw_error *err)
{
    bool drawn = false;
    char note[128];

    for (size_t i = 0; i < graph->output_count; i++) {
        pw_status status;

        judge->drawn = pw_property_drawn(&run->watch, i);
        status =
            same_value(&data->results[i], &data->files.wanted[i], judge, graph->values[graph->outputs[i]].name, err);
        if (status != PW_OK)
            return status;
        drawn = drawn || judge->drawn;
    }
    set->by_property = drawn;
    if (drawn)
        add_note(set, "by property");
    if (judge->by_scale) {
        snprintf(note, sizeof note, "%" PRId64 " of %" PRId64 " elements, near zero, judged by the output's scale",
                 judge->by_scale, judge->elements);
        add_note(set, note);
    }
    return PW_OK;
}

/* One evaluation: results in data->results, which are cleared first. */
static pw_status evaluate(const struct pw_graph *graph, const struct pw_conformance_options *options,
                          struct set_data *data, struct set_run *run, int64_t *elapsed_ns, struct pw_error *err)
{
    struct pw_eval_options eval = {.mode = PW_EVAL_GOLDEN, .seed = options->seed, .observe = watch_node, .user = run};
    int64_t begin;
    pw_status status;

    for (size_t i = 0; i < data->files.output_count; i++)
        pw_value_clear(&data->results[i]);
    pw_property_watch_clear(&run->watch);
    *run = (struct set_run){.target = {.device = options->device, .kernels = options->kernels, .seed = options->seed}};
    if (options->device)
        eval.backend = run_node;
    status = pw_property_watch_init(&run->watch, graph, err);
    if (status != PW_OK)
        return status;
    begin = pw_clock_ns();
    status = pw_eval_graph(graph, data->files.inputs, data->files.input_count, &eval, data->results, err);
    *elapsed_ns = pw_clock_ns() - begin;
    return status;
}

static pw_status run_set(const struct pw_model *model, const char *folder, const struct pw_conformance_options *options,
                         struct pw_conformance_set *set, struct pw_error *err)
{
    const struct pw_graph *graph = model->graph;
    struct set_run run = {0};
    struct judge judge = {.options = options, .whole_graph = !options->strict && model->node_total > 1};
    struct set_data data = {0};
    pw_status status;

    status = read_set(graph, folder, &data, err);
    if (status == PW_OK && options->warm)
        status = evaluate(graph, options, &data, &run, &set->elapsed_ns, err);
    if (status == PW_OK)
        status = evaluate(graph, options, &data, &run, &set->elapsed_ns, err);
    set->target_nodes = run.target.target_nodes;
    set->host_nodes = run.target.host_nodes;
    set->reason_count = run.target.reason_count;
    memcpy(set->reasons, run.target.reasons, run.target.reason_count * sizeof *set->reasons);
    if (status == PW_OK)
        status = compare_outputs(graph, &run, &data, &judge, set, err);
    if (status == PW_OK && run.target.host_floating) {
        add_note(set, run.target.host_note);
        if (options->require_target)
            status = pw_error_set(err, PW_ERR_UNSUPPORTED, "%s", run.target.host_note);
    }
    if (status == PW_OK && pw_model_damaged(model))
        status = pw_error_set(err, PW_ERR_IO, "the model's file shrank while it was in use");
    pw_property_watch_clear(&run.watch);
    set_clear(&data);
    return status;
}

/* ---- one folder ---- */

static bool is_set(const char *name)
{
    return pw_text_starts(name, "test_data_set_");
}

static pw_status add_set(struct pw_conformance_result *result, const char *name, struct pw_conformance_set **out,
                         struct pw_error *err)
{
    size_t cap = result->set_count;
    pw_status status = PW_GROW(result->sets, cap, result->set_count + 1, err);

    if (status != PW_OK)
        return status;
    *out = &result->sets[result->set_count++];
    memset(*out, 0, sizeof **out);
    snprintf((*out)->name, sizeof(*out)->name, "%s", name);
    return PW_OK;
}

static pw_status run_sets(const struct pw_model *model, const char *folder,
                          const struct pw_conformance_options *options, struct pw_conformance_result *result,
                          struct pw_error *err)
{
    char **names = NULL;
    size_t count = 0;
    pw_status status = pw_file_list(folder, &names, &count, err);

    for (size_t i = 0; i < count && status == PW_OK; i++) {
        struct pw_conformance_set *set;
        struct pw_error failure = {0};
        struct pw_buf path = {0};

        if (!is_set(names[i]) || result->set_count == MAX_SETS)
            continue;
        status = add_set(result, names[i], &set, err);
        if (status != PW_OK)
            break;
        pw_file_join(&path, folder, names[i]);
        if (run_set(model, pw_buf_text(&path), options, set, &failure) != PW_OK) {
            set->outcome = PW_CONFORMANCE_FAILED;
            snprintf(set->note, sizeof set->note, "%s", failure.message);
        }
        pw_buf_clear(&path);
    }
    pw_free(names);
    if (status == PW_OK && !result->set_count)
        status = pw_error_set(err, PW_ERR_IO, "no test_data_set_N folder");
    return status;
}

void pw_conformance_run(const char *folder, const struct pw_conformance_options *options,
                        struct pw_conformance_result *result)
{
    struct pw_model *model = NULL;
    struct pw_error err = {0};
    struct pw_buf path = {0};
    struct pw_conformance_set *set;
    pw_status status;

    memset(result, 0, sizeof *result);
    result->on_target = options->device != NULL;
    pw_file_join(&path, folder, "model.onnx");
    status = pw_model_load(pw_buf_text(&path), &model, &err);
    if (status == PW_OK)
        status = run_sets(model, folder, options, result, &err);
    if (status != PW_OK && add_set(result, "model.onnx", &set, NULL) == PW_OK) {
        set->outcome = PW_CONFORMANCE_FAILED;
        snprintf(set->note, sizeof set->note, "%s", err.message);
    }
    pw_model_destroy(model);
    pw_buf_clear(&path);
}

void pw_conformance_clear(struct pw_conformance_result *result)
{
    pw_free(result->sets);
    memset(result, 0, sizeof *result);
}
