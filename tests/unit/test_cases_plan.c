/*
 * Which cases there are: ids, draws, shapes, the plan, properties and shrinking. The target is the liar of tests/liar:
 * honest where a plan is looked at, faulty where something has to be found.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "op/cases.h"
#include "target/worker.h"
#include "verify/draw.h"
#include "verify/plan.h"
#include "verify/verify_internal.h"

/* One call as a graph, on a liar. */
struct site {
    struct pw_buf bytes;
    struct pw_model *model;
    struct pw_inference *inference;
    struct pw_inventory *inventory;
    const struct pw_signature *signature;
    struct pw_kernels *kernels;
    struct pw_device *device;
    struct pw_protocol *protocol;
    struct pw_verify_request request;
    struct pw_impl_list impls;
    struct pw_arena arena;
};

static void check(pw_status status, const struct pw_error *err)
{
    if (status != PW_OK)
        fail_msg("%s", err->message);
}

static void open_site(struct site *s, const char *call, const char *fault)
{
    const char *build = getenv("PW_BUILD");
    struct pw_device_options options = {.workers = 1};
    struct pw_error err = {0};
    char spec[1024];

    *s = (struct site){.model = NULL};
    snprintf(spec, sizeof spec, "plugin:%s/tests/liar/liar.so%s%s", build ? build : ".", fault ? ":fault=" : "",
             fault ? fault : "");
    check(pw_case_model(&call, 1, &s->bytes, &err), &err);
    check(pw_model_parse(s->bytes.data, s->bytes.size, "site", NULL, &s->model, &err), &err);
    check(pw_infer_graph(s->model, NULL, 0, &s->inference, &err), &err);
    check(pw_inventory_create(s->model, s->inference, &s->inventory, &err), &err);
    check(pw_kernels_load(NULL, 0, &s->kernels, &err), &err);
    check(pw_device_open(spec, &options, &s->device, &err), &err);
    check(pw_protocol_default(&s->protocol, &err), &err);
    assert_int_equal(s->inventory->signature_count, 1);
    s->signature = &s->inventory->signatures[0];
    s->request = (struct pw_verify_request){.inventory = s->inventory,
                                            .kernels = s->kernels,
                                            .device = s->device,
                                            .protocol = s->protocol,
                                            .effort = {.dtypes = UINT32_MAX},
                                            .seed = 1,
                                            .jobs = 1};
    check(pw_impl_find(s->signature->call, s->kernels, s->device, &s->arena, &s->impls, &err), &err);
    assert_true(s->impls.selected >= 0);
}

static void close_site(struct site *s)
{
    pw_arena_clear(&s->arena);
    pw_protocol_destroy(s->protocol);
    pw_device_close(s->device);
    pw_kernels_destroy(s->kernels);
    pw_inventory_destroy(s->inventory);
    pw_inference_destroy(s->inference);
    pw_model_destroy(s->model);
    pw_buf_clear(&s->bytes);
}

/* ---- ids ---- */

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

/* ---- draws ---- */

static const struct pw_fill any = {.low = -INFINITY, .high = INFINITY, .int_low = -100, .int_high = 100};

static void draw(pw_dtype dtype, pw_dist dist, uint64_t seed, struct pw_tensor *t)
{
    int64_t shape[2] = {64, 32};
    struct pw_draw d = {
        .dist = dist, .seed = seed, .stream = 1, .fill = &any, .exponents = 12, .share = 0.5, .masks = true};
    struct pw_error err = {0};

    check(pw_tensor_init(t, dtype, 2, shape, &err), &err);
    pw_draw_tensor(t, &d);
}

static void test_draws_are_their_seed(void **state)
{
    (void)state;
    for (int dist = 0; dist < PW_DIST_CAPTURED; dist++) {
        struct pw_tensor a = {0}, b = {0}, c = {0};

        draw(PW_DTYPE_FLOAT32, (pw_dist)dist, 5, &a);
        draw(PW_DTYPE_FLOAT32, (pw_dist)dist, 5, &b);
        draw(PW_DTYPE_FLOAT32, (pw_dist)dist, 6, &c);
        assert_memory_equal(a.data, b.data, 64 * 32 * 4);
        assert_memory_not_equal(a.data, c.data, 64 * 32 * 4);
        pw_tensor_clear(&a);
        pw_tensor_clear(&b);
        pw_tensor_clear(&c);
    }
}

