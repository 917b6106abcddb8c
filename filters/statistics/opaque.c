/* Leaves transparent pixels out of statistics.
 * SPDX-License-Identifier: MIT */
#include "filters/statistics/opaque.h"

#include <math.h>

#include "filters/channels_apart.h"
#include "filters/tone/luma.h"
#include "kernels/arithmetic.h"
#include "kernels/color.h"
#include "kernels/kernels.h"
#include "kernels/statistics.h"
#include "kernels/tone.h"

enum gi_status gi_keep_opaque(struct gi_queue *queue, struct gi_image *kept,
                              const struct gi_image *band, struct gi_err *err)
{
    const struct gi_kernels *k = queue->k;
    struct gi_image alpha;
    struct gi_permute_channels to_all = {.nsources = 1};
    /* For floats, alpha becomes infinity where it is > 0, and NaN where it is 0. The minimum of
     * this value and a sample is then the sample, or NaN. */
    struct gi_pointwise infinite = {.op = GI_POINTWISE_AFFINE, .scale = {INFINITY}};
    struct gi_arithmetic keep = {.op = band->type == GI_F32 ? GI_ARITHMETIC_MINIMUM
                                                            : GI_ARITHMETIC_MULTIPLY,
                                 .plain = true,
                                 .other = kept,
                                 .alpha_too = true};
    struct gi_threshold above_zero = {0};
    enum gi_status status =
        k->alloc(queue, kept, band->width, band->height, band->channels, band->type, err);
    if (status)
        return status;
    status = gi_channels_take(queue, &alpha, band, band->channels - 1, 1, err);
    if (!status) {
        status = k->threshold(queue, &alpha, &alpha, &above_zero, err);
        if (!status && band->type == GI_F32)
            status = k->pointwise(queue, &alpha, &alpha, &infinite, err);
        if (!status)
            status = k->permute_channels(queue, kept, &alpha, &to_all, err);
        if (!status)
            status = k->arithmetic(queue, kept, band, &keep, err);
        k->release(queue, &alpha);
    }
    if (status)
        k->release(queue, kept);
    return status;
}

enum gi_status gi_left_out(struct gi_queue *queue, uint64_t *n, uint64_t *counts, int nchannels,
                           const struct gi_image *band, struct gi_err *err)
{
    const struct gi_reduce spec = {.sums_only = true, .opaque = true};
    struct gi_reduction found[GI_MAX_CHANNELS] = {0};
    const struct gi_reduction *alpha = &found[band->channels - 1];
    enum gi_status status = queue->k->reduce(queue, found, band, &spec, err);
    uint64_t hidden = (uint64_t)band->width * (uint64_t)band->height - alpha->n - alpha->above;
    size_t nvalues = band->type == GI_U8 ? 256 : 65536;
    *n += hidden;
    for (int c = 0; counts && c < nchannels && !status; c++)
        counts[(size_t)c * nvalues] -= hidden;
    return status;
}

enum gi_status gi_count_opaque(const struct gi_plan *plan, struct gi_queue *queue, void *state,
                               const struct gi_look *look, const struct gi_opaque_counting *how,
                               struct gi_err *err)
{
    const struct gi_image *band = look->srcs;
    struct gi_image judge, kept = *band;
    uint64_t unused = 0, *left_out = how->left_out ? how->left_out : &unused;
    enum gi_status status = how->opaque ? gi_keep_opaque(queue, &kept, band, err) : GI_OK;
    if (status)
        return status;
    status = gi_judge_make(queue, &judge, &kept, how->by_luma, err);
    if (!status) {
        status = how->count(plan, queue, state, look->pass, &judge, err);
        gi_judge_release(queue, &judge, how->by_luma);
    }
    if (how->opaque)
        queue->k->release(queue, &kept);
    if (status || !how->opaque || look->pass > 0 || !(how->counts || how->left_out))
        return status;
    return gi_left_out(queue, left_out, how->counts, how->by_luma ? 1 : band->channels, band, err);
}
