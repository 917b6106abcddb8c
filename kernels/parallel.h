/* A pool of threads for the CPU backend.
 * SPDX-License-Identifier: MIT */
#ifndef GI_KERNELS_PARALLEL_H
#define GI_KERNELS_PARALLEL_H

#include <stddef.h>

#include "imgio/status.h"

#ifdef __cplusplus
extern "C" {
#endif

struct gi_pool;

/* A job: `index` is its number; `scratch` is the worker's own buffer of the size asked for, 64-byte
 * aligned, contents undefined. */
typedef void gi_job_fn(void *arg, int index, void *scratch);

/* A pool of `threads` workers, the caller's thread counted; each starts at the first run with a
 * job for it. Freed by gi_pool_free(), which nulls. */
enum gi_status gi_pool_new(struct gi_pool **pool, int threads, struct gi_err *err);
void gi_pool_free(struct gi_pool **pool);
int gi_pool_threads(const struct gi_pool *pool);

/* Runs job 0 .. njobs - 1, each once, in any order and at the same time; returns when all are done.
 * Every worker gets `scratch_nbytes` of scratch. A thread that can't be started is done without.
 * Errors: GI_E_MEMORY for the scratch, before any job runs. */
enum gi_status gi_pool_run(struct gi_pool *pool, int njobs, gi_job_fn *fn, void *arg,
                           size_t scratch_nbytes, struct gi_err *err);

#ifdef __cplusplus
}
#endif
#endif
