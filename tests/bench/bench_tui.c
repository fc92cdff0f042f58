/*
 * How the workbench feels, through a pseudo-terminal: first paint, and when the inventory stands; from a key to its
 * paint (median, 99th percentile) idle, while every signature is verified, and with a graph of 100,000 nodes; idle CPU;
 * memory beyond the graph, whose own is measured in another process that only reads it and takes inventory.
 * A key's paint is recognised by a glyph that nothing else draws.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
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

enum { KEYS = 400, READ_MAX = 1 << 16 };

static const char snowman[] = "\xe2\x98\x83";

static int64_t now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

struct terminal {
    int fd;
    pid_t child;
    char tail[8]; /* of what came last: a glyph may come in two reads */
    size_t tail_size;
};

/* Starts the workbench; false says why on stderr. */
static bool start(struct terminal *terminal, const char *model, const char *dims)
{
    struct winsize size = {.ws_row = 50, .ws_col = 160};

    *terminal = (struct terminal){.fd = -1};
    terminal->child = forkpty(&terminal->fd, NULL, NULL, &size);
    if (terminal->child < 0) {
        perror("forkpty");
        return false;
    }
    if (terminal->child == 0) {
        setenv("TERM", "xterm-256color", 1);
        setenv("LC_ALL", "C.UTF-8", 1);
        execl(getenv("PORTWRIGHT"), "portwright", model, "--dim", dims, "--db", "bench.db", (char *)NULL);
        _exit(127);
    }
    return true;
}

static void stop(struct terminal *terminal)
{
    int64_t until = now_ns() + (int64_t)20 * 1000000000;

    kill(terminal->child, SIGTERM);
    while (waitpid(terminal->child, NULL, WNOHANG) == 0 && now_ns() < until) {
        char bytes[4096];
        struct pollfd wait = {.fd = terminal->fd, .events = POLLIN};

        if (poll(&wait, 1, 50) > 0 && read(terminal->fd, bytes, sizeof bytes) < 0)
            usleep(1000);
    }
    kill(terminal->child, SIGKILL);
    waitpid(terminal->child, NULL, WNOHANG);
    close(terminal->fd);
}

/* Reads until the text comes; the time, or -1 when it never did. */
static int64_t until_shown(struct terminal *terminal, const char *text, int64_t limit_ns)
{
    static char bytes[READ_MAX + 16];
    int64_t end = now_ns() + limit_ns;

    while (now_ns() < end) {
        struct pollfd wait = {.fd = terminal->fd, .events = POLLIN};
        ssize_t got;
        size_t size;

        if (poll(&wait, 1, 100) <= 0)
            continue;
        memcpy(bytes, terminal->tail, terminal->tail_size);
        got = read(terminal->fd, bytes + terminal->tail_size, READ_MAX);
        if (got <= 0)
            return -1;
        size = terminal->tail_size + (size_t)got;
        if (memmem(bytes, size, text, strlen(text))) {
            terminal->tail_size = 0;
            return now_ns();
        }
        terminal->tail_size = size < sizeof terminal->tail - 1 ? size : sizeof terminal->tail - 1;
        memmove(terminal->tail, bytes + size - terminal->tail_size, terminal->tail_size);
    }
    return -1;
}

/* When the frame was painted first, and when the inventory's heads stood; -1: never. */
static void first_paints(struct terminal *terminal, int64_t *frame, int64_t *inventory)
{
    static char bytes[READ_MAX];
    size_t size = 0;
    int64_t end = now_ns() + (int64_t)60 * 1000000000;

    *frame = *inventory = -1;
    while (now_ns() < end && *inventory < 0 && size < sizeof bytes) {
        struct pollfd wait = {.fd = terminal->fd, .events = POLLIN};
        ssize_t got;

        if (poll(&wait, 1, 100) <= 0)
            continue;
        got = read(terminal->fd, bytes + size, sizeof bytes - size);
        if (got <= 0)
            return;
        size += (size_t)got;
        if (*frame < 0 && memmem(bytes, size, "portwright", strlen("portwright")))
            *frame = now_ns();
        if (memmem(bytes, size, "operator", strlen("operator")))
            *inventory = now_ns();
    }
}

static void drain(struct terminal *terminal, int quiet_ms)
{
    char bytes[4096];
    struct pollfd wait = {.fd = terminal->fd, .events = POLLIN};
    int64_t end = now_ns() + (int64_t)2 * 1000000000;

    while (now_ns() < end && poll(&wait, 1, quiet_ms) > 0 && read(terminal->fd, bytes, sizeof bytes) > 0)
        ;
    terminal->tail_size = 0;
}

static bool keys(const struct terminal *terminal, const char *text)
{
    return write(terminal->fd, text, strlen(text)) == (ssize_t)strlen(text);
}

static int compare(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return (x > y) - (x < y);
}

/* Types the glyph into an open prompt again and again. */
static int key_to_paint(struct terminal *terminal, const char *label, const char *open)
{
    int64_t times[KEYS];
    int count = 0;

    keys(terminal, open);
    usleep(100000);
    for (int i = 0; i < KEYS; i++) {
        int64_t begin, end;

        usleep(5000);
        begin = now_ns();
        if (!keys(terminal, snowman))
            break;
        end = until_shown(terminal, snowman, (int64_t)5 * 1000000000);
        if (end < 0) {
            printf("  %-44s a key was not answered within 5 s\n", label);
            return 1;
        }
        times[count++] = end - begin;
        keys(terminal, "\025"); /* Ctrl-U; painted before the next key, or the two together change nothing */
        if (!poll(&(struct pollfd){.fd = terminal->fd, .events = POLLIN}, 1, 2000))
            break;
        usleep(3000);
        drain(terminal, 0);
    }
    keys(terminal, "\033");
    usleep(100000);
    qsort(times, (size_t)count, sizeof *times, compare);
    printf("  %-44s median %6.2f ms   p99 %6.2f ms   worst %6.2f ms   (%d keys)\n", label,
           (double)times[count / 2] / 1e6, (double)times[count * 99 / 100] / 1e6, (double)times[count - 1] / 1e6,
           count);
    return 0;
}

