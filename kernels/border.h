/* Border modes: one function, for host and device, chooses the pixel that is used outside an image.
 * SPDX-License-Identifier: MIT */
#ifndef GI_KERNELS_BORDER_H
#define GI_KERNELS_BORDER_H

#include "imgio/image.h"

#ifdef __CUDACC__
#define GI_HOST_DEVICE __host__ __device__
#else
#define GI_HOST_DEVICE
#endif

/* For an image a b c d:                                         left of it | right of it */
enum gi_border {
    GI_BORDER_CLAMP,      /* the nearest pixel of the image          a a a  |  d d d */
    GI_BORDER_VALUE,      /* a constant, gi_border_spec.value               v v v  |  v v v */
    GI_BORDER_WRAP,       /* the image again                         b c d  |  a b c */
    GI_BORDER_MIRROR,     /* the image mirrored, edge pixel twice    c b a  |  d c b */
    GI_BORDER_REFLECT101, /* the image mirrored, edge pixel once     d c b  |  c b a */
};

/* The neighbours outside the image. */
struct gi_border_spec {
    enum gi_border mode;
    float value[GI_MAX_CHANNELS]; /* values of GI_BORDER_VALUE in sample units, one per channel,
                                     alpha included; the rule GI_ALPHA_WEIGH or GI_ALPHA_KEEP
                                     multiplies them by alpha too */
};

/* Returns the index, 0 to n - 1, of the pixel that is used at position i of an axis of n pixels; i
 * may be outside the axis. Returns -1 if the border value is used. */
GI_HOST_DEVICE static inline int gi_border_index(long long i, int n, enum gi_border border)
{
    if (i >= 0 && i < n)
        return (int)i;
    switch (border) {
    case GI_BORDER_VALUE:
        return -1;
    case GI_BORDER_WRAP: {
        long long r = i % n;
        return (int)(r < 0 ? r + n : r);
    }
    case GI_BORDER_MIRROR: {
        long long period = 2LL * n, r = i % period;
        r = r < 0 ? r + period : r;
        return (int)(r < n ? r : period - 1 - r);
    }
    case GI_BORDER_REFLECT101: {
        if (n == 1)
            return 0;
        long long period = 2LL * n - 2, r = i % period;
        r = r < 0 ? r + period : r;
        return (int)(r < n ? r : period - r);
    }
    default:
        return i < 0 ? 0 : n - 1;
    }
}

#ifdef __cplusplus
extern "C" {
#endif

enum { GI_PIXEL_NBYTES_MAX = 16 };

/* Converts the border values to the sample type of `image` by the last step, and stores them in
 * `pixel`. At most GI_PIXEL_NBYTES_MAX bytes are written. */
void gi_border_pixel(void *pixel, const struct gi_border_spec *border,
                     const struct gi_image *image);

#ifdef __cplusplus
}
#endif

#endif
