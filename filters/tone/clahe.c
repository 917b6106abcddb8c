/* CLAHE (contrast-limited adaptive histogram equalization, K. Zuiderveld, 1994): each tile has a
 * tone curve from its clipped histogram. Curves are interpolated bilinearly between tiles.
 * SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "filters/tone/curve.h"
#include "filters/tone/luma.h"
#include "imgio/small.h"
#include "kernels/geometry.h"
#include "kernels/kernels.h"
#include "kernels/tone.h"

/* 16-bit tables take 128 KiB per tile. */
enum { TILES_MAX_16 = 4096 };

struct clahe_params {
    double clip;
    struct gi_extent tiles;
    bool per_channel;
};

static const struct gi_option options[] = {
    {GI_OPTION("clip-limit", REAL, struct clahe_params, clip), .also = "clip", .default_text = "2",
     .min = 0, .max = 1000000,
     .help = "Limit of the count of each tone, as a multiple of the mean count; a higher one "
             "gives more contrast, 0 means no limit"},
    {GI_OPTION("tiles", EXTENT, struct clahe_params, tiles), .default_text = "8x8",
     .form = "ACROSSxDOWN", .metavar = "AxD",
     .help = "Number of tiles across and down, 1 to 256 each"},
    {GI_OPTION("per-channel", FLAG, struct clahe_params, per_channel),
     .help = "Equalize each channel of a colour image separately"},
    {.name = NULL},
};

static bool is_count(const struct gi_length *length)
{
    return !gi_length_is_open(length) && !length->percent && length->value >= 1 &&
           length->value <= GI_CLAHE_MAX && length->value == floor(length->value);
}

static enum gi_status check(void *params, struct gi_err *err)
{
    const struct clahe_params *p = params;
    if (is_count(&p->tiles.width) && is_count(&p->tiles.height))
        return GI_OK;
    return gi_fail(err, GI_E_USAGE, "--tiles: want whole numbers, ACROSSxDOWN, 1 to %d each",
                   GI_CLAHE_MAX);
}

static bool by_luma(const struct gi_plan *plan)
{
    return gi_luma_decides(&plan->sources[0],
                           ((const struct clahe_params *)plan->params)->per_channel);
}

/* The counts of the bands measured so far. */
struct clahe_state {
    int rows;          /* rows measured */
    uint32_t counts[]; /* [set][tile][value] */
};

/* Returns the number of sets of tables. There is one set for all channels, or one set per
 * colour. */
static int sets_of(const struct gi_plan *plan)
{
    return by_luma(plan) ? 1 : gi_color_channels(&plan->sources[0]);
}

static size_t counts_of(const struct gi_plan *plan)
{
    const struct clahe_params *p = plan->params;
    return (size_t)(p->tiles.width.value * p->tiles.height.value) * (size_t)sets_of(plan) *
           (size_t)gi_curve_values(plan->sources[0].type);
}

static enum gi_status plan(struct gi_plan *plan, struct gi_err *err)
{
    const struct clahe_params *p = plan->params;
    const struct gi_image *src = &plan->sources[0];
    if ((uint64_t)src->width * (uint64_t)src->height > UINT32_MAX)
        return gi_fail(err, GI_E_UNSUPPORTED, "%d x %d px: want at most %u in all", src->width,
                       src->height, UINT32_MAX);
    double tiles = p->tiles.width.value * p->tiles.height.value;
    if (src->type != GI_U8 && tiles > TILES_MAX_16)
        return gi_fail(err, GI_E_USAGE, "--tiles: %.0f tiles: want at most %d, but in 8 bits",
                       tiles, TILES_MAX_16);
    struct gi_clahe *spec = gi_plan_tables(plan, sizeof *spec, err);
    if (!spec)
        return GI_E_MEMORY;
    *spec = (struct gi_clahe){
        .across = (int)p->tiles.width.value, .down = (int)p->tiles.height.value, .clip = p->clip};
    plan->dependency = GI_DEPENDENCY_MAPPED; /* a row depends on its position */
    plan->band_passes = 1;
    plan->state_nbytes = sizeof(struct clahe_state) + counts_of(plan) * sizeof(uint32_t);
    plan->scratch_nbytes =
        counts_of(plan) * (src->type == GI_U8 ? sizeof(uint8_t) : sizeof(uint16_t));
    plan->cost.other = 40;
    plan->cost.nbytes = (double)gi_type_nbytes(src->type);
    return GI_OK;
}

static struct gi_span needs(const struct gi_plan *plan, int y0, int y1)
{
    return (struct gi_span){y0, y1};
}

