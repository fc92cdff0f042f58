/* The triage file: what somebody else wrote is merged, never lost; errors say where; untouched text stays. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/random.h"
#include "baseline/triage.h"

#define A "00112233445566aa"
#define B "00112233445566bb"
#define C "00112233445566cc"
#define GRAPH "g1"

static char folder[64], path[128];

static int set_up(void **state)
{
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/pw-triage-XXXXXX");
    if (!mkdtemp(folder))
        return -1;
    snprintf(path, sizeof path, "%s/graph/triage.yaml", folder);
    return 0;
}

static int tear_down(void **state)
{
    char command[256];

    (void)state;
    snprintf(command, sizeof command, "chmod -R u+w %s; rm -rf %s", folder, folder);
    return system(command) == 0 ? 0 : -1;
}

static struct pw_triage *open_it(void)
{
    struct pw_triage *triage = NULL;
    struct pw_error err = {0};

    if (pw_triage_open(path, GRAPH, "m.onnx", &triage, &err) != PW_OK)
        fail_msg("%s", err.message);
    return triage;
}

static void put(struct pw_triage *triage, const char *id, pw_triage_status status, const char *owner, const char *note)
{
    const struct pw_triage_entry *old = pw_triage_find(triage, id);
    struct pw_triage_entry entry = {.status = status};
    struct pw_error err = {0};

    if (old)
        entry = *old;
    entry.status = status;
    snprintf(entry.id, sizeof entry.id, "%s", id);
    if (owner)
        snprintf(entry.owner, sizeof entry.owner, "%s", owner);
    if (note)
        snprintf(entry.note, sizeof entry.note, "%s", note);
    if (pw_triage_set(triage, &entry, &err) != PW_OK)
        fail_msg("%s", err.message);
}

static void save(struct pw_triage *triage)
{
    struct pw_error err = {0};

    if (pw_triage_save(triage, &err) != PW_OK)
        fail_msg("%s", err.message);
    assert_false(pw_triage_dirty(triage));
    assert_false(pw_triage_stale(triage));
}

static void write_file(const char *text)
{
    char command[256];
    struct pw_error err = {0};

    snprintf(command, sizeof command, "mkdir -p %s/graph", folder);
    assert_int_equal(system(command), 0);
    assert_int_equal(pw_file_write(path, text, strlen(text), &err), PW_OK);
}

static char *read_file(void)
{
    static char text[8192];
    struct pw_buf buf = {0};
    struct pw_error err = {0};

    assert_int_equal(pw_file_read(path, sizeof text - 1, &buf, &err), PW_OK);
    snprintf(text, sizeof text, "%s", pw_buf_text(&buf));
    pw_buf_clear(&buf);
    return text;
}

static void test_round_trip(void **state)
{
    struct pw_triage *triage = open_it();
    struct pw_triage_entry entry = {.id = B, .op = "Soft\"max\\-13", .status = PW_TRIAGE_DOING};
    struct pw_error err = {0};
    const struct pw_triage_entry *back;

    (void)state;
    assert_int_equal(pw_triage_count(triage), 0);
    assert_false(pw_file_exists(path)); /* opening makes nothing */
    save(triage);
    assert_false(pw_file_exists(path)); /* neither does saving nothing */
    snprintf(entry.owner, sizeof entry.owner, "J\xc3\xbcrgen: \"#x\"");
    snprintf(entry.note, sizeof entry.note, "two\nlines, a tab\t and {braces}: [1, 2] # no comment");
    entry.waiver = (struct pw_waiver){.present = true, .gates = PW_WAIVE_VERIFY | PW_WAIVE_THROUGHPUT};
    snprintf(entry.waiver.reason, sizeof entry.waiver.reason, "vendor ticket 7: exp is off");
    snprintf(entry.waiver.owner, sizeof entry.waiver.owner, "ann");
    snprintf(entry.waiver.until, sizeof entry.waiver.until, "2028-02-29");
    assert_int_equal(pw_triage_set(triage, &entry, &err), PW_OK);
    assert_true(pw_triage_dirty(triage));
    put(triage, A, PW_TRIAGE_OPEN, NULL, NULL);
    save(triage);
    pw_triage_close(triage);

    triage = open_it();
    assert_int_equal(pw_triage_count(triage), 2);
    assert_string_equal(pw_triage_at(triage, 0)->id, A); /* sorted */
    back = pw_triage_find(triage, B);
    assert_non_null(back);
    assert_string_equal(back->op, entry.op);
    assert_string_equal(back->owner, entry.owner);
    assert_string_equal(back->note, entry.note);
    assert_string_equal(back->waiver.reason, entry.waiver.reason);
    assert_string_equal(back->waiver.until, "2028-02-29");
    assert_int_equal(back->waiver.gates, PW_WAIVE_VERIFY | PW_WAIVE_THROUGHPUT);
    assert_non_null(strstr(read_file(), "of: [verify, throughput]"));
    put(triage, A, PW_TRIAGE_NONE, NULL, NULL); /* says nothing any more: gone */
    save(triage);
    assert_null(strstr(read_file(), A));
    pw_triage_close(triage);
}

