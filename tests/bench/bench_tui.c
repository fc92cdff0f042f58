/*
 * How the workbench feels, through a pseudo-terminal: first paint, and when the inventory stands; from a key to its
 * paint (median, 99th percentile) idle, while every signature is verified, and with a graph of 100,000 nodes; idle CPU;
 * memory beyond the graph, whose own is measured in another process that only reads it and takes inventory.
 */
#include "graph/infer.h"
#include "graph/inventory.h"
#include "tests/bench/terminal.h"

enum { KEYS = 400 };

static const char snowman[] = "\xe2\x98\x83";

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

    if (!start(&terminal, model, "batch=1,sequence=8,past_sequence=8", NULL))
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
