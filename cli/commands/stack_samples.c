/* The samples of many images of one shape.
 * SPDX-License-Identifier: MIT */
#include "cli/commands/stack_samples.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/run/scratch_file.h"

enum { STRETCH_NBYTES = 4096 }; /* of an image at least, that a read brings more than it costs */

struct gi_stack_samples {
    struct gi_image shape;
    size_t image_nbytes, n, added;
    int fd;                /* -1: all are in memory */
    unsigned char *bytes;  /* all images, or a stretch of all */
    size_t stretch_nbytes; /* of an image in `bytes` */
    /* The part that is being read. */
    size_t from_nbytes, take_nbytes;
    pthread_mutex_t lock; /* over what follows */
    int why;              /* errno */
};

static size_t sample_nbytes(const struct gi_stack_samples *samples)
{
    return gi_type_nbytes(samples->shape.type);
}

enum gi_status gi_stack_samples_new(struct gi_stack_samples **out, const struct gi_image *shape,
                                    size_t n, uint64_t memory, struct gi_err *err)
{
    struct gi_stack_samples *samples = *out = calloc(1, sizeof *samples);
    if (!samples)
        return gi_fail(err, GI_E_MEMORY, "out of memory: samples of images");
    pthread_mutex_init(&samples->lock, NULL);
    samples->shape = *shape;
    samples->n = n;
    samples->fd = -1;
    samples->image_nbytes = gi_row_nbytes(shape) * (size_t)shape->height;
    samples->stretch_nbytes = samples->image_nbytes;
    size_t stretch = memory / n < STRETCH_NBYTES ? STRETCH_NBYTES : (size_t)(memory / n);
    enum gi_status status = GI_OK;
    if (stretch < samples->image_nbytes) {
        samples->stretch_nbytes = stretch - stretch % sample_nbytes(samples);
        status = gi_scratch_file_open(&samples->fd, (uint64_t)n * samples->image_nbytes, err);
    }
    if (!status && !(samples->bytes = malloc(n * samples->stretch_nbytes)))
        status = gi_fail(err, GI_E_MEMORY, "out of memory: %zu bytes of %zu images each",
                         samples->stretch_nbytes, n);
    if (status)
        gi_stack_samples_free(out);
    return status;
}

void gi_stack_samples_free(struct gi_stack_samples **out)
{
    struct gi_stack_samples *samples = *out;
    *out = NULL;
    if (!samples)
        return;
    if (samples->fd >= 0)
        close(samples->fd);
    free(samples->bytes);
    free(samples);
}

static bool write_at(int fd, const unsigned char *bytes, size_t nbytes, off_t at)
{
    while (nbytes) {
        ssize_t n = pwrite(fd, bytes, nbytes, at);
        if (n < 0 && errno != EINTR)
            return false;
        if (n > 0) {
            bytes += n;
            nbytes -= (size_t)n;
            at += n;
        }
    }
    return true;
}

enum gi_status gi_stack_samples_add(struct gi_stack_samples *samples, const struct gi_image *image,
                                    struct gi_err *err)
{
    size_t row_nbytes = gi_row_nbytes(image), at = samples->added * samples->image_nbytes;
    bool packed = (size_t)image->stride == row_nbytes;
    int pieces = packed ? 1 : image->height;
    size_t nbytes = packed ? samples->image_nbytes : row_nbytes;
    for (int y = 0; y < pieces; y++, at += nbytes) {
        const unsigned char *row = gi_row(image, y);
        if (samples->fd < 0)
            memcpy(samples->bytes + at, row, nbytes);
        else if (!write_at(samples->fd, row, nbytes, (off_t)at))
            return gi_scratch_file_fail(err);
    }
    samples->added++;
    return GI_OK;
}

/* Reads the part of image k. */
static void read_stretch(void *arg, int k, void *scratch)
{
    struct gi_stack_samples *samples = arg;
    unsigned char *to = samples->bytes + (size_t)k * samples->stretch_nbytes;
    size_t left = samples->take_nbytes;
    off_t at = (off_t)((size_t)k * samples->image_nbytes + samples->from_nbytes);
    (void)scratch;
    while (left) {
        ssize_t n = pread(samples->fd, to, left, at);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0) {
            pthread_mutex_lock(&samples->lock);
            samples->why = n ? errno : EIO;
            pthread_mutex_unlock(&samples->lock);
            return;
        }
        to += n;
        at += n;
        left -= (size_t)n;
    }
}

enum gi_status gi_stack_samples_band(struct gi_stack_samples *samples,
                                     struct gi_stack_samples_band *band, size_t from,
                                     struct gi_pool *pool, struct gi_err *err)
{
    size_t sample = sample_nbytes(samples), left = samples->image_nbytes - from * sample;
    size_t take = left < samples->stretch_nbytes ? left : samples->stretch_nbytes;
    *band = (struct gi_stack_samples_band){
        .from = from, .n = take / sample, .at = samples->bytes, .stride = samples->stretch_nbytes};
    if (samples->fd < 0) {
        band->at += from * sample;
        band->n = left / sample;
        return GI_OK;
    }
    samples->from_nbytes = from * sample;
    samples->take_nbytes = take;
    enum gi_status status = gi_pool_run(pool, (int)samples->added, read_stretch, samples, 0, err);
    if (!status && samples->why) {
        errno = samples->why;
        status = gi_scratch_file_fail(err);
    }
    return status;
}
