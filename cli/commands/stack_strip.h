/* A strip of images of one shape, side by side, as gi_filter_stack takes it: whole in memory, or if
 * that is too small, in a temporary file that is read part by part. SPDX-License-Identifier: MIT */
#ifndef GI_CLI_COMMANDS_STACK_STRIP_H
#define GI_CLI_COMMANDS_STACK_STRIP_H

#include <limits.h>

#include "imgio/image.h"
#include "kernels/parallel.h"

struct gi_stack_strip;

enum { GI_STACK_STRIP_COLUMNS_MAX = INT_MAX / 16 }; /* of a part: its rows fit in an int of bytes */

/* For at most `n` images of the shape of `shape`. It takes `memory` bytes, or a few kilobytes per
 * image where that is more. Errors: GI_E_MEMORY, and as gi_scratch_file_open(). */
enum gi_status gi_stack_strip_new(struct gi_stack_strip **strip, const struct gi_image *shape,
                                  size_t n, uint64_t memory, struct gi_err *err);
void gi_stack_strip_free(struct gi_stack_strip **strip);

/* Adds the next image. Errors: GI_E_IO, GI_E_AGAIN. */
enum gi_status gi_stack_strip_add(struct gi_stack_strip *strip, const struct gi_image *image,
                                  struct gi_err *err);

/* Number of images in it, and whether these are `n`. */
int gi_stack_strip_images(const struct gi_stack_strip *strip);
bool gi_stack_strip_is_full(const struct gi_stack_strip *strip);

/* Removes all images. */
void gi_stack_strip_clear(struct gi_stack_strip *strip);

/* A rectangle of all images, side by side. */
struct gi_stack_strip_part {
    struct gi_image image; /* a view, valid until the next part is read */
    int x, y;              /* pixels: the place of the rectangle in each image */
};

/* Reads the part behind *part in raster order, of as many rows as memory allows; all zeros: the
 * first part. *more becomes false behind the last part. Errors: as gi_stack_strip_add(). */
enum gi_status gi_stack_strip_next(struct gi_stack_strip *strip, struct gi_stack_strip_part *part,
                                   bool *more, struct gi_pool *pool, struct gi_err *err);

#endif
