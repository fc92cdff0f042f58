/*
 * Ties: of equal values ONNX names the index that ArgMax, ArgMin and TopK give. Where the protocol lets a target choose
 * (`ties: false`), any index of an equal value is right, but no index twice in one row.
 */
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "verify/verify_internal.h"

#define NO_INDEX (-1)

/* The input's rows along an axis, and the output's: [outer][length][inner] and [outer][kept][inner]. */
struct rows {
    int64_t outer, length, kept, inner;
};

static bool rows_of(const struct pw_call *call, const struct pw_tensor *x, const struct pw_tensor *indices,
                    struct rows *rows)
{
    bool top = !strcmp(call->op->name, "TopK");
    int axis = 0;

    if (x->rank < 1 || pw_call_axis(call, pw_call_int(call, "axis"), x->rank, &axis, NULL) != PW_OK)
        return false;
    *rows = (struct rows){.outer = pw_tensor_span(x, 0, axis),
                          .length = x->dims[axis],
                          .kept = top ? indices->dims[axis] : 1,
                          .inner = pw_tensor_span(x, axis + 1, x->rank)};
    return rows->outer * rows->kept * rows->inner == indices->count;
}

static bool same(double a, double b)
{
    return a == b || (isnan(a) && isnan(b));
}

/* Was the index given before in this row? Notes it: in which row, counted from 1, each index was given last. */
static bool repeats(int64_t *given, const struct rows *r, int64_t row, int64_t index)
{
    bool before;

    if (index < 0 || index >= r->length)
        return false;
    before = given[index] == row + 1;
    given[index] = row + 1;
    return before;
}

bool pw_judge_has_ties(const struct pw_call *call, int output)
{
    if (!strcmp(call->op->name, "TopK"))
        return output == 1;
    return output == 0 && (!strcmp(call->op->name, "ArgMax") || !strcmp(call->op->name, "ArgMin"));
}

pw_status pw_judge_take_ties(const struct pw_call *call, const struct pw_tensor *x, const struct pw_tensor *got,
                             struct pw_tensor *want, struct pw_error *err)
{
    struct rows r;
    int64_t *given;

    if (got->count != want->count || !rows_of(call, x, want, &r))
        return PW_OK;
    given = pw_calloc((size_t)r.length + 1, sizeof *given);
    if (!given)
        return pw_error_memory(err, (size_t)r.length * sizeof *given);
    for (int64_t row = 0; row < r.outer * r.inner; row++) {
        const int64_t from = row / r.inner * r.length * r.inner + row % r.inner;

        for (int64_t k = 0; k < r.kept; k++) {
            int64_t at = row / r.inner * r.kept * r.inner + row % r.inner + k * r.inner;
            int64_t mine = pw_tensor_get_int(got, at), right = pw_tensor_get_int(want, at);

            if (repeats(given, &r, row, mine)) {
                if (right == mine)
                    pw_tensor_set_int(want, at, NO_INDEX); /* its element was given with another place */
            } else if (mine >= 0 && mine < r.length && right >= 0 && right < r.length &&
                       same(pw_tensor_get(x, from + mine * r.inner), pw_tensor_get(x, from + right * r.inner))) {
                pw_tensor_set_int(want, at, mine);
            }
        }
    }
    pw_free(given);
    return PW_OK;
}
