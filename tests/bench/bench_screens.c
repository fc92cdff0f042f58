/*
 * From a key to its paint on every screen of the workbench with a graph of 100,000 nodes, through a pseudo-terminal:
 * moving, paging, sorting, grouping, unfolding, queries typed key by key, finding; with hundreds of stored runs behind
 * the trends, while the graph runs, after it, and after a restart. A line a screen; PW_BENCH_KEYS=1: a line for each
 * kind of key too. Beside the time that a person sees stands what the UI thread computed, which other work on the
 * machine does not lengthen.
 */
#include <inttypes.h>

#include "base/compiler.h"
#include "graph/infer.h"
#include "graph/inventory.h"
#include "store/store_internal.h"
#include "tests/bench/terminal.h"

enum { SAMPLES = 4096, STEPS = 16, RUNS = 2000 };

static const char dims_text[] = "batch=1,sequence=8,past_sequence=8";

/* ---- samples ---- */

struct sample {
    int64_t wall_ns, cpu_ns;
    const char *what;
};

struct screen {
    const char *name;
    struct sample samples[SAMPLES];
    int count, lost; /* keys that were never answered */
};

static int by_wall(const void *a, const void *b)
{
    return compare(&((const struct sample *)a)->wall_ns, &((const struct sample *)b)->wall_ns);
}

static int by_cpu(const void *a, const void *b)
{
    return compare(&((const struct sample *)a)->cpu_ns, &((const struct sample *)b)->cpu_ns);
}

static double ms(int64_t ns)
{
    return (double)ns / 1e6;
}

static void print_line(const char *name, struct sample *samples, int count)
{
    int last = count * 99 / 100;
    int64_t median, p99, worst;
    const char *what;

    qsort(samples, (size_t)count, sizeof *samples, by_wall);
    median = samples[count / 2].wall_ns;
    p99 = samples[last].wall_ns;
    worst = samples[count - 1].wall_ns;
    qsort(samples, (size_t)count, sizeof *samples, by_cpu);
    what = samples[count - 1].what;
    printf("  %-34s median %6.2f ms   p99 %6.2f ms   worst %7.2f ms   computed: p99 %6.2f ms, worst %6.2f ms (%s)   "
           "%d keys\n",
           name, ms(median), ms(p99), ms(worst), ms(samples[last].cpu_ns), ms(samples[count - 1].cpu_ns), what, count);
}

/* 1 when keys were lost or there are none. */
static int report(struct screen *screen)
{
    static struct sample of_kind[SAMPLES];
    const char *said[STEPS * 4];
    int kinds = 0;

    if (screen->lost || !screen->count) {
        printf("  %-34s %d keys were not answered within 5 s\n", screen->name, screen->lost);
        return 1;
    }
    for (int i = 0; getenv("PW_BENCH_KEYS") && i < screen->count; i++) {
        char label[64];
        int count = 0, known = 0;

        for (int k = 0; k < kinds; k++)
            known |= said[k] == screen->samples[i].what;
        if (known || kinds == PW_COUNT_OF(said))
            continue;
        said[kinds++] = screen->samples[i].what;
        for (int k = i; k < screen->count; k++)
            if (screen->samples[k].what == screen->samples[i].what)
                of_kind[count++] = screen->samples[k];
        snprintf(label, sizeof label, "    %s", screen->samples[i].what);
        print_line(label, of_kind, count);
    }
    print_line(screen->name, screen->samples, screen->count);
    fflush(stdout);
    return 0;
}

/* What the UI thread computed so far; 0 unknown. */
static int64_t computed_ns(pid_t child)
{
    char path[64], text[128];
    long long ns = 0;
    FILE *file;

    snprintf(path, sizeof path, "/proc/%d/task/%d/schedstat", (int)child, (int)child);
    file = fopen(path, "r");
    if (file && (!fgets(text, sizeof text, file) || sscanf(text, "%lld", &ns) != 1))
        ns = 0;
    if (file)
        fclose(file);
    return ns;
}

static void keep(struct screen *screen, const char *what, int64_t wall_ns, int64_t cpu_ns)
{
    if (wall_ns < 0)
        screen->lost++;
    else if (screen->count < SAMPLES)
        screen->samples[screen->count++] = (struct sample){wall_ns, cpu_ns, what};
}

/* ---- keys ---- */

/* A key, and with it the palette with a glyph: what is painted with that holds what the key did. Two glyphs in turns:
 * on a busy machine the palette may be closed and opened again between two paints. */
