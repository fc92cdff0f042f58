/* What the sessions of one graph share: the model as it was read, its shapes and inventories, protocol and inputs. */
#include <stdatomic.h>
#include <string.h>

#include "base/file.h"
#include "graph/assume.h"
#include "job/session_internal.h"

/* ---- symbols that nobody bound ---- */

struct symbols {
    struct pw_session_shared *shared;
    pw_status status;
    struct pw_error *err;
};

static void assume(void *user, const char *symbol)
{
    struct symbols *symbols = user;
    struct pw_session_shared *shared = symbols->shared;
    struct pw_binding *grown;

    if (symbols->status != PW_OK || strchr(symbol, '#'))
        return; /* '#': made by an operator whose size depends on data */
    for (size_t i = 0; i < shared->binding_count; i++)
        if (!strcmp(shared->bindings[i].name, symbol))
            return;
    grown = pw_arena_alloc(&shared->arena, shared->binding_count + 1, sizeof *grown);
    if (!grown) {
        symbols->status = pw_error_memory(symbols->err, sizeof *grown);
        return;
    }
    if (shared->binding_count)
        memcpy(grown, shared->bindings, shared->binding_count * sizeof *grown);
    grown[shared->binding_count].name = pw_arena_strndup(&shared->arena, symbol, strlen(symbol));
    if (!grown[shared->binding_count].name) {
        symbols->status = pw_error_memory(symbols->err, strlen(symbol));
        return;
    }
    grown[shared->binding_count].value = pw_assume_size(symbol, PW_ASSUMED_SIZE);
    shared->bindings = grown;
    shared->binding_count++;
}

static pw_status assume_unbound(struct pw_session_shared *shared, struct pw_error *err)
{
    struct symbols symbols = {.shared = shared, .err = err};
    const struct pw_graph *graph = shared->model->graph;

    for (size_t i = 0; i < graph->input_count; i++) {
        const struct pw_info *info = pw_inference_at(shared->inference, graph, graph->inputs[i]);

        for (int d = 0; d < info->rank; d++)
            pw_dims_symbols(pw_inference_dims(shared->inference), info->dims[d], assume, &symbols);
    }
    return symbols.status;
}

/* ---- protocol and bindings ---- */

static const char *keep_text(struct pw_session_shared *shared, const char *text)
{
    return pw_arena_strndup(&shared->arena, text, strlen(text));
}

static pw_status load_protocol(struct pw_session_shared *shared, const char *project, struct pw_error *err)
{
    if (project)
        return pw_protocol_load(project, &shared->protocol, err);
    if (pw_file_exists("portwright.yaml"))
        return pw_protocol_load("portwright.yaml", &shared->protocol, err);
    return pw_protocol_default(&shared->protocol, err);
}

static bool is_bound(const struct pw_binding *items, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (!strcmp(items[i].name, name))
            return true;
    return false;
}

/* There is room for it; false when memory is short. */
static bool add_binding(struct pw_session_shared *shared, const struct pw_binding *binding)
{
    const char *name = keep_text(shared, binding->name);

    if (name)
        shared->bindings[shared->binding_count++] = (struct pw_binding){name, binding->value};
    return name != NULL;
}

/* --dim wins over the protocol's first binding set; the shapes of given inputs fill in what --dim leaves open. */
static pw_status take_bindings(struct pw_session_shared *shared, const struct pw_session_options *options,
                               struct pw_error *err)
{
    const struct pw_inputs *inputs = &shared->inputs;
    const struct pw_binding *from = options->bindings;
    size_t count = options->binding_count;
    bool protocol = !count && shared->protocol->binding_count;

    if (protocol) {
        from = shared->protocol->bindings[0].items;
        count = shared->protocol->bindings[0].count;
    }
    shared->bindings = pw_arena_alloc(&shared->arena, count + inputs->binding_count + 1, sizeof *shared->bindings);
    if (!shared->bindings)
        return pw_error_memory(err, count * sizeof *from);
    for (size_t i = 0; i < count; i++)
        if (!protocol || !is_bound(inputs->bindings, inputs->binding_count, from[i].name))
            if (!add_binding(shared, &from[i]))
                return pw_error_memory(err, sizeof *from);
    for (size_t i = 0; i < inputs->binding_count; i++)
        if (!is_bound(shared->bindings, shared->binding_count, inputs->bindings[i].name))
            if (!add_binding(shared, &inputs->bindings[i]))
                return pw_error_memory(err, sizeof *from);
    shared->given_count = shared->binding_count;
    return PW_OK;
}

