/* Images that several threads run through a session, with the results that the CPU gives.
 * SPDX-License-Identifier: MIT */
#include "session_work.h"

#include <pthread.h>

#include "kernels/kernels.h"

static void *worker(void *arg)
{
    struct work *work = arg;
    for (int i; (i = __atomic_fetch_add(&work->next, 1, __ATOMIC_RELAXED)) < RUNS;) {
        struct gi_err err = {0};
        work->statuses[i] = gi_session_run(work->session, work->pipeline, &work->made[i],
                                           &work->srcs[i % IMAGES], NULL, NULL, &err);
        const char *want =
            work->statuses[i] == GI_E_LAUNCH ? "invalid argument" : "no device is left";
        if (work->statuses[i] && strcmp(err.text, want) != 0)
            work->statuses[i] = GI_E_IO;
    }
    return NULL;
}

void make_work(struct work *work)
{
    struct gi_filter const *filter = gi_filter_find("gaussian");
    void *params = calloc(1, filter->params_nbytes);
    struct gi_queue *queue;
    uint64_t seed = 20261122;
    *work = (struct work){0};
    gi_options_default(params, filter->options);
    assert_int_equal(filter->check ? filter->check(params, NULL) : GI_OK, GI_OK);
    queue = case_open(gi_kernels_cpu(), 1);
    for (int i = 0; i < IMAGES; i++) {
        work->srcs[i] = case_image(67, 41, 1, GI_U8, &seed);
    }
    struct gi_step step = {.filter = filter, .params = params};
    assert_int_equal(gi_pipeline_new(&work->pipeline, &step, 1, &work->srcs[0], NULL, NULL), GI_OK);
    for (int i = 0; i < IMAGES; i++)
        assert_int_equal(gi_pipeline_run(work->pipeline, queue, &work->want[i], &work->srcs[i],
                                         NULL, NULL, NULL),
                         GI_OK);
    gi_queue_close_alone(&queue);
    free(params);
}

void free_work(struct work *work)
{
    gi_session_free(&work->session);
    gi_pipeline_free(&work->pipeline);
    for (int i = 0; i < RUNS; i++)
        gi_image_free(&work->made[i]);
    for (int i = 0; i < IMAGES; i++) {
        gi_image_free(&work->srcs[i]);
        gi_image_free(&work->want[i]);
    }
}

void run_threads(struct work *work)
{
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, worker, work), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
}

void check_work(struct work *work)
{
    for (int i = 0; i < RUNS; i++) {
        work->failed += work->statuses[i] != GI_OK;
        work->refused += work->statuses[i] == GI_E_LAUNCH;
        if (work->statuses[i] && work->statuses[i] != GI_E_LAUNCH)
            assert_int_equal(work->statuses[i], GI_E_DEVICE);
        else if (work->statuses[i])
            assert_null(work->made[i].data);
        else
            case_equal(&work->made[i], &work->want[i % IMAGES], "of the session");
    }
}
