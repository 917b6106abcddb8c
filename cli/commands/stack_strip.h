/* A strip of images of one shape, side by side, as gi_filter_stack takes them. The whole strip is
 * in memory, or if memory is too small, in a temporary file that is read part by part.
 * SPDX-License-Identifier: MIT */
#pragma once

#include <limits.h>

#include "imgio/image.h"
#include "kernels/parallel.h"

struct gi_stack_strip;

/* Maximum columns of a part, whose bytes per row then fit in an int. */
enum { GI_STACK_STRIP_COLUMNS_MAX = INT_MAX / 16 };

/* Makes a strip for at most `n` images shaped like `shape`. The strip takes `memory` bytes of
 * memory, but at least a few kilobytes per image. A part has `part` bytes, at most `memory`, but at
 * least a row or a few kilobytes of each image. Errors: GI_E_MEMORY, and as gi_scratch_file_open().
 */
enum gi_status gi_stack_strip_new(struct gi_stack_strip **strip, const struct gi_image *shape,
                                  size_t n, uint64_t memory, uint64_t part, struct gi_err *err);
void gi_stack_strip_free(struct gi_stack_strip **strip);

/* Adds the next image. Errors: GI_E_IO, GI_E_AGAIN. */
enum gi_status gi_stack_strip_add(struct gi_stack_strip *strip, const struct gi_image *image,
                                  struct gi_err *err);

/* gi_stack_strip_images() returns the number of images in the strip, and gi_stack_strip_is_full()
 * whether it is `n`. */
int gi_stack_strip_images(const struct gi_stack_strip *strip);
bool gi_stack_strip_is_full(const struct gi_stack_strip *strip);

/* Copies image k, counted from 0, to `image`, which has its shape and memory. Errors: as
 * gi_stack_strip_add(). */
enum gi_status gi_stack_strip_get(const struct gi_stack_strip *strip, const struct gi_image *image,
                                  int k, struct gi_err *err);

/* Removes all images. */
void gi_stack_strip_clear(struct gi_stack_strip *strip);

/* A part of the strip. It consists of the same rectangle of each image, and the rectangles are side
 * by side. */
struct gi_stack_strip_part {
    struct gi_image image; /* a view that is valid until the next part is read */
    int x, y;              /* the rectangle's first pixel in each image */
};

/* Replaces *part by the next part in raster order, with as many rows as fit. Before the
 * first call *part must be all zeros. Sets *more to false after the last part. Errors: as
 * gi_stack_strip_add(). */
enum gi_status gi_stack_strip_next(struct gi_stack_strip *strip, struct gi_stack_strip_part *part,
                                   bool *more, struct gi_pool *pool, struct gi_err *err);
