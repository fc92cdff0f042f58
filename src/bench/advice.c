/* The rules. Each looks at its own facts and says nothing when one of them is unknown. */
#include "bench/advice.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"
#include "base/text.h"

#define FAR 0.5     /* share of the roof below which a kernel is far from it */
#define NEAR 0.8    /* and from which there is little to gain in it */
#define UNEVEN 0.85 /* share of the compute units' time that is used */
#define WIDE 0.1    /* interval of the median, relative */

struct texts { /* numbers with units, for the sentences */
    char a[32], b[32], c[32], d[32];
};

static const char *duration(char dst[32], double ns)
{
    return pw_text_duration(dst, 32, ns * 1e-9);
}

static bool known(double x)
{
    return isfinite(x) && x > 0;
}

/* What is left of the time when an empty launch is taken off: what a better kernel could win of. */
static double work_ns(const struct pw_advice_facts *f)
{
    return known(f->launch_ns) ? fmax(f->latency_ns - f->launch_ns, 0) : f->latency_ns;
}

/* Is the work, launch aside, slower than that share of the roof? Unknown is no. */
static bool below_roof(const struct pw_advice_facts *f, double share)
{
    return f->roof.bound != PW_BOUND_LAUNCH && f->roof.roof_ns < share * work_ns(f);
}

static bool says(struct pw_advice *out, const char *what)
{
    snprintf(out->what, sizeof out->what, "%s", what);
    return true;
}

static bool no_kernel(const struct pw_advice_facts *f, struct pw_advice *out)
{
    if (f->coverage != PW_COVERAGE_HOST && f->coverage != PW_COVERAGE_MISSING)
        return false;
    snprintf(out->figures, sizeof out->figures, "%s%s%s", pw_coverage_name(f->coverage),
             f->coverage_reason && f->coverage_reason[0] ? ": " : "", f->coverage_reason ? f->coverage_reason : "");
    return says(out, "write a kernel or name the call in host_allowed: nothing of it runs on the target");
}

static bool launch_bound(const struct pw_advice_facts *f, struct pw_advice *out)
{
    struct texts t;
    double overhead = f->launch_ns;

    if (!known(overhead) || !known(f->latency_ns) || overhead < FAR * f->latency_ns)
        return false;
    snprintf(out->figures, sizeof out->figures, "an empty launch takes %s, the call %s, with %d launch%s",
             duration(t.a, overhead), duration(t.b, f->latency_ns), f->launches, f->launches == 1 ? "" : "es");
    return says(out, "fuse it with a neighbour, or enqueue the graph and wait once: a faster kernel gains nothing");
}

static bool many_launches(const struct pw_advice_facts *f, struct pw_advice *out)
{
    struct texts t;

    if (f->launches < 3 || f->roof.bound == PW_BOUND_LAUNCH || !known(f->launch_ns) || !known(f->latency_ns) ||
        f->launches * f->launch_ns < 0.3 * f->latency_ns)
        return false;
    snprintf(out->figures, sizeof out->figures, "%d launches, %s for an empty one, %s in all", f->launches,
             duration(t.a, f->launch_ns), duration(t.b, f->latency_ns));
    return says(out, "do it in fewer launches");
}

static bool too_few_groups(const struct pw_advice_facts *f, struct pw_advice *out)
{
    if (!known(f->work_groups) || f->compute_units == 0 || f->work_groups >= f->compute_units || !below_roof(f, NEAR))
        return false;
    snprintf(out->figures, sizeof out->figures, "%.0f work-group%s for %u compute units", f->work_groups,
             f->work_groups == 1 ? "" : "s", f->compute_units);
    return says(out, "make smaller tiles or split the reduction: compute units have nothing to do");
}

static bool uneven_groups(const struct pw_advice_facts *f, struct pw_advice *out)
{
    double rounds, used;

    if (!known(f->work_groups) || f->compute_units == 0 || f->work_groups < f->compute_units || !below_roof(f, NEAR))
        return false;
    rounds = ceil(f->work_groups / f->compute_units);
    used = f->work_groups / (rounds * f->compute_units);
    if (used >= UNEVEN)
        return false;
    snprintf(out->figures, sizeof out->figures,
             "%.0f work-groups on %u compute units: the last of %.0f rounds is short, %.0f %% of the time is used",
             f->work_groups, f->compute_units, rounds, 100 * used);
    return says(out, "choose tiles whose number divides by the compute units, or many more of them");
}

static bool cpu_groups(const struct pw_advice_facts *f, struct pw_advice *out)
{
    if (!f->is_cpu || f->group_items <= 1 || !below_roof(f, FAR))
        return false;
    snprintf(out->figures, sizeof out->figures, "work-groups of %.0f items at %.0f %% of the roof", f->group_items,
             100 * f->roof.share);
    return says(out, "on a CPU let one work-item do a whole tile, with work-group size 1, vectors and no barrier");
}

