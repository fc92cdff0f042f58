/* Runs every room's named cases on the references: one test a case and mode. The case's outputs are
 * hand-computed, so this tests the reference; inference is tested against what the reference made. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "graph/infer.h"
#include "op/cases.h"
#include "run/eval.h"
#include "tensor/compare.h"

struct job {
    const struct pw_room_case *c;
    pw_eval_mode mode;
};

struct fixture {
    struct pw_case_data data;
    const struct pw_value *inputs[PW_CASE_MAX_INPUTS]; /* nominal; NULL = omitted */
    struct pw_dims *dims;
    struct pw_arena arena;
    struct pw_call call;
    struct pw_value outputs[PW_CASE_MAX_OUTPUTS]; /* rounded */
};

static double largest(const struct pw_tensor *t)
{
    double out = 0.0;

    for (int64_t i = 0; i < t->count; i++) {
        double x = fabs(pw_tensor_get(t, i));

        out = isfinite(x) && x > out ? x : out;
    }
    return out;
}

static void check_inferred(const char *name, int i, const struct pw_info *info, const struct pw_value *value)
{
    const struct pw_tensor *t = &value->tensor;

    if (info->kind == PW_VALUE_NONE || value->kind == PW_VALUE_NONE)
        return; /* only control flow and optionals leave the kind open */
    if (info->kind != value->kind)
        fail_msg("%s: output %d: inferred kind %d, the reference made %d", name, i, (int)info->kind, (int)value->kind);
    if (value->kind == PW_VALUE_SEQUENCE) {
        if (info->dtype != PW_DTYPE_UNDEFINED && info->dtype != value->item_dtype)
            fail_msg("%s: output %d: inferred items of %s, the reference made %s", name, i, pw_dtype_name(info->dtype),
                     pw_dtype_name(value->item_dtype));
        return;
    }
    if (info->dtype != t->nominal)
        fail_msg("%s: output %d: inferred %s, the reference made %s", name, i, pw_dtype_name(info->dtype),
                 pw_dtype_name(t->nominal));
    if (info->rank < 0)
        return;
    if (info->rank != t->rank)
        fail_msg("%s: output %d: inferred rank %d, the reference made %d", name, i, info->rank, t->rank);
    for (int d = 0; d < t->rank; d++) {
        if (info->dims[d] >= 0 && info->dims[d] != t->dims[d])
            fail_msg("%s: output %d: inferred %lld for dim %d, the reference made %lld", name, i,
                     (long long)info->dims[d], d, (long long)t->dims[d]);
    }
}

static void check_tensor(const struct job *job, int i, const struct pw_tensor *got, const struct pw_tensor *want)
{
    struct pw_error err = {0};
    struct pw_buf at = {0};
    double rtol = job->c->rtol > 0.0 ? job->c->rtol : 1e-6, atol = 1e-9;
    int64_t bad = -1;
    char message[256];

    if (job->mode == PW_EVAL_FAST && pw_dtype_is_float(want->nominal)) {
        rtol = fmax(rtol, fmax(2e-5, 2.0 * pw_dtype_epsilon(want->nominal)));
        atol = fmax(atol, 1e-5 * largest(want));
    }
    if (pw_compare_close(got, want, rtol, atol, &bad, &err) != PW_OK)
        fail_msg("%s: output %d: %s", job->c->name, i, err.message);
    if (bad < 0)
        return;
    pw_compare_coordinates(want, bad, &at);
    snprintf(message, sizeof message, "%s: output %d at %s: expected %.9g, found %.9g", job->c->name, i,
             pw_buf_text(&at), pw_tensor_get(want, bad), pw_tensor_get(got, bad));
    pw_buf_clear(&at);
    fail_msg("%s", message);
}

static void check_value(const struct job *job, int i, const struct pw_value *got, const struct pw_value *want)
{
    if (got->kind != want->kind)
        fail_msg("%s: output %d: expected kind %d, found %d", job->c->name, i, (int)want->kind, (int)got->kind);
    if (want->kind == PW_VALUE_TENSOR)
        check_tensor(job, i, &got->tensor, &want->tensor);
    if (want->kind == PW_VALUE_SEQUENCE) {
        if (got->count != want->count)
            fail_msg("%s: output %d: expected %zu items, found %zu", job->c->name, i, want->count, got->count);
        for (size_t k = 0; k < want->count; k++)
            check_value(job, i, &got->items[k], &want->items[k]);
    }
}

