/* Canonical texts: operands, shapes, constants' values. Attributes are in signature_attrs.c. */
#include "graph/signature.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "graph/signature_internal.h"

#define SHAPES_INPUTS 4 /* of the short form */

/* ---- pieces ---- */

void pw_signature_escape(struct pw_buf *out, const char *text, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        unsigned char c = (unsigned char)text[i];

        if (c < 0x20 || c == 0x7f || c == '\'' || c == '\\')
            pw_buf_printf(out, "\\x%02x", c);
        else
            pw_buf_putc(out, (char)c);
    }
}

void pw_signature_float(struct pw_buf *out, double value, bool single)
{
    char text[48];

    snprintf(text, sizeof text, single ? "%.9g" : "%.17g", value);
    pw_buf_puts(out, text);
    if (strpbrk(text, ".en") == NULL) /* a point tells a float from an int; nan and inf have their n */
        pw_buf_puts(out, ".0");
}

void pw_signature_id(const char *text, size_t size, char id[17])
{
    struct pw_hash128 hash = pw_hash128(text, size);

    snprintf(id, 17, "%016" PRIx64, hash.high);
}

static void put_hash(struct pw_buf *out, const void *data, size_t size)
{
    char id[17];

    pw_signature_id(data, size, id);
    pw_buf_printf(out, "#%s", id);
}

static void put_dims(const struct pw_dims *dims, const struct pw_info *info, struct pw_buf *out)
{
    if (info->rank < 0)
        return;
    pw_buf_putc(out, '[');
    for (int d = 0; d < info->rank; d++) {
        pw_buf_puts(out, d > 0 ? "," : "");
        pw_dims_print(dims, info->dims[d], out);
    }
    pw_buf_putc(out, ']');
}

void pw_signature_type(const struct pw_dims *dims, const struct pw_info *info, struct pw_buf *out)
{
    const char *close = "";

    if (info->optional) {
        pw_buf_puts(out, "optional(");
        close = ")";
    }
    if (info->kind == PW_VALUE_SEQUENCE) {
        pw_buf_puts(out, "seq(");
        close = info->optional ? "))" : ")";
    }
    pw_buf_puts(out, info->dtype == PW_DTYPE_UNDEFINED ? "?" : pw_dtype_name(info->dtype));
    put_dims(dims, info, out);
    pw_buf_puts(out, close);
}

/* " 1 2 3" of a tensor, or its hash when it is long. */
static void put_values(const struct pw_tensor *t, struct pw_buf *out)
{
    pw_dtype_kind kind = pw_dtype_facts(t->dtype)->kind;

    if (t->count > PW_SIGNATURE_VALUES || kind == PW_KIND_COMPLEX || kind == PW_KIND_NONE) {
        pw_buf_putc(out, ' ');
        if (kind == PW_KIND_STRING) /* the elements are pointers */
            pw_buf_printf(out, "#%" PRId64, t->count);
        else
            put_hash(out, t->data, pw_tensor_bytes(t));
        return;
    }
    for (int64_t i = 0; i < t->count; i++) {
        pw_buf_putc(out, ' ');
        if (kind == PW_KIND_FLOAT) {
            pw_signature_float(out, pw_tensor_get(t, i), t->dtype != PW_DTYPE_FLOAT64);
        } else if (kind == PW_KIND_STRING) {
            const struct pw_bytes *s = (const struct pw_bytes *)t->data + i;

            pw_buf_putc(out, '\'');
            pw_signature_escape(out, s->data, s->size);
            pw_buf_putc(out, '\'');
        } else {
            pw_buf_printf(out, "%" PRId64, pw_tensor_get_int(t, i));
        }
    }
}

void pw_signature_tensor(const struct pw_tensor *t, struct pw_buf *out)
{
    pw_buf_putc(out, '<');
    pw_tensor_describe(t, out);
    put_values(t, out);
    pw_buf_putc(out, '>');
}

