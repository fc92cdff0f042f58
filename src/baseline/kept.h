/*
 * The kernels of baselines, kept under baselines/kernels/<hash>/ so that a suspected regression can be settled by
 * running the old kernel beside today's, on any checkout. A folder there is an ops directory of one description, its
 * sources and the prelude, named by the hash of its content: the same content is kept once. What is read back is
 * foreign code like that of --ops-dir. Any thread.
 */
#ifndef PW_BASELINE_KEPT_H
#define PW_BASELINE_KEPT_H

#include "base/error.h"
#include "base/hash.h"
#include "op/kernel.h"

/* Keeps the description that the kernel is in, with sources and prelude, unless it is there already. hash gets the
 * folder's name. */
pw_status pw_kept_save(const char *root, const struct pw_kernel *kernel, char hash[PW_HASH_TEXT], struct pw_error *err);

/* Loads a kept folder and finds the kernel of that name whose hash (pw_kernel_hash as text) is the one recorded.
 * *out: NULL with the reason in why when it is not there any more; else the set, which must outlive *kernel. */
pw_status pw_kept_load(const char *root, const char *kept, const char *name, const char *hash, struct pw_kernels **out,
                       const struct pw_kernel **kernel, struct pw_buf *why, struct pw_error *err);

#endif