/* Everything up to rounded outputs; the first error of any step. */
static pw_status evaluate(const struct job *job, struct fixture *f, struct pw_error *err)
{
    struct pw_value carried[PW_CASE_MAX_INPUTS] = {{0}}, made[PW_CASE_MAX_OUTPUTS] = {{0}};
    const struct pw_value *given[PW_CASE_MAX_INPUTS] = {NULL};
    struct pw_node *node = f->data.node;
    pw_status status = pw_op_check(node->op, node, err);

    for (size_t i = 0; i < f->data.input_count; i++)
        f->inputs[i] = node->inputs[i] == PW_NO_VALUE ? NULL : &f->data.inputs[i];
    if (status == PW_OK)
        status = pw_call_from_values(node, f->inputs, (int)f->data.input_count, f->dims, &f->arena, &f->call, err);
    for (size_t i = 0; i < f->data.input_count && status == PW_OK; i++) {
        if (f->inputs[i] == NULL)
            continue;
        status = pw_eval_carry(&carried[i], f->inputs[i], job->mode, err);
        given[i] = &carried[i];
    }
    if (status == PW_OK)
        status =
            pw_eval_node(node, job->mode, given, (int)f->data.input_count, made, (int)f->data.output_count, 1, err);
    for (size_t i = 0; i < f->data.output_count && status == PW_OK; i++)
        status = pw_eval_round(&f->outputs[i], &made[i], err);
    for (size_t i = 0; i < PW_CASE_MAX_INPUTS; i++)
        pw_value_clear(&carried[i]);
    for (size_t i = 0; i < PW_CASE_MAX_OUTPUTS; i++)
        pw_value_clear(&made[i]);
    return status;
}

static void test_case(void **state)
{
    const struct job *job = *state;
    struct fixture f = {.dims = NULL};
    struct pw_error err = {0};
    pw_status status;

    if (pw_case_parse(job->c, &f.data, &err) != PW_OK)
        fail_msg("%s", err.message);
    assert_int_equal(pw_dims_create(&f.dims, &err), PW_OK);
    status = evaluate(job, &f, &err);
    if (job->c->error != NULL) {
        if (status == PW_OK)
            fail_msg("%s: expected an error with '%s', found none", job->c->name, job->c->error);
        if (strstr(err.message, job->c->error) == NULL)
            fail_msg("%s: expected an error with '%s', found '%s'", job->c->name, job->c->error, err.message);
    } else if (status != PW_OK) {
        fail_msg("%s: %s", job->c->name, err.message);
    }
    for (size_t i = 0; i < f.data.output_count && status == PW_OK; i++) {
        check_inferred(job->c->name, (int)i, &f.call.out[i], &f.outputs[i]);
        if (job->c->outputs[i] != NULL && strcmp(job->c->outputs[i], "-") != 0)
            check_value(job, (int)i, &f.outputs[i], &f.data.outputs[i]);
    }
    if (status == PW_OK && f.call.op->property != NULL &&
        f.call.op->property(&f.call, f.inputs, f.outputs, &err) != PW_OK)
        fail_msg("%s: %s", job->c->name, err.message);
    for (size_t i = 0; i < PW_CASE_MAX_OUTPUTS; i++)
        pw_value_clear(&f.outputs[i]);
    pw_case_clear(&f.data);
    pw_arena_clear(&f.arena);
    pw_dims_destroy(f.dims);
}

static bool has_fast(const struct pw_room_case *c)
{
    struct pw_case_data data;
    bool fast = false;

    if (pw_case_parse(c, &data, NULL) == PW_OK) {
        fast = data.node->op->fast != NULL;
        pw_case_clear(&data);
    }
    return fast;
}

static void add_test(struct CMUnitTest *test, struct job *job, const struct pw_room_case *c, pw_eval_mode mode,
                     struct pw_arena *arena)
{
    *job = (struct job){c, mode};
    test->name = pw_arena_printf(arena, "%s%s", c->name, mode == PW_EVAL_FAST ? " (fast)" : "");
    test->test_func = test_case;
    test->initial_state = job;
}

int main(int argc, char **argv)
{
    struct pw_arena arena = {0};
    struct CMUnitTest *tests = NULL;
    struct job *jobs = NULL;
    size_t count = 0, most = 0;
    int failed;

    for (const struct pw_room *room = pw_rooms; room->name != NULL; room++) {
        for (const struct pw_room_case *c = room->cases; c->name != NULL; c++)
            most += 2;
    }
    tests = pw_arena_alloc(&arena, most + 1, sizeof *tests);
    jobs = pw_arena_alloc(&arena, most + 1, sizeof *jobs);
    for (const struct pw_room *room = pw_rooms; room->name != NULL; room++) {
        for (const struct pw_room_case *c = room->cases; c->name != NULL; c++) {
            if (argc > 1 && !pw_text_starts(c->name, argv[1])) /* a room's or case's name: only that */
                continue;
            add_test(&tests[count], &jobs[count], c, PW_EVAL_GOLDEN, &arena);
            count++;
            if (has_fast(c)) {
                add_test(&tests[count], &jobs[count], c, PW_EVAL_FAST, &arena);
                count++;
            }
        }
    }
    failed = _cmocka_run_group_tests("rooms", tests, count, NULL, NULL);
    pw_arena_clear(&arena);
    return failed;
}
