/* Recording a pending baseline: from runs of its own, or from those of a check. Main thread only. */
#ifndef PW_CLI_BASELINE_RECORD_H
#define PW_CLI_BASELINE_RECORD_H

#include "base/file.h"
#include "baseline/baseline_make.h"
#include "cli/check_run.h"

struct pw_record_request {
    const char *root; /* baselines */
    bool timing, fresh, precision, throughput;
};

/* What one command has recorded already: a second target of the same kind would replace the first one's files. Zeroed;
 * texts are the options'. */
struct pw_record_seen {
    struct pw_buf folders[PW_OPTION_TARGETS];
    const char *targets[PW_OPTION_TARGETS];
    int count;
};
void pw_record_seen_clear(struct pw_record_seen *seen);

/* Runs every target with every binding set and writes what is pending; says where. Returns the exit code. */
int pw_baseline_record(struct pw_options *options, const struct pw_record_request *request);

/* The same from runs that a check has made of one target (one a binding set); paths, one a line, to `said`.
 * PW_ERR_USAGE, and nothing is written, when the command recorded a target of that kind before. */
pw_status pw_baseline_record_runs(struct pw_check_run *const *runs, size_t count,
                                  const struct pw_record_request *request, struct pw_record_seen *seen,
                                  struct pw_buf *said, struct pw_error *err);

/* What a run's results are called in a baseline. *environment is filled and must outlive *source. */
pw_status pw_baseline_source_of(const struct pw_check_run *run, struct pw_environment *environment,
                                struct pw_baseline_source *source, struct pw_error *err);

#endif
