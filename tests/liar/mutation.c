/*
 * make mutation: how many of the liar's faults the verifier catches, whether each kind fails the gate of `portwright
 * --check`, and how often the honest chip is accused.
 *
 *   mutation [--fault GLOB] [--op GLOB] [--dtype GLOB] [--sample N] [--seeds N] [--jobs N] [--seed N] [--list]
 *            [--escapes N] [--no-gate] [--honest TARGET]
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "tests/liar/study.h"

struct settings {
    struct liar_options study;
    int seeds;
    bool list, quiet, no_gate;
    size_t escapes; /* most that are printed */
};

struct counts {
    size_t seeded, caught, equivalent;
};

static void on_progress(void *user, size_t done, size_t total)
{
    const struct settings *settings = user;

    if (!settings->quiet && isatty(STDERR_FILENO) && (done % 16 == 0 || done == total))
        fprintf(stderr, "\r\033[K%zu of %zu%s", done, total, done == total ? "\r\033[K" : "");
    else if (!settings->quiet && !isatty(STDERR_FILENO) && (done * 20 / total != (done - 1) * 20 / total))
        fprintf(stderr, "%zu of %zu\n", done, total);
}

static void count(struct counts *counts, const struct liar_mutant *mutant)
{
    counts->equivalent += mutant->equivalent != NULL;
    counts->seeded += !mutant->equivalent;
    counts->caught += !mutant->equivalent && mutant->caught;
}

static void show(const char *name, const struct counts *counts, const char *what)
{
    printf("  %-40s %5zu / %-5zu", name, counts->caught, counts->seeded);
    if (counts->equivalent > 0)
        printf(" (%zu equivalent)", counts->equivalent);
    printf("%s%s\n", what ? "  " : "", what ? what : "");
}

static void by_fault(const struct liar_study *study)
{
    printf("\ncaught / seeded by fault\n");
    for (const struct liar_fault *fault = liar_faults; fault->name; fault++) {
        struct counts counts = {0};

        for (size_t i = 0; i < study->mutant_count; i++)
            if (study->mutants[i].fault == fault)
                count(&counts, &study->mutants[i]);
        if (counts.seeded + counts.equivalent > 0)
            show(fault->name, &counts, fault->what);
    }
}

/* By operator or by room: a name of a mutant. */
typedef const char *name_of(const struct liar_mutant *mutant);

static const char *operator_of(const struct liar_mutant *mutant)
{
    return mutant->op;
}

static const char *room_of(const struct liar_mutant *mutant)
{
    return mutant->room;
}

static void by_name(const struct liar_study *study, const char *what, name_of *name)
{
    printf("\ncaught / seeded by %s\n", what);
    for (size_t i = 0; i < study->mutant_count; i++) {
        const char *own = name(&study->mutants[i]);
        struct counts counts = {0};
        bool first = true;

        for (size_t k = 0; k < i && first; k++)
            first = strcmp(name(&study->mutants[k]), own) != 0;
        for (size_t k = i; k < study->mutant_count && first; k++)
            if (!strcmp(name(&study->mutants[k]), own))
                count(&counts, &study->mutants[k]);
        if (first)
            show(own, &counts, NULL);
    }
}

static void list_escapes(const struct liar_study *study, const struct settings *settings)
{
    size_t shown = 0, all = 0;

    for (size_t i = 0; i < study->mutant_count; i++) {
        const struct liar_mutant *mutant = &study->mutants[i];

        if (mutant->caught || mutant->equivalent)
            continue;
        if (all++ == 0)
            printf("\nescapes\n");
        if (shown < settings->escapes) {
            shown++;
            printf("  %s %s %s: %zu cases, e.g. %s\n", mutant->fault->name, mutant->op, pw_dtype_name(mutant->dtype),
                   mutant->cases, mutant->reproducer);
        }
    }
    if (all > shown)
        printf("  … and %zu more\n", all - shown);
}

static void list_equivalents(void)
{
    if (liar_equivalents[0].fault)
        printf("\nequivalent mutants (excluded), with the proof\n");
    for (const struct liar_equivalent *e = liar_equivalents; e->fault; e++)
        printf("  %s, %s, %s: %s\n", e->fault, e->op, e->dtype, e->proof);
}

static pw_status mutants(struct liar_study *study, const struct settings *settings, struct counts *total,
                         struct pw_error *err)
{
    int64_t start = pw_clock_ns();
    pw_status status = liar_study_run(study, 0, study->mutant_count, on_progress, (void *)(uintptr_t)settings, err);

    for (size_t i = 0; i < study->mutant_count; i++)
        count(total, &study->mutants[i]);
    if (status != PW_OK)
        return status;
    by_fault(study);
    by_name(study, "operator", operator_of);
    by_name(study, "room", room_of);
    list_escapes(study, settings);
    list_equivalents();
    printf("\ncaught %zu of %zu seeded mutants: %.2f %% (%zu more are equivalent), %.0f s\n", total->caught,
           total->seeded, total->seeded ? 100.0 * (double)total->caught / (double)total->seeded : 0, total->equivalent,
           (double)(pw_clock_ns() - start) * 1e-9);
    return PW_OK;
}

static pw_status gate(struct liar_study *study, const struct settings *settings, struct liar_gate *gate,
                      struct pw_error *err)
{
    const char *program = getenv("PORTWRIGHT");
    int64_t start = pw_clock_ns();
    pw_status status =
        liar_study_gate(study, program ? program : "./portwright", gate, on_progress, (void *)(uintptr_t)settings, err);

