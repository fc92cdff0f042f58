#include "run/impl.h"

#include <string.h>

#define MAX_CANDIDATES 64

static bool call_is_concrete(const struct pw_call *call)
{
    int64_t value;

    for (int i = 0; i < call->input_count + call->output_count; i++) {
        const struct pw_info *info = i < call->input_count ? call->in[i] : &call->out[i - call->input_count];

        if (!info || (i >= call->input_count && !call->wanted[i - call->input_count]))
            continue;
        if (info->kind != PW_VALUE_TENSOR || info->rank < 0)
            return false;
        for (int d = 0; d < info->rank; d++)
            if (!pw_dims_value(call->dims, info->dims[d], &value))
                return false;
    }
    return true;
}

/* A call that no plan can be made of (a dim that only the data decides) is not served, with that as the reason. */
static pw_status ask_kernel(const struct pw_call *call, struct pw_device *device, struct pw_impl *impl,
                            struct pw_buf *why, struct pw_error *err)
{
    struct pw_error reason = {0};
    pw_status status = pw_kernel_supports(impl->kernel, call, pw_device_facts(device), NULL, 0, &impl->supported,
                                          &impl->priority, why, &reason);

    if (status == PW_OK)
        return PW_OK;
    if (status == PW_ERR_NO_MEMORY)
        return pw_error_set(err, status, "%s", reason.message);
    impl->supported = false;
    pw_buf_puts(why, reason.message);
    return PW_OK;
}

static pw_status add_kernels(const struct pw_call *call, const struct pw_kernels *kernels, struct pw_device *device,
                             struct pw_arena *arena, struct pw_impl_list *out, struct pw_error *err)
{
    const struct pw_kernel *found[MAX_CANDIDATES];
    size_t count = pw_kernels_for(kernels, call->op, found, MAX_CANDIDATES);
    struct pw_buf why = {0};
    pw_status status = PW_OK;

    if (count > MAX_CANDIDATES)
        count = MAX_CANDIDATES;
    for (size_t i = 0; i < count && status == PW_OK; i++) {
        struct pw_impl *impl = &out->items[out->count];
        const char *author = pw_kernel_author(found[i]);

        pw_buf_clear(&why);
        impl->kernel = found[i];
        impl->name = pw_kernel_name(found[i]);
        impl->kind = author && !strcmp(author, "generated") ? PW_COVERAGE_GENERATED : PW_COVERAGE_KERNEL;
        status = ask_kernel(call, device, impl, &why, err);
        if (status != PW_OK)
            break;
        impl->why = pw_arena_strndup(arena, pw_buf_text(&why), why.size);
        if (!impl->why) {
            status = pw_error_memory(err, why.size);
            break;
        }
        out->count++;
    }
    pw_buf_clear(&why);
    return status;
}

static pw_status add_library(const struct pw_call *call, struct pw_device *device, struct pw_arena *arena,
                             struct pw_impl_list *out, struct pw_error *err)
{
    struct pw_impl *impl = &out->items[out->count];
    struct pw_buf why = {0};
    pw_status status;

    if (!pw_device_library(device))
        return PW_OK;
    status = call_is_concrete(call) ? pw_device_library_supports(device, call, &impl->supported, &why, err) : PW_OK;
    if (status == PW_OK) {
        if (!call_is_concrete(call))
            pw_buf_puts(&why, "its shape is known only when the graph runs");
        impl->kind = PW_COVERAGE_LIBRARY;
        impl->name = pw_device_library(device);
        impl->why = pw_arena_strndup(arena, pw_buf_text(&why), why.size);
        out->library_exists = impl->supported;
        out->count++;
    }
    pw_buf_clear(&why);
    return status;
}

/* The kernel of highest priority, else the library, else the host. A library may be far slower than a
 * kernel (untuned CLBlast on a CPU reaches a tenth of it), so it does not win by being a library. */
static void choose(const struct pw_call *call, bool reference, struct pw_impl_list *out)
{
    int best = -1;

    for (size_t i = 0; i < out->count; i++) {
        const struct pw_impl *impl = &out->items[i];

        if (!impl->supported || impl->kind == PW_COVERAGE_HOST)
            continue;
        if (best < 0 || (impl->kernel && (!out->items[best].kernel || impl->priority > out->items[best].priority)))
            best = (int)i;
    }
    out->kernel_required = best < 0 && !reference && pw_call_is_floating(call) && !call->op->host_only;
    if (best < 0)
        for (size_t i = 0; i < out->count; i++)
            if (out->items[i].supported)
                best = (int)i;
    out->selected = best;
    out->coverage = best < 0 ? PW_COVERAGE_MISSING : out->items[best].kind;
}

