/* Runs operations on colours and alpha apart, for alpha that is data.
 * SPDX-License-Identifier: MIT */
#include "filters/alpha.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "filters/channels_apart.h"
#include "filters/filter.h"
#include "imgio/small.h"
#include "kernels/kernels.h"

const struct gi_choice gi_alpha_choices[] = {
    {"weigh", NULL,
     "opacity: colours are weighted by alpha; those of transparent pixels do not spread"},
    {"straight", NULL,
     "data: colours become what they become in an image without alpha, and alpha what it becomes "
     "as a gray image"},
    {"keep", NULL,
     "data: colours as with straight; alpha does not change, except that operations of geometry "
     "move it as with straight"},
    {"ignore", "straight", NULL},
    {NULL, NULL, NULL},
};

/* The plans of a plan for an image with alpha. */
struct gi_alpha_parts {
    struct gi_plan colors; /* without a filter if the plan itself filters all channels alike */
    struct gi_plan alpha;  /* without a filter if alpha is copied */
    _Alignas(max_align_t) char params[]; /* those of `alpha`; the rest belongs to the caller */
};

static int use_of(const struct gi_plan *plan)
{
    if (plan->sources[0].mask == GI_MASK_HIDDEN)
        return GI_ALPHA_IS_OPACITY;
    for (const struct gi_option *row = plan->filter->options; row && row->name; row++)
        if (row->type == GI_OPT_CHOICE && row->choices == gi_alpha_choices)
            return *(const int *)((const char *)plan->params + row->offset);
    return GI_ALPHA_IS_OPACITY;
}

/* Makes parameters for alpha as a gray image: colours become what alpha is in them. */
static void fill_params(char *params, const struct gi_plan *plan)
{
    const struct gi_image *src = &plan->sources[0];
    memcpy(params, plan->params, plan->filter->params_nbytes);
    for (const struct gi_option *row = plan->filter->options; row->name; row++) {
        float pixel[GI_MAX_CHANNELS] = {0};
        struct gi_color *color = (void *)(params + row->offset);
        if (row->type != GI_OPT_COLOR || color->n == 0)
            continue;
        gi_color_pixel(pixel, color, src);
        *color = (struct gi_color){.n = 1, .v = {(double)pixel[src->channels - 1]}};
    }
}

static enum gi_status make_part(struct gi_plan *part, const struct gi_plan *plan,
                                const void *params, int channels, struct gi_err *err)
{
    struct gi_image sources[GI_SOURCES_MAX];
    memcpy(sources, plan->sources, sizeof sources);
    sources[0].channels = channels;
    sources[0].mask = GI_MASK_NONE;
    return gi_plan_make_within(part, &plan->limits, plan->filter, params, sources, plan->nsources,
                               err);
}

enum gi_status gi_alpha_plan(struct gi_plan *plan, struct gi_err *err)
{
    const struct gi_image *src = &plan->sources[0];
    int use = use_of(plan);
    bool keeps = use == GI_ALPHA_IS_KEPT && plan->filter->group != GI_GROUP_GEOMETRY;
    bool apart = keeps || (use == GI_ALPHA_IS_DATA && plan->alpha_apart);
    if (use != GI_ALPHA_IS_OPACITY && src->mask)
        return gi_fail(err, GI_E_UNSUPPORTED,
                       "--alpha %s: alpha marks pixels without data: want weigh, or --nodata none",
                       gi_alpha_choices[use].name);
    if (!apart || !gi_has_alpha(src))
        return GI_OK;
    plan->parts = gi_small_calloc(1, sizeof *plan->parts + plan->filter->params_nbytes);
    enum gi_status status = GI_OK;
    if (plan->alpha_apart)
        status = make_part(&plan->parts->colors, plan, plan->params, gi_color_channels(src), err);
    if (!status && !keeps) {
        fill_params(plan->parts->params, plan);
        status = make_part(&plan->parts->alpha, plan, plan->parts->params, 1, err);
    }
    plan->scratch_nbytes += (size_t)(gi_image_nbytes(src) + gi_image_nbytes(&plan->result));
    plan->cost.nbytes += 4.0 * (double)gi_type_nbytes(src->type); /* taken apart and joined */
    return status;
}

void gi_alpha_free(struct gi_alpha_parts *parts)
{
    if (!parts)
        return;
    gi_plan_free(&parts->colors);
    gi_plan_free(&parts->alpha);
    free(parts);
}

/* Makes `dst`, the result of a plan for the source's channels from `first` on. */
static enum gi_status run_part(const struct gi_plan *part, struct gi_queue *queue,
                               struct gi_image *dst, const struct gi_work *work, int first,
                               struct gi_err *err)
{
    const struct gi_kernels *k = queue->k;
    struct gi_image srcs[GI_SOURCES_MAX];
    struct gi_work of_part = *work;
    int channels = part->sources[0].channels;
    bool all = channels == work->srcs[0].channels;
    for (int j = 0; j < part->nsources; j++)
        srcs[j] = work->srcs[j];
    enum gi_status status =
        all ? GI_OK : gi_channels_take(queue, &srcs[0], &work->srcs[0], first, channels, err);
    if (status)
        return status;
    status =
        k->alloc(queue, dst, work->dst->width, work->dst->height, channels, work->dst->type, err);
    if (!status) {
        of_part.dst = dst;
        of_part.srcs = srcs;
        status = part->filter->run(part, queue, &of_part, err);
        if (status)
            k->release(queue, dst);
    }
    if (!all)
        k->release(queue, &srcs[0]);
    return status;
}

enum gi_status gi_alpha_run(const struct gi_plan *plan, struct gi_queue *queue,
                            const struct gi_work *work, struct gi_err *err)
{
    const struct gi_kernels *k = queue->k;
    const struct gi_alpha_parts *parts = plan->parts;
    struct gi_image made[2]; /* the colours; alpha, or the source */
    bool filtered = parts->alpha.filter;
    int last = work->dst->channels - 1;
    const struct gi_plan *colors = parts->colors.filter ? &parts->colors : plan;
    enum gi_status status = run_part(colors, queue, &made[0], work, 0, err);
    if (status)
        return status;
    made[1] = work->srcs[0];
    if (filtered)
        status = run_part(&parts->alpha, queue, &made[1], work, last, err);
    bool both = filtered && !status;
    if (!status)
        status = gi_channels_join_alpha(queue, work->dst, made, filtered ? 0 : last, err);
    k->release(queue, &made[0]);
    if (both)
        k->release(queue, &made[1]);
    return status;
}
