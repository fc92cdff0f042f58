/* What the files of src/job share. */
#ifndef PW_JOB_SESSION_INTERNAL_H
#define PW_JOB_SESSION_INTERNAL_H

#include <pthread.h>
#include <stdatomic.h>

#include "base/file.h"
#include "job/queue.h"
#include "job/session.h"
#include "store/endtoend.h"
#include "store/store.h"

struct pw_job {
    struct pw_job *next;
    int number;
    bool timing;
    bool reload;                        /* read the kernels anew instead */
    int behind;                         /* the reload whose kernels it is about; 0 none */
    atomic_bool cancel;                 /* of this job alone: one that is submitted afterwards runs */
    char *case_id;                      /* owned, or NULL */
    struct pw_session_run_options *run; /* owned, its texts too: a run of the whole graph; NULL: verify */
    size_t *signatures;                 /* shown indices, owned; NULL: all */
    size_t count;
    bool peaks; /* measure what the device can do at most */
    bool bench; /* a benchmark */
    struct pw_session_bench bench_options;
    char *lock;                          /* of a benchmark, owned */
    struct pw_session_suspect *suspects; /* owned: run beside today's kernels; NULL: another kind of job */
    size_t suspect_count;
    char *kept_root; /* owned */
    int64_t confirm_ns;
    struct pw_event *over; /* owned: how it ended, made with the job: who waits for it hears of it when memory is out */
};

/* What the sessions of one graph share: made before any of their threads starts and read-only from then on, but for the
 * sensitivities in the inventory, which are the client thread's. Who computes with a call of it takes a pw_call_own. */
struct pw_session_shared {
    _Atomic unsigned users; /* sessions; the last one to close frees it */
    struct pw_arena arena;
    struct pw_model *model;
    struct pw_protocol *protocol;
    struct pw_inference *inference; /* what is shown: symbols stay */
    struct pw_inventory *inventory;
    struct pw_inference *concrete_inference; /* equal to the above when nothing was assumed */
    struct pw_inventory *concrete;
    size_t *to_concrete;         /* shown signature -> concrete signature */
    struct pw_binding *bindings; /* the user's (or the protocol's), then the assumed */
    size_t binding_count, given_count;
    const char *bindings_text, *given_text;
    char graph_id[PW_HASH_TEXT];
    struct pw_inputs inputs; /* of runs; valid when has_inputs */
    bool has_inputs;
    struct pw_ops_dir *ops_dirs;
    size_t ops_dir_count;
    pthread_mutex_t lock;       /* of the next */
    struct pw_kernels *kernels; /* as the first session that needed them read them; NULL: none did */
};

/* session_shared.c: reads the graph; the caller is its first user. */
pw_status pw_session_shared_read(const struct pw_session_options *options, struct pw_session_shared **out,
                                 struct pw_error *err);
struct pw_session_shared *pw_session_shared_join(struct pw_session_shared *shared);
void pw_session_shared_release(struct pw_session_shared *shared); /* NULL is fine */
/* The kernels of the folders, read once; they stay the shared graph's. On any session's worker. */
pw_status pw_session_shared_kernels(struct pw_session_shared *shared, struct pw_kernels **out, struct pw_error *err);

struct pw_session {
    struct pw_arena arena; /* texts of the options; written before the threads start */
    struct pw_session_shared *shared;
    /* Of `shared`. */
    const struct pw_model *model;
    const struct pw_protocol *protocol;
    struct pw_inventory *inventory;
    const struct pw_inference *concrete_inference;
    const struct pw_inventory *concrete;
    const size_t *to_concrete;
    const char *bindings_text, *graph_id;
    const struct pw_inputs *inputs; /* NULL: runs draw their own */
    const struct pw_ops_dir *ops_dirs;
    size_t ops_dir_count;

    const char *target, *db, *project;
    uint64_t seed;
    int jobs;
    bool triage;
    struct pw_verify_effort effort;

    pthread_t worker, writer;
    bool worker_started, writer_started;
    struct pw_event *opened, *covered; /* the worker's first two events, made before it starts; owned until sent */
    struct pw_queue events;            /* to the client */
    struct pw_queue writes;            /* to the store thread */
    char triage_said[PW_ERROR_MAX];    /* the writer's: why it can't be used, as it was said; "" it can */

    pthread_mutex_t lock; /* the fields below */
    pthread_cond_t submitted;
    struct pw_job *first_job, *last_job, *running;
    int next_job;
    _Atomic bool closing; /* read without the lock by the worker */
    int64_t recorded_run; /* in the store, of the job that began last; 0: none */

    struct pw_peaks peaks; /* under lock: as last measured; count 0: not */
    char *devices;         /* the writer's: what OpenCL lists, once it was asked for; owned */
    struct pw_session_build {
        struct pw_hash128 source;
        uint64_t log;
    } * builds; /* the writer's: hashes of what compilers said and was recorded in this session; owned */
    size_t build_count, build_cap;
    bool lines_known;                   /* the writer's: the file of pw_session_line was looked at, */
    struct pw_file_identity lines_seen; /* and was this one */
    struct pw_store_node_list recorded; /* the writer's: nodes of the run that goes on */
    struct pw_kept_mark *marks;         /* the writer's: heads of numbered baselines that were read; owned */
    size_t mark_count, mark_cap;

    struct pw_kernels *kernels; /* the worker's; read by the client after DEVICE; the shared ones until a reload */
    struct pw_kernels **former; /* replaced by a reload; the client may still look at their texts */
    size_t former_count;
    int unread; /* the worker's: the reload that failed last, and why */
    struct pw_error unread_error;
    struct pw_device *device;
    struct pw_arena impl_arena;
    struct pw_impl_list *impls; /* by shown signature; set before COVERAGE is sent */
};

