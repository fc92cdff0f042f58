/*
 * The fused normalizations of com.microsoft: rows of s = input + skip + bias, or of summed embeddings, then
 * LayerNorm or RMSNorm. Their own table of callbacks: the sets are always rows, the inputs differ.
 */
#include "ops/norm/norm_fused.h"

#include <math.h>
#include <string.h>

#include "base/compiler.h"
#include "base/parallel.h"

/* ---- shapes ---- */

static int64_t info_size(const struct pw_info *info)
{
    int64_t n = 1;

    if (!info || info->rank < 0)
        return -1;
    for (int d = 0; d < info->rank; d++) {
        if (info->dims[d] < 0)
            return -1;
        n *= info->dims[d];
    }
    return n;
}

static const struct pw_info *input(const struct pw_call *call, int i)
{
    return i >= 0 && pw_call_input(call, i) ? call->in[i] : NULL;
}

static pw_status expect(const struct pw_call *call, int i, int64_t count, struct pw_error *err)
{
    const struct pw_info *info = input(call, i);

    if (info && info_size(info) != count)
        return pw_call_error(call, err, "'%s' has %lld elements, %lld expected", call->op->inputs[i].name,
                             (long long)info_size(info), (long long)count);
    return PW_OK;
}

/* Rows and their length: from the last dim, or from `axis` on. */
static pw_status measure(const struct pw_call *call, struct pw_norm_fused *f, struct pw_error *err)
{
    const struct pw_norm_fused_form *form = call->op->data;
    const struct pw_info *x = call->in[form->embeds ? form->word : 0];
    int axis = x->rank - 1;
    pw_status status = PW_OK;

    f->form = form;
    if (x->rank < 1)
        return pw_call_error(call, err, "'%s' has rank %d, at least 1 expected",
                             call->op->inputs[form->embeds ? form->word : 0].name, x->rank);
    if (form->has_axis)
        status = pw_call_axis(call, pw_call_int(call, "axis"), x->rank, &axis, err);
    f->length = f->rows = 1;
    for (int d = 0; d < x->rank; d++) {
        if (x->dims[d] < 0)
            return pw_error_set(err, PW_ERR_UNSUPPORTED, "the shape is not known");
        if (d < axis)
            f->rows *= x->dims[d];
        else
            f->length *= x->dims[d];
    }
    if (form->embeds) {
        f->words = f->rows;
        f->rows = info_size(call->in[0]);
        f->sequence = call->in[0]->rank == 2 ? call->in[0]->dims[1] : -1;
        if (f->sequence < 0)
            return pw_call_error(call, err, "input_ids has rank %d, 2 expected", call->in[0]->rank);
    }
    return status;
}

pw_status pw_norm_fused_read(const struct pw_call *call, struct pw_norm_fused *f, struct pw_error *err)
{
    const struct pw_norm_fused_form *form = call->op->data;
    const struct pw_info *skip = input(call, form->skip), *positions = input(call, form->position_ids);
    pw_status status = measure(call, f, err);

    f->skip_rows = f->rows;
    if (status == PW_OK)
        status = expect(call, form->gamma, f->length, err);
    if (status == PW_OK)
        status = expect(call, form->beta, f->length, err);
    if (status == PW_OK)
        status = expect(call, form->bias, f->length, err);
    if (status == PW_OK && skip) { /* the same shape, or without the batch */
        int64_t size = info_size(skip), all = f->rows * f->length;

        if (size <= 0 || f->length <= 0 ? size != all : all % size != 0 || size % f->length != 0)
            return pw_call_error(call, err, "'skip' has %lld elements, which do not repeat to the input's %lld",
                                 (long long)size, (long long)all);
        f->skip_rows = f->length > 0 ? size / f->length : 1;
    }
    if (status != PW_OK || !form->embeds)
        return status;
    f->position_rows = positions ? info_size(positions) : 0;
    if (positions && f->position_rows != f->rows && f->position_rows != f->sequence)
        return pw_call_error(call, err, "position_ids has %lld elements, %lld or %lld expected",
                             (long long)f->position_rows, (long long)f->rows, (long long)f->sequence);
    for (int i = 0; i < 2 && status == PW_OK; i++) {
        const struct pw_info *table = input(call, i ? form->segment : form->position);

        if (table && (table->rank != 2 || table->dims[1] != f->length))
            return pw_call_error(call, err, "an embedding table has another width than word_embedding's %lld",
                                 (long long)f->length);
    }
    status = expect(call, form->segment_ids, f->rows, err);
    return status == PW_OK ? expect(call, form->mask, f->rows, err) : status;
}