/* What was seen over the seeds of a distribution. */
struct seen {
    bool nan, infinity, denormal, zero, minus_zero, fraction;
    double most, least; /* magnitudes of finite numbers but zero */
    int masked_rows, clean_rows;
};

static struct seen look(pw_dist dist, uint64_t seeds)
{
    struct seen s = {.least = INFINITY};

    for (uint64_t seed = 0; seed < seeds; seed++) {
        struct pw_tensor t = {0};

        draw(PW_DTYPE_FLOAT32, dist, seed, &t);
        for (int64_t i = 0; i < t.count; i++) {
            double x = pw_tensor_get(&t, i);
            int in_row = (int)(i % 32);

            s.nan |= isnan(x);
            s.infinity |= isinf(x);
            s.denormal |= x != 0 && fabs(x) < 0x1p-126;
            s.zero |= x == 0 && !signbit(x);
            s.minus_zero |= x == 0 && signbit(x);
            if (isfinite(x) && x != 0) {
                s.fraction |= x != floor(x);
                s.most = fmax(s.most, fabs(x));
                s.least = fmin(s.least, fabs(x));
            }
            if (in_row == 31) {
                int gone = 0;

                for (int64_t k = i - 31; k <= i; k++)
                    gone += pw_tensor_get(&t, k) == -INFINITY;
                s.masked_rows += gone == 32;
                s.clean_rows += gone == 0;
            }
        }
        pw_tensor_clear(&t);
    }
    return s;
}

static void test_distributions(void **state)
{
    struct seen exact = look(PW_DIST_EXACT, 4), special = look(PW_DIST_SPECIAL, 4), masked = look(PW_DIST_MASKED, 4);
    struct seen wide = look(PW_DIST_WIDE, 4), normal = look(PW_DIST_NORMAL, 4);

    (void)state;
    assert_false(exact.fraction);
    assert_true(exact.most <= 4 && exact.zero && !exact.nan && !exact.infinity);
    assert_true(special.nan && special.infinity && special.denormal && special.zero && special.minus_zero);
    assert_true(masked.masked_rows > 10 && masked.clean_rows > 10 && !masked.nan);
    assert_true(wide.most > 0x1p11 && wide.most < 0x1p13 && wide.least < 0x1p-11 && wide.least >= 0x1p-12);
    assert_false(wide.nan || wide.infinity);
    assert_true(normal.most < 8 && normal.most > 3 && !normal.nan);
}

/* ---- shapes and plans ---- */

static struct pw_case_plan *plan_of(struct site *s)
{
    struct pw_case_plan *plan = NULL;
    struct pw_error err = {0};

    check(pw_case_plan_create(s->signature, &s->request, &s->impls.items[s->impls.selected], NULL, &plan, &err), &err);
    return plan;
}

static void test_shapes_stay_consistent(void **state)
{
    struct site s;
    struct pw_shapes *shapes = NULL;
    struct pw_error err = {0};
    int made = 0;

    (void)state;
    open_site(&s, "MatMul-13 (float32[5,7], float32[7,3])", NULL);
    check(pw_shapes_create(s.signature, &s.request, &s.impls.items[s.impls.selected], &shapes, &err), &err);
    assert_int_equal(pw_shapes_group_count(shapes), 3); /* M, K and N */
    for (int n = 0; n < PW_SHAPES_KINDS + 6; n++) {
        struct pw_case_spec spec = {.dist = PW_DIST_NORMAL};
        const struct pw_case_change *a, *b;

        if (!pw_shapes_make(shapes, 3, n, &spec))
            continue;
        made++;
        a = pw_case_change_of(&spec, PW_CHANGE_SHAPE, 0);
        b = pw_case_change_of(&spec, PW_CHANGE_SHAPE, 1);
        assert_int_equal(a && a->count ? a->values[a->count - 1] : 7, b && b->count ? b->values[0] : 7); /* K */
    }
    assert_true(made >= 10);
    pw_shapes_destroy(shapes);
    close_site(&s);
}

