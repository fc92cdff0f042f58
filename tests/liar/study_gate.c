/* The gate: kinds of fault through the program itself, as CI would run it. */
#include "base/compiler.h" /* first: GNU extensions of the system headers */

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "tests/liar/study.h"

#define OUTPUT_MAX (1 << 24)

/* A folder with a graph of one node and what the program said of it. */
struct trial {
    const char *portwright;
    char folder[64], model[80], said[80];
    struct pw_buf target, output;
    int code; /* exit code; -1: a signal */
};

static pw_status run_program(struct trial *trial, struct pw_error *err)
{
    const char *const argv[] = {
        trial->portwright, "--check", trial->model, "--target", pw_buf_text(&trial->target), "--no-timing", "--db", "",
        "--color",         "never",   NULL};
    posix_spawn_file_actions_t actions;
    pid_t pid = 0;
    int rc, state = 0;

    posix_spawn_file_actions_init(&actions);
    rc = posix_spawn_file_actions_addchdir_np(&actions, trial->folder);
    if (rc == 0)
        rc = posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    if (rc == 0)
        rc = posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, trial->said, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (rc == 0)
        rc = posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
    if (rc == 0)
        rc = posix_spawn(&pid, trial->portwright, &actions, NULL, (char *const *)(uintptr_t)argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    if (rc != 0)
        return pw_error_set(err, PW_ERR_IO, "%s: %s", trial->portwright, strerror(rc));
    while (waitpid(pid, &state, 0) < 0)
        if (errno != EINTR)
            return pw_error_set(err, PW_ERR_IO, "%s: %s", trial->portwright, strerror(errno));
    trial->code = WIFEXITED(state) ? WEXITSTATUS(state) : -1;
    pw_buf_clear(&trial->output);
    return pw_file_read(trial->said, OUTPUT_MAX, &trial->output, err);
}

static pw_status check(struct trial *trial, const struct liar_study *study, const struct liar_fault *fault,
                       struct pw_error *err)
{
    pw_buf_clear(&trial->target);
    pw_buf_printf(&trial->target, "plugin:%s", study->plugin);
    if (fault)
        pw_buf_printf(&trial->target, ":fault=%s", fault->name);
    return run_program(trial, err);
}

/* A line that begins with a failed verdict and the operator. */
static bool names(const char *output, const char *op)
{
    char text[128];

    for (int verdict = PW_VERDICT_FAIL; verdict < PW_VERDICT_UNSUPPORTED; verdict++) {
        snprintf(text, sizeof text, "\n%s %s-", pw_verdict_name((pw_verdict)verdict), op);
        if (strstr(output, text))
            return true;
    }
    return false;
}

/* The n-th of the mutants of a fault that were caught, counted round; NULL where none was. */
static const struct liar_mutant *pick(const struct liar_study *study, const struct liar_fault *fault, size_t n)
{
    size_t caught = 0;

    for (size_t i = 0; i < study->mutant_count; i++)
        caught += study->mutants[i].fault == fault && study->mutants[i].caught;
    for (size_t i = 0; i < study->mutant_count && caught > 0; i++) {
        const struct liar_mutant *mutant = &study->mutants[i];

        if (mutant->fault == fault && mutant->caught && n-- % caught == 0)
            return mutant;
    }
    return NULL;
}

static bool seeded(const struct liar_study *study, const struct liar_fault *fault)
{
    for (size_t i = 0; i < study->mutant_count; i++)
        if (study->mutants[i].fault == fault && !study->mutants[i].equivalent)
            return true;
    return false;
}

static pw_status try_kind(struct trial *trial, const struct liar_study *study, const struct liar_mutant *mutant,
                          struct liar_gate *out, struct pw_error *err)
{
    const struct liar_site *site = &study->sites[mutant->catcher];
    pw_status status = pw_file_write(trial->model, site->bytes.data, site->bytes.size, err);

    if (status == PW_OK)
        status = check(trial, study, NULL, err);
    if (status == PW_OK && trial->code != 0) {
        pw_buf_printf(&out->text, "gate: \"%s\" on the honest chip: exit code %d, expected 0\n", site->text,
                      trial->code);
        return PW_OK;
    }
    if (status == PW_OK)
        status = check(trial, study, mutant->fault, err);
    if (status != PW_OK)
        return status;
    if (trial->code != 1 || !names(pw_buf_text(&trial->output), site->op))
        pw_buf_printf(&out->text, "gate: %s on \"%s\": exit code %d, expected 1%s\n", mutant->fault->name, site->text,
                      trial->code, trial->code == 1 ? "; the operator is not named" : "");
    else
        out->held++;
    return PW_OK;
}

pw_status liar_study_gate(const struct liar_study *study, const char *portwright, struct liar_gate *out,
                          liar_progress *progress, void *user, struct pw_error *err)
{
    struct trial trial = {.portwright = portwright, .folder = "/tmp/pw-liar-XXXXXX"};
    size_t number = 0, all = 0;
    pw_status status = PW_OK;

    *out = (struct liar_gate){0};
    if (!mkdtemp(trial.folder))
        return pw_error_set(err, PW_ERR_IO, "%s: %s", trial.folder, strerror(errno));
    snprintf(trial.model, sizeof trial.model, "%s/model.onnx", trial.folder);
    snprintf(trial.said, sizeof trial.said, "%s/said", trial.folder);
    for (const struct liar_fault *fault = liar_faults; fault->name; fault++)
        all += seeded(study, fault);
    for (const struct liar_fault *fault = liar_faults; fault->name && status == PW_OK; fault++) {
        const struct liar_mutant *mutant = pick(study, fault, number * 7);

        if (!seeded(study, fault))
            continue;
        number++;
        out->kinds++;
        if (mutant)
            status = try_kind(&trial, study, mutant, out, err);
        else
            pw_buf_printf(&out->text, "gate: %s was caught nowhere\n", fault->name);
        if (progress)
            progress(user, number, all);
    }
    unlink(trial.model);
    unlink(trial.said);
    rmdir(trial.folder);
    pw_buf_clear(&trial.target);
    pw_buf_clear(&trial.output);
    return status;
}
