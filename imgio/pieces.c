/* Makes pieces of a file in parallel and writes them in order. The thread that completes the next
 * piece in order also writes that piece, so that no thread is needed only for writing.
 * SPDX-License-Identifier: MIT */
#include "imgio/pieces.h"

#include <pthread.h>
#include <stdlib.h>

#include "imgio/small.h"

enum {
    PIECES_OF_IMAGE = 8,
    LEAST_NBYTES = 1 << 17,
    MOST_NBYTES = 1 << 20,
    /* Pieces per thread in the ring buffer. A thread may be ahead of the slowest thread by the
     * pieces of the whole buffer. */
    PIECES_PER_THREAD = 3,
};

struct work {
    const struct gi_pieces *pieces;
    pthread_mutex_t lock;  /* protects all members below */
    pthread_cond_t moved;  /* `written` or `status` changed */
    int taken;             /* number of pieces that threads have begun */
    int written;           /* number of pieces written */
    bool writing;          /* a thread is writing piece number `written` */
    struct gi_piece *ring; /* ring buffer: piece i is in ring[i % room] until it is written */
    int room;
    enum gi_status status; /* of the first failure, with its error */
    struct gi_err fault;
};

static void piece_free(struct gi_piece *piece)
{
    if (!piece->lent)
        free(piece->bytes);
}

static void note(struct work *w, enum gi_status status, const struct gi_err *fault)
{
    if (status && !w->status) {
        w->status = status;
        w->fault = *fault;
    }
}

/* Writes all finished pieces that are next in order. If another thread is writing, that thread will
 * find these pieces. Called with the lock held. The lock is released during writes. */
static void write_made(struct work *w)
{
    while (!w->writing && !w->status && w->ring[w->written % w->room].bytes) {
        struct gi_piece piece = w->ring[w->written % w->room];
        struct gi_err fault = {0};
        w->ring[w->written % w->room].bytes = NULL;
        w->writing = true;
        int number = w->written;
        pthread_mutex_unlock(&w->lock);
        enum gi_status status = w->pieces->write(w->pieces->self, &piece, number, &fault);
        piece_free(&piece);
        pthread_mutex_lock(&w->lock);
        w->writing = false;
        w->written++;
        note(w, status, &fault);
        pthread_cond_broadcast(&w->moved);
    }
}

/* Makes the next piece, whatever the job's index. Pieces are begun in order, so that the piece for
 * which all other threads wait is always being made by some thread. */
static void piece_job(void *arg, int index, void *scratch)
{
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
        w->ring[number % w->room] = piece;
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
    w.ring = gi_small_calloc((size_t)w.room, sizeof *w.ring);
    pthread_mutex_init(&w.lock, NULL);
    pthread_cond_init(&w.moved, NULL);
    enum gi_status status = run_jobs(&w, parallel, err);
    if (!status && (status = w.status) && err)
        *err = w.fault;
    for (int i = 0; i < w.room; i++)
        piece_free(&w.ring[i]);
    free(w.ring);
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
