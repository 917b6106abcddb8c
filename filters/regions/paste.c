/* Pastes points or crops into an image, by the primitive `scatter`. Crops are pasted at the
 * positions in their table.
 * SPDX-License-Identifier: MIT */
#include "filters/regions/paste.h"
#include "kernels/color.h"
#include "kernels/kernels.h"
#include "kernels/regions.h"

#include <string.h>

enum { PLACE = 2 /* channels of x and y */ };

static const struct gi_option options[] = {
    {GI_OPTION("points", IMAGE, struct gi_paste_params, points), .letter = 'p',
     .example = "points.csv", .one_of = true, .metavar = "FILE",
     .help = "Points to paste, .csv or .npy, as gpuimg extract --points writes them: x, y and a "
             "sample value"},
    {GI_OPTION("color", COLOR, struct gi_paste_params, color), .also = "colour", .letter = 'c',
     .help = "Colour of all points, in place of their values. Give one sample value for all "
             "channels, or one per channel with alpha last"},
    {GI_OPTION("table", IMAGE, struct gi_paste_params, table), .letter = 't', .metavar = "FILE",
     .help = "Table with the bounding boxes of the crops, .csv, .json or .jsonl, as gpuimg "
             "extract writes it"},
    {GI_OPTION("crops", IMAGE, struct gi_paste_params, crops), .picture = true, .metavar = "DIR",
     .help = "Folder of the crops, as gpuimg extract --crops writes it; the crop of a row of "
             "--table is found by the label"},
    {GI_OPTION("crop-margin", INT, struct gi_paste_params, crop_margin), .default_text = "0",
     .min = 0, .max = 1000000, .unit = "px",
     .help = "The --crop-margin that gpuimg extract was given: each crop is larger by this on "
             "each side"},
    {GI_OPTION("crop-format", TEXT, struct gi_paste_params, crop_format), .default_text = "png",
     .metavar = "NAME", .help = "Suffix of the files of the crops"},
    {.name = NULL},
};

static enum gi_status check(void *params, struct gi_err *err)
{
    const struct gi_paste_params *p = params;
    if (p->points && (p->table || p->crops))
        return gi_fail(err, GI_E_USAGE, "--points, --%s: want one of them",
                       p->crops ? "crops" : "table");
    if (!p->points && (!p->table || !p->crops))
        return gi_fail(err, GI_E_USAGE, "want --points FILE, or --crops DIR and --table FILE");
    if (p->color.n && !p->points)
        return gi_fail(err, GI_E_USAGE, "--color: want --points, crops have their own");
    return GI_OK;
}

static uint64_t pixels_of(const struct gi_image *image)
{
    return (uint64_t)image->width * (uint64_t)image->height;
}

static enum gi_status check_sources(const struct gi_plan *plan, struct gi_err *err)
{
    const struct gi_paste_params *p = plan->params;
    const struct gi_image *places = &plan->sources[1], *values = &plan->sources[2];
    if (pixels_of(places) >= UINT32_MAX)
        return gi_fail(err, GI_E_UNSUPPORTED, "%d x %d places: want fewer than %u", places->width,
                       places->height, UINT32_MAX);
    if (places->channels < PLACE)
        return gi_fail(err, GI_E_UNSUPPORTED, "places of one number: want x and y");
    if (p->points && places->channels == PLACE && !p->color.n)
        return gi_fail(err, GI_E_UNSUPPORTED, "--points: has no values: want --color");
    if (!p->points && pixels_of(values) != pixels_of(places))
        return gi_fail(err, GI_E_UNSUPPORTED, "%d x %d values: want as many as places, %d x %d",
                       values->width, values->height, places->width, places->height);
    return GI_OK;
}

