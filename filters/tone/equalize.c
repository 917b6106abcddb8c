/* Histogram equalization: the cumulative histogram is the tone curve, with OpenCV's rounding.
 * SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "filters/statistics/opaque.h"
#include "filters/tone/curve.h"
#include "filters/tone/luma.h"
#include "imgio/small.h"
#include "kernels/kernels.h"

struct equalize_params {
    bool per_channel;
};

static const struct gi_option options[] = {
    {GI_OPTION("per-channel", FLAG, struct equalize_params, per_channel),
     .help = "Equalize each channel of a colour image separately"},
    {.name = NULL},
};

static bool by_luma(const struct gi_plan *plan)
{
    return gi_luma_decides(&plan->sources[0],
                           ((const struct equalize_params *)plan->params)->per_channel);
}

static enum gi_status plan(struct gi_plan *plan, struct gi_err *err)
{
    const struct gi_image *src = &plan->sources[0];
    plan->passes = 1;
    plan->state_nbytes = (size_t)(by_luma(plan) ? 1 : src->channels) *
                         (size_t)gi_curve_values(src->type) * sizeof(uint64_t);
    plan->cost.other = 9;
    return GI_OK;
}

static enum gi_status count(const struct gi_plan *plan, struct gi_queue *queue, void *state,
                            int pass, const struct gi_image *judge, struct gi_err *err)
{
    return gi_curve_count(queue, state, judge, err);
}

static enum gi_status measure(const struct gi_plan *plan, struct gi_queue *queue, void *state,
                              const struct gi_look *look, struct gi_err *err)
{
    const struct gi_image *src = &plan->sources[0];
    const struct gi_opaque_counting how = {.opaque = src->mask,
                                           .by_luma = by_luma(plan),
                                           .count = count,
                                           .counts = src->type == GI_F32 ? NULL : state};
    return gi_count_opaque(plan, queue, state, look, &how, err);
}

/* Computes the curve of a channel by OpenCV's steps, in float. Returns false if the channel has
 * fewer than two values. Samples of such a channel are unchanged. */
static bool fill_curve(double *to, const uint64_t *counts, enum gi_type type)
{
    int n = gi_curve_values(type), least = 0;
    while (least < n - 1 && !counts[least])
        least++;
    int64_t sum = 0;
    for (int v = 0; v < n; v++)
        to[v] = (double)(sum += v > least ? (int64_t)counts[v] : 0);
    float scale = sum ? (float)(n - 1) / (float)sum : 0;
    for (int v = 0; v < n && sum; v += GI_CURVE_PART)
        for (int i = 0; i < GI_CURVE_PART; i++)
            to[v + i] = (double)((float)to[v + i] * scale);
    for (int v = 0; v < n && !sum; v++)
        to[v] = v;
    return sum > 0;
}

static enum gi_status run(const struct gi_plan *plan, struct gi_queue *queue,
                          const struct gi_work *work, struct gi_err *err)
{
    const struct gi_image *src = &plan->sources[0];
    const uint64_t *counts = work->state;
    bool each = !by_luma(plan);
    unsigned stays = 0;
    int n = gi_curve_values(src->type), channels = each ? gi_color_channels(src) : 1;
    double *to = gi_small_alloc((size_t)channels * (size_t)n * sizeof *to);
    for (int c = 0; c < channels; c++)
        if (!fill_curve(to + c * n, counts + c * n, src->type) && src->type == GI_F32)
            stays |= 1u << c;
    enum gi_status status = gi_curve_run(queue, work, &(struct gi_curve){to, each, stays}, err);
    free(to);
    return status;
}

const struct gi_filter gi_filter_equalize = {
    .name = "equalize",
    .group = GI_GROUP_TONE,
    .planes = GI_PLANES_RGB,
    .summary = "Histogram equalization",
    .examples = "gpuimg equalize in.png out.png\n"
                "gpuimg equalize xray.pgm out.png\n"
                "gpuimg equalize in.png out.png --per-channel",
    .manual = "Equalization spreads the tones of the image so that all ranges of tones occur "
              "about equally often. A sample v becomes full scale * (n(v) - n(min)) / (N - "
              "n(min)), rounded. Here n(v) is the number of samples that are at most v (the "
              "cumulative histogram), min the smallest sample and N the number of samples.\n\n"
              "In a colour image the curve is computed from the luma and applied to all "
              "channels. With --per-channel each channel has a curve of its own. Transparent "
              "pixels count, and alpha does not change. An image that has only one value does "
              "not change.\n\n" GI_CURVE_FLOATS "\n\n"
              "8-bit results have the same bytes as those of "
              "OpenCV's equalizeHist, which computes in single "
              "precision. 16-bit results are computed in the "
              "same way. scikit-image's equalize_hist() uses "
              "n(v) / N instead.",
    .options = options,
    .params_nbytes = sizeof(struct equalize_params),
    .plan = plan,
    .run = run,
    .measure = measure,
};
