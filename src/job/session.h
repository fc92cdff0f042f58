/*
 * A session: one model on one target, and the threads that do its work. The workbench and --check
 * are both clients of this; neither does the work itself.
 *
 * pw_session_open reads model and protocol (fast, on the caller's thread). Everything slow (opening
 * the device, finding implementations, verifying, writing the store) happens on the session's own
 * threads and comes back as events: immutable, heap-allocated, freed by the receiver with
 * pw_event_free. Events are fetched with pw_session_next; pw_session_fd becomes readable when one
 * waits: a job with very many results waits for a client that does not fetch them. Submitting,
 * cancelling and fetching are safe from the client's one thread.
 */
#ifndef PW_JOB_SESSION_H
#define PW_JOB_SESSION_H

#include "base/hash.h"
#include "bench/bench.h"
#include "bench/environment.h"
#include "graph/inventory.h"
#include "op/impl.h"
#include "run/inputs.h"
#include "target/device.h"
#include "verify/endtoend.h"
#include "verify/verify.h"

struct pw_session;
struct pw_session_record;
struct pw_triage_entry;

/* What runs of the whole graph are fed with; what is not given is drawn. */
struct pw_session_inputs {
    const char *folder; /* of a data set, or NULL */
    const struct pw_input_file *files;
    size_t file_count;
};

struct pw_session_options {
    const char *model_path;
    const char *target;          /* NULL = "opencl" */
    const char *project;         /* NULL = "portwright.yaml" when it exists */
    const char *db;              /* NULL = ".portwright/portwright.db"; "" = no store */
    const char *const *ops_dirs; /* overlays, foreign */
    size_t ops_dir_count;
    const struct pw_binding *bindings; /* from --dim; override the protocol's */
    size_t binding_count;
    const struct pw_session_inputs *inputs; /* read, drawn and checked by pw_session_open; NULL: each run draws */
    uint64_t seed;
    int jobs;
    bool triage;                    /* follow the triage file (PW_EVENT_TRIAGE) and take decisions */
    bool asked;                     /* questions are answered, files saved, also where nothing is recorded */
    struct pw_verify_effort effort; /* of verify jobs; texts must outlive the session */
};

typedef enum {
    PW_EVENT_DEVICE,   /* the device opened (or failed: error set) */
    PW_EVENT_COVERAGE, /* implementations of every signature found */
    PW_EVENT_DOING,    /* text: what a job does while nothing is counted, before STARTED or behind the last node;
                          whole_graph, mode and run_kind as of STARTED */
    PW_EVENT_STARTED,  /* a job began; total cases */
    PW_EVENT_CASE,
    PW_EVENT_SIGNATURE, /* a signature's summary */
    PW_EVENT_BENCH,     /* a signature's benchmark: its first figure, or the last word (figure_final) */
    PW_EVENT_FINISHED,  /* job over: totals, or error */
    PW_EVENT_HISTORY,   /* latest stored rows were read; measured sensitivities are in the inventory from here on */
    PW_EVENT_SAVE,      /* within the session: a file to write */
    PW_EVENT_ANSWER,    /* to pw_session_ask; failed: error holds why there is none */
    PW_EVENT_TRIAGE,    /* all decisions of the triage file, as they are now */
    PW_EVENT_LINES,     /* text: a file of pw_session_line as it is now; about: not 0: after a change of ours */
    PW_EVENT_MESSAGE,   /* something the person should know (store unavailable…) */
    PW_EVENT_PEAKS, /* the device's peaks were measured, or failed: error holds why; PW_ASK_ENVIRONMENT tells them */
    PW_EVENT_NODE,  /* of a run of the whole graph: a node or pattern was compared */
    PW_EVENT_PAST,  /* nodes of the newest recorded run of the whole graph, some at a time; before the answer to
                       PW_ASK_NODES */
    PW_EVENT_LAYER, /* a layer's sensitivity was measured */
    PW_EVENT_OUTPUT /* an output was compared */
} pw_event_kind;

