/*
 * Time and memory of opening a model: reading alone, and the whole inventory, for graphs of 1,000 to 100,000
 * nodes and for one of 1.5 GB. Graphs are generated in a temporary folder (TMPDIR) that is removed afterwards.
 * Every measurement runs in a process of its own: least of several runs, anonymous memory as the kernel counts it.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "graph/decoder.h"
#include "graph/infer.h"
#include "graph/inventory.h"

#define RUNS 5

struct bench {
    const char *name;
    int64_t layers, width, nodes, vocabulary;
    uint64_t need_bytes; /* of disk */
};

static const struct bench benches[] = {
    {"1,000 nodes", 6, 32, 1000, 64, 1 << 24},
    {"10,000 nodes", 66, 32, 10000, 64, 1 << 26},
    {"100,000 nodes", 666, 32, 100000, 64, 1 << 28},
    {"1.5 GB of weights", 7, 2048, 0, 8192, (uint64_t)2 << 30},
};

/* Anonymous memory of this process in KiB, or -1. */
static long anonymous_kib(void)
{
    char line[256];
    long kib = -1;
    FILE *status = fopen("/proc/self/status", "r");
    if (!status)
        return -1;
    while (fgets(line, sizeof line, status))
        if (sscanf(line, "RssAnon: %ld", &kib) == 1)
            break;
    fclose(status);
    return kib;
}

struct result {
    int64_t load_ns, inventory_ns;
    long before_kib, load_kib, inventory_kib;
    size_t nodes;
    int failed;
    char message[256];
};

static void measure_once(const char *path, struct result *result)
{
    struct pw_error err = {0};
    struct pw_model *model = NULL;
    struct pw_inference *inference = NULL;
    struct pw_inventory *inventory = NULL;
    int64_t start = pw_clock_ns(), loaded;

    result->failed = 1;
    if (pw_model_load(path, &model, &err) != PW_OK)
        goto done;
    loaded = pw_clock_ns();
    if (loaded - start < result->load_ns)
        result->load_ns = loaded - start;
    if (result->load_kib == 0)
        result->load_kib = anonymous_kib();
    if (pw_infer_graph(model, NULL, 0, &inference, &err) != PW_OK ||
        pw_inventory_create(model, inference, &inventory, &err) != PW_OK)
        goto done;
    if (pw_clock_ns() - start < result->inventory_ns)
        result->inventory_ns = pw_clock_ns() - start;
    if (result->inventory_kib == 0)
        result->inventory_kib = anonymous_kib();
    result->nodes = model->node_total;
    result->failed = 0;
done:
    snprintf(result->message, sizeof result->message, "%.255s", err.message);
    pw_inventory_destroy(inventory);
    pw_inference_destroy(inference);
    pw_model_destroy(model);
}

/* In a child, so that one graph's memory does not count for the next. */
static int measure(const char *path, struct result *result)
{
    int ends[2];
    int status = 0;
    ssize_t got;
    pid_t child;

    memset(result, 0, sizeof *result);
    if (pipe(ends) != 0)
        return -1;
    child = fork();
    if (child == 0) {
        result->load_ns = result->inventory_ns = INT64_MAX;
        result->before_kib = anonymous_kib();
        for (int i = 0; i < RUNS && !result->failed; i++)
            measure_once(path, result);
        got = write(ends[1], result, sizeof *result);
        _exit(got == (ssize_t)sizeof *result ? 0 : 1);
    }
    close(ends[1]);
    got = child > 0 ? read(ends[0], result, sizeof *result) : -1;
    close(ends[0]);
    if (child > 0)
        waitpid(child, &status, 0);
    return got == (ssize_t)sizeof *result && status == 0 ? 0 : -1;
}

/* In a child too: memory that it freed would hide what reading takes. */
static int generate(const struct bench *bench, const char *path)
{
    struct pw_decoder decoder;
    struct pw_error err = {0};
    int status = 0;
    pid_t child;

    pw_decoder_defaults(&decoder);
    decoder.layers = bench->layers;
    decoder.width = bench->width;
    decoder.nodes = bench->nodes;
    decoder.vocabulary = bench->vocabulary;
    child = fork();
    if (child == 0) {
        if (pw_decoder_check(&decoder, &err) != PW_OK || pw_decoder_write(&decoder, path, NULL, &err) != PW_OK)
            fprintf(stderr, "  %s\n", err.message);
        _exit(err.status != PW_OK);
    }
    return child > 0 && waitpid(child, &status, 0) == child && status == 0 ? 0 : -1;
}

static int run(const struct bench *bench, const char *path)
{
    struct result r;
    struct stat facts;

    if (generate(bench, path) != 0 || stat(path, &facts) != 0) {
        printf("  %-18s could not be generated\n", bench->name);
        return 1;
    }
    if (measure(path, &r) != 0 || r.failed) {
        printf("  %-18s failed: %s\n", bench->name, r.message);
        return 1;
    }
    printf("  %-18s %8.1f MB %8zu nodes   read %8.2f ms %7.1f MiB   inventory %8.2f ms %7.1f MiB\n", bench->name,
           (double)facts.st_size / 1e6, r.nodes, (double)r.load_ns / 1e6, (double)(r.load_kib - r.before_kib) / 1024,
           (double)r.inventory_ns / 1e6, (double)(r.inventory_kib - r.before_kib) / 1024);
    return 0;
}

int main(void)
{
    const char *base = getenv("TMPDIR");
    char folder[512], path[600];
    struct statvfs disk;
    int failed = 0;

    snprintf(folder, sizeof folder, "%s/portwright-bench-XXXXXX", base && base[0] != '\0' ? base : "/tmp");
    if (!mkdtemp(folder)) {
        perror(folder);
        return 1;
    }
    snprintf(path, sizeof path, "%s/model.onnx", folder);
    printf("opening models: least of %d, warm; anonymous memory\n", RUNS);
    for (size_t i = 0; i < sizeof benches / sizeof benches[0]; i++) {
        if (statvfs(folder, &disk) == 0 && (uint64_t)disk.f_bavail * disk.f_frsize < benches[i].need_bytes)
            printf("  %-18s skipped: too little room in %s\n", benches[i].name, folder);
        else
            failed |= run(&benches[i], path);
        fflush(stdout);
        unlink(path);
    }
    rmdir(folder);
    return failed;
}
