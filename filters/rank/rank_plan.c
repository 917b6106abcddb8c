/* Plans and runs rank filters in a neighbourhood of any shape.
 * SPDX-License-Identifier: MIT */
#include "filters/rank/rank_plan.h"
#include "kernels/kernels.h"

/* Returns the cost of the implementation, which uses sorting networks, column histograms, or
 * sliding histograms. During planning it is not known yet whether fully transparent pixels require
 * the implementation for runs. */
static double cost_of(const struct gi_median *m, enum gi_type type)
{
    if (m->runs)
        return 1000 + 180.0 * m->nruns;
    if (gi_median_is(m, 3) || gi_median_is(m, 5))
        return m->width * m->height;
    return type == GI_U8 && m->width * m->height <= 65535 ? 450 : 1000 + 180.0 * m->height;
}

/* Specifications for all pixels, and for opaque pixels only. */
struct rank_plan_tables {
    struct gi_median all, opaque;
    struct gi_footprint_run runs[];
};

/* Fills in the runs of the neighbourhood. The runs of a rectangle are its rows. */
static void fill_runs(struct gi_footprint_run *runs, const struct gi_footprint *w)
{
    for (int i = 0; i < w->nruns; i++)
        runs[i] = w->runs[i];
    for (int y = 0; !w->runs && y < w->height; y++)
        runs[y] = (struct gi_footprint_run){(int16_t)(y - w->height / 2), (int16_t)(-w->width / 2),
                                            (int16_t)(w->width - 1 - w->width / 2)};
}

enum gi_status gi_rank_plan(struct gi_plan *plan, double percent, struct gi_err *err)
{
    const struct gi_rank_params *p = plan->params;
    const struct gi_image *src = &plan->sources[0];
    struct gi_footprint w;
    enum gi_status status = gi_footprint_make(&w, &p->window, src, GI_MEDIAN_MAX, err);
    if (status)
        return status;
    int nruns = w.runs ? w.nruns : w.height;
    struct rank_plan_tables *tables =
        gi_plan_tables(plan, sizeof *tables + (size_t)nruns * sizeof *w.runs, err);
    if (tables) {
        tables->all = (struct gi_median){.width = w.width,
                                         .height = w.height,
                                         .rank = gi_rank_place(percent, w.pixels),
                                         .alpha_too = p->alpha,
                                         .border = gi_border_spec_from(&p->border, src),
                                         .runs = w.runs ? tables->runs : NULL,
                                         .nruns = w.nruns,
                                         .percent = percent};
        tables->opaque = tables->all;
        tables->opaque.opaque = true;
        tables->opaque.runs = tables->runs;
        tables->opaque.nruns = nruns;
        fill_runs(tables->runs, &w);
        plan->cost.other = cost_of(&tables->all, src->type);
    }
    gi_footprint_free(&w);
    plan->halo = w.height / 2;
    plan->border = (enum gi_border)p->border.mode;
    gi_opacity_plan(plan, p->alpha);
    return tables ? GI_OK : GI_E_MEMORY;
}

const struct gi_median *gi_rank_footprint(const struct gi_plan *plan, const struct gi_work *work)
{
    const struct rank_plan_tables *tables = plan->tables;
    const struct gi_rank_params *p = plan->params;
    return gi_opacity_hides(plan, work, &tables->all.border, p->alpha) ? &tables->opaque
                                                                       : &tables->all;
}

enum gi_status gi_rank_run(const struct gi_plan *plan, struct gi_queue *queue,
                           const struct gi_work *work, struct gi_err *err)
{
    return queue->k->median(queue, work->dst, work->srcs, gi_rank_footprint(plan, work), err);
}
