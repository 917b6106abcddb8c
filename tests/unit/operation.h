/* The image primitives with random specs, each with its definition of kernels.h in plain loops.
 * SPDX-License-Identifier: MIT */
#ifndef GI_TESTS_OPERATION_H
#define GI_TESTS_OPERATION_H

#include "image_cases.h"

#define REAL      float
#define REF(name) exact_##name
#define FMA       fmaf
#define SQRT      sqrtf
#include "kernels/denoise.h"
#include "kernels/morphology.h"
#include "kernels/rank.h"
#include "kernels/tone.h"
#include "reference.h"

/* A primitive with its spec: run() computes it on a queue, define() by its definition. */
enum { CASE_RUN_ROWS = 15 };

struct operation {
    const char *name;
    enum {
        SEPARABLE,
        DENSE,
        BOX,
        MIN_MAX,
        MEDIAN,
        BILATERAL,
        NLMEANS,
        GRADIENT,
        THRESHOLD,
        LUMA
    } which;
    struct gi_separable separable;
    struct gi_dense dense;
    struct gi_box box;
    struct gi_min_max min_max;
    struct gi_median median;
    struct gi_footprint_run runs[2 * CASE_RUN_ROWS];
    struct gi_bilateral bilateral;
    struct gi_nlmeans nlmeans;
    struct gi_gradient_magnitude gradient;
    float above;
    bool invert;
    bool step; /* the image is 0 on the left and full scale on the right, where sums are extreme */
    float row[CASE_TAPS_MAX], col[CASE_TAPS_MAX];
    float value[GI_RANGE_ENTRIES], slope[GI_RANGE_ENTRIES], space[8 * 8];
    uint16_t weights[GI_NLMEANS_ENTRIES];
};

/* Sums along the row, then down the column. */
static void exact_box(struct gi_image *dst, const struct gi_image *src, const struct gi_box *spec)
{
    int n = src->channels, k = spec->k, half = k / 2, w = src->width, h = src->height;
    bool weigh = n % 2 == 0 && spec->alpha == GI_ALPHA_WEIGH;
    struct gi_border_spec border = spec->border;
    uint64_t count = (uint64_t)k * (uint64_t)k;
    size_t row = (size_t)w * (size_t)n;
    uint64_t *along = calloc((size_t)(h + k - 1) * row, sizeof *along);
    for (int c = 0; c < n; c++)
        border.value[c] = rintf(fminf(border.value[c], gi_type_full_scale(src->type)));
    for (int y = 0; y < h + k - 1; y++)
        for (int x = 0; x < w; x++)
            for (int i = -half; i <= half; i++)
                for (int c = 0; c < n; c++) {
                    enum gi_alpha_rule plain = GI_ALPHA_PLAIN;
                    uint64_t v = (uint64_t)exact_at(src, &border, plain, y - half, x + i, c);
                    uint64_t a = (uint64_t)exact_at(src, &border, plain, y - half, x + i, n - 1);
                    along[(size_t)y * row + (size_t)(x * n + c)] += weigh && c < n - 1 ? v * a : v;
                }
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++) {
            uint64_t s[4] = {0};
            for (int j = 0; j < k; j++)
                for (int c = 0; c < n; c++)
                    s[c] += along[(size_t)(y + j) * row + (size_t)(x * n + c)];
            for (int c = 0; c < n; c++) {
                uint64_t by = weigh && c < n - 1 ? s[n - 1] : count;
                exact_put(dst, y, x, c, (float)(by ? (2 * s[c] + by) / (2 * by) : 0));
            }
        }
    free(along);
}

/* Returns whether `a` is chosen over `b`. NaN is chosen over everything, and -0 is less than 0. */
static bool exact_before(float a, float b, bool greatest)
{
    if (isnan(a) || isnan(b))
        return isnan(a);
    if (a == b)
        return greatest ? !signbit(a) && signbit(b) : signbit(a) && !signbit(b);
    return greatest ? a > b : a < b;
}

/* Takes the minimum or maximum over n runs, one after the other. */
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

