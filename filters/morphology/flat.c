/* A window for flat morphology.
 * SPDX-License-Identifier: MIT */
#include "filters/morphology/flat.h"

const struct gi_option gi_flat_options[] = {
    GI_WINDOW_OPTIONS(GI_TAPS_MAX, "4001"),
    GI_SHAPE_OPTIONS,
    {.name = "alpha",
     .type = GI_OPT_FLAG,
     .offset = offsetof(struct gi_flat_params, alpha),
     .help = "Alpha too: what is opaque shrinks or grows"},
    GI_BORDER_OPTIONS(struct gi_flat_params),
    {.name = NULL},
};

const struct gi_option gi_flat_difference_options[] = {
    GI_WINDOW_OPTIONS(GI_TAPS_MAX, "4001"),
    GI_SHAPE_OPTIONS,
    GI_BORDER_OPTIONS(struct gi_flat_params),
    {.name = NULL},
};

/* The window that `w` is, and the same turned by half a turn. */
static void fill(struct gi_flat *flat, const struct gi_shape *w, bool alpha,
                 const struct gi_edge *edge)
{
    int n = w->nruns, width = w->width, height = w->height;
    flat->erode = (struct gi_extreme){.width = width,
                                      .height = height,
                                      .anchor_x = width / 2,
                                      .anchor_y = height / 2,
                                      .alpha_too = alpha,
                                      .edge = *edge,
                                      .runs = w->runs ? flat->runs : NULL,
                                      .nruns = n};
    flat->dilate = flat->erode;
    flat->dilate.greatest = true;
    flat->dilate.anchor_x = width - 1 - width / 2;
    flat->dilate.anchor_y = height - 1 - height / 2;
    flat->dilate.runs = w->runs ? flat->runs + n : NULL;
    for (int i = 0; i < n; i++) {
        const struct gi_run run = w->runs[i];
        flat->runs[i] = run;
        flat->runs[2 * n - 1 - i] =
            (struct gi_run){(int16_t)-run.y, (int16_t)-run.last, (int16_t)-run.first};
    }
}

/* For one of the two after the other `passes` times. */
static enum gi_status plan_passes(struct gi_plan *plan, int passes, struct gi_err *err)
{
    const struct gi_flat_params *p = plan->params;
    const struct gi_image *src = &plan->sources[0];
    struct gi_shape w;
    enum gi_status status = gi_shape_make(&w, &p->window, src, GI_TAPS_MAX, err);
    if (status)
        return status;
    struct gi_flat *flat =
        gi_plan_tables(plan, sizeof *flat + 2 * (size_t)w.nruns * sizeof *w.runs, err);
    struct gi_edge edge = gi_edge_from(&p->edge, src);
    if (flat)
        fill(flat, &w, p->alpha, &edge);
    gi_shape_free(&w);
    plan->halo = passes * (w.height / 2);
    plan->border = edge.border;
    plan->cost.other = passes * (2.0 + w.nruns);
    return flat ? GI_OK : GI_E_MEMORY;
}

enum gi_status gi_flat_plan_one(struct gi_plan *plan, struct gi_err *err)
{
    return plan_passes(plan, 1, err);
}

enum gi_status gi_flat_plan_both(struct gi_plan *plan, struct gi_err *err)
{
    return plan_passes(plan, 2, err);
}

enum gi_status gi_flat_both(struct gi_queue *queue, struct gi_image *dst,
                            const struct gi_image *src, const struct gi_extreme *first,
                            const struct gi_extreme *second, struct gi_err *err)
{
    struct gi_image between;
    enum gi_status status =
        queue->k->alloc(queue, &between, src->width, src->height, src->channels, src->type, err);
    if (status)
        return status;
    status = queue->k->extreme(queue, &between, src, first, err);
    if (!status)
        status = queue->k->extreme(queue, dst, &between, second, err);
    queue->k->release(queue, &between);
    return status;
}

enum gi_status gi_flat_pair(struct gi_queue *queue, struct gi_image *dst,
                            const struct gi_image *src, const struct gi_extreme *a,
                            const struct gi_extreme *b, const struct gi_point *point,
                            struct gi_err *err)
{
    struct gi_image other;
    enum gi_status status = queue->k->extreme(queue, dst, src, a, err);
    if (!status)
        status =
            queue->k->alloc(queue, &other, src->width, src->height, src->channels, src->type, err);
    if (status)
        return status;
    status = queue->k->extreme(queue, &other, src, b, err);
    if (!status)
        status = queue->k->pointwise(queue, dst, dst, &other, point, err);
    queue->k->release(queue, &other);
    return status;
}

enum gi_status gi_flat_subtract(struct gi_queue *queue, struct gi_image *dst,
                                const struct gi_image *a, const struct gi_image *b,
                                struct gi_err *err)
{
    struct gi_point spec = {.op = GI_POINT_SUBTRACT};
    return queue->k->pointwise(queue, dst, a, b, &spec, err);
}
