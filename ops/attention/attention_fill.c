/* What the integers of generated cases may be: positions within the caches, lengths within the keys, masks of 0 and 1.
 */
#include <string.h>

#include "ops/attention/attention_room.h"

static int64_t dim(const struct pw_call *call, const char *formal, int d)
{
    int64_t n = -1;
    int i = 0;

    for (const struct pw_formal *f = call->op->inputs; f->name; f++, i++) {
        const struct pw_info *info = pw_call_input(call, i) ? call->in[i] : NULL;
        int at = info && d < 0 ? d + info->rank : d;

        if (!strcmp(f->name, formal) && info && at >= 0 && at < info->rank)
            return pw_dims_value(call->dims, info->dims[at], &n) ? n : -1;
    }
    return -1;
}

static void range(struct pw_fill *fill, int64_t low, int64_t high)
{
    fill->int_low = low;
    fill->int_high = high < low ? low : high;
}

/* Keys that a query may see: those given here, before which the past lies. */
static int64_t keys_of(const struct pw_call *call)
{
    int64_t fresh = dim(call, "key", 1), own = dim(call, "K", -2), packed = dim(call, "input", 1);
    int64_t past = dim(call, "past_key", 2);

    fresh = fresh < 0 ? own : fresh;
    fresh = fresh < 0 ? packed : fresh;
    return (fresh < 0 ? 1 : fresh) + (past < 0 ? 0 : past);
}

void pw_attention_fill(const struct pw_call *call, int input, struct pw_fill *fill)
{
    const char *name = call->op->inputs[input].name;
    int64_t rows = dim(call, "cos_cache", 0), total = 0;
    const int64_t *content = NULL;
    size_t count = 0;
    bool known = false;

    if (!strcmp(name, "position_ids")) {
        bool one = call->in[input]->rank == 1; /* the first position, from which the others count */
        int64_t sequence =
            call->in[0]->rank == 3 ? dim(call, call->op->inputs[0].name, 1) : dim(call, call->op->inputs[0].name, 2);

        range(fill, 0, rows - 1 - (one && sequence > 0 ? sequence - 1 : 0));
    } else if (!strcmp(name, "seqlens_k")) {
        int64_t queries = dim(call, "query", 1);
        int total_at = input + 1;

        if (pw_call_content(call, total_at, &content, &count, &known, NULL) == PW_OK && known && count == 1)
            total = content[0];
        range(fill, queries > 0 ? queries - 1 : 0, total - 1);
    } else if (!strcmp(name, "nonpad_kv_seqlen")) {
        range(fill, 1, keys_of(call));
    } else if (!strcmp(name, "key_padding_mask") || !strcmp(name, "mask_index")) {
        /* A row of masked keys alone would be logits of -10000 and a bit, of which float32 keeps no bit. */
        range(fill, call->in[input]->rank == 1, call->in[input]->rank == 1 ? keys_of(call) : 1);
        fill->first_high = call->in[input]->rank > 1;
    } else if (!strcmp(name, "cache_indirection")) {
        range(fill, 0, dim(call, "cache_indirection", 1) - 1);
    } else if (!strcmp(name, "past_sequence_length")) {
        fill->keep = true;
    }
}