static const char *coverage_reason(const struct pw_call *call, const struct pw_impl_list *out, bool reference)
{
    if (out->coverage == PW_COVERAGE_MISSING && call->node->note)
        return call->node->note;
    if (out->coverage == PW_COVERAGE_HOST) {
        if (reference)
            return "the target is the reference itself";
        if (call->op->host_only)
            return call->op->host_only;
        for (size_t i = 0; i < out->count; i++)
            if (!out->items[i].supported && out->items[i].why && out->items[i].why[0])
                return out->items[i].why;
        return "no kernel implements it";
    }
    return out->coverage == PW_COVERAGE_MISSING ? "no definition and no kernel" : "";
}

/* The call with room for outputs whose sizes the data decides; infos of its own, as calls are shared. */
static pw_status take_most(const struct pw_call *call, struct pw_arena *arena, struct pw_call *out,
                           struct pw_error *err)
{
    *out = *call;
    if (!call->op->most)
        return PW_OK;
    out->out = pw_arena_alloc(arena, (size_t)call->output_count + 1, sizeof *out->out);
    if (!out->out)
        return pw_error_memory(err, (size_t)call->output_count * sizeof *out->out);
    memcpy(out->out, call->out, (size_t)call->output_count * sizeof *out->out);
    pw_call_take_most(out);
    return PW_OK;
}

static bool kernel_serves(const struct pw_impl_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        if (list->items[i].kernel && list->items[i].supported)
            return true;
    return false;
}

/* all: the library is asked too where it cannot be selected. */
static pw_status find(const struct pw_call *call, const struct pw_kernels *kernels, struct pw_device *device, bool all,
                      struct pw_arena *arena, struct pw_impl_list *out, struct pw_error *err)
{
    bool reference = device && pw_device_is_reference(device);
    struct pw_call most;
    pw_status status;

    memset(out, 0, sizeof *out);
    out->selected = -1;
    out->coverage = PW_COVERAGE_MISSING;
    out->reason = call->node->note ? call->node->note : "unknown operator";
    if (!call->op)
        return PW_OK;
    out->items = pw_arena_alloc(arena, MAX_CANDIDATES + 2, sizeof *out->items);
    if (!out->items)
        return pw_error_memory(err, (MAX_CANDIDATES + 2) * sizeof *out->items);
    if (device && !reference && !call->op->host_only) {
        status = take_most(call, arena, &most, err);
        if (status == PW_OK)
            status = add_kernels(&most, kernels, device, arena, out, err);
        if (status == PW_OK && (all || !kernel_serves(out)))
            status = add_library(&most, device, arena, out, err);
        if (status != PW_OK)
            return status;
    }
    if (call->op->golden || call->op->category == PW_CATEGORY_CONTROL) {
        struct pw_impl *host = &out->items[out->count++];

        host->kind = PW_COVERAGE_HOST;
        host->name = "reference";
        host->supported = true;
        host->why = "";
    }
    choose(call, reference, out);
    out->reason = coverage_reason(call, out, reference);
    return PW_OK;
}

pw_status pw_impl_find(const struct pw_call *call, const struct pw_kernels *kernels, struct pw_device *device,
                       struct pw_arena *arena, struct pw_impl_list *out, struct pw_error *err)
{
    struct pw_call_own own = {.dims = NULL};
    pw_status status = pw_call_own_init(call, &own, err); /* targets ask at the same time */

    if (status == PW_OK)
        status = find(&own.call, kernels, device, true, arena, out, err);
    pw_call_own_clear(&own);
    return status;
}

pw_status pw_impl_place(const struct pw_call *call, const struct pw_kernels *kernels, struct pw_device *device,
                        struct pw_arena *arena, struct pw_impl_list *out, struct pw_error *err)
{
    return find(call, kernels, device, false, arena, out, err);
}

void pw_impl_keep_on_host(struct pw_impl_list *list, const char *reason)
{
    for (size_t i = 0; i < list->count; i++)
        if (list->items[i].kind == PW_COVERAGE_HOST) {
            list->selected = (int)i;
            list->coverage = PW_COVERAGE_HOST;
            list->kernel_required = false;
            list->reason = reason;
        }
}