static bool odd_groups(const struct pw_advice_facts *f, struct pw_advice *out)
{
    double multiple = f->work_group_multiple, lanes;

    if (f->is_cpu || !known(f->group_items) || multiple <= 1 || fmod(f->group_items, multiple) == 0)
        return false;
    lanes = ceil(f->group_items / multiple) * multiple;
    snprintf(out->figures, sizeof out->figures,
             "%.0f items a group, the device works on multiples of %.0f: %.0f %% idle", f->group_items, multiple,
             100 * (1 - f->group_items / lanes));
    return says(out, "make the work-group a multiple of what the device prefers");
}

/* The number of a -DNAME=number whose name is one of a vector width's. */
static int vector_option(const char *options, char name[16])
{
    static const char *const names[] = {"-DVEC=", "-DVW=", "-DVECTOR=", "-DWIDTH="};

    for (size_t i = 0; options && i < PW_COUNT_OF(names); i++) {
        const char *at = strstr(options, names[i]);

        if (at) {
            snprintf(name, 16, "%.*s", (int)strlen(names[i]) - 3, names[i] + 2);
            return (int)strtol(at + strlen(names[i]), NULL, 10);
        }
    }
    return 0;
}

static bool narrow_vectors(const struct pw_advice_facts *f, struct pw_advice *out)
{
    char name[16];
    int width = vector_option(f->options, name);

    if (width <= 0 || (uint32_t)width >= f->vector_width || !below_roof(f, NEAR))
        return false;
    snprintf(out->figures, sizeof out->figures, "%s=%d, the device prefers %u floats, %.0f %% of the roof", name, width,
             f->vector_width, 100 * f->roof.share);
    return says(out, "widen the vectors");
}

/* A line of the build log that speaks of registers that did not suffice. */
static bool spills(const struct pw_advice_facts *f, struct pw_advice *out)
{
    static const char *const words[] = {"spill", "scratch", "private memory", "stack frame", "register pressure"};

    for (const char *line = f->log; line && *line;) {
        size_t size = strcspn(line, "\n");
        char lower[200], shown[200];
        size_t kept = size < sizeof lower - 1 ? size : sizeof lower - 1;

        for (size_t i = 0; i < kept; i++)
            lower[i] = (char)tolower((unsigned char)line[i]);
        lower[kept] = '\0';
        for (size_t i = 0; i < PW_COUNT_OF(words); i++)
            /* "0 bytes spill" is good news. */
            if (strstr(lower, words[i]) && strpbrk(lower, "123456789")) {
                snprintf(shown, sizeof shown, "%.*s", (int)kept, line);
                snprintf(out->figures, sizeof out->figures, "build log: ");
                pw_text_show(out->figures + strlen(out->figures), sizeof out->figures - strlen(out->figures), shown,
                             180);
                return says(out, "use fewer registers: smaller register tiles or less unrolling");
            }
        line += size + (line[size] == '\n');
    }
    return false;
}

static bool repacks(const struct pw_advice_facts *f, struct pw_advice *out)
{
    if (f->pack_launches < 1)
        return false;
    snprintf(out->figures, sizeof out->figures, "%d of %d launches pack an input that is no constant", f->pack_launches,
             f->launches);
    return says(out, "a kernel that reads the input as it is may win here: packing is paid on every run");
}

static bool extra_bytes(const struct pw_advice_facts *f, struct pw_advice *out)
{
    struct texts t;
    double least = f->read_bytes + f->write_bytes, moved = least + 2 * f->scratch_bytes;

    if (!known(f->scratch_bytes) || !known(least) || moved < 1.5 * least)
        return false;
    snprintf(out->figures, sizeof out->figures, "%s of scratch is written and read: %s moved, %s at least",
             pw_text_bytes(t.a, 32, f->scratch_bytes), pw_text_bytes(t.b, 32, moved), pw_text_bytes(t.c, 32, least));
    return says(out, "keep intermediate results in registers or local memory");
}

static bool far_from_memory(const struct pw_advice_facts *f, struct pw_advice *out)
{
    struct texts t;
    double bytes = f->read_bytes + f->write_bytes;

    if (f->roof.bound != PW_BOUND_MEMORY || !below_roof(f, FAR) || !known(bytes))
        return false;
    snprintf(out->figures, sizeof out->figures, "%s of %s that %s gives at this mix, %.0f %% of the roof",
             pw_text_si(t.a, 32, bytes / (f->latency_ns * 1e-9), "B/s"),
             pw_text_si(t.b, 32, bytes / (f->roof.roof_ns * 1e-9), "B/s"), f->roof.level, 100 * f->roof.share);
    return says(out, "read neighbouring elements with wide loads, each byte once; look for strided or scalar access");
}

static bool far_from_compute(const struct pw_advice_facts *f, struct pw_advice *out)
{
    struct texts t;

    if (f->roof.bound != PW_BOUND_COMPUTE || !below_roof(f, FAR) || !known(f->flops))
        return false;
    snprintf(out->figures, sizeof out->figures, "%s of %s, %.0f %% of the roof",
             pw_text_si(t.a, 32, f->flops / (f->latency_ns * 1e-9), "FLOP/s"),
             pw_text_si(t.b, 32, f->flops / (f->roof.roof_ns * 1e-9), "FLOP/s"), 100 * f->roof.share);
    return says(out, "keep a register tile of independent multiply-adds busy; block for the caches; tune its tiles");
}

