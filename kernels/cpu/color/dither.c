/* Replaces colours by those of a palette, with dithering. Ordered dithering runs in tiles; error
 * diffusion depends on all pixels before, and is done by one thread.
 * SPDX-License-Identifier: MIT */
#include "kernels/cpu/convolution/padded_rows.h"
#include "kernels/color.h"

#include <stdlib.h>

enum { STRIP_MAX = 1 << 14 /* pixels */ };

struct dither {
    struct gi_image *dst;
    const struct gi_image *src;
    const struct gi_dither *spec;
    struct gi_tiling tiling;
    uint32_t colors[GI_RECOLOR_MOST];
};

static inline __attribute__((always_inline)) int entry_of(const struct dither *job, int r, int g,
                                                          int b)
{
    const struct gi_image *cells = job->spec->cells;
    const uint8_t *cell = gi_row(cells, gi_dither_cell(r, g, b));
    return gi_dither_entry(cell, job->colors, r, g, b);
}

static void ordered_tile(void *arg, int index, void *scratch)
{
    const struct dither *job = arg;
    struct gi_tile tile = GI_CPU(tile)(&job->tiling, job->src, index);
    int channels = job->src->channels, colors = gi_color_channels(job->src);
    for (int y = tile.y0; y < tile.y1; y++) {
        const uint8_t *in = (const uint8_t *)gi_row(job->src, y) + (ptrdiff_t)tile.x0 * channels;
        uint8_t *out = (uint8_t *)gi_row(job->dst, y) + (ptrdiff_t)tile.x0 * channels;
        for (int x = tile.x0; x < tile.x1; x++, in += channels, out += channels) {
            int offset = gi_dither_offset(x, y, job->spec->spread), v[3] = {0};
            uint8_t alpha = in[channels - 1];
            for (int c = 0; c < colors; c++)
                v[c] = gi_dither_limit(in[c] + offset);
            const uint8_t *to = job->spec->colors[entry_of(job, v[0], v[1], v[2])];
            for (int c = 0; c < colors; c++)
                out[c] = to[c];
            if (channels > colors)
                out[channels - 1] = alpha;
        }
    }
}

/* Diffuses the errors of a row. On entry below[3 * x + c] is what the row above has passed on to
 * pixel x, and afterwards what this row passes on. */
static inline __attribute__((always_inline)) void diffuse_row(const struct dither *job, int y,
                                                              int *below, int channels)
{
    const int colors = channels < 3 ? 1 : 3;
    const uint8_t *in = gi_row(job->src, y);
    uint8_t *out = gi_row(job->dst, y);
    int right[3] = {0}; /* what the pixel on the left has passed on */
    int left[3] = {0};  /* what the next pixel's left below has, without that of the next pixel */
    int down[3] = {0};  /* the same for the pixel below the next one */
    for (int x = 0; x < job->src->width; x++, in += channels, out += channels) {
        int v[3] = {0};
        uint8_t alpha = in[channels - 1];
        for (int c = 0; c < colors; c++)
            v[c] = gi_dither_limit(in[c] + (right[c] + below[3 * x + c]) / 16);
        const uint8_t *to = job->spec->colors[entry_of(job, v[0], v[1], v[2])];
        for (int c = 0; c < colors; c++) {
            int d = v[c] - to[c];
            if (x)
                below[3 * (x - 1) + c] = 3 * d + left[c];
            left[c] = 5 * d + down[c];
            down[c] = d;
            right[c] = 7 * d;
            out[c] = to[c];
        }
        if (channels > colors)
            out[channels - 1] = alpha;
    }
    for (int c = 0; c < colors; c++)
        below[3 * (job->src->width - 1) + c] = left[c];
}

static enum gi_status diffuse(const struct dither *job, struct gi_err *err)
{
    int *below = calloc((size_t)job->src->width, 3 * sizeof *below);
    if (!below)
        return gi_fail(err, GI_E_MEMORY, "out of memory: errors of a row");
    for (int y = 0; y < job->src->height; y++)
        switch (job->src->channels) {
        case 1:
            diffuse_row(job, y, below, 1);
            break;
        case 2:
            diffuse_row(job, y, below, 2);
            break;
        case 3:
            diffuse_row(job, y, below, 3);
            break;
        default:
            diffuse_row(job, y, below, 4);
        }
    free(below);
    return GI_OK;
}

static enum gi_status plain(struct gi_queue *queue, struct gi_image *dst,
                            const struct gi_image *src, const struct gi_dither *spec,
                            struct gi_err *err)
{
    struct gi_pool *pool = gi_cpu_pool(queue);
    struct dither job = {.dst = dst, .src = src, .spec = spec};
    for (int i = 0; i < GI_RECOLOR_MOST; i++)
        job.colors[i] = spec->colors[i][0] | (uint32_t)spec->colors[i][1] << 8 |
                        (uint32_t)spec->colors[i][2] << 16;
    if (spec->kind == GI_DITHER_FLOYD_STEINBERG)
        return diffuse(&job, err);
    job.tiling = GI_CPU(tiling)(src, gi_pool_threads(pool), STRIP_MAX, 0);
    return gi_pool_run(pool, job.tiling.nstrips * job.tiling.nbands, ordered_tile, &job, 0, err);
}

GI_CPU_ONE_WAY(dither, "plain", plain);
