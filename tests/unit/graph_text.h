/*
 * Graphs written as text, for tests: parsed into ONNX bytes and read back by the reader.
 *
 *   input x float32[batch,4]        a dim is a number, a name, or ? for none; no brackets: no shape
 *   const w float32[4] 1 2 3 4      an initializer (tensor text as in room cases)
 *   info y float32[batch,4]         value_info
 *   y = Add (x, w)                  a node "n_y"; "a,b = Split axis=1 (x)"; an empty place is omitted
 *   z = com.example:Foo k=2 (y)     attributes: ints, floats (with a point), 'text', [1,2], [1.0,2.0], ['a','b'],
 *   output z float32                {1}: the second subgraph text
 */
#ifndef PW_TESTS_GRAPH_TEXT_H
#define PW_TESTS_GRAPH_TEXT_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/onnx_write.h"
#include "op/cases.h"

#define GRAPH_TEXT_LINE 4096

struct graph_text {
    const char *const *bodies; /* texts of subgraphs, may be NULL */
    bool foreign;              /* a node outside ai.onnx was written */
};

static inline void graph_text_fail(const char *what, const char *line)
{
    fprintf(stderr, "graph text: %s: %s\n", what, line);
    abort();
}

static inline char *graph_text_trim(char *s)
{
    char *end;

    s += strspn(s, " \t");
    end = s + strlen(s);
    while (end > s && (end[-1] == ' ' || end[-1] == '\t'))
        *--end = '\0';
    return s;
}

/* "float32[batch,4]" */
static inline void graph_text_type(struct pw_buf *graph, uint32_t field, const char *name, char *text)
{
    int64_t values[PW_MAX_RANK] = {0};
    const char *names[PW_MAX_RANK] = {0};
    struct pw_onnx_shape shape = {.values = values, .names = names};
    char *open = strchr(text, '[');

    if (open == NULL) { /* no shape: written by hand, as the writer always gives one */
        struct pw_buf tensor = {0}, type = {0}, info = {0};

        pw_wire_put_int(&tensor, 1, (uint64_t)pw_dtype_parse(text));
        pw_wire_put_message(&type, 1, &tensor);
        pw_wire_put_text(&info, 1, name);
        pw_wire_put_message(&info, 2, &type);
        pw_wire_put_message(graph, field, &info);
        return;
    }
    *open = '\0';
    shape.dtype = pw_dtype_parse(text);
    for (char *at = open + 1; *at != ']' && *at != '\0';) {
        size_t size = strcspn(at, ",]");
        char end = at[size];

        at[size] = '\0';
        if (!pw_text_int64(at, &values[shape.rank]))
            names[shape.rank] = strcmp(at, "?") == 0 ? "" : at;
        shape.rank++;
        at += size + (end != '\0');
        if (end == ']')
            break;
    }
    pw_onnx_put_info(graph, field, name, &shape);
}

static inline void graph_text_const(struct pw_buf *graph, const char *name, const char *text)
{
    struct pw_value value = {0};
    struct pw_error err = {0};
    struct pw_buf body = {0};

    if (pw_tensor_parse(text, &value, &err) != PW_OK)
        graph_text_fail(err.message, text);
    pw_onnx_put_tensor(&body, name, &value.tensor);
    pw_wire_put_message(graph, PW_GRAPH_INITIALIZER, &body);
    pw_value_clear(&value);
}

static inline void graph_text_body(struct graph_text *t, const char *text, struct pw_buf *graph);