/* What can be asked. */
typedef enum {
    PW_ASK_HISTORY,     /* rows: of a signature on the target, oldest first, benchmarks too; marks; builds: what
                           compilers said of its selected kernel's source, once COVERAGE came */
    PW_ASK_GRAPH,       /* graph_rows: of the graph on the target, oldest first; marks */
    PW_ASK_ENVIRONMENT, /* text, one field a line: '*' (timings depend on it) or ' ', name, tab, value; '=' or '!' and
                           what the lock says; '@' and a head, then '-' and a line of that part: target with peaks,
                           platforms, isolation */
    PW_ASK_BASELINES,   /* text: those of the graph on this kind of target, then what the pending ones change; about:
                           which pending ones these are */
    PW_ASK_APPROVE,     /* gives what is pending a number, then answers as PW_ASK_BASELINES. Asked about: the answer's
                           that the person was shown, so that nothing else is approved; 0: whatever is pending */
    PW_ASK_COMPARE,     /* of two runs, "3 5" in the question's text: rows of the first, other_rows of the second, both
                           by operator and id */
    PW_ASK_NODES,       /* PW_EVENT_PAST events come before the answer; none: no run's nodes are recorded */
    PW_ASK_COUNT
} pw_ask;

/* An approved baseline, for the time axis of a trend. */
struct pw_session_mark {
    int number;
    bool throughput;            /* else precision */
    int64_t recorded_ms;        /* wall time */
    const char *environment_id; /* throughput; else "" */
};

/* A node of a signature over the newest runs of the whole graph, with the dims of this session, that the store keeps
 * nodes of. */
#define PW_SESSION_NODE_RUNS 20
#define PW_SESSION_TREND_NODES 100 /* of a signature */
struct pw_session_node_trend {
    const struct pw_node *node;
    pw_node_standing standing; /* in the newest run that has it */
    double tolerance;          /* of that; NaN unknown */
    /* By run, oldest first; NaN and 0: unknown, and the time of another environment than the newest run's. */
    double isolated[PW_SESSION_NODE_RUNS];
    int64_t time_ns[PW_SESSION_NODE_RUNS];
};

/* A node or pattern of a recorded run. */
struct pw_session_past_node {
    const struct pw_node *node; /* NULL: a pattern */
    int pattern;
    pw_node_standing standing;
    bool on_target, nonfinite_origin;
    int64_t time_ns;                        /* 0 unknown */
    double isolated, tolerance, propagated; /* NaN unknown */
    const char *implementation, *text;      /* text: why it does not hold, else the note; "" none */
};
/* That run. The first event has its outputs, the last one its totals (in endtoend); done of total nodes came with this
 * event and those before it. */
struct pw_session_past {
    int64_t run, begin_ms;
    const char *bindings;
    bool first, last;
    const struct pw_session_past_node *nodes;
    size_t count;
    const struct pw_store_output_row *outputs; /* store/endtoend.h */
    size_t output_count;
};

/* Times of a baseline's kernel and of today's, run in turns: slice i of one belongs to slice i of the other. */
struct pw_session_pair {
    size_t signature; /* shown */
    const double *before_ns, *now_ns;
    size_t count;
    const char *why; /* why they were not run; NULL: they were */
};

