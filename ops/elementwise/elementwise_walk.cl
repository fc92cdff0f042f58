/* Goes before elementwise_fold.cl and elementwise_select.cl: where operand k begins in row `row`. `walk` holds the dims
 * that the host has merged, then the strides of operand 0, of operand 1… */
static long row_start(__global const int *walk, int rank, int k, long row)
{
    long at = 0;

    for (int d = rank - 1; d >= 0; d--) {
        at += row % walk[d] * walk[(k + 1) * rank + d];
        row /= walk[d];
    }
    return at;
}
