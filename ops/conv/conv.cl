/*
 * Conv and ConvTranspose, any number of axes, strides, dilations, groups and pads.
 *
 * One work-item makes a tile of 16 output pixels for a chunk of up to CHUNK panels of 6 feature maps:
 *   for each block of KC terms (channel, tap): gather the samples under the 16 pixels into a private
 *   array [KC][16]; for each panel: 6 x 16 accumulators in registers += 6 weights x 16 samples.
 * So the columns of an im2col product exist only in the innermost cache, and the product runs as a
 * register-tiled matrix product. The weights are packed once, [group][panel][phase][term][6].
 *
 * The samples come from P: the input itself, or a copy with the padding around it, so that gathering
 * needs no bounds: pixel i of a phase reads P[in(i) + tap offset]. The tables of conv_bind.c say where.
 * Where the 16 pixels lie side by side (stride 1 within a row, or a pointwise kernel) a sample row is
 * one vector load, where they lie in two rows two loads and a select, else 16 loads.
 *
 * INTEGER (conv_integer.cl goes before): int instead of float, zero points subtracted while copying.
 */
#ifndef WORK
#define WORK PW_COMPUTE(X)
#define WORK16 PW_COMPUTE16(X)
#define WORK8 PW_COMPUTE8(X)
#define WORK4 PW_COMPUTE4(X)
#define FROM_X(i) PW_LOAD(X, i)
#define FROM_W(i, m) PW_LOAD(W, i)
#define MULTIPLY_ADD(a, b, c) fma(a, b, c)
#define X_ZERO_PARAMETER
#define W_ZERO_PARAMETER
#define FINISH_PARAMETERS __global const PW_TYPE(Y) *B,
#define START(m) (B ? PW_AT_LOAD(Y, B, m) : (WORK)0)
#define FINISH16(at, value, m) PW_STORE16(Y, at, value)
#define FINISH(at, value, m) PW_STORE(Y, at, value)
#endif

#if PW_IS_DOUBLE(X)
#define SELECT16(a, b, mask) select(a, b, convert_long16(mask))
#else
#define SELECT16(a, b, mask) select(a, b, mask)
#endif

#define MR 6
#define NR 16
#define KC 256
#define CHUNK 32

/* A copy of planes with padding around (or without what no window reaches). Rows are those of the padded planes. */
__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void
conv_pad(__global const PW_TYPE(X) *X, X_ZERO_PARAMETER __global WORK *P, __global const int *in_dims,
         __global const int *pad_low, __global const int *pad_extent, int axes, int in_size, int rows, int rows_each)
{
    const int last = axes - 1;
    const int extent = pad_extent[last], low = pad_low[last], width = in_dims[last];
    const int begin = (int)get_global_id(0) * rows_each, end = min(rows, begin + rows_each);
    const int from = clamp(-low, 0, extent), to = clamp(width - low, from, extent);

    for (int row = begin; row < end; row++) {
        __global WORK *out = P + (size_t)row * extent;
        size_t offset = 0, pitch = width;
        int rest = row, inside = 1;
        for (int a = last - 1; a >= 0; a--) {
            const int at = rest % pad_extent[a] + pad_low[a];
            rest /= pad_extent[a];
            inside &= at >= 0 && at < in_dims[a];
            offset += at * pitch;
            pitch *= in_dims[a];
        }
        offset += (size_t)rest * in_size;
        const int start = inside ? from : extent, stop = inside ? to : extent;
        for (int i = 0; i < start; i++)
            out[i] = 0;
        for (int i = start; i < stop; i++)
            out[i] = FROM_X(offset + i + low);
        for (int i = stop; i < extent; i++)
            out[i] = 0;
    }
}

/* Weights as panels of 6 maps: work-item (panel, group). Terms are ordered (phase, channel, tap of the phase). */
__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void
conv_pack(__global const PW_TYPE(W) *W, W_ZERO_PARAMETER __global WORK *packed, __global const int *phase_taps,
          __global const int *tap_index, int phases, int taps, int group_channels, int group_maps, int weight_map,
          int weight_channel, int weight_group)
{
    const int panel = get_global_id(0), group = get_global_id(1), panels = get_global_size(0);
    __global WORK *out = packed + ((size_t)group * panels + panel) * group_channels * taps * MR;

    for (int f = 0; f < phases; f++) {
        for (int c = 0; c < group_channels; c++) {
            for (int t = phase_taps[f]; t < phase_taps[f + 1]; t++) {
                for (int r = 0; r < MR; r++) {
                    const int m = panel * MR + r;
                    const size_t at = (size_t)group * weight_group + (size_t)m * weight_map +
                                      (size_t)c * weight_channel + tap_index[t];
                    *out++ = m < group_maps ? FROM_W(at, group * group_maps + m) : (WORK)0;
                }
            }
        }
    }
}

