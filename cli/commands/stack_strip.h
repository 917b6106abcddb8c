/* A strip of images of one shape, side by side, as gi_filter_stack takes it: whole in memory, or if
 * that is too small, in a temporary file that is read part by part. SPDX-License-Identifier: MIT */
#ifndef GI_CLI_COMMANDS_STACK_STRIP_H
#define GI_CLI_COMMANDS_STACK_STRIP_H

#include <limits.h>

#include "imgio/image.h"
#include "kernels/parallel.h"

struct gi_stack_strip;

enum { GI_STACK_STRIP_COLUMNS_MAX = INT_MAX / 16 }; /* of a part: its bytes per row fit in an int */

/* Makes a strip for at most `n` images shaped like `shape`. It takes `memory` bytes, but at least a
 * few kilobytes per image. Errors: GI_E_MEMORY, and as gi_scratch_file_open(). */
enum gi_status gi_stack_strip_new(struct gi_stack_strip **strip, const struct gi_image *shape,
                                  size_t n, uint64_t memory, struct gi_err *err);
void gi_stack_strip_free(struct gi_stack_strip **strip);

/* Adds the next image. Errors: GI_E_IO, GI_E_AGAIN. */
enum gi_status gi_stack_strip_add(struct gi_stack_strip *strip, const struct gi_image *image,
                                  struct gi_err *err);

/* Return the number of images in the strip, and whether it is `n`. */
int gi_stack_strip_images(const struct gi_stack_strip *strip);
bool gi_stack_strip_is_full(const struct gi_stack_strip *strip);

/* Removes all images. */
void gi_stack_strip_clear(struct gi_stack_strip *strip);

/* A part: the same rectangle of all images, side by side. */
struct gi_stack_strip_part {
    struct gi_image image; /* a view that is valid until the next part is read */
    int x, y;              /* the rectangle's first pixel in each image */
};

/* Replaces *part (all zeros at first) by the next one in raster order, with as many rows as memory
 * allows. Sets *more to false after the last part. Errors: as gi_stack_strip_add(). */
enum gi_status gi_stack_strip_next(struct gi_stack_strip *strip, struct gi_stack_strip_part *part,
                                   bool *more, struct gi_pool *pool, struct gi_err *err);

#endif
