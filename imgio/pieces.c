/* Whoever finds the next piece made writes it, so no thread only writes.
 * SPDX-License-Identifier: MIT */
#include "imgio/pieces.h"

#include <pthread.h>
#include <stdlib.h>

enum {
    PIECES_OF_IMAGE = 8,
    LEAST_NBYTES = 1 << 17,
    MOST_NBYTES = 1 << 20,
    /* Pieces made or being made for each thread: what one may run ahead of the slowest. */
    PIECES_PER_THREAD = 3,
};

struct work {
    const struct gi_pieces *pieces;
    pthread_mutex_t lock;    /* over all that follows */
    pthread_cond_t moved;    /* `written` or `status` changed */
    int taken;               /* pieces that a thread is making or has made */
    int written;             /* pieces in the file */
    bool writing;            /* a thread is writing piece number `written` */
    struct gi_piece *window; /* piece i is in window[i % room] until it is written */
    int room;
    enum gi_status status; /* the first failure's, with its error */
    struct gi_err fault;
};

static void note(struct work *w, enum gi_status status, const struct gi_err *fault)
{
    if (status && !w->status) {
        w->status = status;
        w->fault = *fault;
    }
}

/* Writes what is made and next in order, unless another thread is at it: that one will find it.
 * Called with the lock held, which is given up while writing. */
static void write_made(struct work *w)
{
    while (!w->writing && !w->status && w->window[w->written % w->room].bytes) {
        struct gi_piece piece = w->window[w->written % w->room];
        struct gi_err fault = {0};
        w->window[w->written % w->room].bytes = NULL;
        w->writing = true;
        int number = w->written;
        pthread_mutex_unlock(&w->lock);
        enum gi_status status = w->pieces->write(w->pieces->self, &piece, number, &fault);
        free(piece.bytes);
        pthread_mutex_lock(&w->lock);
        w->writing = false;
        w->written++;
        note(w, status, &fault);
        pthread_cond_broadcast(&w->moved);
    }
}

/* Makes the next piece, whatever the job's number: pieces are begun in order, so the one that all
 * others may wait for is always in work. */
static void piece_job(void *arg, int index, void *scratch)
{
    (void)index;
    struct work *w = arg;
    pthread_mutex_lock(&w->lock);
    int number = w->taken++;
    while (number >= w->written + w->room && !w->status)
        pthread_cond_wait(&w->moved, &w->lock);
    if (!w->status) {
        pthread_mutex_unlock(&w->lock);
        struct gi_piece piece = {0};
        struct gi_err fault = {0};
        enum gi_status status = w->pieces->make(w->pieces->self, &piece, number, scratch, &fault);
        pthread_mutex_lock(&w->lock);
        w->window[number % w->room] = piece;
        if (status) {
            note(w, status, &fault);
            pthread_cond_broadcast(&w->moved);
        }
        write_made(w);
    }
    pthread_mutex_unlock(&w->lock);
}

static enum gi_status run_jobs(struct work *w, const struct gi_parallel *parallel,
                               struct gi_err *err)
{
    int n = w->pieces->n;
    size_t nbytes = w->pieces->scratch_nbytes;
    if (parallel && n > 1)
        return parallel->run(parallel->self, n, piece_job, w, nbytes, err);
    void *scratch = malloc(nbytes ? nbytes : 1);
    if (!scratch)
        return gi_fail(err, GI_E_MEMORY, "out of memory for writing");
    for (int i = 0; i < n; i++)
        piece_job(w, i, scratch);
    free(scratch);
    return GI_OK;
}

enum gi_status gi_pieces_run(const struct gi_pieces *pieces, const struct gi_parallel *parallel,
                             struct gi_err *err)
{
    struct work w = {.pieces = pieces};
    int ahead = PIECES_PER_THREAD * (parallel ? parallel->threads : 1);
    w.room = ahead < pieces->n ? ahead : pieces->n;
    w.window = calloc((size_t)w.room, sizeof *w.window);
    if (!w.window)
        return gi_fail(err, GI_E_MEMORY, "out of memory for writing");
    pthread_mutex_init(&w.lock, NULL);
    pthread_cond_init(&w.moved, NULL);
    enum gi_status status = run_jobs(&w, parallel, err);
    if (!status && (status = w.status) && err)
        *err = w.fault;
    for (int i = 0; i < w.room; i++)
        free(w.window[i].bytes);
    free(w.window);
    pthread_cond_destroy(&w.moved);
    pthread_mutex_destroy(&w.lock);
    return status;
}

int gi_piece_rows(size_t row_nbytes, int height)
{
    size_t nbytes = row_nbytes * (size_t)height / PIECES_OF_IMAGE;
    nbytes = nbytes < LEAST_NBYTES ? LEAST_NBYTES : nbytes;
    nbytes = nbytes > MOST_NBYTES ? MOST_NBYTES : nbytes;
    size_t rows = nbytes / row_nbytes;
    return rows < 1 ? 1 : rows > (size_t)height ? height : (int)rows;
}
