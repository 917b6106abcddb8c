/* Every way of minimum and maximum filters, flat or with heights, and of ignoring transparent
 * pixels gives the same results as plain loops that follow the definition in kernels/morphology.h.
 * Sources: morphology footprint
 * SPDX-License-Identifier: MIT */
#include "definitions.h"
#include "primitives.h"
#include "kernels/footprint.h"
#include "kernels/morphology.h"

/* Returns whether the filter prefers `a` to `b`. NaN is always preferred, and -0 is less than 0. */
static bool exact_before(float a, float b, bool greatest)
{
    if (isnan(a) || isnan(b))
        return isnan(a);
    if (a == b)
        return greatest ? !signbit(a) && signbit(b) : signbit(a) && !signbit(b);
    return greatest ? a > b : a < b;
}

/* Computes the minimum or maximum over n runs, one run after the other. */
static void exact_runs(struct gi_image *dst, const struct gi_image *src,
                       const struct gi_min_max *spec, const struct gi_border_spec *border)
{
    for (int y = 0; y < src->height; y++)
        for (int x = 0; x < src->width; x++)
            for (int c = 0; c < src->channels; c++) {
                bool keep = src->channels % 2 == 0 && c == src->channels - 1 && !spec->alpha_too;
                float best = exact_at(src, border, GI_ALPHA_PLAIN, (long long)y + spec->runs[0].y,
                                      (long long)x + spec->runs[0].first, c);
                for (int r = 0; r < spec->nruns; r++)
                    for (int i = spec->runs[r].first; i <= spec->runs[r].last; i++) {
                        float v = exact_at(src, border, GI_ALPHA_PLAIN,
                                           (long long)y + spec->runs[r].y, (long long)x + i, c);
                        if (exact_before(v, best, spec->greatest))
                            best = v;
                    }
                exact_put(dst, y, x, c, keep ? exact_sample(src, y, x, c) : best);
            }
}

/* Filters the rows, then the columns, since the rectangle is separable. */
static void exact_min_max(struct gi_image *dst, const struct gi_image *src,
                          const struct gi_min_max *spec)
{
    int n = src->channels, w = src->width, span = w + spec->width - 1;
    struct gi_border_spec border = exact_border(&spec->border, src);
    float *down = calloc((size_t)span, sizeof *down);
    if (spec->runs) {
        exact_runs(dst, src, spec, &border);
        free(down);
        return;
    }
    for (int y = 0; y < src->height; y++)
        for (int c = 0; c < n; c++) {
            for (int x = 0; x < span; x++)
                for (int j = 0; j < spec->height; j++) {
                    float v = exact_at(src, &border, GI_ALPHA_PLAIN,
                                       (long long)y + j - spec->anchor_y, x - spec->anchor_x, c);
                    if (j == 0 || exact_before(v, down[x], spec->greatest))
                        down[x] = v;
                }
            for (int x = 0; x < w; x++) {
                float best = down[x];
                for (int i = 1; i < spec->width; i++)
                    if (exact_before(down[x + i], best, spec->greatest))
                        best = down[x + i];
                bool keep = n % 2 == 0 && c == n - 1 && !spec->alpha_too;
                exact_put(dst, y, x, c, keep ? exact_sample(src, y, x, c) : best);
            }
        }
    free(down);
}

static struct gi_min_max *min_max(struct walk_case *c, int width, int height)
{
    struct gi_min_max *m = WALK_SPEC(c, struct gi_min_max);
    bool square = width == height && walk_between(c, 0, 1);
    *m = (struct gi_min_max){.width = width,
                             .height = height,
                             .greatest = walk_between(c, 0, 1),
                             .alpha_too = walk_between(c, 0, 1),
                             .border = case_border(c->seed, c->border, c->type)};
    m->anchor_x = square ? width / 2 : walk_between(c, 0, width - 1);
    m->anchor_y = square ? height / 2 : walk_between(c, 0, height - 1);
    walk_source_here(c);
    return m;
}

static void small_rectangle(struct walk_case *c)
{
    int width = walk_between(c, 1, 16);
    bool three = walk_between(c, 0, 2) == 0;
    min_max(c, three ? 3 : width,
            three                   ? 3
            : walk_between(c, 0, 2) ? walk_between(c, 1, 9)
                                    : width);
}

static void large_rectangle(struct walk_case *c)
{
    static const int sides[] = {2, 17, 31, 33, 70, 125, 129, 600};
    int width = sides[walk_between(c, 0, c->large ? 3 : 7)];
    min_max(c, width, walk_between(c, 0, 1) ? width : sides[walk_between(c, 0, c->large ? 2 : 6)]);
}

static void widest_rectangle(struct walk_case *c)
{
    min_max(c, GI_TAPS_MAX, 3);
}

static void runs(struct walk_case *c)
{
    struct gi_min_max *m = min_max(c, walk_between(c, 1, c->large ? 9 : 19), walk_between(c, 1, 9));
    m->runs = walk_runs(c, m->width, m->height, m->anchor_x, m->anchor_y, &m->nruns);
}