static void test_one_line_a_signature_and_the_rest_stays(void **state)
{
    static const char text[] = "# ours, reviewed on Mondays\n"
                               "format: 1\n"
                               "graph: g1\n"
                               "signatures:   # sorted\n"
                               "  # attention\n"
                               "  " A ": {status: open,   note: 'odd   spacing'} # kept\n"
                               "\n"
                               "  # the slow one\n"
                               "  \"" C "\":\n"
                               "    status: blocked\n"
                               "    note: waits for the driver\n"
                               "# the end\n";
    struct pw_triage *triage;

    (void)state;
    write_file(text);
    triage = open_it();
    assert_int_equal(pw_triage_count(triage), 2);
    put(triage, B, PW_TRIAGE_DOING, "bob", NULL);
    save(triage);
    assert_string_equal(read_file(), "# ours, reviewed on Mondays\n"
                                     "format: 1\n"
                                     "graph: g1\n"
                                     "signatures:   # sorted\n"
                                     "  # attention\n"
                                     "  " A ": {status: open,   note: 'odd   spacing'} # kept\n"
                                     "  \"" B "\": {status: doing, owner: \"bob\"}\n"
                                     "\n"
                                     "  # the slow one\n"
                                     "  \"" C "\":\n"
                                     "    status: blocked\n"
                                     "    note: waits for the driver\n"
                                     "# the end\n");
    put(triage, C, PW_TRIAGE_DONE, NULL, NULL); /* its comment stays above it */
    save(triage);
    assert_non_null(strstr(read_file(),
                           "\n  # the slow one\n  \"" C "\": {status: done, note: \"waits for the driver\"}\n"
                           "# the end\n"));
    assert_non_null(strstr(read_file(), "'odd   spacing'} # kept\n"));
    put(triage, B, PW_TRIAGE_NONE, "", NULL);
    save(triage);
    assert_null(strstr(read_file(), B));
    pw_triage_close(triage);
}

static void test_flow_map_is_printed_anew(void **state)
{
    struct pw_triage *triage;

    (void)state;
    write_file("{format: 1, graph: g1, signatures: {" B ": {status: open}, " A ": {note: x}}}");
    triage = open_it();
    put(triage, C, PW_TRIAGE_OPEN, NULL, NULL);
    save(triage);
    pw_triage_close(triage);
    triage = open_it();
    assert_int_equal(pw_triage_count(triage), 3);
    assert_string_equal(pw_triage_find(triage, A)->note, "x");
    pw_triage_close(triage);
}

