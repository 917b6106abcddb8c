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

/* A position in the source image, measured from the centre of the top left pixel, in units of
 * 2^-GI_PLACE_BITS pixels. A float's fraction has as many bits. */
enum { GI_PLACE_BITS = 23, GI_AFFINE_BITS = 40, GI_MAP_MARGIN_MAX = 64 };

/* The source column and row of a result pixel for which a GI_MAP_FIELD has no position, in pixels.
 * All positions are at least -2^26. */
enum { GI_PLACE_NONE = -(1 << 27) };

enum gi_map_kind {
    GI_MAP_AFFINE,     /* by `affine` */
    GI_MAP_PROJECTIVE, /* by `m` */
    GI_MAP_RAYS,       /* by `rays`: from Cartesian to polar coordinates */
    GI_MAP_RINGS,      /* by `rings`: from polar to Cartesian coordinates */
    GI_MAP_LENS,       /* by `lens` */
    GI_MAP_FIELD,      /* by `field` */
};

/* GI_MAP_RAYS: X = fma(radius[x], cosine[y], center_x), Y = fma(radius[x], sine[y], center_y). */
struct gi_rays {
    const double *radius;        /* pixels, one per column of the whole result */
    const double *cosine, *sine; /* one per row of the result; host memory like `radius`, read
                                    before the primitive returns */
    double center_x, center_y;
};

/* GI_MAP_RINGS. With dx = x - center_x, dy = y - center_y and q = fma(dx, dx, dy * dy):
 *   X = radial * sqrt(q) + left, but with `log` X = radial * gi_map_log(sqrt(q) + 1) + left, fused;
 *   Y = angular * gi_map_angle(dx, dy). */
struct gi_rings {
    double center_x, center_y; /* of the result */
    double radial;             /* columns per pixel, or per factor e */
    double angular;            /* rows per radian */
    bool log;
    double left; /* column of the radius 0 */
};

/* GI_MAP_LENS: OpenCV's camera model (calib3d), computed by gi_map_lens(). */
struct gi_lens {
    double fx, fy, cx, cy;           /* of the camera, pixels */
    double per_x, per_y, at_x, at_y; /* of the result: 1 / fx, 1 / fy, cx, cy */
    double k[6], p[2];
};

/* How pixel (x, y) of the result is mapped to the source position (X, Y). Numbers are double, `fma`
 * is fused, quotients and roots are those of IEEE 754. A coordinate that is NaN or below -2^26
 * becomes -2^26; a coordinate above 2^26 becomes 2^26. Coordinates are rounded half to even to
 * GI_PLACE_BITS. */
struct gi_map {
    enum gi_map_kind kind;
    /* The coefficients a to f of X = a x + b y + c and Y = d x + e y + f, with GI_AFFINE_BITS
     * fraction bits. Sums are exact in 64 bits and truncated to GI_PLACE_BITS; c and f include half
     * of the last bit that remains, which makes this rounding. */
    int64_t affine[6];
    /* X = n_0 / n_2 and Y = n_1 / n_2 with n_i = fma(m[3 i], x, fma(m[3 i + 1], y, m[3 i + 2])). */
    double m[9];
    struct gi_rays rays;
    struct gi_rings rings;
    struct gi_lens lens;
    /* X and Y are the samples of these GI_F32 images at (x, y), plus `margin`. With `relative` x
     * and y are added, too. If X or Y is NaN, the result pixel has no position, and both become
     * GI_PLACE_NONE. If both pointers are the same image with two channels or more, X and Y are
     * its first two channels. Both are on the backend and have the size of the whole result. */
    const struct gi_image *field[2];
    bool relative;
    int margin; /* 0 to GI_MAP_MARGIN_MAX */
};

/* Converts a coordinate to GI_PLACE_BITS. Adding 1.5 * 2^29 rounds v to this many fraction bits,
 * which are then the lowest bits of the double. */
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

/* Returns the natural logarithm of a normal q > 0 to 1e-13. With q = m 2^e, m from sqrt(1/2) to
 * sqrt(2), and s = (m - 1) / (m + 1), it is e log 2 + 2 (s + s^3 / 3 + ... + s^17 / 17). */
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

/* Returns the angle of (dx, dy), 0 to 2 pi, to 1e-13. r is the smaller of |dx| and |dy| divided by
 * the larger one. If r is above tan(pi / 8), (r - 1) / (r + 1) replaces r, and pi / 4 is added to
 * the angle. Then atan r = r - r^3 / 3 + ... + r^33 / 33, mirrored into the octant of (dx, dy). */
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
    struct gi_place at = {gi_map_fixed(fma(rings->radial, along, rings->left)),
                          gi_map_fixed(rings->angular * gi_map_angle(dx, dy))};
    return at;
}

/* Maps (x, y) of the ideal camera to the distorted coordinates of the lens. With r2 = x^2 + y^2 and
 * k = (1 + k1 r2 + k2 r2^2 + k3 r2^3) / (1 + k4 r2 + k5 r2^2 + k6 r2^3) these are
 *   x k + 2 p1 x y + p2 (r2 + 2 x^2)  and  y k + p1 (r2 + 2 y^2) + 2 p2 x y.
 * The array `k` is k1 k2 k3 k4 k5 k6. */
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

