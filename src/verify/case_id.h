/*
 * What makes a case, and its id. The id rebuilds the case on any machine that has the graph, the dims
 * and the same portwright: nothing else is remembered.
 *
 *   3:<signature>:<dtype>:<shapes>:<dist>[/<property>]:<seed or captured hash>
 *   <shapes> = graph | change[,change…]
 *   change   = iN=AxBxC   input N has this shape (a scalar: iN=s)
 *            | vN=A.B.C   the content of parameter input N (none: vN=e)
 *            | name=K     an int attribute
 *            | name=A.B   a list of ints with a dot; of one element: A.
 *
 * Plain data, any thread. Ids come from the command line: parsing trusts nothing.
 */
#ifndef PW_VERIFY_CASE_ID_H
#define PW_VERIFY_CASE_ID_H

#include "verify/verify.h"

#define PW_CASE_CHANGES_MAX 26
#define PW_CASE_VALUES_MAX 16
#define PW_CASE_NAME_MAX 32

typedef enum { PW_CHANGE_SHAPE, PW_CHANGE_CONTENT, PW_CHANGE_INT, PW_CHANGE_INTS } pw_change_kind;

struct pw_case_change {
    pw_change_kind kind;
    int input;                   /* SHAPE, CONTENT */
    char name[PW_CASE_NAME_MAX]; /* INT, INTS */
    int count;
    int64_t values[PW_CASE_VALUES_MAX];
};

struct pw_case_spec {
    pw_dist dist;
    uint64_t seed;
    pw_dtype dtype;                  /* storage; UNDEFINED: the graph's */
    char property[PW_CASE_NAME_MAX]; /* "": elements are compared */
    char captured[17];               /* hash of the set, with PW_DIST_CAPTURED */
    struct pw_case_change changes[PW_CASE_CHANGES_MAX];
    int change_count; /* 0: the graph's shapes */
};

/* The dtype in an id (the spec's, or the graph's). */
pw_dtype pw_case_dtype(const struct pw_signature *signature, const struct pw_case_spec *spec);
/* The input whose type variable the case's dtype sets; -1: no input (an output's). */
int pw_case_dtype_input(const struct pw_call *call);

/* False when it would be longer than PW_CASE_ID_MAX. */
bool pw_case_id_print(const struct pw_signature *signature, const struct pw_case_spec *spec, char dst[PW_CASE_ID_MAX]);
/* *signature receives the 16 hex digits. */
pw_status pw_case_id_parse(const char *id, char signature[17], struct pw_case_spec *spec, struct pw_error *err);

/* The change for an input or an attribute, or NULL. */
const struct pw_case_change *pw_case_change_of(const struct pw_case_spec *spec, pw_change_kind kind, int input);
/* Adds or replaces; false when there is no room. */
bool pw_case_change_set(struct pw_case_spec *spec, const struct pw_case_change *change);

#endif
