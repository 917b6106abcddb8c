/* Flat morphology: plans and runs erosions and dilations with a structuring element.
 * SPDX-License-Identifier: MIT */
#include "filters/morphology/flat.h"
#include "kernels/kernels.h"

#include <math.h>

#define ORIGIN                                                                                     \
    GI_FOOTPRINT_ORIGIN_OPTION("origin", struct gi_flat_params, origin, "the structuring element")

const struct gi_option gi_flat_options[] = {
    GI_FOOTPRINT_SIZE_OPTIONS(GI_TAPS_MAX, "4001"),
    GI_FOOTPRINT_SHAPE_OPTIONS,
    ORIGIN,
    {GI_OPTION("alpha", FLAG, struct gi_flat_params, alpha),
     .help = "Process alpha too: opaque areas shrink or grow"},
    GI_BORDER_OPTIONS(struct gi_flat_params),
    {.name = NULL},
};

const struct gi_option gi_flat_difference_options[] = {
    GI_FOOTPRINT_SIZE_OPTIONS(GI_TAPS_MAX, "4001"),
    GI_FOOTPRINT_SHAPE_OPTIONS,
    ORIGIN,
    GI_BORDER_OPTIONS(struct gi_flat_params),
    {.name = NULL},
};

/* Fills in the structuring element `w` for the erosion, and its reflection for the dilation. */
static void fill(struct gi_flat *flat, const struct gi_footprint *w, bool alpha,
                 const struct gi_border_spec *border)
{
    int n = w->nruns;
    flat->erode = (struct gi_min_max){.width = w->width,
                                      .height = w->height,
                                      .anchor_x = w->anchor_x,
                                      .anchor_y = w->anchor_y,
                                      .alpha_too = alpha,
                                      .border = *border,
                                      .runs = w->runs ? flat->runs : NULL,
                                      .nruns = n};
    flat->dilate = flat->erode;
    flat->dilate.greatest = true;
    flat->dilate.anchor_x = w->width - 1 - w->anchor_x;
    flat->dilate.anchor_y = w->height - 1 - w->anchor_y;
    flat->dilate.runs = w->runs ? flat->runs + n : NULL;
    for (int i = 0; i < n; i++) {
        const struct gi_footprint_run run = w->runs[i];
        flat->runs[i] = run;
        flat->runs[2 * n - 1 - i] =
            (struct gi_footprint_run){(int16_t)-run.y, (int16_t)-run.last, (int16_t)-run.first};
    }
}

/* Makes the structuring element for an image like `src`. */
static enum gi_status element_make(struct gi_footprint *w, const struct gi_flat_params *p,
                                   const struct gi_image *src, struct gi_err *err)
{
    enum gi_status status = gi_footprint_make(w, &p->window, src, GI_TAPS_MAX, err);
    if (!status)
        status = gi_footprint_place(w, &p->origin, "origin", err);
    if (status)
        gi_footprint_free(w);
    return status;
}

enum gi_status gi_flat_check(void *params, struct gi_err *err)
{
    const struct gi_flat_params *p = params;
    const struct gi_extent *size = &p->window.size;
    const struct gi_image any = {.width = 1, .height = 1};
    struct gi_footprint w;
    enum gi_status status = gi_footprint_check(params, err);
    if (status || !p->origin.n)
        return status;
    if (gi_extent_is_set(size) && (size->width.percent || size->height.percent))
        return gi_fail(err, GI_E_USAGE, "--origin and a --size in %%: want a --size in pixels");
    status = element_make(&w, p, &any, err);
    if (!status)
        gi_footprint_free(&w);
    return status;
}