static void test_three_way_merge(void **state)
{
    struct pw_triage *mine, *theirs;
    struct pw_error err = {0};
    bool changed;

    (void)state;
    mine = open_it();
    put(mine, A, PW_TRIAGE_OPEN, "ann", "first");
    put(mine, B, PW_TRIAGE_OPEN, NULL, NULL);
    save(mine);
    theirs = open_it();
    put(theirs, A, PW_TRIAGE_DOING, NULL, NULL);  /* another field than ours */
    put(theirs, C, PW_TRIAGE_OPEN, "cid", NULL);  /* a new one */
    put(theirs, B, PW_TRIAGE_BLOCKED, NULL, "x"); /* the same field as ours */
    save(theirs);
    assert_true(pw_triage_stale(mine));
    put(mine, A, PW_TRIAGE_OPEN, NULL, "second");
    put(mine, B, PW_TRIAGE_DONE, NULL, NULL);
    assert_int_equal(pw_triage_save(mine, &err), PW_OK);
    assert_int_equal(pw_triage_find(mine, A)->status, PW_TRIAGE_DOING);
    assert_string_equal(pw_triage_find(mine, A)->note, "second");
    assert_string_equal(pw_triage_find(mine, A)->owner, "ann");
    assert_string_equal(pw_triage_find(mine, C)->owner, "cid");
    assert_int_equal(pw_triage_find(mine, B)->status, PW_TRIAGE_BLOCKED); /* theirs stays */
    assert_int_equal(pw_triage_conflict_count(mine), 1);
    assert_string_equal(pw_triage_conflict_at(mine, 0)->id, B);
    assert_string_equal(pw_triage_conflict_at(mine, 0)->field, "status");
    assert_string_equal(pw_triage_conflict_at(mine, 0)->ours, "done");
    assert_string_equal(pw_triage_conflict_at(mine, 0)->theirs, "blocked");
    assert_int_equal(pw_triage_refresh(theirs, &changed, &err), PW_OK);
    assert_true(changed);
    assert_string_equal(pw_triage_find(theirs, A)->note, "second");
    assert_int_equal(pw_triage_refresh(theirs, &changed, &err), PW_OK);
    assert_false(changed);

    put(mine, C, PW_TRIAGE_NONE, "", NULL); /* we remove what they change */
    put(theirs, C, PW_TRIAGE_OPEN, NULL, "mine!");
    save(theirs);
    assert_int_equal(pw_triage_save(mine, &err), PW_OK);
    assert_string_equal(pw_triage_find(mine, C)->note, "mine!");
    pw_triage_close(mine);
    pw_triage_close(theirs);
}

/* Unsaved changes outlive a refresh; a file removed by someone is theirs having removed everything. */
static void prioritize(struct pw_triage *triage, const char *id, int priority)
{
    struct pw_triage_entry entry = {.priority = priority};
    struct pw_error err = {0};

    snprintf(entry.id, sizeof entry.id, "%s", id);
    assert_int_equal(pw_triage_set(triage, &entry, &err), PW_OK);
}

/* A priority that people set is kept, merged and refused like the other fields. */
static void test_priority(void **state)
{
    struct pw_triage *mine, *theirs;
    struct pw_error err = {0};

    (void)state;
    mine = open_it();
    prioritize(mine, A, 90);
    save(mine);
    assert_non_null(strstr(read_file(), "priority: 90"));
    theirs = open_it();
    assert_int_equal(pw_triage_find(theirs, A)->priority, 90);
    prioritize(theirs, A, 10);
    save(theirs);
    prioritize(mine, A, 50);
    assert_int_equal(pw_triage_save(mine, &err), PW_OK);
    assert_int_equal(pw_triage_find(mine, A)->priority, 10); /* theirs stays */
    assert_int_equal(pw_triage_conflict_count(mine), 1);
    assert_string_equal(pw_triage_conflict_at(mine, 0)->field, "priority");
    assert_string_equal(pw_triage_conflict_at(mine, 0)->ours, "50");
    pw_triage_close(mine);
    pw_triage_close(theirs);
    write_file("format: 1\ngraph: g1\nsignatures:\n  \"" A "\": {priority: 101}\n");
    assert_int_equal(pw_triage_open(path, GRAPH, "m.onnx", &mine, &err), PW_ERR_FORMAT);
    assert_non_null(strstr(err.message, ":4:"));
    assert_non_null(strstr(err.message, "from 1 to 100"));
}

