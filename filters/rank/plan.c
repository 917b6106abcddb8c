/* A rank in a rectangle.
 * SPDX-License-Identifier: MIT */
#include "filters/rank/rank.h"

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
    int width, height;
    enum gi_status status = gi_window_sides(&width, &height, &p->window, src, GI_MEDIAN_MAX, err);
    if (status)
        return status;
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
