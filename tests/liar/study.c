/* Sites and mutants: what is studied, fixed before anything runs. */
#include "tests/liar/study.h"

#include <ctype.h>
#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "graph/infer.h"

#define KERNELS_MAX 64

/* ---- sites ---- */

static bool word_break(char c)
{
    return !isalnum((unsigned char)c) && c != '_';
}

/* The text with T put in: T[…], <T[…]…> and =T. */
static void put_dtype(struct pw_buf *out, const char *call, pw_dtype dtype)
{
    for (const char *c = call; *c; c++)
        if (*c == 'T' && (c == call || word_break(c[-1])) && word_break(c[1]))
            pw_buf_puts(out, pw_dtype_name(dtype));
        else
            pw_buf_putc(out, *c);
}

static void not_made(struct liar_study *study, const char *text, const char *why)
{
    study->not_made_count++;
    pw_buf_printf(&study->not_made, "%s: %s\n", text, why);
}

static void clear_site(struct liar_site *site)
{
    pw_inventory_destroy(site->inventory);
    pw_inference_destroy(site->inference);
    pw_model_destroy(site->model);
    pw_arena_clear(&site->arena);
    pw_buf_clear(&site->bytes);
    pw_free(site->text);
}

static pw_status take_call(struct liar_site *site, struct pw_error *err)
{
    const struct pw_call *call = site->inventory->signatures[0].call;
    size_t count = (size_t)call->output_count;

    site->call = *call;
    site->call.out = pw_arena_alloc(&site->arena, count + 1, sizeof *call->out);
    if (!site->call.out)
        return pw_error_memory(err, count * sizeof *call->out);
    memcpy(site->call.out, call->out, count * sizeof *call->out);
    pw_call_take_most(&site->call);
    return PW_OK;
}

static pw_status build_site(struct liar_site *site, struct pw_error *err)
{
    const char *text = site->text;
    pw_status status = pw_case_model(&text, 1, &site->bytes, err);

    if (status == PW_OK)
        status = pw_model_parse(site->bytes.data, site->bytes.size, "site", NULL, &site->model, err);
    if (status == PW_OK)
        status = pw_infer_graph(site->model, NULL, 0, &site->inference, err);
    if (status == PW_OK)
        status = pw_inventory_create(site->model, site->inference, &site->inventory, err);
    if (status == PW_OK && site->inventory->signature_count != 1)
        status = pw_error_set(err, PW_ERR_INTERNAL, "%zu signatures, expected 1", site->inventory->signature_count);
    return status == PW_OK ? take_call(site, err) : status;
}

static pw_status add_site(struct liar_study *study, const char *call, const struct pw_op *op, pw_dtype dtype,
                          struct pw_error *err)
{
    struct liar_site site = {.room = pw_op_room(op)->name, .dtype = dtype};
    struct pw_buf text = {0};
    struct pw_error why = {0};
    pw_status status;

    snprintf(site.op, sizeof site.op, "%s%s%s", op->domain, op->domain[0] ? ":" : "", op->name);
    put_dtype(&text, call, dtype);
    site.text = pw_strdup(pw_buf_text(&text));
    pw_buf_clear(&text);
    status = site.text ? build_site(&site, &why) : PW_ERR_NO_MEMORY;
    if (status == PW_ERR_NO_MEMORY)
        return pw_error_memory(err, strlen(call));
    if (status != PW_OK) {
        not_made(study, site.text, why.message);
        clear_site(&site);
        return PW_OK;
    }
    status = PW_GROW(study->sites, study->site_cap, study->site_count + 1, err);
    if (status == PW_OK)
        study->sites[study->site_count++] = site;
    return status;
}

/* The type variable that T is: of the first input that begins with it. */
static const char *variable_of(const struct liar_signature *signature, const struct pw_op *op)
{
    const char *at = strrchr(signature->call, '(');
    size_t i = 0;
    int depth = 0;

    for (at = at ? at + 1 : ""; *at; at++) {
        if (*at == 'T' && word_break(at[-1]) && at[1] == '[') {
            const struct pw_formal *formal = pw_op_formal(op->inputs, i);

            return formal && formal->type ? formal->type : "T";
        }
        depth += (*at == '[') - (*at == ']');
        i += *at == ',' && depth == 0;
    }
    return "T";
}

