/* Primitives that move samples without computing: all result samples are input samples, bit for
 * bit, NaN included, or constants. Included by kernels/kernels.h, whose rules apply here, too.
 * SPDX-License-Identifier: MIT */
#ifndef GI_KERNELS_MOVE_H
#define GI_KERNELS_MOVE_H

#include "imgio/image.h"
#include "kernels/border.h"
#include "kernels/device.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { GI_PIXEL_NBYTES_MAX = 16 };

/* A window on an image: dst(y, x) is the image's sample at (y + top, x + left), outside the image
 * what `edge` says (its values by the last step). `src` may hold rows src_y and on of an image
 * `image_height` rows high, among them all that the window looks at; image_height 0: it is the
 * whole image. */
struct gi_window {
    int left, top; /* of dst's first pixel in the image; any, inside or out */
    int src_y, image_height;
    struct gi_edge edge;
};

/* `dst`: of any width and height, channels and type of `src`. */
typedef enum gi_status gi_window_fn(struct gi_queue *queue, struct gi_image *dst,
                                    const struct gi_image *src, const struct gi_window *spec,
                                    struct gi_err *err);

/* As `turn` says (imgio/image.h), bits of enum gi_turn. `dst` has the channels and type of `src`,
 * and its width and height, which change places with GI_TURN_TRANSPOSE. */
typedef enum gi_status gi_turn_fn(struct gi_queue *queue, struct gi_image *dst,
                                  const struct gi_image *src, int turn, struct gi_err *err);

/* Channel c of dst is channel from[c].channel of source from[c].source; of source -1 it is the
 * constant value[c], by the last step. */
struct gi_shuffle {
    struct {
        int source, channel;
    } from[GI_MAX_CHANNELS];
    float value[GI_MAX_CHANNELS];
    int nsources; /* 1 to GI_SHUFFLE_SOURCES */
};

enum { GI_SHUFFLE_SOURCES = 4 };

/* `srcs`: images of one shape and type, each with channels of its own number; `dst` with those that
 * are to be made. */
typedef enum gi_status gi_shuffle_fn(struct gi_queue *queue, struct gi_image *dst,
                                     const struct gi_image *srcs, const struct gi_shuffle *spec,
                                     struct gi_err *err);

/* The smallest rectangle with all pixels that differ from `pixel` by more than `tolerance`: |s - p|
 * > tolerance for some channel, in float32, NaN differing from everything. With alpha, colour is
 * taken as c * a (one multiplication) on both sides, and held against tolerance * full scale. */
struct gi_bounds_spec {
    float pixel[GI_MAX_CHANNELS]; /* sample units */
    float tolerance;              /* sample units */
};

struct gi_bounds {
    int left, top, right, bottom; /* right and bottom are just outside; all 0 where there is none */
};

/* Waits. */
typedef enum gi_status gi_bounds_fn(struct gi_queue *queue, struct gi_bounds *bounds,
                                    const struct gi_image *src, const struct gi_bounds_spec *spec,
                                    struct gi_err *err);

/* Returns the row of `src` for row y of the result; -1: the border value. */
GI_HOST_DEVICE static inline int gi_window_row(const struct gi_window *spec,
                                               const struct gi_image *src, int y)
{
    int height = spec->image_height ? spec->image_height : src->height;
    int row = gi_border_index((long long)y + spec->top, height, spec->edge.border);
    return row < 0 ? -1 : row - spec->src_y;
}

/* The pixel of the edge's values, by the last step, as an image of that shape holds it: at most
 * GI_PIXEL_NBYTES_MAX bytes. */
void gi_edge_pixel(void *pixel, const struct gi_edge *edge, const struct gi_image *image);

#ifdef __cplusplus
}
#endif
#endif