/* Returns what GI_MAP_FIELD adds to the samples of a pixel in column (or row) `at`. */
GI_HOST_DEVICE static inline int gi_map_base(bool relative, int margin, int at)
{
    return margin + (relative ? at : 0);
}

/* Returns the source position of a pixel from its two samples a and b of GI_MAP_FIELD, and from
 * gi_map_base() of its column and row. */
GI_HOST_DEVICE static inline struct gi_place gi_map_samples(float a, float b, int x, int y)
{
    double to_x = a, to_y = b;
    struct gi_place at = {gi_map_fixed(to_x + x), gi_map_fixed(to_y + y)};
    if (a != a || b != b)
        at.x = at.y = (int64_t)GI_PLACE_NONE * (1 << GI_PLACE_BITS);
    return at;
}

GI_HOST_DEVICE static inline struct gi_place gi_map_field(const struct gi_map *map,
                                                          const struct gi_image *a,
                                                          const struct gi_image *b, int x, int y)
{
    const float *row = (const float *)((const char *)a->data + (size_t)y * a->stride);
    const float *row2 = (const float *)((const char *)b->data + (size_t)y * b->stride);
    size_t i = (size_t)x * (size_t)a->channels, second = a->channels > 1;
    return gi_map_samples(row[i], row2[i + second], gi_map_base(map->relative, map->margin, x),
                          gi_map_base(map->relative, map->margin, y));
}

/* Converts row y of the image, 0 <= y < height, to a row of a band that begins at row `band` of the
 * image. The band may extend past the image's ends, where the image is repeated. */
GI_HOST_DEVICE static inline int gi_band_row(int y, int band, int height)
{
    int row = y - band;
    return row < 0 ? row + height : row >= height ? row - height : row;
}

/* The weights of four taps as cubic polynomials of t, for a position between the second and the
 * third tap at a distance t from the second, 0 <= t < 1. Weight i is k[i][0] + k[i][1] t + k[i][2]
 * t^2 + k[i][3] t^3, where k[1][1] and k[3][1] are 0. */
struct gi_cubic {
    float k[4][4];
};

/* Keys' cubic with the parameter a. R. Keys, "Cubic convolution interpolation", IEEE ASSP 29(6),
 * 1981. */
static inline struct gi_cubic gi_cubic_keys(float a)
{
    return (struct gi_cubic){
        {{0, a, -2 * a, a}, {1, 0, -(a + 3), a + 2}, {0, -a, 2 * a + 3, -(a + 2)}, {0, 0, a, -a}}};
}

/* The cubic B-spline, whose samples are coefficients of a spline and not values of it. M. Unser,
 * "Splines: a perfect fit for signal and image processing", IEEE SP Magazine 16(6), 1999. */
static inline struct gi_cubic gi_cubic_spline(void)
{
    const float sixth = 1.0f / 6;
    return (struct gi_cubic){{{sixth, -0.5f, 0.5f, -sixth},
                              {2.0f / 3, 0, -1, 0.5f},
                              {sixth, 0.5f, 0.5f, -0.5f},
                              {0, 0, 0, sixth}}};
}

/* Returns whether the result at a sample is this sample. */
static inline bool gi_cubic_keeps_samples(const struct gi_cubic *cubic)
{
    return cubic->k[0][0] == 0;
}

/* Sets w to the weights of the four taps. */
GI_HOST_DEVICE static inline void gi_cubic_weights(float *w, const struct gi_cubic *cubic, float t)
{
    const float(*k)[4] = cubic->k;
    float t2 = t * t;
    w[0] = fmaf(t, fmaf(t, fmaf(k[0][3], t, k[0][2]), k[0][1]), k[0][0]);
    w[1] = fmaf(t2, fmaf(k[1][3], t, k[1][2]), k[1][0]);
    w[2] = fmaf(t, fmaf(t, fmaf(k[2][3], t, k[2][2]), k[2][1]), k[2][0]);
    w[3] = fmaf(t2, fmaf(k[3][3], t, k[3][2]), k[3][0]);
}

/* The taps and weights of a resampling along one axis. Result i is the sum of `taps` consecutive
 * source samples, the first at first[i] - origin, weighted by row phase[i] of `weights`. All taps
 * are inside the source. */
struct gi_resample_side {
    int n;                   /* results: the width or the height of `dst` */
    int taps;                /* 1 or more */
    int origin;              /* first row or column of the image in `src`, which may be a band */
    int nphases;             /* rows of weights */
    const int32_t *first;    /* n, never descending */
    const int32_t *phase;    /* n, 0 to nphases - 1 */
    const float *weights;    /* nphases rows of `taps` */
    const float *sums;       /* nphases sums, of the rows of `weights`; both NULL if all are 1 */
    const int32_t *integers; /* `weights` times 2^22 for gi_resample.integer, else NULL */
};

