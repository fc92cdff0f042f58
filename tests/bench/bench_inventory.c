/*
 * How fast a graph is read, inferred and listed: growth in nodes, and a file of 1.5 GB.
 *
 * Every measurement is a process of its own, so that memory is what that one listing took (anonymous
 * pages at its end, nothing freed yet). Files are made in $TMPDIR and removed; the large one is skipped
 * when PW_BENCH_SMALL is set or the folder has no room for it.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "graph/decoder.h"
#include "graph/inventory.h"
#include "report/inventory.h"

#define RUNS 5

struct sample {
    int64_t load_ns, infer_ns, inventory_ns, report_ns, total_ns;
    int64_t anonymous_kib;
    size_t nodes, signatures, patterns;
    int ok;
};

/* RssAnon of this process. */
static int64_t anonymous_kib(void)
{
    FILE *file = fopen("/proc/self/status", "r");
    char line[256];
    long long kib = -1;

    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        if (sscanf(line, "RssAnon: %lld kB", &kib) == 1)
            break;
    }
    if (file != NULL)
        fclose(file);
    return kib;
}

static struct sample list_once(const char *path)
{
    struct sample s = {0};
    struct pw_model *model = NULL;
    struct pw_inference *inference = NULL;
    struct pw_inventory *inventory = NULL;
    struct pw_report_inventory report = {.model_path = path, .bindings = ""};
    struct pw_buf text = {0};
    struct pw_error err = {0};
    char id[PW_HASH_TEXT];
    int64_t start = pw_clock_ns(), at = start;

    if (pw_model_load(path, &model, &err) != PW_OK)
        goto done;
    s.load_ns = pw_clock_ns() - at;
    at = pw_clock_ns();
    if (pw_infer_graph(model, NULL, 0, &inference, &err) != PW_OK)
        goto done;
    s.infer_ns = pw_clock_ns() - at;
    at = pw_clock_ns();
    if (pw_inventory_create(model, inference, &inventory, &err) != PW_OK)
        goto done;
    s.inventory_ns = pw_clock_ns() - at;
    at = pw_clock_ns();
    report.inventory = inventory;
    report.graph_id = pw_hash_text(pw_model_structure_hash(model), id);
    if (pw_report_inventory_text(&report, 120, &text, &err) != PW_OK)
        goto done;
    s.report_ns = pw_clock_ns() - at;
    s.total_ns = pw_clock_ns() - start;
    s.anonymous_kib = anonymous_kib();
    s.nodes = inventory->node_count;
    s.signatures = inventory->signature_count;
    s.patterns = inventory->pattern_count;
    s.ok = 1;
done:
    if (!s.ok)
        fprintf(stderr, "%s\n", err.message);
    return s;
}

static struct sample in_child(const char *path)
{
    struct sample s = {0};
    int ends[2];
    pid_t child;

    if (pipe(ends) != 0)
        return s;
    fflush(NULL);
    child = fork();
    if (child == 0) {
        struct sample made = list_once(path);

        _exit(write(ends[1], &made, sizeof made) == (ssize_t)sizeof made ? 0 : 1);
    }
    close(ends[1]);
    if (child < 0 || read(ends[0], &s, sizeof s) != (ssize_t)sizeof s)
        s.ok = 0;
    close(ends[0]);
    if (child > 0)
        waitpid(child, NULL, 0);
    return s;
}

static int by_total(const void *a, const void *b)
{
    const struct sample *x = a, *y = b;

    return (x->total_ns > y->total_ns) - (x->total_ns < y->total_ns);
}

/* Median of several processes, after one that warms the page cache. */
static int measure(const char *label, const char *path)
{
    struct sample s[RUNS];

    in_child(path);
    for (int i = 0; i < RUNS; i++)
        s[i] = in_child(path);
    qsort(s, RUNS, sizeof *s, by_total);
    for (int i = 0; i < RUNS; i++) {
        if (!s[i].ok)
            return 1;
    }
    printf("%-22s %7zu nodes %4zu signatures %5zu patterns  %8.1f ms (read %.1f, shapes %.1f, inventory %.1f, report "
           "%.1f; %.1f to %.1f)  %.2f us a node  %.1f MiB anonymous\n",
           label, s[RUNS / 2].nodes, s[RUNS / 2].signatures, s[RUNS / 2].patterns, (double)s[RUNS / 2].total_ns / 1e6,
           (double)s[RUNS / 2].load_ns / 1e6, (double)s[RUNS / 2].infer_ns / 1e6,
           (double)s[RUNS / 2].inventory_ns / 1e6, (double)s[RUNS / 2].report_ns / 1e6, (double)s[0].total_ns / 1e6,
           (double)s[RUNS - 1].total_ns / 1e6, (double)s[RUNS / 2].total_ns / 1e3 / (double)s[RUNS / 2].nodes,
           (double)s[RUNS / 2].anonymous_kib / 1024.0);
    return 0;
}

static int bench(const char *folder, const char *label, const struct pw_decoder *decoder)
{
    struct pw_buf path = {0};
    struct pw_error err = {0};
    int status = 1;

    pw_buf_printf(&path, "%s/portwright-bench-%ld.onnx", folder, (long)getpid());
    if (pw_decoder_write(decoder, pw_buf_text(&path), NULL, &err) != PW_OK)
        fprintf(stderr, "%s: %s\n", label, err.message);
    else
        status = measure(label, pw_buf_text(&path));
    unlink(pw_buf_text(&path));
    pw_buf_clear(&path);
    return status;
}

/* A decoder of small width and many layers. */
static int bench_nodes(const char *folder, const char *label, int64_t layers)
{
    struct pw_decoder decoder;
    struct pw_error err = {0};

    pw_decoder_defaults(&decoder);
    decoder.layers = layers;
    decoder.width = 16;
    decoder.heads = 2;
    decoder.vocabulary = 64;
    if (pw_decoder_check(&decoder, &err) != PW_OK) {
        fprintf(stderr, "%s: %s\n", label, err.message);
        return 1;
    }
    return bench(folder, label, &decoder);
}

static int bench_big(const char *folder)
{
    struct pw_decoder decoder;
    struct pw_error err = {0};
    struct statvfs room;

    if (getenv("PW_BENCH_SMALL") != NULL || statvfs(folder, &room) != 0 ||
        (double)room.f_bavail * (double)room.f_frsize < 3e9) {
        printf("%-22s skipped: PW_BENCH_SMALL is set, or %s has no 3 GB free\n", "1.5 GB in one file", folder);
        return 0;
    }
    pw_decoder_defaults(&decoder);
    decoder.layers = 28;
    decoder.width = 1024;
    decoder.heads = 16;
    decoder.vocabulary = 16384;
    decoder.positions = 1024;
    if (pw_decoder_check(&decoder, &err) != PW_OK) {
        fprintf(stderr, "%s\n", err.message);
        return 1;
    }
    return bench(folder, "1.5 GB in one file", &decoder);
}

int main(void)
{
    const char *folder = getenv("TMPDIR") != NULL ? getenv("TMPDIR") : "/tmp";
    int status = 0;

    printf("time from the file to the printed inventory, median of %d processes, warm page cache\n", RUNS);
    status |= bench_nodes(folder, "1k nodes", 12);
    status |= bench_nodes(folder, "10k nodes", 122);
    status |= bench_nodes(folder, "100k nodes", 1225);
    status |= bench_big(folder);
    return status;
}