struct pw_job *pw_job_create(struct pw_error *err); /* NULL: error set */
void pw_job_free(struct pw_job *job);               /* NULL is fine */
/* Sends the end of the job that runs; whoever has it finds nothing running. */
void pw_session_end_job(struct pw_session *session, struct pw_event *over);
void pw_session_submit(struct pw_session *session, struct pw_job *job, int *number);
/* session_graph.c: a run of the whole graph, on the worker; its events on the writer. Here and below `over` is the
 * job's, sent to the client. */
void pw_session_run_graph(struct pw_session *session, const struct pw_job *job, struct pw_event *over);
pw_status pw_session_write_graph(struct pw_session *session, struct pw_store *store, int64_t run,
                                 const struct pw_event *event, struct pw_error *err);
const char *pw_session_run_kind(const struct pw_event *started); /* of the store's run */
void pw_session_send_to_store(struct pw_session *session, struct pw_event *event);
#define PW_SESSION_NO_END "out of memory: that the run is over is not recorded"
/* After each result of a job: waits while very many are to be shown or recorded. On the worker's threads. */
void pw_session_pause(struct pw_session *session, const struct pw_job *job);
/* session_nodes.c: what the store keeps of all nodes of a run. On the worker: a node is added to *record, which goes to
 * the store when it is full, with another in its place; the last one goes with FINISHED. *record NULL: not recorded. */
struct pw_session_record *pw_session_record_create(void);
void pw_session_record_free(struct pw_session_record *record); /* NULL is fine */
void pw_session_record_node(struct pw_session_record **record, struct pw_session *session, const struct pw_job *job,
                            const struct pw_endtoend_node *node);
/* On the writer; record NULL: there is none. At the end of a run that failed what was recorded of it goes. */
pw_status pw_session_record_write(const struct pw_session_record *record, struct pw_session *session,
                                  struct pw_store *store, int64_t run, struct pw_error *err);
pw_status pw_session_record_end(const struct pw_session_record *last, bool failed, struct pw_session *session,
                                struct pw_store *store, int64_t run, struct pw_error *err);
/* session_bench.c: a benchmark, on the worker; selection: concrete indices. */
void pw_session_bench_job(struct pw_session *session, const struct pw_job *job, const size_t *selection, size_t count,
                          struct pw_event *finished, struct pw_error *err);
/* Gives a result of the kernel of that name what the compiler said (event->build_log); on the worker's threads. */
void pw_session_set_log(const struct pw_session *session, struct pw_event *event, const char *kernel, const char *log);
void *pw_session_worker(void *user); /* thread mains */
void *pw_session_writer(void *user);
/* The triage file, on the writer's thread; NULL when it could not be read (said). */
struct pw_triage;
void pw_session_triage_open(struct pw_session *session, struct pw_triage **triage);
void pw_session_triage_event(struct pw_session *session, struct pw_triage **opened, struct pw_event *event);
/* session_trends.c: on the writer's thread; store NULL: there is none. */
typedef pw_status pw_session_answers(struct pw_session *session, struct pw_store *store, struct pw_event *event,
                                     struct pw_error *err);
pw_session_answers pw_session_answer_history, pw_session_answer_graph, pw_session_answer_compare;
pw_session_answers pw_session_answer_nodes; /* session_nodes.c */
/* Into the answer to PW_ASK_HISTORY: the signature's nodes over runs of the whole graph. */
pw_session_answers pw_session_add_node_trends;
void pw_session_forget_marks(struct pw_session *session);
/* baselines/<graph>/<kind of the target>, appended. */
pw_status pw_session_baselines_folder(const struct pw_session *session, struct pw_buf *folder, struct pw_error *err);
/* Answers a question, on the writer's thread; store NULL: there is none. */
void pw_session_answer(struct pw_session *session, struct pw_store *store, struct pw_event *question);
void pw_session_write_file(struct pw_session *session, const struct pw_event *event); /* SAVE, on the writer's thread */
/* session_lines.c: LINES, on the writer's thread; and what it does with the text. line "": the name's goes. */
void pw_session_lines_event(struct pw_session *session, struct pw_event *event);
void pw_session_merge_line(const char *text, const char *name, const char *line, struct pw_buf *out);
/* A message for the person, from any thread. */
void pw_session_say(struct pw_session *session, pw_status status, const char *format, ...) PW_PRINTF(3, 4);
/* What a job does while it counts nothing; any thread. */
void pw_session_doing(struct pw_session *session, const struct pw_job *job, const char *format, ...) PW_PRINTF(3, 4);

/* session_build.c: on the writer's thread. Records what a compiler said with a result; into a HISTORY event what it
 * said in earlier sessions. */
pw_status pw_session_keep_build(struct pw_session *session, struct pw_store *store, const struct pw_event *event,
                                struct pw_error *err);
pw_status pw_session_recall_builds(struct pw_session *session, struct pw_store *store, struct pw_event *event,
                                   struct pw_error *err);

/* session_device.c: on the worker; on the writer. */
void pw_session_peaks_job(struct pw_session *session, const struct pw_job *job, struct pw_event *over);
void pw_session_keep_peaks(struct pw_session *session, const struct pw_peaks *peaks);
pw_session_answers pw_session_answer_environment;

/* session_confirm.c: on the worker. */
void pw_session_confirm_job(struct pw_session *session, const struct pw_job *job, struct pw_event *over);

#endif
