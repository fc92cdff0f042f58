/*
 * What the workbench needs beside the graph, through a pseudo-terminal: once it stands, after every signature was
 * verified (on two targets: on both at the same time), and at most in between, with --dim, without, and with two
 * targets side by side; the last two settings also compare the nodes of the whole graph, on one target, then on two at
 * the same time. "The graph" is what a process of its own keeps that only reads the model, infers its shapes with the
 * same dims and takes inventory. Anonymous memory as the kernel counts it, looked at every few milliseconds; the
 * kernel's own peak (VmHWM) has the mapped files in it. PW_BENCH_MODELS: more models, separated by blanks; they are
 * opened without --dim. PW_BENCH_SETTINGS: which settings
 * ("34": the last two).
 */
#include <errno.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "graph/infer.h"
#include "graph/inventory.h"

enum {
    READ_MAX = 1 << 16,
    LOOK_EVERY_MS = 3,
    REPAINT_EVERY_MS = 2000,
    SETTLE_S = 5,
    VERIFY_S = 240,
    COMPARE_S = 600,
    LIMIT_KIB = 65536
};

static const char repaint[] = "\014"; /* Ctrl-L */

static int64_t now_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* KiB of a field of /proc/PID/status, or -1. */
static long status_kib(pid_t process, const char *field)
{
    char path[64], line[256];
    size_t length = strlen(field);
    long kib = -1;
    FILE *file;

    snprintf(path, sizeof path, "/proc/%d/status", (int)process);
    file = fopen(path, "r");
    while (file && fgets(line, sizeof line, file))
        if (!strncmp(line, field, length) && sscanf(line + length, ": %ld", &kib) == 1)
            break;
    if (file)
        fclose(file);
    return kib;
}

/* KiB that the graph, its shapes and its inventory keep; -1 unknown. */
static long graph_kib(const char *path, const struct pw_binding *dims, size_t dim_count)
{
    struct pw_model *model = NULL;
    struct pw_inference *inference = NULL;
    struct pw_inventory *inventory = NULL;
    struct pw_error err = {0};
    long before, kept = -1;
    int result[2];
    pid_t child;

    if (pipe(result) != 0)
        return -1;
    child = fork();
    if (child == 0) {
        before = status_kib(getpid(), "RssAnon");
        if (pw_model_load(path, &model, &err) != PW_OK ||
            pw_infer_graph(model, dims, dim_count, &inference, &err) != PW_OK ||
            pw_inventory_create(model, inference, &inventory, &err) != PW_OK)
            _exit(1);
        pw_mem_give_back(); /* as the workbench does */
        kept = status_kib(getpid(), "RssAnon") - before;
        _exit(write(result[1], &kept, sizeof kept) != (ssize_t)sizeof kept);
    }
    close(result[1]);
    if (child < 0 || read(result[0], &kept, sizeof kept) != (ssize_t)sizeof kept)
        kept = -1;
    close(result[0]);
    waitpid(child, NULL, 0);
    return kept;
}

/* ---- the workbench ---- */

struct workbench {
    int fd;
    pid_t process;
    long peak_kib; /* of what was looked at */
    char tail[64]; /* of what came last: a text may come in two reads */
    size_t tail_size;
};

static bool start(struct workbench *w, const char *model, const char *dims, int targets)
{
    struct winsize size = {.ws_row = 50, .ws_col = 160};
    const char *argv[16] = {"portwright", model, "--db", "bench.db"};
    int argc = 4;

    if (dims) {
        argv[argc++] = "--dim";
        argv[argc++] = dims;
    }
    for (int k = 0; k < targets; k++) {
        argv[argc++] = "--target";
        argv[argc++] = k ? "opencl:0" : "opencl";
    }
    *w = (struct workbench){.fd = -1};
    w->process = forkpty(&w->fd, NULL, NULL, &size);
    if (w->process < 0) {
        perror("forkpty");
        return false;
    }
    if (w->process == 0) {
        setenv("TERM", "xterm-256color", 1);
        setenv("LC_ALL", "C.UTF-8", 1);
        execv(getenv("PORTWRIGHT"), (char *const *)(uintptr_t)argv);
        _exit(127);
    }
    return true;
}

static void stop(struct workbench *w)
{
    int64_t until = now_ms() + 20000;
    char bytes[4096];

    kill(w->process, SIGTERM);
    while (waitpid(w->process, NULL, WNOHANG) == 0 && now_ms() < until) {
        struct pollfd wait = {.fd = w->fd, .events = POLLIN};

        if (poll(&wait, 1, 50) > 0 && read(w->fd, bytes, sizeof bytes) < 0)
            usleep(1000);
    }
    kill(w->process, SIGKILL);
    waitpid(w->process, NULL, WNOHANG);
    close(w->fd);
}

static bool press(const struct workbench *w, const char *keys)
{
    return write(w->fd, keys, strlen(keys)) == (ssize_t)strlen(keys);
}

/* Reads what is painted and looks at the memory until the text comes (NULL: never); false when it did not. A text that
 * is there already is painted again. */
