/* Matrix products of the references: the only user of cblas.h. Row-major.
 * C[M,N] = alpha * op(A)[M,K] * op(B)[K,N] + beta * C. lda/ldb/ldc are row lengths in elements.
 * Sizes are checked against OpenBLAS's int. Threads as set by pw_blas_threads. */
#ifndef PW_TENSOR_BLAS_H
#define PW_TENSOR_BLAS_H

#include <stdbool.h>
#include <stdint.h>

void pw_blas_dgemm(bool trans_a, bool trans_b, int64_t m, int64_t n, int64_t k, double alpha, const double *a,
                   int64_t lda, const double *b, int64_t ldb, double beta, double *c, int64_t ldc);
void pw_blas_sgemm(bool trans_a, bool trans_b, int64_t m, int64_t n, int64_t k, float alpha, const float *a,
                   int64_t lda, const float *b, int64_t ldb, float beta, float *c, int64_t ldc);
void pw_blas_sgemv(bool trans, int64_t m, int64_t n, float alpha, const float *a, int64_t lda, const float *x,
                   float beta, float *y);
void pw_blas_threads(int threads);
int pw_blas_threads_now(void);
/* "OpenBLAS 0.3.21 … SkylakeX, 2 threads": as many as the process began with, also while a verify has set one, so that
 * the environment's id does not depend on when it is asked for. */
const char *pw_blas_describe(void);

#endif
