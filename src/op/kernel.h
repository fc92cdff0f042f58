/*
 * Kernels are data: a YAML description (DESIGN.md, format 1) and sources, read from ops
 * directories. This file turns them into plans: what to build and launch for one concrete call.
 *
 * Format 1, beside the keys of DESIGN.md:
 *   implements: Softmax-13, com.microsoft:Gelu-1; without a version (Softmax): every version.
 *   kernels:  [description, …] instead of one description in a file; `format` stays at the top.
 *   dtypes:   a list for the type variable of the first formal, or a map {T: [...], T1: [...]}. Strict: the
 *             variable of every formal that is an argument is listed, or its type is a dtype (int64).
 *   sources:  {opencl: file} or {opencl: [file, …]}, files beside the description, put together in order.
 *   defines:  {NAME: expression or "{word}"} — -D for the build. (A value that differs per shape
 *             costs a build per shape: a second on PoCL. Prefer arguments.)
 *   entry:    may hold {operator} (the op type), {word} names bound by the room, and integers: bound,
 *             variables, or parameters (such a parameter is no -D: its variants share one program).
 *   variables: {name: expression}, evaluated in order, usable in everything below.
 *   each:     on a launch: a variadic formal; the launch repeats for each, `i` is its index, and
 *             variadic formals' names and NAME_size, NAME_d0… mean element i.
 *   when:     on a launch: an expression; 0 skips the launch. A global size of 0 skips it too.
 *   args:     formal (buffer; omitted optional = NULL; variadic: NAME[expr] or within `each`), scratch or
 *             prepack name, int array, integer expression (int; "expr:long" for long), bound float or float
 *             attribute ("name": float; "name:double"). An int that does not fit makes the kernel
 *             unsupported, with the reason.
 *   found:    as an argument, for operators whose output sizes the data decides (op.h, `most`): `__global int *`, into
 *             which a launch writes the dim that came out. Output sizes in expressions are the largest possible ones.
 *   prepack:  [{output: Bp, input: B, bytes: expr, launch: {entry, global, local, args}}]: run once
 *             per constant input; when the input is not constant it runs before each launch.
 *   global/local: 1 to 3 expressions. local omitted = chosen by the runtime; prefer stating it.
 *   priority: integer expression; among supported kernels the highest is selected (default 0).
 *   options:  build options, a list from: -cl-mad-enable, -cl-fast-relaxed-math,
 *             -cl-no-signed-zeros, -cl-denorms-are-zero, -cl-finite-math-only.
 *   provenance: {author: hand|tuned|agent|generated, algorithm, tiling, …}.
 * Names of a formal: X as in the operator, or by position in0, in1…, out0…, so that one description serves
 * operators that name theirs differently; out_X where an input has the same name. In expressions: X_rank
 * (-1 when omitted), X_size, X_bytes (of an element), X_d0…, X_count (of a variadic one; X_size[i] its
 * elements), has_X, and the int attributes; then what the room binds.
 * For each formal X among the arguments, under the name used there, the build gets -DX_dtype=f32 (short name)
 * and -DX_bytes=4 so that PW_LOAD(X, i) / PW_STORE of ops/prelude.cl work for every storage type; the first
 * formal's type also as -DT_dtype. Parameters are -DNAME=value.
 */
#ifndef PW_OP_KERNEL_H
#define PW_OP_KERNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/hash.h"
#include "op/op.h"

/* Facts about a device that expressions may use (local_mem_bytes, max_work_group, vector_width,
 * compute_units, work_group_multiple, has_fp64, has_fp16, is_cpu). */
struct pw_device_facts {
    int64_t local_mem_bytes;
    int64_t max_work_group;
    int64_t vector_width; /* preferred floats */
    int64_t work_group_multiple;
    int64_t compute_units;
    int64_t global_mem_bytes;
    int64_t max_alloc_bytes;
    bool has_fp64;
    bool has_fp16;
    bool is_cpu;
    const char *const *languages; /* accepted source languages, ended by NULL, best first */
};

struct pw_kernel;  /* one description */
struct pw_kernels; /* all of the loaded ops directories; immutable after loading */

/* Loads every YAML file in the folders <dir>/<family>, dirs in order; a later dir's kernel of the same name replaces an
 * earlier one. <dir>/prelude.cl (an overlay may do without) goes before every OpenCL source. `foreign` marks dirs that
 * are not the installed one. */
struct pw_ops_dir {
    const char *path;
    bool foreign;
};
pw_status pw_kernels_load(const struct pw_ops_dir *dirs, size_t dir_count, struct pw_kernels **out,
                          struct pw_error *err);
void pw_kernels_destroy(struct pw_kernels *kernels);
size_t pw_kernels_count(const struct pw_kernels *kernels);
const struct pw_kernel *pw_kernels_at(const struct pw_kernels *kernels, size_t i);
const struct pw_kernel *pw_kernels_find(const struct pw_kernels *kernels, const char *name);

