/* Contract of xyb_scales and xyb_norms, which compute SSIMULACRA 2 except for its last sum
 * (filters/statistics/compare_ssimulacra2.c), and the arithmetic that both backends share. J.
 * Sneyers, https://github.com/cloudinary/ssimulacra2, version 2.1. Sums are in double precision,
 * without fused multiply-adds.
 * SPDX-License-Identifier: MIT */
#ifndef GI_KERNELS_XYB_H
#define GI_KERNELS_XYB_H

#include <math.h>

#include "kernels/rules.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    GI_XYB_SCALES = 6,
    GI_XYB_LEAST = 8, /* minimum side of the image, and of a scale that is halved, in pixels */
    GI_XYB_REACH = 4, /* of the Gaussian on either side */
    GI_XYB_TILE = 32, /* pixels on each side of a tile, whose maps are added up first */
    GI_XYB_ROWS = 4,  /* rows of a tile whose samples in a column are added up first */
    GI_XYB_NORMS = 6, /* of the three maps, the sum and the sum of fourth powers of each */
    GI_XYB_TILE_SUMS = 3 * GI_XYB_NORMS,
};

/* A scale of an image. Its planes X, Y and B are below one another; the first sample of plane c is
 * at column x of row y + c * height. */
struct gi_xyb_scale {
    int width, height;
    int x, y;
    int across, first_tile; /* tiles in a row of tiles; number of the first tile */
};

/* All scales in one image of one channel: the first scale at the top, the others side by side below
 * it. A scale is half as large as the scale before, rounded up. */
struct gi_xyb_layout {
    int n; /* 0 to GI_XYB_SCALES */
    int width, height;
    int ntiles;
    struct gi_xyb_scale scales[GI_XYB_SCALES];
};

/* Makes the layout for an image of this size. An image with a side below GI_XYB_LEAST has no
 * scales. */
struct gi_xyb_layout gi_xyb_layout_of(int width, int height);

/* xyb_scales: converts `src`, which has 1 (gray) or 3 channels, to XYB on all scales. `dst` is
 * GI_F32 with one channel, and has the size of the layout. Samples of GI_F32 are in linear light; a
 * sample v of an integer type has the linear light light[v]. Each pixel of a smaller scale is the
 * mean of 2 x 2 pixels in linear light, added from left to right, then from top to bottom; the last
 * row or column of an odd size is repeated. Samples of `dst` outside the planes keep their values.
 */
struct gi_xyb {
    const float *light; /* 256 or 65536 entries in host memory; NULL for GI_F32 */
};

/* xyb_norms: compares the result of xyb_scales for an original, `src`, and for another image. The
 * values a and b of the two images, a^2 + b^2, and a b are blurred along columns, then along rows.
 * From these, gi_xyb_maps() computes the three maps. In a tile, GI_XYB_ROWS samples in a column are
 * added up, from top to bottom, then these sums from top to bottom, then columns i and i + 16 for i
 * = 0 to 15, and so on with 8, 4, 2 and 1; then tiles row by row. */
struct gi_xyb_compare {
    int width, height; /* of the first scale */
    const struct gi_image *other;
};

/* Sums over the samples of each channel of each scale: of the maps 0 to 2 in entries 0, 2 and 4, of
 * their fourth powers in entries 1, 3 and 5. */
struct gi_xyb_norms {
    double v[GI_XYB_SCALES][3][GI_XYB_NORMS];
};

/* Adds up the sums of tiles: GI_XYB_NORMS entries for each channel of each tile. */
void gi_xyb_add_tiles(struct gi_xyb_norms *norms, const struct gi_xyb_layout *layout,
                      const double *tiles);

/* Linear light to X, Y and B, in steps that the CPU does for many pixels each. Sets the mixtures
 * that the cones of the eye receive, which are not below 0. */
GI_HOST_DEVICE static inline void gi_xyb_mix(double lms[3], float red, float green, float blue)
{
    const double bias = 0.0037930732552754493;
    double r = (double)red, g = (double)green, b = (double)blue;
    double l = 0.30 * r + 0.622 * g + 0.078 * b + bias;
    double m = 0.23 * r + 0.692 * g + 0.078 * b + bias;
    double s = 0.24342268924547819 * r + 0.20476744424496821 * g + 0.5518098665095536 * b + bias;
    lms[0] = l > 0 ? l : 0;
    lms[1] = m > 0 ? m : 0;
    lms[2] = s > 0 ? s : 0;
}

/* Returns the bits of a first guess of a cube root: a third of the exponent. */
GI_HOST_DEVICE static inline uint32_t gi_xyb_guess(uint32_t bits)
{
    return bits / 3 + 0x2a5119f2;
}

/* Returns the cube root of x, 0 to 4, with a relative error below 1e-13, by two steps of Halley's
 * method from the guess t. Unlike cbrt() it is the same on all machines. */
GI_HOST_DEVICE static inline double gi_xyb_cube_root(double x, double t)
{
    double t3 = t * t * t;
    t *= (t3 + 2 * x) / (2 * t3 + x);
    t3 = t * t * t;
    return t * ((t3 + 2 * x) / (2 * t3 + x));
}

/* Sets X, Y and B, which are shifted and scaled to about 0 to 1, from cube roots. */
GI_HOST_DEVICE static inline void gi_xyb_of_roots(float xyb[3], double l, double m, double s)
{
    const double root = 0.15595420054924862; /* of the bias */
    l -= root;
    m -= root;
    s -= root;
    double luma = 0.5 * (l + m);
    xyb[0] = (float)(0.5 * (l - m) * 14 + 0.42);
    xyb[1] = (float)(luma + 0.01);
    xyb[2] = (float)(s - luma + 0.55);
}

/* The mean of 2 x 2 pixels. */
GI_HOST_DEVICE static inline float gi_xyb_mean(float v00, float v01, float v10, float v11)
{
    return (v00 + v01 + v10 + v11) * 0.25f;
}

/* The Gaussian of sigma 1.5 by D. Charalampidis, Recursive implementation of the Gaussian filter
 * using truncated cosine functions, 2016, whose impulse response is finite: the sum of three
 * cosines of k pi / 10, k = 1, 3, 5. `at` is the centre of nine values, `step` apart. Values
 * outside the image are 0. */
GI_HOST_DEVICE static inline double gi_xyb_blur(const double *at, ptrdiff_t step)
{
    double sum = 0.26462110548819867 * at[0];
    sum += 0.21292859201042236 * (at[-step] + at[step]);
    sum += 0.10933537277746042 * (at[-2 * step] + at[2 * step]);
    sum += 0.036011114658364304 * (at[-3 * step] + at[3 * step]);
    sum += 0.009414367809653585 * (at[-4 * step] + at[4 * step]);
    return sum;
}

/* Sets the maps of a pixel: a structural similarity, edges that the other image adds, and edges
 * that it loses. m has the blurred values a, b, a^2 + b^2 and a b. */
GI_HOST_DEVICE static inline void gi_xyb_maps(double maps[3], double a, double b, double ma,
                                              double mb, double squares, double product)
{
    const double c2 = 0.0009;
    double apart = ma - mb;
    double covariance = 2 * (product - ma * mb) + c2;
    double variances = squares - (ma * ma + mb * mb) + c2;
    double error = 1 - (1 - apart * apart) * covariance / variances;
    double edge = (1 + fabs(b - mb)) / (1 + fabs(a - ma)) - 1;
    maps[0] = error > 0 ? error : 0;
    maps[1] = edge > 0 ? edge : 0;
    maps[2] = edge < 0 ? -edge : 0;
}

#ifdef __cplusplus
}
#endif

#endif
