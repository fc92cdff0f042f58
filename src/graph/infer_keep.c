/*
 * What inference keeps: every distinct info once. A graph of a hundred thousand values has a few hundred shapes and
 * contents, so a value costs a pointer, and a second inference of the same model with other dims costs little more than
 * that. While a node is inferred, rooms allocate from a scratch arena; what its outputs then hold is copied here unless
 * an equal one is there already, and the scratch is forgotten.
 *
 * Kept infos, contents and tensors are never written again: whoever has a pointer to one may read it as long as the
 * inference lives, whatever is inferred afterwards.
 */
#include <string.h>

#include "base/hash.h"
#include "graph/infer_internal.h"

#define PROBES_MAX 64 /* a file that is made to collide gets copies, not a slow search */

/* ---- the table ---- */

static pw_status table_grow(struct pw_infer_table *table, struct pw_error *err)
{
    size_t slot_count = table->slot_count == 0 ? 256 : table->slot_count * 2;
    struct pw_infer_slot *slots;

    if ((table->count + 1) * 2 <= table->slot_count)
        return PW_OK;
    slots = pw_calloc(slot_count, sizeof *slots);
    if (slots == NULL)
        return pw_error_memory(err, slot_count * sizeof *slots);
    for (size_t i = 0; i < table->slot_count; i++) {
        size_t at = (size_t)table->slots[i].hash & (slot_count - 1);

        if (table->slots[i].item == NULL)
            continue;
        while (slots[at].item != NULL)
            at = (at + 1) & (slot_count - 1);
        slots[at] = table->slots[i];
    }
    pw_free(table->slots);
    table->slots = slots;
    table->slot_count = slot_count;
    return PW_OK;
}

typedef bool equal_fn(const void *a, const void *b);

/* The kept item that equals the key, or NULL. */
static const void *table_find(const struct pw_infer_table *table, uint64_t hash, const void *key, equal_fn *equal)
{
    size_t mask = table->slot_count - 1, at = (size_t)hash & mask;

    for (int probes = 0; table->slot_count > 0 && probes < PROBES_MAX && table->slots[at].item != NULL; probes++) {
        if (table->slots[at].hash == hash && equal(table->slots[at].item, key))
            return table->slots[at].item;
        at = (at + 1) & mask;
    }
    return NULL;
}

/* Room was made with table_grow. */
static void table_add(struct pw_infer_table *table, uint64_t hash, const void *item)
{
    size_t mask = table->slot_count - 1, at = (size_t)hash & mask;

    for (int probes = 0; table->slots[at].item != NULL; probes++) {
        if (probes == PROBES_MAX)
            return; /* stays alone */
        at = (at + 1) & mask;
    }
    table->slots[at] = (struct pw_infer_slot){hash, item};
    table->count++;
}

void pw_infer_done(struct pw_inference *inf)
{
    struct pw_infer_table *tables[] = {&inf->kept_infos, &inf->kept_contents, &inf->kept_tensors};

    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        pw_free(tables[i]->slots);
        *tables[i] = (struct pw_infer_table){0};
    }
    for (int depth = 0; depth <= PW_INFER_MAX_DEPTH; depth++)
        pw_arena_clear(&inf->scratch[depth]);
}

/* In memory that is forgotten when a node that is being inferred is done? */
static bool is_passing(const struct pw_inference *inf, const void *p)
{
    bool found = false;

    for (int depth = 0; depth <= inf->depth && !found; depth++)
        found = pw_arena_holds(&inf->scratch[depth], p);
    return found;
}

/* ---- contents ---- */

struct content {
    size_t count;
    const pw_dim *dims;
};

static bool same_content(const void *a, const void *b)
{
    const struct content *x = a, *y = b;

    return x->count == y->count && memcmp(x->dims, y->dims, x->count * sizeof *x->dims) == 0;
}

static pw_status keep_content(struct pw_inference *inf, struct pw_info *info, struct pw_error *err)
{
    struct content key = {info->content_count, info->content}, *made;
    const struct content *found;
    uint64_t hash = pw_hash64(key.dims, key.count * sizeof *key.dims, 1);
    pw_dim *dims;
    pw_status status = table_grow(&inf->kept_contents, err);

    if (status != PW_OK)
        return status;
    found = table_find(&inf->kept_contents, hash, &key, same_content);
    if (found == NULL) {
        made = pw_arena_alloc(&inf->arena, 1, sizeof *made);
        dims = pw_arena_alloc(&inf->arena, key.count + 1, sizeof *dims);
        if (made == NULL || dims == NULL)
            return pw_error_memory(err, key.count * sizeof *dims);
        memcpy(dims, key.dims, key.count * sizeof *dims);
        *made = (struct content){key.count, dims};
        table_add(&inf->kept_contents, hash, made);
        found = made;
    }
    info->content = found->dims;
    return PW_OK;
}

