/*
 * The folder baselines/: where a graph's files lie, and the lock under which they are changed. Any thread; the lock
 * is between processes and between handles of one process.
 */
#ifndef PW_BASELINE_FOLDER_H
#define PW_BASELINE_FOLDER_H

#include "base/error.h"
#include "base/text.h"

/* <root>/<name>-<first 12 digits of the graph's id>: the folder that is there already (whatever its name part), else
 * named after the model's file. Appends to out. */
pw_status pw_folder_graph(const char *root, const char *graph_id, const char *model_path, struct pw_buf *out,
                          struct pw_error *err);
/* A name as a file name: letters, digits, dot, dash and underscore stay, the rest becomes '-'. Appends. */
void pw_folder_safe_name(struct pw_buf *out, const char *name);

/* Makes the folder and waits (up to 10 s) for its lock; *fd is closed by unlock. Unfinished files of writers that were
 * killed go, and an approval of theirs that had begun to number files is carried through. */
pw_status pw_folder_lock(const char *folder, int *fd, struct pw_error *err);
void pw_folder_unlock(int fd); /* -1 is fine */
/* The same for a graph's folder and those of its targets, where nobody holds the lock. Waits for nobody. */
void pw_folder_tidy(const char *folder);
/* recover.c, with the lock: what approvals that were killed left among the folder's names (fd: the folder). Drafts
 * stay. */
void pw_folder_recover(const char *folder, int fd, char *const *names, size_t count);

#endif
