/* What compilers said, kept over sessions; on the writer's thread. */
#include <string.h>

#include "job/session_internal.h"
#include "store/builds.h"

/* Workers say the same with each case: what is in the store already is not written again, nor that nothing was said
 * where something was. *first: nothing that was said of the source has been written in this session. */
static bool is_new(const struct pw_session *session, struct pw_hash128 source, uint64_t log, bool *first)
{
    const uint64_t nothing = pw_hash64("", 0, 0);
    bool known = false;

    *first = true;
    for (size_t i = 0; i < session->build_count; i++) {
        const struct pw_session_build *build = &session->builds[i];

        if (build->source.high != source.high || build->source.low != source.low)
            continue;
        if (build->log == log)
            return false;
        *first = *first && build->log == nothing;
        known = true;
    }
    return !known || log != nothing;
}

static bool remember(struct pw_session *session, struct pw_hash128 source, uint64_t log)
{
    if (session->build_count == session->build_cap) {
        size_t cap = session->build_cap ? 2 * session->build_cap : 64;
        struct pw_session_build *more = pw_reallocarray(session->builds, cap, sizeof *more);

        if (!more)
            return false;
        session->builds = more;
        session->build_cap = cap;
    }
    session->builds[session->build_count++] = (struct pw_session_build){source, log};
    return true;
}

pw_status pw_session_keep_build(struct pw_session *session, struct pw_store *store, const struct pw_event *event,
                                struct pw_error *err)
{
    bool failed = event->kind == PW_EVENT_CASE && event->result.verdict == PW_VERDICT_ERROR, first;
    struct pw_store_build build = {.source = event->build_source, .log = event->build_log, .failed = failed};
    uint64_t log;

    if (!event->built)
        return PW_OK;
    log = pw_hash64(build.log, strlen(build.log), 0);
    if (!is_new(session, build.source, log, &first))
        return PW_OK;
    if (!remember(session, build.source, log))
        return pw_error_memory(err, sizeof log);
    return pw_store_build_add(store, session->target, &build, first, err);
}

pw_status pw_session_recall_builds(struct pw_session *session, struct pw_store *store, struct pw_event *event,
                                   struct pw_error *err)
{
    const struct pw_impl_list *impls = pw_session_implementations(session, event->about);
    const struct pw_kernel *kernel = impls && impls->selected >= 0 ? impls->items[impls->selected].kernel : NULL;
    const char *language = kernel ? pw_kernel_language(kernel, 0) : NULL;
    const char *source = language ? pw_kernel_source(kernel, language) : NULL;
    struct pw_store_build *rows = NULL;
    pw_status status = PW_OK;

    if (source)
        status = pw_store_builds(store, session->target, pw_hash128(source, strlen(source)), &event->arena, &rows,
                                 &event->build_count, err);
    event->builds = rows;
    return status;
}