static pw_status check(struct pw_call *call, struct pw_error *err)
{
    const struct pw_norm_fused_form *form = call->op->data;
    struct pw_norm_fused f = {0};

    for (int i = 0; i < call->input_count; i++) {
        bool index = form->embeds && (i == 0 || i == form->segment_ids || i == form->mask || i == form->position_ids);
        pw_dtype dtype = input(call, i) ? call->in[i]->dtype : PW_DTYPE_UNDEFINED;

        if (dtype != PW_DTYPE_UNDEFINED && (index ? dtype != PW_DTYPE_INT32 : !pw_dtype_is_float(dtype)))
            return pw_call_error(call, err, "'%s' is %s, %s expected", call->op->inputs[i].name, pw_dtype_name(dtype),
                                 index ? "int32" : "a float type");
    }
    for (int i = 0; i < call->input_count; i++) {
        if (input(call, i) && info_size(call->in[i]) < 0)
            return PW_OK; /* symbolic: nothing to compare */
    }
    return pw_norm_fused_read(call, &f, err);
}

pw_status pw_norm_fused_infer(struct pw_call *call, struct pw_error *err)
{
    const struct pw_norm_fused_form *form = call->op->data;
    const struct pw_info *x = call->in[0];
    pw_dim dims[PW_MAX_RANK];
    pw_dtype dtype = form->embeds ? call->in[form->word]->dtype : form->has_axis ? call->in[1]->dtype : x->dtype;
    int rank = x->rank, axis = rank - 1;
    pw_status status = check(call, err);

    if (status != PW_OK)
        return status;
    if (rank < 0) {
        for (int i = 0; i < call->output_count; i++)
            pw_call_output_unknown(call, i, i == 0 || i == form->sum_out ? dtype : PW_DTYPE_FLOAT32);
        return PW_OK;
    }
    memcpy(dims, x->dims, sizeof dims);
    if (form->embeds) {
        if (rank == PW_MAX_RANK)
            return pw_call_error(call, err, "input_ids has rank %d, 2 expected", rank);
        dims[rank++] =
            call->in[form->word]->rank == 2 ? call->in[form->word]->dims[1] : pw_dims_fresh(call->dims, "hidden");
    }
    if (form->has_axis)
        status = pw_call_axis(call, pw_call_int(call, "axis"), rank, &axis, err);
    for (int i = 0; i < call->output_count && status == PW_OK; i++) {
        pw_dim reduced[PW_MAX_RANK];

        for (int d = 0; d < rank; d++)
            reduced[d] = d < axis ? dims[d] : 1;
        if (i == 0 || i == form->sum_out)
            pw_call_output(call, i, dtype, rank, dims);
        else if (form->embeds)
            pw_call_output(call, i, PW_DTYPE_INT32, 1, dims);
        else
            pw_call_output(call, i, PW_DTYPE_FLOAT32, rank, reduced);
    }
    return status;
}

pw_status pw_norm_fused_cost(const struct pw_call *call, struct pw_cost *out, struct pw_error *err)
{
    const struct pw_norm_fused_form *form = call->op->data;
    pw_dim n = 1;

    (void)err;
    if (call->out[0].rank < 0) {
        out->flops = PW_DIM_UNKNOWN;
        return PW_OK;
    }
    for (int d = 0; d < call->out[0].rank; d++)
        n = pw_dims_mul(call->dims, n, call->out[0].dims[d]);
    out->flops = pw_dims_mul(call->dims, n, (form->centres ? 7 : 4) + (form->skip >= 0) + 2 * form->embeds);
    return PW_OK;
}