static void press(struct terminal *terminal, struct screen *screen, const char *what, const char *key)
{
    static const char *const glyphs[2] = {"\xe2\x98\x83", "\xe2\x98\x82"};
    static int turn;
    const char *glyph = glyphs[turn++ % 2];
    char text[128];
    int64_t begin, cpu = computed_ns(terminal->child), end;

    snprintf(text, sizeof text, "%s:%s", key, glyph);
    begin = now_ns();
    end = keys(terminal, text) ? until_shown(terminal, glyph, (int64_t)5 * 1000000000) : -1;
    keep(screen, what, end < 0 ? -1 : end - begin, computed_ns(terminal->child) - cpu);
    keys(terminal, "\025\177"); /* empties the palette and closes it; painted before the next key */
    poll(&(struct pollfd){.fd = terminal->fd, .events = POLLIN}, 1, 1000);
    usleep(2000);
    drain(terminal, 0);
}

/* A key into an open prompt: until nothing more is painted. One that changes nothing that is seen is no sample. */
static void type(struct terminal *terminal, struct screen *screen, const char *what, const char *key)
{
    struct pollfd wait = {.fd = terminal->fd, .events = POLLIN};
    int64_t begin = now_ns(), cpu = computed_ns(terminal->child), end = -1;
    char bytes[4096];

    if (!keys(terminal, key))
        return;
    while (poll(&wait, 1, end < 0 ? 500 : 4) > 0 && read(terminal->fd, bytes, sizeof bytes) > 0)
        end = now_ns();
    if (end >= 0)
        keep(screen, what, end - begin, computed_ns(terminal->child) - cpu);
}

/* Types the text, takes it back key by key, and leaves the prompt. */
static void type_all(struct terminal *terminal, struct screen *screen, const char *what, const char *text)
{
    keys(terminal, "/\025");
    usleep(100000);
    drain(terminal, 20);
    for (const char *p = text; *p; p++)
        type(terminal, screen, what, (char[]){*p, '\0'});
    for (const char *p = text; *p; p++)
        type(terminal, screen, what, "\177");
    keys(terminal, "\177");
    usleep(50000);
    drain(terminal, 20);
}

struct step {
    const char *what;
    const char *keys[8]; /* in turns */
    int times;
};

static void walk(struct terminal *terminal, struct screen *screen, const struct step *steps, int scale)
{
    for (; steps->what; steps++) {
        bool exports = !strcmp(steps->what, "exporting");
        int count = 0;

        if (exports && scale > 1) /* the run would be over before */
            continue;
        while (count < 8 && steps->keys[count])
            count++;
        for (int i = 0; i < steps->times / scale && !screen->lost; i++)
            press(terminal, screen, steps->what, steps->keys[i % count]);
        if (exports) { /* what comes next is measured without it */
            usleep(6000000);
            drain(terminal, 20);
        }
    }
}

/* ---- what is measured ---- */

static const struct step list_steps[] = {{"moving", {"j", "j", "k"}, 45},
                                         {"paging", {"\004", "\004", "\025"}, 45},
                                         {"ends", {"G", "g"}, 40},
                                         {"next", {"n", "n", "N"}, 30},
                                         {"sorting", {"s"}, 39},
                                         {"reversing", {"r"}, 10},
                                         {"grouping", {"z"}, 24},
                                         {"problems", {"!"}, 10},
                                         {0}};
static const struct step unfold_steps[] = {{"to the end", {"G"}, 1},
                                           {"unfolding", {"l", "k"}, 140},
                                           {"exporting", {":export all.txt\r", "j", "j", "j"}, 16},
                                           {0}};
static const struct step fold_steps[] = {{"to the end", {"G"}, 1}, {"folding", {"h", "k"}, 140}, {0}};
static const struct step line_steps[] = {
    {"moving", {"j", "j", "k"}, 45}, {"paging", {"\004", "\004", "\025"}, 45},
    {"ends", {"G", "g"}, 40},        {"finding", {"/e\r", "/1\r", "/no such text\r"}, 30},
    {"next", {"n", "n", "N"}, 30},   {"finding numbers", {"/9.87e-65\r", "/1.0e\r"}, 20},
    {"forgetting", {"/\r"}, 1},      {0}};
static const struct step node_steps[] = {{"moving", {"j", "j", "k"}, 45},
                                         {"paging", {"\004", "\004", "\025"}, 45},
                                         {"ends", {"G", "g"}, 40},
                                         {"finding", {"/no such text\r", "/softmax\r"}, 30},
                                         {"finding far", {"g/layers.1224\r", "g/layers.600\r"}, 30},
                                         {"next", {"n", "n", "N"}, 30},
                                         {"next of none", {"/no such text\r", "n", "N"}, 30},
                                         {"finding numbers", {"/9.87e-65\r", "/1.0e\r"}, 20},
                                         {"forgetting", {"/\r"}, 1},
                                         {"jumping", {"f", "w", "t"}, 30},
                                         {"sorting", {">"}, 48},
                                         {"in another order", {">\004", "G", "g", "/layers.1000\r"}, 40},
                                         {"divergent", {"d"}, 24},
                                         {"exporting", {":export all.txt\r", "j", "j", "j"}, 16},
                                         {0}};
