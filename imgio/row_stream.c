/* A queue of rows. The decoder fills pieces, which wait in a list until their rows are copied.
 * SPDX-License-Identifier: MIT */
#include "imgio/row_stream.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "imgio/small.h"

enum { AHEAD_NBYTES = 4 << 20 /* decoded before they are read */ };

struct piece {
    struct gi_image rows;
    int used; /* rows that were read */
    struct piece *next;
};

struct gi_row_stream {
    gi_row_decoder *decode;
    void *arg;
    bool apart; /* `thread` decodes; otherwise all rows were decoded before the first is read */
    pthread_t thread;
    struct piece *filling; /* by the decoder alone; NULL before the first piece */
    bool starved;          /* by the decoder alone: memory ran out */
    pthread_mutex_t lock;  /* protects all members below */
    pthread_cond_t moved;  /* any of them changed */
    struct piece *first, *last;
    struct piece *spares; /* pieces whose memory can be used again, as its pages are mapped */
    uint64_t nbytes;      /* of the pieces in the list */
    bool stopped;         /* no more rows are wanted */
    bool ended;           /* with `status` and `fault` */
    enum gi_status status;
    struct gi_err fault;
};

void gi_rows_copy(const struct gi_image *to, int x, const struct gi_image *from)
{
    size_t nbytes = gi_row_nbytes(from), left = nbytes / (size_t)from->width * (size_t)x;
    for (int y = 0; y < to->height; y++)
        memmove((char *)gi_row(to, y) + left, gi_row(from, y), nbytes);
}

static void free_piece(struct piece *piece)
{
    if (piece)
        gi_image_free(&piece->rows);
    free(piece);
}

static void free_pieces(struct piece *list)
{
    for (struct piece *next; list; list = next) {
        next = list->next;
        free_piece(list);
    }
}

/* Appends the piece that the decoder has filled. Called with the lock held. */
static void publish(struct gi_row_stream *s)
{
    struct piece *piece = s->filling;
    s->filling = NULL;
    if (!piece)
        return;
    *(s->first ? &s->last->next : &s->first) = piece;
    s->last = piece;
    s->nbytes += gi_image_nbytes(&piece->rows);
    pthread_cond_broadcast(&s->moved);
}

/* Returns a piece for rows of this shape, whose memory may be that of `spare`. Returns NULL if
 * memory ran out. */
static struct piece *new_piece(struct piece *spare, const struct gi_image *rows)
{
    if (spare && spare->rows.height >= rows->height && spare->rows.width == rows->width &&
        spare->rows.channels == rows->channels && spare->rows.type == rows->type) {
        spare->rows.height = rows->height;
        spare->used = 0;
        spare->next = NULL;
        return spare;
    }
    free_piece(spare);
    struct piece *piece = gi_small_calloc(1, sizeof *piece);
    if (!gi_image_alloc(&piece->rows, rows->width, rows->height, rows->channels, rows->type, NULL))
        return piece;
    free(piece);
    return NULL;
}

static bool lend(void *self, struct gi_image *rows, int top, int bottom)
{
    struct gi_row_stream *s = self;
    rows->height = bottom - top;
    pthread_mutex_lock(&s->lock);
    publish(s);
    while (s->apart && s->nbytes >= AHEAD_NBYTES && !s->stopped)
        pthread_cond_wait(&s->moved, &s->lock);
    bool stopped = s->stopped;
    struct piece *spare = stopped ? NULL : s->spares;
    if (spare)
        s->spares = spare->next;
    pthread_mutex_unlock(&s->lock);
    if (stopped)
        return false;
    s->filling = new_piece(spare, rows);
    s->starved = !s->filling;
    if (s->filling)
        *rows = gi_image_rows(&s->filling->rows, 0, rows->height);
    return s->filling;
}

