/* Files, mappings (also of a file that shrinks), clocks and the thread pool. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/compiler.h"
#include "base/file.h"
#include "base/mapping.h"
#include "base/mem.h"
#include "base/parallel.h"

static char folder[256];

static const char *path_of(struct pw_buf *buf, const char *name)
{
    pw_file_join(buf, folder, name);
    return pw_buf_text(buf);
}

static int make_folder(void **state)
{
    (void)state;
    const char *base = getenv("TMPDIR");
    snprintf(folder, sizeof folder, "%s/pw-test-base-XXXXXX", base != NULL && base[0] != '\0' ? base : "/tmp");
    return mkdtemp(folder) == NULL;
}

static int remove_folder(void **state)
{
    (void)state;
    struct pw_buf path = {0};
    char **names = NULL;
    size_t count = 0;
    if (pw_file_list(folder, &names, &count, NULL) == PW_OK)
        for (size_t i = 0; i < count; i++)
            unlink(path_of(&path, names[i]));
    pw_free(names);
    rmdir(path_of(&path, "deep/er"));
    rmdir(path_of(&path, "deep"));
    pw_buf_clear(&path);
    return rmdir(folder);
}

static void write_replaces_whole_files(void **state)
{
    (void)state;
    struct pw_error err = {0};
    struct pw_buf path = {0}, text = {0}, link = {0};
    path_of(&path, "f.txt");
    assert_int_equal(pw_file_write(path.data, "one", 3, &err), PW_OK);
    assert_int_equal(chmod(path.data, 0640), 0);
    assert_int_equal(symlink("f.txt", path_of(&link, "link")), 0);
    assert_int_equal(pw_file_write(link.data, "second", 6, &err), PW_OK);
    struct stat facts;
    assert_int_equal(lstat(link.data, &facts), 0);
    assert_true(S_ISLNK(facts.st_mode)); /* the target was replaced, not the link */
    assert_int_equal(stat(path.data, &facts), 0);
    assert_int_equal(facts.st_mode & 0777, 0640);
    assert_int_equal(pw_file_read(path.data, 6, &text, &err), PW_OK);
    assert_string_equal(pw_buf_text(&text), "second");
    assert_int_equal(pw_file_read(path.data, 5, &text, &err), PW_ERR_FORMAT);
    assert_non_null(strstr(err.message, "larger than 5 bytes"));

    char **names = NULL;
    size_t count = 0;
    assert_int_equal(pw_file_list(folder, &names, &count, NULL), PW_OK);
    assert_int_equal(count, 2); /* no temporary file is left */
    assert_string_equal(names[0], "f.txt");
    assert_string_equal(names[1], "link");
    pw_free(names);

    pw_error_clear(&err);
    assert_int_equal(pw_file_write(path_of(&path, "no/such/f"), "x", 1, &err), PW_ERR_IO);
    assert_non_null(strstr(err.message, "/no/such/f': there is no folder '"));
    assert_false(pw_file_exists(path_of(&path, "no")));
    pw_error_clear(&err);
    assert_int_equal(pw_file_write(path_of(&path, "f.txt/f"), "x", 1, &err), PW_ERR_IO);
    assert_non_null(strstr(err.message, "/f.txt/f': it would be in a file, '"));
    pw_error_clear(&err);
    assert_int_equal(pw_file_need_folder(path_of(&path, "f"), &err), PW_OK);
    assert_int_equal(pw_file_need_folder("f", &err), PW_OK);
    pw_buf_clear(&path);
    pw_buf_clear(&text);
    pw_buf_clear(&link);
}

/* A full disk, played by a limit on file sizes in a child: the old file stays whole, no other is left. */
static void a_failed_write_keeps_the_old_file(void **state)
{
    (void)state;
    static char big[300000];
    struct pw_buf path = {0}, text = {0};
    path_of(&path, "kept");
    assert_int_equal(pw_file_write(path.data, "old", 3, NULL), PW_OK);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        struct rlimit limit = {1000, 1000};
        signal(SIGXFSZ, SIG_IGN);
        if (setrlimit(RLIMIT_FSIZE, &limit) != 0)
            _exit(9);
        _exit(pw_file_write(path.data, big, sizeof big, NULL) == PW_ERR_IO ? 0 : 1);
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    assert_int_equal(pw_file_read(path.data, 100, &text, NULL), PW_OK);
    assert_string_equal(pw_buf_text(&text), "old");
    char **names = NULL;
    size_t count = 0;
    assert_int_equal(pw_file_list(folder, &names, &count, NULL), PW_OK);
    for (size_t i = 0; i < count; i++)
        assert_false(pw_text_ends(names[i], ".tmp"));
    pw_free(names);
    unlink(path.data);
    pw_buf_clear(&path);
    pw_buf_clear(&text);
}