static void test_refresh_keeps_what_is_unsaved(void **state)
{
    struct pw_triage *triage = open_it();
    struct pw_error err = {0};
    bool changed = false;

    (void)state;
    put(triage, A, PW_TRIAGE_OPEN, "ann", NULL);
    save(triage);
    put(triage, B, PW_TRIAGE_DOING, NULL, NULL);
    write_file("format: 1\nsignatures:\n  " C ": {status: review}\n");
    assert_int_equal(pw_triage_refresh(triage, &changed, &err), PW_OK);
    assert_true(changed);
    assert_null(pw_triage_find(triage, A));
    assert_non_null(pw_triage_find(triage, B));
    assert_non_null(pw_triage_find(triage, C));
    assert_true(pw_triage_dirty(triage));
    save(triage);
    assert_non_null(strstr(read_file(), B));
    pw_triage_close(triage);
}

static void test_bad_files(void **state)
{
    static const struct {
        const char *text, *says;
    } cases[] = {
        {"format: 2\n", ":1:9: key 'format'"},
        {"graph: other\n", "another graph"},
        {"signaturs:\n", "signatures"},
        {"signatures:\n  12: {status: open}\n", ":2:7: key '12'"},
        {"signatures:\n  " A ": {status: opened}\n", "key 'status'"},
        {"signatures:\n  " A ": {stats: open}\n", "status"},
        {"signatures:\n  " A ": open\n", "expected a map"},
        {"signatures: [1]\n", "expected a map"},
        {"signatures:\n  " A ": {waiver: {reason: x, owner: y}}\n", "'until'"},
        {"signatures:\n  " A ": {waiver: {reason: x, owner: y, until: 2026-02-30}}\n", "2026-02-30"},
        {"signatures:\n  " A ": {waiver: {reason: x, owner: y, until: tomorrow or later}}\n", "tomorrow"},
        {"signatures:\n  " A ": {waiver: {reason: '', owner: y, until: 2026-02-28}}\n", "reason"},
        {"signatures:\n  " A ": {waiver: {reason: x, owner: y, until: 2026-02-28, of: [speed]}}\n", "speed"},
        {"signatures:\n  " A ": {note: \"\\e[31m\"}\n", "control"},
        {"signatures:\n  " A ": {status: open}\n  " A ": {status: done}\n", ":3:"},
        {"<<<<<<< ours\nsignatures:\n=======\n", ":1:1: a conflict mark of git"},
        {"signatures:\n  " A ": {note: \xff\xfe}\n", ""},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct pw_triage *triage = NULL;
        struct pw_error err = {0};

        write_file(cases[i].text);
        if (pw_triage_open(path, GRAPH, "m.onnx", &triage, &err) == PW_OK)
            fail_msg("taken: %s", cases[i].text);
        assert_null(triage);
        if (!strstr(err.message, cases[i].says) || !strstr(err.message, "triage.yaml"))
            fail_msg("expected '%s' in: %s", cases[i].says, err.message);
    }
}

/* A colleague's broken edit appears while we have changes: it is left alone and ours stay in memory. */
static void test_broken_edit_is_left_alone(void **state)
{
    struct pw_triage *triage = open_it();
    struct pw_error err = {0};

    (void)state;
    put(triage, A, PW_TRIAGE_OPEN, NULL, NULL);
    save(triage);
    put(triage, B, PW_TRIAGE_DOING, NULL, NULL);
    write_file("signatures:\n  " A ": {status: open\n");
    assert_int_equal(pw_triage_save(triage, &err), PW_ERR_FORMAT);
    assert_non_null(strstr(err.message, "triage.yaml:"));
    assert_string_equal(read_file(), "signatures:\n  " A ": {status: open\n");
    assert_non_null(pw_triage_find(triage, B));
    assert_true(pw_triage_dirty(triage));
    write_file("signatures:\n  " A ": {status: open}\n");
    save(triage);
    assert_non_null(strstr(read_file(), B));
    pw_triage_close(triage);
}

