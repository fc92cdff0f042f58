/* The vendor library's side of a device: a call's attributes as text, and whether it is served. */
#include <string.h>

#include "base/mem.h"
#include "target/device_internal.h"

static void put_attribute(struct pw_buf *out, const char *name)
{
    pw_buf_printf(out, "%s%s=", out->size > 0 ? " " : "", name);
}

/* Quoted as in the texts of cases (op/cases.h). */
static void put_text(struct pw_buf *out, const char *data, size_t size)
{
    static const char special[] = "\n\t\0\\'", letters[] = "nt0\\'";
    pw_buf_putc(out, '\'');
    for (size_t i = 0; i < size; i++) {
        const char *at = memchr(special, data[i], sizeof special - 1);
        if (at)
            pw_buf_putc(out, '\\');
        pw_buf_putc(out, at ? letters[at - special] : data[i]);
    }
    pw_buf_putc(out, '\'');
}

static void put_tensor(struct pw_buf *out, const struct pw_tensor *t)
{
    pw_dtype_kind kind = pw_dtype_facts(t->dtype)->kind;
    pw_buf_putc(out, '<');
    pw_tensor_describe(t, out);
    for (int64_t i = 0; i < t->count && kind != PW_KIND_COMPLEX; i++) {
        pw_buf_putc(out, ' ');
        if (kind == PW_KIND_STRING)
            put_text(out, ((const struct pw_bytes *)t->data)[i].data, ((const struct pw_bytes *)t->data)[i].size);
        else if (kind == PW_KIND_FLOAT)
            pw_buf_printf(out, "%.17g", pw_tensor_get(t, i));
        else
            pw_buf_printf(out, "%lld", (long long)pw_tensor_get_int(t, i));
    }
    pw_buf_putc(out, '>');
}

static void put_list(struct pw_buf *out, const struct pw_attr *attr)
{
    pw_buf_putc(out, '[');
    for (size_t i = 0; i < attr->count; i++) {
        pw_buf_puts(out, i > 0 ? "," : "");
        if (attr->type == PW_ATTR_INTS)
            pw_buf_printf(out, "%lld", (long long)attr->ints[i]);
        else if (attr->type == PW_ATTR_FLOATS)
            pw_buf_printf(out, "%.9g", (double)attr->floats[i]);
        else
            put_text(out, attr->strings[i].data, attr->strings[i].size);
    }
    pw_buf_putc(out, ']');
}

static void put_node_attribute(struct pw_buf *out, const struct pw_attr *attr)
{
    switch (attr->type) {
    case PW_ATTR_INT:
        put_attribute(out, attr->name);
        pw_buf_printf(out, "%lld", (long long)attr->i);
        break;
    case PW_ATTR_FLOAT:
        put_attribute(out, attr->name);
        pw_buf_printf(out, "%.9g", (double)attr->f);
        break;
    case PW_ATTR_STRING:
        put_attribute(out, attr->name);
        put_text(out, attr->s.data, attr->s.size);
        break;
    case PW_ATTR_INTS:
    case PW_ATTR_FLOATS:
    case PW_ATTR_STRINGS:
        put_attribute(out, attr->name);
        put_list(out, attr);
        break;
    case PW_ATTR_TENSOR:
        put_attribute(out, attr->name);
        put_tensor(out, attr->tensor);
        break;
    default: /* graphs, types and sparse tensors are not in the text: only operators of the host have them */
        break;
    }
}

/* Where 0 stands for "absent" (EyeLike's dtype, ignore_index) it would be taken for a value, so zeros are left out. */
static void put_default(struct pw_buf *out, const struct pw_attr_def *def)
{
    if (def->required)
        return;
    if (def->type == PW_ATTR_INT && def->i != 0) {
        put_attribute(out, def->name);
        pw_buf_printf(out, "%lld", (long long)def->i);
    } else if (def->type == PW_ATTR_FLOAT && (def->f < 0 || def->f > 0)) {
        put_attribute(out, def->name);
        pw_buf_printf(out, "%.9g", (double)def->f);
    } else if (def->type == PW_ATTR_STRING && def->s) {
        put_attribute(out, def->name);
        put_text(out, def->s, strlen(def->s));
    }
}

static bool given(const struct pw_node *node, const char *name)
{
    for (size_t i = 0; node && i < node->attr_count; i++)
        if (strcmp(node->attrs[i].name, name) == 0)
            return true;
    return false;
}