static void a_pipe_is_written_to(void **state)
{
    struct pw_buf path = {0};
    struct stat st;
    char text[16] = "";
    (void)state;
    assert_int_equal(mkfifo(path_of(&path, "pipe"), 0600), 0);
    int fd = open(path.data, O_RDWR | O_NONBLOCK);
    assert_true(fd >= 0);
    assert_int_equal(pw_file_write(path.data, "hello", 5, NULL), PW_OK);
    assert_int_equal(read(fd, text, sizeof text - 1), 5);
    assert_string_equal(text, "hello");
    assert_int_equal(stat(path.data, &st), 0);
    assert_true(S_ISFIFO(st.st_mode));
    close(fd);
    unlink(path.data);
    pw_buf_clear(&path);
}

static void only_regular_files_are_opened(void **state)
{
    (void)state;
    struct pw_error err = {0};
    struct pw_buf path = {0}, text = {0};
    struct pw_mapping map = {0};
    assert_int_equal(mkfifo(path_of(&path, "fifo"), 0600), 0);
    assert_int_equal(pw_file_read(path.data, 10, &text, &err), PW_ERR_IO);
    pw_error_clear(&err);
    assert_int_equal(pw_mapping_open(&map, path.data, &err), PW_ERR_IO); /* and does not wait for a writer */
    assert_non_null(strstr(err.message, "expected a regular file"));
    pw_error_clear(&err);
    assert_int_equal(pw_mapping_open(&map, folder, &err), PW_ERR_IO);
    assert_non_null(strstr(err.message, "a directory"));
    pw_error_clear(&err);
    assert_int_equal(pw_mapping_open(&map, path_of(&path, "absent"), &err), PW_ERR_IO);
    assert_int_equal(pw_mapping_open(&map, "/dev/null", NULL), PW_ERR_IO);
    assert_null(map.data);
    pw_buf_clear(&path);
    pw_buf_clear(&text);
}

static void paths(void **state)
{
    (void)state;
    static const struct {
        const char *path, *dirname;
    } rows[] = {{"a/b", "a"},  {"a", "."}, {"/a", "/"}, {"a/b/", "a"},
                {"a//b", "a"}, {"/", "/"}, {"", "."},   {"//x", "/"}};
    struct pw_buf buf = {0};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        pw_file_dirname(&buf, rows[i].path);
        assert_string_equal(pw_buf_text(&buf), rows[i].dirname);
    }
    pw_file_join(&buf, "a", "b");
    assert_string_equal(pw_buf_text(&buf), "a/b");
    pw_file_join(&buf, "a/", "b");
    assert_string_equal(pw_buf_text(&buf), "a/b");
    pw_file_join(&buf, "a", "/b");
    assert_string_equal(pw_buf_text(&buf), "/b");
    pw_file_join(&buf, "", "b");
    assert_string_equal(pw_buf_text(&buf), "b");
    assert_int_equal(pw_file_mkdirs(path_of(&buf, "deep/er"), NULL), PW_OK);
    assert_int_equal(pw_file_mkdirs(buf.data, NULL), PW_OK);
    assert_true(pw_file_is_dir(buf.data));
    assert_int_equal(pw_file_write(path_of(&buf, "plain"), "", 0, NULL), PW_OK);
    assert_true(pw_file_exists(buf.data) && !pw_file_is_dir(buf.data));
    assert_int_equal(pw_file_mkdirs(path_of(&buf, "plain/x"), NULL), PW_ERR_IO);
    unlink(path_of(&buf, "plain"));
    struct pw_error err = {0}; /* what making it said, not what looking for it said afterwards */
    assert_int_equal(symlink("nowhere", path_of(&buf, "dangling")), 0);
    assert_int_equal(pw_file_mkdirs(buf.data, &err), PW_ERR_IO);
    assert_non_null(strstr(err.message, "File exists"));
    unlink(buf.data);
    pw_buf_clear(&buf);
}

