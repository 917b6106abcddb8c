/* Alpha compositing of an image over the input: the operators of T. Porter and T. Duff, 1984, and
 * the blend modes of W3C's Compositing and Blending Level 1, with straight alpha. This file
 * positions the image and turns modes into coefficients of the primitive `arithmetic`.
 * SPDX-License-Identifier: MIT */
#include "filters/filter.h"
#include "filters/geometry/gravity.h"
#include "kernels/arithmetic.h"
#include "kernels/kernels.h"

struct composite_params {
    const char *with;
    int mode; /* index of `modes` */
    struct gi_reals at;
    int gravity;
    bool tile;
    double opacity;
};

static const struct gi_choice mode_choices[] = {
    {"over", NULL, "the image over the input"},
    {"under", NULL, "the input over the image"},
    {"in", NULL, "the image, only where the input is"},
    {"out", NULL, "the image, only where the input is not"},
    {"atop", NULL, "the image over the input, only where the input is"},
    {"xor", NULL, "each image, only where the other is not"},
    {"plus", NULL, "their sum"},
    {"multiply", NULL, "the product of both, composited over the input"},
    {"screen", NULL, "1 - (1 - a) (1 - b), composited over the input"},
    {"darken", NULL, "the darker of both, composited over the input"},
    {"lighten", NULL, "the lighter of both, composited over the input"},
    {"difference", NULL, "the absolute difference, composited over the input"},
    {"add", "plus", NULL},
    {"lighter", "plus", NULL},
    {"source-over", "over", NULL},
    {"destination-over", "under", NULL},
    {NULL, NULL, NULL},
};

/* Coefficients of each mode. */
static const struct mode {
    float above[2], below[2];
    enum gi_arithmetic_layer_mode blend;
    bool plus;
} modes[] = {
    {{1, 0}, {1, -1}, GI_BLEND_NORMAL, false},  {{1, -1}, {1, 0}, GI_BLEND_NORMAL, false},
    {{0, 1}, {0, 0}, GI_BLEND_NORMAL, false},   {{1, -1}, {0, 0}, GI_BLEND_NORMAL, false},
    {{0, 1}, {1, -1}, GI_BLEND_NORMAL, false},  {{1, -1}, {1, -1}, GI_BLEND_NORMAL, false},
    {{1, 0}, {1, 0}, GI_BLEND_NORMAL, true},    {{1, 0}, {1, -1}, GI_BLEND_MULTIPLY, false},
    {{1, 0}, {1, -1}, GI_BLEND_SCREEN, false},  {{1, 0}, {1, -1}, GI_BLEND_DARKEN, false},
    {{1, 0}, {1, -1}, GI_BLEND_LIGHTEN, false}, {{1, 0}, {1, -1}, GI_BLEND_DIFFERENCE, false},
};

static const struct gi_option options[] = {
    {GI_OPTION("with", IMAGE, struct composite_params, with), .letter = 'w', .picture = true,
     .example = "logo.png", .metavar = "IMAGE",
     .help = "Image that is laid over the input, of any size"},
    {GI_OPTION("mode", CHOICE, struct composite_params, mode), .letter = 'm',
     .default_text = "over", .choices = mode_choices, .help = "How the two images are combined"},
    {GI_OPTION("position", REALS, struct composite_params, at), .also = "at", .least = 2, .most = 2,
     .min = -GI_PIXELS_MAX, .max = GI_PIXELS_MAX, .unit = "px", .metavar = "X,Y",
     .help = "Offset of the image from the place of --gravity, inwards, in whole pixels; by "
             "default 0,0"},
    GI_GRAVITY_OPTION(struct composite_params, "northwest",
                      "Where the image is placed on the input"),
    {GI_OPTION("tile", FLAG, struct composite_params, tile),
     .help = "Repeat the image until it covers the input"},
    {GI_OPTION("opacity", REAL, struct composite_params, opacity), .letter = 'o',
     .default_text = "1", .min = 0, .max = 1,
     .help = "Factor that the alpha of the image is multiplied by"},
    {.name = NULL},
};

static enum gi_status check(void *params, struct gi_err *err)
{
    const struct composite_params *p = params;
    if (!p->with)
        return gi_fail(err, GI_E_USAGE, "--with: missing: want an image");
    for (int i = 0; i < p->at.n; i++)
        if (p->at.v[i] != (int)p->at.v[i])
            return gi_fail(err, GI_E_USAGE, "--position %.10g: want whole pixels", p->at.v[i]);
    return GI_OK;
}

