/* Single operators that are a whole pattern: newer opsets and the runtimes' own domain. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/compiler.h"
#include "graph/pattern.h"

struct fused {
    const char *domain, *name;
    pw_pattern_kind kind;
};

static const struct fused fused_table[] = {
    {"", "Attention", PW_PATTERN_ATTENTION},
    {"", "LayerNormalization", PW_PATTERN_LAYERNORM},
    {"", "RMSNormalization", PW_PATTERN_RMSNORM},
    {"", "SimplifiedLayerNormalization", PW_PATTERN_RMSNORM},
    {"", "Gelu", PW_PATTERN_GELU_ERF},
    {"", "Swish", PW_PATTERN_SILU},
    {"", "RotaryEmbedding", PW_PATTERN_ROTARY},
    {"com.microsoft", "Attention", PW_PATTERN_ATTENTION},
    {"com.microsoft", "MultiHeadAttention", PW_PATTERN_ATTENTION},
    {"com.microsoft", "GroupQueryAttention", PW_PATTERN_ATTENTION},
    {"com.microsoft", "SkipLayerNormalization", PW_PATTERN_LAYERNORM},
    {"com.microsoft", "EmbedLayerNormalization", PW_PATTERN_LAYERNORM},
    {"com.microsoft", "SimplifiedLayerNormalization", PW_PATTERN_RMSNORM},
    {"com.microsoft", "SkipSimplifiedLayerNormalization", PW_PATTERN_RMSNORM},
    {"com.microsoft", "Gelu", PW_PATTERN_GELU_ERF},
    {"com.microsoft", "BiasGelu", PW_PATTERN_GELU_ERF},
    {"com.microsoft", "FastGelu", PW_PATTERN_GELU_TANH},
    {"com.microsoft", "RotaryEmbedding", PW_PATTERN_ROTARY},
};

static const struct fused *find_fused(const struct pw_node *node)
{
    for (size_t i = 0; i < PW_COUNT_OF(fused_table); i++) {
        if (strcmp(fused_table[i].name, node->op_type) == 0 && strcmp(fused_table[i].domain, node->domain) == 0)
            return &fused_table[i];
    }
    return NULL;
}

static int64_t int_attr(const struct pw_node *node, const char *first, const char *second)
{
    const struct pw_attr *attr = pw_node_attr(node, first);

    if (attr == NULL)
        attr = pw_node_attr(node, second);
    return attr != NULL && attr->type == PW_ATTR_INT ? attr->i : 0;
}

static void attention_details(const struct pw_node *node, char *dst, size_t size)
{
    int64_t heads = int_attr(node, "num_heads", "q_num_heads"), kv = int_attr(node, "kv_num_heads", "kv_num_heads");
    int used = snprintf(dst, size, "fused");

    if (heads > 0 && (size_t)used < size)
        used += snprintf(dst + used, size - (size_t)used, ", %" PRId64 " heads", heads);
    if (kv > 0 && heads > kv && heads % kv == 0 && (size_t)used < size)
        snprintf(dst + used, size - (size_t)used, ", grouped KV %" PRId64 ":1", heads / kv);
}

pw_status pw_match_fused(struct pw_match *m, struct pw_error *err)
{
    pw_status status = PW_OK;

    for (size_t n = 0; n < m->graph->node_count && status == PW_OK; n++) {
        const struct pw_node *node = &m->graph->nodes[n];
        const struct fused *fused = m->kinds[n] == PW_MATCH_OTHER ? find_fused(node) : NULL;
        struct pw_members members = {.nodes = {node}, .count = 1};
        const struct pw_attr *approximate;
        pw_pattern_kind kind;
        char details[80] = "fused";
        int index = -1;

        if (fused == NULL)
            continue;
        kind = fused->kind;
        approximate = pw_node_attr(node, "approximate");
        if (kind == PW_PATTERN_GELU_ERF && approximate != NULL && approximate->type == PW_ATTR_STRING &&
            strcmp(approximate->s.data, "tanh") == 0)
            kind = PW_PATTERN_GELU_TANH;
        if (kind == PW_PATTERN_ATTENTION)
            attention_details(node, details, sizeof details);
        if (kind == PW_PATTERN_SILU) { /* Swish with another slope is another function */
            const struct pw_attr *alpha = pw_node_attr(node, "alpha");

            if (alpha != NULL && alpha->type == PW_ATTR_FLOAT && alpha->f != 1.0f)
                continue;
        }
        status = pw_match_report(m, kind, &members, details, -1, &index, err);
        if (status == PW_OK && index >= 0)
            m->inventory->patterns[index].fused = true;
    }
    return status;
}
