/* Pixels that look different, as the package pixelmatch counts them: by their distance in YIQ, and
 * without those that are antialiased. Equal pixels are left out. The sums of doubles are in the
 * order of mapbox/pixelmatch 5.3, so that the counts are equal. Sources: Y. Kotsarenko, F. Ramos:
 * Measuring perceived color difference using YIQ NTSC transmission color space in mobile
 * applications, 2010; V. Vysniauskas: Anti-aliased pixel and intensity slope detector, 2009.
 * SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "filters/statistics/compare_work.h"

/* Two images of 8 bits. */
struct pixels {
    struct gi_image converted[2];
    const struct gi_image *images[2];
    double most; /* largest distance that counts as equal */
};

/* What a pixel is. */
enum verdict { SIMILAR, ANTIALIASED, DIFFERENT };

struct pixel {
    uint8_t r, g, b, a;
};

/* The pixel (x, y) and up to 8 pixels around it. */
struct surroundings {
    int x0, y0, x1, y1; /* inclusive */
    bool at_edge;       /* the image ends beside the pixel */
};

static inline struct pixel pixel_at(const struct gi_image *image, int x, int y)
{
    const uint8_t *p = (const uint8_t *)gi_row(image, y) + (size_t)x * (size_t)image->channels;
    bool color = image->channels >= 3;
    return (struct pixel){p[0], p[color ? 1 : 0], p[color ? 2 : 0],
                          gi_has_alpha(image) ? p[image->channels - 1] : UINT8_MAX};
}

static inline bool same(struct pixel p, struct pixel q)
{
    return p.r == q.r && p.g == q.g && p.b == q.b && p.a == q.a;
}

/* Composites a sample over white. */
static double blend(double v, double alpha)
{
    return 255 + (v - 255) * alpha;
}

static void load_rgb(double rgb[3], struct pixel p)
{
    const double alpha = p.a / 255.;
    rgb[0] = p.a < UINT8_MAX ? blend(p.r, alpha) : p.r;
    rgb[1] = p.a < UINT8_MAX ? blend(p.g, alpha) : p.g;
    rgb[2] = p.a < UINT8_MAX ? blend(p.b, alpha) : p.b;
}

static double brightness(const double rgb[3])
{
    return rgb[0] * 0.29889531 + rgb[1] * 0.58662247 + rgb[2] * 0.11448223;
}

static double in_phase(const double rgb[3])
{
    return rgb[0] * 0.59597799 - rgb[1] * 0.27417610 - rgb[2] * 0.32180189;
}

static double quadrature(const double rgb[3])
{
    return rgb[0] * 0.21147017 - rgb[1] * 0.52261711 + rgb[2] * 0.31114694;
}

/* Returns by how much p is brighter than q. */
static double brighter(struct pixel p, struct pixel q)
{
    double a[3], b[3];
    if (same(p, q))
        return 0;
    load_rgb(a, p);
    load_rgb(b, q);
    return brightness(a) - brightness(b);
}

/* Returns the squared distance of two pixels, 0 to 35215. */
static double distance(struct pixel p, struct pixel q)
{
    double a[3], b[3];
    load_rgb(a, p);
    load_rgb(b, q);
    double y = brightness(a) - brightness(b), i = in_phase(a) - in_phase(b),
           k = quadrature(a) - quadrature(b);
    return 0.5053 * y * y + 0.299 * i * i + 0.1957 * k * k;
}

static struct surroundings around(const struct gi_image *image, int x, int y)
{
    struct surroundings s = {x > 0 ? x - 1 : 0, y > 0 ? y - 1 : 0, x + 1 < image->width ? x + 1 : x,
                             y + 1 < image->height ? y + 1 : y, false};
    s.at_edge = s.x0 == x || s.y0 == y || s.x1 == x || s.y1 == y;
    return s;
}

/* Returns whether the pixel has 3 or more equal pixels around it, or 2 and the edge of the image.
 */
static bool has_many_equal(const struct gi_image *image, int x, int y)
{
    struct surroundings s = around(image, x, y);
    struct pixel center = pixel_at(image, x, y);
    int equal = s.at_edge;
    for (int i = s.x0; i <= s.x1; i++)
        for (int j = s.y0; j <= s.y1; j++)
            if (i != x || j != y)
                equal += same(center, pixel_at(image, i, j));
    return equal > 2;
}

/* Returns whether the pixel of images[k] is on an antialiased edge: between a darkest and a
 * brightest pixel, one of which has many equal ones around it in both images. */
static bool is_antialiased(const struct pixels *pixels, int k, int x, int y)
{
    const struct gi_image *image = pixels->images[k], *other = pixels->images[!k];
    struct surroundings s = around(image, x, y);
    struct pixel center = pixel_at(image, x, y);
    int equal = s.at_edge, dark[2] = {0}, bright[2] = {0};
    double min = 0, max = 0;
    for (int i = s.x0; i <= s.x1; i++)
        for (int j = s.y0; j <= s.y1; j++) {
            if (i == x && j == y)
                continue;
            double d = brighter(center, pixel_at(image, i, j));
            equal += d == 0;
            if (equal > 2)
                return false;
            if (d < min) {
                min = d;
                dark[0] = i, dark[1] = j;
            } else if (d > max) {
                max = d;
                bright[0] = i, bright[1] = j;
            }
        }
    if (min == 0 || max == 0)
        return false;
    return (has_many_equal(image, dark[0], dark[1]) && has_many_equal(other, dark[0], dark[1])) ||
           (has_many_equal(image, bright[0], bright[1]) &&
            has_many_equal(other, bright[0], bright[1]));
}