static pw_status take_ops_dirs(struct pw_session_shared *shared, const struct pw_session_options *options,
                               struct pw_error *err)
{
    const char *standard = pw_ops_dir_default() ? pw_ops_dir_default() : "ops";

    shared->ops_dir_count = options->ops_dir_count + 1;
    shared->ops_dirs = pw_arena_alloc(&shared->arena, shared->ops_dir_count, sizeof *shared->ops_dirs);
    for (size_t i = 0; shared->ops_dirs && i < shared->ops_dir_count; i++) {
        shared->ops_dirs[i] =
            (struct pw_ops_dir){.path = keep_text(shared, i ? options->ops_dirs[i - 1] : standard), .foreign = i > 0};
        if (!shared->ops_dirs[i].path)
            return pw_error_memory(err, sizeof *shared->ops_dirs);
    }
    return shared->ops_dirs ? PW_OK : pw_error_memory(err, sizeof *shared->ops_dirs);
}

/* The first `count` of the bindings: those that were given stand before the assumed ones. */
static const char *bindings_text(struct pw_session_shared *shared, size_t count)
{
    struct pw_buf text = {0};
    const char *kept;

    for (size_t i = 0; i < count; i++)
        pw_buf_printf(&text, "%s%s=%lld", i ? "," : "", shared->bindings[i].name, (long long)shared->bindings[i].value);
    kept = keep_text(shared, pw_buf_text(&text));
    pw_buf_clear(&text);
    return kept;
}

static pw_status describe_bindings(struct pw_session_shared *shared, struct pw_error *err)
{
    shared->bindings_text = bindings_text(shared, shared->binding_count);
    shared->given_text = bindings_text(shared, shared->given_count);
    return shared->bindings_text && shared->given_text ? PW_OK : pw_error_memory(err, 64);
}

/* ---- inventories ---- */

/* Which concrete signature stands for each shown one: that of its first node. */
static pw_status map_signatures(struct pw_session_shared *shared, struct pw_error *err)
{
    const struct pw_inventory *shown = shared->inventory, *concrete = shared->concrete;

    shared->to_concrete = pw_arena_alloc(&shared->arena, shown->signature_count + 1, sizeof *shared->to_concrete);
    if (!shared->to_concrete)
        return pw_error_memory(err, shown->signature_count * sizeof(size_t));
    for (size_t i = 0; i < shown->signature_count; i++) {
        size_t number = pw_inference_node_number(shared->concrete_inference, shown->signatures[i].nodes[0]);

        if (number >= concrete->node_number_count || concrete->node_signature[number] < 0)
            return pw_error_set(err, PW_ERR_INTERNAL, "signature %zu has no concrete form", i);
        shared->to_concrete[i] = (size_t)concrete->node_signature[number];
    }
    return PW_OK;
}

/* A dim that the protocol binds and the graph lacks, or an order of sums that none of the named nodes has, is said with
 * its place in the file. */
static pw_status check_protocol(struct pw_session_shared *shared, struct pw_error *err)
{
    struct pw_inference *symbolic = NULL;
    pw_status status;

    if (!shared->protocol->binding_count && !shared->protocol->bitwise.accumulation_count)
        return PW_OK;
    status = pw_infer_graph(shared->model, NULL, 0, &symbolic, err);
    if (status == PW_OK)
        status = pw_protocol_check(shared->protocol, shared->model, symbolic, err);
    pw_inference_destroy(symbolic);
    return status;
}

static pw_status infer_assumed(struct pw_session_shared *shared, struct pw_error *err)
{
    pw_status status = pw_assume_infer(shared->model, shared->bindings, shared->given_count, shared->binding_count,
                                       &shared->concrete_inference, err);

    if (status == PW_OK)
        return describe_bindings(shared, err);
    if (status != PW_ERR_NO_MEMORY && status != PW_ERR_CANCELLED)
        pw_error_prefix(err, "with the assumed dims %s (bind them with --dim)", shared->bindings_text);
    return status;
}