/* Plans `passes` erosions and dilations, one after another. */
static enum gi_status plan_passes(struct gi_plan *plan, int passes, struct gi_err *err)
{
    const struct gi_flat_params *p = plan->params;
    const struct gi_image *src = &plan->sources[0];
    struct gi_footprint w;
    enum gi_status status = element_make(&w, p, src, err);
    if (status)
        return status;
    struct gi_flat *flat =
        gi_plan_tables(plan, sizeof *flat + 2 * (size_t)w.nruns * sizeof *w.runs, err);
    struct gi_border_spec border = gi_border_spec_from(&p->border, src);
    if (flat)
        fill(flat, &w, p->alpha, &border);
    gi_footprint_free(&w);
    plan->halo = passes * gi_footprint_halo(&w);
    plan->border = border.mode;
    plan->cost.other = passes * (2.0 + w.nruns);
    gi_opacity_plan(plan, p->alpha);
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

static enum gi_status alloc_like(struct gi_queue *queue, struct gi_image *image,
                                 const struct gi_image *src, struct gi_err *err)
{
    return queue->k->alloc(queue, image, src->width, src->height, src->channels, src->type, err);
}

/* Returns a copy of the filter's specification for an image in which ignore_transparent has
 * replaced the transparent pixels: alpha is filtered too, and the border value is replaced if it is
 * transparent. */
static struct gi_min_max of_ignoring(const struct gi_min_max *spec,
                                     const struct gi_ignore_transparent *ignoring,
                                     const struct gi_image *src)
{
    struct gi_min_max all = *spec;
    int last = src->channels - 1;
    bool counts = gi_opacity_counts(&spec->border, src);
    for (int c = 0; c < last && !counts; c++)
        all.border.value[c] = ignoring->hidden;
    all.border.value[last] = counts ? ignoring->shown : ignoring->hidden;
    all.alpha_too = true;
    return all;
}

/* Runs a min or max filter that ignores transparent pixels. First, transparent pixels are replaced
 * by a value that is the minimum (maximum) only if no other sample is in the neighbourhood. */
static enum gi_status of_opaque(struct gi_queue *queue, struct gi_image *dst,
                                const struct gi_image *src, const struct gi_min_max *spec,
                                struct gi_err *err)
{
    float full = gi_type_full_scale(src->type), end = src->type == GI_F32 ? INFINITY : full;
    float start = src->type == GI_F32 ? -INFINITY : 0;
    struct gi_ignore_transparent ignoring = {.hidden = spec->greatest ? start : end,
                                             .shown = spec->greatest ? full : 0};
    struct gi_min_max all = of_ignoring(spec, &ignoring, src);
    struct gi_image visible;
    enum gi_status status = alloc_like(queue, &visible, src, err);
    if (status)
        return status;
    status = queue->k->ignore_transparent(queue, &visible, src, &ignoring, err);
    if (!status)
        status = queue->k->min_max(queue, dst, &visible, &all, err);
    ignoring.picked = dst;
    if (!status)
        status = queue->k->ignore_transparent(queue, dst, src, &ignoring, err);
    queue->k->release(queue, &visible);
    return status;
}

static enum gi_status pick(struct gi_queue *queue, struct gi_image *dst, const struct gi_image *src,
                           const struct gi_min_max *spec, bool hides, struct gi_err *err)
{
    return (hides ? of_opaque : queue->k->min_max)(queue, dst, src, spec, err);
}

static bool hides(const struct gi_plan *plan, const struct gi_work *work)
{
    const struct gi_flat_params *p = plan->params;
    const struct gi_flat *flat = plan->tables;
    return gi_opacity_hides(plan, work, &flat->erode.border, p->alpha);
}

enum gi_status gi_flat_one(const struct gi_plan *plan, struct gi_queue *queue,
                           const struct gi_work *work, const struct gi_min_max *spec,
                           struct gi_err *err)
{
    return pick(queue, work->dst, work->srcs, spec, hides(plan, work), err);
}

enum gi_status gi_flat_both(const struct gi_plan *plan, struct gi_queue *queue,
                            const struct gi_work *work, const struct gi_min_max *first,
                            const struct gi_min_max *second, struct gi_err *err)
{
    struct gi_image between;
    bool some = hides(plan, work);
    enum gi_status status = alloc_like(queue, &between, work->srcs, err);
    if (status)
        return status;
    status = pick(queue, &between, work->srcs, first, some, err);
    if (!status)
        status = pick(queue, work->dst, &between, second, some, err);
    queue->k->release(queue, &between);
    return status;
}

static enum gi_status two(struct gi_queue *queue, struct gi_image *dst, const struct gi_image *a,
                          const struct gi_image *b, enum gi_arithmetic_op op, bool alpha,
                          struct gi_err *err)
{
    struct gi_arithmetic spec = {.op = op, .plain = true, .other = b, .alpha_too = alpha};
    return queue->k->arithmetic(queue, dst, a, &spec, err);
}

enum gi_status gi_flat_pair(const struct gi_plan *plan, struct gi_queue *queue,
                            const struct gi_work *work, const struct gi_min_max *a,
                            const struct gi_min_max *b, enum gi_arithmetic_op op, bool alpha,
                            struct gi_err *err)
{
    struct gi_image other, *dst = work->dst;
    bool some = hides(plan, work);
    enum gi_status status = pick(queue, dst, work->srcs, a, some, err);
    if (!status)
        status = alloc_like(queue, &other, work->srcs, err);
    if (status)
        return status;
    status = pick(queue, &other, work->srcs, b, some, err);
    if (!status)
        status = two(queue, dst, dst, &other, op, alpha, err);
    queue->k->release(queue, &other);
    return status;
}

enum gi_status gi_flat_subtract(struct gi_queue *queue, struct gi_image *dst,
                                const struct gi_image *a, const struct gi_image *b,
                                struct gi_err *err)
{
    return two(queue, dst, a, b, GI_ARITHMETIC_SUBTRACT, false, err);
}
