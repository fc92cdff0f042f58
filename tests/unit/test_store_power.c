/*
 * Power cuts: a run is logged through a VFS, then hundreds of its prefixes are laid out on disk as a cut at that moment
 * may leave them: what was synced is there; of what was written since, nothing, all, a torn beginning, or some sectors
 * in any order. Each opens, is sound, and has every row that was acknowledged before the cut.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/file.h"
#include "base/random.h"
#include "graph/inventory.h"
#include "store/history.h"
#include "store/store_internal.h"
#include "store_vfs.h"
#include "verify/verify.h"

#define SECTOR 512
#define CUTS 320
#define ROWS 60

static char folder[64];
static const char *const suffixes[VFS_FILES] = {"", "-wal", "-journal"};

static int set_up(void **state)
{
    (void)state;
    /* In memory where there is such a folder: hundreds of syncs are slow on a disk, and the cuts are made here. */
    snprintf(folder, sizeof folder, "%s/pw-power-XXXXXX", access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
    return mkdtemp(folder) ? 0 : -1;
}

static int tear_down(void **state)
{
    char command[256];

    (void)state;
    vfs_forget();
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command) == 0 ? 0 : -1;
}

static const char *path_of(const char *name)
{
    static char path[256];

    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

/* ---- the run that is logged ---- */

static const struct pw_signature signature = {.text = "Softmax-13 axis=-1 (float32[2,3]) -> (float32[2,3])",
                                              .id = "00112233445566aa",
                                              .op_label = "Softmax-13",
                                              .category = PW_CATEGORY_ACTIVATION,
                                              .node_count = 4};

struct ack {
    size_t at; /* operations logged when it was given */
    int rows;  /* verdicts that are there from then on */
    int ended; /* runs that have an end */
    int least; /* verdicts that are there at least, also after rows were pruned */
};
static struct ack acks[4 * ROWS];
static size_t ack_count;

static void acknowledge(int rows, int ended)
{
    acks[ack_count++] = (struct ack){vfs_log.count, rows, ended, rows};
}

static struct pw_store *open_db(const char *name, const char *pragma)
{
    struct pw_store *store = NULL;
    struct pw_error err = {0};

    if (pw_store_open(path_of(name), false, &store, &err) != PW_OK)
        fail_msg("%s", err.message);
    assert_int_equal(sqlite3_exec(store->db, pragma, NULL, NULL, NULL), SQLITE_OK);
    return store;
}

static int64_t begin(struct pw_store *store)
{
    const struct pw_store_run run = {.kind = "check", .graph = "g", .model_path = "m", .target = "opencl"};
    struct pw_error err = {0};
    int64_t id = 0;

    if (pw_store_run_begin(store, &run, &id, &err) != PW_OK)
        fail_msg("%s", err.message);
    return id;
}

static void add_case(struct pw_store *store, int64_t run, int row)
{
    static char log[3000];
    struct pw_case_result result = {.implementation = "k",
                                    .shapes = "s",
                                    .dtype = PW_DTYPE_FLOAT32,
                                    .tolerance = 1e-6,
                                    .reason = "",
                                    .log = row % 7 ? "" : log}; /* some rows span pages */
    struct pw_error err = {0};

    memset(log, 'a' + row % 26, sizeof log - 1);
    snprintf(result.id, sizeof result.id, "row-%d", row);
    if (pw_store_case_add(store, run, &signature, &result, &err) != PW_OK)
        fail_msg("%s", err.message);
}

/* Two runs with checkpoints in between; the first one's connection is closed, which folds the log into the file. */
static void logged_run(const char *pragma)
{
    int rows = 0, ended = 0;

    ack_count = 0;
    vfs_install();
    vfs_log.logging = true;
    for (int part = 0; part < 2; part++) {
        struct pw_store *store = open_db("live.db", pragma);
        int64_t run;
        struct pw_error err = {0};

        run = begin(store);
        for (int i = 0; i < ROWS; i++) {
            add_case(store, run, rows++);
            acknowledge(rows, ended);
        }
        assert_int_equal(pw_store_run_end(store, run, "held", 0, &err), PW_OK);
        acknowledge(rows, ++ended);
        pw_store_close(store);
    }
    vfs_log.logging = false;
    vfs_remove();
}

/* ---- the disk after a cut ---- */

struct content {
    unsigned char *bytes;
    size_t size, cap;
    bool exists;
};

static void write_at(struct content *c, const unsigned char *data, size_t size, size_t offset)
{
    size_t end = offset + size;

    if (end > c->cap) {
        c->bytes = realloc(c->bytes, 2 * end);
        assert_non_null(c->bytes);
        c->cap = 2 * end;
    }
    if (offset > c->size)
        memset(c->bytes + c->size, 0, offset - c->size);
    memcpy(c->bytes + offset, data, size);
    c->size = end > c->size ? end : c->size;
    c->exists = true;
}

static void apply(struct content *c, const struct vfs_op *op, size_t begin_byte, size_t end_byte)
{
    if (op->kind == VFS_WRITE && begin_byte < end_byte)
        write_at(c, op->data + begin_byte, end_byte - begin_byte, (size_t)op->offset + begin_byte);
    else if (op->kind == VFS_TRUNCATE && (size_t)op->offset < c->size)
        c->size = (size_t)op->offset;
    else if (op->kind == VFS_DELETE)
        *c = (struct content){.bytes = c->bytes, .cap = c->cap};
}

static size_t whole(const struct vfs_op *op)
{
    return (size_t)op->size;
}

enum mode { DROPPED, ALL, TORN, REORDERED, MODES };

/* Operations of one file since its last sync; which of them reached the disk depends on the mode. */
static void apply_unsynced(struct content *c, const struct vfs_op **pending, size_t count, enum mode mode,
                           uint64_t seed)
{
    size_t torn = count ? (size_t)pw_random_range(seed, 1, 0, 0, (int64_t)count) : 0;

    for (size_t i = 0; i < count && mode == ALL; i++)
        apply(c, pending[i], 0, whole(pending[i]));
    for (size_t i = 0; i < torn && mode == TORN; i++) {
        size_t size = whole(pending[i]);

        if (i + 1 == torn && size > SECTOR)
            size = (size_t)pw_random_range(seed, 2, 0, 0, (int64_t)(size / SECTOR)) * SECTOR;
        apply(c, pending[i], 0, size);
    }
    for (size_t i = 0; i < 2 * count && mode == REORDERED; i++) { /* any of them, in any order, sector by sector */
        const struct vfs_op *op = pending[pw_random_range(seed, 3, i, 0, (int64_t)count - 1)];
        size_t sectors = (whole(op) + SECTOR - 1) / SECTOR, at, end;

        if (op->kind != VFS_WRITE) {
            if (pw_random_u32(seed, 4, i) & 1)
                apply(c, op, 0, 0);
            continue;
        }
        at = (size_t)pw_random_range(seed, 5, i, 0, (int64_t)sectors - 1);
        end = (at + (size_t)pw_random_range(seed, 6, i, 1, (int64_t)(sectors - at))) * SECTOR;
        apply(c, op, at * SECTOR, end < whole(op) ? end : whole(op));
    }
}

/* The first `upto` pending operations are durable. */
static size_t settle(struct content *c, const struct vfs_op **pending, size_t count, size_t upto)
{
    for (size_t k = 0; k < upto; k++)
        if (pending[k]->kind != VFS_SYNC)
            apply(c, pending[k], 0, whole(pending[k]));
    memmove(pending, pending + upto, (count - upto) * sizeof *pending);
    return count - upto;
}

static void file_after_cut(int file, size_t cut, enum mode mode, uint64_t seed, struct content *c)
{
    const struct vfs_op **pending = calloc(cut + 1, sizeof(struct vfs_op *));
    size_t count = 0;

    assert_non_null(pending);
    for (size_t i = 0; i < cut; i++) {
        const struct vfs_op *op = &vfs_log.ops[i];

        if (op->file == file)
            pending[count++] = op;
        if (op->file == file && op->kind == VFS_SYNC)
            count = settle(c, pending, count, count);
        for (size_t k = count; op->folder && k > 0; k--) /* the folder: deletions are durable, writes are not */
            if (pending[k - 1]->kind == VFS_DELETE) {
                count = settle(c, pending, count, k);
                break;
            }
    }
    apply_unsynced(c, pending, count, mode, seed);
    free(pending);
}

static void lay_out(size_t cut, enum mode mode, uint64_t seed)
{
    for (int file = 0; file < VFS_FILES; file++) {
        struct content c = {0};
        char name[32];
        struct pw_error err = {0};

        snprintf(name, sizeof name, "cut.db%s", suffixes[file]);
        unlink(path_of(name));
        file_after_cut(file, cut, mode, seed + (uint64_t)file, &c);
        if (c.exists && pw_file_write(path_of(name), (const char *)c.bytes, c.size, &err) != PW_OK)
            fail_msg("%s", err.message);
        free(c.bytes);
    }
    unlink(path_of("cut.db-shm"));
}

static int64_t count_rows(struct pw_store *store, const char *what)
{
    sqlite3_stmt *q = NULL;
    char sql[160];
    int64_t count = -1;

    snprintf(sql, sizeof sql, "SELECT COUNT(*) FROM %s", what);
    assert_int_equal(sqlite3_prepare_v2(store->db, sql, -1, &q, NULL), SQLITE_OK);
    if (sqlite3_step(q) == SQLITE_ROW)
        count = sqlite3_column_int64(q, 0);
    sqlite3_finalize(q);
    return count;
}

static void check_cut(size_t cut, enum mode mode)
{
    struct ack want = {0};
    struct pw_store *store = NULL;
    struct pw_error err = {0};
    int64_t rows;
    char distinct[120];

    for (size_t i = 0; i < ack_count && acks[i].at <= cut; i++)
        want = acks[i];
    if (pw_store_open(path_of("cut.db"), false, &store, &err) != PW_OK)
        fail_msg("cut %zu of %zu, mode %d: %s", cut, vfs_log.count, mode, err.message);
    if (pw_store_integrity(store, &err) != PW_OK)
        fail_msg("cut %zu of %zu, mode %d: %s", cut, vfs_log.count, mode, err.message);
    rows = count_rows(store, "verdict");
    if (rows < want.rows || count_rows(store, "run WHERE end_ms IS NOT NULL") < want.ended)
        fail_msg("cut %zu of %zu, mode %d: %lld verdicts, %d were acknowledged", cut, vfs_log.count, mode,
                 (long long)rows, want.rows);
    snprintf(distinct, sizeof distinct,
             "(SELECT DISTINCT case_id FROM verdict WHERE CAST(SUBSTR(case_id, 5) AS INT) < %d)", want.rows);
    assert_int_equal(count_rows(store, distinct), want.rows); /* those very rows */
    pw_store_close(store);
}

static void cut_everywhere(const char *pragma, size_t cuts)
{
    logged_run(pragma);
    assert_true(vfs_log.count > 400);
    for (size_t i = 0; i < cuts; i++) {
        size_t cut = i * vfs_log.count / (cuts - 1);
        enum mode mode = (enum mode)(i % MODES);

        lay_out(cut, mode, 1000 + 10 * i);
        check_cut(cut, mode);
    }
}

static void test_cuts_with_many_checkpoints(void **state)
{
    (void)state;
    cut_everywhere("PRAGMA wal_autocheckpoint=6", CUTS);
}

static void test_cuts_with_a_long_log(void **state)
{
    (void)state;
    cut_everywhere("PRAGMA wal_autocheckpoint=1000", CUTS / 4);
}

/* The replay itself can fail: when what was synced is dropped too, rows are missing. */
static void test_the_replay_notices_loss(void **state)
{
    size_t last = 0;

    (void)state;
    logged_run("PRAGMA wal_autocheckpoint=1000");
    for (size_t i = 0; i < vfs_log.count; i++) /* pretend that the last sync of the log before the first close failed */
        if (vfs_log.ops[i].kind == VFS_SYNC && vfs_log.ops[i].file == VFS_WAL && i < acks[ROWS - 1].at)
            last = i;
    assert_true(last > 0);
    vfs_log.ops[last].kind = VFS_TRUNCATE;
    vfs_log.ops[last].offset = INT64_MAX; /* nothing */
    lay_out(acks[ROWS - 1].at, DROPPED, 1);
    {
        struct pw_store *store = NULL;
        struct pw_error err = {0};

        assert_int_equal(pw_store_open(path_of("cut.db"), false, &store, &err), PW_OK);
        assert_true(count_rows(store, "verdict") < acks[ROWS - 1].rows);
        pw_store_close(store);
    }
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(test_cuts_with_many_checkpoints),
        TEST(test_cuts_with_a_long_log),
        TEST(test_the_replay_notices_loss),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