static void a_mapping_survives_a_shrinking_file(void **state)
{
    (void)state;
    enum { SIZE = 5 * 65536 + 100 };
    struct pw_buf path = {0};
    struct pw_mapping map = {0}, other = {0};
    char *bytes = pw_calloc(SIZE, 1);
    memset(bytes, 'x', SIZE);
    path_of(&path, "mapped");
    assert_int_equal(pw_file_write(path.data, bytes, SIZE, NULL), PW_OK);
    assert_int_equal(pw_mapping_open(&map, path.data, NULL), PW_OK);
    assert_int_equal(pw_mapping_open(&other, path.data, NULL), PW_OK);
    assert_int_equal(map.size, SIZE);
    assert_int_equal(map.data[SIZE - 1], 'x');
    assert_false(pw_mapping_damaged(&map));
    assert_int_equal(truncate(path.data, 65536), 0);
    size_t sum = 0;
    for (size_t i = 0; i < SIZE; i++)
        sum += map.data[i];
    assert_int_equal(sum, 65536 * (size_t)'x'); /* the lost part reads as zeros */
    assert_true(pw_mapping_damaged(&map));
    assert_false(pw_mapping_damaged(&other)); /* nobody read there */
    pw_mapping_close(&map);
    assert_null(map.data);
    assert_false(pw_mapping_damaged(&map));
    assert_int_equal(other.data[65535], 'x');
    pw_mapping_close(&other);
    pw_mapping_close(&other);

    assert_int_equal(pw_file_write(path.data, "", 0, NULL), PW_OK);
    assert_int_equal(pw_mapping_open(&map, path.data, NULL), PW_OK);
    assert_int_equal(map.size, 0);
    assert_false(pw_mapping_damaged(&map));
    pw_mapping_close(&map);
    unlink(path.data);
    pw_free(bytes);
    pw_buf_clear(&path);
}

#if !defined(PW_SANITIZED)
static volatile sig_atomic_t foreign_signals;

static void count_signal(int number)
{
    (void)number;
    foreign_signals++;
}

/* Exit code of a child that installs `handler`, maps the file, then gets a SIGBUS outside of it. */
static int child_status(const char *path, void (*handler)(int))
{
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        struct pw_mapping map = {0};
        signal(SIGBUS, handler);
        if (pw_mapping_open(&map, path, NULL) != PW_OK)
            _exit(9);
        raise(SIGBUS);
        raise(SIGBUS);
        _exit(foreign_signals == 2 ? 0 : 1);
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    return status;
}

/* Runs before the first mapping of this process, which installs the handler. */
static void a_foreign_sigbus_is_passed_on(void **state)
{
    (void)state;
    struct pw_buf path = {0};
    assert_int_equal(pw_file_write(path_of(&path, "some"), "x", 1, NULL), PW_OK);
    int status = child_status(path.data, count_signal);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    status = child_status(path.data, SIG_DFL);
    assert_true(WIFSIGNALED(status));
    assert_int_equal(WTERMSIG(status), SIGBUS);
    unlink(path.data);
    pw_buf_clear(&path);
}
#endif

/* ---- thread pool ---- */

enum { COUNT = 100003, GRAIN = 64 };

struct marks {
    _Atomic unsigned char hits[COUNT];
    _Atomic int misaligned, nested;
};

static void mark_inner(void *user, int64_t begin, int64_t end)
{
    struct marks *marks = user;
    atomic_fetch_add(&marks->nested, (int)(end - begin));
}

static void mark(void *user, int64_t begin, int64_t end)
{
    struct marks *marks = user;
    if (begin % GRAIN != 0 || (end % GRAIN != 0 && end != COUNT))
        atomic_fetch_add(&marks->misaligned, 1);
    for (int64_t i = begin; i < end; i++)
        atomic_fetch_add(&marks->hits[i], 1);
    if (begin == 0)
        pw_parallel_for(1000, 10, mark_inner, marks);
}

static void *loop_from_another_thread(void *user)
{
    for (int i = 0; i < 20; i++)
        pw_parallel_for(COUNT, GRAIN, mark, user);
    return NULL;
}

