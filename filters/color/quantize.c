/* Colour quantization of 8-bit images. A measuring pass counts all colours, and median cut
 * (imgio/median_cut.h) chooses new colours; or the colours are evenly spaced. The primitive
 * `recolor` looks up every pixel in a table, or `dither` finds the nearest colour.
 * SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "filters/filter.h"
#include "imgio/median_cut.h"
#include "kernels/color.h"
#include "kernels/kernels.h"
#include "kernels/tone.h"

enum { MEDIAN_CUT, EVEN };
enum { DITHER_NO, DITHER_FLOYD_STEINBERG, DITHER_ORDERED };

struct quantize_params {
    int colors, method, dither;
};

static const struct gi_choice methods[] = {
    {"median-cut", NULL, "chosen for the image"},
    {"even", NULL, "evenly spaced: black, white and grays, or a cube of 8, 27, 64, 125 or 216"},
    {0},
};

static const struct gi_choice dithers[] = {
    {"no", NULL, "every pixel gets the nearest colour"},
    {"floyd-steinberg", NULL, "error diffusion, from left to right in every row"},
    {"ordered", NULL, "a matrix of 8 x 8 offsets (Bayer)"},
    {0},
};

static const struct gi_option options[] = {
    {GI_OPTION("colors", INT, struct quantize_params, colors), .letter = 'n', .also = "colours",
     .default_text = "256", .min = 2, .max = GI_RECOLOR_MOST,
     .help = "Maximum number of colours in the result"},
    {GI_OPTION("method", CHOICE, struct quantize_params, method), .default_text = "median-cut",
     .choices = methods, .help = "How the colours are chosen"},
    {GI_OPTION("dither", CHOICE, struct quantize_params, dither), .default_text = "no",
     .choices = dithers, .metavar = "KIND",
     .help = "Scatter the rounding errors over pixels, so that areas keep their mean colour"},
    {0},
};

enum { COLORS = GI_RECOLOR_SIDE * GI_RECOLOR_SIDE };

struct quantize_tables {
    uint8_t colors[GI_RECOLOR_MOST][4];
    int ncolors;
    int spread; /* of ordered dithering */
    /* With dithering or evenly spaced colours the candidates of each cell (struct gi_dither),
     * otherwise the index in `colors` for each possible colour; for gray 256 entries. */
    uint8_t entries[];
};

/* Returns whether the nearest colour is searched among candidates. */
static bool searches(const struct quantize_params *p)
{
    return p->dither || p->method == EVEN;
}

static int channels_of(const struct gi_image *src)
{
    return gi_color_channels(src);
}

static size_t all_of(const struct gi_image *src)
{
    return channels_of(src) == 3 ? COLORS : 256;
}

/* Sets evenly spaced grays, or a cube with as many steps in red, green and blue. */
static void space_evenly(struct quantize_tables *tables, int most, int channels)
{
    int steps = channels == 1 ? most : 1;
    while (channels == 3 && (steps + 1) * (steps + 1) * (steps + 1) <= most)
        steps++;
    int last = steps - 1;
    tables->ncolors = channels == 1 ? steps : steps * steps * steps;
    for (int i = 0; i < tables->ncolors; i++) {
        int at[3] = {channels == 1 ? i : i / (steps * steps), i / steps % steps, i % steps};
        for (int c = 0; c < channels; c++)
            tables->colors[i][c] = (uint8_t)((2 * 255 * at[c] + last) / (2 * last));
    }
}

/* Returns the mean distance of the colours to the nearest other one, rounded. */
static int mean_distance(const struct quantize_tables *tables)
{
    double sum = 0;
    for (int i = 0; i < tables->ncolors; i++) {
        int least = 3 * 255 * 255;
        for (int k = 0; k < tables->ncolors; k++) {
            int distance = 0;
            for (int c = 0; c < 3; c++) {
                int d = tables->colors[i][c] - tables->colors[k][c];
                distance += d * d;
            }
            least = k != i && distance < least ? distance : least;
        }
        sum += sqrt(least);
    }
    double mean = rint(sum / tables->ncolors);
    return tables->ncolors < 2 ? 0 : mean < 255 ? (int)mean : 255;
}

