/* Fills marked regions with a value, row by row.
 * SPDX-License-Identifier: MIT */
#include "kernels/cpu/cpu.h"
#include "kernels/regions.h"

#include <string.h>

struct paint_work {
    struct gi_image *dst;
    const struct gi_image *src;
    const struct gi_paint *spec;
};

static void paint_row(void *arg, int y, void *scratch)
{
    const struct paint_work *work = arg;
    const struct gi_image *src = work->src;
    const uint32_t *labels = gi_row(work->spec->labels, y);
    const uint8_t *marked = work->spec->marked;
    size_t channels = (size_t)src->channels, colours = (size_t)gi_colour_channels(src);
    memcpy(gi_row(work->dst, y), gi_row(src, y), gi_row_nbytes(src));
    GI_CPU_TYPES(src->type, {
        T *row = gi_row(work->dst, y);
        const T value = (T)work->spec->value;
        for (size_t x = 0; x < (size_t)src->width; x++)
            if (labels[x] && marked[labels[x] - 1])
                for (size_t c = 0; c < colours; c++)
                    row[x * channels + c] = value;
    })
}

static enum gi_status by_rows(struct gi_queue *queue, struct gi_image *dst,
                              const struct gi_image *src, const struct gi_paint *spec,
                              struct gi_err *err)
{
    struct paint_work work = {dst, src, spec};
    return gi_pool_run(gi_cpu_pool(queue), src->height, paint_row, &work, 0, err);
}

const struct gi_paint_way GI_CPU(paint_ways)[GI_WAYS_MAX] = {
    {{"rows", "everything"}, NULL, by_rows},
};
