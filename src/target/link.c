/* The parent's end of a worker: start, requests with deadlines, last words. */
#include "target/link.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"
#include "target/remove.h"
#include "target/sandbox.h"

#define POLL_STEP_NS 50000000   /* how often a cancel is looked at */
#define DEATH_WAIT_NS 200000000 /* a worker that closed its socket is given this long to finish dying */

/* Variables of ours that a worker gets. The rest of its environment is made here. */
static const char *const passed_on[] = {
    "OCL_ICD_VENDORS",
    "OCL_ICD_FILENAMES",
    "OPENCL_VENDOR_PATH",
    "LD_LIBRARY_PATH",
    "POCL_DEVICES",
    "POCL_MAX_PTHREAD_COUNT",
    "POCL_DEBUG",
    "ASAN_OPTIONS",
    "UBSAN_OPTIONS",
    "TSAN_OPTIONS",
    "LSAN_OPTIONS",
    "LLVM_PROFILE_FILE",
    "GCOV_PREFIX",
    "OMP_NUM_THREADS",
    "OPENBLAS_CORETYPE",
    "CUDA_VISIBLE_DEVICES",
    "PORTWRIGHT_SANDBOX_READ",
    "PORTWRIGHT_SANDBOX_DEVICES",
};

static pw_status add_variable(struct pw_buf *block, size_t *count, const char *name, const char *value)
{
    pw_buf_puts(block, name);
    if (value) {
        pw_buf_putc(block, '=');
        pw_buf_puts(block, value);
    }
    pw_buf_putc(block, '\0');
    (*count)++;
    return block->failed ? PW_ERR_NO_MEMORY : PW_OK;
}

static bool given(const char *const *list, const char *name)
{
    size_t size = strlen(name);
    for (; list && *list; list++)
        if (strncmp(*list, name, size) == 0 && (*list)[size] == '=')
            return true;
    return false;
}

/* The environment as a block of NUL-terminated strings, and an array over it. */
static pw_status make_environment(const struct pw_link *link, const struct pw_link_options *options,
                                  struct pw_buf *block, char ***env, struct pw_error *err)
{
    size_t count = 0;
    const char *dir = link->dir && options->uid != 0 ? PW_SANDBOX_HERE : link->dir;
    add_variable(block, &count, "PATH=/usr/local/bin:/usr/bin:/bin", NULL);
    add_variable(block, &count, "LC_ALL=C", NULL);
    add_variable(block, &count, PW_SPAWN_MARK "=1", NULL);
    for (size_t i = 0; i < sizeof passed_on / sizeof *passed_on; i++) {
        const char *value = getenv(passed_on[i]);
        if (value && !given(options->environment, passed_on[i]) && !given(options->more, passed_on[i]))
            add_variable(block, &count, passed_on[i], value);
    }
    if (dir) {
        /* PoCL reads these at its first call; threads that stay on their cores give steady times. */
        struct pw_buf path = {0};
        pw_file_join(&path, dir, "pocl");
        add_variable(block, &count, "POCL_CACHE_DIR", pw_buf_text(&path));
        pw_buf_clear(&path);
        add_variable(block, &count, "HOME", dir);
        add_variable(block, &count, "TMPDIR", dir);
    }
    add_variable(block, &count, "POCL_AFFINITY=1", NULL);
    for (const char *const *more = options->environment; more && *more; more++)
        add_variable(block, &count, *more, NULL);
    for (const char *const *more = options->more; more && *more; more++)
        add_variable(block, &count, *more, NULL);
    char **array = pw_calloc(count + 1, sizeof *array);
    if (!array || block->failed) {
        pw_free(array);
        return pw_error_memory(err, (count + 1) * sizeof *array);
    }
    char *at = block->data;
    for (size_t i = 0; i < count; i++) {
        array[i] = at;
        at += strlen(at) + 1;
    }
    *env = array;
    return PW_OK;
}

#define THROWAWAY "portwright-throwaway-"
#define STALE_SECONDS 3600 /* its process may be alive but of another container, whose ids we cannot see */

/* Throwaway folders of processes without a cache are among everybody's files. */
const char *pw_link_temporary(void)
{
    const char *dir = getenv("TMPDIR");
    return dir && dir[0] == '/' ? dir : "/tmp";
}

void pw_link_sweep(const char *cache_dir)
{
    if (!cache_dir)
        cache_dir = pw_link_temporary();
    char **names = NULL;
    size_t count = 0;
    struct pw_buf path = {0};
    if (pw_file_list(cache_dir, &names, &count, NULL) != PW_OK)
        return;
    for (size_t i = 0; i < count; i++) {
        struct stat st;
        if (strncmp(names[i], THROWAWAY, strlen(THROWAWAY)) != 0)
            continue;
        long pid = strtol(names[i] + strlen(THROWAWAY), NULL, 10);
        pw_file_join(&path, cache_dir, names[i]);
        if (pid > 0 && kill((pid_t)pid, 0) != 0 && errno == ESRCH && lstat(pw_buf_text(&path), &st) == 0 &&
            S_ISDIR(st.st_mode) && (st.st_uid == geteuid() || pw_sandbox_is_ours(st.st_uid)) &&
            time(NULL) - st.st_mtime > STALE_SECONDS)
            pw_remove_tree(pw_buf_text(&path));
    }
    pw_buf_clear(&path);
    pw_free(names);
}