void pw_norm_fused_accuracy(const struct pw_call *call, struct pw_accuracy *out)
{
    const struct pw_norm_fused_form *form = call->op->data;
    struct pw_norm_fused f = {0};

    out->length = pw_norm_fused_read(call, &f, NULL) == PW_OK && f.length > 0 ? f.length : 1;
    out->amplification = 1.0;
    out->ulp = 9.0; /* two additions before the 7 of a normalization */
    out->sensitivity = form->centres ? PW_SENSITIVITY_HIGH : PW_SENSITIVITY_MEDIUM;
    out->reason = form->centres ? "division by a small variance: cancellation of x - mean is magnified"
                                : "a sum of squares, without cancellation";
    out->why = "a sum, mean and variance of the row; square root 3 ULP, division 2.5 ULP";
}

pw_status pw_norm_fused_bind(const struct pw_call *call, struct pw_bindings *b, struct pw_error *err)
{
    const struct pw_norm_fused_form *form = call->op->data;
    struct pw_norm_fused f = {0};
    pw_status status = pw_norm_fused_read(call, &f, err);
    const struct {
        const char *name;
        int64_t value;
    } ints[] = {{"rows", f.rows},           {"length", f.length},     {"skip_rows", f.skip_rows > 0 ? f.skip_rows : 1},
                {"centres", form->centres}, {"sequence", f.sequence}, {"position_rows", f.position_rows}};

    for (size_t i = 0; i < PW_COUNT_OF(ints) && status == PW_OK; i++)
        status = pw_bind_int(b, ints[i].name, ints[i].value, err);
    return status;
}

void pw_norm_fused_fill(const struct pw_call *call, int i, struct pw_fill *out)
{
    const struct pw_norm_fused_form *form = call->op->data;
    const struct pw_info *table = NULL;

    if (!form->embeds)
        return;
    if (i == 0)
        table = input(call, form->word);
    else if (i == form->segment_ids)
        table = input(call, form->segment);
    else if (i == form->position_ids)
        table = input(call, form->position);
    if (table && table->rank == 2 && table->dims[0] > 0) {
        out->int_low = 0;
        out->int_high = table->dims[0] - 1;
    } else if (i == form->mask) {
        out->int_low = 0;
        out->int_high = 1;
    }
}

/* ---- evaluation ---- */

struct job {
    struct pw_norm_fused f;
    struct pw_eval *ev;
    double epsilon;
    struct pw_tensor *y, *mean, *factor, *sum;
};

static double element(const struct pw_eval *ev, int i, int64_t at)
{
    const struct pw_tensor *t = pw_eval_in(ev, i);

    return t ? pw_tensor_get(t, at) : 0.0;
}

static int64_t index_of(const struct pw_eval *ev, int i, int64_t at)
{
    const struct pw_tensor *t = pw_eval_in(ev, i);

    return t ? pw_tensor_get_int(t, at) : 0;
}

/* Where a row's terms lie in the embedding tables. */
struct tokens {
    int64_t word, position, segment;
};

static struct tokens tokens_of(const struct job *job, int64_t row)
{
    const struct pw_norm_fused_form *form = job->f.form;
    struct tokens t = {0, 0, 0};

    if (form->embeds) {
        t.word = index_of(job->ev, 0, row);
        t.segment = index_of(job->ev, form->segment_ids, row);
        t.position = job->f.position_rows ? index_of(job->ev, form->position_ids, row % job->f.position_rows)
                                          : row % job->f.sequence;
    }
    return t;
}

/* Element i of a row of s. */
static double sum_at(const struct job *job, const struct tokens *t, int64_t row, int64_t i)
{
    const struct pw_norm_fused_form *form = job->f.form;
    int64_t n = job->f.length;

    if (form->embeds)
        return element(job->ev, form->word, t->word * n + i) + element(job->ev, form->position, t->position * n + i) +
               element(job->ev, form->segment, t->segment * n + i);
    return element(job->ev, 0, row * n + i) + element(job->ev, form->skip, row % job->f.skip_rows * n + i) +
           element(job->ev, form->bias, i);
}

