/* The thread pool of this process, shared by all code that computes or copies.
 * SPDX-License-Identifier: MIT */
#ifndef GI_KERNELS_PARALLEL_H
#define GI_KERNELS_PARALLEL_H

#include <stddef.h>

#include "imgio/image.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A share in the thread pool: the maximum threads of its runs. Any number of threads may run jobs
 * by it at once. */
struct gi_pool;

/* A job: `index` is its number; `scratch` is the worker's own buffer of the size asked for, 64-byte
 * aligned, contents undefined. It may call gi_pool_run() itself; it must not wait for a job of a
 * higher number. */
typedef void gi_job_fn(void *arg, int index, void *scratch);

/* Makes a share of `threads`, 1 or more, including the caller's thread. Workers start when a run
 * first has jobs for them, are shared by all, and end with the last share. Freed by gi_pool_free(),
 * which nulls. Errors: GI_E_MEMORY. */
enum gi_status gi_pool_new(struct gi_pool **pool, int threads, struct gi_err *err);
void gi_pool_free(struct gi_pool **pool);
int gi_pool_threads(const struct gi_pool *pool);

/* Runs jobs 0 to njobs - 1 once each, started in order, concurrently; returns when all are done.
 * The caller works too, so that a run ends even if no worker is free. Every thread has
 * `scratch_nbytes` of scratch memory. If a thread can't be started, the run uses fewer. Errors:
 * GI_E_MEMORY for the scratch, before any job runs. */
enum gi_status gi_pool_run(struct gi_pool *pool, int njobs, gi_job_fn *fn, void *arg,
                           size_t scratch_nbytes, struct gi_err *err);

/* Returns the share in the form that imgio takes; valid as long as the share. */
struct gi_parallel gi_pool_lend(struct gi_pool *pool);

#ifdef __cplusplus
}
#endif
#endif
