/*
 * Each room's README gives the reason of each default tolerance in the words of `verify --explain`. The reasons are
 * those that the operators' `accuracy` gives for the calls of the room's own cases. PW_PRINT=1 prints what belongs
 * there.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/file.h"
#include "graph/infer.h"
#include "op/cases.h"

#ifndef PW_SRCDIR
#define PW_SRCDIR "."
#endif

#define REASONS_MAX 64

struct reason {
    const char *why;
    const char *ops[REASONS_MAX];
    size_t op_count;
};

static void add_op(struct reason *reason, const char *op)
{
    for (size_t i = 0; i < reason->op_count; i++)
        if (!strcmp(reason->ops[i], op))
            return;
    if (reason->op_count < REASONS_MAX)
        reason->ops[reason->op_count++] = op;
}

/* Line breaks and runs of blanks are one blank. */
static void squeeze(char *text)
{
    char *to = text;

    for (const char *c = text; *c; c++) {
        bool blank = *c == ' ' || *c == '\n';

        if (!blank || (to > text && to[-1] != ' '))
            *to++ = blank ? ' ' : *c;
    }
    *to = '\0';
}

static size_t reasons_of(const struct pw_room *room, struct reason *reasons)
{
    size_t count = 0;

    for (const struct pw_room_case *c = room->cases; c->name; c++) {
        struct pw_case_data data;
        struct pw_dims *dims = NULL;
        struct pw_arena arena = {0};
        struct pw_call call = {0};
        const struct pw_value *in[PW_CASE_MAX_INPUTS] = {0};
        struct pw_accuracy accuracy = {.length = 1, .amplification = 1, .ulp = 1};
        struct pw_error err = {0};
        size_t at = 0;

        if (c->error || pw_case_parse(c, &data, &err) != PW_OK)
            continue;
        for (size_t i = 0; i < data.input_count; i++)
            in[i] = data.inputs[i].kind != PW_VALUE_NONE ? &data.inputs[i] : NULL;
        assert_int_equal(pw_dims_create(&dims, &err), PW_OK);
        if (pw_call_from_values(data.node, in, (int)data.node->input_count, dims, &arena, &call, &err) == PW_OK &&
            call.op->accuracy) {
            call.op->accuracy(&call, &accuracy);
            while (at < count && accuracy.why && strcmp(reasons[at].why, accuracy.why))
                at++;
            if (accuracy.why && at < REASONS_MAX) {
                if (at == count)
                    reasons[count++] = (struct reason){.why = accuracy.why};
                add_op(&reasons[at], call.op->name);
            }
        }
        pw_dims_destroy(dims);
        pw_arena_clear(&arena);
        pw_case_clear(&data);
    }
    return count;
}

/* The row of a reason: "| Exp | exp 3 ULP |". */
static size_t lacks(const char *room, const char *text, const struct reason *reason)
{
    struct pw_buf row = {0};
    size_t missing;

    pw_buf_puts(&row, "|");
    for (size_t i = 0; i < reason->op_count; i++)
        pw_buf_printf(&row, "%s %s", i ? "," : "", reason->ops[i]);
    pw_buf_printf(&row, " | %s |", reason->why);
    missing = !strstr(text, pw_buf_text(&row));
    if (getenv("PW_PRINT"))
        printf("%s: %s\n", room, pw_buf_text(&row));
    else if (missing)
        printf("ops/%s/README.md lacks the row: %s\n", room, pw_buf_text(&row));
    pw_buf_clear(&row);
    return missing;
}

static void test_readmes_give_the_reasons(void **state)
{
    const char *source = getenv("PW_SOURCE");
    size_t missing = 0;

    (void)state;
    for (const struct pw_room *room = pw_rooms; room->name; room++) {
        struct reason reasons[REASONS_MAX];
        size_t count = reasons_of(room, reasons);
        struct pw_buf text = {0};
        struct pw_error err = {0};
        char path[512];

        snprintf(path, sizeof path, "%s/ops/%s/README.md", source ? source : PW_SRCDIR, room->name);
        if (pw_file_read(path, (size_t)1 << 20, &text, &err) != PW_OK)
            fail_msg("%s", err.message);
        squeeze(text.data);
        for (size_t i = 0; i < count; i++)
            missing += lacks(room->name, pw_buf_text(&text), &reasons[i]);
        pw_buf_clear(&text);
    }
    assert_int_equal(missing, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_readmes_give_the_reasons)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
