/* Replaces each colour by its entry in a table of all colours.
 * SPDX-License-Identifier: MIT */
#include "kernels/cpu/convolution/padded_rows.h"
#include "kernels/color.h"

enum { STRIP_MAX = 1 << 16 /* pixels */ };

struct recolor {
    struct gi_image *dst;
    const struct gi_image *src;
    const struct gi_recolor *spec;
    struct gi_tiling tiling;
};

static inline __attribute__((always_inline)) void
row_of(const struct gi_recolor *spec, uint8_t *out, const uint8_t *in, int n, int channels)
{
    const uint8_t *table = spec->table->data;
    size_t stride = spec->table->stride;
    for (int x = 0; x < n; x++, in += channels, out += channels) {
        uint32_t color = (uint32_t)in[0] << 16 | (uint32_t)in[1] << 8 | in[2];
        uint8_t entry = table[color / GI_RECOLOR_SIDE * stride + color % GI_RECOLOR_SIDE];
        const uint8_t *to = spec->colors[entry];
        uint8_t alpha = in[channels - 1];
        out[0] = to[0];
        out[1] = to[1];
        out[2] = to[2];
        if (channels == 4)
            out[3] = alpha;
    }
}

static void recolor_tile(void *arg, int index, void *scratch)
{
    const struct recolor *job = arg;
    struct gi_tile tile = GI_CPU(tile)(&job->tiling, job->src, index);
    size_t channels = (size_t)job->src->channels;
    for (int y = tile.y0; y < tile.y1; y++) {
        uint8_t *out = (uint8_t *)gi_row(job->dst, y) + (size_t)tile.x0 * channels;
        const uint8_t *in = (const uint8_t *)gi_row(job->src, y) + (size_t)tile.x0 * channels;
        if (channels == 3)
            row_of(job->spec, out, in, tile.x1 - tile.x0, 3);
        else
            row_of(job->spec, out, in, tile.x1 - tile.x0, 4);
    }
}

static enum gi_status by_rows(struct gi_queue *queue, struct gi_image *dst,
                              const struct gi_image *src, const struct gi_recolor *spec,
                              struct gi_err *err)
{
    struct gi_pool *pool = gi_cpu_pool(queue);
    struct recolor job = {.dst = dst, .src = src, .spec = spec};
    job.tiling = GI_CPU(tiling)(src, gi_pool_threads(pool), STRIP_MAX, 0);
    return gi_pool_run(pool, job.tiling.nstrips * job.tiling.nbands, recolor_tile, &job, 0, err);
}

GI_CPU_ONE_WAY(recolor, "rows", by_rows);
