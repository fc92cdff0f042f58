/*
 * The study of the verifier with the liar: which signatures, which mutants, how many are caught.
 *
 * A mutant is a fault on an operator in a dtype. All are listed before the first one runs, from tables alone: the
 * operators that a target may run, the dtypes that their kernels claim, the faults that apply to one of the
 * signatures. A mutant is caught when the gate fails on one of them. Nothing is dropped silently: signatures that
 * cannot be made, and equivalent mutants with their proofs, are counted and listed. Used by tests/liar/mutation.c (make
 * mutation) and tests/unit/test_liar.c. Threads: the study's own.
 */
#ifndef PW_TESTS_LIAR_STUDY_H
#define PW_TESTS_LIAR_STUDY_H

#include "graph/inventory.h"
#include "tests/liar/liar.h"
#include "verify/verify.h"

/* T stands for the dtype under study; NULL: every dtype that a kernel of the operator claims for it. */
struct liar_signature {
    const char *call;
    const char *dtypes;
};
extern const struct liar_signature liar_signatures[]; /* ended by call NULL */

/* A signature in one dtype: a graph of one node. */
struct liar_site {
    char *text; /* the call */
    char op[64];
    const char *room;
    pw_dtype dtype;
    struct pw_buf bytes;
    struct pw_model *model;
    struct pw_inference *inference;
    struct pw_inventory *inventory;
    struct pw_call call; /* the signature's, with room for what the data decides */
    struct pw_arena arena;
    size_t turn, turns; /* which of its signature's dtypes, of how many */
    bool left_out;      /* of the honest chip's runs */
};

struct liar_mutant {
    const struct liar_fault *fault;
    const char *op, *room;
    pw_dtype dtype;
    const struct liar_equivalent *equivalent; /* excluded, with the proof */
    size_t *sites;
    size_t site_count;
    bool caught;
    size_t catcher;       /* the site on which it was */
    size_t cases;         /* that ran */
    char reproducer[512]; /* of the case that caught it, or of the first that let it through */
};

struct liar_study {
    struct pw_kernels *kernels;
    struct pw_protocol *protocol;
    struct liar_site *sites;
    size_t site_count, site_cap;
    struct liar_mutant *mutants;
    size_t mutant_count, mutant_cap;
    struct pw_buf not_made; /* a line for each signature that could not be made, and each operator without one */
    size_t not_made_count;
    const char *plugin; /* path of liar.so */
    const char *honest; /* spec of another honest target than the liar without a fault; NULL */
    uint64_t seed;
    int jobs;
};

struct liar_options {
    const char *plugin;
    const char *honest; /* NULL: the liar */
    const char *fault;  /* globs; NULL: all */
    const char *op;
    const char *dtype;
    size_t sample; /* mutants a fault, evenly spaced; 0: all */
    uint64_t seed;
    int jobs;
};

/* Lists signatures and mutants. */
pw_status liar_study_create(const struct liar_options *options, struct liar_study **out, struct pw_error *err);
void liar_study_destroy(struct liar_study *study);

/* Runs the mutants [first, last); progress may be NULL. */
typedef void liar_progress(void *user, size_t done, size_t total);
pw_status liar_study_run(struct liar_study *study, size_t first, size_t last, liar_progress *progress, void *user,
                         struct pw_error *err);

/* The honest chip with `seeds` seeds: every signature with every seed, its dtypes in turn, each at least once. Each
 * case that fails is an alarm, described in a line of *text. */
struct liar_alarms {
    size_t runs, cases, warned, failed, skipped, unproven, mistrusted;
    struct pw_buf text;
};
pw_status liar_study_honest(struct liar_study *study, int seeds, struct liar_alarms *out, liar_progress *progress,
                            void *user, struct pw_error *err);

/* Each kind of fault once through `portwright --check`, on a graph of one node where the run before caught it (another
 * operator for each kind): the honest chip must exit with 0, the faulty one with 1 and the operator's name. What does
 * not is described in a line of *text. Runs one after the other. */
struct liar_gate {
    size_t kinds, held;
    struct pw_buf text;
};
pw_status liar_study_gate(const struct liar_study *study, const char *portwright, struct liar_gate *out,
                          liar_progress *progress, void *user, struct pw_error *err);

#endif
