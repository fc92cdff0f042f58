/*
 * The named values of one call that kernels' expressions and arguments may use (pw_bind_* of op.h fills
 * them). Explicit names come from the room's bind callback; what follows from the call itself (X_size,
 * X_d0, X_rank, X_bytes, has_X, attributes) is looked up when asked for and never stored.
 *
 * A formal is named X as in the operator's definition or by position: in0, in1…, out0…. Where an input
 * and an output share a name, X is the input and out_X the output. Used by op/kernel_plan.c; one thread.
 */
#ifndef PW_OP_BIND_H
#define PW_OP_BIND_H

#include "op/op.h"

typedef enum { PW_BOUND_INT, PW_BOUND_FLOAT, PW_BOUND_INTS, PW_BOUND_WORD } pw_bound_kind;

struct pw_bound {
    const char *name; /* all texts and arrays are in the arena */
    pw_bound_kind kind;
    int64_t i;
    double f;
    const int64_t *ints;
    size_t count; /* of ints */
    const char *word;
};

#define PW_BINDINGS_MAX 192
#define PW_BINDINGS_SLOTS 512

struct pw_bindings {
    struct pw_arena *arena;
    struct pw_bound items[PW_BINDINGS_MAX];
    size_t count;
    uint16_t slots[PW_BINDINGS_SLOTS]; /* index + 1 by hash of the name; 0 = free */
};

void pw_bindings_init(struct pw_bindings *b, struct pw_arena *arena);
const struct pw_bound *pw_bindings_find(const struct pw_bindings *b, const char *name);

/* Where a formal's name points to. */
struct pw_formal_ref {
    bool output;
    int formal; /* position in op->inputs or op->outputs */
    bool variadic;
    const struct pw_formal *def;
};
/* Name (X, in0, out0, out_X) of `size` bytes to a formal of the operator; false when there is none. */
bool pw_bind_formal(const struct pw_op *op, const char *name, size_t size, struct pw_formal_ref *out);
/* Info of element `element` of a variadic formal, the only one of another; NULL when omitted. */
const struct pw_info *pw_bind_info(const struct pw_call *call, const struct pw_formal_ref *ref, int element);
/* How many elements a formal has in the call: 0 or 1, any number when variadic. */
int pw_bind_count(const struct pw_call *call, const struct pw_formal_ref *ref);

/* X_rank, X_size, X_bytes, X_d0…X_d15, X_count, has_X, and int attributes. `element` selects among a variadic
 * formal's. False when the name is not of that kind, or the size is not a number. */
bool pw_bind_derived(const struct pw_call *call, const char *name, int element, int64_t *value);

/* Lists every name that is known for the call, for "did you mean": visits explicit and derived ones. */
typedef void pw_bind_visit(void *user, const char *name);
void pw_bind_names(const struct pw_call *call, const struct pw_bindings *b, pw_bind_visit *visit, void *user);

#endif
