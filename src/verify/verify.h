/*
 * Verification: cases of signatures, run on a target, compared with golden.
 * Emits events; knows neither store nor screen. One call may use several threads; events come from
 * any of them, one at a time.
 */
#ifndef PW_VERIFY_VERIFY_H
#define PW_VERIFY_VERIFY_H

#include <stdatomic.h>

#include "graph/inventory.h"
#include "run/impl.h"
#include "tensor/compare.h"
#include "verify/protocol.h"

typedef enum {
    PW_VERDICT_PASS,
    PW_VERDICT_WARN,
    PW_VERDICT_FAIL,
    PW_VERDICT_CRASH,
    PW_VERDICT_TIMEOUT,
    PW_VERDICT_ERROR,
    PW_VERDICT_UNSUPPORTED,
    PW_VERDICT_SKIPPED,
    PW_VERDICT_COUNT
} pw_verdict;
const char *pw_verdict_name(pw_verdict verdict); /* "PASS" … */
bool pw_verdict_failed(pw_verdict verdict);      /* FAIL to ERROR: the case did not hold */

typedef enum { PW_STANDING_HELD, PW_STANDING_FAILED, PW_STANDING_UNPROVEN, PW_STANDING_MISTRUSTED } pw_standing;
const char *pw_standing_name(pw_standing standing); /* "held", "failed", … */

typedef enum {
    PW_DIST_UNIFORM,
    PW_DIST_NORMAL,
    PW_DIST_EXACT,
    PW_DIST_WIDE,
    PW_DIST_CANCEL,
    PW_DIST_SPECIAL,
    PW_DIST_MASKED,
    PW_DIST_CAPTURED,
    PW_DIST_COUNT
} pw_dist;
const char *pw_dist_name(pw_dist dist);

/* Id format 3: "3:<signature id>:<dtype>:<shapes>:<dist>[/<property>]:<seed>", e.g. "3:8f2c…:f32:graph:normal:1" or
 * "3:8f2c…:f16:i0=7x384,i1=384x13,axis=-1:cancel:5"; verify/case_id.h has the grammar. The dtype is the storage dtype
 * of the first floating input's type variable (of the first input or output when none floats). Captured tensors are
 * named by their content hash in the place of the seed. Every id rebuilds its case exactly. */
#define PW_CASE_ID_MAX 256

#define PW_CASE_ELEMENTS 6

struct pw_case_element { /* one that differs from golden */
    const char *at;      /* "[1,0,3]" */
    double got, want, error;
};

struct pw_case_result {
    char id[PW_CASE_ID_MAX];
    size_t signature; /* index in the inventory */
    pw_verdict verdict;
    const char *implementation; /* kernel name */
    const char *shapes;         /* "float32[1,6,16,19] -> …" concrete */
    pw_dtype dtype;
    pw_dist dist;
    uint64_t seed;
    double tolerance; /* applied to comparison.max_error */
    const char *tolerance_why;
    struct pw_comparison comparison;     /* worst output */
    int output;                          /* which output was worst */
    const struct pw_case_element *worst; /* its worst elements, worst first; NULL: none */
    size_t worst_count;
    double reference_error; /* the fast reference's own error on the same case; NaN unknown */
    bool discriminates;     /* would have caught a constant or stale output */
    bool nondeterministic;
    double spread; /* between the two runs, hybrid metric */
    double
        least_tolerance; /* the least that would have passed; infinity with a mismatch, NaN when nothing was compared */
    const char *property;  /* the property that was tested instead of the elements; NULL: elements */
    const char *shrunk_id; /* the smallest case found that still fails; NULL: not shrunk */
    const char *shrunk_shapes, *shrunk_reason; /* of that case; NULL */
    int64_t time_ns;                           /* first run on the target */
    const char *reason;                        /* why not PASS: a sentence; "" */
    const char *log;                           /* build log or worker's stderr; "" */
};

struct pw_signature_result {
    size_t signature;
    pw_standing standing;
    const struct pw_impl_list *implementations;
    int cases, held, failed, no_evidence;
    double worst_error;              /* of held and failed cases; NaN none */
    double worst_ratio;              /* max over cases of error / tolerance */
    double tolerance;                /* of that case */
    const char *worst_case;          /* id */
    int64_t target_ns, reference_ns; /* medians, 0 unknown */
    const char *reference_name;      /* "openblas", "loops", "golden" or NULL */
    int64_t *target_samples, *reference_samples;
    int target_sample_count, reference_sample_count;
    int slices; /* the samples of either side come in so many slices of equal number, target and reference in turns */
    bool off_target;         /* on the host, or nowhere, where the protocol demands the target */
    bool below_minimum;      /* on the target, and the budget left it below its minimum of cases */
    bool gate_failed;        /* by the protocol: failed, unproven, mistrusted or off target */
    const char *gate_reason; /* why; of one that held, why its cases are few; may be NULL */
    const char *explanation; /* with effort.explain, lines; else NULL */
};