struct pw_event {
    pw_event_kind kind;
    struct pw_arena arena; /* owns what the fields point to */
    int job;               /* number of the job, 0 none */
    size_t done, total;
    struct pw_case_result result;       /* CASE */
    struct pw_signature_result summary; /* SIGNATURE */
    struct pw_verify_totals totals;     /* FINISHED */
    struct pw_bench_figure figure;      /* BENCH; without raw samples */
    bool figure_final;
    bool cold;                     /* BENCH: caches were emptied */
    double launch_ns;              /* BENCH: an empty launch; NaN unknown */
    struct pw_bench_report *bench; /* FINISHED of a benchmark: all of it, owned; also when it failed on the way */
    /* CASE, BENCH: what the compiler said when the kernel was built for it ("" when nothing, or built before), and the
     * hash of the source that it is about (without the prelude); built false: no kernel's source is behind it. */
    const char *build_log;
    struct pw_hash128 build_source;
    bool built;
    const char *run_kind; /* DOING, STARTED: "bench"; NULL: "check". Static */
    bool failed;          /* DEVICE, FINISHED, MESSAGE: error holds why */
    struct pw_error error;
    pw_ask ask;   /* ANSWER */
    size_t about; /* ANSWER: signature, or of PW_ASK_BASELINES. SAVE: not 0: quiet. TRIAGE: not 0: follows a decision */
    const char *text, *by; /* ANSWER in text; by: of the question. SAVE: contents, path. DOING */
    size_t text_size;      /* SAVE */
    const char *name;      /* LINES, within the session: which line text takes the place of; NULL: only to look */
    const struct pw_store_signature_row *rows; /* HISTORY, ANSWER */
    size_t row_count;
    const struct pw_store_signature_row *other_rows; /* ANSWER to PW_ASK_COMPARE */
    size_t other_row_count;
    long long compared[2];                       /* its runs */
    const struct pw_store_graph_row *graph_rows; /* ANSWER; store/history.h */
    size_t graph_row_count;
    const struct pw_session_mark *marks; /* ANSWER: by number */
    size_t mark_count;
    const struct pw_session_node_trend *node_trends; /* ANSWER to PW_ASK_HISTORY: in the signature's order */
    size_t node_trend_count;
    int64_t node_runs[PW_SESSION_NODE_RUNS]; /* their runs */
    size_t node_run_count;
    const struct pw_store_build *builds; /* ANSWER to PW_ASK_HISTORY; store/builds.h */
    size_t build_count;
    const struct pw_store_sensitivity *sensitivities; /* HISTORY, LAYER: pw_session_next applies them */
    size_t sensitivity_count;
    const struct pw_triage_entry *triage; /* TRIAGE; baseline/triage.h */
    size_t triage_count;
    bool whole_graph;                   /* DOING, STARTED, FINISHED: of pw_session_run; nodes or layers are counted */
    pw_endtoend_mode mode;              /* of that run */
    struct pw_endtoend_node node;       /* NODE */
    struct pw_sweep_layer layer;        /* LAYER */
    struct pw_endtoend_output output;   /* OUTPUT */
    struct pw_endtoend_totals endtoend; /* FINISHED of a whole graph */
    struct pw_session_past past;        /* PAST */
    struct pw_session_record *record;   /* within the session: nodes for the store, with NODE or FINISHED; owned */
    struct pw_event *reply; /* within the session: made with a question or a decision, so that short memory leaves
                               nobody waiting for the answer; owned */
    const struct pw_session_pair *pairs; /* FINISHED of a confirmation */
    size_t pair_count;
};

pw_status pw_session_open(const struct pw_session_options *options, struct pw_session **out, struct pw_error *err);
/* The graph of another session on another target, without reading it again: model, dims, protocol, inputs and the
 * folders of kernels are the other's; options says the rest. Either may be closed first. */
pw_status pw_session_open_beside(const struct pw_session *other, const struct pw_session_options *options,
                                 struct pw_session **out, struct pw_error *err);
void pw_session_close(struct pw_session *session); /* cancels, joins */

/* Valid from open on; read-only. */
const struct pw_model *pw_session_model(const struct pw_session *session);
const struct pw_inventory *pw_session_inventory(const struct pw_session *session);
const struct pw_inventory *pw_session_concrete(const struct pw_session *session); /* every dim a number: what runs */
const struct pw_protocol *pw_session_protocol(const struct pw_session *session);
const char *pw_session_target(const struct pw_session *session);
const char *pw_session_graph_id(const struct pw_session *session); /* structure hash */
/* Number in the store of the run that began last; 0: nothing is recorded. Read it when FINISHED came. */
int64_t pw_session_recorded_run(struct pw_session *session);
const char *pw_session_db(const struct pw_session *session);       /* path of the store; "" none */
const char *pw_session_bindings(const struct pw_session *session); /* "batch=1,sequence=16": given and assumed */
const char *pw_session_given(const struct pw_session *session);    /* of these, those that were given */
/* The folder of built-in kernels, then those of the options. */
const struct pw_ops_dir *pw_session_ops_dirs(const struct pw_session *session, size_t *count);
/* Valid after PW_EVENT_DEVICE / PW_EVENT_COVERAGE; NULL before. */
const struct pw_device *pw_session_device(const struct pw_session *session);
const struct pw_impl_list *pw_session_implementations(const struct pw_session *session, size_t signature);

/* The environment as it is now, with the hashes of the selected kernels; from the session's threads, or from the
 * client while no job runs. */
pw_status pw_session_environment(const struct pw_session *session, struct pw_environment *out, struct pw_error *err);

int pw_session_fd(const struct pw_session *session);
struct pw_event *pw_session_next(struct pw_session *session); /* NULL: none waiting; never blocks */
void pw_event_free(struct pw_event *event);

/* Queues a verify of signatures (NULL = all). Needs concrete dims: unbound symbols get the
 * assumptions' values (said in a MESSAGE). Returns the job's number. */