/* A band that is being counted. */
struct count {
    const struct gi_plan *plan;
    struct gi_queue *queue;
    struct gi_clahe_shape shape;
    struct gi_image judge;
    uint32_t *counts;
    uint64_t *found; /* counts of a part of a tile: [channel][value] */
    float *bins;     /* GI_F32: for each value, a number that is inside the bin of the value */
};

/* Replaces floats by numbers inside their bins. NaN is not counted now, but added to bin 0
 * later. */
static enum gi_status settle_floats(const struct count *count, struct gi_image *piece,
                                    struct gi_err *err)
{
    struct gi_pointwise spec = {.op = GI_POINTWISE_TABLE};
    for (int c = 0; c < GI_MAX_CHANNELS; c++)
        spec.table[c] = count->bins;
    return count->queue->k->pointwise(count->queue, piece, piece, &spec, err);
}

/* Counts a part of a tile, for all sets. */
static enum gi_status count_piece(const struct count *count, struct gi_image *piece, int tile,
                                  struct gi_err *err)
{
    const struct gi_clahe_shape *s = &count->shape;
    size_t bins = s->bins, tiles = (size_t)s->x.tiles * (size_t)s->y.tiles;
    uint64_t pixels = (uint64_t)piece->width * (uint64_t)piece->height;
    enum gi_status status = GI_OK;
    memset(count->found, 0, (size_t)piece->channels * bins * sizeof *count->found);
    if (count->bins)
        status = settle_floats(count, piece, err);
    if (!status)
        status = gi_curve_count(count->queue, count->found, piece, err);
    for (int set = 0; set < sets_of(count->plan) && !status; set++) {
        const uint64_t *found = count->found + (size_t)set * bins;
        uint32_t *to = count->counts + ((size_t)set * tiles + (size_t)tile) * bins;
        to[0] += (uint32_t)(pixels - gi_curve_total(found, count->judge.type));
        for (size_t v = 0; v < bins; v++)
            to[v] += (uint32_t)found[v];
    }
    return status;
}

/* Counts rows top <= y < bottom of the band. These rows are in row `ty` of tiles. */
static enum gi_status count_rows(const struct count *count, int ty, int top, int bottom,
                                 struct gi_err *err)
{
    const struct gi_kernels *k = count->queue->k;
    const struct gi_image *judge = &count->judge;
    enum gi_status status = GI_OK;
    for (int tx = 0; tx < count->shape.x.tiles && top < bottom && !status; tx++) {
        struct gi_copy_border window = {
            .left = tx * count->shape.x.tile, .top = top, .border.mode = GI_BORDER_REFLECT101};
        struct gi_image piece;
        status = k->alloc(count->queue, &piece, count->shape.x.tile, bottom - top, judge->channels,
                          judge->type, err);
        if (status)
            return status;
        status = k->copy_border(count->queue, &piece, judge, &window, err);
        if (!status)
            status = count_piece(count, &piece, ty * count->shape.x.tiles + tx, err);
        k->release(count->queue, &piece);
    }
    return status;
}

/* Counts a band that begins at row `first` of the image. Rows past the image's end are mirrored. */
static enum gi_status count_band(const struct count *count, int first, struct gi_err *err)
{
    const struct gi_clahe_side *side = &count->shape.y;
    int last = first + count->judge.height;
    enum gi_status status = GI_OK;
    for (int ty = 0; ty < side->tiles && !status; ty++) {
        int top = ty * side->tile, bottom = top + side->tile, end = bottom;
        end = end < side->n ? end : side->n;
        int y = top > first ? top : first;
        status = count_rows(count, ty, y - first, (end < last ? end : last) - first, err);
        for (y = top > side->n ? top : side->n; y < bottom && !status; y++) {
            int row = gi_border_index(y, side->n, GI_BORDER_REFLECT101) - first;
            if (row >= 0 && row < count->judge.height)
                status = count_rows(count, ty, row, row + 1, err);
        }
    }
    return status;
}

static enum gi_status measure(const struct gi_plan *plan, struct gi_queue *queue, void *state,
                              const struct gi_look *look, struct gi_err *err)
{
    struct clahe_state *s = state;
    const struct gi_image *src = &plan->sources[0];
    struct count count = {plan, queue, gi_clahe_shape_of(src, plan->tables), .counts = s->counts};
    size_t bins = count.shape.bins;
    bool floats = src->type == GI_F32;
    enum gi_status status = gi_judge_make(queue, &count.judge, look->srcs, by_luma(plan), err);
    if (status)
        return status;
    count.found = gi_small_alloc(bins * GI_MAX_CHANNELS * sizeof *count.found);
    count.bins = floats ? gi_small_alloc(bins * sizeof *count.bins) : NULL;
    for (size_t v = 0; count.bins && v < bins; v++)
        count.bins[v] = ((float)v + 0.5f) / 65536.0f;
    status = count_band(&count, s->rows, err);
    s->rows += look->srcs->height;
    free(count.found);
    free(count.bins);
    gi_judge_release(queue, &count.judge, by_luma(plan));
    return status;
}