static bool behind_reference(const struct pw_advice_facts *f, struct pw_advice *out)
{
    struct texts t;

    if (!known(f->reference_ns) || !known(f->latency_ns) || f->roof.bound == PW_BOUND_LAUNCH ||
        work_ns(f) < 1.1 * f->reference_ns)
        return false;
    snprintf(out->figures, sizeof out->figures, "%s, the reference (%s) %s: %.2f times its time%s",
             duration(t.a, f->latency_ns), f->reference_name ? f->reference_name : "?", duration(t.b, f->reference_ns),
             f->latency_ns / f->reference_ns, f->library_exists ? "; a library serves it too" : "");
    return says(out, f->library_exists ? "try the library, or tune the kernel: the same machine does it faster"
                                       : "tune the kernel: the same machine does it faster");
}

static bool at_the_roof(const struct pw_advice_facts *f, struct pw_advice *out)
{
    struct texts t;

    if (!(f->roof.share >= NEAR) || f->roof.above || f->roof.bound == PW_BOUND_LAUNCH)
        return false;
    snprintf(out->figures, sizeof out->figures, "%.0f %% of the roof (%s), %s", 100 * f->roof.share,
             pw_bound_name(f->roof.bound), duration(t.a, f->latency_ns));
    return says(out, f->roof.bound == PW_BOUND_MEMORY
                         ? "leave the kernel: only fewer bytes help (fusion, or a narrower dtype where allowed)"
                         : "leave the kernel: only fewer operations or a narrower dtype help");
}

static bool noisy(const struct pw_advice_facts *f, struct pw_advice *out)
{
    struct texts t;

    if (!known(f->latency_ns) || !known(f->low_ns) || !known(f->high_ns) ||
        f->high_ns - f->low_ns < WIDE * f->latency_ns)
        return false;
    snprintf(out->figures, sizeof out->figures, "median %s in [%s, %s]", duration(t.a, f->latency_ns),
             duration(t.b, f->low_ns), duration(t.c, f->high_ns));
    return says(out, "measure longer (--time) on a quiet machine before trusting small differences");
}

static const struct {
    const char *name;
    bool (*apply)(const struct pw_advice_facts *facts, struct pw_advice *out);
} rules[] = {
    {"no-kernel", no_kernel},
    {"launch-bound", launch_bound},
    {"behind-reference", behind_reference},
    {"spills", spills},
    {"too-few-groups", too_few_groups},
    {"uneven-groups", uneven_groups},
    {"cpu-groups", cpu_groups},
    {"odd-groups", odd_groups},
    {"narrow-vectors", narrow_vectors},
    {"many-launches", many_launches},
    {"repacks", repacks},
    {"extra-bytes", extra_bytes},
    {"far-from-memory-roof", far_from_memory},
    {"far-from-compute-roof", far_from_compute},
    {"at-the-roof", at_the_roof},
    {"noisy", noisy},
};

size_t pw_advise(const struct pw_advice_facts *facts, struct pw_advice out[PW_ADVICE_MAX])
{
    size_t count = 0;

    for (size_t i = 0; i < PW_COUNT_OF(rules) && count < PW_ADVICE_MAX; i++) {
        out[count] = (struct pw_advice){.rule = rules[i].name};
        count += rules[i].apply(facts, &out[count]);
    }
    return count;
}

static double items_of(const uint64_t size[3], int dims)
{
    double product = 1;

    for (int d = 0; d < dims; d++)
        product *= (double)size[d];
    return product;
}

void pw_advice_plan(struct pw_advice_facts *facts, const struct pw_plan *plan, const bool *constant)
{
    double most = -1;

    for (size_t i = 0; i < plan->buffer_count; i++)
        if (plan->buffers[i].kind == PW_BUFFER_SCRATCH)
            facts->scratch_bytes += (double)plan->buffers[i].size_bytes;
    for (size_t i = 0; i < plan->launch_count; i++) {
        const struct pw_plan_launch *launch = &plan->launches[i];
        double items = items_of(launch->global, launch->work_dim);
        bool kept = launch->pack;

        for (size_t a = 0; a < launch->arg_count && launch->pack; a++) {
            const struct pw_plan_buffer *b =
                launch->args[a].kind == PW_ARG_BUFFER ? &plan->buffers[launch->args[a].buffer] : NULL;

            if (b && b->kind == PW_BUFFER_PACKED)
                kept = kept && constant && constant[b->index];
        }
        if (kept || items == 0)
            continue;
        facts->launches++;
        facts->pack_launches += launch->pack;
        if (launch->pack || items <= most)
            continue;
        most = items;
        facts->group_items = launch->local[0] ? items_of(launch->local, launch->work_dim) : 0;
        facts->work_groups = facts->group_items > 0 ? items / facts->group_items : NAN;
        facts->options = plan->programs[launch->program].options;
    }
}
