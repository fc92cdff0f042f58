/* The environment's report. */
#include "report/env.h"

#include <limits.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "base/mem.h"
#include "report/check.h"

/* Numbers of the accuracy contract, in the order in which they are shown. */
static const struct {
    const char *name;
    size_t offset;
} functions[] = {
#define FUNCTION(f)                                                                                                    \
    {                                                                                                                  \
#f, offsetof(struct pw_target_accuracy, f)                                                                     \
    }
    FUNCTION(add),  FUNCTION(mul),  FUNCTION(fma),  FUNCTION(divide), FUNCTION(sqrt), FUNCTION(rsqrt), FUNCTION(exp),
    FUNCTION(log),  FUNCTION(sin),  FUNCTION(cos),  FUNCTION(tan),    FUNCTION(tanh), FUNCTION(sinh),  FUNCTION(cosh),
    FUNCTION(asin), FUNCTION(acos), FUNCTION(atan), FUNCTION(erf),    FUNCTION(pow),
#undef FUNCTION
};
#define FUNCTION_COUNT (sizeof functions / sizeof *functions)

static double ulp_of(const struct pw_target_accuracy *accuracy, size_t i)
{
    double value;
    memcpy(&value, (const char *)accuracy + functions[i].offset, sizeof value);
    return value;
}

/* ---- text ---- */

#define LABEL "  %-13s "

static void line(struct pw_buf *out, const char *label, const char *text)
{
    pw_buf_printf(out, LABEL, label);
    if (text[0])
        pw_text_display(out, text, strlen(text), 0, false);
    else
        pw_buf_puts(out, "unknown");
    pw_buf_putc(out, '\n');
}

static void machine_text(const struct pw_report_env *report, struct pw_buf *out)
{
    const struct pw_machine *m = &report->machine;
    char a[32], b[32], c[32];
    pw_buf_puts(out, "machine\n");
    line(out, "cpu", m->cpu);
    pw_buf_printf(out, LABEL "%d online, %s%s\n", "cores", m->cores, m->architecture,
                  m->hypervisor[0] ? ", virtual" : "");
    pw_buf_printf(out, LABEL "L1 %s and L2 %s a core, L3 %s\n", "caches",
                  pw_text_bytes(a, sizeof a, (double)m->l1_bytes), pw_text_bytes(b, sizeof b, (double)m->l2_bytes),
                  pw_text_bytes(c, sizeof c, (double)m->l3_bytes));
    line(out, "governor", m->governor);
    pw_buf_printf(out, LABEL "%s\n", "memory", pw_text_bytes(a, sizeof a, (double)m->memory_bytes));
    line(out, "system", m->system);
    line(out, "distribution", m->distribution);
    line(out, "openblas", report->openblas);
}

/* Versions from..to of what landlock refuses, as a list. */
static void landlock_list(int from, int to, struct pw_buf *out)
{
    for (int v = from; v <= to && pw_sandbox_landlock_refuses(v); v++)
        pw_buf_printf(out, "%s%s", v == from ? "" : ", ", pw_sandbox_landlock_refuses(v));
}

static const char *users_text(pw_sandbox_users_kind users)
{
    switch (users) {
    case PW_SANDBOX_USERS_APART:
        return "workers leave root for a user of their own, each foreign kernel for another";
    case PW_SANDBOX_USERS_ONE:
        return "workers leave root for nobody, foreign kernels too";
    default:
        return "workers stay this user (as root they would leave it); landlock and seccomp confine them";
    }
}

void pw_report_env_isolation_read(struct pw_report_env_isolation *out)
{
    *out = (struct pw_report_env_isolation){
        .landlock = pw_sandbox_landlock(), .seccomp = pw_sandbox_seccomp(), .users = pw_sandbox_users()};
    out->confines = pw_sandbox_confines(out->missing, sizeof out->missing);
}