static enum verdict judge(const struct pixels *pixels, int x, int y)
{
    struct pixel a = pixel_at(pixels->images[0], x, y), b = pixel_at(pixels->images[1], x, y);
    if (same(a, b) || distance(a, b) <= pixels->most)
        return SIMILAR;
    return is_antialiased(pixels, 0, x, y) || is_antialiased(pixels, 1, x, y) ? ANTIALIASED
                                                                              : DIFFERENT;
}

/* Converts images of other types to 8 bits. The caller calls free_pixels(), also after an error.
 * Errors: GI_E_MEMORY. */
static enum gi_status take(struct pixels *pixels, const struct gi_image *a,
                           const struct gi_image *b, const struct gi_compare_rules *rules,
                           struct gi_err *err)
{
    *pixels = (struct pixels){.images = {a, b}};
    pixels->most = 35215 * rules->threshold * rules->threshold;
    for (int k = 0; k < 2; k++) {
        if (pixels->images[k]->type == GI_U8)
            continue;
        enum gi_status status =
            gi_image_convert(&pixels->converted[k], pixels->images[k], GI_U8, err);
        if (status)
            return status;
        pixels->images[k] = &pixels->converted[k];
    }
    return GI_OK;
}

static void free_pixels(struct pixels *pixels)
{
    gi_image_free(&pixels->converted[0]);
    gi_image_free(&pixels->converted[1]);
}

/* ---- the counts ---- */

struct row_sums {
    uint64_t verdicts[DIFFERENT + 1];
};

struct counting {
    const struct gi_compare_work *work;
    struct pixels pixels;
    struct row_sums *rows;
};

static void count_row(void *arg, int y, void *scratch)
{
    const struct counting *counting = arg;
    const struct gi_compare_work *work = counting->work;
    size_t width = (size_t)counting->work->a->width;
    (void)scratch;
    for (size_t x = gi_compare_next(work, y, 0); x < width; x = gi_compare_next(work, y, x + 1))
        counting->rows[y].verdicts[judge(&counting->pixels, (int)x, y)]++;
}

enum gi_status gi_compare_pixelmatch(struct gi_comparison *result,
                                     const struct gi_compare_work *work, struct gi_err *err)
{
    size_t height = (size_t)work->a->height;
    struct counting counting = {.work = work};
    if (!memchr(work->differs, 1, work->npieces * height))
        return GI_OK;
    counting.rows = calloc(height, sizeof *counting.rows);
    enum gi_status status =
        counting.rows ? take(&counting.pixels, work->a, work->b, work->rules, err)
                      : gi_fail(err, GI_E_MEMORY, "out of memory: sums of %zu rows", height);
    if (!status)
        status = work->queue->k->jobs(work->queue, work->a->height, count_row, &counting, 0, err);
    for (size_t y = 0; y < height && !status; y++) {
        result->all.pixelmatch += counting.rows[y].verdicts[DIFFERENT];
        result->all.antialiased += counting.rows[y].verdicts[ANTIALIASED];
    }
    free_pixels(&counting.pixels);
    free(counting.rows);
    return status;
}

/* ---- the picture ---- */

enum gi_status gi_compare_pixelmatch_picture(struct gi_image *picture, const struct gi_image *a,
                                             const struct gi_image *b,
                                             const struct gi_compare_rules *rules,
                                             struct gi_err *err)
{
    struct gi_image converted;
    struct pixels pixels = {.converted = {{0}}};
    uint8_t *ignored = NULL;
    enum gi_status status = gi_compare_match(&converted, &a, &b, err);
    if (!status)
        status = gi_compare_ignored(&ignored, rules, a, err);
    if (!status)
        status = take(&pixels, a, b, rules, err);
    if (!status)
        status = gi_image_alloc(picture, a->width, a->height, 3, GI_U8, err);
    for (int y = 0; y < a->height && !status; y++) {
        uint8_t *to = gi_row(picture, y);
        for (int x = 0; x < a->width; x++, to += 3) {
            bool skip = ignored && ignored[(size_t)y * (size_t)a->width + (size_t)x];
            enum verdict verdict = skip ? SIMILAR : judge(&pixels, x, y);
            struct pixel p = pixel_at(pixels.images[0], x, y);
            const double rgb[3] = {p.r, p.g, p.b};
            uint8_t gray = (uint8_t)blend(brightness(rgb), 0.1 * p.a / 255);
            to[0] = verdict == SIMILAR ? gray : UINT8_MAX;
            to[1] = verdict == SIMILAR ? gray : verdict == ANTIALIASED ? UINT8_MAX : 0;
            to[2] = verdict == SIMILAR ? gray : 0;
        }
    }
    free_pixels(&pixels);
    gi_image_free(&converted);
    free(ignored);
    return status;
}
