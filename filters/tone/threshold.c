/* Thresholding to a binary mask. Samples above a level (or pixels whose luma is above the level)
 * become one value, all others become another value. The level may be Otsu's threshold
 * (filters/tone/otsu.h).
 * SPDX-License-Identifier: MIT */
#include "filters/filter.h"
#include "filters/tone/luma.h"
#include "filters/tone/otsu.h"
#include "kernels/kernels.h"
#include "kernels/tone.h"

struct threshold_params {
    struct gi_level at;
    bool invert, per_channel;
};

static const struct gi_option options[] = {
    {GI_OPTION("threshold", LEVEL, struct threshold_params, at), .also = "at", .letter = 't',
     .default_text = "otsu",
     .help = "Samples above this level become full scale, and all others become 0"},
    {GI_OPTION("invert", FLAG, struct threshold_params, invert), .letter = 'i',
     .help = "The reverse: samples above the level become 0, and all others become full scale"},
    {GI_OPTION("per-channel", FLAG, struct threshold_params, per_channel),
     .help = "Compare each channel of a colour image separately, and keep alpha"},
    {.name = NULL},
};

static bool by_luma(const struct gi_plan *plan)
{
    return gi_luma_decides(&plan->sources[0],
                           ((const struct threshold_params *)plan->params)->per_channel);
}

static enum gi_status plan(struct gi_plan *plan, struct gi_err *err)
{
    const struct threshold_params *p = plan->params;
    plan->cost.other = 1;
    if (by_luma(plan)) {
        plan->result.channels = 1;
        plan->cost.nbytes = 2 * (double)gi_type_nbytes(plan->sources[0].type);
    }
    if (p->at.kind == GI_LEVEL_OTSU)
        gi_otsu_plan(plan);
    return GI_OK;
}

static enum gi_status run(const struct gi_plan *plan, struct gi_queue *queue,
                          const struct gi_work *work, struct gi_err *err)
{
    const struct threshold_params *p = plan->params;
    double otsu = work->state ? gi_level_otsu(work->state) : 0;
    struct gi_threshold spec = {gi_level_value(&p->at, plan->sources[0].type, otsu), p->invert};
    const struct gi_image *src = work->srcs;
    struct gi_image judge;
    enum gi_status status = gi_judge_make(queue, &judge, src, by_luma(plan), err);
    if (status)
        return status;
    status = queue->k->threshold(queue, work->dst, &judge, &spec, err);
    gi_judge_release(queue, &judge, by_luma(plan));
    return status;
}

const struct gi_filter gi_filter_threshold = {
    .name = "threshold",
    .group = GI_GROUP_TONE,
    .planes = GI_PLANES_LUMA,
    .summary = "Threshold to a mask, at a level or by Otsu's method",
    .examples = "gpuimg threshold in.png mask.png\n"
                "gpuimg threshold in.png mask.png --threshold 50%\n"
                "gpuimg threshold in.png mask.pgm --threshold 128 --invert",
    .manual = "Samples above the level become full scale (white), and all others become 0 "
              "(black). In a colour image the luma 0.2126 R + 0.7152 G + 0.0722 B (ITU-R BT.709) "
              "is compared, and the mask has one channel. With --per-channel each channel is "
              "compared with the level, and alpha does not change.\n\n"
              "The level is a sample value (127, or 0.5 in a float image), a percentage of full "
              "scale (50%), or \"otsu\". If the maximum in a file's header (maxval) is not 255 "
              "or 65535, the samples are scaled to one of these two when the file is read, and "
              "the level applies to the scaled samples.\n\n"
              "Otsu's method chooses the level t for which the two classes v <= t and v > t have "
              "the largest variance between them; if several levels are equally good, it takes "
              "the lowest. It uses the gray image or the luma of a colour image, even with "
              "--per-channel. If all samples are equal, no sample is above the level.\n\n"
              "Source: N. Otsu, A threshold selection method from gray-level histograms, IEEE "
              "Trans. SMC 9(1), 1979. In 8 and 16 bits t is one of the sample values. In float "
              "images t is the centre of one of 256 bins between the smallest and the largest "
              "finite value. OpenCV and scikit-image find the same level in 8 bits.",
    .options = options,
    .params_nbytes = sizeof(struct threshold_params),
    .plan = plan,
    .run = run,
    .measure = gi_otsu_measure,
};
