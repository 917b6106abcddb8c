/* Contracts of the family geometry: remapping by coordinate maps, resampling, flips and quarter
 * turns, copies with a border, and the bounding box of the pixels that differ from one colour.
 * SPDX-License-Identifier: MIT */
#ifndef GI_KERNELS_GEOMETRY_H
#define GI_KERNELS_GEOMETRY_H

#include <math.h>
#include <string.h>

#include "kernels/rules.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A position in the source, in pixels from the centre of the top left one, as an integer multiple
 * of 2^-GI_PLACE_BITS pixels: as many bits as the fraction of a float. */
enum { GI_PLACE_BITS = 23, GI_AFFINE_BITS = 40 };

enum gi_map_kind {
    GI_MAP_AFFINE,     /* by `affine` */
    GI_MAP_PROJECTIVE, /* by `m` */
    GI_MAP_RAYS,       /* by `rays`: from Cartesian to polar coordinates */
    GI_MAP_RINGS,      /* by `rings`: from polar to Cartesian coordinates */
    GI_MAP_LENS,       /* by `lens` */
    GI_MAP_FIELD,      /* by `field` */
};

/* GI_MAP_RAYS: fma(radius[x], cosine[y], center_x), fma(radius[x], sine[y], center_y). */
struct gi_rays {
    const double *radius;        /* pixels, one per column of the whole result */
    const double *cosine, *sine; /* one per row; host memory, read before the primitive returns */
    double center_x, center_y;
};

/* GI_MAP_RINGS: with dx = x - center_x, dy = y - center_y, q = fma(dx, dx, dy * dy): X = radial *
 * sqrt(q), or with `log` radial * gi_map_log(sqrt(q) + 1); Y = angular * gi_map_angle(dx, dy). */
struct gi_rings {
    double center_x, center_y; /* of the result */
    double radial;             /* columns per pixel, or per factor e */
    double angular;            /* rows per radian */
    bool log;
};

/* GI_MAP_LENS: gi_map_lens(). OpenCV's model of a camera, calib3d. */
struct gi_lens {
    double fx, fy, cx, cy;           /* of the camera, pixels */
    double per_x, per_y, at_x, at_y; /* of the result: 1 / fx, 1 / fy, cx, cy */
    double k[6], p[2];
};

/* The source position (X, Y) of pixel (x, y) of the result. Numbers are double, `fma` is fused,
 * quotients and roots are IEEE's; a result that is NaN or beyond 2^26 is replaced by -2^26 or 2^26,
 * then rounded half to even to GI_PLACE_BITS. */
struct gi_map {
    enum gi_map_kind kind;
    /* a x + b y + c and d x + e y + f for a to f, with GI_AFFINE_BITS fraction bits, exact in 64
     * bits, truncated to GI_PLACE_BITS: c and f include half of the last bit. */
    int64_t affine[6];
    /* With n_i = fma(m[3 i], x, fma(m[3 i + 1], y, m[3 i + 2])): n_0 / n_2 and n_1 / n_2. */
    double m[9];
    struct gi_rays rays;
    struct gi_rings rings;
    struct gi_lens lens;
    /* The samples at (x, y) of the first and of the second image, of GI_F32; with `relative` x and
     * y are added to them. If both are the same image with two channels or more, X and Y are its
     * first two channels. On the backend, of the size of the whole result. */
    const struct gi_image *field[2];
    bool relative;
};

/* Converts a coordinate to GI_PLACE_BITS: the fraction bits of 1.5 * 2^29 + v are those of v. */
GI_HOST_DEVICE static inline int64_t gi_map_fixed(double v)
{
    const double limit = 67108864.0, shift = 805306368.0;
    int64_t bits;
    v = v > -limit ? v : -limit;
    v = v < limit ? v : limit;
    v += shift;
    memcpy(&bits, &v, sizeof bits);
    return bits - 0x41c8000000000000;
}

struct gi_place {
    int64_t x, y;
};