/* Which kinds of other shapes a call gets, by name: what an operator allows is there, what it does not allow is not. */
static void has_kinds(const char *call, const char *const *there, const char *const *missing)
{
    struct site s;
    struct pw_case_plan *plan = NULL;
    struct pw_buf text = {0};
    struct pw_error err = {0};
    char *line, *none, wanted[80];

    open_site(&s, call, NULL);
    check(pw_case_plan_create(s.signature, &s.request, &s.impls.items[s.impls.selected], NULL, &plan, &err), &err);
    pw_case_plan_describe(plan, &text);
    line = strstr(pw_buf_text(&text), "shapes:");
    assert_non_null(line);
    *strchr(line, '\n') = '\0';
    none = strstr(line, "; not here:");
    for (size_t i = 0; there[i]; i++) {
        char *at;

        snprintf(wanted, sizeof wanted, " %s", there[i]);
        at = strstr(line, wanted);
        if (!at || (none && at > none))
            fail_msg("%s lacks '%s': %s", call, there[i], line);
    }
    for (size_t i = 0; missing[i]; i++) {
        snprintf(wanted, sizeof wanted, " %s", missing[i]);
        if (!none || !strstr(none, wanted))
            fail_msg("%s has '%s': %s", call, missing[i], line);
    }
    pw_buf_clear(&text);
    pw_case_plan_destroy(plan);
    close_site(&s);
}

static void test_kinds_of_shapes(void **state)
{
#define EVERY                                                                                                          \
    "primes", "tile + 1", "tile - 1", "ones", "long row", "large batch", "empty", "work-group ± 1", "many elements"
#define KINDS(...) ((const char *const[]){__VA_ARGS__, NULL})
    static const char *const none[] = {NULL};

    (void)state;
    has_kinds("Softmax-13 axis=-1 (float32[6,19])", KINDS(EVERY, "negative axes", "strides"),
              KINDS("broadcast everywhere", "broadcast exchanged"));
    has_kinds("Add-14 (float32[2,3,8], float32[8])",
              KINDS(EVERY, "broadcast", "broadcast everywhere", "broadcast exchanged"),
              KINDS("negative axes", "strides"));
    has_kinds("Where-16 (bool[2,3,8], float32[8], float32[3,1])",
              KINDS(EVERY, "broadcast", "broadcast everywhere", "broadcast exchanged"), KINDS("strides"));
    has_kinds("MatMul-13 (float32[2,13,40], float32[2,40,24])",
              KINDS(EVERY, "broadcast everywhere", "broadcast exchanged"), KINDS("negative axes"));
    has_kinds("Gemm-13 (float32[13,40], float32[40,24], float32[24])", KINDS(EVERY, "strides"), KINDS("negative axes"));
    has_kinds("ReduceSum-13 (float32[4,9,3], =int64[1] 1)", KINDS(EVERY, "negative axes", "strides"),
              KINDS("broadcast everywhere"));
    has_kinds("ReduceMean-13 axes=[-1] (float32[4,9,3])", KINDS(EVERY, "negative axes", "strides"),
              KINDS("broadcast everywhere"));
    has_kinds("Transpose-13 perm=[0,2,1] (float32[4,9,3])", KINDS(EVERY, "strides"), KINDS("broadcast everywhere"));
    has_kinds("Concat-13 axis=1 (float32[4,9], float32[4,2])", KINDS(EVERY, "negative axes", "strides"), none);
    has_kinds("Gather-13 axis=0 (float32[40,8], int64[5])", KINDS(EVERY, "negative axes", "strides"), none);
}

/* Both together: every operand has been 1 in every position where the other was not. */
static void test_broadcasting_in_every_position(void **state)
{
    struct site s;
    struct pw_shapes *shapes = NULL;
    struct pw_error err = {0};
    bool one[2][3] = {{false}};

    (void)state;
    open_site(&s, "Add-14 (float32[2,3,8], float32[2,3,8])", NULL);
    check(pw_shapes_create(s.signature, &s.request, &s.impls.items[s.impls.selected], &shapes, &err), &err);
    for (int n = PW_SHAPES_KINDS - 2; n < PW_SHAPES_KINDS; n++) {
        struct pw_case_spec spec = {.seed = 1};
        const struct pw_case_change *a, *b;

        assert_true(pw_shapes_make(shapes, 1, n, &spec));
        a = pw_case_change_of(&spec, PW_CHANGE_SHAPE, 0);
        b = pw_case_change_of(&spec, PW_CHANGE_SHAPE, 1);
        assert_non_null(a);
        assert_non_null(b);
        for (int d = 0; d < 3; d++) {
            assert_true((a->values[d] == 1) != (b->values[d] == 1));
            one[0][d] |= a->values[d] == 1;
            one[1][d] |= b->values[d] == 1;
        }
    }
    for (int d = 0; d < 3; d++)
        assert_true(one[0][d] && one[1][d]);
    pw_shapes_destroy(shapes);
    close_site(&s);
}

