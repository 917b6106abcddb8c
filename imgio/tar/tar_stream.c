/* Reads or decompresses a tar ahead of the thread that reads its members; if no thread can be
 * started, that thread does it itself. The bytes are stored in pieces, which are shared: a member's
 * bytes stay in them until the thread that works on the member has copied them.
 * SPDX-License-Identifier: MIT */
#include "imgio/tar/tar_stream.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "imgio/small.h"
#include "imgio/tar/libarchive.h"

enum {
    PIECE_NBYTES = 1 << 20,
    AHEAD_NBYTES = 8 << 20,        /* that may be ready and not passed */
    SPARES = 4,                    /* maximum number of unused pieces that are kept */
    PACKED_AHEAD_NBYTES = 1 << 20, /* the same for compressed bytes: it stays in the cache */
    READ_NBYTES = GI_READER_AHEAD, /* maximum of a read */
    MARKS = 256,                   /* maximum number of blocks in a piece */
};

struct gi_tar_piece {
    atomic_int references;
    uint64_t at;   /* position of the first byte in the stream */
    size_t nbytes; /* that are ready */
    size_t nmarks;
    struct mark {
        uint64_t end, stored; /* of a block, and how many bytes of the input it needed */
    } marks[MARKS];
    struct gi_tar_piece *next; /* of the stream, or of the spares */
    unsigned char bytes[PIECE_NBYTES];
};

struct gi_tar_stream {
    struct gi_reader *from;
    struct gi_tar_stream *packed; /* the same bytes with compression, owned here; NULL: of `from` */
    pthread_t thread;
    bool runs; /* otherwise the thread that needs bytes makes them, in wait_for() */
    atomic_bool stopped;

    /* These belong to the thread that makes the bytes. */
    bool opened; /* `archive` */
    struct archive *archive;
    size_t lent;             /* number of bytes that libarchive received last */
    struct gi_err own_fault; /* of the input */

    pthread_mutex_t lock;              /* protects the following members */
    pthread_cond_t filled, drained;    /* for `produced` and `ended`, and for `at` */
    struct gi_tar_piece *first, *last; /* that are not passed completely */
    uint64_t at, produced;             /* number of bytes passed and ready */
    uint64_t wanted;                   /* value of `produced` that a thread waits for */
    uint64_t ahead;                    /* no more is made if produced - at is as large */
    bool ended;
    struct gi_err fault; /* why it ended; GI_OK at the end */
};

/* Unused pieces. The system would have to clear new memory for each piece. */
static struct {
    pthread_mutex_t lock;
    struct gi_tar_piece *first;
    int n, streams; /* number of pieces, and of open streams; without streams none is kept */
} spares = {.lock = PTHREAD_MUTEX_INITIALIZER};

static struct gi_tar_piece *new_piece(uint64_t at)
{
    pthread_mutex_lock(&spares.lock);
    struct gi_tar_piece *piece = spares.first;
    if (piece) {
        spares.first = piece->next;
        spares.n--;
    }
    pthread_mutex_unlock(&spares.lock);
    if (!piece)
        piece = malloc(sizeof *piece);
    if (!piece)
        return NULL;
    piece->references = 1;
    piece->at = at;
    piece->nbytes = piece->nmarks = 0;
    piece->next = NULL;
    return piece;
}

void gi_tar_piece_release(struct gi_tar_piece *piece)
{
    if (!piece || atomic_fetch_sub(&piece->references, 1) > 1)
        return;
    pthread_mutex_lock(&spares.lock);
    bool keeps = spares.streams > 0 && spares.n < SPARES;
    if (keeps) {
        piece->next = spares.first;
        spares.first = piece;
        spares.n++;
    }
    pthread_mutex_unlock(&spares.lock);
    if (!keeps)
        free(piece);
}

/* Releases a reference of each piece of a list. */
static void release_all(struct gi_tar_piece *pieces)
{
    for (struct gi_tar_piece *next; pieces; pieces = next) {
        next = pieces->next;
        gi_tar_piece_release(pieces);
    }
}

static void count_streams(int more)
{
    struct gi_tar_piece *unused = NULL;
    pthread_mutex_lock(&spares.lock);
    spares.streams += more;
    if (!spares.streams) {
        unused = spares.first;
        spares.first = NULL;
        spares.n = 0;
    }
    pthread_mutex_unlock(&spares.lock);
    for (struct gi_tar_piece *next; unused; unused = next) {
        next = unused->next;
        free(unused);
    }
}

/* ---- the thread that makes the bytes ---- */