pw_status pw_device_library_call(const struct pw_call *call, struct pw_arena *arena, struct pw_work *work,
                                 struct pw_error *err)
{
    struct pw_buf text = {0};
    for (size_t i = 0; call->node && i < call->node->attr_count; i++)
        put_node_attribute(&text, &call->node->attrs[i]);
    for (const struct pw_attr_def *def = call->op->attrs; def && def->name; def++)
        if (!given(call->node, def->name))
            put_default(&text, def);
    work->library_op = call->op->name;
    work->library_domain = call->op->domain;
    work->library_opset = call->op->since;
    work->library_seed = call->seed;
    work->library_attributes = text.failed ? NULL : pw_arena_strndup(arena, pw_buf_text(&text), text.size);
    pw_buf_clear(&text);
    return work->library_attributes ? PW_OK : pw_error_memory(err, text.size);
}

/* False when something about the info is not known yet. */
static bool concrete(const struct pw_info *info, struct pw_work_tensor *t)
{
    if (info->kind != PW_VALUE_TENSOR || info->dtype == PW_DTYPE_UNDEFINED || info->rank < 0)
        return false;
    t->dtype = info->dtype;
    t->rank = info->rank;
    for (int d = 0; d < info->rank; d++) {
        if (info->dims[d] < 0)
            return false;
        t->dims[d] = info->dims[d];
    }
    return true;
}

static pw_status describe_tensors(const struct pw_call *call, struct pw_arena *arena, struct pw_work *work, bool *known,
                                  struct pw_error *err)
{
    size_t inputs = (size_t)call->input_count, outputs = (size_t)call->output_count;
    work->tensors = pw_arena_alloc(arena, inputs + outputs + 1, sizeof *work->tensors);
    if (!work->tensors)
        return pw_error_memory(err, (inputs + outputs) * sizeof *work->tensors);
    work->library_inputs = inputs;
    work->library_outputs = outputs;
    *known = true;
    for (size_t i = 0; i < inputs + outputs; i++) {
        const struct pw_info *info = i < inputs ? call->in[i] : &call->out[i - inputs];
        bool omitted = i < inputs ? !info : (call->wanted && !call->wanted[i - inputs]);
        work->tensors[i].buffer = omitted ? -1 : (int)i;
        if (!omitted && !concrete(info, &work->tensors[i]))
            *known = false;
    }
    return PW_OK;
}

pw_status pw_device_library_supports(struct pw_device *device, const struct pw_call *call, bool *supported,
                                     struct pw_buf *why, struct pw_error *err)
{
    struct pw_arena arena = {0};
    struct pw_work work = {0};
    struct pw_buf request = {0};
    const struct pw_pool_want want = {.foreign = false};
    struct pw_pool_slot *slot = NULL;
    struct pw_wire wire;
    pw_message_type type;
    bool known = false;
    pw_status status = PW_OK;

    *supported = false;
    if (!device->library[0]) {
        pw_buf_puts(why, "the target has no library");
        return PW_OK;
    }
    status = pw_device_library_call(call, &arena, &work, err);
    if (status == PW_OK)
        status = describe_tensors(call, &arena, &work, &known, err);
    if (status != PW_OK || !known) {
        if (status == PW_OK)
            pw_buf_puts(why, "its shapes are not known");
        goto done;
    }
    pw_work_write_library(&request, &work);
    status = request.failed ? pw_error_memory(err, request.size) : pw_pool_acquire(device, &want, &slot, err);
    if (status != PW_OK)
        goto done;
    status = pw_link_send(&slot->link, PW_MSG_SUPPORTS, request.data, request.size, err);
    if (status == PW_OK)
        status = pw_link_wait(&slot->link, PW_MSG_REPLY, PW_RUN_DEADLINE_NS, NULL, "asking the library", &type, &wire,
                              NULL, err);
    if (status == PW_OK) {
        const char *message, *log;
        status = pw_wire_read_head(&wire, &message, &log);
        bool yes = pw_wire_read_u32(&wire) != 0;
        const char *reason = pw_wire_read_text(&wire);
        if (wire.bad) {
            status = pw_link_refuse(&slot->link, "asking the library", err);
        } else if (status != PW_OK) {
            pw_error_set(err, status, "asking the library: %s", message);
        } else {
            *supported = yes;
            if (!yes)
                pw_buf_puts(why, reason);
        }
    }
done:
    if (slot)
        pw_pool_release(device, slot);
    pw_buf_clear(&request);
    pw_arena_clear(&arena);
    return status;
}