static void test_plan(void **state)
{
    struct site s;
    struct pw_case_plan *plan, *again;
    unsigned dists = 0;
    size_t minimum;
    bool nan = false, other = false, property = false;

    (void)state;
    open_site(&s, "Softmax-13 axis=-1 (float32[6,19])", NULL);
    plan = plan_of(&s);
    again = plan_of(&s);
    minimum = pw_case_plan_minimum(plan);
    assert_true(minimum >= PW_VERIFY_MIN_CASES);
    for (size_t i = 0; i < minimum + 40; i++) {
        struct pw_case_spec a, b;
        char first[PW_CASE_ID_MAX], second[PW_CASE_ID_MAX];

        assert_true(pw_case_plan_next(plan, &a) && pw_case_plan_next(again, &b));
        assert_true(pw_case_id_print(s.signature, &a, first) && pw_case_id_print(s.signature, &b, second));
        assert_string_equal(first, second);
        if (i >= minimum)
            continue;
        dists |= 1u << a.dist;
        nan |= a.dist == PW_DIST_SPECIAL && a.dtype == PW_DTYPE_UNDEFINED && !(a.seed & 3);
        other |= a.dtype == PW_DTYPE_FLOAT16;
        property |= a.property[0] != '\0';
    }
    assert_int_equal(dists, (1u << PW_DIST_CAPTURED) - 1);
    assert_true(nan && other && property);
    pw_case_plan_destroy(plan);
    pw_case_plan_destroy(again);
    s.request.effort.dists = 1u << PW_DIST_EXACT;
    s.request.effort.dtypes = 0;
    s.request.effort.min_cases = 3;
    plan = plan_of(&s);
    assert_int_equal(pw_case_plan_minimum(plan), 3);
    for (int i = 0; i < 30; i++) {
        struct pw_case_spec spec;

        assert_true(pw_case_plan_next(plan, &spec));
        assert_int_equal(spec.dist, PW_DIST_EXACT);
        assert_int_equal(spec.dtype, PW_DTYPE_UNDEFINED);
    }
    pw_case_plan_destroy(plan);
    close_site(&s);
}

/* ---- verdicts ---- */

struct found {
    size_t cases;
    struct pw_case_result last;
    char shrunk[PW_CASE_ID_MAX], reason[200];
};

static void on_event(void *user, const struct pw_verify_event *event)
{
    struct found *found = user;

    if (event->kind != PW_VERIFY_CASE)
        return;
    found->cases++;
    found->last = *event->result;
    snprintf(found->shrunk, sizeof found->shrunk, "%s", event->result->shrunk_id ? event->result->shrunk_id : "");
    snprintf(found->reason, sizeof found->reason, "%s", event->result->reason);
}

/* Runs the one case of the site's signature that ends in `tail`. */
static struct found run_case(struct site *s, const char *tail)
{
    struct found found = {.cases = 0};
    struct pw_verify_totals totals;
    struct pw_error err = {0};
    char id[PW_CASE_ID_MAX];

    snprintf(id, sizeof id, "3:%s:%s", s->signature->id, tail);
    s->request.case_id = id;
    s->request.emit = on_event;
    s->request.user = &found;
    check(pw_verify_run(&s->request, &totals, &err), &err);
    assert_int_equal(found.cases, 1);
    assert_string_equal(found.last.id, id);
    return found;
}

static void test_property_sees_a_wrong_sum(void **state)
{
    struct site s;
    struct found found;

    (void)state;
    open_site(&s, "Softmax-13 axis=-1 (float32[6,19])", NULL);
    found = run_case(&s, "f32:graph:normal/sum:1");
    assert_int_equal(found.last.verdict, PW_VERDICT_PASS);
    close_site(&s);
    open_site(&s, "Softmax-13 axis=-1 (float32[6,19])",
              "narrow_sum,strength=100"); /* a tolerance is 1e-5: sums of 0.999 */
    found = run_case(&s, "f32:graph:normal/sum:1");
    assert_int_equal(found.last.verdict, PW_VERDICT_FAIL);
    assert_non_null(strstr(found.reason, "property sum does not hold: a row sums to 1 with an error of 0.000"));
    close_site(&s);
}

/* Sums of 400 to 600 products reach 600, and bfloat16 holds integers up to 256: each side is rounded. What is lost
 * beyond that is still seen, to the bit where nothing had to be rounded. */
