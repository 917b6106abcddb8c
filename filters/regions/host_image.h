/* Images of a backend in host memory, for operations whose algorithm runs on the host.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "filters/option.h"
#include "kernels/device.h"

/* Makes `host`, a copy of an image of the backend, which the caller frees with gi_image_free().
 * Errors: those of copies. */
enum gi_status gi_host_copy(struct gi_queue *queue, struct gi_image *host,
                            const struct gi_image *src, struct gi_err *err);

/* Makes `host`, the image by which `src` is evaluated (filters/tone/luma.h). The caller frees it
 * with gi_image_free(). Errors: those of luma and of copies. */
enum gi_status gi_host_judge(struct gi_queue *queue, struct gi_image *host,
                             const struct gi_image *src, struct gi_err *err);

/* Makes `host`, the alpha of `src`, as gi_host_copy() does. */
enum gi_status gi_host_alpha(struct gi_queue *queue, struct gi_image *host,
                             const struct gi_image *src, struct gi_err *err);

/* Copies a host image to `dst`, which has the same shape and is on the backend. Errors: those of
 * copies. */
enum gi_status gi_host_store(struct gi_queue *queue, struct gi_image *dst,
                             const struct gi_image *host, struct gi_err *err);
