/* Windows of a worker onto shared regions: what stays, what becomes inaccessible, what is around them. */
#include "base/compiler.h" /* first: GNU extensions of the system headers */

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/mem.h"
#include "target/worker.h"

#define PAGES 16

static int pipes[2];

/* The system says whether an address may be read or written, without a signal. */
static bool readable(const uint8_t *at)
{
    char byte;
    if (write(pipes[1], at, 1) != 1)
        return false;
    assert_int_equal(read(pipes[0], &byte, 1), 1);
    return true;
}

static bool writable(uint8_t *at)
{
    char byte = (char)*at;
    assert_int_equal(write(pipes[1], &byte, 1), 1);
    if (read(pipes[0], at, 1) == 1)
        return true;
    assert_int_equal(read(pipes[0], &byte, 1), 1);
    return false;
}

/* A region each of whose pages holds its own number. */
static struct pw_worker_region make_region(bool read_only)
{
    size_t page = pw_shm_page();
    struct pw_worker_region region = {.size = PAGES * page, .read_only = read_only};
    region.fd = memfd_create("windows", MFD_CLOEXEC);
    assert_true(region.fd >= 0);
    assert_int_equal(ftruncate(region.fd, (off_t)region.size), 0);
    for (size_t i = 0; i < PAGES; i++) {
        uint8_t number = (uint8_t)(i + 1);
        for (size_t at = 0; at < page; at += page / 2)
            assert_int_equal(pwrite(region.fd, &number, 1, (off_t)(i * page + at)), 1);
    }
    return region;
}

static void clear_region(struct pw_worker_region *region)
{
    pw_worker_windows_drop(region);
    close(region->fd);
    pw_free(region->windows);
}

static struct pw_slot slot_at(size_t first, size_t pages)
{
    size_t page = pw_shm_page();
    return (struct pw_slot){.offset = first * page, .pages = pages * page, .front = 0, .size = pages * page};
}

/* Windows of the slots, as an execution asks for them. */
static pw_status open_all(struct pw_worker_region *region, const struct pw_slot *slots, size_t count, bool keep,
                          struct pw_worker_buffer *out)
{
    size_t bytes = 0;
    for (size_t i = 0; i < count; i++)
        bytes += pw_worker_window_bytes(&slots[i]);
    pw_status status = pw_worker_windows_begin(region, bytes, keep, NULL);
    for (size_t i = 0; i < count && status == PW_OK; i++)
        status = pw_worker_window(region, &slots[i], &out[i], NULL);
    return status == PW_OK ? pw_worker_windows_end(region, NULL) : status;
}

static void test_each_between_guards(void **state)
{
    struct pw_worker_region region = make_region(false);
    const struct pw_slot slots[] = {slot_at(0, 2), slot_at(2, 1), slot_at(3, 3)};
    struct pw_worker_buffer out[3];
    (void)state;
    assert_int_equal(open_all(&region, slots, 3, true, out), PW_OK);
    for (int i = 0; i < 3; i++) {
        uint8_t *end = out[i].data + out[i].size;
        assert_int_equal(*out[i].data, slots[i].offset / pw_shm_page() + 1);
        assert_true(writable(out[i].data) && writable(end - 1));
        assert_false(readable(out[i].data - 1));
        assert_false(readable(out[i].data - PW_WORKER_GUARD_BYTES));
        assert_false(readable(end));
        assert_false(readable(end + PW_WORKER_GUARD_BYTES - 1));
        /* What a fault is explained by: the window with the guards on both sides, and no other's. */
        assert_true(out[i].base == out[i].data - PW_WORKER_GUARD_BYTES);
        assert_int_equal(out[i].reserved, slots[i].pages + 2 * PW_WORKER_GUARD_BYTES);
        assert_true(i == 0 || out[i].base >= out[i - 1].base + out[i - 1].reserved);
        pw_worker_unmap(&out[i]);
        assert_null(out[i].data);
    }
    clear_region(&region);
}

static void test_inputs_are_read_only(void **state)
{
    struct pw_worker_region region = make_region(true);
    const struct pw_slot slot = slot_at(1, 1);
    struct pw_worker_buffer out;
    (void)state;
    assert_int_equal(open_all(&region, &slot, 1, true, &out), PW_OK);
    assert_true(readable(out.data));
    assert_false(writable(out.data));
    clear_region(&region);
}

static void test_unused_become_inaccessible(void **state)
{
    struct pw_worker_region region = make_region(false);
    const struct pw_slot slots[] = {slot_at(0, 2), slot_at(2, 1), slot_at(3, 3)};
    struct pw_worker_buffer out[3], again[3];
    (void)state;
    assert_int_equal(open_all(&region, slots, 3, true, out), PW_OK);
    assert_int_equal(open_all(&region, slots, 1, true, again), PW_OK);
    assert_true(again[0].data == out[0].data);
    assert_true(readable(out[0].data));
    assert_false(readable(out[1].data));
    assert_false(readable(out[2].data + out[2].size - 1));
    /* And come again. */
    assert_int_equal(open_all(&region, slots, 3, true, again), PW_OK);
    for (int i = 0; i < 3; i++) {
        assert_true(again[i].data == out[i].data);
        assert_int_equal(*again[i].data, slots[i].offset / pw_shm_page() + 1);
    }
    assert_int_equal(open_all(&region, slots, 0, true, again), PW_OK);
    for (int i = 0; i < 3; i++)
        assert_false(readable(out[i].data));
    clear_region(&region);
}

