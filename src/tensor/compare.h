/*
 * Comparison of a result with golden.
 *
 * The metric is hybrid: for each element the error is |x-ref| / max(|ref|, floor), with
 * floor set by the scale of the golden output (see pw_compare_floor), so zeros neither
 * explode nor hide. NaN or Inf on one side only is `mismatch` and never within tolerance.
 */
#ifndef PW_TENSOR_COMPARE_H
#define PW_TENSOR_COMPARE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "tensor/tensor.h"

#define PW_HISTOGRAM_BINS 24 /* decades of error 1e-18 … 1e5; bin 0 holds exact zeros */

struct pw_comparison {
    int64_t count;      /* elements compared */
    int64_t mismatches; /* NaN/Inf on one side, or integers/strings that differ */
    int64_t over;       /* elements above tolerance (mismatches included) */
    double max_error;   /* hybrid; the least tolerance that would pass. Infinity with a mismatch */
    double max_absolute;
    double max_relative; /* over elements with ref != 0 */
    double max_ulp;      /* in units of the nominal dtype's last place at ref */
    double nmse;         /* sum((x-ref)^2) / sum(ref^2) */
    double cosine;       /* 1 when both zero */
    double floor;        /* |ref| below this is judged absolutely, relative to it */
    int64_t worst;       /* flat index of the worst element, -1 when count is 0 */
    double worst_got, worst_want;
    int64_t histogram[PW_HISTOGRAM_BINS];
};

/* Compares got (any numeric dtype) with golden (float64 carrying `nominal`, or the same
 * integer/bool/string dtype). Shapes and dtypes must agree, else PW_ERR_FORMAT with both named.
 * floor < 0: derive it (pw_compare_floor). tolerance only counts `over`. */
pw_status pw_compare(const struct pw_tensor *got, const struct pw_tensor *golden, double tolerance, double floor,
                     struct pw_comparison *out, struct pw_error *err);

/* One element and its hybrid error: infinite where integers, NaN or Inf differ. */
struct pw_compare_element {
    int64_t flat;
    double got, want, error;
};
/* The worst elements that differ at all, worst first, at most `cap`; returns how many. floor as in pw_comparison, of
 * tensors that pw_compare took. Complex elements and strings: none. */
size_t pw_compare_worst(const struct pw_tensor *got, const struct pw_tensor *golden, double floor,
                        struct pw_compare_element *out, size_t cap);

/* The floor: root mean square of the finite golden elements times 2^-3 (so that an element
 * that cancelled is judged against its neighbours' scale), at least the dtype's least normal. */
double pw_compare_floor(const struct pw_tensor *golden);

/* numpy-style: every element |x-ref| <= atol + rtol*|ref|, NaN equals NaN, Inf equals Inf.
 * *first_bad = flat index of the first that fails, or -1. For conformance. */
pw_status pw_compare_close(const struct pw_tensor *got, const struct pw_tensor *want, double rtol, double atol,
                           int64_t *first_bad, struct pw_error *err);

/* "[1,0,3]" coordinates of a flat index. */
void pw_compare_coordinates(const struct pw_tensor *t, int64_t flat, struct pw_buf *out);

#endif
