/*
 * What goes wrong around a store: a full disk, failing writes and syncs, a folder that cannot be written, a damaged
 * file, other writers, a kill. Nothing that was acknowledged is lost, nothing crashes, the message says what to do.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/file.h"
#include "base/random.h"
#include "graph/inventory.h"
#include "store/history.h"
#include "store/store_internal.h"
#include "store_vfs.h"
#include "verify/verify.h"

static char folder[64];

static int set_up(void **state)
{
    (void)state;
    snprintf(folder, sizeof folder, "%s/pw-faults-XXXXXX", access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
    return mkdtemp(folder) && chmod(folder, 0755) == 0 ? 0 : -1;
}

static int tear_down(void **state)
{
    char command[256];

    (void)state;
    vfs_forget();
    snprintf(command, sizeof command, "chmod -R u+rwx %s; rm -rf %s", folder, folder);
    return system(command) == 0 ? 0 : -1;
}

static const char *path_of(const char *name)
{
    static char path[256];

    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static const struct pw_signature signature = {.text = "Softmax-13 axis=-1 (float32[2,3]) -> (float32[2,3])",
                                              .id = "00112233445566aa",
                                              .op_label = "Softmax-13",
                                              .category = PW_CATEGORY_ACTIVATION,
                                              .node_count = 4};

static pw_status begin(struct pw_store *store, int64_t *id, struct pw_error *err)
{
    const struct pw_store_run run = {.kind = "check", .graph = "g", .model_path = "m", .target = "opencl"};

    return pw_store_run_begin(store, &run, id, err);
}

static pw_status add_case(struct pw_store *store, int64_t run, int row, struct pw_error *err)
{
    static char log[2000];
    struct pw_case_result result = {.implementation = "k",
                                    .shapes = "s",
                                    .dtype = PW_DTYPE_FLOAT32,
                                    .tolerance = 1e-6,
                                    .reason = "",
                                    .log = row % 3 ? "" : log};

    memset(log, 'x', sizeof log - 1);
    snprintf(result.id, sizeof result.id, "row-%d", row);
    return pw_store_case_add(store, run, &signature, &result, err);
}

static int64_t count_rows(struct pw_store *store)
{
    sqlite3_stmt *q = NULL;
    int64_t count = -1;

    assert_int_equal(sqlite3_prepare_v2(store->db, "SELECT COUNT(*) FROM verdict", -1, &q, NULL), SQLITE_OK);
    if (sqlite3_step(q) == SQLITE_ROW)
        count = sqlite3_column_int64(q, 0);
    sqlite3_finalize(q);
    return count;
}

/* Opens the file afresh: it is sound and has at least so many verdicts. */
static void check_file(const char *name, int64_t least)
{
    struct pw_store *store = NULL;
    struct pw_error err = {0};
    int64_t rows;

    if (pw_store_open(path_of(name), false, &store, &err) != PW_OK)
        fail_msg("%s", err.message);
    if (pw_store_integrity(store, &err) != PW_OK)
        fail_msg("%s", err.message);
    rows = count_rows(store);
    if (rows < least)
        fail_msg("%lld verdicts, %lld were acknowledged", (long long)rows, (long long)least);
    pw_store_close(store);
}

/* ---- a disk that fails at the nth write or sync ---- */

#define FAULT_ROWS 12

