/* A thread pool. Runs of jobs are in a list. Idle workers join the run that has the fewest workers,
 * take job numbers from its counter, and leave when all numbers are taken.
 * SPDX-License-Identifier: MIT */
#include "kernels/parallel.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

enum {
    SCRATCH_KEPT = 8,    /* maximum number of idle buffers that are kept for later runs */
    SCRATCH_ALIGN = 128, /* bytes; neighbouring threads then share no cache line of scratch memory,
                            and no pair of lines, because CPUs prefetch pairs */
};

struct gi_pool {
    int threads;
};

/* A buffer that holds the scratch memory of all threads of a run. */
struct scratch {
    char *data;
    size_t nbytes;
};

/* One call of gi_pool_run(). This struct is on the stack of the caller. */
struct run {
    struct run *next; /* next run in the list; this and all members up to `fn` are protected by the
                         lock of the thread pool */
    int threads;      /* maximum number of threads, including the caller */
    int joined; /* number of threads that have joined so far, including the caller, which is the
                   index of the next thread */
    int busy;   /* workers that are in the run now */
    pthread_cond_t left; /* the last worker has left */
    gi_job_fn *fn;
    void *arg;
    int njobs;
    char *scratch; /* scratch of the caller; thread i has the bytes from `stride` * i on */
    size_t stride;
    atomic_int next_job;
};

/* The worker threads, which are global because threads belong to the process. The program has no
 * other variable at file scope. */
static struct {
    pthread_mutex_t life; /* protects npools; taken before `lock` */
    int npools;
    pthread_mutex_t lock; /* protects the following members */
    pthread_cond_t wake;  /* a run was listed, or `quit` */
    struct run *runs;
    pthread_t *threads; /* array of threads_room entries; of its nthreads threads nidle wait */
    int nthreads, threads_room, nidle;
    bool quit;
    atomic_bool watched; /* not protected: runs of one thread are listed too */
    struct scratch kept[SCRATCH_KEPT];
} workers = {.life = PTHREAD_MUTEX_INITIALIZER,
             .lock = PTHREAD_MUTEX_INITIALIZER,
             .wake = PTHREAD_COND_INITIALIZER};

static void work(struct run *run, int thread)
{
    char *scratch = run->scratch ? run->scratch + (size_t)thread * run->stride : NULL;
    for (int i; (i = atomic_fetch_add(&run->next_job, 1)) < run->njobs;)
        run->fn(run->arg, i, scratch);
}

/* Removes a run from the list, when no more jobs of this run are to be started. */
static void unlist(struct run *run)
{
    struct run **at = &workers.runs;
    while (*at && *at != run)
        at = &(*at)->next;
    if (*at)
        *at = run->next;
}

static struct run *run_to_join(void)
{
    struct run *best = NULL;
    for (struct run *run = workers.runs; run; run = run->next)
        if (run->joined < run->threads && (!best || run->busy < best->busy))
            best = run;
    return best;
}

/* Called in a worker thread. Blocks the signals that end the process, because the caller's threads
 * handle these signals. */
static void refuse_signals(void)
{
    sigset_t deadly;
    sigemptyset(&deadly);
    sigaddset(&deadly, SIGINT);
    sigaddset(&deadly, SIGTERM);
    sigaddset(&deadly, SIGHUP);
    pthread_sigmask(SIG_BLOCK, &deadly, NULL);
}

static void *worker_main(void *unused)
{
    refuse_signals();
    pthread_mutex_lock(&workers.lock);
    for (;;) {
        struct run *run = run_to_join();
        if (!run && workers.quit)
            break;
        if (!run) {
            workers.nidle++;
            pthread_cond_wait(&workers.wake, &workers.lock);
            workers.nidle--;
            continue;
        }
        int thread = run->joined++;
        run->busy++;
        pthread_mutex_unlock(&workers.lock);
        work(run, thread);
        pthread_mutex_lock(&workers.lock);
        unlist(run); /* all job numbers are taken */
        if (--run->busy == 0)
            pthread_cond_signal(&run->left);
    }
    pthread_mutex_unlock(&workers.lock);
    return NULL;
}

enum gi_status gi_pool_new(struct gi_pool **out, int threads, struct gi_err *err)
{
    struct gi_pool *pool = malloc(sizeof *pool);
    *out = pool;
    if (!pool)
        return gi_fail(err, GI_E_MEMORY, "out of memory: a pool of %d threads", threads);
    pool->threads = threads;
    pthread_mutex_lock(&workers.life);
    workers.npools++;
    pthread_mutex_unlock(&workers.life);
    return GI_OK;
}

/* Ends the workers when the last share is freed. */
static void dismiss(void)
{
    pthread_mutex_lock(&workers.lock);
    workers.quit = true;
    pthread_cond_broadcast(&workers.wake);
    pthread_mutex_unlock(&workers.lock);
    for (int i = 0; i < workers.nthreads; i++)
        pthread_join(workers.threads[i], NULL);
    for (int i = 0; i < SCRATCH_KEPT; i++) {
        free(workers.kept[i].data);
        workers.kept[i] = (struct scratch){0};
    }
    free(workers.threads);
    workers.threads = NULL;
    workers.nthreads = workers.threads_room = 0;
    workers.quit = false;
}

void gi_pool_free(struct gi_pool **pool)
{
    if (!*pool)
        return;
    free(*pool);
    *pool = NULL;
    pthread_mutex_lock(&workers.life);
    if (--workers.npools == 0)
        dismiss();
    pthread_mutex_unlock(&workers.life);
}

int gi_pool_threads(const struct gi_pool *pool)
{
    return pool->threads;
}

