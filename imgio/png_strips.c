/* PNG's pixels out: rows filtered and deflated by strips, each strip one or more IDAT chunks of one
 * stream. A strip is made alone, so that its bytes don't depend on who makes it, or when; strips
 * are written in order, by whoever finds the next one made. SPDX-License-Identifier: MIT */
#include "imgio/png_strips.h"

#include <libdeflate.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "imgio/deflate_join.h"
#include "imgio/png_filter.h"

enum {
    /* Filtered bytes of a strip: an eighth of the image, so that small ones have work for several
     * threads too, but within these (a strip of 128 KiB costs 0.4 % in size); more where one row
     * has more. */
    STRIP_LEAST_NBYTES = 1 << 17,
    STRIP_MOST_NBYTES = 1 << 20,
    STRIPS_OF_IMAGE = 8,
    CHUNK_NBYTES = 1 << 30, /* a chunk's length has 31 bits */
    ZLIB_HEAD_NBYTES = 2,
    ZLIB_TAIL_NBYTES = 4, /* Adler-32 */
    /* Strips made or being made for each thread: what one may run ahead of the slowest. */
    STRIPS_PER_THREAD = 3,
};

/* One strip deflated. */
struct strip {
    uint8_t *bytes; /* with room for the zlib tail; NULL: not made yet */
    size_t nbytes;
    size_t raw_nbytes;
    uint32_t adler; /* of the filtered rows */
};

/* Everything that the writing of one image's pixels needs. */
struct writer {
    struct gi_sink *sink;
    const struct gi_image *image;
    int compression;
    int strip_rows, nstrips;
    size_t row_nbytes, pixel_nbytes;
    size_t raw_room; /* filtered bytes of a strip at most */

    pthread_mutex_t lock; /* over all that follows */
    pthread_cond_t moved; /* `written` or `status` changed */
    int taken;            /* strips that somebody makes or has made */
    int written;          /* strips in the sink */
    bool writing;         /* somebody writes strip number `written` */
    struct strip *window; /* strip i is in window[i % window_strips] until it is written */
    int window_strips;
    uint32_t adler;
    enum gi_status status; /* the first failure's, with its error */
    struct gi_err fault;
};

/* A thread's scratch. */
struct buffers {
    uint8_t *raw;     /* a strip's filtered rows, each behind its filter byte */
    uint8_t *rows[2]; /* 16 bits: big-endian row, and the one above it */
    uint8_t *filter;
    uint8_t *zeros; /* stands above the first row */
};

static size_t scratch_nbytes(const struct writer *w)
{
    return w->raw_room + 4 * w->row_nbytes;
}

static struct buffers divide_scratch(const struct writer *w, uint8_t *scratch)
{
    struct buffers b = {.raw = scratch};
    scratch += w->raw_room;
    b.rows[0] = scratch;
    b.rows[1] = scratch + w->row_nbytes;
    b.filter = scratch + 2 * w->row_nbytes;
    b.zeros = scratch + 3 * w->row_nbytes;
    memset(b.zeros, 0, w->row_nbytes);
    return b;
}

/* The bytes of row y as PNG wants them: 8 bits in place, 16 bits turned in one of b->rows. */
static const uint8_t *png_row(const struct writer *w, const struct buffers *b, int y)
{
    const void *row = gi_row(w->image, y);
    if (w->image->type == GI_U8)
        return row;
    const uint16_t *samples = row;
    uint8_t *out = b->rows[y & 1];
    for (size_t i = 0; i < w->row_nbytes / 2; i++) {
        out[2 * i] = (uint8_t)(samples[i] >> 8);
        out[2 * i + 1] = (uint8_t)samples[i];
    }
    return out;
}

/* Fills b->raw with rows y0..y1-1. The row above the first comes along even at a strip's start:
 * filters look across strips, only the compressor doesn't. */