/* Symbolic content: "<int64[4] batch 6 sequence 32>". */
static void put_content(const struct pw_dims *dims, const struct pw_info *info, struct pw_buf *out)
{
    struct pw_buf text = {0};

    pw_buf_putc(out, '<');
    pw_signature_type(dims, info, out);
    for (size_t i = 0; i < info->content_count; i++) {
        pw_buf_putc(&text, ' ');
        pw_dims_print(dims, info->content[i], &text);
    }
    if (info->content_count > PW_SIGNATURE_VALUES) {
        pw_buf_putc(out, ' ');
        put_hash(out, text.data, text.size);
    } else {
        pw_buf_puts(out, pw_buf_text(&text));
    }
    out->failed = out->failed || text.failed;
    pw_buf_clear(&text);
    pw_buf_putc(out, '>');
}

/* ---- inputs ---- */

static bool is_param(const struct pw_node *node, size_t input)
{
    const struct pw_formal *formal = node->op != NULL ? pw_op_formal(node->op->inputs, input) : NULL;

    return formal != NULL && (formal->flags & PW_FORMAL_PARAM) != 0;
}

/* Operators whose one-element constants are trained or calibrated, not chosen. */
static bool has_learned_scalars(const struct pw_node *node)
{
    switch (node->op != NULL ? node->op->category : PW_CATEGORY_OTHER) {
    case PW_CATEGORY_MATMUL:
    case PW_CATEGORY_CONVOLUTION:
    case PW_CATEGORY_RECURRENT:
    case PW_CATEGORY_NORMALIZATION:
    case PW_CATEGORY_QUANTIZATION:
        return true;
    default:
        return false;
    }
}

bool pw_signature_has_value(const struct pw_node *node, size_t input, const struct pw_info *info)
{
    if (is_param(node, input))
        return info->constant != NULL || info->content != NULL;
    if (!info->fixed || info->constant == NULL || info->kind != PW_VALUE_TENSOR || has_learned_scalars(node))
        return false;
    if (info->constant->count == 1)
        return true;
    return (pw_dtype_is_integer(info->dtype) || info->dtype == PW_DTYPE_BOOL) && info->constant->count <= 16;
}

static void put_input(const struct pw_dims *dims, const struct pw_node *node, size_t i, const struct pw_info *info,
                      struct pw_buf *out)
{
    bool param = is_param(node, i);

    if (info == NULL) {
        pw_buf_putc(out, '-');
        return;
    }
    if (param)
        pw_buf_printf(out, "%s=", pw_op_formal(node->op->inputs, i)->name);
    if (!pw_signature_has_value(node, i, info)) {
        pw_buf_puts(out, info->fixed && !param ? "const " : "");
        pw_signature_type(dims, info, out);
    } else if (info->constant != NULL) {
        pw_signature_tensor(info->constant, out);
    } else {
        put_content(dims, info, out);
    }
}

static const struct pw_info *input_info(const struct pw_inference *inf, const struct pw_node *node, size_t i)
{
    return node->inputs[i] == PW_NO_VALUE ? NULL : pw_inference_at(inf, node->graph, node->inputs[i]);
}

static const struct pw_info *output_info(const struct pw_inference *inf, const struct pw_node *node, size_t i)
{
    return node->outputs[i] == PW_NO_VALUE ? NULL : pw_inference_at(inf, node->graph, node->outputs[i]);
}

/* Trailing omitted operands are as good as not written. */
static size_t used_count(const pw_value_id *ids, size_t count)
{
    while (count > 0 && ids[count - 1] == PW_NO_VALUE)
        count--;
    return count;
}

/* ---- whole texts ---- */

void pw_signature_label(const struct pw_node *node, struct pw_buf *out)
{
    char label[256];

    if (node->op != NULL) {
        pw_buf_puts(out, pw_op_label(node->op, label, sizeof label));
        return;
    }
    if (node->domain[0] != '\0') {
        pw_signature_escape(out, node->domain, strlen(node->domain));
        pw_buf_putc(out, ':');
    }
    pw_signature_escape(out, node->op_type, strlen(node->op_type));
}

pw_status pw_signature_text(const struct pw_inference *inf, const struct pw_node *node, struct pw_buf *out,
                            struct pw_error *err)
{
    const struct pw_dims *dims = pw_inference_dims(inf);
    size_t inputs = used_count(node->inputs, node->input_count);
    size_t outputs = used_count(node->outputs, node->output_count);
    pw_status status;

