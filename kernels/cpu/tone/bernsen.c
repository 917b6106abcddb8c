/* Bernsen's local threshold, row by row: halfway between the minimum and the maximum of a
 * neighbourhood.
 * SPDX-License-Identifier: MIT */
#include "kernels/cpu/cpu.h"
#include "kernels/tone.h"

static void make_row(void *arg, int y, void *scratch)
{
    const struct gi_cpu_rows *work = arg;
    const struct gi_image *src = work->src;
    const struct gi_bernsen spec = *(const struct gi_bernsen *)work->spec;
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

GI_CPU_BY_ROWS(bernsen, struct gi_bernsen, make_row);