/* One run of it; returns whether anything failed. */
static bool run_with_fault(const char *name, long nth, int code, bool syncs, const char *says)
{
    struct pw_store *store = NULL;
    struct pw_error err = {0};
    int64_t run = 0;
    int acknowledged = 0;
    pw_status status;
    bool failed;

    vfs_install();
    vfs_log.fail_after = nth;
    vfs_log.fail_code = code;
    vfs_log.fail_syncs = syncs;
    vfs_log.failures = 0;
    status = pw_store_open(path_of(name), false, &store, &err);
    if (status == PW_OK)
        sqlite3_exec(store->db, "PRAGMA wal_autocheckpoint=4", NULL, NULL, NULL);
    if (status == PW_OK)
        status = begin(store, &run, &err);
    for (int i = 0; i < FAULT_ROWS && status == PW_OK; i++) {
        status = add_case(store, run, i, &err);
        acknowledged += status == PW_OK;
    }
    failed = vfs_log.failures > 0;
    if (status != PW_OK) {
        assert_true(failed);
        assert_int_equal(status, PW_ERR_STORE);
        if (!strstr(err.message, name) || !strstr(err.message, says))
            fail_msg("expected '%s' in: %s", says, err.message);
    }
    vfs_log.fail_after = -1; /* space again: the same handle goes on */
    if (store && status != PW_OK && run) {
        pw_error_clear(&err);
        if (add_case(store, run, 99, &err) != PW_OK)
            fail_msg("after the fault: %s", err.message);
        acknowledged++;
    }
    pw_store_close(store);
    vfs_remove();
    check_file(name, acknowledged);
    return failed;
}

static void faults(int code, bool syncs, const char *says)
{
    int failing = 0;

    for (long nth = 0; nth < 400; nth++) {
        char name[32];

        snprintf(name, sizeof name, "f%ld.db", nth);
        if (!run_with_fault(name, nth, code, syncs, says))
            break;
        failing++;
    }
    assert_true(failing > (syncs ? 20 : 100));
    assert_true(failing < 400);
}

static void test_disk_is_full_at_any_write(void **state)
{
    (void)state;
    faults(SQLITE_FULL, false, "the disk is full: free some space");
}

static void test_any_write_fails(void **state)
{
    (void)state;
    faults(SQLITE_IOERR_WRITE, false, "check the disk");
}

static void test_any_sync_fails(void **state)
{
    (void)state;
    faults(SQLITE_IOERR_FSYNC, true, "check the disk");
}

/* The same by the kernel's hand: no file may grow beyond a limit. */
static void test_file_size_limit(void **state)
{
    int code;

    (void)state;
    if (fork() == 0) {
        struct pw_store *store = NULL;
        struct pw_error err = {0};
        struct rlimit limit = {300000, 300000};
        int64_t run = 0;
        int rows = 0;
        pw_status status;

        signal(SIGXFSZ, SIG_IGN);
        setrlimit(RLIMIT_FSIZE, &limit);
        status = pw_store_open(path_of("limit.db"), false, &store, &err);
        if (status == PW_OK)
            sqlite3_exec(store->db, "PRAGMA wal_autocheckpoint=0", NULL, NULL, NULL);
        if (status == PW_OK)
            status = begin(store, &run, &err);
        while (status == PW_OK && rows < 200) {
            status = add_case(store, run, rows, &err);
            rows += status == PW_OK;
        }
        _exit(status == PW_ERR_STORE && strstr(err.message, "disk") ? rows : 255);
    }
    assert_true(wait(&code) > 0 && WIFEXITED(code));
    assert_in_range(WEXITSTATUS(code), 1, 199);
    check_file("limit.db", WEXITSTATUS(code));
}

/* ---- who may not write ---- */

/* Runs the body as somebody who is bound by permissions; a test run as root would not be. */
static int as_nobody(int (*body)(void))
{
    int code = 0;
    pid_t child = fork();

    if (child == 0) {
        if (geteuid() == 0 && (setgid(65534) != 0 || setuid(65534) != 0))
            _exit(100);
        _exit(body());
    }
    assert_true(waitpid(child, &code, 0) == child && WIFEXITED(code));
    return WEXITSTATUS(code);
}

static int write_refused(void)
{
    struct pw_store *store = NULL;
    struct pw_error err = {0};
    int64_t run = 0;
    pw_status status = pw_store_open(path_of("ro.db"), false, &store, &err);

    if (status == PW_OK)
        status = begin(store, &run, &err);
    pw_store_close(store);
    if (status != PW_ERR_STORE || !strstr(err.message, "--db FILE") || !strstr(err.message, "ro.db"))
        fprintf(stderr, "%s\n", err.message);
    return status == PW_ERR_STORE && strstr(err.message, "--db FILE") ? 0 : 1;
}