static void test_entries_that_are_refused(void **state)
{
    struct pw_triage *triage = open_it();
    struct pw_triage_entry entry = {.id = "xyz", .status = PW_TRIAGE_OPEN};
    struct pw_error err = {0};

    (void)state;
    assert_int_equal(pw_triage_set(triage, &entry, &err), PW_ERR_USAGE);
    snprintf(entry.id, sizeof entry.id, A);
    entry.waiver.present = true;
    entry.waiver.gates = PW_WAIVE_ALL;
    pw_error_clear(&err);
    assert_int_equal(pw_triage_set(triage, &entry, &err), PW_ERR_USAGE);
    assert_non_null(strstr(err.message, "reason"));
    memset(entry.note, 'x', sizeof entry.note); /* not ended */
    assert_int_equal(pw_triage_set(triage, &entry, NULL), PW_ERR_USAGE);
    snprintf(entry.note, sizeof entry.note, "\033[2J");
    assert_int_equal(pw_triage_set(triage, &entry, NULL), PW_ERR_USAGE);
    assert_int_equal(pw_triage_count(triage), 0);
    pw_triage_close(triage);
}

static void test_waivers(void **state)
{
    struct pw_triage_entry entry = {.id = A};
    char today[PW_TRIAGE_DATE];

    (void)state;
    assert_int_equal(pw_triage_waiver(NULL, PW_WAIVE_ALL, "2026-01-01"), PW_WAIVER_NONE);
    assert_int_equal(pw_triage_waiver(&entry, PW_WAIVE_ALL, "2026-01-01"), PW_WAIVER_NONE);
    entry.waiver = (struct pw_waiver){.present = true, .gates = PW_WAIVE_PRECISION, .until = "2026-03-31"};
    assert_int_equal(pw_triage_waiver(&entry, PW_WAIVE_VERIFY, "2026-01-01"), PW_WAIVER_NONE);
    assert_int_equal(pw_triage_waiver(&entry, PW_WAIVE_PRECISION, "2026-03-31"), PW_WAIVER_VALID); /* last day */
    assert_int_equal(pw_triage_waiver(&entry, PW_WAIVE_PRECISION, "2026-04-01"), PW_WAIVER_EXPIRED);
    assert_string_equal(pw_triage_today(INT64_C(1774915199000), today), "2026-03-30"); /* 23:59:59 UTC */
    assert_string_equal(pw_triage_today(INT64_C(1774915200000), today), "2026-03-31");
}

/* Eight processes write at once, each its own entries: all are there afterwards. */
static void test_writers_at_once(void **state)
{
    enum { WRITERS = 8, EACH = 5 };
    struct pw_triage *triage;

    (void)state;
    for (int w = 0; w < WRITERS; w++)
        if (fork() == 0) {
            for (int i = 0; i < EACH; i++) {
                struct pw_triage *mine = NULL;
                struct pw_triage_entry entry = {.status = PW_TRIAGE_OPEN};
                struct pw_error err = {0};

                snprintf(entry.id, sizeof entry.id, "%016x", w * 100 + i);
                if (pw_triage_open(path, GRAPH, "m.onnx", &mine, &err) != PW_OK ||
                    pw_triage_set(mine, &entry, &err) != PW_OK || pw_triage_save(mine, &err) != PW_OK) {
                    fprintf(stderr, "%s\n", err.message);
                    _exit(1);
                }
                pw_triage_close(mine);
            }
            _exit(0);
        }
    for (int w = 0; w < WRITERS; w++) {
        int code = 1;

        wait(&code);
        assert_int_equal(code, 0);
    }
    triage = open_it();
    assert_int_equal(pw_triage_count(triage), WRITERS * EACH);
    pw_triage_close(triage);
}