/* ---- tensors ---- */

/* Small ones by their bytes; the data of larger ones by its place, which is the file's. */
static bool by_bytes(const struct pw_tensor *t)
{
    return t->count <= PW_CONTENT_MAX && t->dtype != PW_DTYPE_STRING;
}

static bool same_tensor(const void *a, const void *b)
{
    const struct pw_tensor *x = a, *y = b;

    if (x->dtype != y->dtype || x->nominal != y->nominal || x->rank != y->rank || x->count != y->count ||
        memcmp(x->dims, y->dims, (size_t)x->rank * sizeof *x->dims) != 0)
        return false;
    return x->data == y->data || (by_bytes(x) && x->count > 0 && memcmp(x->data, y->data, pw_tensor_bytes(x)) == 0);
}

static uint64_t hash_tensor(const struct pw_tensor *t)
{
    int64_t words[PW_MAX_RANK + 3] = {t->dtype, t->nominal, t->rank};
    uint64_t seed;

    memcpy(words + 3, t->dims, (size_t)t->rank * sizeof *t->dims);
    seed = pw_hash64(words, (size_t)(t->rank + 3) * sizeof *words, 2);
    if (!by_bytes(t))
        return pw_hash64(&t->data, sizeof t->data, seed);
    return t->count > 0 ? pw_hash64(t->data, pw_tensor_bytes(t), seed) : seed;
}

/* A tensor that passes; the data may be the file's. */
static pw_status keep_tensor(struct pw_inference *inf, struct pw_info *info, struct pw_error *err)
{
    const struct pw_tensor *t = info->constant, *found;
    bool passing = is_passing(inf, t->data);
    struct pw_tensor *made;
    uint64_t hash;
    pw_status status;

    if (passing && t->dtype == PW_DTYPE_STRING) { /* nor would the bytes behind the elements stay */
        info->constant = NULL;
        return PW_OK;
    }
    status = table_grow(&inf->kept_tensors, err);
    if (status != PW_OK)
        return status;
    hash = hash_tensor(t);
    found = table_find(&inf->kept_tensors, hash, t, same_tensor);
    if (found == NULL) {
        made = pw_arena_alloc(&inf->arena, 1, sizeof *made);
        if (made == NULL)
            return pw_error_memory(err, sizeof *made);
        *made = *t;
        if (passing) {
            made->data = pw_arena_alloc(&inf->arena, pw_tensor_bytes(t) + 1, 1);
            if (made->data == NULL)
                return pw_error_memory(err, pw_tensor_bytes(t));
            memcpy(made->data, t->data, pw_tensor_bytes(t));
        }
        table_add(&inf->kept_tensors, hash, made);
        found = made;
    }
    info->constant = found;
    return PW_OK;
}

/* ---- infos ---- */

/* Without indeterminate bytes, so that equal ones have equal bytes. */
static void normalize(struct pw_info *out, const struct pw_info *info)
{
    memset(out, 0, sizeof *out);
    out->kind = info->kind;
    out->optional = info->optional;
    out->dtype = info->dtype;
    out->rank = info->rank;
    if (info->rank > 0)
        memcpy(out->dims, info->dims, (size_t)info->rank * sizeof *out->dims);
    out->constant = info->constant;
    if (info->content != NULL) {
        out->content = info->content;
        out->content_count = info->content_count;
    }
    out->open = info->open;
    out->fixed = info->fixed;
}

static bool same_info(const void *a, const void *b)
{
    return memcmp(a, b, sizeof(struct pw_info)) == 0;
}

struct pw_arena *pw_infer_scratch(struct pw_inference *inf)
{
    return &inf->scratch[inf->depth];
}

pw_status pw_infer_keep(struct pw_inference *inf, struct pw_infer_scope *scope, pw_value_id id,
                        const struct pw_info *info, struct pw_error *err)
{
    struct pw_info key, *made;
    const struct pw_info *found;
    uint64_t hash;
    pw_status status = PW_OK;

    normalize(&key, info);
    if (key.content != NULL)
        status = keep_content(inf, &key, err);
    if (status == PW_OK && key.constant != NULL && is_passing(inf, key.constant))
        status = keep_tensor(inf, &key, err);
    if (status == PW_OK)
        status = table_grow(&inf->kept_infos, err);
    if (status != PW_OK)
        return status;
    hash = pw_hash64(&key, sizeof key, 3);
    found = table_find(&inf->kept_infos, hash, &key, same_info);
    if (found == NULL) {
        made = pw_arena_alloc(&inf->arena, 1, sizeof *made);
        if (made == NULL)
            return pw_error_memory(err, sizeof *made);
        memcpy(made, &key, sizeof key);
        table_add(&inf->kept_infos, hash, made);
        found = made;
    }
    scope->infos[id] = found;
    return PW_OK;
}