static pw_status make_throwaway(struct pw_link *link, const char *cache_dir, struct pw_error *err)
{
    struct pw_buf path = {0};
    pw_buf_printf(&path, "%s/" THROWAWAY "%d-XXXXXX", cache_dir ? cache_dir : pw_link_temporary(), (int)getpid());
    if (path.failed || !mkdtemp(path.data)) {
        pw_status status =
            path.failed ? pw_error_memory(err, 64)
                        : pw_error_set(err, PW_ERR_IO, "cannot make folder '%s': %s", path.data, strerror(errno));
        pw_buf_clear(&path);
        return status;
    }
    link->dir = path.data; /* now the link's */
    link->throwaway = true;
    return PW_OK;
}

/* The folder where the worker may write, and its owner. Nothing else of cache_dir is the worker's: not what
 * others throw away, and a folder that was named by mistake changes its owner never. */
static pw_status make_dir(struct pw_link *link, const struct pw_link_options *options, struct pw_error *err)
{
    struct pw_buf path = {0};
    pw_status status = PW_OK;
    if (options->cache_dir)
        status = pw_file_mkdirs(options->cache_dir, err);
    if (status == PW_OK && options->throwaway) {
        status = make_throwaway(link, options->cache_dir, err);
    } else if (status == PW_OK && options->cache_dir) {
        pw_file_join(&path, options->cache_dir, "shared");
        status = path.failed ? pw_error_memory(err, strlen(options->cache_dir)) : pw_file_mkdirs(path.data, err);
        if (status == PW_OK)
            link->dir = path.data; /* now the link's */
        else
            pw_buf_clear(&path);
    }
    return status == PW_OK && link->dir ? pw_sandbox_own(link->dir, options->uid, err) : status;
}

pw_status pw_link_start(struct pw_link *link, const struct pw_link_options *options, struct pw_error *err)
{
    pw_status status = PW_OK;
    struct pw_buf block = {0};
    char **env = NULL;

    pw_link_end(link);
    link->payload = pw_calloc(1, PW_PROTO_MAX);
    link->tail = pw_calloc(1, PW_LINK_TAIL);
    if (!link->payload || !link->tail) {
        status = pw_error_memory(err, PW_PROTO_MAX);
        goto done;
    }
    status = make_dir(link, options, err);
    if (status == PW_OK)
        status = make_environment(link, options, &block, &env, err);
    if (status == PW_OK)
        status = pw_spawn_worker(options->flag, options->mode, env, &link->process, err);
done:
    pw_free(env);
    pw_buf_clear(&block);
    if (status != PW_OK)
        pw_link_end(link);
    return status;
}

bool pw_link_running(const struct pw_link *link)
{
    return link->process.pid > 0;
}

bool pw_link_quiet(const struct pw_link *link)
{
    struct pollfd fd = {.fd = link->process.socket, .events = POLLIN};
    return poll(&fd, 1, 0) == 0;
}

/* To its process group, which is its own and which it cannot leave. */
static void signal_all(const struct pw_link *link, int number)
{
    if (link->process.pid > 0)
        kill(-link->process.pid, number);
}

void pw_link_pause(const struct pw_link *link)
{
    signal_all(link, SIGSTOP);
}

void pw_link_resume(const struct pw_link *link)
{
    signal_all(link, SIGCONT);
}

void pw_link_end(struct pw_link *link)
{
    pw_spawn_kill(&link->process, NULL, 0);
    pw_shm_clear(&link->in);
    pw_shm_clear(&link->out);
    pw_free(link->payload);
    pw_free(link->tail);
    if (link->throwaway)
        pw_remove_tree(link->dir);
    pw_free(link->dir);
    *link = (struct pw_link){.process = {0, -1, -1}, .in = {.fd = -1}, .out = {.fd = -1}};
}

static void drain_stderr(struct pw_link *link)
{
    char bytes[4096];
    ssize_t got;
    /* Bounded, so that a worker that writes without end cannot keep us here past its deadline. */
    for (int i = 0; i < 64 && (got = read(link->process.stderr_fd, bytes, sizeof bytes)) > 0; i++) {
        for (ssize_t j = 0; j < got; j++)
            link->tail[(link->tail_total + (size_t)j) % PW_LINK_TAIL] = bytes[j];
        link->tail_total += (size_t)got;
    }
}

void pw_link_tail(struct pw_link *link, struct pw_buf *out)
{
    if (!link->tail)
        return;
    if (link->process.stderr_fd >= 0)
        drain_stderr(link);
    size_t size = link->tail_total - link->tail_mark;
    if (size > PW_LINK_TAIL)
        size = PW_LINK_TAIL;
    for (size_t i = link->tail_total - size; i < link->tail_total; i++) {
        char c = link->tail[i % PW_LINK_TAIL];
        pw_buf_putc(out, c ? c : '?');
    }
}

