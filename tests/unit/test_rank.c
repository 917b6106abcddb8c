/* Every way of rank filters (such as medians) and of the mode filter gives the same results as
 * sorting or counting the samples of each window.
 * Sources: rank footprint
 * SPDX-License-Identifier: MIT */
#include "definitions.h"
#include "primitives.h"
#include "kernels/footprint.h"
#include "kernels/rank.h"

/* Compares two samples for ascending order: NaN is last and -0 comes before 0. */
static int exact_order(const void *one, const void *other)
{
    float a = *(const float *)one, b = *(const float *)other;
    if (isnan(a) || isnan(b))
        return isnan(a) - isnan(b);
    if (a == b)
        return !signbit(a) - !signbit(b);
    return a > b ? 1 : -1;
}

/* Quickselect. Partitions the values about pivots until the value at `middle` is the one that
 * sorting would put there. */
static float exact_rank(float *v, int n, int middle)
{
    int low = 0, high = n - 1;
    while (low < high) {
        float pivot = v[middle];
        int i = low, j = high;
        while (i <= j) {
            while (exact_order(&v[i], &pivot) < 0)
                i++;
            while (exact_order(&v[j], &pivot) > 0)
                j--;
            if (i <= j) {
                float swap = v[i];
                v[i++] = v[j];
                v[j--] = swap;
            }
        }
        if (j < middle)
            low = i;
        if (middle < i)
            high = j;
    }
    return v[middle];
}

static void exact_median(struct gi_image *dst, const struct gi_image *src,
                         const struct gi_median *spec)
{
    int n = src->channels, w = spec->width, h = spec->height;
    struct gi_border_spec border = exact_border(&spec->border, src);
    float *window = calloc((size_t)w * (size_t)h, sizeof *window);
    for (int y = 0; y < src->height; y++)
        for (int x = 0; x < src->width; x++)
            for (int c = 0; c < n; c++) {
                if (n % 2 == 0 && c == n - 1 && !spec->alpha_too) {
                    exact_put(dst, y, x, c, exact_sample(src, y, x, c));
                    continue;
                }
                int count = 0;
                bool hides = spec->opaque && n % 2 == 0 && !spec->alpha_too;
                for (int i = 0; !spec->runs && i < w * h; i++)
                    window[count++] =
                        exact_at(src, &border, GI_ALPHA_PLAIN, (long long)y + i / w - h / 2,
                                 (long long)x + i % w - w / 2, c);
                for (int r = 0; spec->runs && r < spec->nruns; r++)
                    for (int i = spec->runs[r].first; i <= spec->runs[r].last; i++) {
                        long long at_y = (long long)y + spec->runs[r].y, at_x = (long long)x + i;
                        window[count] = exact_at(src, &border, GI_ALPHA_PLAIN, at_y, at_x, c);
                        count +=
                            !hides || exact_at(src, &border, GI_ALPHA_PLAIN, at_y, at_x, n - 1) > 0;
                    }
                int rank = (int)floor(count * spec->percent / 100);
                rank = !hides ? spec->rank : rank < count ? rank : count - 1;
                exact_put(dst, y, x, c,
                          count ? exact_rank(window, count, rank) : exact_sample(src, y, x, c));
            }
    free(window);
}

static bool counts_in(const struct gi_median *spec, int j, int i)
{
    for (int r = 0; r < spec->nruns; r++) {
        const struct gi_footprint_run *run = &spec->runs[r];
        if (run->y == j && run->first <= i && i <= run->last)
            return true;
    }
    return !spec->runs;
}

static float most_frequent(const struct gi_image *src, const struct gi_median *spec, int y, int x,
                           int c)
{
    struct gi_border_spec border = exact_border(&spec->border, src);
    static unsigned counts[65536];
    unsigned best = 0;
    bool counted = false;
    for (int turn = 0; turn < 3; turn++) /* counts, compares, and clears */
        for (int j = -spec->height / 2; j < spec->height - spec->height / 2; j++)
            for (int i = -spec->width / 2; i < spec->width - spec->width / 2; i++) {
                if (!counts_in(spec, j, i))
                    continue;
                unsigned v = (unsigned)exact_at(src, &border, GI_ALPHA_PLAIN, y + j, x + i, c);
                if (spec->opaque && gi_has_alpha(src) && !spec->alpha_too &&
                    !(exact_at(src, &border, GI_ALPHA_PLAIN, y + j, x + i, src->channels - 1) > 0))
                    continue;
                counted = true;
                if (turn == 0)
                    counts[v]++;
                else if (turn == 2)
                    counts[v] = 0;
                else if (counts[v] > counts[best] || (counts[v] == counts[best] && v < best))
                    best = v;
            }
    return counted ? (float)best : exact_sample(src, y, x, c);
}

static struct gi_median *window(struct walk_case *c, int width, int height)
{
    struct gi_median *m = WALK_SPEC(c, struct gi_median);
    *m = (struct gi_median){.width = width,
                            .height = height,
                            .rank = width * height / 2,
                            .alpha_too = walk_between(c, 0, 1),
                            .border = case_border(c->seed, c->border, c->type)};
    walk_source_here(c);
    return m;
}

static void draw_median(struct walk_case *c)
{
    int most = c->large ? 2 : walk_between(c, 0, 1) ? 2 : 15, k = 2 * walk_between(c, 0, most) + 1;
    window(c, k, k);
}

static void draw_rank(struct walk_case *c)
{
    int most = c->large ? 5 : 15;
    struct gi_median *m = window(c, walk_between(c, 1, most), walk_between(c, 1, most));
    m->rank = walk_between(c, 0, m->width * m->height - 1);
}

