/* The thread pool runs every job once, whatever thread calls it and however deeply calls are
 * nested. Each job has its own scratch memory.
 * Sources: kernels/parallel*
 * SPDX-License-Identifier: MIT */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "test.h"
#include "kernels/parallel.h"

enum { JOBS_MAX = 64, CALLERS = 6, ROUNDS = 200 };

/* The counts of a run. Only the main thread may use assertions, so the other threads count
 * errors. */
struct tally {
    atomic_int hits[JOBS_MAX], wrong, now, most;
    size_t scratch_nbytes;
    struct gi_pool *pool;
    int depth; /* runs inside each job */
};

static void count_job(void *arg, int index, void *scratch)
{
    struct tally *tally = arg;
    int now = atomic_fetch_add(&tally->now, 1) + 1, most = atomic_load(&tally->most);
    while (now > most && !atomic_compare_exchange_weak(&tally->most, &most, now))
        ;
    if (tally->scratch_nbytes)
        memset(scratch, index + 1, tally->scratch_nbytes);
    if (tally->depth > 0) {
        struct tally inner = {.scratch_nbytes = 40, .pool = tally->pool, .depth = tally->depth - 1};
        if (gi_pool_run(tally->pool, 5, count_job, &inner, 40, NULL))
            tally->wrong++;
        for (int i = 0; i < 5; i++)
            tally->wrong += inner.hits[i] != 1;
        tally->wrong += inner.wrong;
    }
    sched_yield();
    for (size_t i = 0; i < tally->scratch_nbytes; i++)
        if (((unsigned char *)scratch)[i] != (unsigned char)(index + 1)) {
            tally->wrong++;
            break;
        }
    if ((uintptr_t)scratch % 64)
        tally->wrong++;
    atomic_fetch_add(&tally->hits[index], 1);
    atomic_fetch_sub(&tally->now, 1);
}

/* Returns the number of errors in a run of `njobs` jobs. */
static int count(struct gi_pool *pool, int njobs, size_t scratch_nbytes, int depth)
{
    struct tally tally = {.scratch_nbytes = scratch_nbytes, .pool = pool, .depth = depth};
    int wrong = gi_pool_run(pool, njobs, count_job, &tally, scratch_nbytes, NULL) != GI_OK;
    for (int i = 0; i < JOBS_MAX; i++)
        wrong += tally.hits[i] != (i < njobs);
    return wrong + tally.wrong + (tally.most > gi_pool_threads(pool));
}

static struct gi_pool *pool_of(int threads)
{
    struct gi_pool *pool;
    assert_int_equal(gi_pool_new(&pool, threads, NULL), GI_OK);
    return pool;
}

TEST(each_job_once)
{
    static const int counts[] = {1, 8, 2, 3};
    struct gi_pool *pools[4];
    for (int t = 0; t < 4; t++) {
        pools[t] = pool_of(counts[t]);
        assert_int_equal(gi_pool_threads(pools[t]), counts[t]);
        for (int njobs = 0; njobs <= JOBS_MAX; njobs++)
            assert_int_equal(count(pools[t], njobs, (size_t)njobs * 7 % 300, 0), 0);
    }
    for (int t = 0; t < 4; t++) {
        gi_pool_free(&pools[t]);
        assert_null(pools[t]);
        gi_pool_free(&pools[t]);
    }
}

TEST(runs_in_runs)
{
    struct gi_pool *pool = pool_of(4);
    for (int i = 0; i < 20; i++)
        assert_int_equal(count(pool, 1 + i, 100, 3), 0);
    gi_pool_free(&pool);
}

/* The workers exit when the last share is freed, and are started again for the next share. */
TEST(pools_come_and_go)
{
    for (int i = 0; i < 50; i++) {
        struct gi_pool *a = pool_of(3), *b = pool_of(2);
        assert_int_equal(count(a, 9, 64, 0), 0);
        gi_pool_free(&a);
        assert_int_equal(count(b, 9, 64, 0), 0);
        gi_pool_free(&b);
    }
}

struct caller {
    pthread_t thread;
    int number, wrong;
};

