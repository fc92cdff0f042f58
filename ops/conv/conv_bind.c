/*
 * What the convolution kernels are told.
 *
 * Conv and ConvTranspose are one computation on the device. An output pixel reads a padded copy of
 * the input at start + tap offset. For Conv every pixel has the same taps. For ConvTranspose the
 * output falls into phases, one for each remainder of a position by the strides: within a phase
 * the taps are the same and neighbouring pixels read neighbouring inputs, so a phase is a plain
 * convolution with stride 1 that writes every stride-th pixel. The tables below say for each phase
 * how many pixels it has along each axis, where it starts in input and output, and which taps it
 * uses (as offsets into the padded plane and as positions in the weights).
 */
#include "ops/conv/conv.h"

#define MAX_PHASES 1024
#define MAX_TAPS 65536

struct axis_class {
    int64_t count;    /* pixels along the axis */
    int64_t in_start; /* position in the input (may be negative: padding) of the first pixel at tap shift 0 */
    int64_t out_start;
    int64_t first_tap; /* taps first_tap, first_tap + tap_step, … */
    int64_t tap_step;
    int64_t taps;
    int64_t shift; /* position change of the first tap */
    int64_t shift_step;
};

struct axis {
    struct axis_class *classes;
    int64_t class_count;
    int64_t in_step, out_step; /* from one pixel to the next */
    int64_t low, extent;       /* the padded axis: its first position and its length */
    int64_t pitch, out_pitch;  /* elements from one position to the next */
};

struct tables {
    int64_t phase_count, tap_count, axes;
    int64_t *phase_taps;  /* [phases + 1] first tap of each phase */
    int64_t *phase_tiles; /* [phases + 1] first tile of PIXELS pixels */
    int64_t *phase_dims;  /* [phases * axes] pixels */
    int64_t *phase_in, *phase_out;
    int64_t *tap_offset, *tap_index;
};

#define PIXELS 16 /* a tile of the kernel */

static int64_t ceil_div(int64_t a, int64_t b)
{
    return a >= 0 ? (a + b - 1) / b : -(-a / b);
}

static int64_t floor_div(int64_t a, int64_t b)
{
    return a >= 0 ? a / b : -((-a + b - 1) / b);
}