static void filter_strip(const struct writer *w, const struct buffers *b, int y0, int y1)
{
    const uint8_t *above = y0 ? png_row(w, b, y0 - 1) : b->zeros;
    uint8_t *out = b->raw;
    for (int y = y0; y < y1; y++, out += 1 + w->row_nbytes) {
        const uint8_t *row = png_row(w, b, y);
        if (w->compression > 0) {
            gi_png_filter_row(out, row, above, w->row_nbytes, w->pixel_nbytes, b->filter);
        } else {
            out[0] = 0;
            memcpy(out + 1, row, w->row_nbytes);
        }
        above = row;
    }
}

/* Makes strip `number`; strip->bytes is the caller's. False where memory is out. */
static bool make_strip(const struct writer *w, struct strip *strip, int number, uint8_t *scratch)
{
    struct buffers b = divide_scratch(w, scratch);
    bool last = number == w->nstrips - 1;
    size_t head = number ? 0 : ZLIB_HEAD_NBYTES, n = 0;
    int y0 = number * w->strip_rows, y1 = last ? w->image->height : y0 + w->strip_rows;
    strip->raw_nbytes = (size_t)(y1 - y0) * (1 + w->row_nbytes);
    struct libdeflate_compressor *c = libdeflate_alloc_compressor(w->compression);
    size_t room = c ? libdeflate_deflate_compress_bound(c, strip->raw_nbytes) : 0;
    uint8_t *bytes = c ? malloc(head + room + GI_DEFLATE_JOIN_NBYTES + ZLIB_TAIL_NBYTES) : NULL;
    if (bytes) {
        filter_strip(w, &b, y0, y1);
        strip->adler = libdeflate_adler32(1, b.raw, strip->raw_nbytes);
        n = libdeflate_deflate_compress(c, b.raw, strip->raw_nbytes, bytes + head, room);
        if (n && !last)
            n = gi_deflate_open(bytes + head, n);
    }
    libdeflate_free_compressor(c);
    if (!n) {
        free(bytes);
        return false;
    }
    if (head) /* RFC 1950: deflate with a window of 32 KiB; the level is a hint that nobody reads */
        memcpy(bytes, "\x78\x01", ZLIB_HEAD_NBYTES);
    strip->bytes = bytes;
    strip->nbytes = head + n;
    return true;
}

/* Writes a strip, the next one in order; `adler` is that of all strips up to it. */
static enum gi_status write_strip(const struct writer *w, struct strip *strip, bool last,
                                  uint32_t adler, struct gi_err *err)
{
    enum gi_status status = GI_OK;
    if (last)
        for (int i = 0; i < ZLIB_TAIL_NBYTES; i++)
            strip->bytes[strip->nbytes++] = (uint8_t)(adler >> (24 - 8 * i));
    for (size_t at = 0, n; at < strip->nbytes && !status; at += n) {
        n = strip->nbytes - at < CHUNK_NBYTES ? strip->nbytes - at : CHUNK_NBYTES;
        status = gi_png_write_chunk(w->sink, "IDAT", strip->bytes + at, n, err);
    }
    return status;
}

static void set_status(struct writer *w, enum gi_status status, const struct gi_err *fault)
{
    if (!w->status) {
        w->status = status;
        w->fault = *fault;
    }
}

/* Writes what is made and next in order, unless another thread is at it: that one will find it.
 * Called with the lock held, which is given up while writing. */
static void write_made(struct writer *w)
{
    while (!w->writing && !w->status && w->window[w->written % w->window_strips].bytes) {
        struct strip strip = w->window[w->written % w->window_strips];
        bool last = w->written == w->nstrips - 1;
        struct gi_err fault = {0};
        w->window[w->written % w->window_strips].bytes = NULL;
        w->adler = (uint32_t)adler32_combine(w->adler, strip.adler, (z_off_t)strip.raw_nbytes);
        uint32_t adler = w->adler;
        w->writing = true;
        pthread_mutex_unlock(&w->lock);
        enum gi_status status = write_strip(w, &strip, last, adler, &fault);
        free(strip.bytes);
        pthread_mutex_lock(&w->lock);
        w->writing = false;
        w->written++;
        if (status)
            set_status(w, status, &fault);
        pthread_cond_broadcast(&w->moved);
    }
}

