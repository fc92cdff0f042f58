/* A small graph with fixed numbers, keys as text and the canvas as text: what the tests of the workbench share. */
#ifndef PW_TESTS_TUI_FAKE_H
#define PW_TESTS_TUI_FAKE_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/file.h"
#include "baseline/triage.h"
#include "tui/chart.h"
#include "tui/tui.h"

static struct pw_graph graph = {.name = "main"};
static struct pw_node nodes[3] = {
    {.name = "mlp/fc", .op_type = "MatMul", .index = 4, .graph = &graph, .domain = ""},
    {.name = "attn/softmax", .op_type = "Softmax", .index = 7, .graph = &graph, .domain = ""},
    {.name = "evil\033]0;owned\007\xff", .op_type = "Mystery", .index = 9, .graph = &graph, .domain = "x"}};
static const struct pw_node *node_lists[3][1] = {{&nodes[0]}, {&nodes[1]}, {&nodes[2]}};
static const struct pw_op some_op = {.name = "MatMul"};

static struct pw_signature signatures[3] = {
    {.text = "MatMul-13 (float32[b,64], const float32[64,64]) -> (float32[b,64])",
     .id = "aaaaaaaaaaaaaaaa",
     .op_label = "MatMul-13",
     .shapes = "[b,64] [64,64] -> [b,64]",
     .op = &some_op,
     .category = PW_CATEGORY_MATMUL,
     .flops_value = 8192,
     .bytes_value = 17000,
     .intensity = 0.48,
     .share = 0.9,
     .floating = true,
     .dynamic = true,
     .dynamic_reason = "in 0 dim 0: b",
     .sensitivity = PW_SENSITIVITY_MEDIUM,
     .sensitivity_reason = "long accumulation",
     .pattern = -1},
    {.text = "Softmax-13 axis=-1 (float32[b,8]) -> (float32[b,8])",
     .id = "bbbbbbbbbbbbbbbb",
     .op_label = "Softmax-13",
     .shapes = "[b,8] -> [b,8]",
     .op = &some_op,
     .category = PW_CATEGORY_ACTIVATION,
     .flops_value = 100,
     .bytes_value = 64,
     .intensity = 1.5,
     .share = 0.1,
     .floating = true,
     .sensitivity = PW_SENSITIVITY_HIGH,
     .sensitivity_reason = "exponentials",
     .pattern = -1},
    {.text = "x:Mystery (float32[8]) -> (?)",
     .id = "cccccccccccccccc",
     .op_label = "x:Mystery",
     .shapes = "[8] -> ?",
     .category = PW_CATEGORY_OTHER,
     .flops_value = NAN,
     .bytes_value = NAN,
     .intensity = NAN,
     .share = NAN,
     .pattern = -1},
};
static struct pw_inventory inventory = {
    .signatures = signatures, .signature_count = 3, .node_count = 3, .total_flops = 8292};

static struct pw_impl impls[2] = {{.kind = PW_COVERAGE_KERNEL, .name = "matmul_tile", .supported = true, .why = ""},
                                  {.kind = PW_COVERAGE_HOST, .name = "reference", .supported = true, .why = ""}};
static const struct pw_impl_list lists[3] = {
    {.items = impls, .count = 2, .selected = 0, .coverage = PW_COVERAGE_KERNEL},
    {.items = impls, .count = 1, .selected = 0, .coverage = PW_COVERAGE_KERNEL},
    {.selected = -1, .coverage = PW_COVERAGE_MISSING, .reason = "unknown operator"}};

static const struct pw_impl_list *fake_implementations(void *user, size_t signature)
{
    (void)user;
    return &lists[signature];
}

static struct pw_canvas canvas;

static struct pw_tui *open_tui(int rows, int columns)
{
    static const char *const targets[] = {"opencl"};
    struct pw_tui *tui = NULL;
    struct pw_error err = {0};

    for (int i = 0; i < 3; i++) {
        signatures[i].nodes = node_lists[i];
        signatures[i].node_count = 1;
    }
    assert_int_equal(pw_tui_create(&inventory, "m.onnx", targets, 1, &tui, &err), PW_OK);
    tui->at->implementations = fake_implementations;
    canvas.ascii = true;
    pw_tui_resize(tui, rows, columns);
    return tui;
}

static void press(struct pw_tui *tui, const char *keys)
{
    for (; *keys; keys++) {
        struct pw_input input = {.kind = PW_INPUT_KEY, .key = (uint32_t)*keys};

        if (*keys == '\n')
            input.key = PW_KEY_ENTER;
        else if (*keys == '\t')
            input.key = PW_KEY_TAB;
        else if (*keys == '\033')
            input.key = PW_KEY_ESCAPE;
        pw_tui_apply(tui, &input);
        while (pw_tui_find_on(tui)) {
        }
    }
}

static void send(struct pw_tui *tui, struct pw_event *event)
{
    struct pw_input input = {.kind = PW_INPUT_SESSION, .event = event, .now_ms = 2000};

    pw_tui_apply(tui, &input);
}

static void device_opens(struct pw_tui *tui)
{
    struct pw_event device = {.kind = PW_EVENT_DEVICE}, coverage = {.kind = PW_EVENT_COVERAGE};

    send(tui, &device);
    send(tui, &coverage);
}

static const char *screen_of(struct pw_tui *tui)
{
    static struct pw_buf text;
    struct pw_error err = {0};

    pw_buf_clear(&text);
    assert_int_equal(pw_tui_draw(tui, &canvas, &err), PW_OK);
    pw_canvas_dump(&canvas, &text);
    return pw_buf_text(&text);
}

__attribute__((unused)) static void expect(struct pw_tui *tui, const char *text)
{
    assert_string_equal(screen_of(tui), text);
}

__attribute__((unused)) static void shows(struct pw_tui *tui, const char *part)
{
    const char *screen = screen_of(tui);

    if (!strstr(screen, part))
        print_error("'%s' is not on the screen:\n%s\n", part, screen);
    assert_non_null(strstr(screen, part));
}

__attribute__((unused)) static void hides(struct pw_tui *tui, const char *part)
{
    assert_null(strstr(screen_of(tui), part));
}

/* All parts of what is shown, owned by the caller; how many there were. */
__attribute__((unused)) static int export_shown(struct pw_tui *tui, const char *path, struct pw_buf *out)
{
    struct pw_tui_export export;
    int parts = 1;

    pw_tui_export_begin(tui, path, &export);
    while (pw_tui_export_part(tui, &export))
        parts++;
    *out = export.text;
    return parts;
}

static void close_tui(struct pw_tui *tui)
{
    pw_tui_destroy(tui);
    pw_canvas_clear(&canvas);
}

#endif