void pw_report_env_isolation_text(const struct pw_report_env_isolation *i, struct pw_buf *out)
{
    pw_buf_printf(out, LABEL, "landlock");
    if (i->landlock > 0) {
        pw_buf_printf(out, "version %d, refuses what is not allowed of ", i->landlock);
        landlock_list(1, i->landlock, out);
        if (pw_sandbox_landlock_refuses(i->landlock + 1)) {
            pw_buf_puts(out, ";\n                not on this system: ");
            landlock_list(i->landlock + 1, INT_MAX, out);
        }
        pw_buf_putc(out, '\n');
    } else {
        pw_buf_puts(out, "none: a kernel could read and write every file of the worker's user\n");
    }
    line(out, "seccomp",
         i->seccomp
             ? "yes: refuses sockets, signals to others, ptrace, mounts, namespaces, bpf and what else kernels need not"
             : "none: a kernel could make any system call");
    line(out, "users", users_text(i->users));
    pw_buf_printf(out, LABEL, "foreign code");
    if (i->confines)
        pw_buf_puts(out,
                    "kernels of --ops-dir and of agents run, confined, in a worker and a compile cache of their own\n");
    else
        pw_buf_printf(out,
                      "kernels of --ops-dir and of agents are refused: %s;\n                --unsafe-kernels runs "
                      "them unconfined\n",
                      i->missing);
}

static void devices_text(const struct pw_report_env *report, struct pw_buf *out)
{
    pw_buf_puts(out, "\nopencl devices\n");
    if (report->devices_error.status != PW_OK)
        line(out, "error", report->devices_error.message);
    else if (!report->devices[0])
        pw_buf_puts(out, "  none (on Debian: apt-get install pocl-opencl-icd for the CPU)\n");
    for (const char *at = report->devices; *at;) {
        size_t size = strcspn(at, "\n");
        pw_buf_puts(out, "  ");
        pw_text_display(out, at, size, 0, false);
        pw_buf_putc(out, '\n');
        at += size + (at[size] == '\n');
    }
}

static void accuracy_text(const struct pw_target_accuracy *accuracy, struct pw_buf *out)
{
    pw_buf_printf(out, LABEL, "accuracy, ULP");
    for (size_t i = 0; i < FUNCTION_COUNT; i++) {
        double ulp = ulp_of(accuracy, i);
        pw_buf_printf(out, "%s%s ", i == 0 ? "" : i == 10 ? ",\n                " : ", ", functions[i].name);
        if (ulp < 0)
            pw_buf_puts(out, "?");
        else
            pw_buf_printf(out, "%g", ulp);
    }
    pw_buf_printf(out, "\n" LABEL "%s; fma %s\n", "float32",
                  accuracy->denormals ? "denormals kept" : "denormals flushed",
                  accuracy->fma_fused ? "rounds once" : "may round twice");
}

static void peaks_text(const struct pw_report_env_target *target, struct pw_buf *out)
{
    char a[32], b[32], c[32], bytes[32];
    if (target->peaks_error.status != PW_OK) {
        line(out, "peaks", target->peaks_error.message);
        return;
    }
    if (target->peaks.count == 0)
        return;
    pw_buf_printf(out, LABEL "median [quartiles]; other load on the machine lowers them\n", "peaks");
    for (size_t i = 0; i < target->peaks.count; i++) {
        const struct pw_peak *peak = &target->peaks.items[i];
        const char *unit = peak->kind == PW_PEAK_FMA ? "FLOP/s" : "B/s";
        pw_buf_printf(out, "    %-5s %-9s  %14s  [%s, %s]", pw_peak_name(peak->kind), peak->level,
                      pw_text_si(a, sizeof a, peak->median, unit), pw_text_si(b, sizeof b, peak->low, unit),
                      pw_text_si(c, sizeof c, peak->high, unit));
        if (peak->working_set_bytes > 0)
            pw_buf_printf(out, "  in %s", pw_text_bytes(bytes, sizeof bytes, (double)peak->working_set_bytes));
        pw_buf_putc(out, '\n');
    }
}

