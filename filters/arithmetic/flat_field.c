/* Flat-field correction for camera frames, (a - dark) / (flat - dark) * mean(flat - dark), for each
 * channel. A measuring pass finds the exact means of the frames; the primitive `arithmetic`
 * computes the result.
 * SPDX-License-Identifier: MIT */
#include "filters/arithmetic/binary.h"
#include "filters/statistics/exact.h"
#include "kernels/kernels.h"

struct flat_field_params {
    const char *flat, *dark;
};

static const struct gi_option options[] = {
    {GI_OPTION("flat", IMAGE, struct flat_field_params, flat), .letter = 'f', .picture = true,
     .example = "flat.png", .metavar = "IMAGE",
     .help = "Flat frame: a picture of an evenly lit surface, of the input's size"},
    {GI_OPTION("dark", IMAGE, struct flat_field_params, dark), .letter = 'd', .picture = true,
     .metavar = "IMAGE",
     .help = "Dark frame: a picture taken without light, of the input's size; by default 0 is "
             "used"},
    {.name = NULL},
};

/* What the measuring pass over the frames finds. */
struct flat_field_found {
    int rows; /* rows measured so far */
    struct gi_reduction frames[2][GI_MAX_CHANNELS];
};

static enum gi_status check(void *params, struct gi_err *err)
{
    const struct flat_field_params *p = params;
    return p->flat ? GI_OK : gi_fail(err, GI_E_USAGE, "--flat: missing: want an image");
}

static enum gi_status plan(struct gi_plan *plan, struct gi_err *err)
{
    static const char *const names[] = {NULL, "flat", "dark"};
    enum gi_status status = GI_OK;
    for (int j = 1; j < plan->nsources && !status; j++)
        status = gi_binary_check_alike(plan, j, names[j], err);
    plan->passes = 1;
    plan->state_nbytes = sizeof(struct flat_field_found);
    plan->cost = (struct gi_cost){.fmas = 3, .other = 6};
    return status;
}

static enum gi_status measure(const struct gi_plan *plan, struct gi_queue *queue, void *state,
                              const struct gi_look *look, struct gi_err *err)
{
    const struct gi_image *srcs = look->srcs;
    struct flat_field_found *found = state;
    struct gi_reduce spec = {.sums_only = true, .y = found->rows};
    enum gi_status status = GI_OK;
    for (int j = 1; j < plan->nsources && !status; j++) {
        spec.opaque = plan->sources[j].mask;
        status = queue->k->reduce(queue, found->frames[j - 1], &srcs[j], &spec, err);
    }
    found->rows += srcs->height;
    return status;
}

/* Returns the mean of a channel of a frame as a fraction of full scale. A gray frame is used for
 * all channels. */
static double mean_of(const struct gi_plan *plan, const struct flat_field_found *found, int j,
                      int channel)
{
    const struct gi_image *frame = &plan->sources[j];
    const struct gi_reduction *of =
        &found->frames[j - 1][gi_color_channels(frame) == 1 ? 0 : channel];
    int unit = frame->type == GI_F32 ? GI_EXACT_SUM : 0;
    return of->n ? gi_exact_quotient(&of->sum, unit, of->n) / gi_type_full_scale(frame->type) : 0;
}

static enum gi_status run(const struct gi_plan *plan, struct gi_queue *queue,
                          const struct gi_work *work, struct gi_err *err)
{
    const struct flat_field_found *found = work->state;
    const struct gi_image *src = &plan->sources[0];
    bool dark = plan->nsources > 2;
    struct gi_arithmetic spec = {
        .op = GI_ARITHMETIC_DIVIDE, .other = &work->srcs[1], .dark = dark ? &work->srcs[2] : NULL};
    for (int c = 0; c < gi_color_channels(src); c++) {
        double level = mean_of(plan, found, 1, c) - (dark ? mean_of(plan, found, 2, c) : 0);
        spec.factor[c] = (float)(level * gi_type_full_scale(src->type));
    }
    return queue->k->arithmetic(queue, work->dst, work->srcs, &spec, err);
}

const struct gi_filter gi_filter_flat_field = {
    .name = "flat-field",
    .group = GI_GROUP_IMAGES,
    .planes = GI_PLANES_RGB,
    .summary = "Flat-field correction with a flat and a dark frame",
    .examples = "gpuimg flat-field frame.tif out.tif --flat flat.tif --dark dark.tif\n"
                "gpuimg flat-field page.png out.png --flat paper.png\n"
                "gpuimg flat-field *.tif --flat flat.tif --dark dark.tif --out-dir even",
    .manual = "Corrects uneven illumination, vignetting and the offset of the sensor: out = (a - "
              "dark) / (flat - dark) * mean(flat - dark), where a is a sample of the input. The "
              "mean is taken over the whole frame for each channel separately, so that the "
              "balance of colours does not change. Where the flat frame is not brighter than the "
              "dark frame, the result is 0 or full scale, or in a float image infinity or "
              "NaN.\n\n"
              "The frames may have another depth than the input. A gray frame is used for all "
              "colours. Alpha does not change. To make a good frame, take the mean or the median "
              "of many frames with gpuimg stack.\n\n"
              "The mean is exact. Everything else is computed in float without clipping in "
              "between, and rounded once at the end, a tie to the even number.",
    .options = options,
    .params_nbytes = sizeof(struct flat_field_params),
    .samples.averages = true,
    .samples.masks_others = true,
    .check = check,
    .plan = plan,
    .measure = measure,
    .run = run,
};
