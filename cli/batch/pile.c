/* The samples of many images of one shape.
 * SPDX-License-Identifier: MIT */
#include "cli/batch/pile.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/batch/temporary.h"

enum { STRETCH_NBYTES = 4096 }; /* of an image at least, that a read brings more than it costs */

struct gi_pile {
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

static size_t sample_nbytes(const struct gi_pile *pile)
{
    return gi_type_nbytes(pile->shape.type);
}

enum gi_status gi_pile_new(struct gi_pile **out, const struct gi_image *shape, size_t n,
                           uint64_t memory, struct gi_err *err)
{
    struct gi_pile *pile = *out = calloc(1, sizeof *pile);
    if (!pile)
        return gi_fail(err, GI_E_MEMORY, "out of memory: a pile of images");
    pthread_mutex_init(&pile->lock, NULL);
    pile->shape = *shape;
    pile->n = n;
    pile->fd = -1;
    pile->image_nbytes = gi_row_nbytes(shape) * (size_t)shape->height;
    pile->stretch_nbytes = pile->image_nbytes;
    size_t stretch = memory / n < STRETCH_NBYTES ? STRETCH_NBYTES : (size_t)(memory / n);
    enum gi_status status = GI_OK;
    if (stretch < pile->image_nbytes) {
        pile->stretch_nbytes = stretch - stretch % sample_nbytes(pile);
        status = gi_temporary_open(&pile->fd, (uint64_t)n * pile->image_nbytes, err);
    }
    if (!status && !(pile->bytes = malloc(n * pile->stretch_nbytes)))
        status = gi_fail(err, GI_E_MEMORY, "out of memory: %zu bytes of %zu images each",
                         pile->stretch_nbytes, n);
    if (status)
        gi_pile_free(out);
    return status;
}

void gi_pile_free(struct gi_pile **out)
{
    struct gi_pile *pile = *out;
    *out = NULL;
    if (!pile)
        return;
    if (pile->fd >= 0)
        close(pile->fd);
    free(pile->bytes);
    free(pile);
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

enum gi_status gi_pile_add(struct gi_pile *pile, const struct gi_image *image, struct gi_err *err)
{
    size_t row_nbytes = gi_row_nbytes(image), at = pile->added * pile->image_nbytes;
    bool packed = (size_t)image->stride == row_nbytes;
    int pieces = packed ? 1 : image->height;
    size_t nbytes = packed ? pile->image_nbytes : row_nbytes;
    for (int y = 0; y < pieces; y++, at += nbytes) {
        const unsigned char *row = gi_row(image, y);
        if (pile->fd < 0)
            memcpy(pile->bytes + at, row, nbytes);
        else if (!write_at(pile->fd, row, nbytes, (off_t)at))
            return gi_temporary_fail(err);
    }
    pile->added++;
    return GI_OK;
}

/* Reads the part of image k. */
static void read_stretch(void *arg, int k, void *scratch)
{
    struct gi_pile *pile = arg;
    unsigned char *to = pile->bytes + (size_t)k * pile->stretch_nbytes;
    size_t left = pile->take_nbytes;
    off_t at = (off_t)((size_t)k * pile->image_nbytes + pile->from_nbytes);
    (void)scratch;
    while (left) {
        ssize_t n = pread(pile->fd, to, left, at);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0) {
            pthread_mutex_lock(&pile->lock);
            pile->why = n ? errno : EIO;
            pthread_mutex_unlock(&pile->lock);
            return;
        }
        to += n;
        at += n;
        left -= (size_t)n;
    }
}

enum gi_status gi_pile_band(struct gi_pile *pile, struct gi_pile_band *band, size_t from,
                            struct gi_pool *pool, struct gi_err *err)
{
    size_t sample = sample_nbytes(pile), left = pile->image_nbytes - from * sample;
    size_t take = left < pile->stretch_nbytes ? left : pile->stretch_nbytes;
    *band = (struct gi_pile_band){
        .from = from, .n = take / sample, .at = pile->bytes, .stride = pile->stretch_nbytes};
    if (pile->fd < 0) {
        band->at += from * sample;
        band->n = left / sample;
        return GI_OK;
    }
    pile->from_nbytes = from * sample;
    pile->take_nbytes = take;
    enum gi_status status = gi_pool_run(pool, (int)pile->added, read_stretch, pile, 0, err);
    if (!status && pile->why) {
        errno = pile->why;
        status = gi_temporary_fail(err);
    }
    return status;
}