/* Makes the next strip, whatever the job's number: strips are begun in order, so the one that all
 * others may wait for is always in work. */
static void strip_job(void *arg, int index, void *scratch)
{
    (void)index;
    struct writer *w = arg;
    pthread_mutex_lock(&w->lock);
    int number = w->taken++;
    while (number >= w->written + w->window_strips && !w->status)
        pthread_cond_wait(&w->moved, &w->lock);
    if (!w->status) {
        pthread_mutex_unlock(&w->lock);
        struct strip strip = {0};
        struct gi_err fault = {0};
        if (!make_strip(w, &strip, number, scratch))
            gi_fail(&fault, GI_E_MEMORY, "out of memory for the PNG compressor");
        pthread_mutex_lock(&w->lock);
        w->window[number % w->window_strips] = strip;
        if (fault.status) {
            set_status(w, fault.status, &fault);
            pthread_cond_broadcast(&w->moved);
        }
        write_made(w);
    }
    pthread_mutex_unlock(&w->lock);
}

static enum gi_status run_jobs(struct writer *w, const struct gi_parallel *parallel,
                               struct gi_err *err)
{
    if (parallel && w->nstrips > 1)
        return parallel->run(parallel->self, w->nstrips, strip_job, w, scratch_nbytes(w), err);
    void *scratch = malloc(scratch_nbytes(w));
    if (!scratch)
        return gi_fail(err, GI_E_MEMORY, "out of memory for the PNG compressor");
    for (int i = 0; i < w->nstrips; i++)
        strip_job(w, i, scratch);
    free(scratch);
    return GI_OK;
}

enum gi_status gi_png_write_pixels(struct gi_sink *sink, const struct gi_image *image,
                                   const struct gi_save_options *options, struct gi_err *err)
{
    struct writer w = {.sink = sink,
                       .image = image,
                       .compression = options->compression,
                       .row_nbytes = gi_row_nbytes(image),
                       .adler = 1};
    size_t nbytes = (1 + w.row_nbytes) * (size_t)image->height / STRIPS_OF_IMAGE;
    nbytes = nbytes < STRIP_LEAST_NBYTES ? STRIP_LEAST_NBYTES : nbytes;
    nbytes = nbytes > STRIP_MOST_NBYTES ? STRIP_MOST_NBYTES : nbytes;
    size_t rows = nbytes / (1 + w.row_nbytes);
    w.pixel_nbytes = w.row_nbytes / (size_t)image->width;
    w.strip_rows = rows < 1 ? 1 : rows > (size_t)image->height ? image->height : (int)rows;
    w.nstrips = 1 + (image->height - 1) / w.strip_rows;
    w.raw_room = (size_t)w.strip_rows * (1 + w.row_nbytes);
    int ahead = STRIPS_PER_THREAD * (options->parallel ? options->parallel->threads : 1);
    w.window_strips = ahead < w.nstrips ? ahead : w.nstrips;
    w.window = calloc((size_t)w.window_strips, sizeof *w.window);
    if (!w.window)
        return gi_fail(err, GI_E_MEMORY, "out of memory for the PNG compressor");
    pthread_mutex_init(&w.lock, NULL);
    pthread_cond_init(&w.moved, NULL);
    enum gi_status status = run_jobs(&w, options->parallel, err);
    if (!status && (status = w.status) && err)
        *err = w.fault;
    for (int i = 0; i < w.window_strips; i++)
        free(w.window[i].bytes);
    free(w.window);
    pthread_cond_destroy(&w.moved);
    pthread_mutex_destroy(&w.lock);
    return status;
}
