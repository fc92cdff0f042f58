/* Case texts: the call, its attributes, and the one-node graph around it. */
#include "op/cases.h"

#include <stdio.h>
#include <string.h>

#include "op/cases_internal.h"

static pw_status attr_error(const char *name, struct pw_error *err, const char *expected)
{
    return pw_error_set(err, PW_ERR_FORMAT, "attribute '%s': expected %s", name, expected);
}

/* ---- attribute values ---- */

static bool parse_int(const struct pw_case_text *word, int64_t *out)
{
    char name[32];
    size_t size = (size_t)(word->end - word->at);
    pw_dtype dtype = PW_DTYPE_UNDEFINED;

    if (pw_case_int(word, out))
        return true;
    if (size > 0 && size < sizeof name) { /* to=float16 */
        memcpy(name, word->at, size);
        name[size] = '\0';
        dtype = pw_dtype_parse(name);
    }
    *out = dtype;
    return dtype != PW_DTYPE_UNDEFINED;
}

/* Bytes of a quoted word, NUL-terminated, in the arena. */
static bool parse_bytes(const struct pw_case_text *word, struct pw_arena *arena, struct pw_bytes *out)
{
    struct pw_buf buf = {0};
    char *copy = NULL;

    if (pw_case_quoted(word, &buf)) {
        copy = pw_arena_alloc(arena, buf.size + 1, 1);
        if (copy != NULL && buf.size > 0)
            memcpy(copy, buf.data, buf.size);
        *out = (struct pw_bytes){copy, buf.size};
    }
    pw_buf_clear(&buf);
    return copy != NULL;
}

/* A tensor whose memory is the arena's. */
static pw_status parse_tensor(const struct pw_case_text *text, struct pw_arena *arena, struct pw_tensor **out,
                              struct pw_error *err)
{
    struct pw_value value = {0};
    struct pw_tensor *made = pw_arena_alloc(arena, 1, sizeof *made);
    char *copy = pw_arena_strndup(arena, text->at, (size_t)(text->end - text->at));
    size_t bytes;
    pw_status status;

    if (made == NULL || copy == NULL)
        return pw_error_memory(err, sizeof *made);
    status = pw_tensor_parse(copy, &value, err);
    if (status != PW_OK)
        return status;
    *made = value.tensor;
    made->owned = false;
    bytes = pw_tensor_bytes(made);
    made->data = pw_arena_alloc(arena, bytes + 1, 1);
    if (made->data == NULL)
        status = pw_error_memory(err, bytes);
    else if (bytes > 0)
        memcpy(made->data, value.tensor.data, bytes);
    for (int64_t i = 0; status == PW_OK && made->dtype == PW_DTYPE_STRING && i < made->count; i++) {
        struct pw_bytes *s = (struct pw_bytes *)made->data + i;

        s->data = pw_arena_strndup(arena, s->data, s->size);
        if (s->data == NULL)
            status = pw_error_memory(err, s->size);
    }
    pw_value_clear(&value);
    *out = made;
    return status;
}

/* "sparse(<values> <indices> [dims])" */
static pw_status parse_sparse(struct pw_case_text *inner, struct pw_arena *arena, struct pw_attr *attr,
                              struct pw_error *err)
{
    struct pw_sparse *made = pw_arena_alloc(arena, 1, sizeof *made);
    struct pw_tensor *parts[2] = {NULL, NULL};
    struct pw_case_text text, word;

    if (made == NULL)
        return pw_error_memory(err, sizeof *made);
    for (int i = 0; i < 2; i++) {
        pw_status status = PW_OK;

        if (!pw_case_accept(inner, '<') || !pw_case_span(inner, '<', '>', &text))
            return attr_error(attr->name, err, "sparse(<values> <indices> [dims])");
        status = parse_tensor(&text, arena, &parts[i], err);
        if (status != PW_OK)
            return status;
    }
    if (!pw_case_accept(inner, '[') || !pw_case_span(inner, '[', ']', &text))
        return attr_error(attr->name, err, "sparse(<values> <indices> [dims])");
    made->values = *parts[0];
    made->indices = *parts[1];
    for (; pw_case_word(&text, ",", &word); pw_case_accept(&text, ',')) {
        if (made->rank == PW_MAX_RANK || !pw_case_int(&word, &made->dims[made->rank++]))
            return attr_error(attr->name, err, "dims");
    }
    attr->sparse = made;
    return PW_OK;
}