static enum gi_status plan(struct gi_plan *plan, struct gi_err *err)
{
    const struct composite_params *p = plan->params;
    const struct gi_image *src = &plan->sources[0], *other = &plan->sources[1];
    const struct mode *mode = &modes[p->mode];
    enum gi_gravity gravity = (enum gi_gravity)p->gravity;
    struct gi_arithmetic *spec = gi_plan_tables(plan, sizeof *spec, err);
    if (!spec)
        return GI_E_MEMORY;
    *spec = (struct gi_arithmetic){.op = GI_ARITHMETIC_LAYER,
                                   .tile = p->tile,
                                   .opacity = (float)p->opacity,
                                   .above = {mode->above[0], mode->above[1]},
                                   .below = {mode->below[0], mode->below[1]},
                                   .blend = mode->blend,
                                   .plus = mode->plus};
    spec->x = gi_gravity_left(gravity, src->width - other->width);
    spec->y = gi_gravity_above(gravity, src->height - other->height);
    if (p->at.n) {
        spec->x += gi_gravity_right_is(gravity) * (int64_t)p->at.v[0];
        spec->y += gi_gravity_down_is(gravity) * (int64_t)p->at.v[1];
    }
    /* An opaque input stays opaque if A (kernels/arithmetic.h) is 1 both if the alpha `as` of the
     * overlay is 0 and if it is 1. */
    float least = mode->below[0], most = mode->above[0] + mode->above[1] + least + mode->below[1];
    bool opaque = least >= 1 && most >= 1;
    bool color = gi_color_channels(src) == 3 || gi_color_channels(other) == 3;
    plan->result.channels = (color ? 3 : 1) + (gi_has_alpha(src) || !opaque);
    plan->cost = (struct gi_cost){.fmas = 4, .other = 8};
    return GI_OK;
}

/* Returns the rows of the overlay that are composited with rows y0 to y1 - 1 of the input. */
static struct gi_span beside(const struct gi_plan *plan, int j, int y0, int y1)
{
    const struct gi_arithmetic *spec = plan->tables;
    int height = plan->sources[j].height;
    int64_t top = y0 - spec->y, bottom = y1 - spec->y;
    if (spec->tile)
        return (struct gi_span){0, height};
    top = top < 0 ? 0 : top > height ? height : top;
    bottom = bottom < top ? top : bottom > height ? height : bottom;
    return (struct gi_span){(int)top, (int)bottom};
}

static enum gi_status run(const struct gi_plan *plan, struct gi_queue *queue,
                          const struct gi_work *work, struct gi_err *err)
{
    struct gi_arithmetic spec = *(const struct gi_arithmetic *)plan->tables;
    int y0 = work->src_y, y1 = y0 + work->srcs->height;
    spec.other = &work->srcs[1];
    spec.y += gi_plan_beside(plan, 1, y0, y1).top - y0;
    return queue->k->arithmetic(queue, work->dst, work->srcs, &spec, err);
}

const struct gi_filter gi_filter_composite = {
    .name = "composite",
    .group = GI_GROUP_IMAGES,
    .planes = GI_PLANES_RGB,
    .summary = "Composite an image over another by alpha, with blend modes",
    .examples =
        "gpuimg composite photo.png out.png --with logo.png --gravity southeast --position 20,20\n"
        "gpuimg composite photo.png out.png --with mark.png --tile --opacity 0.2\n"
        "gpuimg composite photo.png warm.png --with paper.png --mode multiply",
    .manual = "The image of --with is laid over the input, by default at its upper left. Where "
              "this image does not cover the input, it counts as transparent. The result has the "
              "size and the depth of the input. It has colour if one of the images has colour. "
              "It has alpha if the input has alpha. With the modes \"in\", \"out\" and \"xor\" "
              "it always has alpha, because these can make opaque pixels transparent.\n\n"
              "The modes are those of W3C's Compositing and Blending Level 1, with the image of "
              "--with as the source and the input as the backdrop. The first seven modes "
              "(\"over\" to \"plus\") are the operators of Porter and Duff. The other five modes "
              "(\"multiply\" to \"difference\") compute a colour from both images where both are "
              "present, and composite this colour over the input. The images have straight "
              "alpha, that is, their colours are not multiplied by alpha. Fully transparent "
              "pixels of the result become black.\n\n"
              "Each mode is computed in float and rounded once, a tie to the even number; the "
              "mode \"over\" differs from Pillow's Image.alpha_composite() by at most 1 step "
              "where alpha is above 8.",
    .options = options,
    .params_nbytes = sizeof(struct composite_params),
    .samples.averages = true,
    .check = check,
    .plan = plan,
    .sources.beside = beside,
    .run = run,
};