GI_HOST_DEVICE static inline struct gi_place gi_map_affine(const int64_t *m, int x, int y)
{
    struct gi_place at = {(m[0] * x + (m[1] * y + m[2])) >> (GI_AFFINE_BITS - GI_PLACE_BITS),
                          (m[3] * x + (m[4] * y + m[5])) >> (GI_AFFINE_BITS - GI_PLACE_BITS)};
    return at;
}

GI_HOST_DEVICE static inline struct gi_place gi_map_projective(const double *m, int x, int y)
{
    double u = x, v = y, c = fma(m[6], u, fma(m[7], v, m[8]));
    double a = fma(m[0], u, fma(m[1], v, m[2])), b = fma(m[3], u, fma(m[4], v, m[5]));
    struct gi_place at = {gi_map_fixed(a / c), gi_map_fixed(b / c)};
    return at;
}

GI_HOST_DEVICE static inline struct gi_place gi_map_rays(const struct gi_rays *rays, int x, int y)
{
    struct gi_place at = {gi_map_fixed(fma(rays->radius[x], rays->cosine[y], rays->center_x)),
                          gi_map_fixed(fma(rays->radius[x], rays->sine[y], rays->center_y))};
    return at;
}

/* The natural logarithm of q > 0, normal, to 1e-13: with q = m 2^e, m from sqrt(1/2) to sqrt(2),
 * and s = (m - 1) / (m + 1), e log 2 + 2 (s + s^3 / 3 + ... + s^17 / 17). */
GI_HOST_DEVICE static inline double gi_map_log(double q)
{
    int64_t bits, root = 0x3fe6a09e667f3bcd; /* sqrt(1/2) */
    memcpy(&bits, &q, sizeof bits);
    int64_t e = (bits - root) >> 52;
    bits -= e * ((int64_t)1 << 52);
    double m, sum = 0;
    memcpy(&m, &bits, sizeof m);
    double s = (m - 1) / (m + 1), s2 = s * s;
    for (int i = 17; i >= 1; i -= 2)
        sum = fma(sum, s2, 1.0 / i);
    return fma((double)e, 0.6931471805599453, 2 * s * sum);
}

/* The angle of (dx, dy), 0 to 2 pi, to 1e-13: r is the smaller of |dx| and |dy| divided by the
 * larger; above tan(pi / 8) it is replaced by (r - 1) / (r + 1), and pi / 4 is added. Then atan r =
 * r - r^3 / 3 + ... + r^33 / 33, moved to the right octant. */
GI_HOST_DEVICE static inline double gi_map_angle(double dx, double dy)
{
    const double pi = 3.141592653589793;
    double ax = fabs(dx), ay = fabs(dy), low = ax < ay ? ax : ay, high = ax < ay ? ay : ax;
    bool over = low > 0.41421356237309503 * high;
    double r = over ? (low - high) / (low + high) : high > 0 ? low / high : 0, r2 = r * r, sum = 0;
    for (int i = 33; i >= 1; i -= 2)
        sum = fma(sum, r2, i % 4 == 1 ? 1.0 / i : -1.0 / i);
    double angle = over ? fma(r, sum, pi / 4) : r * sum;
    angle = ay > ax ? pi / 2 - angle : angle;
    angle = dx < 0 ? pi - angle : angle;
    return dy < 0 ? 2 * pi - angle : angle;
}

GI_HOST_DEVICE static inline struct gi_place gi_map_rings(const struct gi_rings *rings, int x,
                                                          int y)
{
    double dx = x - rings->center_x, dy = y - rings->center_y, q = fma(dx, dx, dy * dy);
    double r = sqrt(q), along = rings->log ? gi_map_log(r + 1) : r;
    struct gi_place at = {gi_map_fixed(rings->radial * along),
                          gi_map_fixed(rings->angular * gi_map_angle(dx, dy))};
    return at;
}

/* Maps x and y from the ideal camera to those of the lens: with r2 = x^2 + y^2 and k = (1 + k1 r2 +
 * k2 r2^2 + k3 r2^3) / (1 + k4 r2 + k5 r2^2 + k6 r2^3), x k + 2 p1 x y + p2 (r2 + 2 x^2) and y k +
 * p1 (r2 + 2 y^2) + 2 p2 x y; `k` in the order k1 k2 k3 k4 k5 k6. */