static enum gi_status plan(struct gi_plan *plan, struct gi_err *err)
{
    const struct gi_paste_params *p = plan->params;
    const struct gi_image *src = &plan->sources[0], *values = &plan->sources[p->points ? 1 : 2];
    enum gi_status status = check_sources(plan, err);
    struct gi_scatter *spec = status ? NULL : gi_plan_tables(plan, sizeof *spec, err);
    if (!spec)
        return status ? status : GI_E_MEMORY;
    spec->first = p->points ? PLACE : 0;
    spec->scale = p->points ? 1 : gi_type_full_scale(src->type) / gi_type_full_scale(values->type);
    if (p->color.n) {
        gi_color_pixel(spec->value, &p->color, src);
    } else {
        int n = values->channels - spec->first;
        bool color = n > 2 || gi_color_channels(src) == 3;
        plan->result.channels = (color ? 3 : 1) + (gi_has_alpha(src) || n % 2 == 0);
    }
    double share = (double)pixels_of(&plan->sources[1]) / (double)pixels_of(src);
    plan->cost.other = 1 + 8 * share / src->channels;
    return GI_OK;
}

/* Every band needs all of them. */
static struct gi_span beside(const struct gi_plan *plan, int j, int y0, int y1)
{
    return (struct gi_span){0, plan->sources[j].height};
}

/* Converts the source to the channels of the result. Gray is used for all colours, and new alpha is
 * opaque. */
static enum gi_status widen(struct gi_queue *queue, struct gi_image *dst,
                            const struct gi_image *src, struct gi_err *err)
{
    struct gi_permute_channels spec = {.nsources = 1};
    int colors = gi_color_channels(src);
    for (int c = 0; c < dst->channels; c++) {
        bool is_alpha = gi_has_alpha(dst) && c == dst->channels - 1;
        spec.from[c].channel = is_alpha ? colors : colors == 1 ? 0 : c;
        if (is_alpha && !gi_has_alpha(src))
            spec.from[c].source = -1;
        spec.value[c] = gi_type_full_scale(dst->type);
    }
    return queue->k->permute_channels(queue, dst, src, &spec, err);
}

static enum gi_status run(const struct gi_plan *plan, struct gi_queue *queue,
                          const struct gi_work *work, struct gi_err *err)
{
    const struct gi_paste_params *p = plan->params;
    struct gi_scatter spec = *(const struct gi_scatter *)plan->tables;
    const struct gi_image *src = work->srcs;
    enum gi_status status = GI_OK;
    spec.places = &work->srcs[1];
    if (!p->color.n)
        spec.values = &work->srcs[p->points ? 1 : 2];
    spec.y = work->src_y;
    if (src->channels != work->dst->channels) {
        status = widen(queue, work->dst, src, err);
        src = work->dst;
    }
    return status ? status : queue->k->scatter(queue, work->dst, src, &spec, err);
}

const struct gi_filter gi_filter_paste = {
    .name = "paste",
    .group = GI_GROUP_REGIONS,
    .planes = GI_PLANES_RGB,
    .summary = "Paste points or crops where gpuimg extract found them",
    .examples = "gpuimg paste in.png out.png --crops crops/ --table regions.csv\n"
                "gpuimg paste in.png marked.png --points points.csv --color red\n"
                "gpuimg paste black.png out.png --points points.npy",
    .manual =
        "This is the reverse of gpuimg extract --crops and --points: it pastes crops or points "
        "into an image, at the places where gpuimg extract found them. Before that the crops may "
        "be processed, as long as their sizes stay the same, for example by gpuimg clahe "
        "crops/*.png --out-dir changed.\n\n"
        "A crop replaces the pixels at the bounding box that its row of --table holds, widened "
        "by --crop-margin; alpha is replaced too. A point sets one pixel to its value, or to "
        "--color. Crops of later rows replace the crops of earlier rows. Rows that were deleted "
        "from the table are not pasted. Points and parts of crops outside the image are left "
        "out.\n\n"
        "Tables may come from other programs too. Columns of CSV are found by their names: x, y "
        "and value for points; label, bbox_x, bbox_y, bbox_width and bbox_height for regions. "
        "The value of a point is a sample value of the image, which is used for all colours. "
        "Crops of another depth are scaled. The result has colour if the image or a crop has "
        "colour, and alpha if one of them has alpha.",
    .options = options,
    .params_nbytes = sizeof(struct gi_paste_params),
    .check = check,
    .plan = plan,
    .sources.beside = beside,
    .run = run,
};