static void test_linear_in_narrow_dtypes(void **state)
{
    static const char *const calls[] = {
        "MatMul-13 (bfloat16[7,600], bfloat16[600,19])",
        "Gemm-13 alpha=0.75 beta=-1.25 (bfloat16[7,400], bfloat16[400,19], bfloat16[19])",
        "ReduceSum-13 keepdims=0 (float16[3,30000], int64[1] -1)", /* float16 holds them up to 2048 */
        "CumSum-14 (bfloat16[3,3000], int64[] 1)",
        "Conv-22 (bfloat16[1,60,9,9], bfloat16[5,60,3,3])",
    };
    struct pw_bitwise_rule rule = {.match = {.op = "MatMul"}};
    struct site s;

    (void)state;
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        open_site(&s, calls[i], NULL);
        for (int seed = 1; seed <= 4; seed++) {
            struct found found;
            char tail[64];

            snprintf(tail, sizeof tail, "%s:graph:exact/linear:%d", strstr(calls[i], "bf") ? "bf16" : "f16", seed);
            found = run_case(&s, tail);
            if (found.last.verdict != PW_VERDICT_PASS)
                fail_msg("%s: %s", calls[i], found.reason);
        }
        close_site(&s);
    }
    open_site(&s, calls[0], "lost_part");
    assert_int_equal(run_case(&s, "bf16:graph:exact/linear:1").last.verdict, PW_VERDICT_FAIL);
    s.protocol->bitwise.rules = &rule; /* a demand for bits makes no property of exact draws any laxer */
    s.protocol->bitwise.rule_count = 1;
    assert_true(run_case(&s, "bf16:graph:exact/linear:1").last.tolerance == 0);
    s.protocol->bitwise.rule_count = 0;
    close_site(&s);
}

/* One output in the negative tail of a GELU: the terms that cancel there are as large as the input, not as the output.
 * A wrong element among eight is seen all the same. */
static void test_few_outputs_in_a_tail(void **state)
{
    static const char *const calls[] = {"com.microsoft:BiasGelu-1 (float16[3,7,61], float16[61])",
                                        "com.microsoft:BiasGelu-1 (float64[3,7,61], float64[61])"};
    static const char *const tails[2][2] = {{"f16:i0=1x1x1,i1=1:uniform:30", "f16:i0=1x1x1,i1=1:uniform:50"},
                                            {"f64:i0=1x1x1,i1=1:uniform:39", "f64:i0=1x1x1,i1=1:uniform:43"}};
    struct site s;

    (void)state;
    for (int i = 0; i < 4; i++) {
        struct found found;

        open_site(&s, calls[i / 2], NULL);
        found = run_case(&s, tails[i / 2][i % 2]);
        if (found.last.verdict != PW_VERDICT_PASS && found.last.verdict != PW_VERDICT_WARN)
            fail_msg("%s: %s", tails[i / 2][i % 2], found.reason);
        close_site(&s);
    }
    open_site(&s, "SoftmaxCrossEntropyLoss-13 (float32[3,5], int64[3])", NULL); /* log(1.00008) */
    for (int seed = 1; seed <= 8; seed++) {
        struct found found;
        char tail[64];

        snprintf(tail, sizeof tail, "f32:graph:wide:%d", seed);
        found = run_case(&s, tail);
        if (found.last.verdict != PW_VERDICT_PASS && found.last.verdict != PW_VERDICT_WARN)
            fail_msg("%s: %s", tail, found.reason);
    }
    close_site(&s);
    open_site(&s, calls[0], "one_element,strength=2");
    assert_int_equal(run_case(&s, "f16:i0=1x2x4,i1=4:normal:1").last.verdict, PW_VERDICT_FAIL);
    close_site(&s);
    /* Inputs up to 2^40, of which no term is left in outputs from 0 to 1. */
    open_site(&s, "HardSigmoid-22 (float32[3,7])", "constant");
    assert_int_equal(run_case(&s, "f32:i0=2x4:wide:1").last.verdict, PW_VERDICT_FAIL);
    close_site(&s);
}

/* Outputs are each rounded to their own dtype (a mean in float32 beside float64), and a normalization forgets a scale
 * that makes its epsilon nothing, in float64 too. */
