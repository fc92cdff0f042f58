/*
 * The liar: a chip for tests that computes every operator in float, honestly, and on request commits one kind of
 * fault. The plugin (plugin.c) runs it in a worker; the study (study.h) links the same tables to know, before
 * anything runs, which fault concerns which operator in which dtype.
 *
 * Target: plugin:liar.so[:fault=NAME,strength=X,seed=N]. Without a fault it is honest; `seed` changes its roundings.
 * One thread at a time, as the interface says.
 */
#ifndef PW_TESTS_LIAR_LIAR_H
#define PW_TESTS_LIAR_LIAR_H

#include "op/cases.h"
#include "op/op.h"
#include "target/target.h"

struct liar_fault;

#define LIAR_MEMORY 512 /* answers that the chip remembers */
#define LIAR_LIMIT 1000 /* elements up to which a fault of large shapes does not show */
#define LIAR_OUTPUTS PW_CASE_MAX_OUTPUTS

/* What a chip remembers of calls of one key (operator, attributes, shapes): for replays and second runs. */
struct liar_memory {
    uint64_t key;
    uint64_t calls;
    uint64_t inputs; /* hash of those that made the answer */
    void *answer;    /* largest output, first answer; owned */
    size_t size;
};

extern const struct pw_target_info liar_info; /* how the chip describes itself (plugin.c's describe) */

struct liar_chip {
    const struct liar_fault *fault; /* NULL: honest */
    double strength;
    uint64_t seed;
    uint64_t calls;
    struct liar_memory memory[LIAR_MEMORY];
};

/* One call on the chip, from the request to the answer. */
struct liar_run {
    struct liar_chip *chip;
    double strength;
    struct pw_arena arena;
    struct pw_dims *dims;
    struct pw_case_data data;                   /* the node; faults may change its attributes */
    struct pw_value values[PW_CASE_MAX_INPUTS]; /* own copies, nominal dtypes; faults may change them */
    const struct pw_value *in[PW_CASE_MAX_INPUTS];
    int input_count;
    struct pw_call call;                  /* as asked, before any fault */
    struct pw_value golden[LIAR_OUTPUTS]; /* carried as float64, of the inputs as asked; made on demand */
    bool has_golden;
    struct pw_tensor out[LIAR_OUTPUTS]; /* nominal, shapes as asked */
    int output_count;
    int main;                 /* output with the most elements */
    double tolerance;         /* as the verifier judges this call by the default protocol */
    double floor;             /* of the main output */
    int64_t found;            /* the dim that the data decided */
    bool wrote[LIAR_OUTPUTS]; /* false: the chip leaves the memory as it was */
    int64_t unwritten_from;   /* of the main output: elements from here on stay as they were */
    struct liar_memory *memory;
    uint64_t key, inputs_hash;
    bool overrun, alias; /* what else the chip does to its memory */
};

struct liar_fault {
    const char *name;
    const char *what; /* one line */
    double least;     /* the weakest strength that must be caught; numeric faults: multiples of the tolerance */
    bool (*applies)(const struct pw_call *call);
    /* In this order, each may be NULL. */
    pw_status (*before)(struct liar_run *run, struct pw_error *err);  /* changes node or inputs */
    pw_status (*instead)(struct liar_run *run, struct pw_error *err); /* fills run->out itself */
    void (*after)(struct liar_run *run);                              /* changes run->out */
};
extern const struct liar_fault liar_faults[]; /* ended by name NULL */
const struct liar_fault *liar_fault_find(const char *name);

/* A mutant that no test could tell from the honest chip, with the proof. op and dtype are globs. */
struct liar_equivalent {
    const char *fault, *op, *dtype, *proof;
};
extern const struct liar_equivalent liar_equivalents[]; /* ended by fault NULL */
const struct liar_equivalent *liar_equivalent_find(const char *fault, const char *op, const char *dtype);

/* ---- the chip (chip.c) ---- */

/* The call from a request, the honest answer or the fault's, into run->out. */
pw_status liar_run_begin(struct liar_run *run, struct liar_chip *chip, const struct pw_target_library_call *request,
                         const void *const *inputs, struct pw_error *err);
pw_status liar_run_compute(struct liar_run *run, struct pw_error *err);
void liar_run_clear(struct liar_run *run);

/* Golden of the inputs as asked, carried. */
pw_status liar_golden(struct liar_run *run, struct pw_error *err);
/* Evaluates the (changed) node on the (changed) inputs as an honest chip: run->out. */
pw_status liar_honest(struct liar_run *run, struct pw_error *err);
/* The same, carried as float64, into outputs of the caller. */
pw_status liar_carried(struct liar_run *run, struct pw_value *outputs, struct pw_error *err);
/* Rounds carried outputs into run->out; shapes may differ (a wrong attribute): what fits is taken in order. */
pw_status liar_store(struct liar_run *run, const struct pw_value *carried, struct pw_error *err);

/* ---- looking at a call (faults' helpers, look.c) ---- */

bool liar_is(const struct pw_call *call, const char *const *names); /* op name among them; NULL ends */
pw_dtype liar_dtype(const struct pw_call *call);                    /* of output 0 */
bool liar_float_out(const struct pw_call *call);
bool liar_exact(const struct pw_call *call);                 /* tolerance 0: copies, integers, comparisons */
int64_t liar_count(const struct pw_call *call, int output);  /* elements; concrete */
int64_t liar_most(const struct pw_call *call);               /* of the largest output */
int64_t liar_columns(const struct pw_call *call);            /* last dim of the largest output */
int64_t liar_rows(const struct pw_call *call);               /* all elements / columns */
int64_t liar_lines(const struct pw_call *call);              /* the dim before the last one */
bool liar_accumulates(const struct pw_call *call);           /* sums more than two terms behind an element */
bool liar_linear(const struct pw_call *call);                /* linear in input 0, so that parts can be added */
bool liar_data_input(const struct pw_call *call);            /* has an input whose content may vary, with elements */
int64_t liar_input_count(const struct pw_call *call, int i); /* elements of a data input; 0 of others */
int liar_input_index(const struct pw_call *call, const char *name); /* of a formal; -1 */
bool liar_given(const struct pw_call *call, const char *name);
uint64_t liar_hash(uint64_t a, uint64_t b);
double liar_weight(uint64_t a); /* [-1, 1], of a hash */

/* Changing a node's attribute (in the run's arena). */
pw_status liar_set_int(struct liar_run *run, const char *name, int64_t value, struct pw_error *err);
pw_status liar_set_ints(struct liar_run *run, const char *name, const int64_t *values, size_t count,
                        struct pw_error *err);
pw_status liar_set_float(struct liar_run *run, const char *name, float value, struct pw_error *err);
void liar_remove_attr(struct liar_run *run, const char *name);
struct pw_tensor *liar_tensor(struct liar_run *run, const char *name); /* own copy of an input; NULL when omitted */

/* Moves element i of an output off golden by just more than strength * tolerance (or a given relative error); integers
 * by one. Needs the golden outputs. */
void liar_push_by(struct liar_run *run, int output, int64_t i, double relative);
void liar_push(struct liar_run *run, int output, int64_t i);

#endif