typedef enum {
    PW_VERIFY_STARTED,   /* total = number of cases planned */
    PW_VERIFY_SIGNATURE, /* signature begun */
    PW_VERIFY_CASE,
    PW_VERIFY_DONE_SIGNATURE,
    PW_VERIFY_FINISHED
} pw_verify_event_kind;

struct pw_verify_event {
    pw_verify_event_kind kind;
    size_t done, total; /* cases */
    size_t signature;
    const struct pw_case_result *result;       /* CASE; valid during the call */
    const struct pw_signature_result *summary; /* DONE_SIGNATURE; valid during the call */
};
typedef void pw_verify_emit(void *user, const struct pw_verify_event *event);

#define PW_VERIFY_MIN_CASES 24 /* a signature's cases without a budget */

/* How much is tried. All zero: every distribution, the dtypes of the graph (or of the protocol's mixed precision), the
 * graph's shapes and fuzzed ones, at least PW_VERIFY_MIN_CASES a signature, no end by time. */
struct pw_case_memory;

struct pw_verify_effort {
    unsigned dists;    /* bits 1u << PW_DIST_…; 0 = all */
    unsigned dtypes;   /* bits 1u << PW_DTYPE_…, storage dtypes; 0 = the graph's; UINT_MAX = all that kernels claim */
    int64_t budget_ns; /* of all cases together: every signature gets its minimum first, what is left is dealt out in
                          rounds; 0 = the minimum, however long it takes */
    int min_cases;     /* a signature; 0 = PW_VERIFY_MIN_CASES */
    int shapes;        /* fuzzed shapes a signature and round; 0 = default, -1 = the graph's only */
    int64_t case_timeout_ns; /* a run on the target that takes longer is a TIMEOUT; 0 = by the case's work */
    bool fail_fast;          /* stop at the first failed case */
    int max_failures;        /* stop after so many failed cases; 0 = no limit */
    bool no_shrink;          /* leave failing cases as they are */
    const char *captured;    /* folder written by verify/capture.h; NULL: no captured activations */
    bool huge;               /* instead of all these one case a signature, of more than 2^31 elements (verify/huge.h) */
    int64_t huge_elements;   /* so many are huge: for tests, which have not the memory; 0 = 2^31 */
    bool explain;            /* run nothing: say in each summary what would be judged, how and why */
    struct pw_case_memory *memory; /* what cases take at the same time, of all runs that are given it (verify/memory.h);
                                      NULL: no limit */
};

struct pw_verify_request {
    const struct pw_inventory *inventory; /* concrete (bindings applied) */
    const struct pw_kernels *kernels;
    struct pw_device *device;
    const struct pw_protocol *protocol;
    const size_t *signatures; /* selection; NULL = all */
    size_t signature_count;
    const char *case_id; /* only this one, or NULL */
    struct pw_verify_effort effort;
    uint64_t seed;
    int jobs;                  /* 0 = workers of the device */
    bool timing;               /* time target and fast reference afterwards */
    int64_t timing_ns;         /* per signature and side, default 20 ms */
    const atomic_bool *cancel; /* may be NULL */
    pw_verify_emit *emit;
    void *user;
};

struct pw_verify_totals {
    size_t signatures, held, failed, unproven, mistrusted, gate_failed;
    size_t cases, passed, warned, cases_failed, no_evidence;
    size_t on_host;       /* signatures that stay on the host */
    size_t off_target;    /* on the host or nowhere although the protocol wants them there; gate_failed has them too */
    size_t below_minimum; /* signatures, as said of each */
    bool stopped;         /* by fail_fast or max_failures: what is not listed was not tried */
};

pw_status pw_verify_run(const struct pw_verify_request *request, struct pw_verify_totals *totals, struct pw_error *err);
/* One signature more: in what is counted of signatures, not of cases; and one case more in that. */
void pw_verify_count(struct pw_verify_totals *totals, const struct pw_signature_result *summary);
void pw_verify_count_case(struct pw_verify_totals *totals, const struct pw_case_result *result);

#endif
