/* Clahe: equalized tile by tile, with a limit to the contrast.
 * SPDX-License-Identifier: MIT */
#include <math.h>

#include "filters/tone/curve.h"
#include "filters/tone/luma.h"

/* Tables of 16 bits take 128 KiB a tile. */
enum { TILES_MAX_16 = 4096 };

struct params {
    double clip;
    struct gi_extent tiles;
    bool per_channel;
};

static const struct gi_option options[] = {
    {.name = "clip-limit",
     .also = "clip",
     .type = GI_OPT_REAL,
     .offset = offsetof(struct params, clip),
     .default_text = "2",
     .min = 0,
     .max = 1000000,
     .help = "How often a tone counts at most, times the mean; 0: no limit"},
    {.name = "tiles",
     .type = GI_OPT_EXTENT,
     .offset = offsetof(struct params, tiles),
     .default_text = "8x8",
     .form = "ACROSSxDOWN",
     .metavar = "AxD",
     .help = "How many tiles across and down, 1 to 256 each"},
    {.name = "per-channel",
     .type = GI_OPT_FLAG,
     .offset = offsetof(struct params, per_channel),
     .help = "Equalize each channel of a colour image by itself"},
    {.name = NULL},
};

static bool is_count(const struct gi_length *length)
{
    return !gi_length_is_open(length) && !length->percent && length->value >= 1 &&
           length->value <= GI_CLAHE_MAX && length->value == floor(length->value);
}

static enum gi_status check(void *params, struct gi_err *err)
{
    const struct params *p = params;
    if (is_count(&p->tiles.width) && is_count(&p->tiles.height))
        return GI_OK;
    return gi_fail(err, GI_E_USAGE, "--tiles: want whole numbers, ACROSSxDOWN, 1 to %d each",
                   GI_CLAHE_MAX);
}

static bool by_luma(const struct gi_plan *plan)
{
    return gi_luma_decides(&plan->sources[0], ((const struct params *)plan->params)->per_channel);
}

static enum gi_status plan(struct gi_plan *plan, struct gi_err *err)
{
    const struct params *p = plan->params;
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
    *spec = (struct gi_clahe){(int)p->tiles.width.value, (int)p->tiles.height.value, p->clip};
    plan->reach = GI_REACH_ALL;
    plan->cost.other = 40;
    plan->cost.nbytes = (double)gi_type_nbytes(src->type);
    return GI_OK;
}

static enum gi_status run(const struct gi_plan *plan, struct gi_queue *queue,
                          const struct gi_work *work, struct gi_err *err)
{
    bool luma = by_luma(plan);
    struct gi_image judge;
    enum gi_status status = gi_judge_make(queue, &judge, work->srcs, luma, err);
    if (status)
        return status;
    status = queue->k->clahe(queue, work->dst, work->srcs, luma ? &judge : NULL, plan->tables, err);
    gi_judge_release(queue, &judge, luma);
    return status;
}

const struct gi_filter gi_filter_clahe = {
    .name = "clahe",
    .summary = "Equalize tile by tile, with a limit to the contrast (CLAHE)",
    .examples = "gpuimg clahe in.png out.png\n"
                "gpuimg clahe xray.png out.png --clip-limit 4 --tiles 16x16\n"
                "gpuimg clahe photo.jpg out.jpg --clip-limit 1.5",
    .manual =
        "Contrast-limited adaptive histogram equalization (K. Zuiderveld, Graphics Gems IV, 1994): "
        "each tile of the image has an equalizing curve of its own, and a pixel goes by the curves "
        "of the four tiles about it, on a plane between their centres. Counts above --clip-limit "
        "times the mean are spread over all tones before the curve is made, so that flat tiles "
        "don't become noise. Equal to the byte to OpenCV's createCLAHE(clipLimit, tileGridSize), "
        "whose own limit is 40 where none is given, for 8 and 16 bits: where a side does not "
        "divide, both are mirrored on by the missing pixels, or by one for each tile where none "
        "are missing.\n\n"
        "A colour image is judged by its luma, and at each pixel one curve serves all its "
        "channels; with --per-channel each has its own. Transparent pixels count too, alpha stays "
        "as it is.\n\n"
        "Float images go by 65,536 bins from 0 to 1, as 16 bits do, but are not rounded at the "
        "end; samples outside count as the nearer end, NaN as 0, and NaN stays NaN. normalize "
        "brings other ranges to 0 and 1.",
    .options = options,
    .params_nbytes = sizeof(struct params),
    .check = check,
    .plan = plan,
    .run = run,
};