bool gi_tar_stream_knows(const unsigned char *bytes, size_t nbytes)
{
    static const struct {
        const char *bytes;
        size_t n;
    } magics[] = {{"\x1f\x8b", 2},
                  {"BZh", 3},
                  {"\xfd"
                   "7zXZ",
                   6},
                  {"\x28\xb5\x2f\xfd", 4}};
    for (size_t i = 0; i < sizeof magics / sizeof *magics; i++)
        if (nbytes >= magics[i].n && memcmp(bytes, magics[i].bytes, magics[i].n) == 0)
            return true;
    return false;
}

static la_ssize_t give(struct archive *archive, void *self, const void **bytes)
{
    struct gi_tar_stream *stream = self;
    const unsigned char *at;
    size_t nbytes;
    gi_tar_stream_pass(stream->packed, stream->lent);
    stream->lent = 0;
    if (gi_tar_stream_peek(stream->packed, &at, &nbytes, &stream->own_fault)) {
        gi_libarchive.archive_set_error(archive, -1, "%s", "read error");
        return -1;
    }
    *bytes = at;
    stream->lent = nbytes;
    return (la_ssize_t)nbytes;
}

/* Returns the piece that the next bytes belong to, or NULL if memory ran out. */
static struct gi_tar_piece *last_piece(struct gi_tar_stream *stream)
{
    struct gi_tar_piece *last = stream->last;
    if (last && last->nbytes < sizeof last->bytes && last->nmarks < MARKS)
        return last;
    struct gi_tar_piece *piece = new_piece(stream->produced);
    if (!piece) {
        gi_fail(&stream->own_fault, GI_E_MEMORY, "%s: out of memory: %zu bytes",
                gi_reader_name(stream->from), sizeof *piece);
        return NULL;
    }
    pthread_mutex_lock(&stream->lock);
    *(stream->first ? &stream->last->next : &stream->first) = piece;
    stream->last = piece;
    pthread_mutex_unlock(&stream->lock);
    return piece;
}

/* Makes `n` bytes behind those of the piece visible. */
static void publish(struct gi_tar_stream *stream, struct gi_tar_piece *piece, size_t n)
{
    pthread_mutex_lock(&stream->lock);
    piece->nbytes += n;
    stream->produced += n;
    if (stream->produced >= stream->wanted)
        pthread_cond_signal(&stream->filled);
    pthread_mutex_unlock(&stream->lock);
}

/* Stores a block. Returns false if memory ran out. */
static bool store(struct gi_tar_stream *stream, const unsigned char *bytes, size_t nbytes)
{
    while (nbytes) {
        struct gi_tar_piece *piece = last_piece(stream);
        if (!piece)
            return false;
        size_t room = sizeof piece->bytes - piece->nbytes, n = nbytes < room ? nbytes : room;
        memcpy(piece->bytes + piece->nbytes, bytes, n);
        pthread_mutex_lock(&stream->lock);
        piece->marks[piece->nmarks++] =
            (struct mark){stream->produced + n, gi_tar_stream_at(stream->packed) + stream->lent};
        pthread_mutex_unlock(&stream->lock);
        publish(stream, piece, n);
        bytes += n;
        nbytes -= n;
    }
    return true;
}

/* Copies some of the input. Returns false at its end and after an error. */
static bool copy(struct gi_tar_stream *stream)
{
    struct gi_tar_piece *piece = last_piece(stream);
    size_t n = piece ? sizeof piece->bytes - piece->nbytes : 0, got = 0;
    n = n < READ_NBYTES ? n : READ_NBYTES;
    if (!piece || gi_reader_read_some(stream->from, piece->bytes + piece->nbytes, n, &got,
                                      &stream->own_fault))
        return false;
    publish(stream, piece, got);
    return got > 0;
}

/* Decompresses a block. Returns false at the end and after an error. */
static bool decompress(struct gi_tar_stream *stream)
{
    struct archive *a = stream->archive;
    struct archive_entry *entry;
    const void *bytes;
    size_t nbytes;
    la_int64_t at;
    int got = ARCHIVE_OK;
    if (!stream->opened) {
        got = gi_libarchive.archive_read_open2(a, stream, NULL, give, NULL, NULL);
        if (got == ARCHIVE_OK)
            got = gi_libarchive.archive_read_next_header(a, &entry);
        stream->opened = true;
    }
    if (got == ARCHIVE_OK)
        got = gi_libarchive.archive_read_data_block(a, &bytes, &nbytes, &at);
    if (got == ARCHIVE_OK)
        return store(stream, bytes, nbytes);
    if (got != ARCHIVE_EOF && !stream->own_fault.status) {
        const char *why = gi_libarchive.archive_error_string(a);
        gi_fail(&stream->own_fault, GI_E_FORMAT, "%s: %s", gi_reader_name(stream->from),
                why ? why : "is damaged");
    }
    return false;
}

