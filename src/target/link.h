/*
 * The parent's end of one worker process: its socket, its stderr, its shared regions. A link whose
 * worker died or misbehaved is ended (PW_ERR_CRASH, PW_ERR_TIMEOUT, PW_ERR_FORMAT) and may be started
 * again. Used by one thread at a time.
 */
#ifndef PW_TARGET_LINK_H
#define PW_TARGET_LINK_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/text.h"
#include "target/shm.h"
#include "target/spawn.h"
#include "target/worker_proto.h"

#define PW_LINK_TAIL 8192 /* bytes of a worker's stderr that are kept */

struct pw_link {
    struct pw_process process; /* pid 0: not running */
    struct pw_shm in, out;     /* belong to this worker; freed with it */
    uint64_t last_id;
    int64_t sent_ns;   /* when the request that is waited for was sent */
    uint8_t *payload;  /* PW_PROTO_MAX bytes: the last message received */
    char *tail;        /* ring of the last PW_LINK_TAIL bytes of stderr */
    size_t tail_mark;  /* tail_total when the last request was sent */
    size_t tail_total; /* bytes ever written */
    char *dir;         /* where this worker may write; NULL = nowhere. Owned */
    bool throwaway;    /* dir is removed with the worker */
};

/* Starts a worker. cache_dir: folder for compiled code (made when missing), which is kept in "shared" in it.
 * throwaway: compiled code goes to a fresh folder inside cache_dir that is removed at the end. environment:
 * more "NAME=value" strings, ended by NULL; may be NULL. */
struct pw_link_options {
    const char *flag, *mode; /* arguments of the process; mode may be NULL */
    const char *cache_dir;
    bool throwaway;
    uid_t uid;                      /* whom the worker will become; 0 = stays who we are */
    const char *const *environment; /* wins over variables that are passed on */
    const char *const *more;        /* the same, behind it */
};
pw_status pw_link_start(struct pw_link *link, const struct pw_link_options *options, struct pw_error *err);
/* Removes the throwaway folders in cache_dir (NULL: among the temporary files) that processes left behind which were
 * killed. */
void pw_link_sweep(const char *cache_dir);
const char *pw_link_temporary(void);    /* $TMPDIR or /tmp */
void pw_link_end(struct pw_link *link); /* at once; a zeroed or ended link is fine */
bool pw_link_running(const struct pw_link *link);
/* False when the worker has said something that nobody asked for: an answer too many is no answer to the next request.
 */
bool pw_link_quiet(const struct pw_link *link);

/* Stops the worker and all that it started, until it is resumed: what was left running there takes no time from
 * others. */
void pw_link_pause(const struct pw_link *link);
void pw_link_resume(const struct pw_link *link);

/* Sends a request, with the regions that the worker does not have yet. */
pw_status pw_link_send(struct pw_link *link, pw_message_type type, const void *payload, size_t size,
                       struct pw_error *err);
/* A further message within the last request: what stderr says still counts as its. */
pw_status pw_link_continue(struct pw_link *link, pw_message_type type, const void *payload, size_t size,
                           struct pw_error *err);
/* Waits for the answer to the last request: a message of type `expected` or a PW_MSG_REPLY, which is what
 * *type says. The payload stays valid until the next wait. cancel may be NULL. what: names the work in
 * messages. On failure the worker is ended and its last words are appended to log (may be NULL). */
pw_status pw_link_wait(struct pw_link *link, pw_message_type expected, int64_t deadline_ns, const atomic_bool *cancel,
                       const char *what, pw_message_type *type, struct pw_wire *wire, struct pw_buf *log,
                       struct pw_error *err);
/* Ends the worker for breaking the protocol. */
pw_status pw_link_refuse(struct pw_link *link, const char *what, struct pw_error *err);

/* What the worker wrote to stderr (the last PW_LINK_TAIL bytes of it) since the last request was sent. */
void pw_link_tail(struct pw_link *link, struct pw_buf *out);

#endif
