/*
 * Inside of a kernel description: what op/kernel_read.c makes of YAML, op/kernel_plan.c turns into plans
 * and op/kernel.c keeps. Immutable after loading, so read by any thread. YAML nodes stay in the set's
 * arena: errors that appear only for a concrete call still name file, line and key.
 */
#ifndef PW_OP_KERNEL_PARTS_H
#define PW_OP_KERNEL_PARTS_H

#include "base/yaml.h"
#include "op/bind.h"
#include "op/expr.h"
#include "op/kernel.h"

enum {
    PW_KERNEL_PARAMETERS_MAX = 16,
    PW_KERNEL_VARIABLES_MAX = 48,
    PW_KERNEL_ARGS_MAX = 64,
    PW_KERNEL_LIST_MAX = 64 /* constraints, launches, defines, scratch buffers, values of a parameter */
};

#define PW_KERNEL_FOUND "found" /* the argument of operators whose output sizes the data decides */

struct pw_kernel_expr {
    const struct pw_yaml *at;
    struct pw_expr *expr; /* owned by the set */
    uint32_t parameters;  /* bit p: depends on parameter p, through variables too */
};

struct pw_kernel_parameter {
    const char *name;
    int64_t *values;
    size_t count;
    bool in_entry; /* part of an entry's name, so not a macro: variants share one program */
};

struct pw_kernel_variable {
    const char *name;
    struct pw_kernel_expr value;
};

struct pw_kernel_dtypes {
    const char *variable; /* NULL: the list form, for the first formal's variable */
    uint32_t mask;        /* bit per pw_dtype */
    pw_dtype first;
};

typedef enum { PW_SUFFIX_NONE, PW_SUFFIX_INT, PW_SUFFIX_LONG, PW_SUFFIX_FLOAT, PW_SUFFIX_DOUBLE } pw_arg_suffix;

struct pw_kernel_arg {
    const struct pw_yaml *at;
    pw_arg_suffix suffix;
    const char *name; /* of a bare name, or of name[index]; else NULL */
    bool indexed;
    struct pw_kernel_expr expr; /* the whole argument; NULL expr for :float and :double */
    struct pw_kernel_expr index;
};

struct pw_kernel_launch {
    const struct pw_yaml *at;
    const struct pw_yaml *entry; /* text with {word}s */
    const char *each;            /* variadic formal, or NULL */
    struct pw_kernel_expr when;  /* NULL expr: always */
    int work_dim;
    bool has_local;
    struct pw_kernel_expr global[3], local[3];
    struct pw_kernel_arg *args;
    size_t arg_count;
};

struct pw_kernel_scratch {
    const char *name;
    struct pw_kernel_expr bytes;
};

struct pw_kernel_prepack {
    const struct pw_yaml *at;
    const char *output, *input;
    struct pw_kernel_expr bytes;
    struct pw_kernel_launch launch;
};

struct pw_kernel_define {
    const char *name;
    const struct pw_yaml *text; /* with {word}s, or NULL */
    struct pw_kernel_expr value;
};

struct pw_kernel_source {
    const char *language;
    const char *full; /* what is compiled: the prelude (OpenCL) and the files */
    const char *text; /* within full: without the prelude */
    const char *file; /* path of the last file, the kernel's own */
};

struct pw_kernel {
    const char *name, *path, *equals, *author, *algorithm, *tiling;
    const struct pw_yaml *at;
    bool foreign;
    struct pw_hash128 hash;
    const struct pw_op **ops;
    size_t op_count, op_cap;
    struct pw_kernel_dtypes *dtypes;
    size_t dtype_count;
    struct pw_kernel_source *sources;
    size_t source_count;
    struct pw_kernel_parameter *parameters;
    size_t parameter_count;
    struct pw_kernel_variable *variables;
    size_t variable_count;
    struct pw_kernel_expr *constraints;
    size_t constraint_count;
    struct pw_kernel_scratch *scratch;
    size_t scratch_count;
    struct pw_kernel_prepack *prepacks;
    size_t prepack_count;
    struct pw_kernel_define *defines;
    size_t define_count;
    struct pw_kernel_launch *launches;
    size_t launch_count;
    struct pw_kernel_expr priority; /* NULL expr: 0 */
    const char *options;            /* build options, separated by blanks */
    const char **arg_names;         /* distinct bare and indexed names of all arguments and `each` */
    size_t arg_name_count;
};