/* A separable resampling. The tables are host memory, read before the primitive returns.
 *
 * Columns first: c(y, x) = sum over t of col.weights[phase][t] * src(col.first[y] + t, x). Then
 * rows: f(y, x) = sum over t of row.weights[phase][t] * c(y, row.first[x] + t). Both are summed as
 * in gi_separable, t ascending. If there are `sums`, f is divided by the product of the two sums of
 * its row and its column, so that integer weights give exact means. The alpha rule assumes that
 * weights sum to 1. Then the last step.
 *
 * With `integer` (GI_U8 only) the result is that of Pillow's Image.resize (libImaging/Resample.c).
 * Rows are resampled first, by row.integers, then columns, by col.integers. With `columns_first`
 * columns are resampled first. Each 32-bit sum S is rounded to 8 bits, (S + 2^21) >> 22, limited to
 * 0 to 255, in both passes. Under GI_ALPHA_WEIGH the input colour is c * a / 255, computed as
 * (t + (t >> 8)) >> 8 with t = c * a + 128. The resulting colour is 255 * c / a, truncated and at
 * most 255, but it is c if a is 0 or 255 (Convert.c: rgbA2rgba and rgba2rgbA). */
struct gi_resample {
    struct gi_resample_side row, col; /* `row`: weights along x; `col`: along y */
    enum gi_alpha_rule alpha;         /* PLAIN or WEIGH */
    bool integer, columns_first;
};

enum gi_interpolation { GI_NEAREST, GI_LINEAR, GI_CUBIC };

/* Interpolates dst(x, y) at (X, Y), with i = floor(X), t = X - i as float, and j, u likewise from
 * Y:
 *   NEAREST  the pixel (floor(X + 1/2), floor(Y + 1/2)).
 *   LINEAR   mix(mix(p(i, j), p(i + 1, j), t), mix(p(i, j + 1), p(i + 1, j + 1), t), u), where
 *            mix(a, b, t) = fmaf(t, b - a, a), or a if t is 0.
 *   CUBIC    sums of four taps p(i - 1) to p(i + 2) times gi_cubic_weights() along the rows, then
 *            of the four rows' sums; fmaf(weight, sample, sum) from +0, index ascending, without
 *            taps of weight 0.
 * Then the last step. Pixels outside follow `border`, except that rows wrap around under
 * GI_MAP_RINGS. Under GI_BORDER_VALUE a result pixel without any tap in the source is the border
 * value, and so is, under every border mode, a result pixel without a position (GI_PLACE_NONE). */
struct gi_remap {
    struct gi_map map;
    enum gi_interpolation interpolation;
    struct gi_cubic cubic;
    enum gi_alpha_rule alpha; /* PLAIN, or WEIGH with weights of sum 1; for NEAREST PLAIN */
    struct gi_border_spec border;
    int height;       /* rows of the whole source; `src` may be a band of them */
    int src_y, dst_y; /* first row of `src` in the whole source, and of `dst` in the whole result;
                         under GI_BORDER_WRAP `src` may extend past the source, which repeats */
};

/* Whether a way takes the work, for both backends: ways use either float weights or integers. */
static inline bool gi_resample_integer_takes(const struct gi_queue *queue,
                                             const struct gi_image *src,
                                             const struct gi_resample *spec)
{
    (void)queue, (void)src;
    return spec->integer;
}

static inline bool gi_resample_float_takes(const struct gi_queue *queue, const struct gi_image *src,
                                           const struct gi_resample *spec)
{
    return !gi_resample_integer_takes(queue, src, spec);
}

/* resample: `dst` has the width row.n and the height col.n. */

/* remap: `dst` has any width and height. */

/* Crops, or copies with a border: dst(y, x) is the image's sample at (y + top, x + left). Outside
 * the image dst follows `border`, whose values go through the last step. If image_height is 0,
 * `src` is the image. Else `src` is a band that begins in row src_y of an image of image_height
 * rows and contains all rows that are needed. */
struct gi_copy_border {
    int left, top; /* position in the image of the first pixel of `dst`, maybe outside */
    int src_y, image_height;
    struct gi_border_spec border;
};

/* copy_border: `dst` has any width and height. */

/* layout: `spec` consists of bits of enum gi_layout (imgio/image.h). `dst` has the width and height
 * of `src`, swapped under GI_LAYOUT_TRANSPOSE. */

/* bounds: finds the smallest rectangle with all pixels that differ from `pixel`. A pixel s
 * differs if |s - p| > tolerance for some channel, in float32; NaN differs from everything. With
 * alpha, colours are first multiplied by alpha, and the limit is tolerance * full scale. */
struct gi_bounds_spec {
    float pixel[GI_MAX_CHANNELS]; /* sample units */
    float tolerance;              /* sample units */
};

struct gi_bounds {
    int left, top, right, bottom; /* right and bottom are exclusive; all 0 if no pixel differs */
};

/* bounds: waits. */

/* Returns the row of `src` that row y of the result of copy_border uses, or -1 for the border
 * value. */
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