/* Ticks of user and system time, and KiB of anonymous memory, of the process. */
static void usage(pid_t child, long *ticks, long *anonymous_kib)
{
    char path[64], text[1024];
    FILE *file;
    long user = 0, system = 0;

    *ticks = *anonymous_kib = -1;
    snprintf(path, sizeof path, "/proc/%d/stat", (int)child);
    file = fopen(path, "r");
    if (file && fgets(text, sizeof text, file) && strrchr(text, ')') &&
        sscanf(strrchr(text, ')') + 2, "%*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %ld %ld", &user, &system) == 2)
        *ticks = user + system;
    if (file)
        fclose(file);
    snprintf(path, sizeof path, "/proc/%d/status", (int)child);
    file = fopen(path, "r");
    while (file && fgets(text, sizeof text, file))
        if (sscanf(text, "RssAnon: %ld", anonymous_kib) == 1)
            break;
    if (file)
        fclose(file);
}

/* KiB of anonymous memory that the graph, its shapes and its inventory take; -1 unknown. In a process of its own. */
static long graph_kib(const char *path, const struct pw_binding *dims, size_t dim_count)
{
    struct pw_model *model = NULL;
    struct pw_inference *inference = NULL;
    struct pw_inventory *inventory = NULL;
    struct pw_error err = {0};
    long ticks, before, after = -1;
    int result[2];
    pid_t child;

    if (pipe(result) != 0)
        return -1;
    child = fork();
    if (child == 0) {
        usage(getpid(), &ticks, &before);
        if (pw_model_load(path, &model, &err) != PW_OK ||
            pw_infer_graph(model, dims, dim_count, &inference, &err) != PW_OK ||
            pw_inventory_create(model, inference, &inventory, &err) != PW_OK)
            _exit(1);
        usage(getpid(), &ticks, &after);
        after -= before;
        _exit(write(result[1], &after, sizeof after) != (ssize_t)sizeof after);
    }
    close(result[1]);
    if (child < 0 || read(result[0], &after, sizeof after) != (ssize_t)sizeof after)
        after = -1;
    close(result[0]);
    waitpid(child, NULL, 0);
    return after;
}

static void print_memory(const char *label, long kib, long graph)
{
    printf("  %-44s %.1f MiB anonymous, %.1f MiB beyond the graph's %.1f MiB\n", label, (double)kib / 1024,
           (double)(kib - graph) / 1024, (double)graph / 1024);
}

static int measure(const char *name, const char *model)
{
    static const struct pw_binding dims[] = {{"batch", 1}, {"sequence", 8}, {"past_sequence", 8}};
    struct terminal terminal;
    long before, after, memory, graph = graph_kib(model, dims, sizeof dims / sizeof *dims);
    int64_t begin = now_ns(), painted, stands;
    int failed = 0;
    char label[80];

    if (!start(&terminal, model, "batch=1,sequence=8,past_sequence=8"))
        return 1;
    first_paints(&terminal, &painted, &stands);
    printf("%s: first paint %.1f ms, the inventory stands after %.1f ms\n", name,
           painted < 0 ? -1.0 : (double)(painted - begin) / 1e6, stands < 0 ? -1.0 : (double)(stands - begin) / 1e6);
    failed |= painted < 0 || stands < 0 || graph < 0;
    if (!failed) {
        usleep(4000000); /* the target is open and coverage found */
        drain(&terminal, 300);
        usage(terminal.child, &before, &memory);
        usleep(3000000);
        usage(terminal.child, &after, &memory);
        printf("  %-44s %.2f %% of a core\n", "idle", (double)(after - before) / 3);
        print_memory("idle", memory, graph);
        failed |= key_to_paint(&terminal, "a key in the palette", ":");
        failed |= key_to_paint(&terminal, "a key in the filter (all rows anew)", "/");
        keys(&terminal, "a");
        usleep(1500000);
        snprintf(label, sizeof label, "the same while all signatures are verified");
        failed |= key_to_paint(&terminal, "a key in the palette, verifying", ":");
        failed |= key_to_paint(&terminal, label, "/");
        usage(terminal.child, &after, &memory);
        print_memory("after that", memory, graph);
    }
    stop(&terminal);
    return failed;
}

int main(void)
{
    char folder[] = "/tmp/pw-bench-tui-XXXXXX", command[4096];
    const char *program = getenv("PORTWRIGHT");
    int failed = 0;

    if (!program || !mkdtemp(folder) || chdir(folder) != 0) {
        fprintf(stderr, "PORTWRIGHT is not set, or no temporary folder\n");
        return 1;
    }
    signal(SIGPIPE, SIG_IGN);
    snprintf(command, sizeof command,
             "'%s' make-graph --layers 4 --width 64 --heads 4 --vocabulary 256 -o small.onnx >/dev/null && "
             "'%s' make-graph --layers 1225 --width 8 --heads 2 --vocabulary 16 -o large.onnx >/dev/null",
             program, program);
    if (system(command) != 0) {
        fprintf(stderr, "make-graph failed\n");
        failed = 1;
    }
    if (!failed)
        failed |= measure("a decoder of 4 layers", "small.onnx");
    if (!failed)
        failed |= measure("a graph of 100,000 nodes", "large.onnx");
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    if (chdir("/") != 0 || system(command) != 0)
        failed = 1;
    return failed;
}