/* Makes the next bytes, or the end of the stream. */
static void make_some(struct gi_tar_stream *stream)
{
    if (!stream->stopped && (stream->packed ? decompress(stream) : copy(stream)))
        return;
    pthread_mutex_lock(&stream->lock);
    stream->fault = stream->own_fault;
    stream->ended = true;
    pthread_cond_signal(&stream->filled);
    pthread_mutex_unlock(&stream->lock);
}

static void *run(void *arg)
{
    struct gi_tar_stream *stream = arg;
    while (!stream->ended) { /* which only this thread changes */
        pthread_mutex_lock(&stream->lock);
        while (stream->produced - stream->at >= stream->ahead && !stream->stopped)
            pthread_cond_wait(&stream->drained, &stream->lock);
        pthread_mutex_unlock(&stream->lock);
        make_some(stream);
    }
    return NULL;
}

static void start(struct gi_tar_stream *stream, struct gi_reader *from, uint64_t ahead)
{
    pthread_mutex_init(&stream->lock, NULL);
    pthread_cond_init(&stream->filled, NULL);
    pthread_cond_init(&stream->drained, NULL);
    count_streams(1);
    stream->from = from;
    stream->ahead = ahead;
    stream->runs = pthread_create(&stream->thread, NULL, run, stream) == 0;
}

void gi_tar_stream_open(struct gi_tar_stream **out, struct gi_reader *from, bool packed)
{
    struct gi_tar_stream *input = *out = gi_small_calloc(1, sizeof *input);
    gi_reader_cancel_by(from, &input->stopped);
    start(input, from, packed ? PACKED_AHEAD_NBYTES : AHEAD_NBYTES);
    if (!packed)
        return;
    struct gi_tar_stream *stream = *out = gi_small_calloc(1, sizeof *stream);
    struct archive *a = stream->archive = gi_small_check(gi_libarchive.archive_read_new());
    gi_libarchive.archive_read_support_format_raw(a);
    gi_libarchive.archive_read_support_filter_gzip(a);
    gi_libarchive.archive_read_support_filter_bzip2(a);
    gi_libarchive.archive_read_support_filter_xz(a);
    gi_libarchive.archive_read_support_filter_zstd(a);
    stream->packed = input;
    start(stream, from, AHEAD_NBYTES);
}

uint64_t gi_tar_stream_memory(const struct gi_tar_stream *stream)
{
    enum {
        PARTLY = 2
    }; /* the first piece, whose start was passed, and the last, which is filled */
    uint64_t pieces = stream->ahead / PIECE_NBYTES + PARTLY;
    return pieces * sizeof(struct gi_tar_piece) + (stream->packed
                                                       ? gi_tar_stream_memory(stream->packed)
                                                       : SPARES * sizeof(struct gi_tar_piece));
}

/* Makes the thread end soon. A thread that decompresses may wait for the other thread. */
static void stop(struct gi_tar_stream *stream)
{
    pthread_mutex_lock(&stream->lock);
    stream->stopped = true;
    pthread_cond_signal(&stream->drained);
    pthread_mutex_unlock(&stream->lock);
    if (stream->packed)
        stop(stream->packed);
}

void gi_tar_stream_close(struct gi_tar_stream **out)
{
    struct gi_tar_stream *stream = *out;
    *out = NULL;
    if (!stream)
        return;
    stop(stream);
    if (stream->runs)
        pthread_join(stream->thread, NULL);
    if (stream->archive)
        gi_libarchive.archive_read_free(stream->archive);
    gi_tar_stream_close(&stream->packed);
    release_all(stream->first);
    count_streams(-1);
    pthread_cond_destroy(&stream->drained);
    pthread_cond_destroy(&stream->filled);
    pthread_mutex_destroy(&stream->lock);
    free(stream);
}

/* ---- the reader of the tar ---- */

/* Waits until the stream has bytes up to `end`, or has ended. The lock must be held. */
static void wait_for(struct gi_tar_stream *stream, uint64_t end)
{
    stream->wanted = end;
    while (stream->produced < end && !stream->ended) {
        if (stream->runs) {
            pthread_cond_wait(&stream->filled, &stream->lock);
            continue;
        }
        pthread_mutex_unlock(&stream->lock);
        make_some(stream);
        pthread_mutex_lock(&stream->lock);
    }
}