static int64_t gcd(int64_t a, int64_t b)
{
    while (b != 0) {
        int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* The one class of a plain convolution. */
static void slide_axis(struct axis *axis, const struct pw_window_numbers *n, int a)
{
    axis->classes[0] = (struct axis_class){.count = n->out[a],
                                           .in_start = -n->pad_begin[a],
                                           .tap_step = 1,
                                           .taps = n->kernel[a],
                                           .shift_step = n->dilation[a]};
    axis->class_count = 1;
    axis->in_step = n->stride[a];
    axis->out_step = 1;
}

/* Output o = s q + r - pad. Taps with k d = r (mod s) reach it, from input q - (k d - r) / s. */
static void spread_axis(struct axis *axis, const struct pw_window_numbers *n, int a)
{
    int64_t s = n->stride[a], d = n->dilation[a], pad = n->pad_begin[a];
    axis->class_count = 0;
    axis->in_step = 1;
    axis->out_step = s;
    for (int64_t r = 0; r < s; r++) {
        int64_t first = ceil_div(pad - r, s), last = floor_div(n->out[a] - 1 + pad - r, s);
        if (last < first)
            continue;
        struct axis_class *class = &axis->classes[axis->class_count++];
        *class = (struct axis_class){.count = last - first + 1,
                                     .in_start = first,
                                     .out_start = s * first + r - pad,
                                     .tap_step = s / gcd(s, d),
                                     .shift_step = -(d / gcd(s, d))};
        for (int64_t k = 0; k < n->kernel[a] && k < class->tap_step; k++) {
            if (k * d % s != r)
                continue;
            class->first_tap = k;
            class->taps = (n->kernel[a] - k + class->tap_step - 1) / class->tap_step;
            class->shift = -((k * d - r) / s);
            break;
        }
    }
}

/* Which positions of the input an axis reads; the padded copy holds just these. */
static void measure_axis(struct axis *axis)
{
    int64_t low = INT64_MAX, high = INT64_MIN;
    for (int64_t i = 0; i < axis->class_count; i++) {
        const struct axis_class *c = &axis->classes[i];
        int64_t start = c->in_start, end = start + (c->count - 1) * axis->in_step;
        int64_t first = c->shift, last = c->shift + (c->taps - 1) * c->shift_step;
        if (c->taps == 0)
            continue;
        low = start + (first < last ? first : last) < low ? start + (first < last ? first : last) : low;
        high = end + (first > last ? first : last) > high ? end + (first > last ? first : last) : high;
    }
    axis->low = low == INT64_MAX ? 0 : low;
    axis->extent = low == INT64_MAX ? 1 : high - low + 1;
}

static pw_status make_axes(const struct pw_call *call, const struct pw_window_numbers *n, bool transposed,
                           struct axis *axes, bool *fits, struct pw_error *err)
{
    int64_t phases = 1;
    *fits = n->taps <= MAX_TAPS && n->out_size > 0;
    for (int a = 0; transposed && a < n->axes; a++)
        *fits = *fits && n->stride[a] <= MAX_PHASES && (phases *= n->stride[a]) <= MAX_PHASES;
    if (!*fits)
        return PW_OK;
    for (int a = 0; a < n->axes; a++) {
        size_t classes = transposed ? (size_t)n->stride[a] : 1;
        axes[a].classes = pw_arena_alloc(call->arena, classes, sizeof *axes[a].classes);
        if (!axes[a].classes)
            return pw_error_memory(err, classes * sizeof *axes[a].classes);
        if (transposed)
            spread_axis(&axes[a], n, a);
        else
            slide_axis(&axes[a], n, a);
        measure_axis(&axes[a]);
    }
    return PW_OK;
}

/* Where no axis reads outside the input, the input itself serves. Then sets the pitches. */
static bool settle_padding(const struct pw_window_numbers *n, struct axis *axes, int64_t *plane)
{
    bool padded = false;
    int64_t out_pitch = 1;
    for (int a = 0; a < n->axes; a++)
        padded = padded || axes[a].low < 0 || axes[a].low + axes[a].extent > n->in[a];
    *plane = 1;
    for (int a = n->axes - 1; a >= 0; a--) {
        if (!padded) {
            axes[a].low = 0;
            axes[a].extent = n->in[a];
        }
        axes[a].pitch = *plane;
        axes[a].out_pitch = out_pitch;
        out_pitch *= n->out[a];
        if (__builtin_mul_overflow(*plane, axes[a].extent, plane))
            *plane = INT64_MAX;
    }
    return padded;
}

static pw_status allocate(const struct pw_call *call, struct tables *t, int64_t phases, int64_t taps,
                          struct pw_error *err)
{
    struct pw_arena *arena = call->arena;
    size_t p = (size_t)phases;
    t->phase_taps = pw_arena_alloc(arena, p + 1, sizeof(int64_t));
    t->phase_tiles = pw_arena_alloc(arena, p + 1, sizeof(int64_t));
    t->phase_dims = pw_arena_alloc(arena, p * (size_t)t->axes, sizeof(int64_t));
    t->phase_in = pw_arena_alloc(arena, p, sizeof(int64_t));
    t->phase_out = pw_arena_alloc(arena, p, sizeof(int64_t));
    t->tap_offset = pw_arena_alloc(arena, (size_t)taps, sizeof(int64_t));
    t->tap_index = pw_arena_alloc(arena, (size_t)taps, sizeof(int64_t));
    if (!t->phase_taps || !t->phase_tiles || !t->phase_dims || !t->phase_in || !t->phase_out || !t->tap_offset ||
        !t->tap_index)
        return pw_error_memory(err, (size_t)taps * sizeof(int64_t));
    return PW_OK;
}

/* The taps of the phase made of one class an axis. */
static void list_taps(const struct axis *axes, const struct axis_class *const *classes, int axis_count,
                      const struct pw_window_numbers *n, struct tables *t)
{
    int64_t total = 1;
    for (int a = 0; a < axis_count; a++)
        total *= classes[a]->taps;
    for (int64_t i = 0; i < total; i++) {
        int64_t rest = i, offset = 0, index = 0, weight_pitch = 1;
        for (int a = axis_count - 1; a >= 0; a--) {
            const struct axis_class *c = classes[a];
            int64_t j = rest % c->taps;
            rest /= c->taps;
            offset += (c->shift + j * c->shift_step) * axes[a].pitch;
            index += (c->first_tap + j * c->tap_step) * weight_pitch;
            weight_pitch *= n->kernel[a];
        }
        t->tap_offset[t->tap_count] = offset;
        t->tap_index[t->tap_count++] = index;
    }
}

static void add_phase(const struct axis *axes, const int64_t *chosen, const struct pw_window_numbers *n,
                      struct tables *t)
{
    const struct axis_class *classes[PW_WINDOW_AXES];
    int64_t f = t->phase_count++, pixels = 1;
    for (int a = 0; a < n->axes; a++) {
        classes[a] = &axes[a].classes[chosen[a]];
        t->phase_dims[f * t->axes + a] = classes[a]->count;
        t->phase_in[f] += (classes[a]->in_start - axes[a].low) * axes[a].pitch;
        t->phase_out[f] += classes[a]->out_start * axes[a].out_pitch;
        pixels *= classes[a]->count;
    }
    list_taps(axes, classes, n->axes, n, t);
    t->phase_taps[f + 1] = t->tap_count;
    t->phase_tiles[f + 1] = t->phase_tiles[f] + (pixels + PIXELS - 1) / PIXELS;
}

static pw_status fill_tables(const struct pw_call *call, const struct axis *axes, const struct pw_window_numbers *n,
                             struct tables *t, struct pw_error *err)
{
    int64_t phases = 1, chosen[PW_WINDOW_AXES] = {0};
    for (int a = 0; a < n->axes; a++)
        phases *= axes[a].class_count;
    *t = (struct tables){.axes = n->axes};
    pw_status status = allocate(call, t, phases, n->taps, err);
    for (int64_t f = 0; status == PW_OK && f < phases; f++) {
        add_phase(axes, chosen, n, t);
        for (int a = n->axes - 1; a >= 0 && ++chosen[a] == axes[a].class_count; a--)
            chosen[a] = 0;
    }
    return status;
}

struct named_ints {
    const char *name;
    const int64_t *values;
    int64_t count;
};

static pw_status bind_arrays(struct pw_bindings *b, const struct named_ints *arrays, size_t count, struct pw_error *err)
{
    pw_status status = PW_OK;
    for (size_t i = 0; status == PW_OK && i < count; i++)
        status = pw_bind_ints(b, arrays[i].name, arrays[i].values, (size_t)arrays[i].count, err);
    return status;
}

static pw_status bind_axes(struct pw_bindings *b, const struct axis *axes, const struct pw_window_numbers *n,
                           struct pw_error *err)
{
    int64_t low[PW_WINDOW_AXES], extent[PW_WINDOW_AXES], in_step[PW_WINDOW_AXES], out_step[PW_WINDOW_AXES];
    for (int a = 0; a < n->axes; a++) {
        low[a] = axes[a].low;
        extent[a] = axes[a].extent;
        in_step[a] = axes[a].in_step * axes[a].pitch;
        out_step[a] = axes[a].out_step * axes[a].out_pitch;
    }
    const struct named_ints arrays[] = {
        {"pad_low", low, n->axes},     {"pad_extent", extent, n->axes}, {"in_dims", n->in, n->axes},
        {"in_step", in_step, n->axes}, {"out_step", out_step, n->axes},
    };
    return bind_arrays(b, arrays, sizeof arrays / sizeof *arrays, err);
}

static pw_status bind_tables(struct pw_bindings *b, const struct tables *t, struct pw_error *err)
{
    const struct named_ints arrays[] = {
        {"phase_taps", t->phase_taps, t->phase_count + 1},
        {"phase_tiles", t->phase_tiles, t->phase_count + 1},
        {"phase_dims", t->phase_dims, t->phase_count * t->axes},
        {"phase_in", t->phase_in, t->phase_count},
        {"phase_out", t->phase_out, t->phase_count},
        {"tap_offset", t->tap_offset, t->tap_count},
        {"tap_index", t->tap_index, t->tap_count},
    };
    return bind_arrays(b, arrays, sizeof arrays / sizeof *arrays, err);
}

/* Names that every kernel of the room may use. */
static pw_status bind_geometry(struct pw_bindings *b, const struct pw_conv_geometry *g, bool transposed,
                               struct pw_error *err)
{
    const struct pw_window_numbers *n = &g->window;
    int64_t block = g->group_channels * g->group_maps * n->taps;
    const struct pw_named_int numbers[] = {
        {"batch", g->batch},
        {"channels", g->channels},
        {"maps", g->maps},
        {"groups", g->groups},
        {"group_channels", g->group_channels},
        {"group_maps", g->group_maps},
        {"axes", n->axes},
        {"taps", n->taps},
        {"in_size", n->in_size},
        {"out_size", n->out_size},
        {"weight_map", transposed ? n->taps : g->group_channels * n->taps},
        {"weight_channel", transposed ? g->group_maps * n->taps : n->taps},
        {"weight_group", block},
    };
    return pw_bind_numbers(b, numbers, sizeof numbers / sizeof *numbers, err);
}

/* What descriptions' expressions use of the tables; zeros where there are none. */
static pw_status bind_summary(struct pw_bindings *b, const struct pw_conv_geometry *g, const struct axis *axes,
                              bool padded, int64_t plane, const struct tables *t, bool transposed, struct pw_error *err)
{
    int last = g->window.axes - 1;
    const struct pw_named_int numbers[] = {
        {"tables_fit", t->phase_count > 0},
        {"padded", padded},
        {"plane", plane},
        {"phases", t->phase_count},
        {"tiles", t->phase_count > 0 ? t->phase_tiles[t->phase_count] : 0},
        {"depthwise", g->group_channels == 1 && g->groups > 1 && !transposed},
        {"row_step", axes[last].in_step},
        {"row_padded", axes[last].extent > 0 ? axes[last].extent : 1},
        {"row_out", g->window.out[last]},
    };
    return pw_bind_numbers(b, numbers, sizeof numbers / sizeof *numbers, err);
}

pw_status pw_conv_bind(const struct pw_call *call, struct pw_bindings *b, struct pw_error *err)
{
    const struct pw_conv_kind *kind = pw_conv_kind_of(call);
    struct pw_conv_geometry g = {0};
    struct axis axes[PW_WINDOW_AXES] = {{0}};
    struct tables t = {0};
    bool fits = false, padded = false;
    int64_t plane = 0;
    pw_status status = pw_conv_geometry(call, &g, err);
    if (status == PW_OK)
        status = bind_geometry(b, &g, kind->transposed, err);
    if (status == PW_OK)
        status = make_axes(call, &g.window, kind->transposed, axes, &fits, err);
    if (status == PW_OK && fits) {
        padded = settle_padding(&g.window, axes, &plane);
        status = fill_tables(call, axes, &g.window, &t, err);
    }
    if (status == PW_OK)
        status = bind_summary(b, &g, axes, padded, plane, &t, kind->transposed, err);
    if (status != PW_OK || !fits)
        return status;
    status = bind_axes(b, axes, &g.window, err);
    return status == PW_OK ? bind_tables(b, &t, err) : status;
}

/* The window's own arrays, for kernels that compute positions. */
static pw_status bind_window(struct pw_bindings *b, const struct pw_window_numbers *n, struct pw_error *err)
{
    const struct named_ints arrays[] = {
        {"in_dims", n->in, n->axes},       {"out_dims", n->out, n->axes},         {"kernel_dims", n->kernel, n->axes},
        {"stride_of", n->stride, n->axes}, {"dilation_of", n->dilation, n->axes}, {"pad_of", n->pad_begin, n->axes},
    };
    const struct pw_named_int numbers[] = {
        {"axes", n->axes}, {"taps", n->taps}, {"in_size", n->in_size}, {"out_size", n->out_size}};
    pw_status status = bind_arrays(b, arrays, sizeof arrays / sizeof *arrays, err);
    return status == PW_OK ? pw_bind_numbers(b, numbers, sizeof numbers / sizeof *numbers, err) : status;
}

pw_status pw_deform_bind(const struct pw_call *call, struct pw_bindings *b, struct pw_error *err)
{
    struct pw_conv_geometry g = {0};
    int64_t offset_groups = 1;
    pw_status status = pw_deform_geometry(call, &g, &offset_groups, err);
    const struct pw_named_int numbers[] = {
        {"batch", g.batch},
        {"channels", g.channels},
        {"maps", g.maps},
        {"groups", g.groups},
        {"group_channels", g.group_channels},
        {"group_maps", g.group_maps},
        {"offset_groups", offset_groups},
    };
    /* The columns are then a pointwise convolution of one phase with one tap. */
    const int64_t none = 0, one_step = 1, one_tap[2] = {0, 1}, pixels = g.window.out_size;
    const int64_t all_tiles[2] = {0, (pixels + PIXELS - 1) / PIXELS};
    const struct named_ints arrays[] = {
        {"no_offset", &none, 1},     {"one_step", &one_step, 1}, {"one_tap", one_tap, 2},
        {"all_tiles", all_tiles, 2}, {"all_pixels", &pixels, 1},
    };
    if (status == PW_OK)
        status = pw_bind_numbers(b, numbers, sizeof numbers / sizeof *numbers, err);
    if (status == PW_OK)
        status = bind_arrays(b, arrays, sizeof arrays / sizeof *arrays, err);
    return status == PW_OK ? bind_window(b, &g.window, err) : status;
}

pw_status pw_col2im_bind(const struct pw_call *call, struct pw_bindings *b, struct pw_error *err)
{
    struct pw_window w;
    struct pw_window_numbers n;
    bool known = false;
    pw_status status = pw_col2im_window(call, &w, &known, err);
    if (status == PW_OK && !known)
        status = pw_call_error(call, err, "image_shape and block_shape are not known");
    if (status == PW_OK)
        status = pw_window_numbers(call, &w, &n, err);
    return status == PW_OK ? bind_window(b, &n, err) : status;
}
