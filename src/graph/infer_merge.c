/*
 * Declared against inferred. A file's value_info may be stale: exporters keep the shapes of the
 * trace. So what was inferred stands, and the declaration only fills what is unknown or depends on
 * data. With bindings a declared number that differs is remembered: when the same dim agrees without
 * them, it is the binding that cannot hold.
 */
#include <inttypes.h>
#include <string.h>

#include "base/text.h"
#include "graph/infer_internal.h"

static void look_at_symbol(void *user, const char *symbol)
{
    bool *all = user;

    if (strchr(symbol, '#') == NULL)
        *all = false;
}

bool pw_infer_is_fresh(const struct pw_dims *dims, pw_dim dim)
{
    bool all = true;

    if (dim >= 0 || dim == PW_DIM_UNKNOWN)
        return false;
    pw_dims_symbols(dims, dim, look_at_symbol, &all);
    return all;
}

static void add_conflict(struct pw_inference *inf, const struct pw_graph *graph, pw_value_id id, int dim,
                         int64_t inferred, int64_t declared)
{
    if (inf->binding_count == 0 || inf->conflict_count == PW_INFER_MAX_CONFLICTS)
        return;
    inf->conflicts[inf->conflict_count++] = (struct pw_infer_conflict){graph, id, dim, inferred, declared};
}

static void merge_dims(struct pw_inference *inf, const struct pw_graph *graph, pw_value_id id, struct pw_info *info,
                       const struct pw_type *type, const struct pw_info *declared)
{
    for (int d = 0; d < info->rank; d++) {
        pw_dim want = declared->dims[d];
        bool number = type->dim_values[d] > 0; /* 0 is what some exporters write for "unknown" */

        if (info->dims[d] == PW_DIM_UNKNOWN || (number && pw_infer_is_fresh(inf->dims, info->dims[d])))
            info->dims[d] = want;
        else if (number && info->dims[d] >= 0 && info->dims[d] != want)
            add_conflict(inf, graph, id, d, info->dims[d], want);
    }
}

pw_status pw_infer_merge_declared(struct pw_inference *inf, const struct pw_graph *graph, pw_value_id id,
                                  struct pw_info *info, struct pw_error *err)
{
    const struct pw_graph_value *value = &graph->values[id];
    const struct pw_type *tensor = value->type;
    struct pw_info declared;
    pw_status status;

    if (tensor == NULL || (info->kind == PW_VALUE_TENSOR && info->rank == 0 && info->dtype != PW_DTYPE_UNDEFINED))
        return PW_OK;
    status = pw_infer_from_type(inf, value->type, graph->parent == NULL ? value->name : NULL, true, &declared, err);
    if (status != PW_OK)
        return status;
    if (info->kind == PW_VALUE_NONE && !info->optional) {
        declared.fixed = info->fixed;
        *info = declared;
        return PW_OK;
    }
    if (info->kind == PW_VALUE_NONE || info->kind != declared.kind)
        return PW_OK;
    if (info->dtype == PW_DTYPE_UNDEFINED)
        info->dtype = declared.dtype;
    if (info->rank < 0 && declared.rank >= 0) {
        info->rank = declared.rank;
        memcpy(info->dims, declared.dims, sizeof info->dims);
        return PW_OK;
    }
    while (tensor != NULL && tensor->kind != PW_TYPE_TENSOR && tensor->kind != PW_TYPE_SPARSE_TENSOR)
        tensor = tensor->element;
    if (tensor != NULL && info->rank == declared.rank)
        merge_dims(inf, graph, id, info, tensor, &declared);
    return PW_OK;
}

/* Does the dim contradict its declaration without any binding? Then the declaration is stale. */
static bool is_stale(const struct pw_inference *unbound, const struct pw_infer_conflict *conflict)
{
    const struct pw_info *info = pw_inference_at(unbound, conflict->graph, conflict->value);

    return conflict->dim >= info->rank ||
           (info->dims[conflict->dim] >= 0 && info->dims[conflict->dim] != conflict->declared);
}

static pw_status conflict_error(const struct pw_infer_conflict *conflict, struct pw_error *err)
{
    const struct pw_graph_value *value = &conflict->graph->values[conflict->value];
    char where[256], shown[80];

    pw_text_show(shown, sizeof shown, value->name, 64);
    if (value->producer == NULL)
        return pw_error_set(err, PW_ERR_USAGE,
                            "graph '%s': with these bindings dim %d of '%s' is %" PRId64
                            ", but it is declared %" PRId64,
                            conflict->graph->name, conflict->dim, shown, conflict->inferred, conflict->declared);
    return pw_error_set(err, PW_ERR_USAGE,
                        "%s: with these bindings dim %d of output '%s' is %" PRId64 ", but the model declares %" PRId64,
                        pw_node_where(value->producer, where, sizeof where), conflict->dim, shown, conflict->inferred,
                        conflict->declared);
}

pw_status pw_infer_report_conflicts(struct pw_inference *inf, struct pw_error *err)
{
    struct pw_inference *unbound = NULL;
    pw_status status = PW_OK;

    if (inf->conflict_count == 0)
        return PW_OK;
    if (pw_infer_graph(inf->model, NULL, 0, &unbound, NULL) != PW_OK)
        return PW_OK; /* it does not even hold without bindings: they are not to blame */
    for (size_t i = 0; i < inf->conflict_count && status == PW_OK; i++) {
        if (!is_stale(unbound, &inf->conflicts[i]))
            status = conflict_error(&inf->conflicts[i], err);
    }
    pw_inference_destroy(unbound);
    return status;
}
