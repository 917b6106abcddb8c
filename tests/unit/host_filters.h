/* Two filters for tests, for the CPU's memory only, whose results have another shape or type than
 * the source.
 * SPDX-License-Identifier: MIT */
#ifndef GI_TESTS_HOST_FILTERS_H
#define GI_TESTS_HOST_FILTERS_H

#include "filter_cases.h"

struct thin_params {
    int unused;
};

/* Keeps every second row and column, beginning with the first. */
static enum gi_status thin_plan(struct gi_plan *plan, struct gi_err *err)
{
    (void)err;
    plan->result.width = (plan->sources[0].width + 1) / 2;
    plan->result.height = (plan->sources[0].height + 1) / 2;
    plan->dependency = GI_DEPENDENCY_MAPPED;
    plan->cost.other = 1;
    return GI_OK;
}

static struct gi_span thin_needs(const struct gi_plan *plan, int y0, int y1)
{
    int bottom = 2 * y1 - 1 < plan->sources[0].height ? 2 * y1 - 1 : plan->sources[0].height;
    return (struct gi_span){2 * y0, bottom};
}

static enum gi_status thin_run(const struct gi_plan *plan, struct gi_queue *queue,
                               const struct gi_work *work, struct gi_err *err)
{
    (void)plan;
    (void)queue;
    (void)err;
    size_t pixel = (size_t)work->dst->channels * gi_type_nbytes(work->dst->type);
    for (int y = 0; y < work->dst->height; y++)
        for (size_t x = 0; x < (size_t)work->dst->width; x++)
            memcpy((char *)gi_row(work->dst, y) + x * pixel,
                   (char *)gi_row(work->srcs, 2 * (work->dst_y + y) - work->src_y) + 2 * x * pixel,
                   pixel);
    return GI_OK;
}

/* Converts any type to float and takes the value of the next row if there is one, so that the
 * filter needs a halo of one row. */
static enum gi_status next_plan(struct gi_plan *plan, struct gi_err *err)
{
    (void)err;
    plan->result.type = GI_F32;
    plan->halo = 1;
    plan->cost.other = 1;
    return GI_OK;
}

static enum gi_status next_run(const struct gi_plan *plan, struct gi_queue *queue,
                               const struct gi_work *work, struct gi_err *err)
{
    (void)queue;
    (void)err;
    const struct gi_image *src = work->srcs;
    for (int y = 0; y < src->height; y++) {
        int last = plan->sources[0].height - 1 - work->src_y;
        int from = y < last && y + 1 < src->height ? y + 1 : y;
        for (int x = 0; x < src->width; x++)
            for (int c = 0; c < src->channels; c++)
                ((float *)gi_row(work->dst, y))[x * src->channels + c] =
                    (float)fc_get(src, from, x, c) + (float)(work->src_y + y);
    }
    return GI_OK;
}

static const struct gi_option no_options[] = {{.name = NULL}};
static const struct gi_filter thin = {.name = "thin",
                                      .options = no_options,
                                      .params_nbytes = sizeof(struct thin_params),
                                      .plan = thin_plan,
                                      .needs = thin_needs,
                                      .run = thin_run};
static const struct gi_filter next = {.name = "next",
                                      .options = no_options,
                                      .params_nbytes = sizeof(struct thin_params),
                                      .plan = next_plan,
                                      .run = next_run};

#endif
