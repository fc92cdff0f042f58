/*
 * The verifier against the liar, in short: a few mutants of every fault, the honest chip once. All of them, with the
 * figures: make mutation. Here too: that the study's lists are whole, so that its figures mean what they say.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/liar/study.h"

#define SAMPLE 2    /* mutants a fault */
#define FAULTS 40   /* at least so many kinds */
#define LET_GO 0.02 /* share of a sample that may escape; make mutation has the figure that counts */

static char plugin[1024];

static struct liar_study *make_study(size_t sample, const char *op)
{
    struct liar_options options = {.plugin = plugin, .op = op, .sample = sample, .seed = 1, .jobs = 2};
    struct liar_study *study = NULL;
    struct pw_error err = {0};

    if (liar_study_create(&options, &study, &err) != PW_OK)
        fail_msg("%s", err.message);
    return study;
}

static bool has_mutant(const struct liar_study *study, const struct liar_fault *fault)
{
    for (size_t i = 0; i < study->mutant_count; i++)
        if (study->mutants[i].fault == fault)
            return true;
    return false;
}

static bool excludes_any(const struct liar_study *study, const struct liar_equivalent *e)
{
    for (size_t i = 0; i < study->mutant_count; i++)
        if (study->mutants[i].equivalent == e)
            return true;
    return false;
}

/* Every operator that a kernel serves has a signature, every fault a mutant, every proof something to exclude. */
static void test_lists(void **state)
{
    struct liar_study *study = make_study(0, NULL);
    size_t faults = 0, excluded = 0;

    (void)state;
    if (study->not_made_count > 0)
        print_error("%s", pw_buf_text(&study->not_made));
    assert_int_equal(study->not_made_count, 0);
    for (const struct liar_fault *fault = liar_faults; fault->name; fault++, faults++)
        if (!has_mutant(study, fault))
            fail_msg("fault '%s' applies nowhere", fault->name);
    assert_true(faults >= FAULTS);
    for (const struct liar_equivalent *e = liar_equivalents; e->fault; e++) {
        assert_true(strlen(e->proof) > 20);
        if (!excludes_any(study, e))
            fail_msg("the proof for %s, %s, %s excludes nothing", e->fault, e->op, e->dtype);
    }
    for (size_t i = 0; i < study->mutant_count; i++)
        excluded += study->mutants[i].equivalent != NULL;
    assert_true(excluded * 10 < study->mutant_count);
    liar_study_destroy(study);
}

static void test_caught(void **state)
{
    struct liar_study *study = make_study(SAMPLE, NULL);
    struct pw_error err = {0};
    size_t escaped = 0;

    (void)state;
    if (liar_study_run(study, 0, study->mutant_count, NULL, NULL, &err) != PW_OK)
        fail_msg("%s", err.message);
    for (size_t i = 0; i < study->mutant_count; i++) {
        const struct liar_mutant *mutant = &study->mutants[i];

        if (mutant->caught)
            continue;
        print_error("escaped: %s %s %s: %s\n", mutant->fault->name, mutant->op, pw_dtype_name(mutant->dtype),
                    mutant->reproducer);
        escaped++;
    }
    print_message("%zu of %zu mutants caught\n", study->mutant_count - escaped, study->mutant_count);
    assert_true((double)escaped <= LET_GO * (double)study->mutant_count);
    liar_study_destroy(study);
}

static void test_honest(void **state)
{
    static const char *const ops[] = {"[A-F]*", "[L-M]*", "[Q-T]*"};
    struct pw_error err = {0};

    (void)state;
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++) {
        struct liar_study *study = make_study(1, ops[i]);
        struct liar_alarms alarms;

        /* One in so many of the signatures, others for each part of the alphabet. */
        for (size_t k = 0; k < study->site_count; k++)
            study->sites[k].left_out = k % 7 != i;
        if (liar_study_honest(study, 1, &alarms, NULL, NULL, &err) != PW_OK)
            fail_msg("%s", err.message);
        if (alarms.failed > 0)
            print_error("%s", pw_buf_text(&alarms.text));
        print_message("%zu cases\n", alarms.cases);
        assert_int_equal(alarms.failed, 0);
        assert_true(alarms.cases > 100);
        pw_buf_clear(&alarms.text);
        liar_study_destroy(study);
    }
}

/* The target's own words about a fault that it does not have. */
static void test_spec(void **state)
{
    struct pw_device_options options = {.workers = 1};
    struct pw_device *device = NULL;
    struct pw_error err = {0};
    char spec[1200];

    (void)state;
    snprintf(spec, sizeof spec, "plugin:%s:fault=none_such", plugin);
    assert_int_equal(pw_device_open(spec, &options, &device, &err), PW_ERR_TARGET);
    assert_non_null(strstr(err.message, "'fault=none_such' is no fault=NAME"));
    assert_null(device);
}

int main(int argc, char **argv)
{
    const char *build = getenv("PW_BUILD");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lists),
        cmocka_unit_test(test_spec),
        cmocka_unit_test(test_caught),
        cmocka_unit_test(test_honest),
    };

    if (argc > 1 && !strcmp(argv[1], "--worker"))
        return pw_worker_main(argc, argv);
    snprintf(plugin, sizeof plugin, "%s/tests/liar/liar.so", build ? build : ".");
    return cmocka_run_group_tests_name("liar", tests, NULL, NULL);
}