/* Sets the candidates of all cells, and the spread. `exact`: no colour of the image changes. */
static void fill_cells(struct quantize_tables *tables, bool gray, bool exact)
{
    for (int i = 0; i < GI_DITHER_CELLS; i += gray ? 256 : 1) { /* a gray has red alone */
        uint8_t *cell = tables->entries + (ptrdiff_t)i * GI_DITHER_CELL_NBYTES;
        const uint8_t corner[] = {(uint8_t)(i >> 4 & 0xf0), (uint8_t)(i & 0xf0),
                                  (uint8_t)(i << 4 & 0xf0)};
        cell[0] = (uint8_t)(gi_nearest_candidates(cell + 1, corner, GI_DITHER_CELL_SIDE,
                                                  tables->colors, tables->ncolors) -
                            1);
    }
    tables->spread = exact ? 0 : mean_distance(tables);
}

static struct quantize_tables *make_tables(struct gi_plan *plan, struct gi_err *err)
{
    size_t n = searches(plan->params) ? (size_t)GI_DITHER_CELLS * GI_DITHER_CELL_NBYTES
                                      : all_of(&plan->sources[0]);
    return gi_plan_tables(plan, sizeof(struct quantize_tables) + n, err);
}

static enum gi_status plan(struct gi_plan *plan, struct gi_err *err)
{
    const struct quantize_params *p = plan->params;
    const struct gi_image *src = &plan->sources[0];
    if (src->type != GI_U8)
        return gi_fail(err, GI_E_UNSUPPORTED, "samples of %s: want 8 bits, by --work-depth 8",
                       src->type == GI_U16 ? "16 bits" : "floats");
    if ((uint64_t)src->width * (uint64_t)src->height > INT32_MAX)
        return gi_fail(err, GI_E_UNSUPPORTED, "%d x %d: want fewer than 2^31 pixels", src->width,
                       src->height);
    plan->cost.other = 30;
    if (p->dither)
        plan->dependency = GI_DEPENDENCY_GLOBAL;
    if (p->method == EVEN) {
        struct quantize_tables *tables = make_tables(plan, err);
        if (!tables)
            return GI_E_MEMORY;
        if (channels_of(src) == 3 && p->colors < 8)
            return gi_fail(err, GI_E_UNSUPPORTED,
                           "--method even: %d colours: want at least 8, or --gray", p->colors);
        space_evenly(tables, p->colors, channels_of(src));
        fill_cells(tables, channels_of(src) == 1, false);
        return GI_OK;
    }
    plan->passes = 1;
    plan->late = true;
    plan->state_nbytes = sizeof(struct gi_color_counts) + all_of(src) * sizeof(uint32_t);
    /* The counters of one band, and the tables that gi_plan_settle() makes. */
    plan->scratch_nbytes = all_of(src) * (sizeof(uint32_t) + sizeof(uint8_t));
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
    struct gi_color_counts *counts = state;
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
        gi_color_counts_add(counts, found.each[i].color, (uint32_t)found.each[i].count);
    free(found.each);
    return GI_OK;
}

static int by_samples(const void *a, const void *b)
{
    return memcmp(a, b, 3);
}

static enum gi_status settle(struct gi_plan *plan, const void *state, struct gi_err *err)
{
    const struct quantize_params *p = plan->params;
    const struct gi_image *src = &plan->sources[0];
    const struct gi_color_counts *counts = state;
    struct quantize_tables *tables = make_tables(plan, err);
    int used = 0;
    if (!tables)
        return GI_E_MEMORY;
    enum gi_status status =
        gi_median_cut(tables->colors, &tables->ncolors, p->dither ? NULL : tables->entries,
                      p->colors, counts, channels_of(src), err);
    if (status || !p->dither)
        return status;
    for (size_t n = all_of(src), i = gi_color_counts_next(counts, 0, n); i < n && used <= p->colors;
         i = gi_color_counts_next(counts, i + 1, n))
        used++;
    qsort(tables->colors, (size_t)tables->ncolors, sizeof *tables->colors, by_samples);
    fill_cells(tables, channels_of(src) == 1, used <= p->colors);
    return GI_OK;
}

/* Uploads a table of one channel of bytes. */
static enum gi_status upload(struct gi_queue *queue, struct gi_image *table, const uint8_t *bytes,
                             int width, struct gi_err *err)
{
    struct gi_image host = {.data = (void *)(uintptr_t)bytes,
                            .stride = (size_t)width,
                            .width = width,
                            .height = GI_RECOLOR_SIDE,
                            .channels = 1,
                            .type = GI_U8};
    return queue->k->upload(queue, table, &host, NULL, err);
}