GI_HOST_DEVICE static inline struct gi_place gi_map_lens(const struct gi_lens *lens, int px, int py)
{
    double x = (px - lens->at_x) * lens->per_x, y = (py - lens->at_y) * lens->per_y;
    const double *k = lens->k, *p = lens->p;
    double r2 = fma(x, x, y * y), xy = 2 * x * y;
    double above = fma(r2, fma(r2, fma(r2, k[2], k[1]), k[0]), 1.0);
    double below = fma(r2, fma(r2, fma(r2, k[5], k[4]), k[3]), 1.0), by = above / below;
    double u = fma(x, by, fma(p[0], xy, p[1] * fma(2 * x, x, r2)));
    double v = fma(y, by, fma(p[1], xy, p[0] * fma(2 * y, y, r2)));
    struct gi_place at = {gi_map_fixed(fma(lens->fx, u, lens->cx)),
                          gi_map_fixed(fma(lens->fy, v, lens->cy))};
    return at;
}

/* The position from two samples of a field, at (x, y). */
GI_HOST_DEVICE static inline struct gi_place gi_map_samples(float a, float b, bool relative, int x,
                                                            int y)
{
    double to_x = a, to_y = b;
    struct gi_place at = {gi_map_fixed(relative ? to_x + x : to_x),
                          gi_map_fixed(relative ? to_y + y : to_y)};
    return at;
}

GI_HOST_DEVICE static inline struct gi_place
gi_map_field(const struct gi_image *a, const struct gi_image *b, bool relative, int x, int y)
{
    const float *row = (const float *)((const char *)a->data + (size_t)y * a->stride);
    const float *row2 = (const float *)((const char *)b->data + (size_t)y * b->stride);
    size_t i = (size_t)x * (size_t)a->channels, second = a->channels > 1;
    return gi_map_samples(row[i], row2[i + second], relative, x, y);
}

/* Returns the row of a band that is row y of the image, 0 <= y < height. The band begins at row
 * `band` of the image and may extend past its ends. */
GI_HOST_DEVICE static inline int gi_band_row(int y, int band, int height)
{
    int row = y - band;
    return row < 0 ? row + height : row >= height ? row - height : row;
}

/* The four weights of Keys' cubic at t, 0 <= t < 1, between the second and the third tap. */
GI_HOST_DEVICE static inline void gi_cubic_weights(float *w, float a, float t)
{
    float t2 = t * t;
    w[0] = t * fmaf(t, fmaf(a, t, -2 * a), a);
    w[1] = fmaf(t2, fmaf(a + 2, t, -(a + 3)), 1);
    w[2] = t * fmaf(t, fmaf(-(a + 2), t, 2 * a + 3), -a);
    w[3] = t2 * fmaf(-a, t, a);
}

/* One side of a resampling: result i is the sum of the `taps` source samples from position first[i]
 * - origin on, weighted by row phase[i] of the weights; all of these are inside the source. */
struct gi_resample_side {
    int n;                /* results: the width or the height of `dst` */
    int taps;             /* 1 or more */
    int origin;           /* position of the first row (or column) of `src`, which may be a band */
    int nphases;          /* rows of weights */
    const int32_t *first; /* n, never descending */
    const int32_t *phase; /* n, 0 to nphases - 1 */
    const float *weights; /* nphases rows of `taps` */
    const float *sums;    /* nphases: sum of each row of weights; NULL for both sides: all 1 */
    const int32_t *integers; /* the weights in units of 2^-22, for gi_resample.integer; else NULL */
};

/* A separable resampling. The tables are host memory, read before the primitive returns.
 *
 * Columns first: c(y, x) = sum over t of col.weights[phase][t] * src(col.first[y] + t, x), then
 * f(y, x) = sum over t of row.weights[phase][t] * c(y, row.first[x] + t), t ascending, both summed
 * as in gi_separable. With `sums` f is divided by the product of its row's and its column's, so
 * that integer weights give exact means. Alpha follows its rule with a sum of weights of 1; then
 * the last step.
 *
 * With `integer`, GI_U8 only, as Pillow's Image.resize computes (libImaging/Resample.c): rows first
 * by row.integers, then columns by col.integers, or with `columns_first` the other way round, 8
 * bits between the passes, each sum S of 32 bits rounded to (S + 2^21) >> 22 and limited to 0 to
 * 255. Under WEIGH the input colour is c * a / 255, computed as t = c * a + 128; (t + (t >> 8)) >>
 * 8, and the result is 255 * c / a, truncated, at most 255, but unchanged if a is 0 or 255
 * (Convert.c: rgbA2rgba and rgba2rgbA). */
