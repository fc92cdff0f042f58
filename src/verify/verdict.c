/* Names of verdicts, standings and distributions, and how cases add up to a standing. */
#include <string.h>

#include "op/impl.h"
#include "verify/verify_internal.h"

bool pw_verdict_failed(pw_verdict verdict)
{
    return verdict > PW_VERDICT_WARN && verdict < PW_VERDICT_UNSUPPORTED;
}

const char *pw_verdict_name(pw_verdict verdict)
{
    static const char *const names[PW_VERDICT_COUNT] = {"PASS",    "WARN",  "FAIL",        "CRASH",
                                                        "TIMEOUT", "ERROR", "UNSUPPORTED", "SKIPPED"};

    return verdict < PW_VERDICT_COUNT ? names[verdict] : "?";
}

const char *pw_standing_name(pw_standing standing)
{
    static const char *const names[] = {"held", "failed", "unproven", "mistrusted"};

    return standing <= PW_STANDING_MISTRUSTED ? names[standing] : "?";
}

const char *pw_dist_name(pw_dist dist)
{
    static const char *const names[PW_DIST_COUNT] = {"uniform", "normal",  "exact",  "wide",
                                                     "cancel",  "special", "masked", "captured"};

    return dist < PW_DIST_COUNT ? names[dist] : "?";
}

bool pw_dist_parse(const char *text, pw_dist *out)
{
    for (int i = 0; i < PW_DIST_COUNT; i++)
        if (!strcmp(text, pw_dist_name((pw_dist)i))) {
            *out = (pw_dist)i;
            return true;
        }
    return false;
}

const char *pw_coverage_name(pw_coverage coverage)
{
    static const char *const names[PW_COVERAGE_COUNT] = {"library", "kernel", "generated", "host", "missing"};

    return coverage < PW_COVERAGE_COUNT ? names[coverage] : "?";
}

void pw_standing_count(struct pw_standing_tally *tally, const struct pw_case_result *result)
{
    tally->cases++;
    switch (result->verdict) {
    case PW_VERDICT_PASS:
    case PW_VERDICT_WARN:
        tally->held++;
        tally->discriminating += result->discriminates;
        break;
    case PW_VERDICT_FAIL:
    case PW_VERDICT_CRASH:
    case PW_VERDICT_TIMEOUT:
    case PW_VERDICT_ERROR:
        tally->failed++;
        break;
    default:
        tally->no_evidence++;
    }
}

pw_standing pw_standing_of(const struct pw_standing_tally *tally)
{
    if (tally->failed)
        return PW_STANDING_FAILED;
    if (tally->discriminating)
        return PW_STANDING_HELD;
    return tally->held ? PW_STANDING_MISTRUSTED : PW_STANDING_UNPROVEN;
}