/* "tensor(float32)", "seq(float32)", "optional(float32)" */
static bool parse_type(const struct pw_case_text *word, struct pw_arena *arena, const struct pw_type **out)
{
    static const struct {
        const char *prefix;
        pw_type_kind kind;
    } kinds[] = {{"tensor(", PW_TYPE_TENSOR}, {"seq(", PW_TYPE_SEQUENCE}, {"optional(", PW_TYPE_OPTIONAL}};
    struct pw_type *outer = pw_arena_alloc(arena, 1, sizeof *outer), *inner = pw_arena_alloc(arena, 1, sizeof *inner);
    char *text = pw_arena_strndup(arena, word->at, (size_t)(word->end - word->at));
    size_t size = text != NULL ? strlen(text) : 0;

    if (outer == NULL || inner == NULL || size == 0 || text[size - 1] != ')')
        return false;
    text[size - 1] = '\0';
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        if (!pw_text_starts(text, kinds[i].prefix))
            continue;
        inner->kind = PW_TYPE_TENSOR;
        inner->dtype = pw_dtype_parse(text + strlen(kinds[i].prefix));
        *outer = (struct pw_type){.kind = kinds[i].kind, .element = inner};
        *out = kinds[i].kind == PW_TYPE_TENSOR ? inner : outer;
        return inner->dtype != PW_DTYPE_UNDEFINED;
    }
    return false;
}

/* A list's elements; its kind is the definition's. */
static pw_status parse_list(struct pw_case_text *inner, struct pw_arena *arena, struct pw_attr *attr,
                            struct pw_error *err)
{
    size_t most = (size_t)(inner->end - inner->at) + 1;
    int64_t *ints = pw_arena_alloc(arena, most, sizeof *ints);
    float *floats = pw_arena_alloc(arena, most, sizeof *floats);
    struct pw_bytes *strings = pw_arena_alloc(arena, most, sizeof *strings);
    struct pw_case_text word;
    double x;

    if (ints == NULL || floats == NULL || strings == NULL)
        return pw_error_memory(err, most);
    for (; pw_case_word(inner, ",", &word); pw_case_accept(inner, ',')) {
        bool good = false;

        if (attr->type == PW_ATTR_INTS)
            good = parse_int(&word, &ints[attr->count]);
        else if (attr->type == PW_ATTR_STRINGS)
            good = parse_bytes(&word, arena, &strings[attr->count]);
        else if (pw_case_number(&word, &x)) {
            floats[attr->count] = (float)x;
            good = true;
        }
        if (!good)
            return attr_error(attr->name, err, "a list of its kind");
        attr->count++;
    }
    attr->ints = ints;
    attr->floats = floats;
    attr->strings = strings;
    return PW_OK;
}

/* Without a definition (an error case with an unknown attribute) the text tells the type. */
static pw_attr_type guess_type(const struct pw_case_text *text)
{
    struct pw_case_text copy = *text, word;
    int64_t i;

    if (*text->at == '[') {
        copy.at++;
        if (!pw_case_word(&copy, ",]", &word))
            return PW_ATTR_INTS;
        return *word.at == '\'' ? PW_ATTR_STRINGS : pw_case_int(&word, &i) ? PW_ATTR_INTS : PW_ATTR_FLOATS;
    }
    if (*text->at == '<')
        return PW_ATTR_TENSOR;
    if (*text->at == '\'')
        return PW_ATTR_STRING;
    return pw_case_word(&copy, "", &word) && pw_case_int(&word, &i) ? PW_ATTR_INT : PW_ATTR_FLOAT;
}

static pw_status parse_scalar(struct pw_case_text *text, struct pw_arena *arena, struct pw_attr *attr,
                              struct pw_error *err)
{
    struct pw_case_text word;
    double x;