    pw_signature_label(node, out);
    status = pw_signature_attrs(inf, node, out, err);
    if (status != PW_OK)
        return status;
    pw_buf_puts(out, " (");
    for (size_t i = 0; i < inputs; i++) {
        pw_buf_puts(out, i > 0 ? ", " : "");
        put_input(dims, node, i, input_info(inf, node, i), out);
    }
    pw_buf_puts(out, ") -> (");
    for (size_t i = 0; i < outputs; i++) {
        const struct pw_info *info = output_info(inf, node, i);

        pw_buf_puts(out, i > 0 ? ", " : "");
        if (info != NULL)
            pw_signature_type(dims, info, out);
        else
            pw_buf_putc(out, '-');
    }
    pw_buf_putc(out, ')');
    return out->failed ? pw_error_memory(err, out->size) : PW_OK;
}

void pw_signature_shapes(const struct pw_inference *inf, const struct pw_node *node, struct pw_buf *out)
{
    const struct pw_dims *dims = pw_inference_dims(inf);
    int shown = 0;

    for (size_t i = 0; i < node->input_count; i++) {
        const struct pw_info *info = input_info(inf, node, i);

        if (info == NULL || is_param(node, i) || info->kind == PW_VALUE_NONE)
            continue;
        if (shown == SHAPES_INPUTS) {
            pw_buf_puts(out, " …");
            break;
        }
        pw_buf_puts(out, shown++ > 0 ? " " : "");
        if (info->rank < 0)
            pw_buf_putc(out, '?');
        put_dims(dims, info, out);
    }
    pw_buf_puts(out, shown > 0 ? " ->" : "->");
    for (size_t i = 0; i < node->output_count; i++) {
        const struct pw_info *info = output_info(inf, node, i);

        if (info == NULL)
            continue;
        pw_buf_putc(out, ' ');
        if (info->rank < 0)
            pw_buf_putc(out, '?');
        put_dims(dims, info, out);
        if (i + 1 >= SHAPES_INPUTS && i + 1 < node->output_count) {
            pw_buf_puts(out, " …");
            break;
        }
    }
}

/* ---- keys ---- */

static void key_int(struct pw_buf *out, int64_t value)
{
    pw_buf_append(out, (const char *)&value, sizeof value);
}

static void key_info(struct pw_buf *out, const struct pw_node *node, size_t input, bool is_input,
                     const struct pw_info *info)
{
    if (info == NULL) {
        pw_buf_putc(out, '-');
        return;
    }
    pw_buf_putc(out, (char)('0' + info->kind * 4 + info->optional * 2 + (info->fixed && is_input)));
    pw_buf_putc(out, (char)info->dtype);
    pw_buf_putc(out, (char)info->rank);
    if (info->rank > 0)
        pw_buf_append(out, (const char *)info->dims, (size_t)info->rank * sizeof *info->dims);
    if (!is_input || !pw_signature_has_value(node, input, info)) {
        pw_buf_putc(out, '.');
        return;
    }
    if (info->content != NULL) { /* covers integer constants */
        key_int(out, (int64_t)info->content_count);
        pw_buf_append(out, (const char *)info->content, info->content_count * sizeof *info->content);
    } else if (info->constant->dtype == PW_DTYPE_STRING) {
        put_values(info->constant, out);
    } else {
        key_int(out, -1 - info->constant->count);
        pw_buf_append(out, info->constant->data, pw_tensor_bytes(info->constant));
    }
}

pw_status pw_signature_key(const struct pw_inference *inf, const struct pw_node *node, struct pw_buf *out,
                           struct pw_error *err)
{
    size_t inputs = used_count(node->inputs, node->input_count);
    size_t outputs = used_count(node->outputs, node->output_count);
    pw_status status;

    pw_buf_append(out, (const char *)&node->op, sizeof node->op);
    if (node->op == NULL) {
        pw_buf_append(out, node->op_type, strlen(node->op_type) + 1);
        pw_buf_append(out, node->domain, strlen(node->domain) + 1);
    }
    status = pw_signature_attrs_key(inf, node, out, err);
    if (status != PW_OK)
        return status;
    key_int(out, (int64_t)inputs);
    for (size_t i = 0; i < inputs; i++)
        key_info(out, node, i, true, input_info(inf, node, i));
    for (size_t i = 0; i < outputs; i++)
        key_info(out, node, i, false, output_info(inf, node, i));
    return out->failed ? pw_error_memory(err, out->size) : PW_OK;
}
