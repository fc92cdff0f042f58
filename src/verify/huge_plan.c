/* Which huge case a signature gets, and what it needs. */
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "verify/huge.h"
#include "verify/shapes_internal.h"

#define LARGEST ((int64_t)1 << 42) /* dim that is tried */
#define TIMES 2                    /* the need must be available so many times: others use the machine too */

int64_t pw_huge_threshold(const struct pw_verify_request *request)
{
    return request->effort.huge_elements > 0 ? request->effort.huge_elements : PW_HUGE_ELEMENTS;
}

/* ---- what a call takes ---- */

struct measure {
    int64_t most;            /* elements of the largest tensor */
    int64_t in, out, widest; /* bytes of inputs and outputs together; of the largest input */
    bool whole;              /* integers and booleans throughout: the reference carries them as they are */
};

static bool add_tensor(struct measure *m, const struct pw_dims *dims, const struct pw_info *info, int64_t *total)
{
    int64_t count = 1, bytes, n;

    if (info->kind != PW_VALUE_TENSOR || info->rank < 0)
        return false;
    for (int d = 0; d < info->rank; d++)
        if (!pw_dims_value(dims, info->dims[d], &n) || __builtin_mul_overflow(count, n, &count))
            return false;
    if (__builtin_mul_overflow(count, (int64_t)pw_dtype_bytes(info->dtype), &bytes) ||
        __builtin_add_overflow(*total, bytes, total))
        return false;
    m->most = count > m->most ? count : m->most;
    m->whole &= pw_dtype_is_integer(info->dtype) || info->dtype == PW_DTYPE_BOOL;
    if (total == &m->in && bytes > m->widest)
        m->widest = bytes;
    return true;
}

static bool measure(const struct pw_call *call, struct measure *m)
{
    bool known = true;

    *m = (struct measure){.whole = true};
    for (int i = 0; i < call->input_count && known; i++)
        known = !call->in[i] || add_tensor(m, call->dims, call->in[i], &m->in);
    for (int i = 0; i < call->output_count && known; i++)
        known = !call->wanted[i] || add_tensor(m, call->dims, &call->out[i], &m->out);
    return known && m->in <= INT64_MAX / 8 && m->out <= INT64_MAX / 8;
}

/* The inputs beside what the device has of them, one being copied, and its outputs; then the outputs there and here;
 * then what came out, the inputs drawn again, and golden. */
static int64_t bytes_of(const struct pw_call *call, const struct pw_device *device)
{
    const struct pw_target_info *info = pw_device_info(device);
    struct measure m;

    if (!measure(call, &m))
        return 0;
    return m.in + (m.widest > m.out ? m.widest : m.out) + m.out + (info && info->shares_host_memory ? 0 : m.in + m.out);
}

static int64_t available_bytes(void)
{
    FILE *file = fopen("/proc/meminfo", "r");
    char line[128];
    long long kilobytes = 0;

    while (file && fgets(line, sizeof line, file))
        if (sscanf(line, "MemAvailable: %lld kB", &kilobytes) == 1)
            break;
    if (file)
        fclose(file);
    return kilobytes > 0 ? (int64_t)kilobytes * 1024 : 0;
}

bool pw_huge_affordable(int64_t need_bytes, struct pw_buf *why)
{
    int64_t available = available_bytes();

    if (need_bytes > 0 && available / TIMES >= need_bytes)
        return true;
    pw_buf_printf(why, "needs %.1f GiB of memory, and for safety %d times that; %.1f GiB are available",
                  (double)need_bytes / (1 << 30), TIMES, (double)available / (1 << 30));
    return false;
}

/* ---- the call ---- */

/* Their references make of a tensor something wider, or many times as large. */
static bool stays_small(const struct pw_op *op)
{
    static const char *const wide[] = {"Pow", "Unique"};
    static const pw_category categories[] = {PW_CATEGORY_ELEMENTWISE, PW_CATEGORY_ACTIVATION, PW_CATEGORY_LAYOUT,
                                             PW_CATEGORY_EMBEDDING};
    bool good = false;

    for (size_t i = 0; i < sizeof categories / sizeof *categories; i++)
        good |= op->category == categories[i];
    for (size_t i = 0; i < sizeof wide / sizeof *wide; i++)
        good &= strcmp(op->name, wide[i]) != 0;
    return good && !op->random && !op->most;
}

/* A call of a spec, for as long as it is looked at. */
struct made {
    struct pw_arena arena;
    struct pw_dims *dims;
    struct pw_call call;
};

static bool make(const struct pw_signature *signature, const struct pw_case_spec *spec, struct made *made)
{
    struct pw_buf why = {0};
    bool good;

    *made = (struct made){.dims = NULL};
    good = pw_dims_create(&made->dims, NULL) == PW_OK &&
           pw_case_call(signature, spec, made->dims, &made->arena, &made->call, &why, NULL) == PW_OK && !why.size;
    pw_buf_clear(&why);
    return good;
}

static void made_clear(struct made *made)
{
    pw_dims_destroy(made->dims);
    pw_arena_clear(&made->arena);
}

