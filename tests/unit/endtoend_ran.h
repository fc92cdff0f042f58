/* Runs a graph on both sides in step and keeps all that is said of it: for tests of end-to-end runs. */
#ifndef PW_TESTS_ENDTOEND_RAN_H
#define PW_TESTS_ENDTOEND_RAN_H

#include "tests/unit/eval_build.h"

#include <stdatomic.h>

#include "target/device.h"
#include "verify/endtoend.h"

#define MOST_ROWS 4096

/* A run and everything that it said. */
struct ran {
    struct pw_inference *inference;
    struct pw_inventory *inventory;
    struct pw_protocol protocol;
    struct pw_precision_rule rules[4];
    struct pw_device *device;
    struct pw_value inputs[MOST_VALUES];
    size_t input_count;
    struct pw_endtoend_node rows[MOST_ROWS];
    const struct pw_endtoend_node *row_list[MOST_ROWS];
    size_t row_count;
    struct pw_endtoend_output outputs[8];
    const struct pw_endtoend_output *output_list[8];
    size_t output_count;
    struct pw_sweep_layer layers[256];
    const struct pw_sweep_layer *layer_list[256];
    size_t layer_count;
    char texts[32][200]; /* reasons, kept */
    size_t text_count;
    struct pw_endtoend_totals totals;
    atomic_bool cancel;
    size_t cancel_after; /* rows; 0: never */
};

static inline const char *keep_text(struct ran *ran, const char *text)
{
    if (!text || !text[0] || ran->text_count == 32)
        return "";
    snprintf(ran->texts[ran->text_count], sizeof ran->texts[0], "%s", text);
    return ran->texts[ran->text_count++];
}

static inline void on_event(void *user, const struct pw_endtoend_event *event)
{
    struct ran *ran = user;

    if (event->kind == PW_ENDTOEND_NODE && ran->row_count < MOST_ROWS) {
        struct pw_endtoend_node *row = &ran->rows[ran->row_count];

        *row = *event->node;
        row->reason = keep_text(ran, row->reason);
        row->note = row->why = row->implementation = "";
        ran->row_list[ran->row_count++] = row;
        ran->cancel = ran->cancel_after && ran->row_count >= ran->cancel_after;
    } else if (event->kind == PW_ENDTOEND_OUTPUT) {
        struct pw_endtoend_output *output = &ran->outputs[ran->output_count];

        *output = *event->output;
        output->reason = keep_text(ran, output->reason);
        output->why = "";
        ran->output_list[ran->output_count++] = output;
    } else if (event->kind == PW_ENDTOEND_LAYER) {
        struct pw_sweep_layer *layer = &ran->layers[ran->layer_count];

        *layer = *event->layer;
        layer->name = keep_text(ran, layer->name);
        layer->nodes = NULL;
        layer->node_count = 0;
        ran->layer_list[ran->layer_count++] = layer;
    }
}

static inline void rule(struct ran *ran, const char *node, const char *op, pw_dtype storage)
{
    struct pw_precision_rule *rule = &ran->rules[ran->protocol.precision_count++];

    *rule = (struct pw_precision_rule){.match = {.node = node, .op = op}, .storage = storage};
    ran->protocol.precisions = ran->rules;
}

static inline pw_status start(struct ran *ran, const struct pw_model *model, pw_endtoend_mode mode,
                              struct pw_value *results, struct pw_error *err)
{
    struct pw_endtoend_request request = {.protocol = &ran->protocol,
                                          .inputs = ran->inputs,
                                          .input_count = ran->input_count,
                                          .mode = mode,
                                          .seed = 1,
                                          .cancel = &ran->cancel,
                                          .emit = on_event,
                                          .user = ran};
    pw_status status = PW_OK;

    ran->protocol.warn_share = 0.5;
    if (!ran->inventory) {
        status = pw_infer_graph(model, NULL, 0, &ran->inference, err);
        if (status == PW_OK)
            status = pw_inventory_create(model, ran->inference, &ran->inventory, err);
        if (status == PW_OK)
            status = pw_device_open("reference", NULL, &ran->device, err);
    }
    request.inventory = ran->inventory;
    request.device = ran->device;
    return status == PW_OK ? pw_endtoend_run(&request, results, &ran->totals, err) : status;
}

static inline struct ran *new_ran(const char *const *inputs)
{
    struct ran *ran = calloc(1, sizeof *ran);

    assert_non_null(ran);
    for (; inputs[ran->input_count]; ran->input_count++)
        ran->inputs[ran->input_count] = value_of(inputs[ran->input_count]);
    return ran;
}

static inline void run(struct ran *ran, const struct built *made, pw_endtoend_mode mode)
{
    struct pw_error err = {0};

    if (start(ran, made->model, mode, NULL, &err) != PW_OK)
        fail_msg("%s", err.message);
}

static inline void done(struct ran *ran, struct built *made)
{
    for (size_t i = 0; i < ran->input_count; i++)
        pw_value_clear(&ran->inputs[i]);
    pw_device_close(ran->device);
    pw_inventory_destroy(ran->inventory);
    pw_inference_destroy(ran->inference);
    free(ran);
    unbuild(made);
}

static inline const struct pw_endtoend_node *row_named(const struct ran *ran, const char *name)
{
    for (size_t i = 0; i < ran->row_count; i++)
        if (ran->rows[i].node && !strcmp(ran->rows[i].node->name, name))
            return &ran->rows[i];
    fail_msg("no row '%s'", name);
    return NULL;
}

#endif