struct gi_resample {
    struct gi_resample_side row, col; /* weights along a row; weights along a column */
    enum gi_alpha_rule alpha;         /* PLAIN or WEIGH */
    bool integer, columns_first;
};

enum gi_interpolation { GI_NEAREST, GI_LINEAR, GI_CUBIC };

/* Interpolates dst(x, y) around (X, Y). i = floor(X), t = X - i as float, likewise j, u from Y:
 *   NEAREST  the pixel (floor(X + 1/2), floor(Y + 1/2)).
 *   LINEAR   mix(mix(p(i, j), p(i + 1, j), t), mix(p(i, j + 1), p(i + 1, j + 1), t), u) where
 *            mix(a, b, t) = fmaf(t, b - a, a), but a where t is 0.
 *   CUBIC    rows first, then the column: the sums of gi_cubic_weights() times p(i - 1) to p(i +
 * 2), as fmaf(weight, sample, sum) from +0 with the index ascending, without the taps whose weight
 * is 0. R. Keys, "Cubic convolution interpolation", IEEE ASSP 29(6), 1981. Then the last step.
 * Pixels outside follow `border`, except that under GI_MAP_RINGS rows wrap around. Under
 * GI_BORDER_VALUE a result pixel without any tap in the source gets the border value unchanged. */
struct gi_remap {
    struct gi_map map;
    enum gi_interpolation interpolation;
    float cubic;              /* Keys' a */
    enum gi_alpha_rule alpha; /* PLAIN or WEIGH, by a sum of weights of 1; NEAREST is PLAIN */
    struct gi_border_spec border;
    int height;       /* rows of the whole source, of which `src` contains those that are needed */
    int src_y, dst_y; /* the row of the whole image that is the first of `src`, and of `dst`; under
                         GI_BORDER_WRAP `src` may extend past the image, where the image repeats */
};

/* resample: `dst` has the width row.n and the height col.n. */

/* remap: `dst` has any width and height. */

/* Crop, or copy with border: dst(y, x) is the image's sample at (y + top, x + left); outside the
 * image it follows `border` (whose values go through the last step). `src` may contain rows src_y
 * and on of an image that is `image_height` rows high, with all rows that are needed; image_height
 * 0: it is the whole image. */
struct gi_copy_border {
    int left, top; /* position of dst's first pixel in the image; may be outside */
    int src_y, image_height;
    struct gi_border_spec border;
};

/* copy_border: `dst` has any width and height. */

/* layout: `spec` is bits of enum gi_layout (imgio/image.h). `dst` has the width and height of
 * `src`, which change places with GI_LAYOUT_TRANSPOSE. */

/* Finds the smallest rectangle with all pixels that differ from `pixel` by more than `tolerance`:
 * |s - p| > tolerance for some channel, in float32, and NaN differs from everything. With alpha,
 * colour is c * a (one multiplication) on both sides, compared with tolerance * full scale. */
struct gi_bounds_spec {
    float pixel[GI_MAX_CHANNELS]; /* sample units */
    float tolerance;              /* sample units */
};

struct gi_bounds {
    int left, top, right, bottom; /* right and bottom are exclusive; all 0 if no pixel differs */
};

/* bounds: waits. */

/* Returns the row of `src` for row y of the result; -1: the border value. */
GI_HOST_DEVICE static inline int gi_copy_border_row(const struct gi_copy_border *spec,
                                                    const struct gi_image *src, int y)
{
    int height = spec->image_height ? spec->image_height : src->height;
    int row = gi_border_index((long long)y + spec->top, height, spec->border.mode);
    return row < 0 ? -1 : row - spec->src_y;
}

#ifdef __cplusplus
}
#endif

#endif
