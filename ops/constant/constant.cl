/*
 * Fills and ranges. Each work-item writes CHUNK neighbouring elements, so that a CPU's work-item is a loop
 * that vectorises and a GPU's is short.
 */

/* ConstantOfShape: the value arrives as bits (low word, high word), so one source serves every type. */
__kernel void constant_fill(__global PW_MOVE(output) *output, int count, int low, int high)
{
    const PW_MOVE(output) bits = (PW_MOVE(output))((ulong)(uint)high << 32 | (uint)low);
    const int begin = (int)get_global_id(0) * CHUNK;
    const int end = min(count, begin + CHUNK);

    for (int i = begin; i < end; i++)
        output[i] = bits;
}

/* Range: each element from its index, so errors do not add up. fma rounds once. (FILL: of types without arithmetic.) */
#ifdef FILL
#elif PW_IS_FLOAT(output)
__kernel void range_float(__global PW_TYPE(output) *output, int count, PW_COMPUTE(output) first,
                          PW_COMPUTE(output) step)
{
    const int begin = (int)get_global_id(0) * CHUNK;
    const int end = min(count, begin + CHUNK);

    for (int i = begin; i < end; i++)
        PW_STORE(output, i, fma((PW_COMPUTE(output))i, step, first));
}
#else
__kernel void range_int(__global PW_TYPE(output) *output, int count, long first, long step)
{
    const int begin = (int)get_global_id(0) * CHUNK;
    const int end = min(count, begin + CHUNK);

    for (int i = begin; i < end; i++)
        output[i] = (PW_TYPE(output))(first + i * step);
}
#endif
