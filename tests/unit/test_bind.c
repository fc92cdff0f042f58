/* Named values of a call: explicit ones and what follows from the call. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "op/bind.h"

static const struct pw_attr_def attrs[] = {
    {.name = "axis", .type = PW_ATTR_INT, .i = -1}, {.name = "alpha", .type = PW_ATTR_FLOAT, .f = 0.5f}, {0}};
static const struct pw_formal inputs[] = {
    {"X", "T", 0}, {"mean", "T", PW_FORMAL_OPTIONAL}, {"parts", "T", PW_FORMAL_VARIADIC}, {0}};
static const struct pw_formal outputs[] = {{"Y", "T", 0}, {"mean", "T", PW_FORMAL_OPTIONAL}, {0}};
static const struct pw_op op = {
    .domain = "", .name = "Tiny", .since = 1, .attrs = attrs, .inputs = inputs, .outputs = outputs};

struct fixture {
    struct pw_node node;
    struct pw_info infos[4], out[2];
    const struct pw_info *in[4];
    bool wanted[2];
    struct pw_call call;
};

static void set_info(struct pw_info *info, int rank, int64_t d0, int64_t d1)
{
    *info = (struct pw_info){.kind = PW_VALUE_TENSOR, .dtype = PW_DTYPE_FLOAT16, .rank = rank, .dims = {d0, d1}};
}

static void make(struct fixture *f)
{
    memset(f, 0, sizeof *f);
    set_info(&f->infos[0], 2, 5, 7);
    set_info(&f->infos[2], 1, 3, 0);
    set_info(&f->infos[3], 2, 4, 6);
    set_info(&f->out[0], 2, 5, 7);
    set_info(&f->out[1], 1, 5, 0);
    f->in[0] = &f->infos[0];
    f->in[2] = &f->infos[2];
    f->in[3] = &f->infos[3];
    f->wanted[0] = true;
    f->call = (struct pw_call){.op = &op,
                               .node = &f->node,
                               .input_count = 4,
                               .in = f->in,
                               .output_count = 2,
                               .out = f->out,
                               .wanted = f->wanted};
}

static void test_derived(void **state)
{
    static const struct {
        const char *name;
        int element;
        int64_t value;
    } cases[] = {
        {"X_rank", 0, 2},       {"X_size", 0, 35},     {"X_bytes", 0, 2},    {"X_d0", 0, 5},        {"X_d1", 0, 7},
        {"in0_d1", 0, 7},       {"out0_size", 0, 35},  {"has_X", 0, 1},      {"has_mean", 0, 0},    {"mean_size", 0, 0},
        {"mean_rank", 0, -1},   {"parts_count", 0, 2}, {"parts_size", 0, 3}, {"parts_size", 1, 24}, {"parts_d1", 1, 6},
        {"has_out_mean", 0, 0}, {"has_out1", 0, 0},    {"axis", 0, -1},      {"X_d0", 1, 5},
    };
    struct fixture f;
    int64_t value;

    (void)state;
    make(&f);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        value = -999;
        if (!pw_bind_derived(&f.call, cases[i].name, cases[i].element, &value) || value != cases[i].value)
            fail_msg("%s[%d] = %lld", cases[i].name, cases[i].element, (long long)value);
    }
    assert_false(pw_bind_derived(&f.call, "X_d2", 0, &value));
    assert_false(pw_bind_derived(&f.call, "X_d-1", 0, &value));
    assert_false(pw_bind_derived(&f.call, "Z_size", 0, &value));
    assert_false(pw_bind_derived(&f.call, "in9_size", 0, &value));
    assert_false(pw_bind_derived(&f.call, "alpha", 0, &value));
    assert_false(pw_bind_derived(&f.call, "", 0, &value));
    f.infos[0].dims[0] = PW_DIM_UNKNOWN;
    assert_false(pw_bind_derived(&f.call, "X_size", 0, &value));
    assert_false(pw_bind_derived(&f.call, "X_d0", 0, &value));
    f.infos[0].dims[0] = INT64_MAX;
    f.infos[0].dims[1] = INT64_MAX;
    assert_false(pw_bind_derived(&f.call, "X_size", 0, &value));
}

static void test_explicit(void **state)
{
    static struct pw_bindings b;
    const int64_t ints[] = {4, -5, 1ll << 40};
    struct pw_arena arena = {0};
    struct pw_error err = {0};
    char name[16];

    (void)state;
    pw_bindings_init(&b, &arena);
    assert_int_equal(pw_bind_int(&b, "rows", 12, &err), PW_OK);
    assert_int_equal(pw_bind_float(&b, "scale", 0.25, &err), PW_OK);
    assert_int_equal(pw_bind_ints(&b, "strides", ints, 3, &err), PW_OK);
    assert_int_equal(pw_bind_ints(&b, "none", NULL, 0, &err), PW_OK);
    assert_int_equal(pw_bind_word(&b, "mode", "reflect_2", &err), PW_OK);
    assert_int_equal(pw_bindings_find(&b, "rows")->i, 12);
    assert_true(pw_bindings_find(&b, "scale")->f == 0.25);
    assert_int_equal(pw_bindings_find(&b, "strides")->ints[2], 1ll << 40);
    assert_int_equal(pw_bindings_find(&b, "none")->count, 0);
    assert_string_equal(pw_bindings_find(&b, "mode")->word, "reflect_2");
    assert_null(pw_bindings_find(&b, "row"));

    assert_int_equal(pw_bind_int(&b, "rows", 1, &err), PW_ERR_INTERNAL);
    assert_non_null(strstr(err.message, "'rows' is bound twice"));
    pw_error_clear(&err);
    assert_int_equal(pw_bind_int(&b, "2rows", 1, &err), PW_ERR_INTERNAL);
    pw_error_clear(&err);
    assert_int_equal(pw_bind_word(&b, "w", "a b", &err), PW_ERR_INTERNAL);
    pw_error_clear(&err);
    assert_int_equal(pw_bind_word(&b, "w", "", &err), PW_ERR_INTERNAL);
    pw_error_clear(&err);
    for (int i = 0; i < PW_BINDINGS_MAX - 5; i++) {
        snprintf(name, sizeof name, "n%d", i);
        assert_int_equal(pw_bind_int(&b, name, i, &err), PW_OK);
    }
    assert_int_equal(pw_bind_int(&b, "more", 1, &err), PW_ERR_INTERNAL);
    assert_int_equal(pw_bindings_find(&b, "n100")->i, 100);
    pw_arena_clear(&arena);
}

static void test_formals(void **state)
{
    struct pw_formal_ref ref;
    struct fixture f;

    (void)state;
    make(&f);
    assert_true(pw_bind_formal(&op, "mean", 4, &ref));
    assert_false(ref.output);
    assert_int_equal(ref.formal, 1);
    assert_true(pw_bind_formal(&op, "out_mean", 8, &ref));
    assert_true(ref.output);
    assert_int_equal(ref.formal, 1);
    assert_null(pw_bind_info(&f.call, &ref, 0)); /* not wanted */
    assert_true(pw_bind_formal(&op, "in2", 3, &ref));
    assert_true(ref.variadic);
    assert_int_equal(pw_bind_count(&f.call, &ref), 2);
    assert_ptr_equal(pw_bind_info(&f.call, &ref, 1), &f.infos[3]);
    assert_null(pw_bind_info(&f.call, &ref, 2));
    assert_null(pw_bind_info(&f.call, &ref, -1));
    assert_false(pw_bind_formal(&op, "in", 2, &ref));
    assert_false(pw_bind_formal(&op, "in03x", 5, &ref));
    assert_false(pw_bind_formal(&op, "out2", 4, &ref));
    assert_false(pw_bind_formal(&op, "", 0, &ref));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_derived),
        cmocka_unit_test(test_explicit),
        cmocka_unit_test(test_formals),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
