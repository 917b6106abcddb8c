/* A strip of images of one shape, concatenated in memory or in a temporary file.
 * SPDX-License-Identifier: MIT */
#include "cli/commands/stack_strip.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "imgio/scratch_file.h"
#include "imgio/small.h"

enum { PIECE_NBYTES = 4096 }; /* minimum bytes per image, so that a read is worth its cost */

struct gi_stack_strip {
    struct gi_image shape;
    size_t pixel_nbytes, row_nbytes, image_nbytes; /* of an image, without padding */
    int n, added;
    int fd;                /* -1: all images are in memory */
    struct gi_image image; /* the images, or a part of them */
    int width, height;     /* maximum of a part, for each image */
    /* The part that is being read. */
    struct gi_stack_strip_part part;
    int part_width;
    pthread_mutex_t lock; /* guards the following member */
    int why;              /* errno */
};

/* Returns the maximum number of columns of each image in a part. */
static size_t columns_max(const struct gi_stack_strip *strip)
{
    size_t most = GI_STACK_STRIP_COLUMNS_MAX / (size_t)strip->n;
    return strip->n == 1 ? (size_t)strip->shape.width : most ? most : 1;
}

/* Chooses the size of a part, which has whole images, whole rows of images, or pieces of a row. */
static void choose_part(struct gi_stack_strip *strip, uint64_t memory)
{
    uint64_t each = memory / (uint64_t)strip->n, width = (uint64_t)strip->shape.width;
    each = each < PIECE_NBYTES ? PIECE_NBYTES : each;
    uint64_t columns = each / strip->pixel_nbytes, rows = each / strip->row_nbytes;
    columns = columns > columns_max(strip) ? columns_max(strip) : columns;
    columns = columns > width ? width : columns;
    rows = columns < width                        ? 1
           : rows > (uint64_t)strip->shape.height ? (uint64_t)strip->shape.height
                                                  : rows;
    strip->width = (int)columns;
    strip->height = rows ? (int)rows : 1;
}

static enum gi_status fail_memory(const struct gi_stack_strip *strip, struct gi_err *err)
{
    return gi_fail(err, GI_E_MEMORY, "out of memory: %d x %d pixels of %d images", strip->width,
                   strip->height, strip->n);
}

enum gi_status gi_stack_strip_new(struct gi_stack_strip **out, const struct gi_image *shape,
                                  size_t n, uint64_t memory, uint64_t part, struct gi_err *err)
{
    struct gi_stack_strip *strip = *out = gi_small_calloc(1, sizeof *strip);
    bool whole = false;
    pthread_mutex_init(&strip->lock, NULL);
    strip->shape = *shape;
    strip->n = n < GI_STACK_STRIP_COLUMNS_MAX ? (int)n : GI_STACK_STRIP_COLUMNS_MAX;
    strip->fd = -1;
    strip->pixel_nbytes = (size_t)shape->channels * gi_type_nbytes(shape->type);
    strip->row_nbytes = gi_row_nbytes(shape);
    strip->image_nbytes = strip->row_nbytes * (size_t)shape->height;
    choose_part(strip, memory);
    enum gi_status status = GI_OK;
    if (strip->width < shape->width || strip->height < shape->height)
        status = gi_scratch_file_open(&strip->fd, (uint64_t)n * strip->image_nbytes, err);
    else
        whole = true;
    if (part < memory)
        choose_part(strip, part);
    if (whole && strip->width < shape->width) { /* rows in memory are not divided */
        strip->width = shape->width;
        strip->height = 1;
    }
    if (!status &&
        gi_image_alloc(&strip->image, strip->n * strip->width,
                       whole ? shape->height : strip->height, shape->channels, shape->type, NULL))
        status = fail_memory(strip, err);
    if (status)
        gi_stack_strip_free(out);
    return status;
}

void gi_stack_strip_free(struct gi_stack_strip **out)
{
    struct gi_stack_strip *strip = *out;
    *out = NULL;
    if (!strip)
        return;
    if (strip->fd >= 0)
        close(strip->fd);
    gi_image_free(&strip->image);
    free(strip);
}