    if (status != PW_OK)
        return status;
    printf(
        "\n%sgate: %zu of %zu fault kinds end portwright --check with 1 and the operator's name, the honest chip with "
        "0; %.0f s\n",
        pw_buf_text(&gate->text), gate->held, gate->kinds, (double)(pw_clock_ns() - start) * 1e-9);
    return PW_OK;
}

static pw_status honest(struct liar_study *study, const struct settings *settings, struct liar_alarms *alarms,
                        struct pw_error *err)
{
    int64_t start = pw_clock_ns();
    pw_status status = liar_study_honest(study, settings->seeds, alarms, on_progress, (void *)(uintptr_t)settings, err);

    if (status != PW_OK)
        return status;
    printf("\n%s", pw_buf_text(&alarms->text));
    printf("honest chip: %zu false alarms in %zu cases (%zu runs of signatures, %d seeds; %zu cases warned, %zu had no "
           "evidence; unproven %zu, mistrusted %zu), %.0f s\n",
           alarms->failed, alarms->cases, alarms->runs, settings->seeds, alarms->warned, alarms->skipped,
           alarms->unproven, alarms->mistrusted, (double)(pw_clock_ns() - start) * 1e-9);
    return PW_OK;
}

static bool parse(int argc, char **argv, struct settings *settings)
{
    for (int i = 1; i < argc; i++) {
        const char *name = argv[i], *value = i + 1 < argc ? argv[i + 1] : NULL;

        if (!strcmp(name, "--list")) {
            settings->list = true;
            continue;
        }
        if (!strcmp(name, "--quiet")) {
            settings->quiet = true;
            continue;
        }
        if (!strcmp(name, "--no-gate")) {
            settings->no_gate = true;
            continue;
        }
        if (!value)
            return false;
        i++;
        if (!strcmp(name, "--fault"))
            settings->study.fault = value;
        else if (!strcmp(name, "--op"))
            settings->study.op = value;
        else if (!strcmp(name, "--dtype"))
            settings->study.dtype = value;
        else if (!strcmp(name, "--honest"))
            settings->study.honest = value;
        else if (!strcmp(name, "--sample"))
            settings->study.sample = strtoull(value, NULL, 10);
        else if (!strcmp(name, "--seeds"))
            settings->seeds = (int)strtol(value, NULL, 10);
        else if (!strcmp(name, "--jobs"))
            settings->study.jobs = (int)strtol(value, NULL, 10);
        else if (!strcmp(name, "--seed"))
            settings->study.seed = strtoull(value, NULL, 10);
        else if (!strcmp(name, "--escapes"))
            settings->escapes = strtoull(value, NULL, 10);
        else
            return false;
    }
    return true;
}

static void list_all(const struct liar_study *study)
{
    for (size_t i = 0; i < study->mutant_count; i++)
        printf("%s %s %s %zu signatures%s\n", study->mutants[i].fault->name, study->mutants[i].op,
               pw_dtype_name(study->mutants[i].dtype), study->mutants[i].site_count,
               study->mutants[i].equivalent ? " (equivalent)" : "");
}

int main(int argc, char **argv)
{
    char plugin[1024];
    const char *build = getenv("PW_BUILD");
    struct settings settings = {.study = {.plugin = plugin, .seed = 1, .jobs = 2}, .seeds = 20, .escapes = 200};
    struct liar_study *study = NULL;
    struct liar_alarms alarms = {0};
    struct liar_gate gated = {0};
    struct counts total = {0};
    struct pw_error err = {0};
    pw_status status;

    if (argc > 1 && !strcmp(argv[1], "--worker"))
        return pw_worker_main(argc, argv);
    snprintf(plugin, sizeof plugin, "%s/tests/liar/liar.so", build ? build : ".");
    if (!parse(argc, argv, &settings)) {
        fprintf(stderr, "mutation [--fault GLOB] [--op GLOB] [--dtype GLOB] [--sample N] [--seeds N] [--jobs N] "
                        "[--seed N] [--list] [--escapes N] [--quiet] [--no-gate] [--honest TARGET]\n");
        return 2;
    }
    status = liar_study_create(&settings.study, &study, &err);
    if (status == PW_OK) {
        printf("%zu signatures, %zu mutants\n", study->site_count, study->mutant_count);
        if (study->not_made_count > 0)
            printf("not made: %zu\n%s", study->not_made_count, pw_buf_text(&study->not_made));
    }
    if (status == PW_OK && settings.list)
        list_all(study);
    if (status == PW_OK && !settings.list && !settings.study.honest)
        status = mutants(study, &settings, &total, &err);
    if (status == PW_OK && total.seeded > 0 && !settings.no_gate)
        status = gate(study, &settings, &gated, &err);
    if (status == PW_OK && !settings.list && settings.seeds > 0)
        status = honest(study, &settings, &alarms, &err);
    if (status != PW_OK)
        fprintf(stderr, "mutation: %s\n", err.message);
    pw_buf_clear(&alarms.text);
    pw_buf_clear(&gated.text);
    liar_study_destroy(study);
    if (status != PW_OK)
        return 2;
    return (double)total.caught < 0.99 * (double)total.seeded || alarms.failed > 0 || gated.held < gated.kinds;
}