pw_status pw_link_continue(struct pw_link *link, pw_message_type type, const void *payload, size_t size,
                           struct pw_error *err)
{
    struct pw_buf head = {0};
    int fds[PW_PROTO_FDS];
    int count = 0;
    uint32_t flags = 0;
    struct pw_shm *regions[] = {&link->in, &link->out};
    for (int i = 0; i < 2; i++)
        if (regions[i]->data && regions[i]->fresh) {
            fds[count++] = regions[i]->fd;
            flags |= 1u << i;
        }
    pw_wire_u32(&head, flags);
    pw_wire_u64(&head, link->in.size);
    pw_wire_u64(&head, link->out.size);
    pw_wire_bytes(&head, payload, size);
    pw_status status = head.failed ? pw_error_memory(err, size) : PW_OK;
    if (status == PW_OK)
        status = pw_proto_send(link->process.socket, type, ++link->last_id, head.data, head.size, fds, count, err);
    if (status == PW_OK)
        link->in.fresh = link->out.fresh = false;
    pw_buf_clear(&head);
    return status;
}

pw_status pw_link_send(struct pw_link *link, pw_message_type type, const void *payload, size_t size,
                       struct pw_error *err)
{
    drain_stderr(link);
    link->tail_mark = link->tail_total;
    link->sent_ns = pw_clock_ns();
    return pw_link_continue(link, type, payload, size, err);
}

/* The worker is at fault or gone: its last words, its end, the message. */
static pw_status lost(struct pw_link *link, pw_status status, int64_t wait_ns, const char *what, const char *why,
                      struct pw_buf *log, struct pw_error *err)
{
    char how[64];
    /* The pipe is read after the death, when all of it is there. */
    int fd = fcntl(link->process.stderr_fd, F_DUPFD_CLOEXEC, 0);
    pw_spawn_reap(&link->process, wait_ns, how, sizeof how);
    link->process.stderr_fd = fd;
    if (log)
        pw_link_tail(link, log);
    pw_link_end(link);
    if (fd >= 0)
        close(fd);
    if (status == PW_ERR_CRASH && how[0])
        return pw_error_set(err, PW_ERR_CRASH, "%s: worker process %s", what, how);
    return pw_error_set(err, status, "%s: %s", what, why);
}

pw_status pw_link_refuse(struct pw_link *link, const char *what, struct pw_error *err)
{
    return lost(link, PW_ERR_TARGET, 0, what, "malformed reply from the worker process", NULL, err);
}

static pw_status wait_readable(struct pw_link *link, int64_t deadline, const atomic_bool *cancel)
{
    bool stderr_open = true;
    for (;;) {
        int64_t now = pw_clock_ns();
        if (now >= deadline)
            return PW_ERR_TIMEOUT;
        if (cancel && *cancel)
            return PW_ERR_CANCELLED;
        int64_t step = deadline - now;
        if (cancel && step > POLL_STEP_NS)
            step = POLL_STEP_NS;
        struct pollfd fds[2] = {{.fd = link->process.socket, .events = POLLIN},
                                {.fd = stderr_open ? link->process.stderr_fd : -1, .events = POLLIN}};
        int timeout = (int)((step + 999999) / 1000000 < 60000 ? (step + 999999) / 1000000 : 60000);
        if (poll(fds, 2, timeout) < 0 && errno != EINTR)
            return PW_ERR_CRASH;
        if (fds[1].revents & POLLIN)
            drain_stderr(link);
        else if (fds[1].revents)
            stderr_open = false;
        if (fds[0].revents)
            return PW_OK;
    }
}

pw_status pw_link_wait(struct pw_link *link, pw_message_type expected, int64_t deadline_ns, const atomic_bool *cancel,
                       const char *what, pw_message_type *type, struct pw_wire *wire, struct pw_buf *log,
                       struct pw_error *err)
{
    struct pw_message message = {.payload = link->payload};
    char why[96];
    int64_t start = pw_clock_ns();
    pw_status status = wait_readable(link, start + deadline_ns, cancel);
    if (status == PW_ERR_TIMEOUT) {
        snprintf(why, sizeof why, "no answer within %.3g s; the worker process was ended", (double)deadline_ns / 1e9);
        return lost(link, status, 0, what, why, log, err);
    }
    if (status == PW_ERR_CANCELLED)
        return lost(link, status, 0, what, "cancelled", log, err);
    if (status == PW_OK)
        status = pw_proto_receive(link->process.socket, false, &message, NULL);
    if (status == PW_ERR_CRASH)
        return lost(link, status, DEATH_WAIT_NS, what, "the worker process closed its socket", log, err);
    if (status != PW_OK || message.id != link->last_id || (message.type != expected && message.type != PW_MSG_REPLY))
        return lost(link, PW_ERR_TARGET, 0, what, "malformed reply from the worker process", log, err);
    *type = (pw_message_type)message.type;
    *wire = (struct pw_wire){.data = link->payload, .size = message.size};
    return PW_OK;
}