    if (!pw_case_word(text, "", &word))
        return attr_error(attr->name, err, "a value");
    switch (attr->type) {
    case PW_ATTR_INT:
        return parse_int(&word, &attr->i) ? PW_OK : attr_error(attr->name, err, "an integer");
    case PW_ATTR_STRING:
        return parse_bytes(&word, arena, &attr->s) ? PW_OK : attr_error(attr->name, err, "'text'");
    case PW_ATTR_TYPE_PROTO:
        return parse_type(&word, arena, &attr->type_proto) ? PW_OK : attr_error(attr->name, err, "tensor(dtype)");
    case PW_ATTR_FLOAT:
        if (!pw_case_number(&word, &x))
            return attr_error(attr->name, err, "a number");
        attr->f = (float)x;
        return PW_OK;
    default:
        return attr_error(attr->name, err, "a value of a kind that case text can hold");
    }
}

static pw_status parse_attr_value(struct pw_case_text *text, struct pw_arena *arena, struct pw_attr *attr,
                                  struct pw_error *err)
{
    bool list = attr->type == PW_ATTR_INTS || attr->type == PW_ATTR_FLOATS || attr->type == PW_ATTR_STRINGS;
    struct pw_case_text inner;

    if (text->at < text->end && *text->at == '[') {
        text->at++;
        if (!pw_case_span(text, '[', ']', &inner))
            return attr_error(attr->name, err, "]");
        return list ? parse_list(&inner, arena, attr, err) : attr_error(attr->name, err, "no list");
    }
    if (text->at < text->end && *text->at == '<') {
        text->at++;
        if (!pw_case_span(text, '<', '>', &inner))
            return attr_error(attr->name, err, ">");
        if (attr->type != PW_ATTR_TENSOR)
            return attr_error(attr->name, err, "no tensor");
        return parse_tensor(&inner, arena, &attr->tensor, err);
    }
    if (attr->type == PW_ATTR_SPARSE_TENSOR && text->end - text->at > 7 && strncmp(text->at, "sparse(", 7) == 0) {
        text->at += 7;
        if (!pw_case_span(text, '(', ')', &inner))
            return attr_error(attr->name, err, ")");
        return parse_sparse(&inner, arena, attr, err);
    }
    return parse_scalar(text, arena, attr, err);
}

/* ---- the call ---- */

static pw_status parse_attrs(struct pw_case_text *text, struct pw_case_data *data, struct pw_error *err)
{
    struct pw_node *node = data->node;
    size_t most = (size_t)(text->end - text->at) / 2 + 1;
    struct pw_case_text word;

    node->attrs = pw_arena_alloc(&data->arena, most, sizeof *node->attrs);
    if (node->attrs == NULL)
        return pw_error_memory(err, most * sizeof *node->attrs);
    while (pw_case_word(text, "=", &word)) {
        struct pw_attr *attr = &node->attrs[node->attr_count];
        const struct pw_attr_def *def = node->op->attrs;
        pw_status status;

        attr->name = pw_arena_strndup(&data->arena, word.at, (size_t)(word.end - word.at));
        if (attr->name == NULL)
            return pw_error_memory(err, most);
        if (!pw_case_accept(text, '='))
            return attr_error(attr->name, err, "'='");
        pw_case_skip(text);
        while (def != NULL && def->name != NULL && strcmp(def->name, attr->name) != 0)
            def++;
        attr->type = def != NULL && def->name != NULL ? def->type : guess_type(text);
        status = parse_attr_value(text, &data->arena, attr, err);
        if (status != PW_OK)
            return status;
        node->attr_count++;
    }
    return PW_OK;
}