static void test_same_are_kept_others_replaced(void **state)
{
    struct pw_worker_region region = make_region(false);
    const struct pw_slot first[] = {slot_at(0, 2), slot_at(2, 1), slot_at(3, 2)};
    const struct pw_slot second[] = {slot_at(0, 2), slot_at(2, 2), slot_at(4, 1)};
    const struct pw_slot moved[] = {slot_at(1, 2), slot_at(2, 2), slot_at(4, 1)};
    struct pw_worker_buffer out[3], again[3];
    (void)state;
    assert_int_equal(open_all(&region, first, 3, true, out), PW_OK);
    /* Only a window that stayed can still see what was put in its place. */
    uint8_t *mark =
        mmap(out[0].data, out[0].size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    assert_true(mark == out[0].data);
    *mark = 99;
    assert_int_equal(open_all(&region, second, 3, true, again), PW_OK);
    assert_int_equal(*again[0].data, 99);
    assert_int_equal(*again[1].data, 3);
    assert_int_equal(again[1].data[pw_shm_page()], 4);
    assert_int_equal(*again[2].data, 5);
    assert_false(readable(again[1].data + again[1].size));
    assert_int_equal(open_all(&region, moved, 3, true, again), PW_OK);
    assert_int_equal(*again[0].data, 2);
    assert_int_equal(*again[1].data, 3);
    /* Of a foreign kernel nothing stays. */
    mark = mmap(again[0].data, again[0].size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    *mark = 99;
    assert_int_equal(open_all(&region, moved, 3, false, again), PW_OK);
    assert_int_equal(*again[0].data, 2);
    clear_region(&region);
}

static void test_outside_is_refused(void **state)
{
    struct pw_worker_region region = make_region(false);
    const struct pw_slot wrong[] = {
        slot_at(PAGES, 1), slot_at(PAGES - 1, 2), {.offset = 8, .pages = pw_shm_page()}, {.offset = 0, .pages = 8}};
    struct pw_worker_buffer out;
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_int_equal(open_all(&region, &wrong[i], 1, true, &out), PW_ERR_FORMAT);
    /* More than was announced. */
    const struct pw_slot slot = slot_at(0, 1);
    assert_int_equal(pw_worker_windows_begin(&region, pw_worker_window_bytes(&slot), true, NULL), PW_OK);
    size_t fit = region.reserved / pw_worker_window_bytes(&slot);
    for (size_t i = 0; i < fit; i++)
        assert_int_equal(pw_worker_window(&region, &slot, &out, NULL), PW_OK);
    assert_int_equal(pw_worker_window(&region, &slot, &out, NULL), PW_ERR_FORMAT);
    clear_region(&region);
}

/* The system refuses a window: the others are gone, and where they were is nobody's until they come again. */
static void test_refused_by_the_system(void **state)
{
    struct pw_worker_region region = make_region(false);
    const struct pw_slot first[] = {slot_at(0, 2), slot_at(2, 1), slot_at(3, 2)};
    const struct pw_slot second[] = {slot_at(0, 2), slot_at(3, 2), slot_at(5, 1)};
    size_t page = pw_shm_page();
    struct pw_worker_buffer out[3], again[3];
    int good = region.fd, sealed = memfd_create("sealed", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    (void)state;
    assert_true(sealed >= 0);
    assert_int_equal(ftruncate(sealed, (off_t)region.size), 0);
    assert_int_equal(fcntl(sealed, F_ADD_SEALS, F_SEAL_WRITE), 0);
    assert_int_equal(open_all(&region, first, 3, true, out), PW_OK);
    region.fd = sealed;
    assert_int_equal(open_all(&region, second, 3, true, again), PW_ERR_TARGET);
    region.fd = good;
    for (int i = 0; i < 3; i++)
        assert_false(readable(out[i].data));
    /* Another thread maps something of its own, and keeps it. */
    uint8_t *other = mmap(out[1].data, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(other != MAP_FAILED);
    *other = 99;
    assert_int_equal(open_all(&region, first, 3, true, again), PW_OK);
    assert_int_equal(*other, 99);
    for (int i = 0; i < 3; i++)
        assert_int_equal(*again[i].data, first[i].offset / page + 1);
    munmap(other, page);
    close(sealed);
    clear_region(&region);
}

static void test_grows(void **state)
{
    struct pw_worker_region region = make_region(false);
    struct pw_slot slots[100];
    struct pw_worker_buffer out[100];
    (void)state;
    for (size_t count = 1; count <= 100; count += 33) {
        for (size_t i = 0; i < count; i++)
            slots[i] = slot_at(i % PAGES, 1);
        assert_int_equal(open_all(&region, slots, count, true, out), PW_OK);
        for (size_t i = 0; i < count; i++)
            assert_int_equal(*out[i].data, i % PAGES + 1);
    }
    pw_worker_windows_drop(&region);
    assert_false(readable(out[99].data));
    assert_int_equal(open_all(&region, slots, 2, true, out), PW_OK);
    assert_int_equal(*out[1].data, 2);
    clear_region(&region);
}

static int setup(void **state)
{
    (void)state;
    return pipe(pipes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_between_guards),
        cmocka_unit_test(test_inputs_are_read_only),
        cmocka_unit_test(test_unused_become_inaccessible),
        cmocka_unit_test(test_same_are_kept_others_replaced),
        cmocka_unit_test(test_outside_is_refused),
        cmocka_unit_test(test_refused_by_the_system),
        cmocka_unit_test(test_grows),
    };
    return cmocka_run_group_tests(tests, setup, NULL);
}