/* Structuring elements of runs long enough for levels, also wider and higher than the image. */
static void long_runs(struct walk_case *c)
{
    static const int widths[] = {24, 70, 300}, heights[] = {1, 9, 40};
    struct gi_min_max *m =
        min_max(c, widths[walk_between(c, 0, 2)], heights[walk_between(c, 0, 2)]);
    m->runs = walk_runs(c, m->width, m->height, m->anchor_x, m->anchor_y, &m->nruns);
}

static void define_min_max(struct walk_case *c)
{
    exact_min_max(walk_result(c, c->width, c->height, c->channels, c->type), &c->srcs[0].image,
                  c->spec);
}

/* ---- structuring elements with heights ---- */

/* Sets *f to the result for channel c of pixel (x, y). Returns whether a pixel counts. */
static bool defined(float *f, const struct gi_image *src, const struct gi_nonflat *spec, int y,
                    int x, int c)
{
    struct gi_border_spec border = exact_border(&spec->border, src);
    bool some = false, nan = false;
    const float *height = spec->heights;
    *f = spec->greatest ? -INFINITY : INFINITY;
    for (int r = 0; r < spec->nruns; r++)
        for (int i = spec->runs[r].first; i <= spec->runs[r].last; i++, height++) {
            long long row = (long long)y + spec->runs[r].y, column = (long long)x + i;
            float v = exact_at(src, &border, GI_ALPHA_PLAIN, row, column, c);
            float a = exact_at(src, &border, GI_ALPHA_PLAIN, row, column, src->channels - 1);
            if (spec->opaque && gi_has_alpha(src) && !spec->alpha_too && !(a > 0))
                continue;
            some = true;
            nan |= isnan(v) && !spec->ignore_nan;
            v = spec->greatest ? v + *height : v - *height;
            if (spec->greatest ? v > *f : v < *f)
                *f = v;
        }
    *f = nan ? NAN : *f == 0 ? 0 : *f;
    return some;
}

static void define_nonflat(struct walk_case *c)
{
    const struct gi_image *src = &c->srcs[0].image;
    const struct gi_nonflat *spec = c->spec;
    struct gi_image *want = walk_result(c, c->width, c->height, c->channels, c->type);
    size_t nbytes = gi_type_nbytes(c->type);
    for (int y = 0; y < c->height; y++)
        for (int x = 0; x < c->width; x++)
            for (int i = 0; i < c->channels; i++) {
                float f;
                size_t at = (size_t)(x * c->channels + i) * nbytes;
                bool alpha = gi_has_alpha(src) && i == c->channels - 1 && !spec->alpha_too;
                if (alpha || !defined(&f, src, spec, y, x, i))
                    memcpy((char *)gi_row(want, y) + at, (char *)gi_row(src, y) + at, nbytes);
                else
                    exact_put(want, y, x, i, spec->difference ? exact_sample(src, y, x, i) - f : f);
            }
}

/* Draws the runs of a structuring element and its heights, some of which are fractions, some 0. */
static void nonflat(struct walk_case *c, int width, int height)
{
    struct gi_nonflat *spec = WALK_SPEC(c, struct gi_nonflat);
    float full = gi_type_full_scale(c->type);
    *spec = (struct gi_nonflat){.greatest = walk_between(c, 0, 1),
                                .difference = walk_between(c, 0, 2) == 0,
                                .ignore_nan = walk_between(c, 0, 1),
                                .alpha_too = walk_between(c, 0, 2) == 0,
                                .opaque = walk_between(c, 0, 1),
                                .border = case_border(c->seed, c->border, c->type)};
    spec->runs = walk_runs(c, width, height, walk_between(c, 0, width - 1),
                           walk_between(c, 0, height - 1), &spec->nruns);
    int n = gi_footprint_pixels(spec->runs, spec->nruns);
    float *heights = walk_alloc(c, sizeof(float) * (size_t)n);
    for (int i = 0; i < n; i++)
        heights[i] = walk_between(c, 0, 3) ? walk_real(c) * full * 0.5f : 0;
    spec->heights = heights;
    struct gi_image *src = walk_source_here(c);
    for (int y = 0; spec->opaque && gi_has_alpha(src) && y < c->height; y++)
        for (int x = 0; x < c->width; x++)
            if (walk_between(c, 0, 2))
                case_put(src, y, (size_t)((x + 1) * c->channels - 1), 0);
}

static void small_heights(struct walk_case *c)
{
    nonflat(c, walk_between(c, 1, c->large ? 4 : 9), walk_between(c, 1, c->large ? 3 : 9));
}

static void wide_heights(struct walk_case *c)
{
    nonflat(c, 81, walk_between(c, 1, 40));
}

/* ---- transparent pixels ---- */

/* Copies pixel (x, y): alpha alone if `alpha`, else all channels except alpha. */
static void copy(struct gi_image *to, const struct gi_image *from, int x, int y, bool alpha)
{
    size_t nbytes = gi_type_nbytes(to->type), n = (size_t)to->channels;
    size_t at = ((size_t)x * n + (alpha ? n - 1 : 0)) * nbytes;
    memcpy((char *)gi_row(to, y) + at, (char *)gi_row(from, y) + at, nbytes * (alpha ? 1 : n - 1));
}