static bool claimed(const struct liar_study *study, const struct pw_op *op, const char *variable, pw_dtype dtype)
{
    const struct pw_kernel *found[KERNELS_MAX];
    size_t count = pw_kernels_for(study->kernels, op, found, KERNELS_MAX);

    for (size_t i = 0; i < count && i < KERNELS_MAX; i++)
        if (pw_kernel_claims(found[i], variable, dtype))
            return true;
    return false;
}

static bool listed(const char *dtypes, pw_dtype dtype)
{
    size_t size = strlen(pw_dtype_name(dtype));

    for (const char *at = dtypes; (at = strstr(at, pw_dtype_name(dtype))) != NULL; at += size)
        if ((at == dtypes || at[-1] == ' ') && (at[size] == ' ' || !at[size]))
            return true;
    return false;
}

static const struct pw_op *op_of(const char *call)
{
    char name[128];
    size_t size = strcspn(call, " (");
    char *dash, *colon;
    int64_t opset;

    if (size >= sizeof name)
        return NULL;
    memcpy(name, call, size);
    name[size] = '\0';
    dash = strrchr(name, '-');
    if (!dash || !pw_text_int64(dash + 1, &opset))
        return NULL;
    *dash = '\0';
    colon = strchr(name, ':');
    if (colon)
        *colon = '\0';
    return pw_op_find(colon ? name : "", colon ? colon + 1 : name, (int)opset, NULL);
}

static bool wanted(const char *glob, const char *text)
{
    return !glob || !fnmatch(glob, text, 0);
}

static pw_status add_signature(struct liar_study *study, const struct liar_options *options,
                               const struct liar_signature *signature, struct pw_error *err)
{
    const struct pw_op *op = op_of(signature->call);
    pw_status status = PW_OK;
    size_t before = study->site_count + study->not_made_count, first = study->site_count;

    if (!op) {
        not_made(study, signature->call, "no such operator");
        return PW_OK;
    }
    if (!wanted(options->op, op->name))
        return PW_OK;
    for (int d = 1; d < PW_DTYPE_COUNT && status == PW_OK; d++)
        if (signature->dtypes ? listed(signature->dtypes, (pw_dtype)d)
                              : claimed(study, op, variable_of(signature, op), (pw_dtype)d))
            if (wanted(options->dtype, pw_dtype_name((pw_dtype)d)))
                status = add_site(study, signature->call, op, (pw_dtype)d, err);
    for (size_t i = first; i < study->site_count; i++) {
        study->sites[i].turn = i - first;
        study->sites[i].turns = study->site_count - first;
    }
    if (status == PW_OK && !options->dtype && study->site_count + study->not_made_count == before)
        not_made(study, signature->call, "no kernel claims a dtype for it");
    return status;
}

/* Operators that a kernel serves must have a signature. */
static void find_missing(struct liar_study *study, const struct liar_options *options)
{
    const struct pw_kernel *found[1];

    for (const struct pw_room *room = pw_rooms; room->name; room++)
        for (const struct pw_op *op = room->ops; op->name; op++) {
            bool has = op->host_only || !pw_kernels_for(study->kernels, op, found, 1) || !wanted(options->op, op->name);

            for (const struct liar_signature *s = liar_signatures; s->call && !has; s++) {
                const struct pw_op *other = op_of(s->call);

                has = other && !strcmp(other->name, op->name) && !strcmp(other->domain, op->domain);
            }
            if (!has)
                not_made(study, op->name, "an operator with kernels, but the study has no signature of it");
        }
}

/* ---- mutants ---- */

static struct liar_mutant *find_mutant(struct liar_study *study, size_t from, const char *op, pw_dtype dtype)
{
    for (size_t i = from; i < study->mutant_count; i++)
        if (study->mutants[i].dtype == dtype && !strcmp(study->mutants[i].op, op))
            return &study->mutants[i];
    return NULL;
}

