/* Moments of regions, from exact sums of powers of coordinates about the pixel nearest to the
 * centroid. The small rest of the centroid's position is taken into account in double.
 * SPDX-License-Identifier: MIT */
#include "filters/regions/moments.h"

#include <math.h>
#include <stdlib.h>

/* Cubes of coordinates have at most 93 bits, because sides have 31, and there are fewer than 2^32
 * pixels. */
__extension__ typedef __int128 wide;

enum { M10, M01, M20, M11, M02, M30, M21, M12, M03, SUMS };
enum { MU20, MU11, MU02, MU30, MU21, MU12, MU03 };

struct sums {
    wide of[SUMS];
    int64_t x, y; /* the pixel nearest to the centroid */
};

/* Adds the columns `a` to `b` of row `y`, all counted from the pixel nearest to the centroid. */
static void add_run(wide *of, wide a, wide b, wide y)
{
    const wide before = a - 1, n = b - before;
    const wide one = (b * (b + 1) - before * a) / 2;
    const wide two = (b * (b + 1) * (2 * b + 1) - before * a * (2 * before + 1)) / 6;
    const wide upper = b * (b + 1) / 2, lower = before * a / 2;
    of[M10] += one;
    of[M01] += n * y;
    of[M20] += two;
    of[M11] += one * y;
    of[M02] += n * y * y;
    of[M30] += (upper - lower) * (upper + lower);
    of[M21] += two * y;
    of[M12] += one * y * y;
    of[M03] += n * y * y * y;
}

static void set_central(double *mu, const struct sums *sums, double area)
{
    double m[SUMS];
    for (int i = 0; i < SUMS; i++)
        m[i] = (double)sums->of[i];
    const double x = m[M10] / area, y = m[M01] / area; /* at most 1/2 */
    mu[MU20] = m[M20] - x * m[M10];
    mu[MU11] = m[M11] - x * m[M01];
    mu[MU02] = m[M02] - y * m[M01];
    mu[MU30] = m[M30] - 3 * x * m[M20] + 2 * x * x * m[M10];
    mu[MU21] = m[M21] - 2 * x * m[M11] - y * m[M20] + 2 * x * x * m[M01];
    mu[MU12] = m[M12] - 2 * y * m[M11] - x * m[M02] + 2 * y * y * m[M10];
    mu[MU03] = m[M03] - 3 * y * m[M02] + 2 * y * y * m[M01];
}

static void set_hu(double *hu, const double *nu)
{
    const double x = nu[MU30] + nu[MU12], y = nu[MU21] + nu[MU03];
    const double u = nu[MU30] - 3 * nu[MU12], v = 3 * nu[MU21] - nu[MU03];
    const double gap = nu[MU20] - nu[MU02];
    const double p = x * (x * x - 3 * y * y), q = y * (3 * x * x - y * y);
    hu[0] = nu[MU20] + nu[MU02];
    hu[1] = gap * gap + 4 * nu[MU11] * nu[MU11];
    hu[2] = u * u + v * v;
    hu[3] = x * x + y * y;
    hu[4] = u * p + v * q;
    hu[5] = gap * (x * x - y * y) + 4 * nu[MU11] * x * y;
    hu[6] = v * p - u * q;
}

static void set_moments(struct gi_moments *moments, const struct sums *sums, double area)
{
    set_central(moments->mu, sums, area);
    for (int i = 0; i < GI_MOMENTS; i++) {
        double power = i <= MU02 ? area * area : area * area * sqrt(area);
        moments->nu[i] = moments->mu[i] / power;
    }
    set_hu(moments->hu, moments->nu);
    for (int i = 0; i < GI_MOMENTS; i++) { /* no -0 */
        moments->mu[i] += 0.0;
        moments->nu[i] += 0.0;
        moments->hu[i] += 0.0;
    }
}

enum gi_status gi_region_moments(struct gi_moments *moments, const struct gi_region_sums *regions,
                                 uint32_t n, const struct gi_image *labels, struct gi_err *err)
{
    struct sums *sums = calloc((size_t)n + 1, sizeof *sums);
    if (!sums)
        return gi_fail(err, GI_E_MEMORY, "out of memory: moments of %u regions", n);
    for (uint32_t i = 0; i < n; i++) {
        const uint64_t area = regions[i].area;
        sums[i].x = (int64_t)((regions[i].sum_x + area / 2) / area);
        sums[i].y = (int64_t)((regions[i].sum_y + area / 2) / area);
    }
    for (int y = 0; y < labels->height; y++) {
        const uint32_t *row = gi_row(labels, y);
        for (int x = 0, end; x < labels->width; x = end) {
            for (end = x + 1; end < labels->width && row[end] == row[x]; end++)
                ;
            struct sums *to = row[x] ? &sums[row[x] - 1] : NULL;
            if (to)
                add_run(to->of, x - to->x, end - 1 - to->x, y - to->y);
        }
    }
    for (uint32_t i = 0; i < n; i++)
        set_moments(&moments[i], &sums[i], (double)regions[i].area);
    free(sums);
    return GI_OK;
}
