/* Ids of cases: they come back as they were, one is taken apart by hand, junk is refused with what was expected. */
#include "tests/unit/case_site.h"

#define S "3:0123456789abcdef:"

static void test_ids_come_back(void **state)
{
    static const char *const ids[] = {
        S "f32:graph:normal:1",
        S "f32:graph:exact:18446744073709551615",
        S "f16:i0=7x384,i1=384x13,axis=-1:cancel:5",
        S "bf16:i0=s,v1=e,v2=3.-1.0,axes=0.2,perm=1.,pads=e:special:0",
        S "i64:i0=0x3:wide:2",
        S "f32:graph:normal/sum:9",
        S "f32:graph:captured:00ff00ff00ff00ff",
    };
    struct pw_signature signature = {.id = "0123456789abcdef", .call = &(struct pw_call){.input_count = 0}};

    (void)state;
    for (size_t i = 0; i < sizeof ids / sizeof *ids; i++) {
        struct pw_case_spec spec;
        struct pw_error err = {0};
        char id[17], again[PW_CASE_ID_MAX];

        check(pw_case_id_parse(ids[i], id, &spec, &err), &err);
        assert_string_equal(id, "0123456789abcdef");
        assert_true(pw_case_id_print(&signature, &spec, again));
        assert_string_equal(again, ids[i]);
    }
}

static void test_id_by_hand(void **state)
{
    struct pw_case_spec spec;
    struct pw_error err = {0};
    char id[17];

    (void)state;
    check(pw_case_id_parse(S "f16:i1=2x0,v2=-4.5,axis=-1,axes=3.:wide/odd:77", id, &spec, &err), &err);
    assert_int_equal(spec.dtype, PW_DTYPE_FLOAT16);
    assert_int_equal(spec.dist, PW_DIST_WIDE);
    assert_string_equal(spec.property, "odd");
    assert_int_equal(spec.seed, 77);
    assert_int_equal(spec.change_count, 4);
    assert_int_equal(spec.changes[0].kind, PW_CHANGE_SHAPE);
    assert_int_equal(spec.changes[0].input, 1);
    assert_int_equal(spec.changes[0].values[1], 0);
    assert_int_equal(spec.changes[1].kind, PW_CHANGE_CONTENT);
    assert_int_equal(spec.changes[1].values[0], -4);
    assert_int_equal(spec.changes[1].values[1], 5);
    assert_int_equal(spec.changes[2].kind, PW_CHANGE_INT);
    assert_int_equal(spec.changes[2].values[0], -1);
    assert_int_equal(spec.changes[3].kind, PW_CHANGE_INTS);
    assert_int_equal(spec.changes[3].count, 1);
}

static void test_junk_ids(void **state)
{
    static const struct {
        const char *id, *says;
    } junk[] = {
        {"", "expected format 3"},
        {"1:abc", "expected format 3"},
        {"2:0123456789abcdef:f32:graph:normal:1", "expected format 3"},
        {"3:zz", "expected 3:<signature>"},
        {"3:0123456789ABCDEF:f32:graph:normal:1", "expected 3:<signature>"},
        {S "f32:graph:normal:1:2", "expected 3:<signature>"},
        {S "f33:graph:normal:1", "no dtype is named 'f33'"},
        {S "f32::normal:1", "neither 'graph' nor changes"},
        {S "f32:i0=2x-3:normal:1", "neither 'graph' nor changes"},
        {S "f32:i0=2xx3:normal:1", "neither 'graph' nor changes"},
        {S "f32:i999=2:normal:1", "neither 'graph' nor changes"},
        {S "f32:i0=99999999999999999999:normal:1", "neither 'graph' nor changes"},
        {S "f32:i0=1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1:normal:1", "neither 'graph' nor changes"},
        {S "f32:=1:normal:1", "neither 'graph' nor changes"},
        {S "f32:ax;is=1:normal:1", "neither 'graph' nor changes"},
        {S "f32:graph:normall:1", "no distribution is named 'normall'"},
        {S "f32:graph:normal/:1", "no property is named ''"},
        {S "f32:graph:normal:-1", "'-1' is no seed"},
        {S "f32:graph:normal:1x", "'1x' is no seed"},
        {S "f32:graph:normal:18446744073709551616", "is no seed"},
        {S "f32:graph:captured:17", "is no hash of captured tensors"},
    };
    char longest[2 * PW_CASE_ID_MAX];
    struct pw_case_spec spec;
    char id[17];

    (void)state;
    for (size_t i = 0; i < sizeof junk / sizeof *junk; i++) {
        struct pw_error err = {0};

        if (pw_case_id_parse(junk[i].id, id, &spec, &err) != PW_ERR_USAGE || !strstr(err.message, junk[i].says))
            fail_msg("'%s': expected '%s', found '%s'", junk[i].id, junk[i].says, err.message);
    }
    memset(longest, '1', sizeof longest);
    longest[sizeof longest - 1] = '\0';
    assert_int_equal(pw_case_id_parse(longest, id, &spec, NULL), PW_ERR_USAGE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ids_come_back),
        cmocka_unit_test(test_id_by_hand),
        cmocka_unit_test(test_junk_ids),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
