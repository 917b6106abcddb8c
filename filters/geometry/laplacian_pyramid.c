/* Laplacian pyramids, by the primitive resample.
 * SPDX-License-Identifier: MIT */
#include "filters/geometry/laplacian_pyramid.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/geometry.h"
#include "kernels/kernels.h"

enum { TAPS_MAX = 5 };

static int half_of(int n)
{
    return n / 2 + n % 2;
}

struct gi_laplacian_levels gi_laplacian_levels(int width, int height)
{
    struct gi_laplacian_levels levels = {.n = 0};
    int64_t rows = 0;
    for (int least = width < height ? width : height; least > 0; least /= 2) {
        if (levels.n && rows + height > INT_MAX)
            break;
        levels.width[levels.n] = width;
        levels.height[levels.n] = height;
        levels.y[levels.n++] = (int)rows;
        rows += height;
        width = half_of(width);
        height = half_of(height);
    }
    levels.rows = (int)rows;
    return levels;
}

struct gi_image gi_laplacian_level(const struct gi_image *all,
                                   const struct gi_laplacian_levels *levels, int i)
{
    struct gi_image level = gi_image_rows(all, levels->y[i], levels->y[i] + levels->height[i]);
    level.width = levels->width[i];
    return level;
}

/* The tables of one axis, whose n results have weights of their own. */
struct side {
    struct gi_resample_side spec;
    void *memory;
};

/* Returns the index of the sample that stands for sample i of n samples. */
static int mirrored(int i, int n)
{
    return gi_border_index(i, n, GI_BORDER_REFLECT101);
}

static int mirrored_or_repeated(int i, int n)
{
    return i < 0 ? mirrored(i, n) : i >= n ? n - 1 : i;
}

/* Sets the weights of result i of REDUCE, for n source samples. The array `w` begins at `first`. */
static void reduce_weights(float *w, int first, int i, int n)
{
    static const float taps[TAPS_MAX] = {0.0625f, 0.25f, 0.375f, 0.25f, 0.0625f};
    for (int j = 0; j < TAPS_MAX; j++)
        w[mirrored(2 * i + j - 2, n) - first] += taps[j];
}

static void expand_weights(float *w, int first, int i, int n)
{
    int at = i / 2;
    if (i % 2) {
        w[at - first] += 0.5f;
        w[mirrored_or_repeated(at + 1, n) - first] += 0.5f;
        return;
    }
    w[mirrored_or_repeated(at - 1, n) - first] += 0.125f;
    w[at - first] += 0.75f;
    w[mirrored_or_repeated(at + 1, n) - first] += 0.125f;
}

/* Makes the tables for `source` samples and `result` results, from up to `taps` samples around each
 * result. */
static enum gi_status side_make(struct side *side, int source, int result, bool expands,
                                struct gi_err *err)
{
    int most = expands ? 3 : TAPS_MAX, taps = source < most ? source : most;
    size_t n = (size_t)result;
    side->memory = calloc(n, 2 * sizeof(int32_t) + (size_t)taps * sizeof(float));
    if (!side->memory)
        return gi_fail(err, GI_E_MEMORY, "out of memory: weights of %d pixels", result);
    int32_t *first = side->memory, *phase = first + n;
    float *weights = (float *)(phase + n);
    for (int i = 0; i < result; i++) {
        int from = (expands ? i / 2 : 2 * i) - most / 2;
        from = from > source - taps ? source - taps : from;
        first[i] = from < 0 ? 0 : from;
        phase[i] = i;
        (expands ? expand_weights : reduce_weights)(weights + i * taps, first[i], i, source);
    }
    side->spec = (struct gi_resample_side){
        .n = result, .taps = taps, .nphases = result, .first = first, .phase = phase};
    side->spec.weights = weights;
    return GI_OK;
}

static enum gi_status resample(struct gi_queue *queue, struct gi_image *dst,
                               const struct gi_image *src, const struct side *row,
                               const struct side *col, enum gi_alpha_rule alpha, struct gi_err *err)
{
    const struct gi_resample spec = {.row = row->spec, .col = col->spec, .alpha = alpha};
    enum gi_status status =
        queue->k->alloc(queue, dst, row->spec.n, col->spec.n, src->channels, src->type, err);
    if (status)
        return status;
    status = queue->k->resample(queue, dst, src, &spec, err);
    if (status)
        queue->k->release(queue, dst);
    return status;
}

/* Makes an image of width x height pixels by REDUCE or EXPAND. */
static enum gi_status change(struct gi_queue *queue, struct gi_image *dst,
                             const struct gi_image *src, int width, int height, bool expands,
                             enum gi_alpha_rule alpha, struct gi_err *err)
{
    struct side row = {.memory = NULL}, col = {.memory = NULL};
    enum gi_status status = side_make(&row, src->width, width, expands, err);
    if (!status)
        status = side_make(&col, src->height, height, expands, err);
    if (!status)
        status = resample(queue, dst, src, &row, &col, alpha, err);
    free(row.memory);
    free(col.memory);
    return status;
}

enum gi_status gi_laplacian_reduce(struct gi_queue *queue, struct gi_image *half,
                                   const struct gi_image *src, enum gi_alpha_rule alpha,
                                   struct gi_err *err)
{
    return change(queue, half, src, half_of(src->width), half_of(src->height), false, alpha, err);
}

enum gi_status gi_laplacian_expand(struct gi_queue *queue, struct gi_image *expanded,
                                   const struct gi_image *src, int width, int height,
                                   enum gi_alpha_rule alpha, struct gi_err *err)
{
    return change(queue, expanded, src, width, height, true, alpha, err);
}
