/* Rolling-ball background: the height that a ball below the image surface can reach.
 * SPDX-License-Identifier: MIT */
#include <math.h>

#include "filters/filter.h"
#include "filters/tone/otsu.h"

struct params {
    double radius; /* px */
    struct gi_level height;
    bool keep;
    struct gi_border_params edge;
};

static const struct gi_option options[] = {
    {.name = "radius",
     .letter = 'r',
     .type = GI_OPT_REAL,
     .offset = offsetof(struct params, radius),
     .default_text = "50",
     .min = 1,
     .max = GI_BALL_MAX,
     .unit = "px",
     .help = "Radius of the ball: more than half of what is no background"},
    {.name = "height",
     .type = GI_OPT_LEVEL,
     .offset = offsetof(struct params, height),
     .amount = true,
     .help = "How high the ball is, from its middle up: a sample value, or a per cent of full "
             "scale; as many 255ths of that as --radius has pixels unless given"},
    {.name = "keep",
     .type = GI_OPT_FLAG,
     .offset = offsetof(struct params, keep),
     .help = "Make the background itself, rather than the image without it"},
    GI_BORDER_OPTIONS(struct params),
    {.name = NULL},
};

static enum gi_status check(void *params, struct gi_err *err)
{
    const struct params *p = params;
    return p->height.kind == GI_LEVEL_UNSET ? GI_OK
                                            : gi_level_check_positive(&p->height, "height", err);
}

struct tables {
    struct gi_ball ball;
    float heights[];
};

static enum gi_status plan(struct gi_plan *plan, struct gi_err *err)
{
    const struct params *p = plan->params;
    enum gi_type type = plan->sources[0].type;
    double r = p->radius, full = (double)gi_type_full_scale(type), height = r * full / 255;
    int reach = (int)floor(r), n = reach + 1;
    struct tables *tables =
        gi_plan_tables(plan, sizeof *tables + (size_t)(n * n) * sizeof *tables->heights, err);
    if (!tables)
        return GI_E_MEMORY;
    if (p->height.kind != GI_LEVEL_UNSET)
        height = gi_level_number(&p->height, type, 0);
    tables->ball = (struct gi_ball){.radius = reach,
                                    .heights = tables->heights,
                                    .keep = p->keep,
                                    .edge = gi_edge_from(&p->edge, &plan->sources[0])};
    for (int j = 0; j < n; j++)
        for (int i = 0; i < n; i++) {
            double rest = r * r - i * i - j * j;
            tables->heights[j * n + i] =
                rest < 0 ? INFINITY : (float)(height * (1 - sqrt(rest) / r));
        }
    plan->halo = reach;
    plan->border = tables->ball.edge.border;
    plan->cost.other = 3.2 * r * r;
    return GI_OK;
}

static enum gi_status run(const struct gi_plan *plan, struct gi_queue *queue,
                          const struct gi_work *work, struct gi_err *err)
{
    const struct tables *tables = plan->tables;
    return queue->k->ball(queue, work->dst, work->srcs, &tables->ball, err);
}

const struct gi_filter gi_filter_background = {
    .name = "background",
    .group = GI_GROUP_MORPHOLOGY,
    .summary = "Subtract an uneven background (rolling ball)",
    .examples = "gpuimg background gel.png flat.png --radius 30\n"
                "gpuimg background cells.tif light.tif --radius 80 --keep\n"
                "gpuimg background plate.png even.png --radius 100 --height 20%",
    .manual =
        "A ball rolls below the image, whose samples are heights; how high it comes at each pixel "
        "is the background, which is taken off, so that what is bright and narrower than the ball "
        "stands on black. The background is\n"
        "b(y, x) = the least of in(y + j, x + i) + h (1 - sqrt(1 - (i^2 + j^2) / r^2)), i^2 + j^2 "
        "<= r^2, in float32: an erosion by a ball, as scikit-image's "
        "rolling_ball() has it (S. R. Sternberg, Biomedical image processing, Computer 16(1), "
        "1983), which cuts 8-bit results off where the nearest value is taken here. Its ball in "
        "other types is that of --height with the number that --radius has.\n\n"
        "With --border clamp it comes to only what is in the image. What is dark on bright wants "
        "the chain 'invert | background | invert'. The time grows with the square of "
        "the radius. Each channel by itself; alpha stays as it is; NaN is no background.",
    .options = options,
    .params_nbytes = sizeof(struct params),
    .check = check,
    .plan = plan,
    .run = run,
};
