/* Colour quantization of 8-bit images. A measuring pass counts all colours, median cut
 * (filters/color/median_cut.h) chooses new colours, and the primitive `recolor` looks up every
 * pixel in a table.
 * SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "filters/color/median_cut.h"
#include "filters/filter.h"
#include "kernels/kernels.h"
#include "kernels/tone.h"

struct quantize_params {
    int colors;
};

static const struct gi_option options[] = {
    {GI_OPTION("colors", INT, struct quantize_params, colors), .letter = 'n', .also = "colours",
     .default_text = "256", .min = 2, .max = GI_RECOLOR_MOST,
     .help = "Maximum number of colours in the result"},
    {0},
};

enum { COLORS = GI_RECOLOR_SIDE * GI_RECOLOR_SIDE };

struct quantize_tables {
    uint8_t colors[GI_RECOLOR_MOST][4];
    uint8_t entries[]; /* index in `colours` for each possible colour; for gray 256 entries */
};

static int channels_of(const struct gi_image *src)
{
    return gi_color_channels(src);
}

static size_t all_of(const struct gi_image *src)
{
    return channels_of(src) == 3 ? COLORS : 256;
}

static enum gi_status plan(struct gi_plan *plan, struct gi_err *err)
{
    const struct gi_image *src = &plan->sources[0];
    if (src->type != GI_U8)
        return gi_fail(err, GI_E_UNSUPPORTED, "samples of %s: want 8 bits, by --work-depth 8",
                       src->type == GI_U16 ? "16 bits" : "floats");
    if ((uint64_t)src->width * (uint64_t)src->height > INT32_MAX)
        return gi_fail(err, GI_E_UNSUPPORTED, "%d x %d: want fewer than 2^31 pixels", src->width,
                       src->height);
    plan->passes = 1;
    plan->late = true;
    plan->state_nbytes = all_of(src) * sizeof(uint32_t);
    /* The counters of one band, and the tables that gi_plan_settle() makes. */
    plan->scratch_nbytes = all_of(src) * (sizeof(uint32_t) + sizeof(uint8_t));
    plan->cost.other = 30;
    return GI_OK;
}

/* Makes `colour`, a copy of the band without its alpha. If the band has no alpha, `colour` is the
 * band itself. */
static enum gi_status drop_alpha(struct gi_queue *queue, struct gi_image *color,
                                 const struct gi_image *band, struct gi_err *err)
{
    struct gi_permute_channels drop = {.from = {{0, 0}, {0, 1}, {0, 2}}, .nsources = 1};
    *color = *band;
    if (!gi_has_alpha(band))
        return GI_OK;
    enum gi_status status = queue->k->alloc(queue, color, band->width, band->height,
                                            channels_of(band), band->type, err);
    if (status)
        return status;
    status = queue->k->permute_channels(queue, color, band, &drop, err);
    if (status)
        queue->k->release(queue, color);
    return status;
}

static enum gi_status measure(const struct gi_plan *plan, struct gi_queue *queue, void *state,
                              const struct gi_look *look, struct gi_err *err)
{
    const struct gi_image *band = look->srcs;
    uint32_t *counts = state;
    struct gi_image color;
    struct gi_colors found;
    enum gi_status status = drop_alpha(queue, &color, band, err);
    if (status)
        return status;
    status = queue->k->count_colors(queue, &found, &color, NULL, err);
    if (gi_has_alpha(band))
        queue->k->release(queue, &color);
    if (status)
        return status;
    for (size_t i = 0; i < found.n; i++)
        counts[found.each[i].color] += (uint32_t)found.each[i].count;
    free(found.each);
    return GI_OK;
}

static enum gi_status settle(struct gi_plan *plan, const void *state, struct gi_err *err)
{
    const struct quantize_params *p = plan->params;
    const struct gi_image *src = &plan->sources[0];
    struct quantize_tables *tables = gi_plan_tables(plan, sizeof *tables + all_of(src), err);
    if (!tables)
        return GI_E_MEMORY;
    return gi_median_cut(tables->colors, tables->entries, p->colors, state, all_of(src),
                         channels_of(src), err);
}

static enum gi_status run_gray(struct gi_queue *queue, const struct gi_work *work,
                               const struct quantize_tables *tables, struct gi_err *err)
{
    uint8_t table[256];
    struct gi_pointwise spec = {.op = GI_POINTWISE_TABLE, .table = {table}};
    for (int v = 0; v < 256; v++)
        table[v] = tables->colors[tables->entries[v]][0];
    return queue->k->pointwise(queue, work->dst, work->srcs, &spec, err);
}

static enum gi_status run(const struct gi_plan *plan, struct gi_queue *queue,
                          const struct gi_work *work, struct gi_err *err)
{
    const struct quantize_tables *tables = plan->tables;
    if (channels_of(work->srcs) == 1)
        return run_gray(queue, work, tables, err);
    struct gi_image table, host = {.data = (void *)(uintptr_t)tables->entries,
                                   .stride = GI_RECOLOR_SIDE,
                                   .width = GI_RECOLOR_SIDE,
                                   .height = GI_RECOLOR_SIDE,
                                   .channels = 1,
                                   .type = GI_U8};
    struct gi_recolor spec = {.table = &table};
    memcpy(spec.colors, tables->colors, sizeof spec.colors);
    enum gi_status status = queue->k->upload(queue, &table, &host, NULL, err);
    if (status)
        return status;
    status = queue->k->recolor(queue, work->dst, work->srcs, &spec, err);
    queue->k->release(queue, &table);
    return status;
}

const struct gi_filter gi_filter_quantize = {
    .name = "quantize",
    .group = GI_GROUP_COLOR,
    .planes = GI_PLANES_RGB,
    .samples = {.needs_color = true, .few_colors = true},
    .summary = "Reduce the number of colours by median cut",
    .examples = "gpuimg quantize in.png few.png --colors 16\n"
                "gpuimg quantize photo.jpg 256.png\n"
                "gpuimg quantize --colors 8 --out-dir few *.png",
    .manual = "Median cut divides the colours of the image into --colors boxes. At first one box "
              "holds all colours. Each step chooses the box and the channel with the largest sum "
              "of squared distances from the mean of the box. It cuts this box across this "
              "channel, with half of the pixels on either side. The new colours are the rounded "
              "means of the boxes.\n\n"
              "Every pixel then becomes the nearest of these colours, by the sum of squared "
              "differences; if two colours are equally near, the first one is taken. There is no "
              "dithering. An image that has at most --colors colours does not change. Alpha is "
              "not used and does not change. The input must have 8 bits. A PNG gets a palette, "
              "or gray samples of 1, 2 or 4 bits if these hold the grays (--palette)."
              "\n\n"
              "Source: P. Heckbert, \"Color image quantization for frame buffer display\", "
              "SIGGRAPH 1982.",
    .options = options,
    .params_nbytes = sizeof(struct quantize_params),
    .plan = plan,
    .run = run,
    .measure = measure,
    .settle = settle,
};
