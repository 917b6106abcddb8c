/* The thread pool of this process, shared by all code that computes or copies.
 * SPDX-License-Identifier: MIT */
#ifndef GI_KERNELS_PARALLEL_H
#define GI_KERNELS_PARALLEL_H

#include <stddef.h>

#include "imgio/image.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A share in the thread pool, which limits the number of threads of each run. Any number of threads
 * may start runs on the same share at once. */
struct gi_pool;

/* A job. `index` is its number; `scratch` is a buffer of the requested size that the thread has for
 * itself, aligned to 64 bytes, with undefined contents. A job may call gi_pool_run(), but must not
 * wait for a job of a higher number. */
typedef void gi_job_fn(void *arg, int index, void *scratch);

/* Makes a share of `threads` threads, 1 or more, including the calling one. Workers start when a
 * run first needs them, serve all shares, and end when the last share is freed. gi_pool_free()
 * frees a share and sets the pointer to NULL. Errors: GI_E_MEMORY. */
enum gi_status gi_pool_new(struct gi_pool **pool, int threads, struct gi_err *err);
void gi_pool_free(struct gi_pool **pool);
int gi_pool_threads(const struct gi_pool *pool);

/* Runs jobs 0 to njobs - 1 once each. They start in this order and run concurrently. Returns when
 * all are done. The caller works too, so that a run ends even if no worker is free. Every thread
 * has `scratch_nbytes` of scratch memory. If a thread cannot be started, the run uses fewer
 * threads. Errors: GI_E_MEMORY for the scratch memory, before any job runs. */
enum gi_status gi_pool_run(struct gi_pool *pool, int njobs, gi_job_fn *fn, void *arg,
                           size_t scratch_nbytes, struct gi_err *err);

/* Returns the part, 0 to 1, of the jobs that have been started of a run that is under way, for a
 * line of progress. If there are several runs it is one with the most jobs. Returns -1 if there is
 * none. Runs of one thread count only while gi_pool_watch() is set to true, because to list them
 * takes a lock. */
double gi_pool_part_started(void);
void gi_pool_watch(bool watched);

/* Returns the share as struct gi_parallel, which imgio takes. The struct is valid as long as the
 * share. */
struct gi_parallel gi_pool_lend(struct gi_pool *pool);

#ifdef __cplusplus
}
#endif
#endif
