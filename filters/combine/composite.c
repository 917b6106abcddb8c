/* Composite: an image laid over the input, by its alpha.
 * SPDX-License-Identifier: MIT */
#include "filters/filter.h"
#include "filters/geometry/gravity.h"

struct params {
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
    {"in", NULL, "the image where the input is"},
    {"out", NULL, "the image where the input is not"},
    {"atop", NULL, "the image over the input, where that is"},
    {"xor", NULL, "either, where the other one is not"},
    {"plus", NULL, "their sum"},
    {"multiply", NULL, "over, and darker by what is below"},
    {"screen", NULL, "over, and lighter by what is below"},
    {"darken", NULL, "over, the darker of both"},
    {"lighten", NULL, "over, the lighter of both"},
    {"difference", NULL, "over, how far both are apart"},
    {"add", "plus", NULL},
    {"lighter", "plus", NULL},
    {"source-over", "over", NULL},
    {"destination-over", "under", NULL},
    {NULL, NULL, NULL},
};

/* Of each mode. */
static const struct mode {
    float above[2], below[2];
    enum gi_combine_blend blend;
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
    {.name = "with",
     .letter = 'w',
     .type = GI_OPT_IMAGE,
     .offset = offsetof(struct params, with),
     .picture = true,
     .example = "logo.png",
     .metavar = "IMAGE",
     .help = "The image that is laid over the input, of any size"},
    {.name = "mode",
     .letter = 'm',
     .type = GI_OPT_CHOICE,
     .offset = offsetof(struct params, mode),
     .default_text = "over",
     .choices = mode_choices,
     .help = "How both become one"},
    {.name = "position",
     .also = "at",
     .type = GI_OPT_REALS,
     .offset = offsetof(struct params, at),
     .least = 2,
     .most = 2,
     .min = -GI_PIXELS_MAX,
     .max = GI_PIXELS_MAX,
     .unit = "px",
     .metavar = "X,Y",
     .help = "How far it stands inwards of the place that --gravity names, in whole pixels"},
    GI_GRAVITY_OPTION(struct params, "northwest", "Where the image stands"),
    {.name = "tile",
     .type = GI_OPT_FLAG,
     .offset = offsetof(struct params, tile),
     .help = "Lay it down again and again, until the input is covered"},
    {.name = "opacity",
     .letter = 'o',
     .type = GI_OPT_REAL,
     .offset = offsetof(struct params, opacity),
     .default_text = "1",
     .min = 0,
     .max = 1,
     .help = "What the image's alpha is multiplied by"},
    {.name = NULL},
};

static enum gi_status check(void *params, struct gi_err *err)
{
    const struct params *p = params;
    if (!p->with)
        return gi_fail(err, GI_E_USAGE, "--with: missing: want an image");
    for (int i = 0; i < p->at.n; i++)
        if (p->at.v[i] != (int)p->at.v[i])
            return gi_fail(err, GI_E_USAGE, "--position %.10g: want whole pixels", p->at.v[i]);
    return GI_OK;
}

static enum gi_status plan(struct gi_plan *plan, struct gi_err *err)
{
    const struct params *p = plan->params;
    const struct gi_image *src = &plan->sources[0], *other = &plan->sources[1];
    const struct mode *mode = &modes[p->mode];
    enum gi_gravity gravity = (enum gi_gravity)p->gravity;
    struct gi_combine *spec = gi_plan_tables(plan, sizeof *spec, err);
    if (!spec)
        return GI_E_MEMORY;
    *spec = (struct gi_combine){.op = GI_COMBINE_LAYER,
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
    /* An opaque input stays so: A is 1 where `as` is 0 and where it is 1. */
    float least = mode->below[0], most = mode->above[0] + mode->above[1] + least + mode->below[1];
    bool opaque = least >= 1 && most >= 1;
    bool colour = gi_colour_channels(src) == 3 || gi_colour_channels(other) == 3;
    plan->result.channels = (colour ? 3 : 1) + (gi_has_alpha(src) || !opaque);
    plan->cost = (struct gi_cost){.fmas = 4, .other = 8};
    return GI_OK;
}

/* Rows of the image that lie beside those of the input. */
static struct gi_span beside(const struct gi_plan *plan, int j, int y0, int y1)
{
    const struct gi_combine *spec = plan->tables;
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
    struct gi_combine spec = *(const struct gi_combine *)plan->tables;
    int y0 = work->src_y, y1 = y0 + work->srcs->height;
    spec.other = &work->srcs[1];
    spec.y += gi_plan_beside(plan, 1, y0, y1).top - y0;
    return queue->k->combine(queue, work->dst, work->srcs, &spec, err);
}

const struct gi_filter gi_filter_composite = {
    .name = "composite",
    .group = GI_GROUP_IMAGES,
    .summary = "Composite an image over another by alpha, with blend modes",
    .examples =
        "gpuimg composite photo.png out.png --with logo.png --gravity southeast --position 20,20\n"
        "gpuimg composite photo.png out.png --with mark.png --tile --opacity 0.2\n"
        "gpuimg composite photo.png warm.png --with paper.png --mode multiply",
    .manual =
        "The modes are those of W3C's Compositing and Blending Level 1, the image of --with being "
        "the source and the input the backdrop, in straight alpha as files hold it: over to plus "
        "after Porter and Duff, multiply to difference blended where both are, and over. Each is "
        "computed in float and rounded once, half to even; over equals Pillow's "
        "Image.alpha_composite() to 1 step. What is fully transparent becomes black.\n\n"
        "The result has the input's size and depth, colour where either one has, and alpha where "
        "the input has it or the mode takes away from it: in, out and xor. Outside of it the image "
        "of --with is transparent.",
    .options = options,
    .params_nbytes = sizeof(struct params),
    .mixes = true,
    .check = check,
    .plan = plan,
    .beside = beside,
    .run = run,
};