/* Makes windows wider than the image, and windows with more samples than 16 bits can count. */
static void draw_wide(struct walk_case *c)
{
    static const int sides[] = {3, 5, 7, 33, 61, 257, 301};
    int i = c->width * c->height < 50 ? 6 : c->width * c->height < 200 ? 4 : 3;
    int side = sides[walk_between(c, 0, i)];
    window(c, side, walk_between(c, 0, 1) ? side : side / 2 + 1);
}

static void set_runs(struct walk_case *c, struct gi_median *m)
{
    m->runs = walk_runs(c, m->width, m->height, m->width / 2, m->height / 2, &m->nruns);
    m->rank = walk_between(c, 0, gi_footprint_pixels(m->runs, m->nruns) - 1);
    m->opaque = walk_between(c, 0, 1);
    m->percent = m->opaque ? 12.5 * walk_between(c, 0, 8) : 0;
}

static void draw_runs(struct walk_case *c)
{
    set_runs(
        c, window(c, walk_between(c, 1, c->large ? 5 : 15), walk_between(c, 1, c->large ? 5 : 15)));
}

/* Makes squares that ignore transparent pixels, which are few, most or all of a part of the image.
 */
static void draw_opaque(struct walk_case *c)
{
    static const int sides[] = {1, 3, 5, 7, 9, 13, 33, 65};
    int k = sides[walk_between(c, 0, c->width * c->height > 400 ? 5 : 7)];
    struct gi_median *m = window(c, k, k);
    struct gi_image *src = &c->srcs[0].image;
    struct gi_footprint_run *runs = walk_alloc(c, (size_t)k * sizeof *runs);
    for (int y = 0; y < k; y++)
        runs[y] =
            (struct gi_footprint_run){(int16_t)(y - k / 2), (int16_t)(-k / 2), (int16_t)(k / 2)};
    m->runs = runs;
    m->nruns = k;
    m->opaque = true;
    m->percent = walk_between(c, 0, 1) ? 50 : 12.5 * walk_between(c, 0, 8);
    for (int y = 0; src->channels % 2 == 0 && y < c->height; y++)
        for (int x = 0; x < c->width; x++)
            if (y * x % 7 == 3 ? walk_between(c, 0, 9)
                               : x > c->width / 2 || !walk_between(c, 0, 19))
                exact_put(src, y, x, src->channels - 1, 0);
}

static void define_median(struct walk_case *c)
{
    exact_median(walk_result(c, c->width, c->height, c->channels, c->type), &c->srcs[0].image,
                 c->spec);
}

/* Makes few different samples in most images, so that the mode occurs more than once in a
 * window. */
static void draw_mode(struct walk_case *c)
{
    static const int windows[][2] = {{3, 3},  {1, 1}, {5, 5},   {9, 2}, {4, 7},
                                     {33, 1}, {3, 4}, {11, 11}, {6, 5}, {5, 1}};
    static const unsigned values[] = {3, 0, 40, 200};
    const int *size = windows[c->turn % 10];
    bool huge = c->width * c->height < 40 && c->turn % 7 == 0;
    struct gi_median *m = window(c, huge ? 301 : size[0], huge ? 257 : size[1]);
    struct gi_image *src = &c->srcs[0].image;
    unsigned n = values[walk_between(c, 0, 3)];
    if (!huge && walk_between(c, 0, 2) == 0)
        set_runs(c, m);
    for (int y = 0; n && y < c->height; y++)
        for (int x = 0; x < c->width; x++)
            for (int i = 0; i < c->channels; i++)
                exact_put(src, y, x, i, (float)((unsigned)exact_sample(src, y, x, i) % n));
}

/* Makes runs that are far apart, in windows with more samples than 16 bits can count. */
static void draw_far_runs(struct walk_case *c)
{
    static const struct gi_footprint_run stripes[] = {{-1, -16, 16}, {128, -150, 150}};
    struct gi_median *m = window(c, 301, 257);
    m->runs = stripes;
    m->nruns = 2;
    m->rank = 5;
}

static void define_mode(struct walk_case *c)
{
    const struct gi_median *spec = c->spec;
    const struct gi_image *src = &c->srcs[0].image;
    struct gi_image *want = walk_result(c, c->width, c->height, c->channels, c->type);
    for (int y = 0; y < c->height; y++)
        for (int x = 0; x < c->width; x++)
            for (int i = 0; i < c->channels; i++) {
                bool keep = gi_has_alpha(src) && !spec->alpha_too && i == c->channels - 1;
                exact_put(want, y, x, i,
                          keep ? exact_sample(src, y, x, i) : most_frequent(src, spec, y, x, i));
            }
}

static const int strips[][2] = {{9001, 3}, {1100, 9}, {300, 290}, {5003, 9}, {0, 0}};
static const int narrow[][2] = {{20, 9}, {3, 5}, {2, 1}, {0, 0}};
static const int tiles[][2] = {{1, 1},  {1, 17},  {17, 1}, {31, 33},
                               {67, 5}, {300, 9}, {3, 2},  {0, 0}};
static const int far[][2] = {{9, 4}, {0, 0}};

static const struct walk_row rows[] = {
    WALK_ROW("median", "medians", draw_median, define_median),
    WALK_ROW("median", "ranks", draw_rank, define_median),
    WALK_ROW("median", "runs", draw_runs, define_median),
    WALK_ROW("median", "opaque", draw_opaque, define_median, .sizes = tiles),
    WALK_ROW("median", "strips", draw_rank, define_median, .sizes = strips, .few = true),
    WALK_ROW("median", "wide", draw_wide, define_median, .sizes = narrow, .few = true),
    WALK_ROW("mode", "any window", draw_mode, define_mode, .sizes = tiles),
    WALK_ROW("mode", "runs far apart", draw_far_runs, define_mode, .sizes = far, .few = true),
};

WALK_ROWS(rows)