static void rows_golden(void *user, int64_t begin, int64_t end)
{
    const struct job *job = user;
    const struct pw_norm_fused_form *form = job->f.form;
    int64_t n = job->f.length;

    for (int64_t row = begin; row < end; row++) {
        struct tokens t = tokens_of(job, row);
        long double mean = 0.0L, variance = 0.0L, factor;

        for (int64_t i = 0; i < n && form->centres; i++)
            mean += sum_at(job, &t, row, i) / (long double)n;
        for (int64_t i = 0; i < n; i++) {
            long double d = sum_at(job, &t, row, i) - mean;

            variance += d * d / (long double)n;
        }
        factor = 1.0L / sqrtl(variance + job->epsilon);
        for (int64_t i = 0; i < n; i++) {
            double s = sum_at(job, &t, row, i);

            pw_tensor_set(
                job->y, row * n + i,
                (double)((s - mean) * factor * element(job->ev, form->gamma, i) + element(job->ev, form->beta, i)));
            if (job->sum)
                pw_tensor_set(job->sum, row * n + i, s);
        }
        if (job->mean)
            pw_tensor_set(job->mean, row, (double)mean);
        if (job->factor)
            pw_tensor_set(job->factor, row, (double)factor);
    }
}

static pw_status check_indices(const struct pw_eval *ev, int i, int table, struct pw_error *err)
{
    const struct pw_tensor *indices = pw_eval_in(ev, i), *t = pw_eval_in(ev, table);

    for (int64_t k = 0; indices && t && k < indices->count; k++) {
        int64_t index = pw_tensor_get_int(indices, k);

        if (index < 0 || index >= t->dims[0])
            return pw_call_error(ev->call, err, "'%s' holds %lld; its table has %lld rows",
                                 ev->call->op->inputs[i].name, (long long)index, (long long)t->dims[0]);
    }
    return PW_OK;
}

static pw_status check_embedding(const struct job *job, struct pw_error *err)
{
    const struct pw_norm_fused_form *form = job->f.form;
    const struct pw_tensor *positions = pw_eval_in(job->ev, form->position);
    pw_status status = check_indices(job->ev, 0, form->word, err);

    if (status == PW_OK)
        status = check_indices(job->ev, form->segment_ids, form->segment, err);
    if (status == PW_OK && job->f.position_rows)
        return check_indices(job->ev, form->position_ids, form->position, err);
    if (status == PW_OK && positions && positions->dims[0] < job->f.sequence)
        return pw_call_error(job->ev->call, err, "position_embedding has %lld rows for %lld positions",
                             (long long)positions->dims[0], (long long)job->f.sequence);
    return status;
}

/* mask_index: position of the first 0 of each sample's mask; 0 without a mask. */
static void mask_index(const struct job *job, struct pw_tensor *out)
{
    const struct pw_tensor *mask = pw_eval_in(job->ev, job->f.form->mask);

    for (int64_t b = 0; mask && b < out->count; b++) {
        int64_t n = 0;

        while (n < job->f.sequence && pw_tensor_get_int(mask, b * job->f.sequence + n) != 0)
            n++;
        pw_tensor_set_int(out, b, n);
    }
}

static pw_status make_outputs(struct job *job, struct pw_error *err)
{
    const struct pw_norm_fused_form *form = job->f.form;
    struct pw_eval *ev = job->ev;

    for (int i = 0; i < ev->output_count; i++) {
        const struct pw_info *info = &ev->call->out[i];
        struct pw_tensor *made = NULL;
        pw_status status;

        if (i > 0 && ev->call->wanted && !ev->call->wanted[i])
            continue;
        if (info->rank < 0)
            return pw_call_error(ev->call, err, "the shape of output %d is not known", i);
        status = pw_eval_output(ev, i, info->dtype, info->rank, info->dims, &made, err);
        if (status != PW_OK)
            return status;
        if (i == 0)
            job->y = made;
        else if (i == form->sum_out)
            job->sum = made;
        else if (i == form->factor_out)
            job->factor = made;
        else if (form->embeds)
            mask_index(job, made);
        else
            job->mean = made;
    }
    return PW_OK;
}

pw_status pw_norm_fused_golden(struct pw_eval *ev, struct pw_error *err)
{
    struct job job = {.ev = ev};
    pw_status status = pw_norm_fused_read(ev->call, &job.f, err);

    if (status == PW_OK && job.f.form->embeds)
        status = check_embedding(&job, err);
    if (status == PW_OK)
        status = make_outputs(&job, err);
    if (status != PW_OK || job.y->count == 0)
        return status;
    job.epsilon = (double)pw_call_float(ev->call, "epsilon");
    pw_parallel_for(job.f.rows, 4096 / (job.f.length + 1) + 1, rows_golden, &job);
    return PW_OK;
}