static void *decode_all(void *arg)
{
    struct gi_row_stream *s = arg;
    struct gi_err fault = {0};
    const struct gi_row_taker taker = {.self = s, .lend = lend};
    enum gi_status status = s->decode(s->arg, &taker, &fault);
    if (s->starved)
        status = gi_fail(&fault, GI_E_MEMORY, "out of memory");
    pthread_mutex_lock(&s->lock);
    if (!status)
        publish(s);
    s->status = status;
    s->fault = fault;
    s->ended = true;
    pthread_cond_broadcast(&s->moved);
    pthread_mutex_unlock(&s->lock);
    return NULL;
}

struct gi_row_stream *gi_row_stream_open(gi_row_decoder *decode, void *arg)
{
    struct gi_row_stream *s = gi_small_calloc(1, sizeof *s);
    s->decode = decode;
    s->arg = arg;
    s->apart = true;
    pthread_mutex_init(&s->lock, NULL);
    pthread_cond_init(&s->moved, NULL);
    if (pthread_create(&s->thread, NULL, decode_all, s)) {
        s->apart = false;
        decode_all(s);
    }
    return s;
}

/* Waits for the first piece, and returns it, or NULL if the decoder has ended without it. */
static struct piece *wait_for_piece(struct gi_row_stream *s)
{
    pthread_mutex_lock(&s->lock);
    while (!s->first && !s->ended)
        pthread_cond_wait(&s->moved, &s->lock);
    struct piece *piece = s->first;
    pthread_mutex_unlock(&s->lock);
    return piece;
}

/* Removes the first piece, whose rows were read. */
static void drop_piece(struct gi_row_stream *s)
{
    pthread_mutex_lock(&s->lock);
    struct piece *piece = s->first;
    s->first = piece->next;
    s->nbytes -= gi_image_nbytes(&piece->rows);
    bool wanted = !s->ended;
    if (wanted) {
        piece->next = s->spares;
        s->spares = piece;
    }
    pthread_cond_broadcast(&s->moved);
    pthread_mutex_unlock(&s->lock);
    if (!wanted)
        free_piece(piece);
}

enum gi_status gi_row_stream_read(struct gi_row_stream *s, const struct gi_image *rows,
                                  struct gi_err *err)
{
    for (int y = 0, n; y < rows->height; y += n) {
        struct piece *piece = wait_for_piece(s);
        if (!piece && s->status && err)
            *err = s->fault;
        if (!piece)
            return s->status ? s->status : gi_fail(err, GI_E_FORMAT, "ends early");
        const struct gi_image *from = &piece->rows;
        if (from->width != rows->width || from->channels != rows->channels ||
            from->type != rows->type)
            return gi_fail(err, GI_E_FORMAT, "has rows of another shape");
        n = from->height - piece->used;
        n = n < rows->height - y ? n : rows->height - y;
        if (rows->data) {
            const struct gi_image to = gi_image_rows(rows, y, y + n);
            const struct gi_image read = gi_image_rows(from, piece->used, piece->used + n);
            gi_rows_copy(&to, 0, &read);
        }
        piece->used += n;
        if (piece->used == from->height)
            drop_piece(s);
    }
    return GI_OK;
}

enum gi_status gi_row_stream_end(struct gi_row_stream *s, struct gi_err *err)
{
    pthread_mutex_lock(&s->lock);
    while (!s->ended)
        pthread_cond_wait(&s->moved, &s->lock);
    pthread_mutex_unlock(&s->lock);
    if (s->status && err)
        *err = s->fault;
    return s->status;
}

void gi_row_stream_close(struct gi_row_stream **out)
{
    struct gi_row_stream *s = *out;
    *out = NULL;
    if (!s)
        return;
    pthread_mutex_lock(&s->lock);
    s->stopped = true;
    pthread_cond_broadcast(&s->moved);
    pthread_mutex_unlock(&s->lock);
    if (s->apart)
        pthread_join(s->thread, NULL);
    free_piece(s->filling);
    free_pieces(s->spares);
    free_pieces(s->first);
    pthread_cond_destroy(&s->moved);
    pthread_mutex_destroy(&s->lock);
    free(s);
}
