/* Colour differences of two images by CIEDE2000, pixel by pixel, in double precision on the host.
 * Equal pixels are left out.
 * SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "filters/color/spaces.h"
#include "filters/statistics/compare_work.h"

static const double pi = 3.14159265358979323846, full_turn = 360;

static double sine(double deg)
{
    return sin(deg * pi / 180);
}

static double cosine(double deg)
{
    return cos(deg * pi / 180);
}

/* The angle of (a, b), 0 to 360 degrees; 0 for (0, 0). */
static double hue(double a, double b)
{
    double deg = a == 0 && b == 0 ? 0 : atan2(b, a) * 180 / pi;
    return deg < 0 ? deg + full_turn : deg;
}

static double pow7(double x)
{
    return x * x * x * x * x * x * x;
}

/* Returns how strongly chroma `c` counts: sqrt(c^7 / (c^7 + 25^7)). */
static double chroma_share(double c)
{
    return sqrt(pow7(c) / (pow7(c) + pow7(25)));
}

double gi_ciede2000(const double x[3], const double y[3])
{
    double g = 0.5 * (1 - chroma_share((hypot(x[1], x[2]) + hypot(y[1], y[2])) / 2));
    double ax = (1 + g) * x[1], ay = (1 + g) * y[1];
    double cx = hypot(ax, x[2]), cy = hypot(ay, y[2]);
    double hx = hue(ax, x[2]), hy = hue(ay, y[2]);
    double dh = cx * cy == 0 ? 0 : hy - hx;
    bool apart = fabs(hx - hy) > full_turn / 2;
    dh += dh > full_turn / 2 ? -full_turn : dh < -full_turn / 2 ? full_turn : 0;
    double h = hx + hy; /* the mean hue, after the next two lines */
    if (cx * cy != 0)
        h = (h + (apart ? (h < full_turn ? full_turn : -full_turn) : 0)) / 2;
    double l = (x[0] + y[0]) / 2, c = (cx + cy) / 2;
    double t = 1 - 0.17 * cosine(h - 30) + 0.24 * cosine(2 * h) + 0.32 * cosine(3 * h + 6) -
               0.20 * cosine(4 * h - 63);
    double turned = (h - 275) / 25, middle = (l - 50) * (l - 50);
    double sl = 1 + 0.015 * middle / sqrt(20 + middle), sc = 1 + 0.045 * c, sh = 1 + 0.015 * c * t;
    double rotation = -sine(60 * exp(-turned * turned)) * 2 * chroma_share(c);
    double dl = (y[0] - x[0]) / sl, dc = (cy - cx) / sc;
    double dhue = 2 * sqrt(cx * cy) * sine(dh / 2) / sh;
    return sqrt(dl * dl + dc * dc + dhue * dhue + rotation * dc * dhue);
}

/* ---- images ---- */

struct row_sums {
    double sum, max;
};

struct colors {
    const struct gi_compare_work *work;
    struct row_sums *rows;
};

/* Sets the L*, a* and b* of a pixel, whose samples are encoded as sRGB, over white. */
static void load_lab(double lab[3], const struct gi_image *image, const void *row, size_t x)
{
    double full = gi_type_full_scale(image->type), rgb[3], alpha = 1;
    size_t i = x * (size_t)image->channels;
    for (size_t c = 0; c < 3; c++)
        rgb[c] = gi_sample(row, i + (gi_color_channels(image) == 3 ? c : 0), image->type) / full;
    if (gi_has_alpha(image))
        alpha = gi_sample(row, i + (size_t)image->channels - 1, image->type) / full;
    for (int c = 0; c < 3 && alpha != 1; c++)
        rgb[c] = rgb[c] * alpha + 1 - alpha;
    gi_lab_of_srgb(lab, rgb);
}

static void measure_row(void *arg, int y, void *scratch)
{
    const struct colors *colors = arg;
    const struct gi_compare_work *work = colors->work;
    size_t channels = (size_t)work->a->channels, n = channels * gi_type_nbytes(work->a->type);
    const char *a = gi_row(work->a, y), *b = gi_row(work->b, y);
    struct row_sums *sums = &colors->rows[y];
    const char *known = NULL, *other = NULL; /* the last pixels that were compared, and */
    double d = 0;                            /* their difference */
    size_t width = (size_t)work->a->width;
    (void)scratch;
    for (size_t x = gi_compare_next(work, y, 0); x < width; x = gi_compare_next(work, y, x + 1)) {
        const char *p = a + x * n, *q = b + x * n;
        if (memcmp(p, q, n) == 0)
            continue;
        if (!known || memcmp(p, known, n) != 0 || memcmp(q, other, n) != 0) {
            double first[3], second[3];
            load_lab(first, work->a, a, x);
            load_lab(second, work->b, b, x);
            d = gi_ciede2000(first, second);
            known = p;
            other = q;
        }
        sums->sum += d;
        if (!(d <= sums->max) && !isnan(sums->max))
            sums->max = d;
    }
}

enum gi_status gi_compare_colors(struct gi_comparison *result, const struct gi_compare_work *work,
                                 struct gi_err *err)
{
    struct gi_difference *all = &result->all;
    int height = work->a->height;
    struct colors colors = {.work = work, .rows = calloc((size_t)height, sizeof *colors.rows)};
    struct row_sums sums = {0};
    if (!colors.rows)
        return gi_fail(err, GI_E_MEMORY, "out of memory: sums of %d rows", height);
    enum gi_status status = work->queue->k->jobs(work->queue, height, measure_row, &colors, 0, err);
    for (int y = 0; y < height; y++) {
        sums.sum += colors.rows[y].sum;
        if (!(colors.rows[y].max <= sums.max) && !isnan(sums.max))
            sums.max = colors.rows[y].max;
    }
    all->ciede2000 = sums.sum / (double)result->channels[0].samples;
    all->ciede2000_max = sums.max;
    free(colors.rows);
    return status;
}