static bool watch(struct workbench *w, const char *text, int64_t limit_ms)
{
    static char bytes[READ_MAX + sizeof w->tail];
    int64_t end = now_ms() + limit_ms, painted = now_ms();

    while (now_ms() < end) {
        struct pollfd wait = {.fd = w->fd, .events = POLLIN};
        long kib = status_kib(w->process, "RssAnon");
        ssize_t got;
        size_t size;

        w->peak_kib = kib > w->peak_kib ? kib : w->peak_kib;
        if (text && now_ms() - painted > REPAINT_EVERY_MS) {
            painted = now_ms();
            press(w, repaint);
        }
        if (poll(&wait, 1, LOOK_EVERY_MS) <= 0)
            continue;
        memcpy(bytes, w->tail, w->tail_size);
        got = read(w->fd, bytes + w->tail_size, READ_MAX);
        if (got <= 0)
            return false;
        size = w->tail_size + (size_t)got;
        if (text && memmem(bytes, size, text, strlen(text))) {
            w->tail_size = 0;
            return true;
        }
        w->tail_size = size < sizeof w->tail ? size : sizeof w->tail;
        memmove(w->tail, bytes + size - w->tail_size, w->tail_size);
    }
    return !text;
}

/* ---- what is measured ---- */

static int print(const char *label, long kib, long graph)
{
    printf("  %-44s %7.1f MiB, %6.1f MiB beyond the graph%s\n", label, (double)kib / 1024, (double)(kib - graph) / 1024,
           kib - graph > LIMIT_KIB ? "  MORE THAN 64" : "");
    return kib < 0 || kib - graph > LIMIT_KIB;
}

struct setting {
    const char *name, *model;
    const char *dims; /* NULL: none are given */
    int targets;
    bool compare;
};

static int measure(const struct setting *s)
{
    static const struct pw_binding dims[] = {{"batch", 1}, {"sequence", 8}, {"past_sequence", 8}};
    long graph = graph_kib(s->model, dims, s->dims ? sizeof dims / sizeof *dims : 0);
    struct workbench w;
    bool alive;
    int over = 0;

    printf("%s, %s, %d target%s: the graph takes %.1f MiB\n", s->name, s->dims ? s->dims : "no --dim", s->targets,
           s->targets == 1 ? "" : "s", (double)graph / 1024);
    fflush(stdout);
    if (graph < 0 || !start(&w, s->model, s->dims, s->targets))
        return 1;
    alive = watch(&w, "operator", 60000);
    over |= print("at most while it is opened", w.peak_kib, graph);
    w.peak_kib = 0;
    watch(&w, NULL, SETTLE_S * 1000); /* the targets are open and coverage is found */
    over |= print("idle", status_kib(w.process, "RssAnon"), graph);
    for (int k = 0; k < s->targets && alive; k++) {
        press(&w, k ? "Ta" : "a"); /* on all at the same time */
        watch(&w, NULL, 500);
    }
    for (int k = s->targets; k-- > 0 && alive;) {
        alive = watch(&w, "unproven or on the host", VERIFY_S * 1000);
        press(&w, k ? "T" : "");
        watch(&w, NULL, 1000);
    }
    over |= print(alive ? "all signatures verified" : "NOT ALL SIGNATURES ARE VERIFIED",
                  status_kib(w.process, "RssAnon"), graph);
    over |= print("at most while they were verified", w.peak_kib, graph);
    if (s->compare && alive) {
        w.peak_kib = 0;
        for (int k = 0; k < s->targets; k++) {
            press(&w, k ? "Tr" : "5r");
            watch(&w, NULL, 500);
        }
        for (int k = s->targets; k-- > 0 && alive;) {
            alive = watch(&w, "victims,", COMPARE_S * 1000);
            press(&w, k ? "T" : "");
            watch(&w, NULL, 1000);
        }
        over |=
            print(alive ? "all nodes compared" : "NOT ALL NODES ARE COMPARED", status_kib(w.process, "RssAnon"), graph);
        over |= print("at most while they were compared", w.peak_kib, graph);
    }
    printf("  %-44s %7.1f MiB, of which %.1f MiB are mapped files now\n", "VmHWM",
           (double)status_kib(w.process, "VmHWM") / 1024, (double)status_kib(w.process, "RssFile") / 1024);
    fflush(stdout);
    stop(&w);
    return over || !alive;
}

int main(void)
{
    char folder[] = "/tmp/pw-bench-memory-XXXXXX", command[4096], *more = getenv("PW_BENCH_MODELS"), *save = NULL;
    static const struct setting settings[] = {
        {"a graph of 100,000 nodes", "large.onnx", "batch=1,sequence=8,past_sequence=8", 1, false},
        {"a graph of 100,000 nodes", "large.onnx", NULL, 2, false},
        {"a graph of 100,000 nodes", "large.onnx", NULL, 1, true},
        {"a graph of 100,000 nodes", "large.onnx", NULL, 2, true},
    };
    const char *which = getenv("PW_BENCH_SETTINGS");
    const char *program = getenv("PORTWRIGHT");
    int failed = 0;

    if (!program || !mkdtemp(folder) || chdir(folder) != 0) {
        fprintf(stderr, "PORTWRIGHT is not set, or no temporary folder\n");
        return 1;
    }
    signal(SIGPIPE, SIG_IGN);
    snprintf(command, sizeof command,
             "'%s' make-graph --layers 1225 --width 8 --heads 2 --vocabulary 16 -o large.onnx >/dev/null", program);
    failed = system(command) != 0;
    for (size_t i = 0; i < sizeof settings / sizeof *settings && !failed; i++)
        if (!which || strchr(which, '1' + (int)i))
            failed |= measure(&settings[i]);
    for (char *model = more ? strtok_r(more, " ", &save) : NULL; model; model = strtok_r(NULL, " ", &save))
        for (int targets = 1; targets <= 2; targets++)
            failed |= measure(&(struct setting){model, model, NULL, targets, targets == 1});
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    if (chdir("/") != 0 || system(command) != 0)
        failed = 1;
    return failed;
}