const char *pw_kernel_name(const struct pw_kernel *kernel);
const char *pw_kernel_path(const struct pw_kernel *kernel); /* of the YAML */
bool pw_kernel_foreign(const struct pw_kernel *kernel);
const char *pw_kernel_author(const struct pw_kernel *kernel);    /* provenance.author */
const char *pw_kernel_algorithm(const struct pw_kernel *kernel); /* provenance, "" when not given */
const char *pw_kernel_tiling(const struct pw_kernel *kernel);
/* Source text for a language (without the prelude), or NULL. */
const char *pw_kernel_source(const struct pw_kernel *kernel, const char *language);
/* The language of its i-th source, NULL behind the last: for those who show it. */
const char *pw_kernel_language(const struct pw_kernel *kernel, size_t i);
/* Path of the file that holds it, the last where there are several, or NULL. */
const char *pw_kernel_source_path(const struct pw_kernel *kernel, const char *language);
struct pw_hash128 pw_kernel_hash(const struct pw_kernel *kernel); /* YAML and sources */
bool pw_kernel_implements(const struct pw_kernel *kernel, const struct pw_op *op);
bool pw_kernel_claims(const struct pw_kernel *kernel, const char *type_variable, pw_dtype dtype);

/* Distinct values above 1 of all tuning parameters (tiles, work-group sizes…): returns how many, fills up to cap. */
size_t pw_kernel_parameter_values(const struct pw_kernel *kernel, int64_t *out, size_t cap);

/* ---- a plan: what a target must do for one concrete call; plain data in its arena, sources in the kernel set,
 * which must outlive it ---- */

typedef enum {
    PW_BUFFER_INPUT,   /* index = input of the call */
    PW_BUFFER_OUTPUT,  /* index = output of the call */
    PW_BUFFER_SCRATCH, /* size_bytes, content undefined */
    PW_BUFFER_PACKED,  /* written by a pack launch, kept while input `index` is constant */
    PW_BUFFER_INTS,    /* index unused; `ints` are the content */
    PW_BUFFER_FOUND    /* an int that a launch writes: the dim that the data decided */
} pw_buffer_kind;

struct pw_plan_buffer {
    pw_buffer_kind kind;
    int index;
    size_t size_bytes;
    const int32_t *ints;
};

struct pw_plan_arg {
    enum { PW_ARG_BUFFER, PW_ARG_NULL, PW_ARG_INT, PW_ARG_LONG, PW_ARG_FLOAT, PW_ARG_DOUBLE } kind;
    int buffer; /* index into buffers */
    int64_t i;
    double f;
};

struct pw_plan_launch {
    int program; /* index into programs */
    const char *entry;
    int work_dim;
    uint64_t global[3];
    uint64_t local[3]; /* all 0: the runtime chooses */
    const struct pw_plan_arg *args;
    size_t arg_count;
    bool pack; /* belongs to a prepack: skip when the packed buffer is valid */
};

struct pw_plan_program {
    const char *language; /* "opencl", … */
    const char *source;   /* prelude and source */
    const char *options;  /* -D… and build options */
    bool foreign;
};

struct pw_plan {
    struct pw_arena arena;
    const struct pw_kernel *kernel;
    struct pw_plan_buffer *buffers;
    size_t buffer_count;
    struct pw_plan_program *programs;
    size_t program_count;
    struct pw_plan_launch *launches;
    size_t launch_count;
};
void pw_plan_clear(struct pw_plan *plan);

/* Does the kernel serve this concrete call (all dims numbers, PARAM contents known) on the device?
 * PW_OK with *supported and, when not, the reason in why (a sentence). *priority set when supported.
 * parameters: NULL for the first values of the description that satisfy the constraints. */
struct pw_parameter {
    const char *name;
    int64_t value;
};
pw_status pw_kernel_supports(const struct pw_kernel *kernel, const struct pw_call *call,
                             const struct pw_device_facts *facts, const struct pw_parameter *parameters,
                             size_t parameter_count, bool *supported, int64_t *priority, struct pw_buf *why,
                             struct pw_error *err);
pw_status pw_kernel_plan(const struct pw_kernel *kernel, const struct pw_call *call,
                         const struct pw_device_facts *facts, const struct pw_parameter *parameters,
                         size_t parameter_count, struct pw_plan *out, struct pw_error *err);

/* All kernels that implement call->op, ordered as in the directories. Returns how many; fills up to cap. */
size_t pw_kernels_for(const struct pw_kernels *kernels, const struct pw_op *op, const struct pw_kernel **out,
                      size_t cap);

/* Default ops directory: $PORTWRIGHT_OPS_DIR, else the installed one, else the source tree's (when run from a build).
 */
const char *pw_ops_dir_default(void);

#endif