static pw_status make_inventories(struct pw_session_shared *shared, uint64_t seed, struct pw_error *err)
{
    pw_status status = check_protocol(shared, err);

    if (status == PW_OK)
        status = pw_infer_graph(shared->model, shared->bindings, shared->binding_count, &shared->inference, err);
    if (status == PW_OK)
        status = pw_inventory_create(shared->model, shared->inference, &shared->inventory, err);
    if (status == PW_OK)
        status = assume_unbound(shared, err);
    if (status == PW_OK)
        status = describe_bindings(shared, err);
    if (status != PW_OK)
        return status;
    if (shared->binding_count == shared->given_count) {
        shared->concrete_inference = shared->inference;
        shared->concrete = shared->inventory;
    } else {
        status = infer_assumed(shared, err);
        if (status == PW_OK)
            status = pw_inventory_create(shared->model, shared->concrete_inference, &shared->concrete, err);
    }
    if (status == PW_OK && shared->has_inputs)
        status = pw_inputs_complete(&shared->inputs, shared->concrete_inference, seed, err);
    return status == PW_OK ? map_signatures(shared, err) : status;
}

/* ---- life ---- */

pw_status pw_session_shared_read(const struct pw_session_options *options, struct pw_session_shared **out,
                                 struct pw_error *err)
{
    struct pw_session_shared *shared = pw_calloc(1, sizeof *shared);
    pw_status status;

    if (!shared)
        return pw_error_memory(err, sizeof *shared);
    atomic_init(&shared->users, 1);
    pthread_mutex_init(&shared->lock, NULL);
    status = take_ops_dirs(shared, options, err);
    if (status == PW_OK)
        status = load_protocol(shared, options->project, err);
    if (status == PW_OK)
        status = pw_model_load(options->model_path, &shared->model, err);
    if (status == PW_OK && options->inputs) {
        status = pw_inputs_read(shared->model, options->inputs->folder, options->inputs->files,
                                options->inputs->file_count, &shared->inputs, err);
        shared->has_inputs = status == PW_OK;
    }
    if (status == PW_OK)
        status = take_bindings(shared, options, err);
    if (status == PW_OK) {
        pw_hash_text(pw_model_structure_hash(shared->model), shared->graph_id);
        status = make_inventories(shared, options->seed, err);
    }
    pw_mem_give_back();
    if (status == PW_OK) {
        *out = shared;
        shared = NULL;
    }
    pw_session_shared_release(shared);
    return status;
}

struct pw_session_shared *pw_session_shared_join(struct pw_session_shared *shared)
{
    atomic_fetch_add(&shared->users, 1);
    return shared;
}

void pw_session_shared_release(struct pw_session_shared *shared)
{
    if (!shared || atomic_fetch_sub(&shared->users, 1) > 1)
        return;
    pw_kernels_destroy(shared->kernels);
    pthread_mutex_destroy(&shared->lock);
    pw_inputs_clear(&shared->inputs);
    if (shared->concrete != shared->inventory)
        pw_inventory_destroy(shared->concrete);
    if (shared->concrete_inference != shared->inference)
        pw_inference_destroy(shared->concrete_inference);
    pw_inventory_destroy(shared->inventory);
    pw_inference_destroy(shared->inference);
    pw_protocol_destroy(shared->protocol);
    pw_model_destroy(shared->model);
    pw_arena_clear(&shared->arena);
    pw_free(shared);
}

pw_status pw_session_shared_kernels(struct pw_session_shared *shared, struct pw_kernels **out, struct pw_error *err)
{
    pw_status status = PW_OK;

    pthread_mutex_lock(&shared->lock);
    if (!shared->kernels)
        status = pw_kernels_load(shared->ops_dirs, shared->ops_dir_count, &shared->kernels, err);
    if (status == PW_OK)
        *out = shared->kernels;
    pthread_mutex_unlock(&shared->lock);
    return status;
}