_Static_assert((int)GI_RECOLOR_MOST == (int)GI_MEDIAN_CUT_MOST, "median cut fills a palette");
_Static_assert((int)GI_RECOLOR_SIDE == (int)GI_DITHER_CELLS, "both tables have as many rows");

/* Without dithering, ordered dithering with a spread of 0 finds the nearest colour. */
static enum gi_status run_dither(struct gi_queue *queue, const struct gi_work *work,
                                 const struct quantize_tables *tables, int dither,
                                 struct gi_err *err)
{
    struct gi_image cells;
    struct gi_dither spec = {.kind = dither == DITHER_FLOYD_STEINBERG ? GI_DITHER_FLOYD_STEINBERG
                                                                      : GI_DITHER_ORDERED,
                             .spread = dither ? tables->spread : 0,
                             .cells = &cells};
    memcpy(spec.colors, tables->colors, sizeof spec.colors);
    enum gi_status status = upload(queue, &cells, tables->entries, GI_DITHER_CELL_NBYTES, err);
    if (status)
        return status;
    status = queue->k->dither(queue, work->dst, work->srcs, &spec, err);
    queue->k->release(queue, &cells);
    return status;
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
    const struct quantize_params *p = plan->params;
    const struct quantize_tables *tables = plan->tables;
    if (searches(p))
        return run_dither(queue, work, tables, p->dither, err);
    if (channels_of(work->srcs) == 1)
        return run_gray(queue, work, tables, err);
    struct gi_image table;
    struct gi_recolor spec = {.table = &table};
    memcpy(spec.colors, tables->colors, sizeof spec.colors);
    enum gi_status status = upload(queue, &table, tables->entries, GI_RECOLOR_SIDE, err);
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
    .summary = "Reduce the number of colours, with or without dithering",
    .examples = "gpuimg quantize in.png few.png --colors 16\n"
                "gpuimg quantize photo.jpg 256.png\n"
                "gpuimg quantize photo.jpg dithered.png --colors 16 --dither ordered\n"
                "gpuimg quantize scan.png print.png --gray --colors 2 --method even "
                "--dither floyd-steinberg\n"
                "gpuimg quantize --colors 8 --out-dir few *.png",
    .manual =
        "Median cut divides the colours of the image into --colors boxes. At first one box "
        "holds all colours. Each step chooses the box and the channel with the largest sum "
        "of squared distances from the mean of the box. It cuts this box across this "
        "channel, with half of the pixels on either side. The new colours are the rounded "
        "means of the boxes.\n\n"
        "Every pixel then becomes the nearest of these colours, by the sum of squared "
        "differences; if two colours are equally near, the first one is taken, and with "
        "--dither or --method even the one with less red, green or blue. An image "
        "that has at most --colors colours does not change. Alpha is not used and does not "
        "change. The input must have 8 bits. A PNG gets a palette, or gray samples of 1, 2 "
        "or 4 bits if these hold the grays (--palette).\n\n"
        "--dither floyd-steinberg processes the pixels from left to right in every row, from "
        "the top row to the bottom row. The difference d between a pixel and its new colour "
        "is passed on: 7 d / 16 to the right, 3 d / 16 to the left below, 5 d / 16 below and "
        "d / 16 to the right below. A pixel to which e sixteenths were passed on becomes the "
        "colour nearest to v + e / 16, truncated towards 0 and limited to 0 to 255. "
        "--dither ordered adds (2 M - 63) s / 128 to all channels of a pixel, truncated, where "
        "M is 0 to 63 from Bayer's matrix of 8 x 8, whose 2 x 2 matrix is 0 2, 3 1, and s is "
        "the mean distance of the new colours from the nearest other one.\n\n"
        "--method even takes --colors grays from black to white. In colour it takes a cube "
        "whose red, green and blue have as many steps as fit in --colors. "
        "Two of these colours make a gray image black and white (bilevel, 1-bit).\n\n"
        "Sources: P. Heckbert, \"Color image quantization for frame buffer display\", "
        "SIGGRAPH 1982. R. W. Floyd and L. Steinberg, \"An adaptive algorithm for spatial "
        "greyscale\", Proceedings of the SID 17, 1976. B. E. Bayer, \"An optimum method for "
        "two-level rendition of continuous-tone pictures\", ICC 1973.",
    .options = options,
    .params_nbytes = sizeof(struct quantize_params),
    .plan = plan,
    .run = run,
    .measure = measure,
    .settle = settle,
};
