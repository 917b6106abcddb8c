/* Images whose samples are copies of samples of other images, or constants: channel permutations
 * and flips.
 * SPDX-License-Identifier: MIT */
#ifndef GI_KERNELS_CUDA_GATHER_SAMPLES_H
#define GI_KERNELS_CUDA_GATHER_SAMPLES_H

#include <stddef.h>

#include "kernels/cuda/cuda.h"

/* Sample c of pixel (x, y) of `dst` is copied from the address
 * from[c] + x * step[c] + y * stride[c]. A "sample" is nbytes bytes, so it may also be a part of a
 * sample of the image, or a pixel. A sample of 16 bytes is the only one of its pixel, is aligned,
 * and may reach into the padding of a row. */
struct sample_gather {
    struct gi_image dst;
    int nbytes, channels, width;       /* 1, 2, 4 or 16 bytes; 1 to 4 samples per pixel; pixels */
    const char *from[GI_MAX_CHANNELS]; /* NULL: the sample is value[c] */
    ptrdiff_t step[GI_MAX_CHANNELS], stride[GI_MAX_CHANNELS]; /* in bytes, of either sign */
    uint32_t value[GI_MAX_CHANNELS];
};

/* Enqueues the copies. They may write the padding of the rows of `dst`. */
enum gi_status gi_cuda_gather_samples(struct gi_cuda_queue *cu, const struct sample_gather *gather,
                                      struct gi_err *err);

#endif
