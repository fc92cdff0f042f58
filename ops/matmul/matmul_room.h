/*
 * Shared by the files of the matmul room: the geometry of a (batched, broadcast, transposed)
 * matrix product and the loops that compute one in a carrier type. Reentrant; used by the
 * callbacks of the room's operators only.
 */
#ifndef PW_OPS_MATMUL_ROOM_H
#define PW_OPS_MATMUL_ROOM_H

#include "op/op.h"

/* Y[batch][m][n] = sum over k of A[batch][m][k] * B[batch][k][n]; all strides in elements. */
struct pw_matmul_geometry {
    int64_t m, n, k;
    int64_t batch;                  /* products */
    int64_t b_batches;              /* different matrices B */
    int rank;                       /* batch dims */
    int64_t dims[PW_MAX_RANK];      /* batch dims, outermost first */
    int64_t a_strides[PW_MAX_RANK]; /* 0 where A is broadcast */
    int64_t b_strides[PW_MAX_RANK];
    int64_t a_row, a_col; /* strides of A along m and k */
    int64_t b_row, b_col; /* strides of B along k and n */
};

/* An operand with any strides (in elements); `transposed` exchanges its last two dims. */
struct pw_matmul_operand {
    const int64_t *dims, *strides;
    int rank;
    bool transposed;
};
/* numpy.matmul's rules over strides; every product stays one of its own. False when the shapes do not fit. */
bool pw_matmul_strided(const struct pw_matmul_operand *a, const struct pw_matmul_operand *b,
                       struct pw_matmul_geometry *out);
/* Strides of a dense row-major tensor. */
void pw_matmul_dense(const int64_t *dims, int rank, int64_t *strides);

/* numpy.matmul's rules for concrete shapes; a shared matrix B under a dense batch of A becomes one tall
 * product. False when the shapes do not fit (inference has said so before). */
bool pw_matmul_geometry(const int64_t *a_dims, int a_rank, const int64_t *b_dims, int b_rank, bool trans_a,
                        bool trans_b, struct pw_matmul_geometry *out);

/* Element offsets of A's and B's matrices in product number `index`. */
void pw_matmul_offsets(const struct pw_matmul_geometry *g, int64_t index, int64_t *a, int64_t *b);

/* Computes alpha*A*B + beta*Y into dense Y. dtype: float64, float32 or int64 for all three (int64 wraps and
 * ignores alpha and beta). precise: long double sums instead of OpenBLAS (for float64 golden), where affordable. */
void pw_matmul_product(const struct pw_matmul_geometry *g, pw_dtype dtype, bool precise, double alpha, const void *a,
                       const void *b, double beta, void *y);

/* Inference of numpy.matmul's shape from infos i and j to output 0 with the given dtype. */
pw_status pw_matmul_infer_shape(struct pw_call *call, int i, int j, bool trans_a, bool trans_b, pw_dtype dtype,
                                struct pw_error *err);
pw_status pw_matmul_bind_geometry(const struct pw_matmul_geometry *g, struct pw_bindings *b, struct pw_error *err);
/* The words and sizes of the accumulator for inputs of a dtype: acc, acc_bytes, a_stored (its storage differs). */
pw_status pw_matmul_bind_accumulator(pw_dtype dtype, struct pw_bindings *b, struct pw_error *err);
bool pw_matmul_call_geometry(const struct pw_call *call, int i, int j, bool trans_a, bool trans_b,
                             struct pw_matmul_geometry *out);

/* Output 0 with the shape that inference found. */
pw_status pw_matmul_output(struct pw_eval *ev, pw_dtype nominal, struct pw_tensor **out, struct pw_error *err);

/* Callbacks by operator; golden serves fast too where it looks at ev->mode. */
pw_status pw_matmul_golden(struct pw_eval *ev, struct pw_error *err);
pw_status pw_matmul_gemm_golden(struct pw_eval *ev, struct pw_error *err);
pw_status pw_matmul_ordered(struct pw_eval *ev, struct pw_error *err); /* MatMul and Gemm */
pw_status pw_matmul_integer_golden(struct pw_eval *ev, struct pw_error *err);
pw_status pw_matmul_qlinear_golden(struct pw_eval *ev, struct pw_error *err);
pw_status pw_matmul_einsum_infer(struct pw_call *call, struct pw_error *err);
pw_status pw_matmul_einsum_cost(const struct pw_call *call, struct pw_cost *cost, struct pw_error *err);
void pw_matmul_einsum_accuracy(const struct pw_call *call, struct pw_accuracy *accuracy);
pw_status pw_matmul_einsum_golden(struct pw_eval *ev, struct pw_error *err);
pw_status pw_matmul_einsum_bind(const struct pw_call *call, struct pw_bindings *b, struct pw_error *err);

pw_status pw_matmul_fused_infer(struct pw_call *call, struct pw_error *err);
pw_status pw_matmul_fused_golden(struct pw_eval *ev, struct pw_error *err);
pw_status pw_matmul_fused_bind(const struct pw_call *call, struct pw_bindings *b, struct pw_error *err);
pw_status pw_matmul_nbits_infer(struct pw_call *call, struct pw_error *err);
pw_status pw_matmul_nbits_golden(struct pw_eval *ev, struct pw_error *err);
pw_status pw_matmul_nbits_bind(const struct pw_call *call, struct pw_bindings *b, struct pw_error *err);
pw_status pw_matmul_dynamic_infer(struct pw_call *call, struct pw_error *err);
pw_status pw_matmul_dynamic_golden(struct pw_eval *ev, struct pw_error *err);
pw_status pw_matmul_dynamic_bind(const struct pw_call *call, struct pw_bindings *b, struct pw_error *err);

#endif