static void test_short_memory(void **state)
{
    (void)state;
    write_file("signatures:\n  " A ": {status: open}\n  " C ": {note: x}\n");
    for (uint64_t nth = 1;; nth++) {
        struct pw_triage *triage = NULL;
        struct pw_triage_entry entry = {.id = B, .status = PW_TRIAGE_OPEN};
        pw_status status;

        pw_mem_fail_at(nth, 1);
        status = pw_triage_open(path, GRAPH, "m.onnx", &triage, NULL);
        if (status == PW_OK)
            status = pw_triage_set(triage, &entry, NULL);
        if (status == PW_OK)
            status = pw_triage_save(triage, NULL);
        pw_mem_fail_at(0, 0);
        pw_triage_close(triage);
        triage = open_it(); /* whole, whatever happened */
        assert_true(pw_triage_find(triage, A) && pw_triage_find(triage, C));
        pw_triage_close(triage);
        if (status == PW_OK)
            break;
        assert_true(status == PW_ERR_NO_MEMORY || status == PW_ERR_IO);
        assert_true(nth < 2000);
    }
}

/* Whatever bytes a file has: entries or a message, and what was read can be changed and saved. */
static void test_mutated_files(void **state)
{
    static const char text[] =
        "# head\nformat: 1\ngraph: g1\nsignatures:\n  # a\n  " A ": {status: open, owner: ann, note: 'x y'}\n  \"" B
        "\":\n    waiver: {reason: x, owner: y, until: 2026-02-28, of: [verify]}\n# end\n";
    static const char signs[] = "{}[]:,\"'#\n -0x.e";
    int taken = 0;

    (void)state;
    write_file(text);
    for (uint64_t i = 0; i < 2000; i++) {
        struct pw_triage *triage = NULL;
        struct pw_triage_entry entry = {.id = C, .status = PW_TRIAGE_OPEN};
        struct pw_error err = {0};
        char changed[sizeof text];
        size_t size = sizeof text - 1;
        FILE *file = fopen(path, "wb");

        assert_non_null(file);
        memcpy(changed, text, sizeof text);
        for (uint64_t k = 0; k < 1 + i % 3; k++)
            changed[pw_random_range(i, k, 0, 0, (int64_t)size - 1)] =
                i % 2 ? (char)pw_random_u32(i, k, 8) : signs[pw_random_range(i, k, 2, 0, (int64_t)sizeof signs - 2)];
        if (i % 5 == 0)
            size = (size_t)pw_random_range(i, 9, 0, 0, (int64_t)size);
        assert_int_equal(fwrite(changed, 1, size, file), size);
        fclose(file);
        if (pw_triage_open(path, GRAPH, "m.onnx", &triage, &err) != PW_OK) {
            assert_true(err.message[0]);
            continue;
        }
        taken++;
        assert_int_equal(pw_triage_set(triage, &entry, &err), PW_OK);
        if (pw_triage_save(triage, &err) != PW_OK)
            fail_msg("%s", err.message);
        pw_triage_close(triage);
        triage = open_it(); /* what we wrote reads back */
        assert_non_null(pw_triage_find(triage, C));
        pw_triage_close(triage);
    }
    assert_true(taken > 40);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(test_round_trip),
        TEST(test_one_line_a_signature_and_the_rest_stays),
        TEST(test_flow_map_is_printed_anew),
        TEST(test_three_way_merge),
        TEST(test_priority),
        TEST(test_refresh_keeps_what_is_unsaved),
        TEST(test_bad_files),
        TEST(test_broken_edit_is_left_alone),
        TEST(test_entries_that_are_refused),
        TEST(test_waivers),
        TEST(test_writers_at_once),
        TEST(test_short_memory),
        TEST(test_mutated_files),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
