#include "tensor/blas.h"

#include <cblas.h>
#include <limits.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>

/* OpenBLAS counts with int. Nothing that fits this machine's memory comes near in all three
 * sizes, but one of them can: those products go through plain loops. */
static bool fits(int64_t m, int64_t n, int64_t k, int64_t lda, int64_t ldb, int64_t ldc)
{
    return m <= INT_MAX && n <= INT_MAX && k <= INT_MAX && lda <= INT_MAX && ldb <= INT_MAX && ldc <= INT_MAX;
}

static CBLAS_TRANSPOSE transpose(bool yes)
{
    return yes ? CblasTrans : CblasNoTrans;
}

/* cblas wants row lengths of at least the columns, also where a single row makes them meaningless. */
static int stride(int64_t rows, int64_t columns, int64_t ld)
{
    if (rows <= 1 && ld < columns)
        ld = columns;
    return ld < 1 ? 1 : (int)ld;
}

void pw_blas_dgemm(bool trans_a, bool trans_b, int64_t m, int64_t n, int64_t k, double alpha, const double *a,
                   int64_t lda, const double *b, int64_t ldb, double beta, double *c, int64_t ldc)
{
    if (m <= 0 || n <= 0)
        return;
    if (k > 0 && fits(m, n, k, lda, ldb, ldc)) {
        cblas_dgemm(CblasRowMajor, transpose(trans_a), transpose(trans_b), (int)m, (int)n, (int)k, alpha, a,
                    trans_a ? stride(k, m, lda) : stride(m, k, lda), b, trans_b ? stride(n, k, ldb) : stride(k, n, ldb),
                    beta, c, stride(m, n, ldc));
        return;
    }
    for (int64_t i = 0; i < m; i++) {
        for (int64_t j = 0; j < n; j++) {
            double sum = 0.0;

            for (int64_t p = 0; p < k; p++)
                sum += (trans_a ? a[p * lda + i] : a[i * lda + p]) * (trans_b ? b[j * ldb + p] : b[p * ldb + j]);
            c[i * ldc + j] = alpha * sum + (beta == 0.0 ? 0.0 : beta * c[i * ldc + j]);
        }
    }
}

void pw_blas_sgemm(bool trans_a, bool trans_b, int64_t m, int64_t n, int64_t k, float alpha, const float *a,
                   int64_t lda, const float *b, int64_t ldb, float beta, float *c, int64_t ldc)
{
    if (m <= 0 || n <= 0)
        return;
    if (k > 0 && fits(m, n, k, lda, ldb, ldc)) {
        cblas_sgemm(CblasRowMajor, transpose(trans_a), transpose(trans_b), (int)m, (int)n, (int)k, alpha, a,
                    trans_a ? stride(k, m, lda) : stride(m, k, lda), b, trans_b ? stride(n, k, ldb) : stride(k, n, ldb),
                    beta, c, stride(m, n, ldc));
        return;
    }
    for (int64_t i = 0; i < m; i++) {
        for (int64_t j = 0; j < n; j++) {
            float sum = 0.0f;

            for (int64_t p = 0; p < k; p++)
                sum += (trans_a ? a[p * lda + i] : a[i * lda + p]) * (trans_b ? b[j * ldb + p] : b[p * ldb + j]);
            c[i * ldc + j] = alpha * sum + (beta == 0.0f ? 0.0f : beta * c[i * ldc + j]);
        }
    }
}

void pw_blas_sgemv(bool trans, int64_t m, int64_t n, float alpha, const float *a, int64_t lda, const float *x,
                   float beta, float *y)
{
    int64_t rows = trans ? n : m, cols = trans ? m : n;

    if (rows <= 0)
        return;
    if (cols > 0 && fits(m, n, 1, lda, 1, 1)) {
        cblas_sgemv(CblasRowMajor, transpose(trans), (int)m, (int)n, alpha, a, stride(m, n, lda), x, 1, beta, y, 1);
        return;
    }
    for (int64_t i = 0; i < rows; i++) {
        float sum = 0.0f;

        for (int64_t j = 0; j < cols; j++)
            sum += (trans ? a[j * lda + i] : a[i * lda + j]) * x[j];
        y[i] = alpha * sum + (beta == 0.0f ? 0.0f : beta * y[i]);
    }
}

static pthread_once_t begun = PTHREAD_ONCE_INIT;
static int threads_at_begin;

static void note_threads(void)
{
    threads_at_begin = openblas_get_num_threads();
}

void pw_blas_threads(int threads)
{
    pthread_once(&begun, note_threads);
    openblas_set_num_threads(threads < 1 ? 1 : threads);
}

int pw_blas_threads_now(void)
{
    return openblas_get_num_threads();
}

const char *pw_blas_describe(void)
{
    static _Thread_local char text[256];

    pthread_once(&begun, note_threads);
    snprintf(text, sizeof text, "%s, %s, %d threads", openblas_get_config(), openblas_get_corename(), threads_at_begin);
    return text;
}
