/* Plans and runs erosions and dilations with a structuring element, flat or with heights.
 * SPDX-License-Identifier: MIT */
#include "filters/morphology/flat.h"
#include "filters/convolution/kernel_text.h"
#include "imgio/small.h"
#include "kernels/kernels.h"

#include <math.h>
#include <stdlib.h>

#define ELEMENT                                                                                    \
    GI_FOOTPRINT_SIZE_OPTIONS(GI_TAPS_MAX, "4001"), GI_FOOTPRINT_SHAPE_OPTIONS,                    \
        GI_FOOTPRINT_ORIGIN_OPTION("origin", struct gi_flat_params, origin,                        \
                                   "the structuring element")
#define HEIGHTS                                                                                    \
    {                                                                                              \
        GI_OPTION("heights", CONTENT, struct gi_flat_params, heights),                             \
            .metavar = "ROWS|FILE",                                                                \
            .help = "Heights of the structuring element in sample values: rows of numbers, or "    \
                    "the name of a file that holds them; by default it is flat"                    \
    }
#define ALPHA                                                                                      \
    {                                                                                              \
        GI_OPTION("alpha", FLAG, struct gi_flat_params, alpha),                                    \
            .help = "Process alpha too: opaque areas shrink or grow"                               \
    }

const struct gi_option gi_flat_options[] = {
    ELEMENT, HEIGHTS, ALPHA, GI_BORDER_OPTIONS(struct gi_flat_params), {.name = NULL}};

const struct gi_option gi_flat_difference_options[] = {
    ELEMENT, HEIGHTS, GI_BORDER_OPTIONS(struct gi_flat_params), {.name = NULL}};

const struct gi_option gi_flat_midpoint_options[] = {
    ELEMENT, ALPHA, GI_BORDER_OPTIONS(struct gi_flat_params), {.name = NULL}};

/* A structuring element. If it has `heights`, it also has runs. */
struct element {
    struct gi_footprint w;
    float *heights; /* of the pixels of the runs, in order; NULL: it is flat */
};

static void element_free(struct element *e)
{
    gi_footprint_free(&e->w);
    free(e->heights);
}

/* Makes `w` a rectangle whose rows are runs. */
static void make_rectangle(struct gi_footprint *w, int width, int height)
{
    *w = (struct gi_footprint){width, height, width / 2, height / 2, width * height, NULL, height};
    w->runs = gi_small_alloc((size_t)height * sizeof *w->runs);
    for (int i = 0; i < height; i++)
        w->runs[i] = (struct gi_footprint_run){(int16_t)(i - w->anchor_y), (int16_t)-w->anchor_x,
                                               (int16_t)(width - 1 - w->anchor_x)};
}

/* Makes the footprint of a structuring element with these heights. */
static enum gi_status make_footprint(struct gi_footprint *w, const struct gi_kernel *rows,
                                     const char *mask, struct gi_err *err)
{
    enum gi_status status = GI_OK;
    if (rows->width > GI_NONFLAT_MAX || rows->height > GI_NONFLAT_MAX)
        return gi_fail(err, GI_E_USAGE, "--heights: %d x %d numbers: want at most %d a side",
                       rows->width, rows->height, GI_NONFLAT_MAX);
    if (mask)
        status = gi_footprint_read(w, mask, "mask", GI_TAPS_MAX, err);
    if (!status && mask && (w->width != rows->width || w->height != rows->height))
        return gi_fail(err, GI_E_USAGE, "--heights: %d x %d numbers: want %d x %d, as in --mask",
                       rows->width, rows->height, w->width, w->height);
    if (!status && !w->runs)
        make_rectangle(w, rows->width, rows->height);
    return status;
}

/* Makes a structuring element with heights. The caller frees it, also after an error. */
static enum gi_status read_heights(struct element *e, const struct gi_flat_params *p,
                                   struct gi_err *err)
{
    const struct gi_footprint *w = &e->w;
    struct gi_kernel rows;
    enum gi_status status = gi_kernel_read(&rows, p->heights, err);
    if (status) {
        gi_err_prefix(err, "--heights");
        return status;
    }
    status = make_footprint(&e->w, &rows, p->window.mask, err);
    if (!status)
        e->heights = gi_small_alloc((size_t)w->pixels * sizeof *e->heights);
    for (int i = 0, n = 0; !status && i < w->nruns; i++) {
        const struct gi_footprint_run run = w->runs[i];
        for (int x = run.first; x <= run.last; x++)
            e->heights[n++] =
                (float)rows.weights[(run.y + w->anchor_y) * w->width + x + w->anchor_x];
    }
    gi_kernel_free(&rows);
    return status;
}

/* Makes the structuring element for an image like `src`. After an error there is nothing to free.
 */
static enum gi_status element_make(struct element *e, const struct gi_flat_params *p,
                                   const struct gi_image *src, struct gi_err *err)
{
    *e = (struct element){0};
    enum gi_status status = p->heights
                                ? read_heights(e, p, err)
                                : gi_footprint_make(&e->w, &p->window, src, GI_TAPS_MAX, err);
    if (!status)
        status = gi_footprint_place(&e->w, &p->origin, "origin", err);
    if (status)
        element_free(e);
    return status;
}

