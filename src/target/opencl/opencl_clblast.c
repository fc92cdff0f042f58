/*
 * CLBlast as the library of an OpenCL device: MatMul and Gemm in float32.
 *
 * MatMul: a second operand without batch dims makes one product of (batch * M) x K by K x N; otherwise a
 * batched product with an offset per matrix (so that broadcast batch dims need no copies).
 * Gemm: Y becomes the broadcast of C first (a rank-1 update with ones where C is a row or a column), then
 * Y = alpha op(A) op(B) + beta Y.
 */
#include "base/compiler.h" /* first: HAVE_CLBLAST */

#include "target/opencl/opencl_internal.h"

#ifdef HAVE_CLBLAST

#include <clblast_c.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#define ONNX_FLOAT32 1
#define LIBRARY_BATCH_MAX 65536

#define TEXT2(x) #x
#define TEXT(x) TEXT2(x)

const char *pw_opencl_library_name(void)
{
    return "CLBlast " TEXT(CLBLAST_VERSION_MAJOR) "." TEXT(CLBLAST_VERSION_MINOR) "." TEXT(CLBLAST_VERSION_PATCH);
}

/* A product in row-major terms. */
struct product {
    size_t m, n, k;
    bool trans_a, trans_b;
    float alpha, beta;
    size_t batch;
    size_t *a_at, *b_at, *c_at; /* offsets in elements, batch of each; owned; NULL when batch is 1 */
};

static void product_clear(struct product *p)
{
    pw_free(p->a_at);
    p->a_at = p->b_at = p->c_at = NULL;
}

/* Value of "name=" in "name=value name=value …". */
static double attribute(const struct pw_target_library_call *call, const char *name, double otherwise)
{
    size_t size = strlen(name);
    for (const char *at = call->attributes; at && *at;) {
        if (strncmp(at, name, size) == 0 && at[size] == '=')
            return strtod(at + size + 1, NULL);
        at = strchr(at, ' ');
        at = at ? at + 1 : NULL;
    }
    return otherwise;
}

static bool all_float32(const struct pw_target_library_call *call, char *why, size_t why_size)
{
    for (size_t i = 0; i < call->input_count; i++)
        if (call->inputs[i].buffer && call->inputs[i].dtype != ONNX_FLOAT32) {
            snprintf(why, why_size, "input %zu is not float32", i);
            return false;
        }
    return true;
}

/* Offsets of each matrix of a batched product with numpy broadcasting of the leading dims. */
static bool batch_offsets(const struct pw_target_tensor *a, const struct pw_target_tensor *b,
                          const struct pw_target_tensor *y, struct product *p)
{
    int lead = y->rank - 2;
    p->a_at = pw_calloc(p->batch * 3, sizeof *p->a_at);
    if (!p->a_at)
        return false;
    p->b_at = p->a_at + p->batch;
    p->c_at = p->b_at + p->batch;
    const struct pw_target_tensor *sides[2] = {a, b};
    size_t *const at[2] = {p->a_at, p->b_at};
    const size_t matrix[2] = {p->m * p->k, p->k * p->n};
    for (size_t i = 0; i < p->batch; i++) {
        p->c_at[i] = i * p->m * p->n;
        for (int s = 0; s < 2; s++) {
            size_t rest = i, stride = matrix[s];
            int shift = lead - (sides[s]->rank - 2);
            for (int d = lead - 1; d >= 0; d--) {
                size_t coordinate = rest % (size_t)y->dims[d];
                rest /= (size_t)y->dims[d];
                if (d < shift)
                    continue;
                size_t dim = (size_t)sides[s]->dims[d - shift];
                if (dim > 1)
                    at[s][i] += coordinate * stride;
                stride *= dim;
            }
        }
    }
    return true;
}