/* Where the 16 pixels from `base` on read and write; *second: first lane that lies in another row (16: none). */
typedef enum { TOGETHER, TWO_ROWS, SCATTERED } tile_form;

static inline tile_form place_pixels(int base, int count, int axes, __global const int *dims, __global const int *in_step,
                                     __global const int *out_step, int in_start, int out_start, int *in_at, int *out_at,
                                     int *second)
{
    int breaks = 0;
    *second = NR;
    for (int i = 0; i < NR; i++) {
        int rest = base + min(i, count - 1);
        in_at[i] = in_start;
        out_at[i] = out_start;
        for (int a = axes - 1; a >= 0; a--) {
            const int at = rest % dims[a];
            rest /= dims[a];
            in_at[i] += at * in_step[a];
            out_at[i] += at * out_step[a];
        }
        if (i > 0 && in_at[i] != in_at[i - 1] + 1) {
            breaks += in_at[i] > in_at[i - 1] ? 1 : 2;
            *second = breaks == 1 ? i : *second;
        }
    }
    return breaks == 0 ? TOGETHER : breaks == 1 ? TWO_ROWS : SCATTERED;
}

/* Terms [k0, k0 + count) for the 16 pixels into b. */
static inline void gather(__global const WORK *x, size_t plane, __global const int *offsets, int taps, int k0, int count,
                          tile_form form, const int *at, int second, WORK *b)
{
    int c = k0 / taps, t = k0 % taps;
    const int16 lanes = (int16)(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    const int16 in_second = lanes >= (int16)(second);
    const int first = at[0], shifted = at[NR - 1] - (NR - 1);

    for (int k = 0; k < count; k++) {
        __global const WORK *from = x + c * plane + offsets[t];
        if (form == TOGETHER) {
            vstore16(vload16(0, from + first), 0, b + k * NR);
        } else if (form == TWO_ROWS) {
            const WORK16 low = vload16(0, from + first), high = vload16(0, from + shifted);
            vstore16(SELECT16(low, high, in_second), 0, b + k * NR);
        } else {
            for (int i = 0; i < NR; i++)
                b[k * NR + i] = from[at[i]];
        }
        if (++t == taps) {
            t = 0;
            c++;
        }
    }
}

#define STEP(k) \
    { \
        const WORK16 s = vload16(0, b + (k) * NR); \
        __global const WORK *w = a + (k) * MR; \
        c0 = MULTIPLY_ADD((WORK16)(w[0]), s, c0); \
        c1 = MULTIPLY_ADD((WORK16)(w[1]), s, c1); \
        c2 = MULTIPLY_ADD((WORK16)(w[2]), s, c2); \
        c3 = MULTIPLY_ADD((WORK16)(w[3]), s, c3); \
        c4 = MULTIPLY_ADD((WORK16)(w[4]), s, c4); \
        c5 = MULTIPLY_ADD((WORK16)(w[5]), s, c5); \
    }

/* acc[6][16] += a[count][6] * b[count][16] */
static inline void panel_product(__global const WORK *a, const WORK *b, int count, WORK *acc)
{
    WORK16 c0 = vload16(0, acc), c1 = vload16(1, acc), c2 = vload16(2, acc);
    WORK16 c3 = vload16(3, acc), c4 = vload16(4, acc), c5 = vload16(5, acc);
    int k = 0;

    for (; k + 4 <= count; k += 4) {
        STEP(k)
        STEP(k + 1)
        STEP(k + 2)
        STEP(k + 3)
    }
    for (; k < count; k++)
        STEP(k)
    vstore16(c0, 0, acc);
    vstore16(c1, 1, acc);
    vstore16(c2, 2, acc);
    vstore16(c3, 3, acc);
    vstore16(c4, 4, acc);
    vstore16(c5, 5, acc);
}

/* Work-item (tile, chunk, image * groups + group). */
__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void
conv_tiles(__global const WORK *P, __global const WORK *packed, FINISH_PARAMETERS __global PW_TYPE(Y) *Y,
           __global const int *phase_taps, __global const int *phase_tiles, __global const int *phase_dims,
           __global const int *phase_in, __global const int *phase_out, __global const int *tap_offset,
           __global const int *in_step, __global const int *out_step, int axes, int taps, int groups,
           int group_channels, int group_maps, int plane, int out_size, int panels, int chunk)
{
    const int tile = get_global_id(0), part = get_global_id(2), group = part % groups;
    const int panel0 = (int)get_global_id(1) * chunk, panel1 = min(panels, panel0 + chunk);
    WORK b[KC * NR], acc[CHUNK * MR * NR];
    int in_at[NR], out_at[NR], f = 0, pixels = 1, second;

    while (tile >= phase_tiles[f + 1])
        f++;
    __global const int *dims = phase_dims + f * axes;
    for (int a = 0; a < axes; a++)
        pixels *= dims[a];
    const int base = (tile - phase_tiles[f]) * NR, count = min(NR, pixels - base);
    const tile_form form = place_pixels(base, count, axes, dims, in_step, out_step, phase_in[f], phase_out[f], in_at,
                                        out_at, &second);
    const int phase_count = phase_taps[f + 1] - phase_taps[f], terms = phase_count * group_channels;
    __global const WORK *x = P + (size_t)part * group_channels * plane;
    const size_t panel_size = (size_t)group_channels * taps * MR;
    __global const WORK *weights =
        packed + (size_t)group * panels * panel_size + (size_t)phase_taps[f] * group_channels * MR;

    for (int m = panel0 * MR; m < panel1 * MR; m++) {
        const WORK start = m < group_maps ? (WORK)START(group * group_maps + m) : (WORK)0;
        vstore16((WORK16)(start), m - panel0 * MR, acc);
    }
    for (int k0 = 0; k0 < terms; k0 += KC) {
        const int k_count = min(KC, terms - k0);
        gather(x, plane, tap_offset + phase_taps[f], phase_count, k0, k_count, form, in_at, second, b);
        for (int panel = panel0; panel < panel1; panel++)
            panel_product(weights + panel * panel_size + (size_t)k0 * MR, b, k_count,
                          acc + (panel - panel0) * MR * NR);
    }
    const int together = count == NR && out_at[NR - 1] - out_at[0] == NR - 1;
    for (int m = panel0 * MR; m < min(panel1 * MR, group_maps); m++) {
        const size_t to = ((size_t)part * group_maps + m) * out_size;
        const WORK *from = acc + (m - panel0 * MR) * NR;
        if (together) {
            FINISH16(to + out_at[0], vload16(0, from), group * group_maps + m);
        } else {
            for (int i = 0; i < count; i++)
                FINISH(to + out_at[i], from[i], group * group_maps + m);
        }
    }
}

#ifndef INTEGER
/*
 * Depthwise: each group has one channel. A work-item pads one plane at a time into its own scratch
 * (which stays in its cache) and slides over rows, 16 pixels at a time (8 at stride 2 and at the end of a
 * row). The scratch has 64 elements to spare, so the last load of a row may reach past it.
 */
static inline void pad_plane(__global const PW_TYPE(X) *X, size_t offset, __global WORK *P, __global const int *in_dims,
                             __global const int *pad_low, __global const int *pad_extent, int axes, int plane)
{
    const int last = axes - 1, extent = pad_extent[last], low = pad_low[last], width = in_dims[last];
    const int from = clamp(-low, 0, extent), to = clamp(width - low, from, extent);

    for (int row = 0; row < plane / extent; row++) {
        __global WORK *out = P + row * extent;
        size_t at = offset, pitch = width;
        int rest = row, inside = 1;
        for (int a = last - 1; a >= 0; a--) {
            const int position = rest % pad_extent[a] + pad_low[a];
            rest /= pad_extent[a];
            inside &= position >= 0 && position < in_dims[a];
            at += position * pitch;
            pitch *= in_dims[a];
        }
        const int start = inside ? from : extent, stop = inside ? to : extent;
        int i = 0;
        for (; i < start; i++)
            out[i] = 0;
        for (; i + 16 <= stop; i += 16)
            vstore16(PW_AT_LOADN(X, 16, X, at + i + low), 0, out + i);
        for (; i < stop; i++)
            out[i] = PW_LOAD(X, at + i + low);
        for (; i < extent; i++)
            out[i] = 0;
    }
}

/* Samples for 8 pixels of which `pixels` are wanted: nothing lies behind them but a little room. */
static inline WORK8 load_strided(__global const WORK *from, int stride, int pixels)
{
    if (stride == 1)
        return vload8(0, from);
    if (stride == 2)
        return vload16(0, from).even;
    const int8 at = min((int8)(0, 1, 2, 3, 4, 5, 6, 7), (int8)(pixels - 1)) * stride;
    return (WORK8)(from[at.s0], from[at.s1], from[at.s2], from[at.s3], from[at.s4], from[at.s5], from[at.s6],
                   from[at.s7]);
}

__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void
conv_depthwise(__global const PW_TYPE(X) *X, __global const PW_TYPE(W) *W, __global const PW_TYPE(Y) *B,
               __global PW_TYPE(Y) *Y, __global WORK *scratch, __global const int *in_dims,
               __global const int *pad_low, __global const int *pad_extent, __global const int *out_dims,
               __global const int *in_step, __global const int *tap_offset, int axes, int taps, int channels,
               int group_maps, int in_size, int plane, int out_size, int row_out, int row_step, int planes,
               int planes_each)
{
    const int begin = (int)get_global_id(0) * planes_each, end = min(planes, begin + planes_each);
    __global WORK *P = scratch + (size_t)get_global_id(0) * (plane + 64);

    vstore16((WORK16)(0), 0, P + plane); /* what a vector reads behind the last row */
    for (int at = begin; at < end; at++) {
        pad_plane(X, (size_t)at * in_size, P, in_dims, pad_low, pad_extent, axes, plane);
        for (int map = 0; map < group_maps; map++) {
            const int m = at % channels * group_maps + map;
            const size_t w = (size_t)m * taps, to = ((size_t)at * group_maps + map) * out_size;
            const WORK start = B ? PW_AT_LOAD(Y, B, m) : (WORK)0;
            for (int row = 0; row < out_size / row_out; row++) {
                int rest = row, offset = 0;
                for (int a = axes - 2; a >= 0; a--) {
                    offset += rest % out_dims[a] * in_step[a];
                    rest /= out_dims[a];
                }
                for (int i = 0; i < row_out;) {
                    __global const WORK *from = P + offset + i * row_step;
                    const size_t out = to + (size_t)row * row_out + i;
                    if (row_step == 1 && row_out - i >= 16) {
                        WORK16 sum = start;
                        for (int t = 0; t < taps; t++)
                            sum = fma((WORK16)(PW_LOAD(W, w + t)), vload16(0, from + tap_offset[t]), sum);
                        PW_STORE16(Y, out, sum);
                        i += 16;
                        continue;
                    }
                    WORK8 sum = start;
                    for (int t = 0; t < taps; t++)
                        sum = fma((WORK8)(PW_LOAD(W, w + t)),
                                  load_strided(from + tap_offset[t], row_step, row_out - i), sum);
                    if (row_out - i >= 8) {
                        PW_STORE8(Y, out, sum);
                    } else {
                        WORK last[8];
                        vstore8(sum, 0, last);
                        for (int j = 0; j < row_out - i; j++)
                            PW_STORE(Y, out + j, last[j]);
                    }
                    i += 8;
                }
            }
        }
    }
}

/* One pixel in, one pixel out: dot products of rows of W with the channels. Work-item (8 maps, image). */
__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void
conv_single(__global const PW_TYPE(X) *X, __global const PW_TYPE(W) *W, __global const PW_TYPE(Y) *B,
            __global PW_TYPE(Y) *Y, int channels, int maps)
{
    const int begin = (int)get_global_id(0) * 8, end = min(maps, begin + 8);
    const size_t x = (size_t)get_global_id(1) * channels, y = (size_t)get_global_id(1) * maps;

    for (int m = begin; m < end; m++) {
        const size_t w = (size_t)m * channels;
        WORK8 sum = 0;
        int c = 0;
        for (; c + 8 <= channels; c += 8)
            sum = fma(PW_LOAD8(W, w + c), PW_LOAD8(X, x + c), sum);
        WORK total = B ? PW_AT_LOAD(Y, B, m) : (WORK)0;
        for (; c < channels; c++)
            total = fma(PW_LOAD(W, w + c), PW_LOAD(X, x + c), total);
        const WORK4 half_sum = sum.lo + sum.hi;
        total += half_sum.x + half_sum.y + half_sum.z + half_sum.w;
        PW_STORE(Y, y + m, total);
    }
}
#endif
