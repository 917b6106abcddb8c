/* Maximizes the correlation coefficient of a reference and a mapped image by steps that the host
 * computes in double.
 * SPDX-License-Identifier: MIT */
#include "filters/geometry/align_ecc.h"

#include <math.h>
#include <string.h>

#include "filters/geometry/align_equations.h"
#include "kernels/fourier.h"
#include "kernels/elementary.h"

enum {
    START_SIDE = 256,   /* the first level is one whose shorter side is below */
    SAMPLES_MAX = 1024, /* along a side; of larger levels one pixel in several counts */
    STEPS_MAX = 50,
    PART_MIN = 5, /* a fifth of the samples has to be inside the image */
};

/* A level of both images. */
struct level {
    const struct gi_image *image, *reference;
    enum gi_align_motion motion;
    double middle[2]; /* of the reference */
};

/* Takes the point (x, y) from the middle of the reference to the point (a[0] x + a[1] y + b[0],
 * a[2] x + a[3] y + b[1]) of the image. */
struct map {
    double a[4], b[2];
};

static int count_unknowns(enum gi_align_motion motion)
{
    return motion == GI_ALIGN_MOTION_AFFINE ? 6 : (int)motion + 1;
}

/* Interpolates the image and its slopes along x and y by cubics. Returns false outside. */
static bool sample(double *v, double slope[2], const struct gi_image *image, double x, double y)
{
    double across[4], down[4], dx[4], dy[4];
    if (!(x >= 1 && y >= 1 && x < image->width - 2 && y < image->height - 2))
        return false;
    int left = (int)x, top = (int)y;
    gi_align_cubic(across, x - left);
    gi_align_cubic(down, y - top);
    gi_align_cubic_slope(dx, x - left);
    gi_align_cubic_slope(dy, y - top);
    *v = slope[0] = slope[1] = 0;
    for (int j = 0; j < 4; j++) {
        const float *p = (const float *)gi_row(image, top + j - 1) + left - 1;
        double sum = 0, rise = 0;
        for (int i = 0; i < 4; i++) {
            sum += across[i] * (double)p[i];
            rise += dx[i] * (double)p[i];
        }
        *v += down[j] * sum;
        slope[0] += down[j] * rise;
        slope[1] += dy[j] * sum;
    }
    return true;
}

/* Adds a pixel of the reference, at (x, y) from its middle. */
static void add_pixel(struct gi_align_equations *e, const struct level *level,
                      const struct map *map, double x, double y, double p)
{
    double u = map->a[0] * x + map->a[1] * y, v = map->a[2] * x + map->a[3] * y, value, g[2];
    if (!sample(&value, g, level->image, u + map->b[0], v + map->b[1]) ||
        !isfinite(p + value + g[0] + g[1]))
        return;
    if (level->motion == GI_ALIGN_MOTION_AFFINE) {
        const double slopes[] = {g[0], g[1], g[0] * x, g[0] * y, g[1] * x, g[1] * y};
        gi_align_add(e, p, value, slopes);
    } else { /* the rotation and the scale follow the map */
        const double slopes[] = {g[0], g[1], g[1] * u - g[0] * v, g[0] * u + g[1] * v};
        gi_align_add(e, p, value, slopes);
    }
}

/* Returns whether enough pixels were inside the image and finite. */
static bool add_level(struct gi_align_equations *e, const struct level *level,
                      const struct map *map)
{
    const struct gi_image *reference = level->reference;
    int longer = reference->width > reference->height ? reference->width : reference->height;
    int step = (longer - 1) / SAMPLES_MAX + 1;
    double all = 0;
    *e = (struct gi_align_equations){.unknowns = count_unknowns(level->motion) + 2};
    for (int y = step / 2; y < reference->height; y += step)
        for (int x = step / 2; x < reference->width; x += step, all++)
            add_pixel(e, level, map, x - level->middle[0], y - level->middle[1],
                      (double)((const float *)gi_row(reference, y))[x]);
    return e->n * PART_MIN >= all && e->n > 0;
}

/* Applies a step. Returns the distance in px that the corners move at most, about. */
static double move(struct map *map, const struct level *level, const double *x)
{
    double width = level->middle[0], height = level->middle[1], change[4];
    struct map before = *map;
    map->b[0] += x[0];
    map->b[1] += x[1];
    if (level->motion == GI_ALIGN_MOTION_AFFINE) {
        for (int i = 0; i < 4; i++)
            map->a[i] += x[2 + i];
    } else if (level->motion >= GI_ALIGN_MOTION_EUCLIDEAN) {
        double complex turn = gi_unit(x[2] / (2 * GI_PI));
        double scale = level->motion == GI_ALIGN_MOTION_SIMILARITY ? 1 + x[3] : 1;
        double c = scale * creal(turn), s = scale * cimag(turn);
        for (int i = 0; i < 2; i++) {
            map->a[i] = c * before.a[i] - s * before.a[2 + i];
            map->a[2 + i] = s * before.a[i] + c * before.a[2 + i];
        }
    }
    for (int i = 0; i < 4; i++)
        change[i] = fabs(map->a[i] - before.a[i]);
    return fabs(x[0]) + fabs(x[1]) + (change[0] + change[2]) * width +
           (change[1] + change[3]) * height;
}

/* Refines the map on one level. Steps that move corners by more than an eighth of the side are
 * given up. */
static void refine(struct map *map, double *score, const struct level *level)
{
    struct gi_align_equations e;
    struct map at = *map;
    double x[GI_ALIGN_UNKNOWNS_MAX], most = (level->middle[0] + level->middle[1]) / 8;
    for (int i = 0; i < STEPS_MAX && add_level(&e, level, &at); i++) {
        double now = gi_align_score(&e);
        if (i && now < *score) /* the step before was too long */
            return;
        *score = now;
        *map = at;
        if (!gi_align_solve_ecc(&e, x))
            return;
        double moved = move(&at, level, x);
        if (!(moved <= most) || moved < 1e-4)
            return;
    }
}

void gi_align_ecc(double m[6], double *score, const struct gi_align_pyramid *image,
                  const struct gi_align_pyramid *reference, enum gi_align_motion motion)
{
    int level = 0;
    while (level + 1 < image->n && (image->levels[level].width < image->levels[level].height
                                        ? image->levels[level].width
                                        : image->levels[level].height) >= START_SIDE)
        level++;
    for (; level >= 0; level--) {
        const struct gi_image *fixed = &reference->levels[level];
        const struct level one = {.image = &image->levels[level],
                                  .reference = fixed,
                                  .motion = motion,
                                  .middle = {(fixed->width - 1) / 2.0, (fixed->height - 1) / 2.0}};
        /* Pixel p of this level is at (p + 0.5) * size - 0.5 of the image. */
        double size = 1 << level, x = (one.middle[0] + 0.5) * size - 0.5,
               y = (one.middle[1] + 0.5) * size - 0.5;
        struct map map = {.a = {m[0], m[1], m[3], m[4]},
                          .b = {(m[0] * x + m[1] * y + m[2] + 0.5) / size - 0.5,
                                (m[3] * x + m[4] * y + m[5] + 0.5) / size - 0.5}};
        refine(&map, score, &one);
        memcpy(m, map.a, 2 * sizeof *m);
        memcpy(m + 3, map.a + 2, 2 * sizeof *m);
        m[2] = (map.b[0] + 0.5) * size - 0.5 - m[0] * x - m[1] * y;
        m[5] = (map.b[1] + 0.5) * size - 0.5 - m[3] * x - m[4] * y;
    }
}