static bool plan_matmul(const struct pw_target_library_call *call, struct product *p, bool offsets, char *why,
                        size_t why_size)
{
    const struct pw_target_tensor *a = &call->inputs[0], *b = &call->inputs[1], *y = &call->outputs[0];
    if (a->rank < 2 || b->rank < 2) {
        snprintf(why, why_size, "an operand is a vector (rank %d and %d)", a->rank, b->rank);
        return false;
    }
    *p = (struct product){.m = (size_t)a->dims[a->rank - 2],
                          .k = (size_t)a->dims[a->rank - 1],
                          .n = (size_t)b->dims[b->rank - 1],
                          .alpha = 1,
                          .batch = 1};
    bool b_batched = false;
    for (int d = 0; d < b->rank - 2; d++)
        b_batched = b_batched || b->dims[d] != 1;
    for (int d = 0; d < y->rank - 2; d++)
        p->batch *= (size_t)y->dims[d];
    if (!b_batched) {
        p->m *= p->batch;
        p->batch = 1;
    }
    if (p->batch > LIBRARY_BATCH_MAX) {
        snprintf(why, why_size, "%zu products in a batch, at most %d are served", p->batch, LIBRARY_BATCH_MAX);
        return false;
    }
    if (p->batch > 1 && offsets && !batch_offsets(a, b, y, p)) {
        snprintf(why, why_size, "out of memory");
        return false;
    }
    return true;
}

static bool plan_gemm(const struct pw_target_library_call *call, struct product *p, char *why, size_t why_size)
{
    const struct pw_target_tensor *a = &call->inputs[0], *y = &call->outputs[0];
    if (call->opset < 7) {
        snprintf(why, why_size, "Gemm before opset 7 broadcasts by an attribute");
        return false;
    }
    if (a->rank != 2 || call->inputs[1].rank != 2 || y->rank != 2) {
        snprintf(why, why_size, "an operand is not a matrix");
        return false;
    }
    *p = (struct product){.m = (size_t)y->dims[0],
                          .n = (size_t)y->dims[1],
                          .trans_a = attribute(call, "transA", 0) != 0,
                          .trans_b = attribute(call, "transB", 0) != 0,
                          .alpha = (float)attribute(call, "alpha", 1),
                          .beta = (float)attribute(call, "beta", 1),
                          .batch = 1};
    p->k = (size_t)a->dims[p->trans_a ? 0 : 1];
    if (call->input_count < 3 || !call->inputs[2].buffer)
        p->beta = 0;
    return true;
}

static bool plan(const struct pw_target_library_call *call, struct product *p, bool offsets, char *why, size_t why_size)
{
    bool gemm = strcmp(call->op_type, "Gemm") == 0;
    memset(p, 0, sizeof *p);
    if (call->domain[0] || (!gemm && strcmp(call->op_type, "MatMul") != 0)) {
        snprintf(why, why_size, "CLBlast has no %s", call->op_type);
        return false;
    }
    if (call->input_count < 2 || call->output_count < 1 || !call->inputs[0].buffer || !call->inputs[1].buffer) {
        snprintf(why, why_size, "an operand is missing");
        return false;
    }
    if (!all_float32(call, why, why_size))
        return false;
    if (gemm ? !plan_gemm(call, p, why, why_size) : !plan_matmul(call, p, offsets, why, why_size))
        return false;
    if (p->m == 0 || p->n == 0 || p->k == 0) {
        snprintf(why, why_size, "a dim is 0");
        return false;
    }
    return true;
}

int pw_opencl_library_supports(void *device, const struct pw_target_library_call *call, char *why, size_t why_size)
{
    struct product p;
    (void)device;
    bool yes = plan(call, &p, false, why, why_size);
    product_clear(&p);
    return yes;
}

static cl_mem mem_of(const struct pw_target_tensor *tensor)
{
    return ((const struct pw_opencl_buffer *)tensor->buffer)->mem;
}

/* y += x * c' or c * x' with ones for the other vector. */
static cl_int spread(struct pw_opencl_device *device, cl_mem c, cl_mem y, const struct product *p, bool row)
{
    cl_int rc;
    const float one = 1;
    size_t count = row ? p->m : p->n;
    cl_mem ones = clCreateBuffer(device->context, CL_MEM_READ_WRITE, count * sizeof one, NULL, &rc);
    if (rc != CL_SUCCESS)
        return rc;
    rc = clEnqueueFillBuffer(device->queue, ones, &one, sizeof one, 0, count * sizeof one, 0, NULL, NULL);
    if (rc == CL_SUCCESS)
        rc = (cl_int)CLBlastSger(CLBlastLayoutRowMajor, p->m, p->n, 1.0f, row ? ones : c, 0, 1, row ? c : ones, 0, 1, y,
                                 0, p->n, &device->queue, NULL);
    /* The queue keeps what it still needs. */
    clReleaseMemObject(ones);
    return rc;
}

