/* Geometric transforms: blocks of rows, cut into runs of pixels whose source positions are computed
 * first.
 * SPDX-License-Identifier: MIT */
#include "kernels/cpu/warp/warp.h"

#include <math.h>

/* Computes one run of each of its rows in turn. */
static void do_rows(void *arg, int job, void *scratch)
{
    const struct warp_work *work = arg;
    struct warp_places *places = scratch;
    const struct gi_image *dst = work->dst;
    size_t pixel = (size_t)dst->channels * gi_type_nbytes(dst->type);
    int top = job * WARP_ROWS, left = dst->height - top;
    int bottom = top + (left < WARP_ROWS ? left : WARP_ROWS);
    for (int x = 0; x < dst->width; x += WARP_RUN) {
        int n = dst->width - x < WARP_RUN ? dst->width - x : WARP_RUN;
        for (int y = top; y < bottom; y++) {
            GI_CPU(warp_places)(places, work->spec, x, work->spec->dst_y + y, n);
            work->run(work, places, 0, n, (char *)gi_row(dst, y) + (size_t)x * pixel);
        }
    }
}

/* Makes the border value a pixel, rounded and stored as any result. */
static void fill_background(struct warp_work *work)
{
    float full = gi_type_full_scale(work->src->type);
    for (int c = 0; c < work->src->channels; c++) {
        float v = work->spec->edge.value[c];
        long whole = lrintf(v > 0 ? v < full ? v : full : 0);
        if (work->src->type == GI_U8)
            ((uint8_t *)work->background)[c] = (uint8_t)whole;
        else if (work->src->type == GI_U16)
            ((uint16_t *)(void *)work->background)[c] = (uint16_t)whole;
        else
            ((float *)(void *)work->background)[c] = v != v ? NAN : v;
    }
}

static enum gi_status warp_by(warp_run_fn *run, struct gi_queue *queue, struct gi_image *dst,
                              const struct gi_image *src, const struct gi_warp *spec,
                              struct gi_err *err)
{
    struct warp_work work = {.dst = dst, .src = src, .spec = spec, .run = run};
    work.weigh =
        gi_has_alpha(src) && spec->alpha == GI_ALPHA_WEIGH && spec->interpolation != GI_NEAREST;
    fill_background(&work);
    return gi_pool_run(gi_cpu_pool(queue), (dst->height + WARP_ROWS - 1) / WARP_ROWS, do_rows,
                       &work, sizeof(struct warp_places), err);
}

static enum gi_status by_pixels(struct gi_queue *queue, struct gi_image *dst,
                                const struct gi_image *src, const struct gi_warp *spec,
                                struct gi_err *err)
{
    return warp_by(GI_CPU(warp_pixels), queue, dst, src, spec, err);
}

static enum gi_status by_gathers(struct gi_queue *queue, struct gi_image *dst,
                                 const struct gi_image *src, const struct gi_warp *spec,
                                 struct gi_err *err)
{
    return warp_by(GI_CPU(warp_gathers), queue, dst, src, spec, err);
}

static const struct gi_warp_way ways[] = {
    {{"gathers", "images below 2 GiB"}, GI_CPU(warp_gathers_takes), by_gathers},
    {{"pixels", "everything"}, NULL, by_pixels},
};

const struct gi_ways GI_CPU(warp_ways) = GI_WAYS(warp, GI_SAMPLE_TYPES, ways);

enum gi_status GI_CPU(warp)(struct gi_queue *queue, struct gi_image *dst,
                            const struct gi_image *src, const struct gi_warp *spec,
                            struct gi_err *err)
{
    GI_WAYS_RUN(GI_CPU(warp_ways), ways, queue, src, (queue, src, spec),
                (queue, dst, src, spec, err), err);
}
