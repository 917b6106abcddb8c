/* Rolling-ball background (S. Sternberg, 1983). A ball rolls below the surface of the image. The
 * background at a pixel is the greatest height that the top of the ball reaches there.
 * SPDX-License-Identifier: MIT */
#include <math.h>

#include "filters/filter.h"
#include "filters/tone/threshold_level.h"
#include "kernels/kernels.h"
#include "kernels/morphology.h"

struct background_params {
    double radius; /* px */
    struct gi_level height;
    bool keep;
    struct gi_border_params border;
};

static const struct gi_option options[] = {
    {GI_OPTION("radius", REAL, struct background_params, radius), .letter = 'r',
     .default_text = "50", .min = 1, .max = GI_NONFLAT_MAX / 2, .unit = "px",
     .help = "Radius of the ball; choose more than half of the width of the objects"},
    {GI_OPTION("height", LEVEL, struct background_params, height), .amount = true,
     .help = "Height of the ball in sample values, from its middle to its top; by default "
             "(--radius / 255) of full scale"},
    {GI_OPTION("keep", FLAG, struct background_params, keep),
     .help = "Write the background instead of subtracting it"},
    GI_BORDER_OPTIONS(struct background_params),
    {.name = NULL},
};

static enum gi_status check(void *params, struct gi_err *err)
{
    const struct background_params *p = params;
    return p->height.kind == GI_LEVEL_UNSET ? GI_OK
                                            : gi_level_check_positive(&p->height, "height", err);
}

struct background_tables {
    struct gi_nonflat ball;
    struct gi_footprint_run runs[GI_NONFLAT_MAX];
    float heights[];
};

/* Fills in the runs and heights of a ball of radius r, which is `height` high. */
static void fill(struct background_tables *tables, double r, double height)
{
    int reach = (int)floor(r), n = 0;
    for (int j = -reach; j <= reach; j++) {
        int half = 0;
        while (r * r - (half + 1) * (half + 1) - j * j >= 0)
            half++;
        for (int i = -half; i <= half; i++)
            tables->heights[n++] = (float)(height * (sqrt(r * r - i * i - j * j) / r - 1));
        tables->runs[j + reach] =
            (struct gi_footprint_run){(int16_t)j, (int16_t)-half, (int16_t)half};
    }
}

static enum gi_status plan(struct gi_plan *plan, struct gi_err *err)
{
    const struct background_params *p = plan->params;
    enum gi_type type = plan->sources[0].type;
    double r = p->radius, full = (double)gi_type_full_scale(type), height = r * full / 255;
    int reach = (int)floor(r), side = 2 * reach + 1;
    struct background_tables *tables =
        gi_plan_tables(plan, sizeof *tables + (size_t)(side * side) * sizeof(float), err);
    if (!tables)
        return GI_E_MEMORY;
    if (p->height.kind != GI_LEVEL_UNSET)
        height = gi_level_number(&p->height, type);
    fill(tables, r, height);
    tables->ball =
        (struct gi_nonflat){.runs = tables->runs,
                            .nruns = side,
                            .heights = tables->heights,
                            .difference = !p->keep,
                            .ignore_nan = true,
                            .border = gi_border_spec_from(&p->border, &plan->sources[0])};
    plan->halo = reach;
    plan->border = tables->ball.border.mode;
    plan->cost.other = 3.2 * r * r;
    return GI_OK;
}

static enum gi_status run(const struct gi_plan *plan, struct gi_queue *queue,
                          const struct gi_work *work, struct gi_err *err)
{
    const struct background_tables *tables = plan->tables;
    return queue->k->nonflat(queue, work->dst, work->srcs, &tables->ball, err);
}

const struct gi_filter gi_filter_background = {
    .name = "background",
    .group = GI_GROUP_MORPHOLOGY,
    .planes = GI_PLANES_LUMA,
    .summary = "Subtract an uneven background (rolling ball)",
    .examples = "gpuimg background gel.png flat.png --radius 30\n"
                "gpuimg background cells.tif light.tif --radius 80 --keep\n"
                "gpuimg background plate.png even.png --radius 100 --height 20%",
    .manual = "The samples are taken as the heights of a surface, and a ball of --radius rolls "
              "below this surface. The background at a pixel is the highest position that the "
              "top of the ball reaches there. It is subtracted from the image, so that bright "
              "objects that are narrower than the ball remain on black. For dark objects on a "
              "bright background use the chain 'invert | background | invert' (see gpuimg help "
              "run).\n\n"
              "Each channel is processed separately, and alpha does not change. NaN samples are "
              "ignored when the background is computed. With --border clamp only pixels inside "
              "the image count. The time grows with the square of the radius.\n\n"
              "By default the height of the ball suits images that use the full range of their "
              "type. If they use only a part, such as 12 bits in a file of 16 bits, give --height "
              "(radius / 255) of the range that is used: 803 for a radius of 50 and samples up to "
              "4095.\n\n"
              "With the radius r and the height h of the ball, the background is\n"
              "b(y, x) = min of in(y + j, x + i) + h (1 - sqrt(1 - (i^2 + j^2) / r^2))\n"
              "over all i and j with i^2 + j^2 <= r^2, in float32. This is an erosion by a "
              "ball.\n\n"
              "The algorithm is that of S. R. Sternberg (Biomedical image processing, Computer "
              "16(1), 1983). The results are those of scikit-image's rolling_ball(), with two "
              "differences. rolling_ball() truncates 8-bit results, and gpuimg rounds them. In "
              "other types the ball of rolling_ball() is as high as its radius: for the same "
              "results, set --height to the value of --radius.",
    .options = options,
    .params_nbytes = sizeof(struct background_params),
    .check = check,
    .plan = plan,
    .run = run,
};
