/* A loaded model: life, look-ups, and where a node is. The hashes are in model_hash.c. */
#include "graph/graph.h"

#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "graph/gradient.h"
#include "graph/onnx_reader.h"

#define SHOW 64

pw_status pw_model_parse(const void *bytes, size_t size, const char *name, const char *dir, struct pw_model **out,
                         struct pw_error *err)
{
    struct pw_model *model = pw_calloc(1, sizeof *model);
    char show[PW_ONNX_SHOW_BYTES];
    pw_status status;
    if (!model)
        return pw_error_memory(err, sizeof *model);
    model->path = pw_arena_strndup(&model->arena, name, strlen(name));
    status = model->path ? pw_onnx_read(model, bytes, size, dir, err) : pw_error_memory(err, strlen(name));
    if (status == PW_OK)
        status = pw_gradient_expand(model, err);
    if (status != PW_OK) {
        if (err && err->status != PW_OK)
            status = err->status;
        pw_error_prefix(err, "%s", pw_text_show(show, sizeof show, name, 0));
        pw_model_destroy(model);
        return status;
    }
    *out = model;
    return PW_OK;
}

pw_status pw_model_load(const char *path, struct pw_model **out, struct pw_error *err)
{
    struct pw_mapping map = {0};
    struct pw_buf dir = {0};
    struct pw_model *model = NULL;
    pw_status status = pw_mapping_open(&map, path, err);
    if (status != PW_OK)
        goto done;
    pw_progress_phase("reading", "bytes", map.size);
    pw_file_dirname(&dir, path);
    if (dir.failed) {
        status = pw_error_memory(err, strlen(path));
        goto done;
    }
    status = pw_model_parse(map.data, map.size, path, pw_buf_text(&dir), &model, err);
    /* Bytes that vanished read as zeros: whatever was made of them, or complained about, is void. */
    if (pw_mapping_damaged(&map) || (model && pw_model_damaged(model))) {
        pw_error_clear(err);
        status = pw_error_set(err, PW_ERR_IO, "'%s' shrank while it was read", path);
    }
    if (status != PW_OK)
        goto done;
    model->file = map;
    memset(&map, 0, sizeof map);
    *out = model;
    model = NULL;
done:
    pw_model_destroy(model);
    pw_mapping_close(&map);
    pw_buf_clear(&dir);
    return status;
}

void pw_model_destroy(struct pw_model *model)
{
    if (!model)
        return;
    for (size_t i = 0; i < model->external_count; i++)
        pw_mapping_close(&model->external[i]);
    pw_free(model->external);
    pw_mapping_close(&model->file);
    pw_arena_clear(&model->arena);
    pw_free(model);
}

bool pw_model_damaged(const struct pw_model *model)
{
    for (size_t i = 0; i < model->external_count; i++)
        if (pw_mapping_damaged(&model->external[i]))
            return true;
    return pw_mapping_damaged(&model->file);
}

const struct pw_attr *pw_node_attr(const struct pw_node *node, const char *name)
{
    for (size_t i = 0; i < node->attr_count; i++)
        if (strcmp(node->attrs[i].name, name) == 0)
            return &node->attrs[i];
    return NULL;
}

const char *pw_node_where(const struct pw_node *node, char *dst, size_t dst_size)
{
    char graph[4 * SHOW], name[4 * SHOW], type[4 * SHOW];
    pw_text_show(graph, sizeof graph, node->graph ? node->graph->name : "", SHOW);
    pw_text_show(name, sizeof name, node->name, SHOW);
    pw_text_show(type, sizeof type, node->op_type, SHOW);
    snprintf(dst, dst_size, "graph '%s', node %zu '%s' (%s)", graph, node->index, name, type);
    return dst;
}

const struct pw_graph_value *pw_graph_value_origin(const struct pw_graph_value *value)
{
    while (value->outer)
        value = value->outer;
    return value;
}
