/* Colour look-up tables with interpolation, pixel by pixel.
 * SPDX-License-Identifier: MIT */
#include "kernels/color.h"
#include "kernels/cpu/convolution/padded_rows.h"

enum { CHUNK = 256 /* pixels */, STRIP_MAX = 1 << 16 /* pixels */ };

struct color_lut {
    struct gi_image *dst;
    const struct gi_image *src;
    const struct gi_color_lut *spec;
    struct gi_tiling tiling;
};

static inline __attribute__((always_inline)) void look_up(const struct gi_color_lut *spec, float *v,
                                                          size_t pixels, size_t channels)
{
    const struct gi_color_lut copy = *spec;
    const float *table = copy.table->data;
    size_t blue = copy.table->stride / sizeof *table;
    int colors = channels < 3 ? 1 : 3;
    if (copy.kind == GI_COLOR_LUT_CURVES)
        for (size_t x = 0; x < pixels; x++)
            for (int c = 0; c < colors; c++)
                v[x * channels + (size_t)c] = gi_color_lut_curve(&copy, table, copy.table->channels,
                                                                 c, v[x * channels + (size_t)c]);
    else if (copy.kind == GI_COLOR_LUT_TRILINEAR)
        for (size_t x = 0; x < pixels; x++)
            gi_color_lut_trilinear(&copy, table, blue, v + x * channels);
    else
        for (size_t x = 0; x < pixels; x++)
            gi_color_lut_tetrahedral(&copy, table, blue, v + x * channels);
}

static void row_of(const struct color_lut *job, char *out, const char *in, size_t pixels)
{
    float v[CHUNK * GI_MAX_CHANNELS];
    enum gi_type type = job->src->type;
    size_t channels = (size_t)job->src->channels, nbytes = gi_type_nbytes(type);
    for (size_t x = 0; x < pixels; x += CHUNK) {
        size_t n = pixels - x < CHUNK ? pixels - x : CHUNK, at = x * channels * nbytes;
        GI_CPU(samples_load)(v, in + at, n * channels, type);
        if (channels == 3)
            look_up(job->spec, v, n, 3);
        else if (channels == 4)
            look_up(job->spec, v, n, 4);
        else
            look_up(job->spec, v, n, channels);
        GI_CPU(samples_store)(out + at, v, n * channels, type);
        for (size_t i = 1; i <= n && channels % 2 == 0; i++) { /* alpha, with the bits of a NaN */
            size_t alpha = at + (i * channels - 1) * nbytes;
            memcpy(out + alpha, in + alpha, nbytes);
        }
    }
}

static void lut_tile(void *arg, int index, void *scratch)
{
    const struct color_lut *job = arg;
    struct gi_tile tile = GI_CPU(tile)(&job->tiling, job->src, index);
    size_t at = (size_t)tile.x0 * (size_t)job->src->channels * gi_type_nbytes(job->src->type);
    for (int y = tile.y0; y < tile.y1; y++)
        row_of(job, (char *)gi_row(job->dst, y) + at, (const char *)gi_row(job->src, y) + at,
               (size_t)(tile.x1 - tile.x0));
}

static enum gi_status by_pixels(struct gi_queue *queue, struct gi_image *dst,
                                const struct gi_image *src, const struct gi_color_lut *spec,
                                struct gi_err *err)
{
    struct gi_pool *pool = gi_cpu_pool(queue);
    struct color_lut job = {.dst = dst, .src = src, .spec = spec};
    job.tiling = GI_CPU(tiling)(src, gi_pool_threads(pool), STRIP_MAX, 0);
    return gi_pool_run(pool, job.tiling.nstrips * job.tiling.nbands, lut_tile, &job, 0, err);
}

GI_CPU_ONE_WAY(color_lut, "pixels", by_pixels);