static void test_dtypes_of_their_own(void **state)
{
    static const struct {
        const char *call, *tail;
    } all[] = {
        {"LayerNormalization-17 epsilon=0.001 (float64[3,7,61], float64[61], float64[61]) -> 3", "f64:graph:normal:1"},
        {"LayerNormalization-17 epsilon=0.001 (float64[3,7,61], float64[61], float64[61])", "f64:graph:normal/scale:1"},
        {"LayerNormalization-17 epsilon=0.001 (float16[3,7,61], float16[61], float16[61])", "f16:graph:normal/scale:1"},
        {"BatchNormalization-15 training_mode=1 (float64[2,3,4], float32[3], float32[3], float32[3], float32[3]) -> 3",
         "f64:graph:normal:1"},
    };
    struct site s;

    (void)state;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        struct found found;

        open_site(&s, all[i].call, NULL);
        found = run_case(&s, all[i].tail);
        if (found.last.verdict != PW_VERDICT_PASS)
            fail_msg("%s: %s", all[i].call, found.reason);
        close_site(&s);
    }
}

/* Sums of few elements that cancel: what the data itself amplifies is measured, by more than one perturbation. */
static void test_few_elements_that_cancel(void **state)
{
    static const char *const calls[] = {
        "ReduceMean-13 axes=[0,1,2] (float32[3,2,2])",
        "InstanceNormalization-6 epsilon=0.01 (float32[1,2,1,3], float32[2], float32[2])",
    };
    struct site s;

    (void)state;
    for (int i = 0; i < 2; i++) {
        open_site(&s, calls[i], NULL);
        for (int seed = 1; seed <= 12; seed++) {
            struct found found;
            char tail[64];

            snprintf(tail, sizeof tail, "f32:graph:%s:%d", i ? "cancel" : "special", i ? seed : 4 * seed + 2);
            found = run_case(&s, tail);
            if (found.last.verdict != PW_VERDICT_PASS && found.last.verdict != PW_VERDICT_WARN)
                fail_msg("%s %s: %s", calls[i], tail, found.reason);
        }
        close_site(&s);
    }
}

static void draw_case(struct site *s, const char *tail, struct pw_case_inputs *inputs)
{
    struct pw_buf why = {0};
    struct pw_case_spec spec;
    struct pw_error err = {0};
    char text[PW_CASE_ID_MAX], id[17];

    snprintf(text, sizeof text, S "%s", tail);
    check(pw_case_id_parse(text, id, &spec, &err), &err);
    check(pw_case_draw(s->signature, &spec, NULL, inputs, &why, &err), &err);
    assert_int_equal(why.size, 0);
    pw_buf_clear(&why);
}

/* Draws stay where the operator's result is defined: a power that is no integer, a norm that 64 bits do not hold,
 * n-grams of no known word say nothing. */
static void test_draws_where_defined(void **state)
{
    static const struct {
        const char *call, *dtype;
        int input;
        double low, high;
    } all[] = {
        {"Pow-15 (int64[5,17], float32[17])", "f32", 0, 1, 4},
        {"Pow-15 (int64[5,17], float32[17])", "f32", 1, -3, 3},
        {"ReduceL2-18 (int64[9,31])", "i64", 0, -1048576, 1048576},
        {"ReduceLogSumExp-18 (int32[9,31])", "i32", 0, -1048576, 1048576},
        {"TfIdfVectorizer-9 max_gram_length=2 max_skip_count=0 min_gram_length=2 mode='TF' ngram_counts=[0,2] "
         "ngram_indexes=[0,1,2,3] pool_int64s=[7,9,15,12,7,8] (int32[61])",
         "i32", 0, 7, 15},
    };
    struct site s;

    (void)state;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        open_site(&s, all[i].call, NULL);
        for (int seed = 0; seed < 16; seed++) {
            struct pw_case_inputs inputs = {.count = 0};
            char tail[64];

            snprintf(tail, sizeof tail, "%s:graph:%s:%d", all[i].dtype, seed & 8 ? "wide" : "special", seed);
            draw_case(&s, tail, &inputs);
            for (int64_t k = 0; k < inputs.values[all[i].input].tensor.count; k++) {
                double x = pw_tensor_get(&inputs.values[all[i].input].tensor, k);

                if (!(x >= all[i].low && x <= all[i].high))
                    fail_msg("%s %s: %g", all[i].call, tail, x);
            }
            pw_case_inputs_clear(&inputs);
        }
        close_site(&s);
    }
}

/* A format without infinities: false everywhere is right, and no reason for mistrust. Shapes that an operator refuses
 * are made up for by others. */
