/* Fills marked regions with a value, row by row.
 * SPDX-License-Identifier: MIT */
#include "kernels/cpu/cpu.h"
#include "kernels/regions.h"

#include <string.h>

static void paint_row(void *arg, int y, void *scratch)
{
    const struct gi_cpu_rows *work = arg;
    const struct gi_image *src = work->src;
    const struct gi_paint *spec = work->spec;
    const uint32_t *labels = gi_row(spec->labels, y);
    const uint8_t *marked = spec->marked;
    size_t channels = (size_t)src->channels, colors = (size_t)gi_color_channels(src);
    memcpy(gi_row(work->dst, y), gi_row(src, y), gi_row_nbytes(src));
    GI_CPU_TYPES(src->type, {
        T *row = gi_row(work->dst, y);
        const T value = (T)spec->value;
        for (size_t x = 0; x < (size_t)src->width; x++)
            if (labels[x] && marked[labels[x] - 1])
                for (size_t c = 0; c < colors; c++)
                    row[x * channels + c] = value;
    })
}

GI_CPU_BY_ROWS(paint, struct gi_paint, paint_row);
