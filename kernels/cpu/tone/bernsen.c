/* Bernsen's local threshold, row by row: halfway between the minimum and the maximum of a
 * neighbourhood.
 * SPDX-License-Identifier: MIT */
#include "kernels/cpu/cpu.h"
#include "kernels/tone.h"

struct bernsen_work {
    struct gi_image *dst;
    const struct gi_image *src;
    const struct gi_bernsen *spec;
};

static void make_row(void *arg, int y, void *scratch)
{
    const struct bernsen_work *work = arg;
    const struct gi_image *src = work->src;
    const struct gi_bernsen spec = *work->spec;
    size_t n = gi_row_samples(src), channels = (size_t)src->channels;
    GI_CPU_TYPES(src->type, {
        const T *v = gi_row(src, y), *l = gi_row(spec.least, y), *g = gi_row(spec.greatest, y);
        T *restrict out = gi_row(work->dst, y);
        const T full = (T)gi_type_full_scale(TYPE);
        for (size_t i = 0; i < n; i++) {
            bool above = gi_bernsen_above(&spec, full, v[i], l[i], g[i]);
            out[i] = above != spec.invert ? full : 0;
        }
        for (size_t i = channels - 1; gi_has_alpha(src) && i < n; i += channels)
            out[i] = v[i];
    })
}

static enum gi_status by_rows(struct gi_queue *queue, struct gi_image *dst,
                              const struct gi_image *src, const struct gi_bernsen *spec,
                              struct gi_err *err)
{
    struct bernsen_work work = {dst, src, spec};
    return gi_pool_run(gi_cpu_pool(queue), src->height, make_row, &work, 0, err);
}

const struct gi_bernsen_way GI_CPU(bernsen_ways)[GI_WAYS_MAX] = {
    {{"rows", "everything"}, NULL, by_rows},
};