static void test_minimum_by_evidence(void **state)
{
    static const char *const calls[] = {"IsInf-20 (float8e4m3fn[3,7])",
                                        "MatMulInteger-10 (uint8[4,3], uint8[3,2], uint8[1], uint8[1])"};
    struct site s;

    (void)state;
    for (int i = 0; i < 2; i++) {
        struct pw_verify_totals totals;
        struct pw_error err = {0};

        open_site(&s, calls[i], NULL);
        check(pw_verify_run(&s.request, &totals, &err), &err);
        assert_int_equal(totals.held, 1);
        assert_true(totals.passed >= PW_VERIFY_MIN_CASES);
        close_site(&s);
    }
}

/* Sizes that are contents are as bounded as others. */
static void test_sizes_in_contents(void **state)
{
    struct site s;
    struct pw_case_plan *plan;

    (void)state;
    open_site(&s, "ConstantOfShape-25 value=<uint16[1] 3> (int64[3] 3 7 61)", NULL);
    for (s.request.seed = 1; s.request.seed <= 20; s.request.seed++) {
        plan = plan_of(&s);
        for (int i = 0; i < 60; i++) {
            const struct pw_case_change *sizes;
            struct pw_case_spec spec;
            double product = 1;

            if (!pw_case_plan_next(plan, &spec))
                break;
            sizes = pw_case_change_of(&spec, PW_CHANGE_CONTENT, 0);
            for (int k = 0; sizes && k < sizes->count; k++)
                product *= (double)sizes->values[k];
            assert_true(product <= 1 << 19);
        }
        pw_case_plan_destroy(plan);
    }
    close_site(&s);
}

static void test_shrinking(void **state)
{
    struct site s;
    struct found found;
    const struct pw_case_change *shape;
    struct pw_case_spec spec;
    struct pw_error err = {0};
    char id[17];

    (void)state;
    open_site(&s, "Softmax-13 axis=-1 (float32[6,19])", "large_only,strength=3"); /* fails above 1000 elements */
    found = run_case(&s, "f32:i0=25x129:normal:1");
    assert_int_equal(found.last.verdict, PW_VERDICT_FAIL);
    check(pw_case_id_parse(found.shrunk, id, &spec, &err), &err);
    shape = pw_case_change_of(&spec, PW_CHANGE_SHAPE, 0);
    assert_non_null(shape);
    assert_int_equal(shape->count, 2);
    assert_true(shape->values[0] * shape->values[1] > 1000);
    assert_true((shape->values[0] - 1) * shape->values[1] <= 1000); /* one less in either dim holds */
    assert_true(shape->values[0] * (shape->values[1] - 1) <= 1000);
    assert_int_equal(spec.dist, PW_DIST_EXACT);
    found = run_case(&s, found.shrunk + strlen("3:0123456789abcdef:"));
    assert_int_equal(found.last.verdict, PW_VERDICT_FAIL);
    s.request.effort.no_shrink = true;
    found = run_case(&s, "f32:i0=25x129:normal:1");
    assert_string_equal(found.shrunk, "");
    found = run_case(&s, "f32:i0=8x125:normal:1"); /* 1000 elements */
    assert_int_equal(found.last.verdict, PW_VERDICT_PASS);
    close_site(&s);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ids_come_back),
        cmocka_unit_test(test_id_by_hand),
        cmocka_unit_test(test_junk_ids),
        cmocka_unit_test(test_draws_are_their_seed),
        cmocka_unit_test(test_distributions),
        cmocka_unit_test(test_shapes_stay_consistent),
        cmocka_unit_test(test_plan),
        cmocka_unit_test(test_kinds_of_shapes),
        cmocka_unit_test(test_broadcasting_in_every_position),
        cmocka_unit_test(test_property_sees_a_wrong_sum),
        cmocka_unit_test(test_linear_in_narrow_dtypes),
        cmocka_unit_test(test_few_outputs_in_a_tail),
        cmocka_unit_test(test_dtypes_of_their_own),
        cmocka_unit_test(test_few_elements_that_cancel),
        cmocka_unit_test(test_draws_where_defined),
        cmocka_unit_test(test_minimum_by_evidence),
        cmocka_unit_test(test_sizes_in_contents),
        cmocka_unit_test(test_shrinking),
    };

    if (argc > 1 && !strcmp(argv[1], "--worker"))
        return pw_worker_main(argc, argv);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