static pw_status add_mutant(struct liar_study *study, const struct liar_fault *fault, size_t from, size_t site,
                            struct pw_error *err)
{
    const struct liar_site *s = &study->sites[site];
    struct liar_mutant *mutant = find_mutant(study, from, s->op, s->dtype);
    size_t *sites;
    pw_status status;

    if (!mutant) {
        status = PW_GROW(study->mutants, study->mutant_cap, study->mutant_count + 1, err);
        if (status != PW_OK)
            return status;
        mutant = &study->mutants[study->mutant_count++];
        *mutant = (struct liar_mutant){.fault = fault,
                                       .op = s->op,
                                       .room = s->room,
                                       .dtype = s->dtype,
                                       .equivalent = liar_equivalent_find(fault->name, s->op, pw_dtype_name(s->dtype))};
    }
    sites = pw_reallocarray(mutant->sites, mutant->site_count + 1, sizeof *sites);
    if (!sites)
        return pw_error_memory(err, sizeof *sites);
    mutant->sites = sites;
    mutant->sites[mutant->site_count++] = site;
    return PW_OK;
}

/* Leaves some of a fault's mutants: those at even distances, the equivalent ones not counted. */
static void take_sample(struct liar_study *study, size_t from, size_t sample)
{
    size_t kept = from, count = 0, seen = 0;

    for (size_t i = from; i < study->mutant_count; i++)
        count += !study->mutants[i].equivalent;
    for (size_t i = from; i < study->mutant_count; i++) {
        struct liar_mutant *mutant = &study->mutants[i];
        bool keep = !mutant->equivalent && (count <= sample || seen * sample / count != (seen + 1) * sample / count);

        seen += !mutant->equivalent;
        if (keep)
            study->mutants[kept++] = *mutant;
        else
            pw_free(mutant->sites);
    }
    study->mutant_count = kept;
}

static pw_status list_mutants(struct liar_study *study, const struct liar_options *options, struct pw_error *err)
{
    pw_status status = PW_OK;

    for (const struct liar_fault *fault = liar_faults; fault->name && status == PW_OK; fault++) {
        size_t from = study->mutant_count;

        if (!wanted(options->fault, fault->name))
            continue;
        for (size_t i = 0; i < study->site_count && status == PW_OK; i++)
            if (fault->applies(&study->sites[i].call))
                status = add_mutant(study, fault, from, i, err);
        if (options->sample > 0)
            take_sample(study, from, options->sample);
    }
    return status;
}

pw_status liar_study_create(const struct liar_options *options, struct liar_study **out, struct pw_error *err)
{
    struct liar_study *study = pw_calloc(1, sizeof *study);
    const struct pw_ops_dir dir = {.path = pw_ops_dir_default()};
    pw_status status = study ? PW_OK : pw_error_memory(err, sizeof *study);

    if (status == PW_OK) {
        study->plugin = options->plugin;
        study->honest = options->honest;
        study->seed = options->seed;
        study->jobs = options->jobs;
        status = pw_kernels_load(&dir, 1, &study->kernels, err);
    }
    if (status == PW_OK)
        status = pw_protocol_default(&study->protocol, err);
    for (const struct liar_signature *s = liar_signatures; s->call && status == PW_OK; s++)
        status = add_signature(study, options, s, err);
    if (status == PW_OK) {
        find_missing(study, options);
        status = list_mutants(study, options, err);
    }
    if (status != PW_OK) {
        liar_study_destroy(study);
        return status;
    }
    *out = study;
    return PW_OK;
}

void liar_study_destroy(struct liar_study *study)
{
    if (!study)
        return;
    for (size_t i = 0; i < study->mutant_count; i++)
        pw_free(study->mutants[i].sites);
    for (size_t i = 0; i < study->site_count; i++)
        clear_site(&study->sites[i]);
    pw_free(study->mutants);
    pw_free(study->sites);
    pw_buf_clear(&study->not_made);
    pw_protocol_destroy(study->protocol);
    pw_kernels_destroy(study->kernels);
    pw_free(study);
}