/* "domain:Op-13" */
static pw_status parse_operator(struct pw_case_text *text, struct pw_case_data *data, struct pw_error *err)
{
    struct pw_node *node = data->node;
    struct pw_case_text word, version;
    const char *dash = NULL, *colon = NULL, *start;
    int64_t opset = 0;

    if (!pw_case_word(text, "", &word))
        return pw_error_set(err, PW_ERR_FORMAT, "no operator");
    for (const char *c = word.at; c < word.end; c++) {
        dash = *c == '-' ? c : dash;
        colon = *c == ':' ? c : colon;
    }
    version = (struct pw_case_text){dash != NULL ? dash + 1 : word.end, word.end};
    if (dash == NULL || !pw_case_int(&version, &opset) || opset < 1 || opset > 1000)
        return pw_error_set(err, PW_ERR_FORMAT, "expected Op-version, found '%.*s'", (int)(word.end - word.at),
                            word.at);
    start = colon != NULL ? colon + 1 : word.at;
    node->domain = colon != NULL ? pw_arena_strndup(&data->arena, word.at, (size_t)(colon - word.at)) : "";
    node->op_type = pw_arena_strndup(&data->arena, start, (size_t)(dash - start));
    if (node->domain == NULL || node->op_type == NULL)
        return pw_error_memory(err, (size_t)(word.end - word.at));
    node->opset = data->opset = (int)opset;
    node->op = pw_op_find(node->domain, node->op_type, node->opset, NULL);
    if (node->op == NULL)
        return pw_error_set(err, PW_ERR_FORMAT, "unknown operator '%.*s'", (int)(word.end - word.at), word.at);
    return PW_OK;
}

/* ---- the graph ---- */

static pw_status declare_input(struct pw_arena *arena, struct pw_graph_value *slot, const struct pw_value *value,
                               struct pw_error *err)
{
    struct pw_type *type = pw_arena_alloc(arena, 1, sizeof *type);

    if (type == NULL)
        return pw_error_memory(err, sizeof *type);
    slot->is_input = true;
    if (value->kind != PW_VALUE_TENSOR)
        return PW_OK;
    *type = (struct pw_type){
        .kind = PW_TYPE_TENSOR, .dtype = value->tensor.nominal, .has_shape = true, .rank = value->tensor.rank};
    type->dim_names = pw_arena_alloc(arena, PW_MAX_RANK, sizeof *type->dim_names);
    type->dim_values = pw_arena_alloc(arena, PW_MAX_RANK, sizeof *type->dim_values);
    if (type->dim_names == NULL || type->dim_values == NULL)
        return pw_error_memory(err, sizeof *type);
    memcpy(type->dim_values, value->tensor.dims, sizeof value->tensor.dims);
    slot->type = type;
    return PW_OK;
}

static pw_status add_inputs(const struct pw_room_case *c, struct pw_case_data *data, struct pw_error *err)
{
    struct pw_graph *graph = data->graph;
    struct pw_node *node = data->node;

    for (size_t i = 0; i < PW_CASE_MAX_INPUTS && c->inputs[i] != NULL; i++) {
        struct pw_graph_value *slot = &graph->values[graph->value_count];
        pw_status status;

        data->input_count = i + 1;
        node->input_count = i + 1;
        node->inputs[i] = PW_NO_VALUE;
        if (strcmp(c->inputs[i], "-") == 0)
            continue;
        status = pw_tensor_parse(c->inputs[i], &data->inputs[i], err);
        if (status != PW_OK) {
            pw_error_prefix(err, "input %zu", i);
            return status;
        }
        slot->name = pw_arena_printf(&data->arena, "i%zu", i);
        if (slot->name == NULL)
            return pw_error_memory(err, 8);
        status = declare_input(&data->arena, slot, &data->inputs[i], err);
        if (status != PW_OK)
            return status;
        graph->inputs[graph->input_count++] = node->inputs[i] = (pw_value_id)graph->value_count++;
    }
    return PW_OK;
}

static size_t count_outputs(const struct pw_room_case *c, const struct pw_op *op)
{
    size_t count = 0, formals = 0;

    while (count < PW_CASE_MAX_OUTPUTS && c->outputs[count] != NULL)
        count++;
    if (count > 0)
        return count;
    for (const struct pw_formal *f = op->outputs; f != NULL && f->name != NULL; f++)
        formals += (f->flags & PW_FORMAL_OPTIONAL) == 0;
    return op->min_outputs > 0 ? (size_t)op->min_outputs : formals > 0 ? formals : 1;
}