static bool room_for_thread(void)
{
    if (workers.nthreads < workers.threads_room)
        return true;
    int room = 2 * workers.threads_room + 16;
    pthread_t *threads = realloc(workers.threads, (size_t)room * sizeof *threads);
    if (!threads)
        return false;
    workers.threads = threads;
    workers.threads_room = room;
    return true;
}

/* Starts worker threads if fewer are idle than the run can use, and returns the number of idle
 * workers to wake. run->threads is at most the number of jobs, so that a small image does not start
 * threads on every CPU of a large machine. The lock must be held. */
static int call_workers(const struct run *run)
{
    int wanted = run->threads - 1, idle = workers.nidle < wanted ? workers.nidle : wanted;
    for (int i = idle; i < wanted && workers.nthreads < wanted; i++) {
        if (!room_for_thread() ||
            pthread_create(&workers.threads[workers.nthreads], NULL, worker_main, NULL))
            break;
        workers.nthreads++;
    }
    return idle;
}

/* Takes a buffer with `stride` bytes of scratch for each of `threads` threads: the smallest cached
 * buffer that is large enough. If none is, takes the largest cached buffer and replaces it by a
 * larger allocation. */
static enum gi_status scratch_take(struct scratch *scratch, size_t stride, int threads,
                                   struct gi_err *err)
{
    size_t nbytes;
    int best = 0;
    if (!gi_mul_size(&nbytes, stride, (size_t)threads))
        return gi_fail(err, GI_E_MEMORY, "out of memory: %zu bytes of scratch a thread", stride);
    pthread_mutex_lock(&workers.lock);
    for (int i = 1; i < SCRATCH_KEPT; i++) {
        size_t a = workers.kept[i].nbytes, b = workers.kept[best].nbytes;
        if (b < nbytes ? a > b : a >= nbytes && a < b)
            best = i;
    }
    *scratch = workers.kept[best];
    workers.kept[best] = (struct scratch){0};
    pthread_mutex_unlock(&workers.lock);
    if (scratch->nbytes >= nbytes)
        return GI_OK;
    free(scratch->data);
    scratch->data = aligned_alloc(SCRATCH_ALIGN, nbytes);
    scratch->nbytes = scratch->data ? nbytes : 0;
    return scratch->data
               ? GI_OK
               : gi_fail(err, GI_E_MEMORY, "out of memory: %zu bytes of scratch a thread", stride);
}

/* Compares a buffer with the smallest cached buffer, caches the larger of the two, and frees the
 * other. */
static void scratch_keep(struct scratch scratch)
{
    int least = 0;
    pthread_mutex_lock(&workers.lock);
    for (int i = 1; i < SCRATCH_KEPT; i++)
        if (workers.kept[i].nbytes < workers.kept[least].nbytes)
            least = i;
    if (workers.kept[least].nbytes < scratch.nbytes) {
        struct scratch smaller = workers.kept[least];
        workers.kept[least] = scratch;
        scratch = smaller;
    }
    pthread_mutex_unlock(&workers.lock);
    free(scratch.data);
}

/* Does the caller's part of a run in the list, which workers may join, and waits for the workers.
 */
static void run_with_workers(struct run *run)
{
    pthread_cond_init(&run->left, NULL);
    pthread_mutex_lock(&workers.lock);
    run->next = workers.runs;
    workers.runs = run;
    int idle = call_workers(run);
    pthread_mutex_unlock(&workers.lock);
    for (int i = 0; i < idle; i++)
        pthread_cond_signal(&workers.wake);
    work(run, 0);
    pthread_mutex_lock(&workers.lock);
    unlist(run);
    while (run->busy > 0)
        pthread_cond_wait(&run->left, &workers.lock);
    pthread_mutex_unlock(&workers.lock);
    pthread_cond_destroy(&run->left);
}

enum gi_status gi_pool_run(struct gi_pool *pool, int njobs, gi_job_fn *fn, void *arg,
                           size_t scratch_nbytes, struct gi_err *err)
{
    struct run run = {.threads = njobs < pool->threads ? njobs : pool->threads,
                      .joined = 1,
                      .fn = fn,
                      .arg = arg,
                      .njobs = njobs};
    run.threads = run.threads < 1 ? 1 : run.threads;
    run.stride = (scratch_nbytes + SCRATCH_ALIGN - 1) / SCRATCH_ALIGN * SCRATCH_ALIGN;
    struct scratch scratch = {0};
    if (scratch_nbytes) {
        enum gi_status status = scratch_take(&scratch, run.stride, run.threads, err);
        if (status)
            return status;
    }
    run.scratch = scratch.data;
    if (run.threads == 1 && !(njobs > 1 && atomic_load(&workers.watched)))
        work(&run, 0);
    else
        run_with_workers(&run);
    if (scratch_nbytes)
        scratch_keep(scratch);
    return GI_OK;
}

void gi_pool_watch(bool watched)
{
    atomic_store(&workers.watched, watched);
}

double gi_pool_part_started(void)
{
    const struct run *most = NULL;
    double part = -1;
    pthread_mutex_lock(&workers.lock);
    for (const struct run *run = workers.runs; run; run = run->next)
        if (!most || run->njobs > most->njobs)
            most = run;
    if (most && most->njobs)
        part = (double)atomic_load(&most->next_job) / most->njobs;
    pthread_mutex_unlock(&workers.lock);
    return part < 1 ? part : 1;
}

static enum gi_status run_lent(void *self, int njobs, gi_job_fn *job, void *arg,
                               size_t scratch_nbytes, struct gi_err *err)
{
    return gi_pool_run(self, njobs, job, arg, scratch_nbytes, err);
}

struct gi_parallel gi_pool_lend(struct gi_pool *pool)
{
    return (struct gi_parallel){pool, pool->threads, run_lent};
}
