/*
 * RotaryEmbedding: a work-item turns one head of one token. rotated elements in pairs: neighbours, or halves.
 */
__kernel void rotary_rows(__global const PW_TYPE(in0) *x, __global const PW_TYPE(in0) *cosines,
                          __global const PW_TYPE(in0) *sines, __global const long *ids, __global PW_TYPE(in0) *y,
                          int heads, int sequence, int size, int rotated, int pairs, int by_position, int positions,
                          int one_id, int x_batch, int x_head, int x_row)
{
    int s = get_global_id(0), h = get_global_id(1), b = get_global_id(2), half_size = rotated / 2;
    long at = (long)b * x_batch + (long)h * x_head + (long)s * x_row, row = (long)b * sequence + s;

    if (s >= sequence)
        return;
    if (by_position)
        row = clamp(one_id ? ids[0] + s : ids[row], 0L, (long)positions - 1);
    row *= half_size;
    for (int i = 0; i < half_size; i++) {
        int re_at = pairs ? 2 * i : i, im_at = pairs ? 2 * i + 1 : half_size + i;
        PW_COMPUTE(in0) c = PW_AT_LOAD(in0, cosines, row + i), w = PW_AT_LOAD(in0, sines, row + i);
        PW_COMPUTE(in0) re = PW_AT_LOAD(in0, x, at + re_at), im = PW_AT_LOAD(in0, x, at + im_at);

        PW_AT_STORE(in0, y, at + re_at, c * re - w * im);
        PW_AT_STORE(in0, y, at + im_at, w * re + c * im);
    }
    for (int i = rotated; i < size; i++)
        y[at + i] = x[at + i];
}