static inline void graph_text_list(struct pw_buf *attrs, const char *name, char *text)
{
    int64_t ints[64];
    float floats[64];
    size_t count = 0;
    bool real = strpbrk(text, ".e") != NULL;

    text[strcspn(text, "]")] = '\0';
    if (text[1] == '\'') {
        const char *words[64];

        for (char *at = text + 1; *at == '\'' && count < 64; count++) {
            words[count] = at + 1;
            at += 1 + strcspn(at + 1, "'");
            *at++ = '\0';
            at += *at == ',';
        }
        pw_onnx_put_attr_texts(attrs, name, words, count);
        return;
    }
    for (char *at = text + 1; *at != '\0' && count < 64; count++) {
        floats[count] = strtof(at, NULL);
        ints[count] = strtoll(at, NULL, 10);
        at += strcspn(at, ",");
        at += *at == ',';
    }
    if (real)
        pw_onnx_put_attr_floats(attrs, name, floats, count);
    else
        pw_onnx_put_attr_ints(attrs, name, ints, count);
}

static inline void graph_text_attr(struct graph_text *t, struct pw_buf *attrs, char *word)
{
    char *value = strchr(word, '=');

    if (value == NULL)
        graph_text_fail("an attribute without =", word);
    *value++ = '\0';
    if (*value == '\'') {
        value[strlen(value) - 1] = '\0';
        pw_onnx_put_attr_text(attrs, word, value + 1);
    } else if (*value == '[') {
        graph_text_list(attrs, word, value);
    } else if (*value == '{') {
        struct pw_buf body = {0};

        pw_wire_put_text(&body, PW_GRAPH_NAME, word);
        graph_text_body(t, t->bodies[atol(value + 1)], &body);
        pw_onnx_put_attr_message(attrs, word, PW_ATTR_GRAPH, &body);
    } else if (*value == '<') {
        struct pw_value tensor = {0};
        struct pw_buf body = {0};

        value[strlen(value) - 1] = '\0';
        for (char *c = value; *c != '\0'; c++) /* blanks would end the word */
            *c = *c == '_' ? ' ' : *c;
        if (pw_tensor_parse(value + 1, &tensor, NULL) != PW_OK)
            graph_text_fail("a tensor", value);
        pw_onnx_put_tensor(&body, NULL, &tensor.tensor);
        pw_onnx_put_attr_message(attrs, word, PW_ATTR_TENSOR, &body);
        pw_value_clear(&tensor);
    } else if (strpbrk(value, ".e") != NULL) {
        pw_onnx_put_attr_float(attrs, word, strtof(value, NULL));
    } else {
        pw_onnx_put_attr_int(attrs, word, strtoll(value, NULL, 10));
    }
}

static inline size_t graph_text_names(char *text, const char **names, size_t cap)
{
    size_t count = 0;

    for (char *at = text; *at != '\0' && count < cap;) {
        size_t size = strcspn(at, ",");
        char end = at[size];

        at[size] = '\0';
        names[count++] = graph_text_trim(at);
        at += size + (end != '\0');
        if (end == ',' && *at == '\0')
            names[count++] = "";
    }
    return count;
}

static inline void graph_text_node(struct graph_text *t, struct pw_buf *graph, char *outs, char *call)
{
    const char *inputs[64], *outputs[16];
    struct pw_buf attrs = {0};
    char *open = strrchr(call, '('), *word, *colon, name[256];
    size_t input_count = 0, output_count = graph_text_names(outs, outputs, 16);

    if (open == NULL)
        graph_text_fail("a node without (", call);
    *open++ = '\0';
    open[strcspn(open, ")")] = '\0';
    input_count = graph_text_names(graph_text_trim(open), inputs, 64);
    call = graph_text_trim(call);
    word = call + strcspn(call, " ");
    while (*word != '\0') {
        char *next;

        *word++ = '\0';
        word += strspn(word, " ");
        next = word + strcspn(word, " ");
        if (*word != '\0') {
            char end = *next;

            *next = '\0';
            graph_text_attr(t, &attrs, word);
            *next = end;
        }
        word = next;
    }
    snprintf(name, sizeof name, "n_%s", outputs[0]);
    colon = strchr(call, ':');
    if (colon == NULL) {
        pw_onnx_put_node(graph, call, name, inputs, input_count, outputs, output_count, &attrs);
    } else {
        struct pw_buf node = {0};

        *colon = '\0';
        for (size_t i = 0; i < input_count; i++)
            pw_wire_put_text(&node, 1, inputs[i]);
        for (size_t i = 0; i < output_count; i++)
            pw_wire_put_text(&node, 2, outputs[i]);
        pw_wire_put_text(&node, 3, name);
        pw_wire_put_text(&node, 4, colon + 1);
        if (attrs.size > 0)
            pw_buf_append(&node, attrs.data, attrs.size);
        pw_buf_clear(&attrs);
        pw_wire_put_text(&node, 7, call);
        pw_wire_put_message(graph, PW_GRAPH_NODE, &node);
        t->foreign = true;
    }
}

