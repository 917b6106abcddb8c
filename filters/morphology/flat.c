/* A rectangle for flat morphology.
 * SPDX-License-Identifier: MIT */
#include "filters/morphology/flat.h"

const struct gi_option gi_flat_options[] = {
    GI_FLAT_WINDOW_OPTIONS,
    {.name = "alpha",
     .type = GI_OPT_FLAG,
     .offset = offsetof(struct gi_flat_params, alpha),
     .help = "Alpha too: what is opaque shrinks or grows"},
    GI_BORDER_OPTIONS(struct gi_flat_params),
    {.name = NULL},
};

enum gi_status gi_flat_check(void *params, struct gi_err *err)
{
    struct gi_flat_params *p = params;
    bool sized = gi_extent_is_set(&p->size);
    if (sized && p->k)
        return gi_fail(err, GI_E_USAGE, "--k %d and --size: want one of them", p->k);
    if (sized && (gi_length_is_open(&p->size.width) || gi_length_is_open(&p->size.height)))
        return gi_fail(err, GI_E_USAGE, "--size: want both sides, WIDTHxHEIGHT");
    if (!sized && !p->k)
        p->k = 3;
    return GI_OK;
}

/* A side in pixels; 0 where it is too long. */
static int side(const struct gi_flat_params *p, const struct gi_length *length, int whole)
{
    int n = gi_extent_is_set(&p->size) ? gi_side_pixels(length, whole) : p->k;
    return n <= GI_TAPS_MAX ? n : 0;
}

enum gi_status gi_flat_plan(struct gi_plan *plan, int passes, struct gi_err *err)
{
    const struct gi_flat_params *p = plan->params;
    const struct gi_image *src = &plan->sources[0];
    int width = side(p, &p->size.width, src->width);
    int height = side(p, &p->size.height, src->height);
    if (!width || !height)
        return gi_fail(err, GI_E_USAGE, "--size: want at most %d px a side", GI_TAPS_MAX);
    struct gi_flat *flat = gi_plan_tables(plan, sizeof *flat, err);
    if (!flat)
        return GI_E_MEMORY;
    flat->erode = (struct gi_extreme){.width = width,
                                      .height = height,
                                      .anchor_x = width / 2,
                                      .anchor_y = height / 2,
                                      .alpha_too = p->alpha,
                                      .edge = gi_edge_from(&p->edge, src)};
    flat->dilate = flat->erode;
    flat->dilate.greatest = true;
    flat->dilate.anchor_x = width - 1 - width / 2;
    flat->dilate.anchor_y = height - 1 - height / 2;
    plan->halo = passes * (height / 2);
    plan->border = flat->erode.edge.border;
    plan->cost.other = 2.0 * passes;
    return GI_OK;
}
