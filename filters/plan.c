/* Makes plans, and finds the source rows that they need.
 * SPDX-License-Identifier: MIT */
#include "filters/plan.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "filters/alpha.h"
#include "filters/filter.h"
#include "filters/masked.h"

/* Returns whether the border mode, if the operation has one, uses the value of --border-value. */
static bool uses_border_value(const struct gi_plan *plan)
{
    for (const struct gi_option *row = plan->filter->options; row && row->name; row++)
        if (row->type == GI_OPT_CHOICE && row->choices == gi_border_choices)
            return *(const int *)((const char *)plan->params + row->offset) == GI_BORDER_VALUE;
    return true;
}

/* Checks the colours among the parameters that have an effect against the channels of the first
 * source. */
static enum gi_status check_colors(struct gi_plan *plan, struct gi_err *err)
{
    enum gi_status status = GI_OK;
    bool border = uses_border_value(plan);
    for (const struct gi_option *row = plan->filter->options; row && row->name && !status; row++)
        if (row->type == GI_OPT_COLOR && (border || strcmp(row->name, "border-value") != 0))
            status = gi_color_check(&plan->warning,
                                    (const void *)((const char *)plan->params + row->offset),
                                    row->name, &plan->sources[0], err);
    return status;
}

/* Checks that the result, and the arrays of an analysis, are within the limits. */
static enum gi_status check_limits(const struct gi_plan *plan, struct gi_err *err)
{
    uint64_t max_bytes = plan->limits.max_bytes;
    if (max_bytes && plan->array_nbytes > max_bytes)
        return gi_fail(err, GI_E_LIMIT,
                       "makes %zu bytes of numbers, over the limit of %llu; --max-bytes raises it",
                       plan->array_nbytes, (unsigned long long)max_bytes);
    return gi_limits_check(&plan->limits, &plan->result, err);
}

static const struct gi_placement in_place = {true, true, {1, 0, 0, 0, 1, 0}};

struct gi_placement gi_placement_join(const struct gi_placement *first,
                                      const struct gi_placement *second)
{
    const double *a = first->m, *b = second->m;
    return (struct gi_placement){first->known && second->known,
                                 first->whole && second->whole,
                                 {a[0] * b[0] + a[1] * b[3], a[0] * b[1] + a[1] * b[4],
                                  a[0] * b[2] + a[1] * b[5] + a[2], a[3] * b[0] + a[4] * b[3],
                                  a[3] * b[1] + a[4] * b[4], a[3] * b[2] + a[4] * b[5] + a[5]}};
}

void gi_plan_place(struct gi_plan *plan, double left, double top)
{
    plan->placement = (struct gi_placement){.known = true, .m = {1, 0, left, 0, 1, top}};
}

/* Returns whether `n` pixels of the result are all `source` pixels of the source, to within half a
 * pixel of the result, if they begin at `offset` in the source and are `scale` times as long, or
 * mirrored if `scale` is less than 0. */
static bool is_all(double scale, double offset, int n, int source)
{
    double from = scale < 0 ? offset + scale * n : offset, half = fabs(scale) / 2;
    return half > 0 && fabs(from) <= half && fabs(from + fabs(scale) * n - source) <= half;
}

/* An operation that changes the size without telling its placement has none. Those of geometry have
 * none unless they tell it. Finds out whether the result shows the whole source. */
static void check_placement(struct gi_plan *plan)
{
    bool other = plan->result.width != plan->sources[0].width ||
                 plan->result.height != plan->sources[0].height;
    if (other && plan->filter->group != GI_GROUP_GEOMETRY &&
        !memcmp(plan->placement.m, in_place.m, sizeof in_place.m))
        plan->placement.known = false;
    const struct gi_image *src = &plan->sources[0];
    const double *m = plan->placement.m;
    int width = src->shrunk.by ? src->shrunk.width : src->width;
    int height = src->shrunk.by ? src->shrunk.height : src->height;
    bool swaps = m[0] == 0;
    int across = swaps ? plan->result.height : plan->result.width;
    int down = swaps ? plan->result.width : plan->result.height;
    plan->placement.whole = plan->placement.known && m[swaps ? 4 : 1] == 0 &&
                            m[swaps ? 0 : 3] == 0 &&
                            is_all(m[swaps ? 1 : 0], m[2], across, width) &&
                            is_all(m[swaps ? 3 : 4], m[5], down, height);
}

