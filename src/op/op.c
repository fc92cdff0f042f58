/* Checks of nodes and calls against an operator's definition. */
#include "op/op.h"

#include <string.h>

#include "base/text.h"

static const char *const attr_type_names[] = {
    [PW_ATTR_UNDEFINED] = "undefined",
    [PW_ATTR_FLOAT] = "float",
    [PW_ATTR_INT] = "int",
    [PW_ATTR_STRING] = "string",
    [PW_ATTR_TENSOR] = "tensor",
    [PW_ATTR_GRAPH] = "graph",
    [PW_ATTR_FLOATS] = "floats",
    [PW_ATTR_INTS] = "ints",
    [PW_ATTR_STRINGS] = "strings",
    [PW_ATTR_TENSORS] = "tensors",
    [PW_ATTR_GRAPHS] = "graphs",
    [PW_ATTR_SPARSE_TENSOR] = "sparse_tensor",
    [PW_ATTR_TYPE_PROTO] = "type_proto",
    [PW_ATTR_SPARSE_TENSORS] = "sparse_tensors",
    [PW_ATTR_TYPE_PROTOS] = "type_protos",
};

static const char *attr_type_name(pw_attr_type type)
{
    return (int)type >= 0 && (int)type <= PW_ATTR_TYPE_PROTOS ? attr_type_names[type] : "unknown";
}

static const struct pw_attr_def *find_def(const struct pw_op *op, const char *name)
{
    for (const struct pw_attr_def *def = op->attrs; def != NULL && def->name != NULL; def++) {
        if (strcmp(def->name, name) == 0)
            return def;
    }
    return NULL;
}

const struct pw_formal *pw_op_formal(const struct pw_formal *formals, size_t i)
{
    size_t at = 0;

    if (formals == NULL)
        return NULL;
    for (; formals[at].name != NULL; at++) {
        if (at == i || (formals[at].flags & PW_FORMAL_VARIADIC) != 0)
            return &formals[at];
    }
    return NULL;
}

static pw_status check_attrs(const struct pw_op *op, const struct pw_node *node, struct pw_error *err)
{
    char shown[64];

    for (size_t i = 0; i < node->attr_count; i++) {
        const struct pw_attr *attr = &node->attrs[i];
        const struct pw_attr_def *def = find_def(op, attr->name);

        if (def == NULL)
            return pw_error_set(err, PW_ERR_MODEL, "unknown attribute '%s'",
                                pw_text_show(shown, sizeof shown, attr->name, 40));
        if (def->type != attr->type)
            return pw_error_set(err, PW_ERR_MODEL, "attribute '%s' must be %s, found %s", def->name,
                                attr_type_name(def->type), attr_type_name(attr->type));
    }
    for (const struct pw_attr_def *def = op->attrs; def != NULL && def->name != NULL; def++) {
        if (def->required && pw_node_attr(node, def->name) == NULL)
            return pw_error_set(err, PW_ERR_MODEL, "required attribute '%s' is missing", def->name);
    }
    return PW_OK;
}

/* Fewest and most ids that the formals take; most = SIZE_MAX when variadic. */
static void count_formals(const struct pw_formal *formals, size_t *fewest, size_t *most)
{
    *fewest = *most = 0;
    for (const struct pw_formal *f = formals; f != NULL && f->name != NULL; f++) {
        ++*most;
        if ((f->flags & PW_FORMAL_OPTIONAL) == 0)
            *fewest = *most;
        if ((f->flags & PW_FORMAL_VARIADIC) != 0) {
            *most = SIZE_MAX;
            return;
        }
    }
}

static pw_status check_count(const char *what, size_t found, size_t fewest, size_t most, struct pw_error *err)
{
    if (found >= fewest && found <= most)
        return PW_OK;
    if (most == SIZE_MAX)
        return pw_error_set(err, PW_ERR_MODEL, "expected at least %zu %s, found %zu", fewest, what, found);
    if (fewest == most)
        return pw_error_set(err, PW_ERR_MODEL, "expected %zu %s, found %zu", fewest, what, found);
    return pw_error_set(err, PW_ERR_MODEL, "expected %zu to %zu %s, found %zu", fewest, most, what, found);
}

static pw_status check_node(const struct pw_op *op, const struct pw_node *node, struct pw_error *err)
{
    size_t fewest, most;
    pw_status status = check_attrs(op, node, err);

    if (status != PW_OK)
        return status;
    count_formals(op->inputs, &fewest, &most);
    status = check_count("inputs", node->input_count, fewest, most, err);
    if (status != PW_OK)
        return status;
    for (size_t i = 0; i < node->input_count; i++) {
        const struct pw_formal *formal = pw_op_formal(op->inputs, i);

        if (node->inputs[i] == PW_NO_VALUE &&
            ((formal->flags & PW_FORMAL_OPTIONAL) == 0 || (formal->flags & PW_FORMAL_VARIADIC) != 0))
            return pw_error_set(err, PW_ERR_MODEL, "required input %zu ('%s') is omitted", i, formal->name);
    }
    count_formals(op->outputs, &fewest, &most);
    if (op->min_outputs > 0)
        fewest = (size_t)op->min_outputs;
    return check_count("outputs", node->output_count, fewest, most, err);
}

pw_status pw_op_check(const struct pw_op *op, const struct pw_node *node, struct pw_error *err)
{
    char where[256];
    pw_status status = check_node(op, node, err);

    /* Only now: a graph of 100,000 nodes should not format a place for each. */
    if (status != PW_OK)
        pw_error_prefix(err, "%s", pw_node_where(node, where, sizeof where));
    return status;
}

pw_status pw_op_check_call(const struct pw_call *call, struct pw_error *err)
{
    for (int i = 0; i < call->input_count; i++) {
        const struct pw_formal *formal = pw_op_formal(call->op->inputs, (size_t)i);
        const struct pw_info *info = call->in[i];

        if (formal == NULL || info == NULL)
            continue;
        if ((formal->flags & PW_FORMAL_ANY) == 0 && (info->kind == PW_VALUE_SEQUENCE || info->optional))
            return pw_call_error(call, err, "input %d ('%s') must be a tensor, found %s", i, formal->name,
                                 info->kind == PW_VALUE_SEQUENCE ? "a sequence" : "an optional");
        if (formal->type == NULL || info->dtype == PW_DTYPE_UNDEFINED)
            continue;
        for (int j = 0; j < i; j++) {
            const struct pw_formal *other = pw_op_formal(call->op->inputs, (size_t)j);

            if (call->in[j] == NULL || call->in[j]->dtype == PW_DTYPE_UNDEFINED || other->type == NULL ||
                strcmp(other->type, formal->type) != 0)
                continue;
            if (call->in[j]->dtype != info->dtype && (formal->flags & PW_FORMAL_MIXED) == 0)
                return pw_call_error(call, err, "inputs '%s' (%s) and '%s' (%s) must have one type", other->name,
                                     pw_dtype_name(call->in[j]->dtype), formal->name, pw_dtype_name(info->dtype));
            break; /* that one was compared with the ones before it */
        }
    }
    return PW_OK;
}