static int new_refused(void)
{
    struct pw_store *store = NULL;
    struct pw_error err = {0};
    pw_status status = pw_store_open(path_of("new.db"), false, &store, &err);

    if (status == PW_OK || !strstr(err.message, "--db FILE"))
        fprintf(stderr, "%s\n", err.message);
    return status == PW_ERR_STORE && strstr(err.message, "--db FILE") ? 0 : 1;
}

static int reading_works(void)
{
    struct pw_store *store = NULL;
    struct pw_error err = {0};
    pw_status status = pw_store_open(path_of("ro.db"), true, &store, &err);

    if (status != PW_OK) {
        fprintf(stderr, "%s\n", err.message);
        return 1;
    }
    return count_rows(store) == 3 ? 0 : 2;
}

static int reading_refused(void)
{
    struct pw_store *store = NULL;
    struct pw_error err = {0};
    pw_status status = pw_store_open(path_of("ro.db"), true, &store, &err);

    return status == PW_ERR_STORE && strstr(err.message, "copy both") ? 0 : 1;
}

static void test_read_only_folder(void **state)
{
    struct pw_store *store = NULL;
    struct pw_error err = {0};
    int64_t run = 0;

    (void)state;
    assert_int_equal(pw_store_open(path_of("ro.db"), false, &store, &err), PW_OK);
    assert_int_equal(begin(store, &run, &err), PW_OK);
    for (int i = 0; i < 3; i++)
        assert_int_equal(add_case(store, run, i, &err), PW_OK);
    pw_store_close(store);
    assert_int_equal(chmod(path_of("ro.db"), 0444), 0);
    assert_int_equal(chmod(folder, 0555), 0);
    assert_int_equal(as_nobody(write_refused), 0);
    assert_int_equal(as_nobody(new_refused), 0);
    assert_int_equal(as_nobody(reading_works), 0);
    assert_int_equal(chmod(folder, 0755), 0);
    assert_int_equal(pw_file_write(path_of("ro.db-wal"), "rows", 4, &err), PW_OK); /* rows wait in the log */
    assert_int_equal(chmod(folder, 0555), 0);
    assert_int_equal(as_nobody(reading_refused), 0);
    assert_int_equal(chmod(folder, 0755), 0);
    assert_int_equal(unlink(path_of("ro.db-wal")), 0);
}

/* ---- a damaged file ---- */

/* Every page in turn is overwritten: what is done with the file then ends well or in a message that says what to do,
 * and a file that cannot be opened is left as it is. */
static void test_damaged_pages(void **state)
{
    struct pw_store *store = NULL;
    struct pw_buf whole = {0};
    struct pw_error err = {0};
    int64_t run = 0;
    int refused = 0, found = 0;

    (void)state;
    assert_int_equal(pw_store_open(path_of("good.db"), false, &store, &err), PW_OK);
    assert_int_equal(begin(store, &run, &err), PW_OK);
    for (int i = 0; i < 40; i++)
        assert_int_equal(add_case(store, run, i, &err), PW_OK);
    pw_store_close(store);
    assert_int_equal(pw_file_read(path_of("good.db"), 4 << 20, &whole, &err), PW_OK);
    for (size_t page = 0; page < whole.size / 4096; page++) {
        struct pw_arena arena = {0};
        struct pw_store_case_row *rows;
        struct pw_history_series *series;
        struct pw_history_filter filter = {0};
        char *copy = malloc(whole.size);
        size_t count;
        pw_status status;

        assert_non_null(copy);
        memcpy(copy, whole.data, whole.size);
        for (size_t i = page ? 0 : 100; i < 4096; i++) /* the file's own head is the next test's */
            copy[page * 4096 + i] = (char)pw_random_u32(page, 1, i);
        assert_int_equal(pw_file_write(path_of("bad.db"), copy, whole.size, &err), PW_OK);
        free(copy);
        store = NULL;
        pw_error_clear(&err);
        status = pw_store_open(path_of("bad.db"), false, &store, &err);
        if (status == PW_OK)
            status = pw_store_cases(store, signature.id, "opencl", &arena, &rows, &count, &err);
        if (status == PW_OK)
            status = pw_history_read(store, &filter, &arena, &series, &count, &err);
        if (status == PW_OK)
            status = add_case(store, run, 100, &err);
        if (status != PW_OK) {
            refused++;
            assert_int_equal(status, PW_ERR_STORE);
            if (!strstr(err.message, "bad.db") || !strstr(err.message, "restore a backup"))
                fail_msg("page %zu: %s", page, err.message);
        }
        if (store && pw_store_integrity(store, &err) != PW_OK)
            found++;
        pw_store_close(store);
        pw_arena_clear(&arena);
        unlink(path_of("bad.db-wal"));
        unlink(path_of("bad.db-shm"));
    }
    assert_true(refused > 5);
    assert_true(found > 0);
    pw_buf_clear(&whole);
}

