#include "tensor/broadcast.h"

#include <string.h>

bool pw_broadcast_shape(int rank_a, const int64_t *a, int rank_b, const int64_t *b, int *rank, int64_t *dims)
{
    int most = rank_a > rank_b ? rank_a : rank_b;

    for (int d = most - 1; d >= 0; d--) { /* from the last on: dims may be a or b, whose entries move up */
        int64_t x = d < most - rank_a ? 1 : a[d - (most - rank_a)];
        int64_t y = d < most - rank_b ? 1 : b[d - (most - rank_b)];

        if (x != y && x != 1 && y != 1)
            return false;
        dims[d] = x == 1 ? y : x;
    }
    *rank = most;
    return true;
}

/* Row-major strides of an operand against the output's dims; 0 where it is broadcast. */
static bool operand_strides(int rank, const int64_t *out_dims, int own_rank, const int64_t *own, int64_t *strides)
{
    int64_t step = 1;

    if (own_rank > rank) {
        for (int d = 0; d < own_rank - rank; d++) {
            if (own[d] != 1)
                return false;
        }
        own += own_rank - rank;
        own_rank = rank;
    }
    for (int d = rank - 1; d >= 0; d--) {
        int o = d - (rank - own_rank);
        int64_t size = o >= 0 ? own[o] : 1;

        if (size != out_dims[d] && size != 1)
            return false;
        strides[d] = size == 1 ? 0 : step;
        step *= size;
    }
    return true;
}

/* Can dim d (outer) and the kept dim k (inner) be one? Every operand must walk from row to row without a jump. */
static bool mergeable(const struct pw_broadcast *b, int64_t strides[][PW_MAX_RANK], int d, int k)
{
    for (int i = 0; i < b->operands; i++) {
        if (strides[i][d] != b->strides[i][k] * b->dims[k])
            return false;
    }
    return true;
}

bool pw_broadcast_plan(struct pw_broadcast *b, int rank, const int64_t *out_dims, int operands, const int *ranks,
                       const int64_t *const *dims)
{
    int64_t strides[PW_BROADCAST_OPERANDS][PW_MAX_RANK];
    int kept = PW_MAX_RANK; /* filled from the back, moved to the front afterwards */

    if (operands > PW_BROADCAST_OPERANDS || rank > PW_MAX_RANK)
        return false;
    memset(b, 0, sizeof *b);
    b->operands = operands;
    b->count = 1;
    for (int i = 0; i < operands; i++) {
        if (!operand_strides(rank, out_dims, ranks[i], dims[i], strides[i]))
            return false;
    }
    for (int d = rank - 1; d >= 0; d--) {
        b->count *= out_dims[d];
        if (out_dims[d] == 1)
            continue;
        if (kept < PW_MAX_RANK && mergeable(b, strides, d, kept)) {
            b->dims[kept] *= out_dims[d];
            continue;
        }
        kept--;
        b->dims[kept] = out_dims[d];
        for (int i = 0; i < operands; i++)
            b->strides[i][kept] = strides[i][d];
    }
    if (kept == PW_MAX_RANK) { /* one element */
        kept--;
        b->dims[kept] = 1;
    }
    b->rank = PW_MAX_RANK - kept;
    memmove(b->dims, b->dims + kept, (size_t)b->rank * sizeof *b->dims);
    for (int i = 0; i < operands; i++)
        memmove(b->strides[i], b->strides[i] + kept, (size_t)b->rank * sizeof *b->strides[i]);
    return true;
}

void pw_broadcast_walk(const struct pw_broadcast *b, int64_t begin, int64_t end, pw_broadcast_run *run, void *user)
{
    int last = b->rank - 1;
    int64_t index[PW_MAX_RANK], at[PW_BROADCAST_OPERANDS] = {0}, steps[PW_BROADCAST_OPERANDS];
    int64_t left = begin;

    for (int d = last; d >= 0; d--) {
        index[d] = b->dims[d] ? left % b->dims[d] : 0;
        left = b->dims[d] ? left / b->dims[d] : 0;
    }
    for (int i = 0; i < b->operands; i++) {
        steps[i] = b->strides[i][last];
        for (int d = 0; d <= last; d++)
            at[i] += index[d] * b->strides[i][d];
    }
    while (begin < end) {
        int64_t n = b->dims[last] - index[last];

        if (n > end - begin)
            n = end - begin;
        run(user, begin, at, steps, n);
        begin += n;
        index[last] += n;
        for (int i = 0; i < b->operands; i++)
            at[i] += n * steps[i];
        for (int d = last; d > 0 && index[d] == b->dims[d]; d--) {
            index[d] = 0;
            index[d - 1]++;
            for (int i = 0; i < b->operands; i++)
                at[i] += b->strides[i][d - 1] - b->strides[i][d] * b->dims[d];
        }
    }
}
