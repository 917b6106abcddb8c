/* A rank in a window.
 * SPDX-License-Identifier: MIT */
#include "filters/rank/rank.h"

/* Of comparing pairs, of histograms of columns, or of those that slide. */
static double cost_of(const struct gi_median *m, enum gi_type type)
{
    if (m->runs)
        return 1000 + 180.0 * m->nruns;
    if (gi_median_is(m, 3) || gi_median_is(m, 5))
        return m->width * m->height;
    return type == GI_U8 && m->width * m->height <= 65535 ? 450 : 1000 + 180.0 * m->height;
}

struct tables {
    struct gi_median median;
    struct gi_run runs[];
};

enum gi_status gi_rank_plan(struct gi_plan *plan, double percent, struct gi_err *err)
{
    const struct gi_rank_params *p = plan->params;
    const struct gi_image *src = &plan->sources[0];
    struct gi_shape w;
    enum gi_status status = gi_shape_make(&w, &p->window, src, GI_MEDIAN_MAX, err);
    if (status)
        return status;
    int rank = (int)(w.pixels * percent / 100);
    struct tables *tables =
        gi_plan_tables(plan, sizeof *tables + (size_t)w.nruns * sizeof *w.runs, err);
    if (tables) {
        tables->median = (struct gi_median){.width = w.width,
                                            .height = w.height,
                                            .rank = rank < w.pixels ? rank : w.pixels - 1,
                                            .alpha_too = p->alpha,
                                            .edge = gi_edge_from(&p->edge, src),
                                            .runs = w.runs ? tables->runs : NULL,
                                            .nruns = w.nruns};
        for (int i = 0; i < w.nruns; i++)
            tables->runs[i] = w.runs[i];
        plan->cost.other = cost_of(&tables->median, src->type);
    }
    gi_shape_free(&w);
    plan->halo = w.height / 2;
    plan->border = (enum gi_border)p->edge.border;
    return tables ? GI_OK : GI_E_MEMORY;
}

enum gi_status gi_rank_run(const struct gi_plan *plan, struct gi_queue *queue,
                           const struct gi_work *work, struct gi_err *err)
{
    return queue->k->median(queue, work->dst, work->srcs, plan->tables, err);
}