struct pw_kernels {
    struct pw_arena arena;
    struct pw_kernel **items;
    size_t count, cap;
    struct pw_expr **exprs; /* all compiled expressions */
    size_t expr_count, expr_cap;
};

/* Where a description is read from. */
struct pw_kernel_context {
    struct pw_kernels *set;
    const struct pw_room *rooms; /* known operators; ended by name NULL */
    const char *dir;             /* folder of the YAML and its sources */
    const char *path;            /* of the YAML */
    const char *prelude;
    bool foreign;
};

/* Reads one description (a map with the key `kernel`). The kernel lives in the set's arena; not added to items. */
pw_status pw_kernel_read(const struct pw_kernel_context *context, const struct pw_yaml *map, struct pw_kernel **out,
                         struct pw_error *err);
/* The launch part of a description (kernel_read_launch.c). */
pw_status pw_kernel_read_launch(const struct pw_kernel_context *context, const struct pw_yaml *map,
                                struct pw_kernel_launch *out, struct pw_error *err);
/* Compiles a scalar's text. */
pw_status pw_kernel_read_expr(const struct pw_kernel_context *context, const struct pw_yaml *node,
                              struct pw_kernel_expr *out, struct pw_error *err);
/* Compiles `text`, which is (part of) the scalar `node`. */
pw_status pw_kernel_read_text_expr(const struct pw_kernel_context *context, const struct pw_yaml *node,
                                   const char *text, struct pw_kernel_expr *out, struct pw_error *err);
/* Checks the references of a read kernel against its operators (kernel_check.c): formals, type variables, names. */
pw_status pw_kernel_check(const struct pw_kernel_context *context, struct pw_kernel *kernel, struct pw_error *err);

/* The dtype a formal's type fixes ("int64", "tensor(int64)"), or UNDEFINED for a variable. */
pw_dtype pw_kernel_fixed_dtype(const struct pw_formal *formal);
/* The entry for a formal of an operator, or NULL when the kernel does not list its variable. */
const struct pw_kernel_dtypes *pw_kernel_dtypes_of(const struct pw_kernel *kernel, const struct pw_op *op,
                                                   const struct pw_formal *formal);
const struct pw_kernel_scratch *pw_kernel_find_scratch(const struct pw_kernel *kernel, const char *name);
const struct pw_kernel_prepack *pw_kernel_find_prepack(const struct pw_kernel *kernel, const char *name);
bool pw_kernel_is_name(const char *text);

/* pw_kernels_load with other operators than the registry's: for tests. */
pw_status pw_kernels_load_rooms(const struct pw_ops_dir *dirs, size_t dir_count, const struct pw_room *rooms,
                                struct pw_kernels **out, struct pw_error *err);

/* ---- evaluation for one call (kernel_env.c) ---- */

struct pw_kernel_env {
    const struct pw_kernel *kernel;
    const struct pw_call *call;
    const struct pw_device_facts *facts;
    struct pw_bindings *bindings;
    int64_t parameters[PW_KERNEL_PARAMETERS_MAX];
    uint32_t parameters_set; /* bit p: has a value */
    int64_t variables[PW_KERNEL_VARIABLES_MAX];
    uint64_t variables_set;
    bool repeating; /* inside a launch with `each`: `i` is known */
    int element;
    const char *missed; /* name of the last failed lookup, for "did you mean" */
};

/* A pw_expr_lookup over a struct pw_kernel_env. */
bool pw_kernel_lookup(void *env, const char *name, int64_t index, int64_t *value);
/* PW_ERR_FORMAT with file, line, key for unknown names; PW_ERR_UNSUPPORTED for overflow and the like. */
pw_status pw_kernel_eval(struct pw_kernel_env *env, const struct pw_kernel_expr *expr, int64_t *out,
                         struct pw_error *err);
/* Replaces {operator} and {word}s. `raw` text comes from a scalar checked at load. */
pw_status pw_kernel_expand(struct pw_kernel_env *env, const struct pw_yaml *text, struct pw_arena *arena,
                           const char **out, struct pw_error *err);
/* Chooses parameters (the given ones fixed) so that all constraints hold; PW_ERR_UNSUPPORTED with the constraint. */
pw_status pw_kernel_choose(struct pw_kernel_env *env, const struct pw_parameter *given, size_t given_count,
                           struct pw_error *err);

#endif