static inline void graph_text_body(struct graph_text *t, const char *text, struct pw_buf *graph)
{
    char line[GRAPH_TEXT_LINE], original[GRAPH_TEXT_LINE];

    for (const char *at = text; *at != '\0';) {
        size_t size = strcspn(at, "\n");
        char *word, *rest, *equals;

        if (size >= sizeof line)
            graph_text_fail("a line is too long", at);
        memcpy(line, at, size);
        line[size] = '\0';
        memcpy(original, line, size + 1);
        at += size + (at[size] == '\n');
        word = graph_text_trim(line);
        if (*word == '\0')
            continue;
        rest = word + strcspn(word, " ");
        equals = strstr(word, " = ");
        if (equals != NULL) {
            *equals = '\0';
            graph_text_node(t, graph, word, equals + 3);
            continue;
        }
        if (*rest != '\0')
            *rest++ = '\0';
        {
            char *name = graph_text_trim(rest), *type = name + strcspn(name, " ");

            if (*type != '\0')
                *type++ = '\0';
            type = graph_text_trim(type);
            if (strcmp(word, "input") == 0)
                graph_text_type(graph, PW_GRAPH_INPUT, name, type);
            else if (strcmp(word, "output") == 0)
                graph_text_type(graph, PW_GRAPH_OUTPUT, name, type);
            else if (strcmp(word, "info") == 0)
                graph_text_type(graph, PW_GRAPH_VALUE_INFO, name, type);
            else if (strcmp(word, "const") == 0)
                graph_text_const(graph, name, type);
            else
                graph_text_fail("an unknown line", original);
        }
    }
}

/* The bytes of a model; owned by the caller and must outlive what is parsed from them. */
static inline void graph_text_bytes(const char *text, const char *const *bodies, int opset, struct pw_buf *bytes)
{
    struct pw_onnx_out out;
    struct graph_text t = {.bodies = bodies};

    pw_onnx_out_init(&out, "main", opset);
    graph_text_body(&t, text, &out.graph);
    if (t.foreign) {
        static const char *const domains[] = {"com.example", "com.microsoft", "ai.onnx.preview.training"};

        for (size_t i = 0; i < 3; i++) {
            struct pw_buf import = {0};

            pw_wire_put_text(&import, 1, domains[i]);
            pw_wire_put_int(&import, 2, 1);
            pw_wire_put_message(&out.functions, 8, &import); /* ModelProto.opset_import */
        }
    }
    pw_onnx_out_bytes(&out, bytes);
    pw_onnx_out_clear(&out);
}

/* A model; aborts with the message when the reader refuses it. */
static inline struct pw_model *graph_text_model(const char *text, const char *const *bodies, int opset,
                                                struct pw_buf *bytes)
{
    struct pw_model *model = NULL;
    struct pw_error err = {0};

    graph_text_bytes(text, bodies, opset, bytes);
    if (pw_model_parse(bytes->data, bytes->size, "test.onnx", NULL, &model, &err) != PW_OK)
        graph_text_fail(err.message, text);
    return model;
}

static inline pw_value_id graph_text_value(const struct pw_graph *graph, const char *name)
{
    for (size_t i = 0; i < graph->value_count; i++) {
        if (strcmp(graph->values[i].name, name) == 0)
            return (pw_value_id)i;
    }
    graph_text_fail("no value of that name", name);
    return PW_NO_VALUE;
}

#endif