/* Checks that --mask is the only other option for the shape of an element with heights. */
static enum gi_status check_heights(const struct gi_footprint_params *p, struct gi_err *err)
{
    bool sized = gi_extent_is_set(&p->size);
    if (p->k || sized || p->shape != GI_FOOTPRINT_RECT)
        return gi_fail(err, GI_E_USAGE, "--heights and --%s: want one of them",
                       p->k    ? "k"
                       : sized ? "size"
                               : "shape");
    return GI_OK;
}

enum gi_status gi_flat_check(void *params, struct gi_err *err)
{
    const struct gi_flat_params *p = params;
    const struct gi_extent *size = &p->window.size;
    const struct gi_image any = {.width = 1, .height = 1};
    struct element e;
    enum gi_status status =
        p->heights ? check_heights(&p->window, err) : gi_footprint_check(params, err);
    if (status || (!p->heights && !p->origin.n))
        return status;
    if (gi_extent_is_set(size) && (size->width.percent || size->height.percent))
        return gi_fail(err, GI_E_USAGE, "--origin and a --size in %%: want a --size in pixels");
    status = element_make(&e, p, &any, err);
    if (!status)
        element_free(&e);
    return status;
}

/* Fills in the structuring element for the erosion, and its reflection for the dilation. */
static void fill(struct gi_flat *flat, const struct element *e, bool alpha,
                 const struct gi_border_spec *border)
{
    const struct gi_footprint *w = &e->w;
    int n = w->nruns, pixels = e->heights ? w->pixels : 0;
    float *heights = (float *)(void *)(flat->runs + 2 * n);
    flat->erode.flat = (struct gi_min_max){.width = w->width,
                                           .height = w->height,
                                           .anchor_x = w->anchor_x,
                                           .anchor_y = w->anchor_y,
                                           .alpha_too = alpha,
                                           .border = *border,
                                           .runs = w->runs ? flat->runs : NULL,
                                           .nruns = n};
    flat->dilate.flat = flat->erode.flat;
    flat->dilate.flat.greatest = true;
    flat->dilate.flat.anchor_x = w->width - 1 - w->anchor_x;
    flat->dilate.flat.anchor_y = w->height - 1 - w->anchor_y;
    flat->dilate.flat.runs = w->runs ? flat->runs + n : NULL;
    for (int i = 0; i < n; i++) {
        const struct gi_footprint_run run = w->runs[i];
        flat->runs[i] = run;
        flat->runs[2 * n - 1 - i] =
            (struct gi_footprint_run){(int16_t)-run.y, (int16_t)-run.last, (int16_t)-run.first};
    }
    flat->erode.heights = pixels ? heights : NULL;
    flat->dilate.heights = pixels ? heights + pixels : NULL;
    for (int i = 0; i < pixels; i++)
        heights[i] = heights[2 * pixels - 1 - i] = e->heights[i];
}

/* Plans `passes` erosions and dilations, one after another. */
static enum gi_status plan_passes(struct gi_plan *plan, int passes, struct gi_err *err)
{
    const struct gi_flat_params *p = plan->params;
    const struct gi_image *src = &plan->sources[0];
    struct element e;
    enum gi_status status = element_make(&e, p, src, err);
    if (status)
        return status;
    size_t nruns = 2 * (size_t)e.w.nruns, nheights = e.heights ? 2 * (size_t)e.w.pixels : 0;
    struct gi_flat *flat;
    flat = gi_plan_tables(
        plan, sizeof *flat + nruns * sizeof *flat->runs + nheights * sizeof *e.heights, err);
    struct gi_border_spec border = gi_border_spec_from(&p->border, src);
    if (flat)
        fill(flat, &e, p->alpha, &border);
    element_free(&e);
    plan->halo = passes * gi_footprint_halo(&e.w);
    plan->border = border.mode;
    plan->cost.other = passes * (nheights ? e.w.pixels : 2.0 + e.w.nruns);
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

/* Erodes or dilates. */
static enum gi_status pick(struct gi_queue *queue, struct gi_image *dst, const struct gi_image *src,
                           const struct gi_flat_filter *filter, bool hides, struct gi_err *err)
{
    const struct gi_min_max *flat = &filter->flat;
    const struct gi_nonflat nonflat = {.runs = flat->runs,
                                       .nruns = flat->nruns,
                                       .heights = filter->heights,
                                       .greatest = flat->greatest,
                                       .alpha_too = flat->alpha_too,
                                       .opaque = hides,
                                       .border = flat->border};
    if (filter->heights)
        return queue->k->nonflat(queue, dst, src, &nonflat, err);
    return (hides ? of_opaque : queue->k->min_max)(queue, dst, src, flat, err);
}

static bool hides(const struct gi_plan *plan, const struct gi_work *work)
{
    const struct gi_flat_params *p = plan->params;
    const struct gi_flat *flat = plan->tables;
    return gi_opacity_hides(plan, work, &flat->erode.flat.border, p->alpha);
}

enum gi_status gi_flat_one(const struct gi_plan *plan, struct gi_queue *queue,
                           const struct gi_work *work, const struct gi_flat_filter *filter,
                           struct gi_err *err)
{
    return pick(queue, work->dst, work->srcs, filter, hides(plan, work), err);
}

enum gi_status gi_flat_both(const struct gi_plan *plan, struct gi_queue *queue,
                            const struct gi_work *work, const struct gi_flat_filter *first,
                            const struct gi_flat_filter *second, struct gi_err *err)
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
                            const struct gi_work *work, const struct gi_flat_filter *a,
                            const struct gi_flat_filter *b, enum gi_arithmetic_op op, bool alpha,
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