/* Filters the rows, then the columns: the rectangle is separable. */
static void exact_min_max(struct gi_image *dst, const struct gi_image *src,
                          const struct gi_min_max *spec)
{
    int n = src->channels, w = src->width, span = w + spec->width - 1;
    struct gi_border_spec border = spec->border;
    float *down = calloc((size_t)span, sizeof *down);
    for (int c = 0; src->type != GI_F32 && c < n; c++)
        border.value[c] = rintf(fmaxf(fminf(border.value[c], gi_type_full_scale(src->type)), 0));
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

/* Quickselect: partitions about a sample until the pivot is the one of the wanted rank. */
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
    struct gi_border_spec border = spec->border;
    float *window = calloc((size_t)w * (size_t)h, sizeof *window);
    for (int c = 0; src->type != GI_F32 && c < n; c++)
        border.value[c] = rintf(fmaxf(fminf(border.value[c], gi_type_full_scale(src->type)), 0));
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

#include "denoise_operation.h"

static void exact_threshold(struct gi_image *dst, const struct gi_image *src, float above,
                            bool invert)
{
    for (int y = 0; y < src->height; y++)
        for (int x = 0; x < src->width; x++)
            for (int c = 0; c < src->channels; c++) {
                float s = exact_sample(src, y, x, c);
                bool is_alpha = src->channels % 2 == 0 && c == src->channels - 1;
                float v = (s > above) != invert ? gi_type_full_scale(src->type) : 0;
                exact_put(dst, y, x, c, is_alpha ? s : v);
            }
}

static enum gi_status run(struct gi_queue *queue, const struct operation *op, struct gi_image *dst,
                          const struct gi_image *src, struct gi_err *err)
{
    switch (op->which) {
    case SEPARABLE:
        return queue->k->convolve_separable(queue, dst, src, &op->separable, err);
    case DENSE:
        return queue->k->convolve_2d(queue, dst, src, &op->dense, err);
    case BOX:
        return queue->k->box(queue, dst, src, &op->box, err);
    case MIN_MAX:
        return queue->k->min_max(queue, dst, src, &op->min_max, err);
    case MEDIAN:
        return queue->k->median(queue, dst, src, &op->median, err);
    case BILATERAL:
        return queue->k->bilateral(queue, dst, src, &op->bilateral, err);
    case NLMEANS:
        return queue->k->nlmeans(queue, dst, src, &op->nlmeans, err);
    case GRADIENT:
        return queue->k->gradient_magnitude(queue, dst, src, &op->gradient, err);
    case THRESHOLD:
        return queue->k->threshold(queue, dst, src, &(struct gi_threshold){op->above, op->invert},
                                   err);
    default:
        return queue->k->luma(queue, dst, src, NULL, err);
    }
}

static void define(const struct operation *op, struct gi_image *dst, const struct gi_image *src)
{
    if (op->which == SEPARABLE)
        exact_separable(dst, src, &op->separable);
    else if (op->which == DENSE)
        exact_dense(dst, src, &op->dense);
    else if (op->which == BOX)
        exact_box(dst, src, &op->box);
    else if (op->which == MIN_MAX)
        exact_min_max(dst, src, &op->min_max);
    else if (op->which == MEDIAN)
        exact_median(dst, src, &op->median);
    else if (op->which == BILATERAL)
        exact_bilateral(dst, src, &op->bilateral);
    else if (op->which == NLMEANS)
        exact_nlmeans(dst, src, &op->nlmeans);
    else if (op->which == GRADIENT)
        exact_gradient(dst, src, &op->gradient);
    else if (op->which == THRESHOLD)
        exact_threshold(dst, src, op->above, op->invert);
    else
        exact_luma(dst, src);
}

static void fill_step(struct gi_image *image)
{
    for (int y = 0; y < image->height; y++)
        for (int x = 0; x < image->width; x++)
            for (int c = 0; c < image->channels; c++)
                exact_put(image, y, x, c,
                          x < image->width / 2 ? 0 : gi_type_full_scale(image->type));
}

static struct gi_epilogue random_epilogue(uint64_t *seed, enum gi_type type)
{
    float full = gi_type_full_scale(type);
    return (struct gi_epilogue){.kind = (enum gi_epilogue_kind)case_between(seed, 0, 3),
                                .bias = case_between(seed, 0, 1) ? case_real(seed) * full / 4 : 0,
                                .amount = 2 * case_real(seed),
                                .threshold = full * 0.05f};
}

static void random_separable(struct operation *op, uint64_t *seed, enum gi_border border,
                             enum gi_type type, bool long_taps)
{
    static const int counts[] = {1, 2, 3, 5, 8, 31, 33, 64, 66, CASE_TAPS_MAX};
    struct gi_separable *s = &op->separable;
    *s = (struct gi_separable){.row = op->row, .col = op->col};
    s->nrow = counts[case_between(seed, 0, long_taps ? 9 : 4)];
    s->ncol = counts[case_between(seed, 0, long_taps ? 9 : 4)];
    s->row_anchor = case_between(seed, 0, s->nrow - 1);
    s->col_anchor = case_between(seed, 0, s->ncol - 1);
    float row = 0, col = 0;
    for (int i = 0; i < s->nrow; i++)
        row += op->row[i] = (case_real(seed) + 0.5f) / (float)s->nrow;
    for (int i = 0; i < s->ncol; i++)
        col += op->col[i] = (case_real(seed) + 0.5f) / (float)s->ncol;
    s->sum = row * col;
    s->alpha = (enum gi_alpha_rule)case_between(seed, 0, 2);
    s->border = case_border(seed, border, type);
    s->epilogue = random_epilogue(seed, type);
}

static void random_dense(struct operation *op, uint64_t *seed, enum gi_border border,
                         enum gi_type type)
{
    struct gi_dense *d = &op->dense;
    *d = (struct gi_dense){.weights = op->row};
    d->width = case_between(seed, 1, 9);
    d->height = case_between(seed, 1, 7);
    d->anchor_x = case_between(seed, 0, d->width - 1);
    d->anchor_y = case_between(seed, 0, d->height - 1);
    for (int i = 0; i < d->width * d->height; i++)
        d->sum += op->row[i] = (case_real(seed) + 0.5f) / (float)(d->width * d->height);
    d->alpha = (enum gi_alpha_rule)case_between(seed, 0, 2);
    d->border = case_border(seed, border, type);
    d->epilogue = random_epilogue(seed, type);
}

/* 3, 5 or 7 taps in each direction; `whole`: 3 taps that are integers. */
static void random_small(struct operation *op, uint64_t *seed, enum gi_border border,
                         enum gi_type type, bool whole)
{
    struct gi_separable *s = &op->separable;
    int k = whole ? 3 : 2 * case_between(seed, 1, 3) + 1, most = case_between(seed, 1, 9);
    *s = (struct gi_separable){.row = op->row, .col = op->col, .nrow = k, .ncol = k};
    s->row_anchor = case_between(seed, 0, k - 1);
    s->col_anchor = case_between(seed, 0, k - 1);
    for (int i = 0; i < 2 * k; i++) {
        float tap = whole ? (float)case_between(seed, -most / 2, most) : case_real(seed);
        (i < k ? op->row : op->col)[i % k] = tap;
    }
    if (whole && case_between(seed, 0, 1))
        (case_between(seed, 0, 1) ? op->row : op->col)[1] = 0;
    s->sum = 1;
    s->border = case_border(seed, border, type);
    for (int c = 0; type != GI_F32 && c < GI_MAX_CHANNELS; c++)
        s->border.value[c] = rintf(s->border.value[c]);
    s->epilogue.kind = case_between(seed, 0, 1) ? GI_EPILOGUE_STORE : GI_EPILOGUE_ABS;
    bool biased = !whole && case_between(seed, 0, 1);
    s->epilogue.bias = biased ? case_real(seed) * gi_type_full_scale(type) : 0;
}

/* Draws up to two runs in each row of a rectangle with its anchor at (ax, ay); returns their
 * number. */
static int random_runs(struct operation *op, uint64_t *seed, int width, int height, int ax, int ay)
{
    int n = 0;
    for (int y = 0; y < height; y++) {
        int a = case_between(seed, 0, width - 1), b = case_between(seed, a, width - 1);
        int c = b + case_between(seed, 2, 5), turn = case_between(seed, 0, 3);
        if (turn || (y == height - 1 && n == 0))
            op->runs[n++] =
                (struct gi_footprint_run){(int16_t)(y - ay), (int16_t)(a - ax), (int16_t)(b - ax)};
        if (turn > 1 && c < width)
            op->runs[n++] =
                (struct gi_footprint_run){(int16_t)(y - ay), (int16_t)(c - ax),
                                          (int16_t)(case_between(seed, c, width - 1) - ax)};
    }
    return n;
}

/* Draws a rectangle with sides up to `most`, or runs in such a rectangle. */
static void random_min_max(struct operation *op, uint64_t *seed, enum gi_border border,
                           enum gi_type type, int most)
{
    struct gi_min_max *e = &op->min_max;
    bool square = case_between(seed, 0, 2) == 0;
    *e = (struct gi_min_max){.greatest = case_between(seed, 0, 1),
                             .border = case_border(seed, border, type)};
    e->width = case_between(seed, 1, most);
    e->height = square ? e->width : case_between(seed, 1, most);
    e->anchor_x = square ? e->width / 2 : case_between(seed, 0, e->width - 1);
    e->anchor_y = square ? e->height / 2 : case_between(seed, 0, e->height - 1);
    e->alpha_too = case_between(seed, 0, 1);
    if (e->height <= CASE_RUN_ROWS && e->width < 20 && case_between(seed, 0, 2) == 0) {
        e->runs = op->runs;
        e->nruns = random_runs(op, seed, e->width, e->height, e->anchor_x, e->anchor_y);
    }
}

static void random_median(struct operation *op, uint64_t *seed, enum gi_border border,
                          enum gi_type type, int most)
{
    bool square = case_between(seed, 0, 1);
    struct gi_median *m = &op->median;
    *m = (struct gi_median){.alpha_too = case_between(seed, 0, 1),
                            .border = case_border(seed, border, type)};
    m->width = square ? 2 * case_between(seed, 0, most / 2) + 1 : case_between(seed, 1, most);
    m->height = square ? m->width : case_between(seed, 1, most);
    m->rank = m->width * m->height / 2;
    if (!square)
        m->rank = case_between(seed, 0, m->width * m->height - 1);
    if (m->height <= CASE_RUN_ROWS && case_between(seed, 0, 2) == 0) {
        m->runs = op->runs;
        m->nruns = random_runs(op, seed, m->width, m->height, m->width / 2, m->height / 2);
        m->rank = case_between(seed, 0, gi_footprint_pixels(m->runs, m->nruns) - 1);
        m->opaque = case_between(seed, 0, 1);
        m->percent = m->opaque ? 12.5 * case_between(seed, 0, 8) : 0;
    }
}

static void random_rest(struct operation *op, uint64_t *seed, enum gi_border border,
                        enum gi_type type)
{
    static const float smooth[][3] = {{1, 2, 1}, {3, 10, 3}, {1, 1, 1}};
    memcpy(op->gradient.smooth, smooth[case_between(seed, 0, 2)], sizeof smooth[0]);
    op->gradient.alpha = case_between(seed, 0, 1) ? GI_ALPHA_KEEP : GI_ALPHA_PLAIN;
    op->gradient.border = op->box.border = case_border(seed, border, type);
    for (int c = 0; type != GI_F32 && c < GI_MAX_CHANNELS && case_between(seed, 0, 1); c++)
        op->gradient.border.value[c] = rintf(op->gradient.border.value[c]);
    op->box.k = 2 * case_between(seed, 0, 5) + 1;
    op->box.alpha = case_between(seed, 0, 1) ? GI_ALPHA_WEIGH : GI_ALPHA_PLAIN;
    op->above = (case_real(seed) * 0.6f + 0.5f) * gi_type_full_scale(type);
    op->invert = case_between(seed, 0, 1);
}

#endif