static void test_damaged_head(void **state)
{
    static const char letter[] = "SQLite format 3\0 or something that only begins like it";
    struct pw_store *store = NULL;
    struct pw_buf text = {0};
    struct pw_error err = {0};

    (void)state;
    assert_int_equal(pw_file_write(path_of("bad.db"), letter, sizeof letter, &err), PW_OK);
    for (int read_only = 0; read_only < 2; read_only++) {
        pw_error_clear(&err);
        assert_int_equal(pw_store_open(path_of("bad.db"), read_only, &store, &err), PW_ERR_STORE);
        assert_non_null(strstr(err.message, "move it away (nothing was changed)"));
    }
    assert_int_equal(pw_file_read(path_of("bad.db"), 1000, &text, &err), PW_OK);
    assert_int_equal(text.size, sizeof letter);
    assert_memory_equal(text.data, letter, sizeof letter);
    pw_buf_clear(&text);
}

/* ---- others at once, and kills ---- */

static void test_writers_at_once(void **state)
{
    enum { WRITERS = 6, ROWS = 25 };
    struct pw_store *reader = NULL;
    struct pw_error err = {0};

    (void)state;
    for (int w = 0; w < WRITERS; w++) /* the file does not exist yet: they make and migrate it together */
        if (fork() == 0) {
            struct pw_store *store = NULL;
            struct pw_error why = {0};
            int64_t run = 0;
            pw_status status = pw_store_open(path_of("many.db"), false, &store, &why);

            if (status == PW_OK)
                status = begin(store, &run, &why);
            for (int i = 0; i < ROWS && status == PW_OK; i++)
                status = add_case(store, run, i, &why);
            if (status == PW_OK)
                status = pw_store_run_end(store, run, "held", 0, &why);
            pw_store_close(store);
            if (status != PW_OK)
                fprintf(stderr, "%s\n", why.message);
            _exit(status != PW_OK);
        }
    for (int done = 0; done < WRITERS; done++) {
        int code = 1;

        wait(&code);
        assert_int_equal(code, 0);
        assert_int_equal(pw_store_open(path_of("many.db"), true, &reader, &err), PW_OK); /* and one reads */
        assert_true(count_rows(reader) >= (done + 1) * ROWS);
        pw_store_close(reader);
    }
    check_file("many.db", WRITERS * ROWS);
}

/* Opens, reads or records, and closes, as soon as the pipe ends. */
static void open_shortly(const char *path, int start, bool reads)
{
    struct pw_store *store = NULL;
    struct pw_error why = {0};
    int64_t run = 0;
    char byte;
    pw_status status = PW_OK;

    if (read(start, &byte, 1) != 0)
        _exit(2);
    if (reads) {
        while (!pw_file_exists(path))
            usleep(10);
        for (int i = 0; i < 8 && status == PW_OK; i++) {
            status = pw_store_open(path, true, &store, &why);
            pw_store_close(store);
            store = NULL;
        }
    } else {
        status = pw_store_open(path, false, &store, &why);
        if (status == PW_OK)
            status = begin(store, &run, &why);
        if (status == PW_OK)
            status = pw_store_run_end(store, run, "held", 0, &why);
    }
    pw_store_close(store);
    if (status != PW_OK)
        fprintf(stderr, "%s: %s\n", reads ? "a reader" : "a writer", why.message);
    _exit(status != PW_OK);
}

