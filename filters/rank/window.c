/* A rank in a rectangle.
 * SPDX-License-Identifier: MIT */
#include "filters/rank/rank.h"

enum gi_status gi_rank_check(void *params, struct gi_err *err)
{
    struct gi_rank_params *p = params;
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
static int side(const struct gi_rank_params *p, const struct gi_length *length, int whole)
{
    int n = gi_extent_is_set(&p->size) ? gi_side_pixels(length, whole) : p->k;
    return n <= GI_MEDIAN_MAX ? n : 0;
}

/* Of comparing pairs, of histograms of columns, or of those that slide. */
static double cost_of(const struct gi_median *m, enum gi_type type)
{
    if (gi_median_is(m, 3) || gi_median_is(m, 5))
        return m->width * m->height;
    return type == GI_U8 && m->width * m->height <= 65535 ? 450 : 1000 + 180.0 * m->height;
}

enum gi_status gi_rank_plan(struct gi_plan *plan, double percent, struct gi_err *err)
{
    const struct gi_rank_params *p = plan->params;
    const struct gi_image *src = &plan->sources[0];
    int width = side(p, &p->size.width, src->width), height = side(p, &p->size.height, src->height);
    if (!width || !height)
        return gi_fail(err, GI_E_USAGE, "--size: want at most %d px a side", GI_MEDIAN_MAX);
    struct gi_median *median = gi_plan_tables(plan, sizeof *median, err);
    if (!median)
        return GI_E_MEMORY;
    int n = width * height, rank = (int)(n * percent / 100);
    *median = (struct gi_median){.width = width,
                                 .height = height,
                                 .rank = rank < n ? rank : n - 1,
                                 .alpha_too = p->alpha,
                                 .edge = gi_edge_from(&p->edge, src)};
    plan->halo = height / 2;
    plan->border = median->edge.border;
    plan->cost.other = cost_of(median, src->type);
    return GI_OK;
}

enum gi_status gi_rank_run(const struct gi_plan *plan, struct gi_queue *queue,
                           const struct gi_work *work, struct gi_err *err)
{
    return queue->k->median(queue, work->dst, work->srcs, plan->tables, err);
}