/* Y = C broadcast to [M, N]; zeros without C (0 * poison would be NaN). */
static cl_int prepare_output(struct pw_opencl_device *device, const struct pw_target_library_call *call,
                             const struct product *p)
{
    const float zero = 0;
    cl_mem y = mem_of(&call->outputs[0]);
    size_t count = p->m * p->n * p->batch, c_count = 1;
    cl_int rc = clEnqueueFillBuffer(device->queue, y, &zero, sizeof zero, 0, count * sizeof zero, 0, NULL, NULL);
    if (rc != CL_SUCCESS || p->beta == 0)
        return rc;
    const struct pw_target_tensor *c = &call->inputs[2];
    for (int d = 0; d < c->rank; d++)
        c_count *= (size_t)c->dims[d];
    size_t columns = c->rank > 0 ? (size_t)c->dims[c->rank - 1] : 1;
    if (c_count == count)
        return clEnqueueCopyBuffer(device->queue, mem_of(c), y, 0, 0, count * sizeof zero, 0, NULL, NULL);
    if (c_count == 1) {
        float value = 0;
        rc = clEnqueueReadBuffer(device->queue, mem_of(c), CL_TRUE, 0, sizeof value, &value, 0, NULL, NULL);
        return rc == CL_SUCCESS
                   ? clEnqueueFillBuffer(device->queue, y, &value, sizeof value, 0, count * sizeof value, 0, NULL, NULL)
                   : rc;
    }
    return spread(device, mem_of(c), y, p, columns > 1);
}

int pw_opencl_library_op(void *handle, const struct pw_target_library_call *call, char *message, size_t message_size)
{
    struct pw_opencl_device *device = handle;
    struct product p;
    cl_event event = NULL;
    if (!plan(call, &p, true, message, message_size)) {
        product_clear(&p);
        return CL_INVALID_OPERATION;
    }
    cl_mem a = mem_of(&call->inputs[0]), b = mem_of(&call->inputs[1]), y = mem_of(&call->outputs[0]);
    CLBlastTranspose ta = p.trans_a ? CLBlastTransposeYes : CLBlastTransposeNo;
    CLBlastTranspose tb = p.trans_b ? CLBlastTransposeYes : CLBlastTransposeNo;
    size_t lda = p.trans_a ? p.m : p.k, ldb = p.trans_b ? p.k : p.n;
    cl_int rc = prepare_output(device, call, &p);
    if (rc == CL_SUCCESS && p.batch == 1) {
        rc = (cl_int)CLBlastSgemm(CLBlastLayoutRowMajor, ta, tb, p.m, p.n, p.k, p.alpha, a, 0, lda, b, 0, ldb, p.beta,
                                  y, 0, p.n, &device->queue, &event);
    } else if (rc == CL_SUCCESS) {
        float *factors = pw_calloc(p.batch * 2, sizeof *factors);
        rc = factors ? CL_SUCCESS : CL_OUT_OF_HOST_MEMORY;
        for (size_t i = 0; factors && i < p.batch; i++)
            factors[i] = p.alpha;
        if (factors)
            rc = (cl_int)CLBlastSgemmBatched(CLBlastLayoutRowMajor, ta, tb, p.m, p.n, p.k, factors, a, p.a_at, lda, b,
                                             p.b_at, ldb, factors + p.batch, y, p.c_at, p.n, p.batch, &device->queue,
                                             &event);
        pw_free(factors);
    }
    if (event)
        clReleaseEvent(event);
    product_clear(&p);
    return rc == CL_SUCCESS ? 0 : pw_opencl_fail(message, message_size, "CLBlast", rc);
}

#else

const char *pw_opencl_library_name(void)
{
    return NULL;
}

int pw_opencl_library_supports(void *device, const struct pw_target_library_call *call, char *why, size_t why_size)
{
    (void)device;
    (void)call;
    (void)why;
    (void)why_size;
    return 0;
}

int pw_opencl_library_op(void *device, const struct pw_target_library_call *call, char *message, size_t message_size)
{
    (void)device;
    (void)call;
    (void)message;
    (void)message_size;
    return -1;
}

#endif
