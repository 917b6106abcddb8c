/* Applies tone curves by look-up tables.
 * SPDX-License-Identifier: MIT */
#include "filters/tone/curve.h"
#include "imgio/small.h"
#include "kernels/kernels.h"
#include "kernels/tone.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

enum gi_status gi_curve_count(struct gi_queue *queue, uint64_t *counts, const struct gi_image *src,
                              struct gi_err *err)
{
    struct gi_histogram_spec spec = {.key = src->type == GI_F32 ? GI_KEY_RANGE : GI_KEY_VALUE,
                                     .nbins = gi_curve_values(src->type),
                                     .lo = 0,
                                     .hi = 1};
    return queue->k->histogram(queue, counts, src, &spec, err);
}

uint64_t gi_curve_total(const uint64_t *counts, enum gi_type type)
{
    uint64_t sum = 0;
    for (int v = 0; v < gi_curve_values(type); v++)
        sum += counts[v];
    return sum;
}

static void round_part(uint16_t *restrict rounded, const double *restrict to, double most)
{
    const double whole = 0x1p52; /* added, it leaves no fractions */
    for (int v = 0; v < GI_CURVE_PART; v++) {
        double limited = to[v] < most ? to[v] : most;
        limited = to[v] > 0 ? limited : 0;
        rounded[v] = (uint16_t)(int)((limited + whole) - whole);
    }
}

static void divide_part(float *restrict table, const double *restrict to)
{
    for (int v = 0; v < GI_CURVE_PART; v++)
        table[v] = (float)(to[v] / 65535);
}

void gi_curve_fill(void *table, enum gi_type type, const double *to)
{
    uint16_t rounded[GI_CURVE_PART];
    int n = gi_curve_values(type);
    for (int v = 0; v < n; v += GI_CURVE_PART)
        if (type == GI_F32)
            divide_part((float *)table + v, to + v);
        else if (type == GI_U16)
            round_part((uint16_t *)table + v, to + v, n - 1);
        else {
            round_part(rounded, to, n - 1);
            for (int i = 0; i < n; i++)
                ((uint8_t *)table)[i] = (uint8_t)rounded[i];
        }
}

enum gi_status gi_curve_run(struct gi_queue *queue, const struct gi_work *work,
                            const struct gi_curve *curve, struct gi_err *err)
{
    const struct gi_image *src = work->srcs;
    int colors = gi_color_channels(src), tables = curve->each ? colors : 1;
    size_t nbytes = (size_t)gi_curve_values(src->type) * gi_type_nbytes(src->type);
    char *block = gi_small_alloc((size_t)tables * nbytes);
    struct gi_pointwise spec = {.op = GI_POINTWISE_TABLE};
    for (int c = 0; c < tables; c++)
        if (!(curve->stays >> c & 1))
            gi_curve_fill(block + (size_t)c * nbytes, src->type,
                          curve->to + c * gi_curve_values(src->type));
    for (int c = 0; c < colors; c++) {
        int from = curve->each ? c : 0;
        spec.table[c] = curve->stays >> from & 1 ? NULL : block + (size_t)from * nbytes;
    }
    enum gi_status status = queue->k->pointwise(queue, work->dst, src, &spec, err);
    free(block);
    return status;
}

/* Sets up a linear function. If samples are large compared with their span, cancellation would make
 * one product and one sum inaccurate. In this case `first` subtracts a common part before, which is
 * exact where it matters. Returns whether the channel needs `first`. */
static bool fill_line(struct gi_pointwise *first, struct gi_pointwise *last, int c,
                      const struct gi_stretch *line)
{
    double scale = (line->out[1] - line->out[0]) / (line->to - line->from), bulk = 0;
    double offset = line->out[0] - line->from * scale;
    first->scale[c] = last->scale[c] = 1;
    first->offset[c] = last->offset[c] = 0;
    if (!(fabs(line->to - line->from) > 0) || isinf(line->to - line->from) ||
        !(fabs(scale) <= (double)FLT_MAX) || !(fabs(offset) <= (double)FLT_MAX))
        return false;
    if (fabs(line->from) > fabs(line->to - line->from) && fabs(line->from) < (double)FLT_MAX)
        bulk = (double)(float)line->from;
    first->offset[c] = (float)-bulk;
    last->scale[c] = (float)scale;
    last->offset[c] = (float)(line->out[0] + (bulk - line->from) * scale);
    return bulk != 0;
}

enum gi_status gi_stretch_run(struct gi_queue *queue, const struct gi_work *work,
                              const struct gi_stretch *lines, struct gi_err *err)
{
    const struct gi_image *src = work->srcs;
    struct gi_pointwise first = {.op = GI_POINTWISE_AFFINE}, last = first;
    struct gi_image moved;
    bool twice = false;
    for (int c = 0; c < gi_color_channels(src); c++)
        twice |= fill_line(&first, &last, c, &lines[c]);
    if (!twice)
        return queue->k->pointwise(queue, work->dst, src, &last, err);
    enum gi_status status =
        queue->k->alloc(queue, &moved, src->width, src->height, src->channels, src->type, err);
    if (status)
        return status;
    status = queue->k->pointwise(queue, &moved, src, &first, err);
    if (!status)
        status = queue->k->pointwise(queue, work->dst, &moved, &last, err);
    queue->k->release(queue, &moved);
    return status;
}