pw_status pw_session_verify(struct pw_session *session, const size_t *signatures, size_t count, bool timing, int *job,
                            struct pw_error *err);
/* Queues one case by its id. */
pw_status pw_session_verify_case(struct pw_session *session, const char *case_id, struct pw_error *err);
/* Queues a benchmark of signatures (NULL = all). */
struct pw_session_bench {
    bool cold;
    int64_t time_ns;      /* budget of measuring; 0: until intervals are narrow */
    int threads;          /* of the reference; 0 = all cores */
    bool no_peaks;        /* without the roofline */
    const char *lock;     /* timing lock; NULL = the machine's */
    int64_t lock_wait_ns; /* 0 = a minute */
};
pw_status pw_session_bench(struct pw_session *session, const size_t *signatures, size_t count,
                           const struct pw_session_bench *options, int *job, struct pw_error *err);
/* Queues running kernels of a baseline, as they were kept under kept_root (baseline/kept.h), beside those that serve
 * today; FINISHED has the pairs. Nothing of it is recorded. */
struct pw_session_suspect {
    size_t signature; /* shown */
    char kernel[128]; /* of the baseline: its name, its hash, the folder it was kept in */
    char hash[PW_HASH_TEXT], kept[PW_HASH_TEXT];
};
pw_status pw_session_confirm(struct pw_session *session, const char *kept_root,
                             const struct pw_session_suspect *suspects, size_t count, int64_t time_ns,
                             struct pw_error *err);
/* Queues reading the kernels anew (somebody edited one); coverage is found again. What a kernel's description or
 * source has wrong comes as a MESSAGE, and the former kernels stay. Behind it a verify of signatures, timed too (count
 * 0: none); it ends with FINISHED, failed for the same reason, where the former kernels stayed. */
pw_status pw_session_reload(struct pw_session *session, const size_t *signatures, size_t count, struct pw_error *err);
/* Keeps decisions: saved at once by the store's thread, merged with what somebody else wrote; PW_EVENT_TRIAGE follows.
 * Without entries: looks whether the file has changed. */
pw_status pw_session_triage(struct pw_session *session, const struct pw_triage_entry *entries, size_t count,
                            struct pw_error *err);

struct pw_session_run_options {
    pw_endtoend_mode mode;
    int timed_runs;
    const char *layers;         /* sweep: glob over layers' names; NULL = all */
    const char *capture_folder; /* every node's inputs go there; NULL: nowhere */
    int64_t capture_bytes;      /* at most; 0 = 1 GiB */
};
/* Queues a run of the whole graph on the session's inputs (verify/endtoend.h); texts are copied. */
pw_status pw_session_run(struct pw_session *session, const struct pw_session_run_options *options, int *job,
                         struct pw_error *err);
/* The inputs given at open, complete; NULL: runs draw their own. */
const struct pw_inputs *pw_session_run_inputs(const struct pw_session *session);
/* Queues writing a file (whole or not at all; its folder must be there), so that no client waits for a disk; a MESSAGE
 * says that it is there, or why not. `quiet`: only why not. Contents are copied. */
pw_status pw_session_save(struct pw_session *session, const char *path, const char *text, size_t size, bool quiet,
                          struct pw_error *err);
/* Of a file that has a line a name (saved views) and that several change: queues putting `line` in the place of the one
 * that begins with the name, in any case, and a tab, else at the end; NULL: taking that away. The others stay byte for
 * byte, also those that came in since it was read. name NULL: only looks whether the file has changed. PW_EVENT_LINES
 * follows each change of ours, and another's that was seen. One file a session. */
pw_status pw_session_line(struct pw_session *session, const char *path, const char *name, const char *line,
                          struct pw_error *err);
/* Queues measuring the device's peaks, a few seconds under the timing lock; PW_EVENT_PEAKS follows. */
pw_status pw_session_peaks(struct pw_session *session, struct pw_error *err);
/* Asks; PW_EVENT_ANSWER follows. about: a signature, or what PW_ASK_APPROVE needs. text, by: of PW_ASK_APPROVE why and
 * who, of PW_ASK_COMPARE the runs; else NULL. */
pw_status pw_session_ask(struct pw_session *session, pw_ask ask, size_t about, const char *text, const char *by,
                         struct pw_error *err);
/* The running job and the queue, but for reloads: what did not begin ends with FINISHED, failed. False: there was
 * nothing to cancel. */
bool pw_session_cancel(struct pw_session *session);

#endif