static pw_status add_outputs(const struct pw_room_case *c, struct pw_case_data *data, struct pw_error *err)
{
    struct pw_graph *graph = data->graph;
    struct pw_node *node = data->node;

    data->output_count = node->output_count = count_outputs(c, node->op);
    if (data->output_count > PW_CASE_MAX_OUTPUTS)
        return pw_error_set(err, PW_ERR_FORMAT, "more than %d outputs", PW_CASE_MAX_OUTPUTS);
    for (size_t i = 0; i < data->output_count; i++) {
        struct pw_graph_value *slot = &graph->values[graph->value_count];

        if (c->outputs[i] != NULL && strcmp(c->outputs[i], "-") != 0) {
            pw_status status = pw_tensor_parse(c->outputs[i], &data->outputs[i], err);

            if (status != PW_OK) {
                pw_error_prefix(err, "output %zu", i);
                return status;
            }
        }
        slot->name = pw_arena_printf(&data->arena, "o%zu", i);
        if (slot->name == NULL)
            return pw_error_memory(err, 8);
        slot->is_output = true;
        slot->producer = node;
        slot->producer_output = (int)i;
        graph->outputs[graph->output_count++] = node->outputs[i] = (pw_value_id)graph->value_count++;
    }
    return PW_OK;
}

static pw_status make_graph(struct pw_case_data *data, struct pw_error *err)
{
    struct pw_arena *arena = &data->arena;
    size_t most = PW_CASE_MAX_INPUTS + PW_CASE_MAX_OUTPUTS;
    struct pw_graph *graph = pw_arena_alloc(arena, 1, sizeof *graph);
    struct pw_node *node = pw_arena_alloc(arena, 1, sizeof *node);

    if (graph == NULL || node == NULL)
        return pw_error_memory(err, sizeof *graph);
    graph->values = pw_arena_alloc(arena, most, sizeof *graph->values);
    graph->inputs = pw_arena_alloc(arena, most, sizeof *graph->inputs);
    graph->outputs = pw_arena_alloc(arena, most, sizeof *graph->outputs);
    node->inputs = pw_arena_alloc(arena, most, sizeof *node->inputs);
    node->outputs = pw_arena_alloc(arena, most, sizeof *node->outputs);
    if (graph->values == NULL || graph->inputs == NULL || graph->outputs == NULL || node->inputs == NULL ||
        node->outputs == NULL)
        return pw_error_memory(err, most * sizeof *graph->values);
    graph->name = "case";
    graph->nodes = node;
    graph->node_count = 1;
    node->name = node->domain = node->overload = node->doc = "";
    node->graph = graph;
    data->graph = graph;
    data->node = node;
    return PW_OK;
}

pw_status pw_case_parse(const struct pw_room_case *c, struct pw_case_data *out, struct pw_error *err)
{
    struct pw_case_text text = {c->call, c->call + strlen(c->call)};
    struct pw_case_data data = {.opset = 0};
    pw_status status = make_graph(&data, err);

    if (status == PW_OK)
        status = parse_operator(&text, &data, err);
    if (status == PW_OK)
        status = parse_attrs(&text, &data, err);
    if (status == PW_OK)
        status = add_inputs(c, &data, err);
    if (status == PW_OK)
        status = add_outputs(c, &data, err);
    if (status != PW_OK) {
        pw_error_prefix(err, "case '%s'", c->name);
        pw_case_clear(&data);
        return status;
    }
    *out = data;
    return PW_OK;
}

void pw_case_clear(struct pw_case_data *data)
{
    for (size_t i = 0; i < PW_CASE_MAX_INPUTS; i++)
        pw_value_clear(&data->inputs[i]);
    for (size_t i = 0; i < PW_CASE_MAX_OUTPUTS; i++)
        pw_value_clear(&data->outputs[i]);
    pw_arena_clear(&data->arena);
    *data = (struct pw_case_data){.opset = 0};
}