/* A file is made, opened, and left by the last by several at the same moment: none is turned away. */
static void test_opened_at_once(void **state)
{
    enum { ROUNDS = 60, OPENERS = 6 };

    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        char name[32], path[256];
        int start[2];

        snprintf(name, sizeof name, "once%d.db", round / 2); /* every second time it is there already */
        snprintf(path, sizeof path, "%s", path_of(name));
        assert_int_equal(pipe(start), 0);
        for (int i = 0; i < OPENERS; i++)
            if (fork() == 0) {
                close(start[1]);
                open_shortly(path, start[0], i % 3 == 2);
            }
        close(start[0]);
        close(start[1]); /* now */
        for (int i = 0; i < OPENERS; i++) {
            int code = 1;

            wait(&code);
            assert_int_equal(code, 0);
        }
    }
}

/* Killed at any moment: the parent knows from a pipe how many rows were acknowledged before. */
static void test_killed_at_any_moment(void **state)
{
    int64_t total = 0;

    (void)state;
    for (int round = 0; round < 25; round++) {
        int pipes[2], code;
        char byte;
        pid_t child;

        assert_int_equal(pipe(pipes), 0);
        child = fork();
        if (child == 0) {
            struct pw_store *store = NULL;
            int64_t run = 0;

            if (pw_store_open(path_of("kill.db"), false, &store, NULL) != PW_OK)
                _exit(1);
            sqlite3_exec(store->db, "PRAGMA wal_autocheckpoint=8", NULL, NULL, NULL);
            if (begin(store, &run, NULL) != PW_OK)
                _exit(2);
            for (int i = 0;; i++)
                if (add_case(store, run, i, NULL) != PW_OK || write(pipes[1], "x", 1) != 1)
                    _exit(3);
        }
        close(pipes[1]);
        usleep((useconds_t)pw_random_range(9, 1, (uint64_t)round, 0, 20000));
        kill(child, SIGKILL);
        waitpid(child, &code, 0);
        assert_true(WIFSIGNALED(code));
        while (read(pipes[0], &byte, 1) == 1)
            total++;
        close(pipes[0]);
        check_file("kill.db", total);
    }
    assert_true(total > 0);
}

/* SQLite would write on into a file without a name: neither a run's begin nor its end is acknowledged there. */
static void test_removed_while_open(void **state)
{
    struct pw_store *store = NULL;
    struct pw_error err = {0};
    int64_t run = 0, next = 0;

    (void)state;
    assert_int_equal(pw_store_open(path_of("gone.db"), false, &store, &err), PW_OK);
    assert_int_equal(begin(store, &run, &err), PW_OK);
    assert_int_equal(unlink(path_of("gone.db")), 0);
    assert_int_equal(pw_store_run_end(store, run, "held", 0, &err), PW_ERR_STORE);
    assert_non_null(strstr(err.message, "gone.db: was removed, moved or replaced"));
    pw_error_clear(&err);
    assert_int_equal(begin(store, &next, &err), PW_ERR_STORE);
    assert_non_null(strstr(err.message, "gone.db: was removed, moved or replaced"));
    assert_int_equal(next, 0);
    assert_int_equal(pw_file_write(path_of("gone.db"), "", 0, &err), PW_OK); /* another one in its place */
    pw_error_clear(&err);
    assert_int_equal(begin(store, &next, &err), PW_ERR_STORE);
    pw_store_close(store);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(test_disk_is_full_at_any_write),
        TEST(test_any_write_fails),
        TEST(test_any_sync_fails),
        TEST(test_file_size_limit),
        TEST(test_read_only_folder),
        TEST(test_damaged_pages),
        TEST(test_damaged_head),
        TEST(test_writers_at_once),
        TEST(test_opened_at_once),
        TEST(test_killed_at_any_moment),
        TEST(test_removed_while_open),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