static enum gi_status run_whole(const struct gi_plan *plan, struct gi_queue *queue,
                                const struct gi_work *work, struct gi_err *err)
{
    bool luma = by_luma(plan);
    struct gi_clahe spec = *(const struct gi_clahe *)plan->tables;
    struct gi_image judge;
    enum gi_status status = gi_judge_make(queue, &judge, work->srcs, luma, err);
    if (status)
        return status;
    spec.judge = luma ? &judge : NULL;
    status = queue->k->clahe(queue, work->dst, work->srcs, &spec, err);
    gi_judge_release(queue, &judge, luma);
    return status;
}

/* Makes the tables again for every band, because that takes less time than applying them. */
static enum gi_status run(const struct gi_plan *plan, struct gi_queue *queue,
                          const struct gi_work *work, struct gi_err *err)
{
    const struct clahe_state *state = work->state;
    if (!state)
        return run_whole(plan, queue, work, err);
    const struct gi_image *src = &plan->sources[0];
    struct gi_clahe spec = *(const struct gi_clahe *)plan->tables;
    struct gi_clahe_shape shape = gi_clahe_shape_of(src, &spec);
    size_t bins = shape.bins, n = counts_of(plan), nbytes = bins == 256 ? 1 : 2;
    char *tables = malloc(n * nbytes);
    uint32_t *counts = malloc(bins * sizeof *counts);
    enum gi_status status = GI_OK;
    if (!tables || !counts)
        status = gi_fail(err, GI_E_MEMORY, "out of memory: tables of %zu tiles", n / bins);
    for (size_t at = 0; at < n && !status; at += bins) {
        memcpy(counts, state->counts + at, bins * sizeof *counts);
        gi_clahe_fill(tables + at * nbytes, counts, &shape);
    }
    spec.tables = tables;
    spec.y = work->src_y;
    spec.height = src->height;
    spec.judge = by_luma(plan) ? work->srcs : NULL;
    if (!status)
        status = queue->k->clahe(queue, work->dst, work->srcs, &spec, err);
    free(tables);
    free(counts);
    return status;
}

const struct gi_filter gi_filter_clahe = {
    .name = "clahe",
    .group = GI_GROUP_TONE,
    .planes = GI_PLANES_RGB,
    .summary = "Adaptive histogram equalization with limited contrast (CLAHE)",
    .examples = "gpuimg clahe in.png out.png\n"
                "gpuimg clahe xray.png out.png --clip-limit 4 --tiles 16x16\n"
                "gpuimg clahe photo.jpg out.jpg --clip-limit 1.5",
    .manual = "The image is divided into tiles, and histogram equalization gives each tile a "
              "curve of its own. The result of a pixel is interpolated between the curves of the "
              "four tiles around it. In smooth tiles plain equalization would amplify noise. So "
              "the count of each tone is limited to --clip-limit times the mean count, and the "
              "counts above the limit are spread evenly over all tones before the curve is "
              "computed.\n\n"
              "In a colour image the curves are computed from the luma, and a pixel's curve is "
              "applied to all its channels. With --per-channel each channel has curves of its "
              "own. Transparent pixels count, and alpha does not change.\n\n"
              "In float images the histograms have 65,536 bins from 0 to 1, as in 16 bits, but "
              "results are not rounded. Samples below 0 count as 0, and samples above 1 count as "
              "1; NaN counts as 0 and stays NaN. If the samples have another range, gpuimg "
              "normalize brings them into the range from 0 to 1.\n\n"
              "Source: K. Zuiderveld, Graphics Gems IV, 1994. For 8 and 16 bits the result "
              "equals OpenCV's createCLAHE(clipLimit, tileGridSize) to the byte; OpenCV's "
              "default limit is 40. If a side is not a multiple of its number of tiles, both "
              "sides are extended by mirroring to the next larger multiple; a side that is a "
              "multiple already then grows by one pixel per tile.",
    .options = options,
    .params_nbytes = sizeof(struct clahe_params),
    .check = check,
    .plan = plan,
    .sources.needs = needs,
    .run = run,
    .measure = measure,
};