static const struct step trend_steps[] = {{"the graph's", {"w", "w"}, 40}, {0}};

static int on_inventory(struct terminal *terminal)
{
    static struct screen folded, unfolded, query;
    int failed;

    folded = (struct screen){.name = "inventory"};
    unfolded = (struct screen){.name = "inventory, all nodes listed"};
    query = (struct screen){.name = "inventory, a query key by key"};
    keys(terminal, "1");
    walk(terminal, &folded, list_steps, 1);
    type_all(terminal, &query, "a query", "sens:high op:Softmax flops>1");
    type_all(terminal, &query, "a query of nodes", "node:layers.1224 -node:nothing");
    walk(terminal, &unfolded, unfold_steps, 1);
    walk(terminal, &unfolded, list_steps, 1);
    type_all(terminal, &query, "a query, nodes listed", "node:layers.1224 cat:norm");
    type_all(terminal, &query, "a query, nodes listed", "matmul");
    walk(terminal, &unfolded, fold_steps, 1);
    failed = report(&folded);
    failed |= report(&unfolded);
    return failed | report(&query);
}

static int on_lines(struct terminal *terminal, const char *name, const char *key, const struct step *more,
                    const struct step *steps, int scale)
{
    static struct screen screen;

    screen = (struct screen){.name = name};
    press(terminal, &screen, "opening", key);
    usleep(300000); /* the answers of the store */
    drain(terminal, 20);
    if (more)
        walk(terminal, &screen, more, scale);
    walk(terminal, &screen, steps, scale);
    return report(&screen);
}

/* Paints anew until the text is on the screen. */
static bool until_painted(struct terminal *terminal, const char *text)
{
    for (int tried = 0; tried < 150; tried++) {
        keys(terminal, "g\014");
        if (until_shown(terminal, text, (int64_t)1 * 1000000000) >= 0)
            return true;
    }
    return false;
}

/* A text that is not there: every node is looked at. Other keys are answered meanwhile. */
static void print_search(struct terminal *terminal)
{
    int64_t begin, end;

    keys(terminal, "5g/no such text");
    usleep(200000);
    drain(terminal, 20);
    begin = now_ns();
    keys(terminal, "\r");
    end = until_shown(terminal, "this screen", (int64_t)5 * 1000000000);
    printf("  a text that no node holds is said to be missing after %.2f ms\n", end < 0 ? -1.0 : ms(end - begin));
    keys(terminal, "/\r");
    usleep(100000);
    drain(terminal, 20);
}

static void pause_until_open(struct terminal *terminal)
{
    usleep(3000000);
    drain(terminal, 300);
}

static int measure(const char *model)
{
    struct terminal terminal;
    int failed = 0;

    if (!start(&terminal, model, dims_text, "reference"))
        return 1;
    pause_until_open(&terminal);
    failed |= on_inventory(&terminal);
    failed |= on_lines(&terminal, "detail", "g2", NULL, line_steps, 1);
    failed |= on_lines(&terminal, "trends", "1g4", trend_steps, line_steps, 1);
    keys(&terminal, "5r");
    if (!until_painted(&terminal, "c cancels")) {
        printf("  the run of the graph did not begin\n");
        failed = 1;
    }
    failed |= on_lines(&terminal, "end to end, while it runs", "5", NULL, node_steps, 4);
    failed |= on_lines(&terminal, "run, while it runs", "3", NULL, line_steps, 4);
    keys(&terminal, "5");
    if (!until_painted(&terminal, "drifting")) { /* of the totals, which stand there only then */
        printf("  the run of the graph did not end\n");
        failed = 1;
    }
    failed |= on_lines(&terminal, "end to end", "5", NULL, node_steps, 1);
    print_search(&terminal);
    failed |= on_lines(&terminal, "run", "3", NULL, line_steps, 1);
    failed |= on_lines(&terminal, "baselines", "6", NULL, line_steps, 2);
    failed |= on_lines(&terminal, "device", "7", NULL, line_steps, 2);
    failed |= on_lines(&terminal, "messages", "m", NULL, line_steps, 2);
    failed |= on_lines(&terminal, "help", "\033?", NULL, line_steps, 2);
    stop(&terminal);
    if (!start(&terminal, model, dims_text, "reference"))
        return 1;
    pause_until_open(&terminal);
    failed |= on_lines(&terminal, "end to end, after a restart", "5", NULL, node_steps, 1);
    stop(&terminal);
    return failed;
}