/* Removes the pieces before stream->at from the stream, except the last. The lock must be held. */
static struct gi_tar_piece *cut_passed(struct gi_tar_stream *stream)
{
    struct gi_tar_piece *passed = NULL, **end = &passed;
    while (stream->first && stream->first->next && stream->first->next->at <= stream->at) {
        *end = stream->first;
        end = &stream->first->next;
        stream->first = stream->first->next;
    }
    *end = NULL;
    return passed;
}

enum gi_status gi_tar_stream_peek(struct gi_tar_stream *stream, const unsigned char **bytes,
                                  size_t *nbytes, struct gi_err *err)
{
    enum gi_status status = GI_OK;
    pthread_mutex_lock(&stream->lock);
    wait_for(stream, stream->at + 1);
    struct gi_tar_piece *passed = cut_passed(stream);
    const struct gi_tar_piece *piece = stream->first;
    *nbytes = 0;
    *bytes = NULL;
    if (stream->produced > stream->at) {
        size_t skip = (size_t)(stream->at - piece->at);
        *bytes = piece->bytes + skip;
        *nbytes = piece->nbytes - skip;
        *nbytes = *nbytes < GI_READER_AHEAD ? *nbytes : GI_READER_AHEAD;
    } else if (stream->fault.status) {
        *err = stream->fault;
        status = err->status;
    }
    pthread_mutex_unlock(&stream->lock);
    release_all(passed);
    return status;
}

uint64_t gi_tar_stream_pass(struct gi_tar_stream *stream, uint64_t nbytes)
{
    uint64_t passed = 0;
    bool more = true;
    while (passed < nbytes && more) {
        pthread_mutex_lock(&stream->lock);
        wait_for(stream, stream->at + 1);
        uint64_t n = stream->produced - stream->at;
        n = n < nbytes - passed ? n : nbytes - passed;
        more = n > 0;
        stream->at += n;
        struct gi_tar_piece *pieces = cut_passed(stream);
        pthread_cond_signal(&stream->drained);
        pthread_mutex_unlock(&stream->lock);
        passed += n;
        release_all(pieces);
    }
    return passed;
}

uint64_t gi_tar_stream_at(const struct gi_tar_stream *stream)
{
    return stream->at; /* only the caller's thread changes it */
}

uint64_t gi_tar_stream_stored(struct gi_tar_stream *stream, uint64_t at)
{
    uint64_t stored = 0;
    if (!stream->packed)
        return at;
    pthread_mutex_lock(&stream->lock);
    for (const struct gi_tar_piece *piece = stream->first; piece && !stored; piece = piece->next)
        for (size_t i = 0; i < piece->nmarks && !stored; i++)
            if (piece->marks[i].end >= at)
                stored = piece->marks[i].stored;
    pthread_mutex_unlock(&stream->lock);
    return stored;
}

bool gi_tar_stream_hold(struct gi_tar_stream *stream, uint64_t at, uint64_t nbytes,
                        struct gi_tar_piece *pieces[GI_TAR_HELD_PIECES])
{
    int n = 0;
    for (int i = 0; i < GI_TAR_HELD_PIECES; i++)
        pieces[i] = NULL;
    pthread_mutex_lock(&stream->lock);
    wait_for(stream, at + nbytes);
    bool has = stream->produced >= at + nbytes;
    for (struct gi_tar_piece *piece = stream->first; has && piece; piece = piece->next) {
        if (piece->at + piece->nbytes <= at || piece->at >= at + nbytes)
            continue;
        has = n < GI_TAR_HELD_PIECES; /* pieces of many short blocks are short */
        if (has)
            pieces[n++] = piece;
    }
    for (int i = 0; i < n && has; i++)
        atomic_fetch_add(&pieces[i]->references, 1);
    pthread_mutex_unlock(&stream->lock);
    return has;
}

void gi_tar_pieces_copy(struct gi_tar_piece *const pieces[GI_TAR_HELD_PIECES], unsigned char *to,
                        uint64_t at, uint64_t nbytes)
{
    uint64_t end = at + nbytes;
    for (int i = 0; i < GI_TAR_HELD_PIECES && pieces[i]; i++) {
        const struct gi_tar_piece *next = i + 1 < GI_TAR_HELD_PIECES ? pieces[i + 1] : NULL;
        uint64_t n = (next ? next->at : end) - at;
        memcpy(to, pieces[i]->bytes + (at - pieces[i]->at), (size_t)n);
        to += n;
        at += n;
    }
}
