/* One call as a graph on the liar of tests/liar, for the tests of cases: honest where a plan is looked at, faulty where
 * something has to be found. Its main must hand "--worker" to pw_worker_main. */
#ifndef PW_TESTS_CASE_SITE_H
#define PW_TESTS_CASE_SITE_H

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
#include "verify/plan.h"
#include "verify/verify_internal.h"

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

static inline void check(pw_status status, const struct pw_error *err)
{
    if (status != PW_OK)
        fail_msg("%s", err->message);
}

static inline void open_site(struct site *s, const char *call, const char *fault)
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

static inline void close_site(struct site *s)
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

static inline struct pw_case_plan *plan_of(struct site *s)
{
    struct pw_case_plan *plan = NULL;
    struct pw_error err = {0};

    check(pw_case_plan_create(s->signature, &s->request, &s->impls.items[s->impls.selected], NULL, &plan, &err), &err);
    return plan;
}

struct found {
    size_t cases;
    struct pw_case_result last;
    char shrunk[PW_CASE_ID_MAX], reason[200];
};

static inline void on_event(void *user, const struct pw_verify_event *event)
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
static inline struct found run_case(struct site *s, const char *tail)
{
    struct found found = {.cases = 0};
    struct pw_verify_totals totals;
    struct pw_error err = {0};
    char id[2 * PW_CASE_ID_MAX];

    snprintf(id, sizeof id, "3:%s:%s", s->signature->id, tail);
    s->request.case_id = id;
    s->request.emit = on_event;
    s->request.user = &found;
    check(pw_verify_run(&s->request, &totals, &err), &err);
    assert_int_equal(found.cases, 1);
    assert_string_equal(found.last.id, id);
    return found;
}

/* The inputs of the case that ends in `tail`. */
static inline void draw_case(struct site *s, const char *tail, struct pw_case_inputs *inputs)
{
    struct pw_buf why = {0};
    struct pw_case_spec spec;
    struct pw_error err = {0};
    char text[PW_CASE_ID_MAX], id[17];

    snprintf(text, sizeof text, "3:0123456789abcdef:%s", tail);
    check(pw_case_id_parse(text, id, &spec, &err), &err);
    check(pw_case_draw(s->signature, &spec, NULL, inputs, &why, &err), &err);
    assert_int_equal(why.size, 0);
    pw_buf_clear(&why);
}

#endif