/* ---- stored runs ---- */

/* RUNS checks of all signatures and as many runs of the graph, an hour apart. */
static int store_runs(const char *path)
{
    static const struct pw_binding dims[] = {{"batch", 1}, {"sequence", 8}, {"past_sequence", 8}};
    struct pw_model *model = NULL;
    struct pw_inference *inference = NULL;
    struct pw_inventory *inventory = NULL;
    struct pw_store *store = NULL;
    struct pw_error err = {0};
    struct pw_buf sql = {0};
    char id[PW_HASH_TEXT];
    pw_status status = pw_model_load(path, &model, &err);

    if (status == PW_OK)
        status = pw_infer_graph(model, dims, PW_COUNT_OF(dims), &inference, &err);
    if (status == PW_OK)
        status = pw_inventory_create(model, inference, &inventory, &err);
    if (status == PW_OK)
        status = pw_store_open("bench.db", false, &store, &err);
    if (status != PW_OK)
        goto done;
    pw_hash_text(pw_model_structure_hash(model), id);
    pw_buf_printf(&sql,
                  "BEGIN; WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d)"
                  " INSERT INTO run(id, kind, graph, model_path, target, target_kind, device, environment, bindings,"
                  " protocol, version, seed, begin_ms, end_ms, outcome, exit_code, environment_id)"
                  " SELECT i, iif(i %% 2, 'check', 'run'), '%s', 'm.onnx', 'reference', 'reference', 'd', '{}', '',"
                  " '', '1', 1, 1700000000000 + i * 3600000, 1700000000001 + i * 3600000, 'held', 0, 'e' FROM n;",
                  2 * RUNS, id);
    for (size_t i = 0; i < inventory->signature_count; i++)
        pw_buf_printf(&sql, "INSERT INTO signature VALUES('%s', '', '%s', '');", inventory->signatures[i].id,
                      inventory->signatures[i].op_label);
    pw_buf_puts(&sql,
                "INSERT INTO result(run, signature, wall_ms, standing, coverage, implementation, nodes, cases, held,"
                " failed, no_evidence, worst_error, worst_ratio, tolerance, target_ns, reference_ns, reference_name,"
                " gate_failed) SELECT run.id, s.id, run.begin_ms, 'held', 'kernel', 'k', 1, 4, 4, 0, 0,"
                " 1e-7 * (1 + run.id % 7), 0.1, 1e-6, 1000 + run.id % 90, 2000, 'loops', 0 FROM run, signature s"
                " WHERE run.kind = 'check';"
                "INSERT INTO run_output(run, output, name, held, error, tolerance, reason) SELECT id, 0, 'y', 1,"
                " 1e-7 * (1 + id % 5), 1e-6, '' FROM run WHERE kind = 'run';"
                "INSERT INTO run_figure SELECT id, 'target_ns', 1e6 + id FROM run WHERE kind = 'run';"
                "INSERT INTO run_figure SELECT id, 'reference_ns', 2e6 FROM run WHERE kind = 'run'; COMMIT;");
    status = sql.failed ? pw_error_memory(&err, sql.size) : pw_store_exec(store, pw_buf_text(&sql), &err);
done:
    if (status != PW_OK)
        fprintf(stderr, "%s\n", err.message);
    pw_buf_clear(&sql);
    pw_store_close(store);
    pw_inventory_destroy(inventory);
    pw_inference_destroy(inference);
    pw_model_destroy(model);
    return status != PW_OK;
}

int main(void)
{
    char folder[] = "/tmp/pw-bench-screens-XXXXXX", command[4096];
    const char *program = getenv("PORTWRIGHT");
    int failed;

    if (!program || !mkdtemp(folder) || chdir(folder) != 0) {
        fprintf(stderr, "PORTWRIGHT is not set, or no temporary folder\n");
        return 1;
    }
    signal(SIGPIPE, SIG_IGN);
    snprintf(command, sizeof command,
             "'%s' make-graph --layers 1225 --width 8 --heads 2 --vocabulary 16 -o large.onnx >/dev/null", program);
    failed = system(command) != 0 || store_runs("large.onnx");
    printf("from a key to its paint with a graph of 100,000 nodes, 50 rows and 160 columns\n");
    if (!failed)
        failed = measure("large.onnx");
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    if (chdir("/") != 0 || system(command) != 0)
        failed = 1;
    return failed;
}