enum gi_status gi_plan_make(struct gi_plan *plan, const struct gi_filter *filter,
                            const void *params, const struct gi_image *sources, int nsources,
                            struct gi_err *err)
{
    const struct gi_limits none = {0};
    return gi_plan_make_within(plan, &none, filter, params, sources, nsources, err);
}

enum gi_status gi_plan_make_within(struct gi_plan *plan, const struct gi_limits *limits,
                                   const struct gi_filter *filter, const void *params,
                                   const struct gi_image *sources, int nsources, struct gi_err *err)
{
    *plan = (struct gi_plan){
        .filter = filter, .params = params, .nsources = nsources, .limits = *limits};
    for (int i = 0; i < nsources; i++) {
        plan->sources[i] = sources[i];
        plan->sources[i].data = NULL;
        plan->sources[i].owner = GI_OWNER_NONE;
    }
    plan->result = plan->sources[0];
    plan->result.shrunk = (struct gi_shrunk){0};
    plan->placement = in_place;
    plan->placement.known = filter->group != GI_GROUP_GEOMETRY;
    enum gi_status status = check_colors(plan, err);
    if (!status && filter->plan)
        status = filter->plan(plan, err);
    if (!status)
        status = gi_alpha_plan(plan, err);
    gi_masked_plan(plan);
    check_placement(plan);
    /* GI_E_MEMORY may mean that gi_plan_tables() found the result over its limits. */
    if ((!status || status == GI_E_MEMORY) && check_limits(plan, NULL))
        status = check_limits(plan, err);
    if (status)
        gi_plan_free(plan);
    return status;
}

enum gi_status gi_plan_settle(struct gi_plan *settled, const struct gi_plan *plan,
                              const void *state, struct gi_err *err)
{
    enum gi_status status = gi_plan_make_within(settled, &plan->limits, plan->filter, plan->params,
                                                plan->sources, plan->nsources, err);
    if (status)
        return status;
    settled->late = false;
    settled->passes = 0;
    status = plan->filter->settle(settled, state, err);
    check_placement(settled);
    if (!status)
        status = check_limits(settled, err);
    if (status)
        gi_plan_free(settled);
    return status;
}

void gi_plan_free(struct gi_plan *plan)
{
    free(plan->tables);
    plan->tables = NULL;
    gi_alpha_free(plan->parts);
    plan->parts = NULL;
}

enum gi_status gi_plan_run(const struct gi_plan *plan, struct gi_queue *queue,
                           const struct gi_work *work, struct gi_err *err)
{
    enum gi_status (*run)(const struct gi_plan *, struct gi_queue *, const struct gi_work *,
                          struct gi_err *) = plan->parts ? gi_alpha_run : plan->filter->run;
    return plan->masked ? gi_masked_run(plan, queue, work, run, err) : run(plan, queue, work, err);
}

void *gi_plan_tables(struct gi_plan *plan, size_t nbytes, struct gi_err *err)
{
    if (check_limits(plan, NULL))
        return NULL;
    free(plan->tables);
    plan->tables = calloc(1, nbytes);
    plan->tables_nbytes = nbytes;
    if (!plan->tables)
        gi_fail(err, GI_E_MEMORY, "out of memory: tables of %s", plan->filter->name);
    return plan->tables;
}

struct gi_span gi_plan_needs(const struct gi_plan *plan, int y0, int y1)
{
    int height = plan->sources[0].height;
    struct gi_span all = {0, height};
    if (plan->dependency == GI_DEPENDENCY_GLOBAL)
        return all;
    if (plan->late)
        return (struct gi_span){y0, y1};
    if (plan->dependency == GI_DEPENDENCY_MAPPED)
        return plan->filter->sources.needs(plan, y0, y1);
    int halo = plan->halo;
    bool above = y0 < halo, below = height - y1 < halo;
    if (plan->border == GI_BORDER_WRAP &&
        (above || below)) /* the span may extend past the ends, unless it covers the whole image */
        return (long long)y1 - y0 + 2LL * halo < height ? (struct gi_span){y0 - halo, y1 + halo}
                                                        : all;
    return (struct gi_span){above ? 0 : y0 - halo, below ? height : y1 + halo};
}

struct gi_span gi_plan_beside(const struct gi_plan *plan, int j, int y0, int y1)
{
    if (plan->dependency == GI_DEPENDENCY_GLOBAL)
        return (struct gi_span){0, plan->sources[j].height};
    return plan->filter->sources.beside ? plan->filter->sources.beside(plan, j, y0, y1)
                                        : (struct gi_span){y0, y1};
}