void pw_report_env_target_text(const struct pw_report_env_target *target, struct pw_buf *out)
{
    const struct pw_target_info *info = target->info;
    char a[32], b[32];
    if (target->error.status != PW_OK) {
        line(out, "error", target->error.message);
        return;
    }
    if (!info) {
        pw_buf_puts(out, "  the references on this machine's CPU\n");
        return;
    }
    line(out, "device", info->name);
    line(out, "kind", info->kind);
    line(out, "platform", info->platform);
    line(out, "vendor", info->vendor);
    line(out, "driver", info->driver);
    line(out, "runtime", info->runtime);
    pw_buf_printf(out, LABEL, "languages");
    for (int i = 0; i < PW_TARGET_LANGUAGES && info->languages[i][0]; i++) {
        pw_buf_puts(out, i > 0 ? ", " : "");
        pw_text_display(out, info->languages[i], strlen(info->languages[i]), 0, false);
    }
    pw_buf_putc(out, '\n');
    line(out, "library", target->library ? target->library : "none");
    pw_buf_printf(out, LABEL "%u, preferred vectors of %u floats, work-groups in multiples of %u up to %llu\n",
                  "compute units", info->compute_units, info->vector_width, info->work_group_multiple,
                  (unsigned long long)info->max_work_group);
    pw_buf_printf(out, LABEL "%s local, %s global%s\n", "memory",
                  info->local_mem_bytes ? pw_text_bytes(a, sizeof a, (double)info->local_mem_bytes) : "unknown",
                  info->global_mem_bytes ? pw_text_bytes(b, sizeof b, (double)info->global_mem_bytes) : "unknown",
                  info->shares_host_memory ? ", shared with the host" : "");
    pw_buf_printf(out, LABEL "float64 %s, float16 arithmetic %s\n", "types", info->has_fp64 ? "yes" : "no",
                  info->has_fp16 ? "yes" : "no");
    accuracy_text(&info->accuracy, out);
    pw_buf_printf(out, LABEL "%d processes at most\n", "workers", target->workers);
    peaks_text(target, out);
}

void pw_report_env_text(const struct pw_report_env *report, struct pw_buf *out)
{
    pw_buf_printf(out, "portwright %s\n\n", report->version);
    machine_text(report, out);
    pw_buf_puts(out, "\nisolation of workers\n");
    pw_report_env_isolation_text(&report->isolation, out);
    devices_text(report, out);
    for (size_t i = 0; i < report->target_count; i++) {
        const char *spec = report->targets[i].spec;

        pw_buf_puts(out, "\ntarget ");
        pw_text_display(out, spec, strlen(spec), 0, false);
        pw_buf_putc(out, '\n');
        pw_report_env_target_text(&report->targets[i], out);
    }
}

/* ---- JSON ---- */

static json_t *known_text(const char *text)
{
    return text && text[0] ? pw_report_json_text(text) : json_null();
}

static json_t *known_bytes(int64_t bytes)
{
    return bytes > 0 ? json_integer(bytes) : json_null();
}

static json_t *machine_json(const struct pw_report_env *report)
{
    const struct pw_machine *m = &report->machine;
    return json_pack("{s:o, s:i, s:o, s:b, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "cpu", known_text(m->cpu), "cores",
                     m->cores, "architecture", known_text(m->architecture), "virtual", m->hypervisor[0] != '\0',
                     "l1_bytes", known_bytes(m->l1_bytes), "l2_bytes", known_bytes(m->l2_bytes), "l3_bytes",
                     known_bytes(m->l3_bytes), "governor", known_text(m->governor), "memory_bytes",
                     known_bytes(m->memory_bytes), "system", known_text(m->system), "distribution",
                     known_text(m->distribution), "openblas", known_text(report->openblas));
}

static json_t *isolation_json(const struct pw_report_env_isolation *i)
{
    static const char *const users[] = {"same", "nobody", "apart"};
    json_t *refuses = json_array(), *lacks = json_array();

    for (int v = 1; pw_sandbox_landlock_refuses(v); v++)
        json_array_append_new(v <= i->landlock ? refuses : lacks, json_string(pw_sandbox_landlock_refuses(v)));
    return json_pack("{s:i, s:o, s:o, s:b, s:s, s:s, s:o}", "landlock", i->landlock, "landlock_refuses", refuses,
                     "landlock_lacks", lacks, "seccomp", i->seccomp, "users", users[i->users], "foreign_kernels",
                     i->confines ? "confined" : "refused", "missing", known_text(i->missing));
}

static json_t *devices_json(const struct pw_report_env *report)
{
    json_t *array = json_array();
    for (const char *at = report->devices; *at;) {
        size_t size = strcspn(at, "\n"), spec = strcspn(at, " \n");
        char *name = pw_strndup(at, spec < size ? spec : size);
        char *text = pw_strndup(at + (spec < size ? spec + 1 : size), spec < size ? size - spec - 1 : 0);
        if (name && text)
            json_array_append_new(array, json_pack("{s:o, s:o}", "spec", pw_report_json_text(name), "description",
                                                   pw_report_json_text(text)));
        pw_free(name);
        pw_free(text);
        at += size + (at[size] == '\n');
    }
    return array;
}