bool pw_huge_is(const struct pw_signature *signature, const struct pw_case_spec *spec, int64_t threshold)
{
    struct made made;
    struct measure m = {0};
    bool huge;

    if (!spec->change_count || spec->dist == PW_DIST_CAPTURED || spec->property[0])
        return false;
    huge = make(signature, spec, &made) && measure(&made.call, &m) && m.most >= threshold && m.whole &&
           stays_small(signature->op);
    made_clear(&made);
    return huge;
}

int64_t pw_huge_need(const struct pw_signature *signature, const struct pw_case_spec *spec,
                     const struct pw_device *device)
{
    struct made made;
    int64_t need = make(signature, spec, &made) ? bytes_of(&made.call, device) : 0;

    made_clear(&made);
    return need;
}

/* ---- the size ---- */

static bool size_of(const struct pw_shapes *shapes, const struct pw_shape_group *group, int64_t value, pw_dtype dtype,
                    struct pw_case_spec *spec, struct measure *m)
{
    struct made made;
    pw_slot_values values;
    bool good;

    *spec = (struct pw_case_spec){.dist = PW_DIST_UNIFORM, .seed = shapes->request->seed, .dtype = dtype};
    pw_shapes_graph_values(shapes, values);
    for (int s = 0; s < shapes->slot_count; s++)
        if (group->slots >> s & 1)
            values[s] = value;
    if (!pw_shapes_write(shapes, values, spec))
        return false;
    good = make(shapes->signature, spec, &made) && measure(&made.call, m);
    made_clear(&made);
    return good;
}

/* The least size of the group, a multiple of its step, with which the largest tensor is huge. */
static bool grow(const struct pw_shapes *shapes, const struct pw_shape_group *group, pw_dtype dtype, int64_t wanted,
                 struct pw_case_spec *spec)
{
    int64_t low = 0, high = group->step > 1 ? group->step : 1, step = high;
    struct measure m = {0};

    while (size_of(shapes, group, high, dtype, spec, &m) && m.most < wanted && high < LARGEST) {
        low = high;
        high *= 2;
    }
    if (high >= LARGEST || m.most < wanted || !m.whole)
        return false;
    while (high - low > step) {
        int64_t middle = low + (high - low) / step / 2 * step;

        if (!size_of(shapes, group, middle, dtype, spec, &m))
            return false;
        if (m.most < wanted)
            low = middle;
        else
            high = middle;
    }
    return size_of(shapes, group, high, dtype, spec, &m);
}

/* What it needs when a kernel or the library of the target serves it, else 0 with the reason. */
static int64_t need_of(const struct pw_shapes *shapes, const struct pw_case_spec *spec, struct pw_buf *why)
{
    struct made made;
    struct pw_impl_list list = {0};
    int64_t need = 0;

    if (make(shapes->signature, spec, &made) &&
        pw_impl_find(&made.call, shapes->request->kernels, shapes->request->device, &made.arena, &list, NULL) ==
            PW_OK) {
        if (list.selected >= 0 && list.coverage < PW_COVERAGE_HOST) {
            need = bytes_of(&made.call, shapes->request->device);
        } else if (list.reason && !why->size) { /* of the narrowest dtype */
            pw_buf_puts(why, list.reason);
        }
    }
    made_clear(&made);
    return need;
}

/* The spec of the first dims that grow in this dtype, unless others need much less: along an outer axis what is chosen
 * of the input (Slice, Gather) comes from its far end too. */
static int64_t best_in(const struct pw_shapes *shapes, pw_dtype dtype, struct pw_case_spec *best, struct pw_buf *why)
{
    int64_t least = 0, wanted = pw_huge_threshold(shapes->request) + PW_HUGE_BEYOND;

    for (size_t g = 0; g < shapes->group_count; g++) {
        struct pw_case_spec spec;
        int64_t need = grow(shapes, &shapes->groups[g], dtype, wanted, &spec) ? need_of(shapes, &spec, why) : 0;

        if (need > 0 && (least == 0 || need < least - least / 3)) {
            least = need;
            *best = spec;
        }
    }
    return least;
}

bool pw_huge_plan(const struct pw_shapes *shapes, struct pw_case_spec *spec, struct pw_buf *why)
{
    static const pw_dtype order[] = {PW_DTYPE_INT8,  PW_DTYPE_UINT8,  PW_DTYPE_BOOL,  PW_DTYPE_INT16, PW_DTYPE_UINT16,
                                     PW_DTYPE_INT32, PW_DTYPE_UINT32, PW_DTYPE_INT64, PW_DTYPE_UINT64};
    int64_t threshold = pw_huge_threshold(shapes->request), need = 0;
    unsigned asked = shapes->request->effort.dtypes;
    struct pw_buf reason = {0};

    *spec = (struct pw_case_spec){.dist = PW_DIST_UNIFORM, .seed = shapes->request->seed};
    if (!stays_small(shapes->signature->op)) {
        pw_buf_puts(why, "no huge case: its reference would need its tensors several times as wide");
        return false;
    }
    for (size_t i = 0; i < sizeof order / sizeof *order && !need; i++)
        if (!asked || asked >> order[i] & 1)
            need = best_in(shapes, order[i], spec, &reason);
    if (!need) {
        pw_buf_printf(why, "no huge case: no axis grows to %lld elements of integers or booleans on the target%s%s",
                      (long long)threshold, reason.size ? ": " : "", pw_buf_text(&reason));
    }
    pw_buf_clear(&reason);
    return !why->size;
}