static void every_index_is_visited_once(void **state)
{
    (void)state;
    pw_parallel_threads(4);
    struct marks *marks = pw_calloc(2, sizeof *marks);
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, loop_from_another_thread, &marks[1]), 0);
    loop_from_another_thread(&marks[0]);
    pthread_join(thread, NULL);
    for (int m = 0; m < 2; m++) {
        for (size_t i = 0; i < COUNT; i++)
            assert_int_equal(marks[m].hits[i], 20);
        assert_int_equal(marks[m].misaligned, 0);
        assert_int_equal(marks[m].nested, 20 * 1000);
    }
    assert_int_equal(pw_parallel_count(), 4);
    pw_parallel_threads(9); /* too late */
    assert_int_equal(pw_parallel_count(), 4);
    pw_parallel_for(0, 1, mark, marks);
    pw_parallel_for(-5, 1, mark, marks);
    pw_free(marks);
}

static void time_as_text(void **state)
{
    (void)state;
    char text[32];
    assert_string_equal(pw_clock_iso(0, text, sizeof text), "1970-01-01T00:00:00Z");
    assert_string_equal(pw_clock_iso(1772368496789, text, sizeof text), "2026-03-01T12:34:56Z");
    assert_string_equal(pw_clock_iso(-1, text, sizeof text), "1969-12-31T23:59:59Z");
    int64_t at = 0;
    assert_true(pw_clock_parse_iso("2026-03-01T12:34:56Z", &at) && at == 1772368496000);
    assert_true(pw_clock_parse_iso("1970-01-01T00:00:00Z", &at) && at == 0);
    static const char *const wrong[] = {"",
                                        "2026-03-01",
                                        "2026-13-01T12:34:56Z",
                                        "2026-03-01T24:34:56Z",
                                        "2026-03-01T12:34:56",
                                        "2026-03-01T12:34:56Zx",
                                        "1969-03-01T12:34:56Z"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_false(pw_clock_parse_iso(wrong[i], &at));
    assert_string_equal(pw_clock_iso(0, text, 5), "");
    int64_t before = pw_clock_ns();
    pw_clock_sleep_ns(1000000);
    assert_true(pw_clock_ns() - before >= 1000000);
    assert_true(pw_clock_wall_ms() > 1700000000000);
}

/* What others wrote shows, also in as many bytes; reading, or nothing, does not. */
static void a_file_that_changed_is_another(void **state)
{
    (void)state;
    struct pw_error err = {0};
    struct pw_buf path = {0}, text = {0};
    path_of(&path, "changed");
    struct pw_file_identity none = pw_file_identify(path.data), first, second;
    assert_false(none.exists);
    assert_int_equal(pw_file_write(path.data, "one", 3, &err), PW_OK);
    first = pw_file_identify(path.data);
    assert_true(first.exists && !pw_file_same(&first, &none));
    assert_int_equal(pw_file_read(path.data, 10, &text, &err), PW_OK);
    second = pw_file_identify(path.data);
    assert_true(pw_file_same(&first, &second));
    int kept = open(path.data, O_RDONLY); /* else its number may be given to the next one */
    assert_int_equal(pw_file_write(path.data, "two", 3, &err), PW_OK);
    second = pw_file_identify(path.data);
    assert_false(pw_file_same(&first, &second));
    close(kept);
    assert_int_equal(unlink(path.data), 0);
    second = pw_file_identify(path.data);
    assert_true(pw_file_same(&none, &second));
    pw_buf_clear(&text);
    pw_buf_clear(&path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(write_replaces_whole_files),
        cmocka_unit_test(a_failed_write_keeps_the_old_file),
        cmocka_unit_test(a_pipe_is_written_to),
        cmocka_unit_test(only_regular_files_are_opened),
        cmocka_unit_test(paths),
        cmocka_unit_test(a_file_that_changed_is_another),
#if !defined(PW_SANITIZED)
        cmocka_unit_test(a_foreign_sigbus_is_passed_on),
#endif
        cmocka_unit_test(a_mapping_survives_a_shrinking_file),
        cmocka_unit_test(every_index_is_visited_once),
        cmocka_unit_test(time_as_text),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