int gi_stack_strip_images(const struct gi_stack_strip *strip)
{
    return strip->added;
}

bool gi_stack_strip_is_full(const struct gi_stack_strip *strip)
{
    return strip->added == strip->n;
}

void gi_stack_strip_clear(struct gi_stack_strip *strip)
{
    strip->added = 0;
}

enum gi_status gi_stack_strip_add(struct gi_stack_strip *strip, const struct gi_image *image,
                                  struct gi_err *err)
{
    size_t row_nbytes = strip->row_nbytes, at = (size_t)strip->added * strip->image_nbytes;
    bool packed = image->stride == row_nbytes;
    if (strip->fd < 0)
        for (int y = 0; y < image->height; y++)
            memcpy((char *)gi_row(&strip->image, y) + (size_t)strip->added * row_nbytes,
                   gi_row(image, y), row_nbytes);
    else if (packed && !gi_scratch_file_write(strip->fd, image->data, strip->image_nbytes, at))
        return gi_scratch_file_fail(err);
    else if (!packed)
        for (int y = 0; y < image->height; y++, at += row_nbytes)
            if (!gi_scratch_file_write(strip->fd, gi_row(image, y), row_nbytes, at))
                return gi_scratch_file_fail(err);
    strip->added++;
    return GI_OK;
}

enum gi_status gi_stack_strip_get(const struct gi_stack_strip *strip, const struct gi_image *image,
                                  int k, struct gi_err *err)
{
    size_t nbytes = strip->row_nbytes, at = (size_t)k * strip->image_nbytes;
    for (int y = 0; y < image->height; y++, at += nbytes)
        if (strip->fd < 0)
            memcpy(gi_row(image, y), (const char *)gi_row(&strip->image, y) + (size_t)k * nbytes,
                   nbytes);
        else if (!gi_scratch_file_read(strip->fd, gi_row(image, y), nbytes, at))
            return gi_scratch_file_fail(err);
    return GI_OK;
}

/* Reads the part of image k. */
static void read_image(void *arg, int k, void *scratch)
{
    struct gi_stack_strip *strip = arg;
    const struct gi_stack_strip_part *part = &strip->part;
    size_t nbytes = (size_t)strip->part_width * strip->pixel_nbytes;
    for (int y = 0; y < part->image.height; y++) {
        size_t at = (size_t)k * strip->image_nbytes + (size_t)(part->y + y) * strip->row_nbytes +
                    (size_t)part->x * strip->pixel_nbytes;
        char *to = (char *)gi_row(&part->image, y) + (size_t)k * nbytes;
        if (gi_scratch_file_read(strip->fd, to, nbytes, at))
            continue;
        pthread_mutex_lock(&strip->lock);
        strip->why = errno;
        pthread_mutex_unlock(&strip->lock);
        return;
    }
}

enum gi_status gi_stack_strip_next(struct gi_stack_strip *strip, struct gi_stack_strip_part *part,
                                   bool *more, struct gi_pool *pool, struct gi_err *err)
{
    int x = 0, y = 0;
    if (part->image.data) {
        x = part->x + part->image.width / strip->added;
        y = part->y;
        if (x == strip->shape.width) {
            x = 0;
            y += part->image.height;
        }
    }
    *more = y < strip->shape.height;
    if (!*more)
        return GI_OK;
    int right = strip->shape.width - x, below = strip->shape.height - y;
    strip->part_width = right < strip->width ? right : strip->width;
    int height = below < strip->height ? below : strip->height, from = strip->fd < 0 ? y : 0;
    *part = (struct gi_stack_strip_part){.x = x, .y = y};
    part->image = gi_image_rows(&strip->image, from, from + height);
    part->image.width = strip->added * strip->part_width;
    strip->part = *part;
    if (strip->fd < 0)
        return GI_OK;
    enum gi_status status = gi_pool_run(pool, strip->added, read_image, strip, 0, err);
    if (!status && strip->why) {
        errno = strip->why;
        status = gi_scratch_file_fail(err);
    }
    return status;
}