static json_t *peaks_json(const struct pw_report_env_target *target)
{
    json_t *array = json_array();
    for (size_t i = 0; i < target->peaks.count; i++) {
        const struct pw_peak *peak = &target->peaks.items[i];
        json_array_append_new(array,
                              json_pack("{s:s, s:s, s:o, s:s, s:o, s:o, s:o, s:i}", "kind", pw_peak_name(peak->kind),
                                        "level", peak->level, "working_set_bytes", known_bytes(peak->working_set_bytes),
                                        "unit", peak->kind == PW_PEAK_FMA ? "FLOP/s" : "B/s", "median",
                                        pw_report_json_real(peak->median), "low", pw_report_json_real(peak->low),
                                        "high", pw_report_json_real(peak->high), "samples", peak->samples));
    }
    return array;
}

static json_t *accuracy_json(const struct pw_target_accuracy *accuracy)
{
    json_t *ulp = json_object();
    for (size_t i = 0; i < FUNCTION_COUNT; i++) {
        double value = ulp_of(accuracy, i);
        json_object_set_new(ulp, functions[i].name, value < 0 ? json_null() : json_real(value));
    }
    return json_pack("{s:o, s:b, s:b}", "ulp", ulp, "denormals", accuracy->denormals, "fma_fused", accuracy->fma_fused);
}

static json_t *info_json(const struct pw_target_info *info)
{
    json_t *languages = json_array();
    for (int i = 0; i < PW_TARGET_LANGUAGES && info->languages[i][0]; i++)
        json_array_append_new(languages, pw_report_json_text(info->languages[i]));
    json_t *out =
        json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "name", pw_report_json_text(info->name), "kind",
                  pw_report_json_text(info->kind), "platform", known_text(info->platform), "vendor",
                  known_text(info->vendor), "driver", known_text(info->driver), "runtime", known_text(info->runtime),
                  "languages", languages, "accuracy", accuracy_json(&info->accuracy));
    json_t *numbers = json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:b, s:b, s:b, s:b}", "compute_units",
                                (json_int_t)info->compute_units, "vector_width", (json_int_t)info->vector_width,
                                "work_group_multiple", (json_int_t)info->work_group_multiple, "max_work_group",
                                (json_int_t)info->max_work_group, "local_mem_bytes", (json_int_t)info->local_mem_bytes,
                                "global_mem_bytes", (json_int_t)info->global_mem_bytes, "max_alloc_bytes",
                                (json_int_t)info->max_alloc_bytes, "alignment_bytes", (json_int_t)info->alignment_bytes,
                                "has_fp64", info->has_fp64, "has_fp16", info->has_fp16, "is_cpu", info->is_cpu,
                                "shares_host_memory", info->shares_host_memory);
    if (!out || !numbers || json_object_update(out, numbers) != 0) {
        json_decref(out);
        out = NULL;
    }
    json_decref(numbers);
    return out;
}

static json_t *target_json(const struct pw_report_env_target *target)
{
    bool opened = target->error.status == PW_OK;
    return json_pack("{s:o, s:b, s:o, s:o, s:o, s:i, s:o, s:o}", "spec", pw_report_json_text(target->spec), "usable",
                     opened, "error", opened ? json_null() : pw_report_json_text(target->error.message), "device",
                     target->info ? info_json(target->info) : json_null(), "library", known_text(target->library),
                     "workers", target->workers, "peaks", peaks_json(target), "peaks_error",
                     known_text(target->peaks_error.message));
}

pw_status pw_report_env_json(const struct pw_report_env *report, struct pw_buf *out, struct pw_error *err)
{
    json_t *targets = json_array();
    for (size_t i = 0; i < report->target_count; i++)
        json_array_append_new(targets, target_json(&report->targets[i]));
    json_t *root =
        json_pack("{s:i, s:s, s:s, s:o, s:o, s:o, s:o, s:o}", "schema", 1, "report", "env", "version", report->version,
                  "machine", machine_json(report), "isolation", isolation_json(&report->isolation), "opencl_devices",
                  devices_json(report), "opencl_error", known_text(report->devices_error.message), "targets", targets);
    char *text = root ? json_dumps(root, JSON_INDENT(2)) : NULL;
    json_decref(root);
    if (!text)
        return pw_error_memory(err, 4096);
    pw_buf_puts(out, text);
    pw_buf_putc(out, '\n');
    free(text); /* jansson's own allocation */
    return PW_OK;
}
