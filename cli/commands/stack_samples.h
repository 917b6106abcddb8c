/* The samples of many images of one shape, to be looked at place by place: in memory, or where they
 * are too many in a temporary file. SPDX-License-Identifier: MIT */
#ifndef GI_CLI_COMMANDS_STACK_SAMPLES_H
#define GI_CLI_COMMANDS_STACK_SAMPLES_H

#include "imgio/image.h"
#include "kernels/parallel.h"

struct gi_stack_samples;

/* For `n` images of the shape of `shape`. Holds `memory` bytes, or a few kilobytes of each image
 * where that is more. Errors: GI_E_MEMORY, and as gi_scratch_file_open(). */
enum gi_status gi_stack_samples_new(struct gi_stack_samples **samples, const struct gi_image *shape,
                                    size_t n, uint64_t memory, struct gi_err *err);
void gi_stack_samples_free(struct gi_stack_samples **samples);

/* Adds the next image. Errors: GI_E_IO, GI_E_AGAIN. */
enum gi_status gi_stack_samples_add(struct gi_stack_samples *samples, const struct gi_image *image,
                                    struct gi_err *err);

/* A stretch of samples in raster order, of all images: sample `from` + i of image k is sample i at
 * `at` + k * stride. */
struct gi_stack_samples_band {
    size_t from, n; /* samples */
    const unsigned char *at;
    size_t stride; /* bytes */
};

/* The stretch that begins at sample `from`, as long as memory allows; valid until the next one is
 * asked for. Errors: as gi_stack_samples_add(). */
enum gi_status gi_stack_samples_band(struct gi_stack_samples *samples,
                                     struct gi_stack_samples_band *band, size_t from,
                                     struct gi_pool *pool, struct gi_err *err);

#endif