static void put(struct gi_image *image, int x, int y, int c, float value)
{
    case_put(image, y, (size_t)(x * image->channels + c), value);
}

static double alpha_of(const struct gi_image *image, int x, int y)
{
    return gi_sample(gi_row(image, y), (size_t)((x + 1) * image->channels - 1), image->type);
}

/* Makes random samples, some of which are unusual floats. Alpha is often 0. */
static void fill(struct gi_image *image, float hidden, uint64_t *seed)
{
    static const float odd[] = {0, -0.0f, NAN, -INFINITY, INFINITY, -1, 1e-42f, 0.5f};
    int last = image->channels - 1;
    case_fill(image, seed);
    for (int y = 0; y < image->height; y++)
        for (int x = 0; x < image->width; x++) {
            int pick = case_between(seed, 0, 15), c = case_between(seed, 0, last);
            if (image->type == GI_F32 && pick < 8) {
                put(image, x, y, c, odd[pick]);
                uint32_t nan = 0x7fc00000u | case_random(seed) % 4096;
                if (pick == 2)
                    memcpy((float *)gi_row(image, y) + x * image->channels, &nan, sizeof nan);
            }
            if (pick > 11)
                put(image, x, y, last, pick < 14 ? 0 : hidden);
        }
}

/* Makes a case of the step before a filter, which hides transparent pixels, or of the step after
 * it. */
static void draw_ignore(struct walk_case *c)
{
    float full = gi_type_full_scale(c->type), end = c->type == GI_F32 ? INFINITY : full;
    bool greatest = walk_between(c, 0, 1);
    if (c->channels % 2)
        return;
    struct gi_ignore_transparent *spec = WALK_SPEC(c, struct gi_ignore_transparent);
    *spec = (struct gi_ignore_transparent){.hidden = greatest ? c->type == GI_F32 ? -end : 0 : end,
                                           .shown = greatest ? full : 0};
    fill(walk_source_here(c), 0, c->seed);
    if (walk_between(c, 0, 1))
        fill(walk_other(c, &spec->picked, c->width, c->height, c->channels, c->type), spec->hidden,
             c->seed);
}

static void define_ignore(struct walk_case *c)
{
    const struct gi_ignore_transparent *spec = c->spec;
    const struct gi_image *src = &c->srcs[0].image, *picked = &c->others[0].image;
    struct gi_image *want = walk_result(c, c->width, c->height, c->channels, c->type);
    for (int y = 0; y < c->height; y++)
        for (int x = 0; x < c->width; x++) {
            if (spec->picked) {
                bool stays = alpha_of(picked, x, y) == (double)spec->hidden;
                copy(want, stays ? src : picked, x, y, false);
                copy(want, src, x, y, true);
                continue;
            }
            for (int i = 0; i < c->channels; i++)
                put(want, x, y, i, spec->hidden);
            if (alpha_of(src, x, y) > 0) {
                copy(want, src, x, y, false);
                put(want, x, y, c->channels - 1, spec->shown);
            }
        }
}

/* Images that have fewer rows than a block, have several strips per row, or are narrower than a
 * window. */
static const int strips[][2] = {{64, 7},  {9, 5},    {700, 19}, {9001, 3},
                                {31, 60}, {2100, 1}, {1, 67},   {0, 0}};
static const int narrow[][2] = {{40, 2}, {0, 0}}, flat[][2] = {{19, 9}, {0, 0}};
static const int heights[][2] = {{1, 1}, {1, 17}, {17, 1}, {31, 33}, {67, 5}, {1100, 5}, {0, 0}};
static const int wide[][2] = {{1, 1},  {1, 17},    {17, 1},   {31, 33},
                              {67, 5}, {257, 129}, {1300, 3}, {0, 0}};

static const struct walk_row rows[] = {
    WALK_ROW("min_max", "small rectangles", small_rectangle, define_min_max),
    WALK_ROW("min_max", "large rectangles", large_rectangle, define_min_max, .few = true),
    WALK_ROW("min_max", "strips", large_rectangle, define_min_max, .sizes = strips, .few = true),
    WALK_ROW("min_max", "small rectangles in strips", small_rectangle, define_min_max,
             .sizes = strips, .few = true),
    WALK_ROW("min_max", "widest", widest_rectangle, define_min_max, .sizes = narrow, .few = true),
    WALK_ROW("min_max", "runs", runs, define_min_max),
    WALK_ROW("min_max", "long runs", long_runs, define_min_max, .few = true),
    WALK_ROW("min_max", "runs in strips", runs, define_min_max, .sizes = strips, .few = true),
    WALK_ROW("nonflat", "heights", small_heights, define_nonflat, .sizes = heights),
    WALK_ROW("nonflat", "wider than the image", wide_heights, define_nonflat, .sizes = flat,
             .few = true),
    WALK_ROW("ignore_transparent", "on and off", draw_ignore, define_ignore, .sizes = wide,
             .in_place = 2),
};

WALK_ROWS(rows)