static void *call(void *arg)
{
    struct caller *caller = arg;
    struct gi_pool *pool = NULL;
    for (int i = 0; i < ROUNDS; i++) {
        if (i % 50 == 0) {
            gi_pool_free(&pool);
            if (gi_pool_new(&pool, 1 + (caller->number + i / 50) % 5, NULL)) {
                caller->wrong++;
                return NULL;
            }
        }
        caller->wrong += count(pool, i % JOBS_MAX, (size_t)(caller->number * 500), i % 16 == 0);
    }
    gi_pool_free(&pool);
    return NULL;
}

TEST(several_callers)
{
    struct caller callers[CALLERS] = {0};
    for (int i = 0; i < CALLERS; i++) {
        callers[i].number = i;
        assert_int_equal(pthread_create(&callers[i].thread, NULL, call, &callers[i]), 0);
    }
    for (int i = 0; i < CALLERS; i++)
        assert_int_equal(pthread_join(callers[i].thread, NULL), 0);
    for (int i = 0; i < CALLERS; i++)
        assert_int_equal(callers[i].wrong, 0);
}

/* Several threads use one share at the same time. */
static void *call_shared(void *arg)
{
    intptr_t wrong = 0;
    for (int i = 0; i < ROUNDS; i++)
        wrong += count(arg, i % 20, (size_t)i, 0);
    return (void *)wrong;
}

TEST(shared_share)
{
    struct gi_pool *pool = pool_of(3);
    pthread_t threads[CALLERS];
    for (int i = 0; i < CALLERS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, call_shared, pool), 0);
    for (int i = 0; i < CALLERS; i++) {
        void *wrong;
        assert_int_equal(pthread_join(threads[i], &wrong), 0);
        assert_null(wrong);
    }
    gi_pool_free(&pool);
}

/* Jobs each of which waits for all others, so that all of them must run at the same time. */
struct meeting {
    pthread_mutex_t lock;
    pthread_cond_t all_here;
    int here, want;
    bool late;
};

static void meet(void *arg, int index, void *scratch)
{
    struct meeting *m = arg;
    struct timespec end;
    clock_gettime(CLOCK_REALTIME, &end);
    end.tv_sec += 60;
    pthread_mutex_lock(&m->lock);
    if (++m->here == m->want)
        pthread_cond_broadcast(&m->all_here);
    while (m->here < m->want && !m->late)
        m->late = pthread_cond_timedwait(&m->all_here, &m->lock, &end) != 0;
    pthread_mutex_unlock(&m->lock);
}

TEST(as_many_threads_as_asked)
{
    struct gi_pool *few = pool_of(2), *many = pool_of(8);
    for (int i = 0; i < 6; i++) {
        struct gi_pool *pool = i % 2 ? many : few;
        struct meeting m = {.want = gi_pool_threads(pool)};
        pthread_mutex_init(&m.lock, NULL);
        pthread_cond_init(&m.all_here, NULL);
        assert_int_equal(gi_pool_run(pool, m.want, meet, &m, 0, NULL), GI_OK);
        assert_false(m.late);
        assert_int_equal(m.here, m.want);
        pthread_cond_destroy(&m.all_here);
        pthread_mutex_destroy(&m.lock);
    }
    gi_pool_free(&few);
    gi_pool_free(&many);
}

/* Sanitizers abort the program at an impossible allocation unless this option allows it. */
const char *__asan_default_options(void);
const char *__tsan_default_options(void);
const char *__asan_default_options(void)
{
    return "allocator_may_return_null=1";
}
const char *__tsan_default_options(void)
{
    return "allocator_may_return_null=1";
}

TEST(scratch_that_cannot_be)
{
    struct gi_pool *pool = pool_of(4);
    struct tally tally = {.pool = pool};
    struct gi_err err = {0};
    assert_int_equal(gi_pool_run(pool, 4, count_job, &tally, SIZE_MAX / 8, &err), GI_E_MEMORY);
    assert_non_null(strstr(err.text, "scratch"));
    assert_int_equal(gi_pool_run(pool, 4, count_job, &tally, SIZE_MAX / 2, NULL), GI_E_MEMORY);
    assert_int_equal(tally.hits[0] + tally.hits[1] + tally.hits[2] + tally.hits[3], 0);
    assert_int_equal(count(pool, 9, 64, 0), 0);
    gi_pool_free(&pool);
}
