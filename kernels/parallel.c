/* Workers wait for a run, take job numbers from a shared counter, and report back.
 * SPDX-License-Identifier: MIT */
#include "kernels/parallel.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

struct worker {
    struct gi_pool *pool;
    void *scratch;
    size_t scratch_nbytes;
    pthread_t thread;
};

struct gi_pool {
    int threads;
    int started;            /* threads running, the caller's not counted */
    struct worker *workers; /* [0] is the caller */
    pthread_mutex_t lock;
    pthread_cond_t wake, done;
    unsigned run; /* number of the current run */
    int busy;     /* workers still in it */
    bool quit;
    gi_job_fn *fn;
    void *arg;
    int njobs;
    atomic_int next;
};

static void work(struct worker *worker)
{
    struct gi_pool *pool = worker->pool;
    for (int i; (i = atomic_fetch_add(&pool->next, 1)) < pool->njobs;)
        pool->fn(pool->arg, i, worker->scratch);
}

static void *worker_main(void *arg)
{
    struct worker *worker = arg;
    struct gi_pool *pool = worker->pool;
    unsigned seen = 0;
    pthread_mutex_lock(&pool->lock);
    for (;;) {
        while (pool->run == seen && !pool->quit)
            pthread_cond_wait(&pool->wake, &pool->lock);
        if (pool->quit)
            break;
        seen = pool->run;
        pthread_mutex_unlock(&pool->lock);
        work(worker);
        pthread_mutex_lock(&pool->lock);
        if (--pool->busy == 0)
            pthread_cond_signal(&pool->done);
    }
    pthread_mutex_unlock(&pool->lock);
    return NULL;
}

enum gi_status gi_pool_new(struct gi_pool **out, int threads, struct gi_err *err)
{
    struct gi_pool *pool = calloc(1, sizeof *pool);
    struct worker *workers = calloc((size_t)threads, sizeof *workers);
    if (!pool || !workers) {
        free(pool);
        free(workers);
        return gi_fail(err, GI_E_MEMORY, "out of memory: a pool of %d threads", threads);
    }
    pool->threads = threads;
    pool->workers = workers;
    for (int i = 0; i < threads; i++)
        workers[i].pool = pool;
    pthread_mutex_init(&pool->lock, NULL);
    pthread_cond_init(&pool->wake, NULL);
    pthread_cond_init(&pool->done, NULL);
    *out = pool;
    return GI_OK;
}

void gi_pool_free(struct gi_pool **pool_ptr)
{
    struct gi_pool *pool = *pool_ptr;
    *pool_ptr = NULL;
    if (!pool)
        return;
    pthread_mutex_lock(&pool->lock);
    pool->quit = true;
    pthread_cond_broadcast(&pool->wake);
    pthread_mutex_unlock(&pool->lock);
    for (int i = 1; i <= pool->started; i++)
        pthread_join(pool->workers[i].thread, NULL);
    for (int i = 0; i < pool->threads; i++)
        free(pool->workers[i].scratch);
    pthread_cond_destroy(&pool->wake);
    pthread_cond_destroy(&pool->done);
    pthread_mutex_destroy(&pool->lock);
    free(pool->workers);
    free(pool);
}

int gi_pool_threads(const struct gi_pool *pool)
{
    return pool->threads;
}

/* As many as `njobs` can use: a small image need not pay for every CPU of a large machine. A worker
 * that starts sees the runs before it as over: `run` is read under the lock. */
static void start_workers(struct gi_pool *pool, int njobs)
{
    while (pool->started < pool->threads - 1 && pool->started < njobs - 1) {
        struct worker *worker = &pool->workers[pool->started + 1];
        if (pthread_create(&worker->thread, NULL, worker_main, worker))
            return;
        pool->started++;
    }
}

static bool grow_scratch(struct worker *worker, size_t nbytes)
{
    if (nbytes <= worker->scratch_nbytes)
        return true;
    free(worker->scratch);
    nbytes = (nbytes + 63) / 64 * 64;
    worker->scratch = aligned_alloc(64, nbytes);
    worker->scratch_nbytes = worker->scratch ? nbytes : 0;
    return worker->scratch != NULL;
}

enum gi_status gi_pool_run(struct gi_pool *pool, int njobs, gi_job_fn *fn, void *arg,
                           size_t scratch_nbytes, struct gi_err *err)
{
    bool alone = njobs < 2 || pool->threads == 1;
    int takers = njobs < pool->threads ? njobs : pool->threads; /* and who has started already */
    takers = takers > pool->started + 1 ? takers : pool->started + 1;
    for (int i = 0; i < (alone ? 1 : takers); i++)
        if (!grow_scratch(&pool->workers[i], scratch_nbytes))
            return gi_fail(err, GI_E_MEMORY, "out of memory: %zu bytes of scratch for a thread",
                           scratch_nbytes);
    pool->fn = fn;
    pool->arg = arg;
    pool->njobs = njobs;
    atomic_store(&pool->next, 0);
    if (alone) {
        work(&pool->workers[0]);
        return GI_OK;
    }
    pthread_mutex_lock(&pool->lock);
    start_workers(pool, njobs); /* new ones wait for the lock, so they see only this run */
    pool->busy = pool->started;
    pool->run++;
    pthread_cond_broadcast(&pool->wake);
    pthread_mutex_unlock(&pool->lock);
    work(&pool->workers[0]);
    pthread_mutex_lock(&pool->lock);
    while (pool->busy > 0)
        pthread_cond_wait(&pool->done, &pool->lock);
    pthread_mutex_unlock(&pool->lock);
    return GI_OK;
}
