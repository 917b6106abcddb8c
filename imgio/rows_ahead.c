/* A thread that reads rows of a source one band ahead.
 * SPDX-License-Identifier: MIT */
#include "imgio/rows_ahead.h"

#include <pthread.h>
#include <stdlib.h>

#include "imgio/small.h"

struct gi_rows_ahead {
    const struct gi_row_source *source;
    int height;
    pthread_t thread;
    bool started;         /* the thread */
    pthread_mutex_t lock; /* protects all members below */
    pthread_cond_t moved; /* `busy` or `stopped` changed */
    bool busy;            /* the thread reads rows top to bottom - 1 and alone uses the source */
    bool stopped;         /* the thread is to end */
    int top, bottom;      /* of the rows that the thread reads or has read; else both are 0 */
    struct gi_image rows; /* as the source returned them, with `status` and `fault` */
    enum gi_status status;
    struct gi_err fault;
};

static void *read_ahead(void *arg)
{
    struct gi_rows_ahead *a = arg;
    pthread_mutex_lock(&a->lock);
    while (!a->stopped) {
        if (!a->busy) {
            pthread_cond_wait(&a->moved, &a->lock);
            continue;
        }
        int top = a->top, bottom = a->bottom;
        struct gi_image rows = {0};
        struct gi_err fault = {0};
        pthread_mutex_unlock(&a->lock);
        enum gi_status status = a->source->read(a->source->self, &rows, top, bottom, &fault);
        pthread_mutex_lock(&a->lock);
        a->rows = rows;
        a->status = status;
        a->fault = fault;
        a->busy = false;
        pthread_cond_broadcast(&a->moved);
    }
    pthread_mutex_unlock(&a->lock);
    return NULL;
}

/* Waits until the thread does not read. Called with the lock held. */
static void wait_until_idle(struct gi_rows_ahead *a)
{
    while (a->busy)
        pthread_cond_wait(&a->moved, &a->lock);
}

static enum gi_status read_rows(void *self, struct gi_image *view, int top, int bottom,
                                struct gi_err *err)
{
    struct gi_rows_ahead *a = self;
    enum gi_status status;
    pthread_mutex_lock(&a->lock);
    wait_until_idle(a);
    if (a->top == top && a->bottom == bottom) {
        *view = a->rows;
        status = a->status;
        if (status && err)
            *err = a->fault;
    } else {
        status = a->source->read(a->source->self, view, top, bottom, err);
    }
    a->top = a->bottom = 0;
    if (!status && a->started && bottom < a->height) {
        int n = bottom - top;
        a->top = bottom;
        a->bottom = n < a->height - bottom ? bottom + n : a->height;
        a->busy = true;
        pthread_cond_broadcast(&a->moved);
    }
    pthread_mutex_unlock(&a->lock);
    return status;
}

struct gi_rows_ahead *gi_rows_ahead_open(const struct gi_row_source *source, int height)
{
    struct gi_rows_ahead *a = gi_small_calloc(1, sizeof *a);
    a->source = source;
    a->height = height;
    pthread_mutex_init(&a->lock, NULL);
    pthread_cond_init(&a->moved, NULL);
    a->started = pthread_create(&a->thread, NULL, read_ahead, a) == 0;
    return a;
}

struct gi_row_source gi_rows_ahead_result(struct gi_rows_ahead *ahead)
{
    return (struct gi_row_source){.self = ahead, .most = ahead->source->most, .read = read_rows};
}

void gi_rows_ahead_close(struct gi_rows_ahead **out)
{
    struct gi_rows_ahead *a = *out;
    *out = NULL;
    if (!a)
        return;
    pthread_mutex_lock(&a->lock);
    a->stopped = true;
    pthread_cond_broadcast(&a->moved);
    pthread_mutex_unlock(&a->lock);
    if (a->started)
        pthread_join(a->thread, NULL);
    pthread_mutex_destroy(&a->lock);
    pthread_cond_destroy(&a->moved);
    free(a);
}
