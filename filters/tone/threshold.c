/* Thresholding to a binary mask, or to an image of classes. Samples above a level (or pixels whose
 * luma is above the level) become one value, all others become another value. The level may be
 * found by a method of automatic thresholding (filters/tone/auto_threshold.c).
 * SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdio.h>

#include "filters/filter.h"
#include "filters/tone/luma.h"
#include "filters/tone/threshold_level.h"
#include "kernels/arithmetic.h"
#include "kernels/kernels.h"
#include "kernels/tone.h"

struct threshold_params {
    struct gi_level at; /* unset: found by `method` */
    int method;         /* enum gi_threshold_method */
    int classes;
    bool invert, per_channel;
};

static const struct gi_option options[] = {
    {GI_OPTION("threshold", LEVEL, struct threshold_params, at), .also = "at", .letter = 't',
     .help = "Samples above this level become full scale, and all others become 0; in place of "
             "--method"},
    {GI_OPTION("method", CHOICE, struct threshold_params, method), .letter = 'm',
     .choices = gi_threshold_methods, .default_text = "otsu",
     .help = "Method that finds the level in the histogram"},
    {GI_OPTION("classes", INT, struct threshold_params, classes), .min = 2,
     .max = GI_THRESHOLD_CLASSES_MAX,
     .help = "Number of classes of --method multi-otsu, 3 if this option is not given: the "
             "darkest class becomes 0, the brightest full scale, and those between them gray "
             "levels at equal distances"},
    {GI_OPTION("invert", FLAG, struct threshold_params, invert), .letter = 'i',
     .help = "The reverse: samples above the level become 0, and all others become full scale"},
    {GI_OPTION("per-channel", FLAG, struct threshold_params, per_channel),
     .help = "Compare each channel of a colour image separately, and keep alpha"},
    {.name = NULL},
};

enum { CLASSES = 3 };

static enum gi_status check(void *params, struct gi_err *err)
{
    const struct threshold_params *p = params;
    if (p->at.kind != GI_LEVEL_UNSET && p->method != GI_THRESHOLD_OTSU)
        return gi_fail(err, GI_E_USAGE, "--threshold and --method %s: want one of them",
                       gi_threshold_methods[p->method].name);
    if (p->classes && p->method != GI_THRESHOLD_MULTI_OTSU)
        return gi_fail(err, GI_E_USAGE, "--classes %d: want --method multi-otsu with it",
                       p->classes);
    return GI_OK;
}

static struct gi_level level_of(const struct threshold_params *p)
{
    return p->at.kind == GI_LEVEL_UNSET
               ? (struct gi_level){.kind = GI_LEVEL_AUTO, .method = p->method}
               : p->at;
}

static bool by_luma(const struct gi_plan *plan)
{
    return gi_luma_decides(&plan->sources[0],
                           ((const struct threshold_params *)plan->params)->per_channel);
}

static enum gi_status plan(struct gi_plan *plan, struct gi_err *err)
{
    const struct gi_level level = level_of(plan->params);
    plan->cost.other = 1;
    if (by_luma(plan)) {
        plan->result.channels = 1;
        plan->cost.nbytes = 2 * (double)gi_type_nbytes(plan->sources[0].type);
    }
    gi_level_plan(plan, &level);
    return GI_OK;
}

/* Returns the factor of full scale that gives class `i` its gray level, a whole one for
 * integers. */
static float gray_of(int i, int classes, enum gi_type type)
{
    double full = (double)gi_type_full_scale(type), gray = full * i / (classes - 1);
    return (float)((type == GI_F32 ? gray : rint(gray)) / full);
}

/* Makes `dst` the maximum of the masks of all levels, each with the gray level of its class. */
static enum gi_status classify(const struct gi_plan *plan, struct gi_queue *queue,
                               struct gi_image *dst, const struct gi_image *judge,
                               const struct gi_level_state *state, struct gi_err *err)
{
    const struct threshold_params *p = plan->params;
    const struct gi_kernels *k = queue->k;
    int classes = p->classes ? p->classes : CLASSES;
    double levels[GI_THRESHOLD_CLASSES_MAX];
    struct gi_image mask;
    struct gi_arithmetic either = {.op = GI_ARITHMETIC_MAXIMUM, .plain = true, .other = &mask};
    gi_level_multi_otsu(levels, classes, state);
    enum gi_status status =
        k->alloc(queue, &mask, judge->width, judge->height, judge->channels, judge->type, err);
    if (status)
        return status;
    for (int i = 1; i < classes && !status; i++) {
        struct gi_threshold above = {gi_level_value(levels[i - 1], judge->type), p->invert};
        struct gi_pointwise gray = {.op = GI_POINTWISE_AFFINE};
        struct gi_image *to = i == 1 ? dst : &mask;
        for (int c = 0; c < GI_MAX_CHANNELS; c++)
            gray.scale[c] = gray_of(p->invert ? classes - i : i, classes, judge->type);
        status = k->threshold(queue, to, judge, &above, err);
        if (!status)
            status = k->pointwise(queue, to, to, &gray, err);
        if (!status && i > 1)
            status = k->arithmetic(queue, dst, dst, &either, err);
    }
    k->release(queue, &mask);
    return status;
}

static enum gi_status run(const struct gi_plan *plan, struct gi_queue *queue,
                          const struct gi_work *work, struct gi_err *err)
{
    const struct threshold_params *p = plan->params;
    const struct gi_image *src = work->srcs;
    const struct gi_level level = level_of(p);
    struct gi_threshold spec = {.invert = p->invert};
    struct gi_image judge;
    double value;
    enum gi_status status = gi_judge_make(queue, &judge, src, by_luma(plan), err);
    if (status)
        return status;
    if (level.method == GI_THRESHOLD_MULTI_OTSU) {
        status = classify(plan, queue, work->dst, &judge, work->state, err);
    } else {
        status = gi_level_resolve(&value, &level, src->type, work->state, err);
        spec.above = status ? 0 : gi_level_value(value, src->type);
        if (!status)
            status = queue->k->threshold(queue, work->dst, &judge, &spec, err);
    }
    gi_judge_release(queue, &judge, by_luma(plan));
    return status;
}

/* Prints the level or levels that were found in the histogram, as gpuimg extract does: as the
 * largest sample that is not above. */
static void tell(const struct gi_plan *plan, const void *state, char *text, size_t nbytes)
{
    const struct threshold_params *p = plan->params;
    const struct gi_level level = level_of(p);
    enum gi_type type = plan->sources[0].type;
    int n = level.method == GI_THRESHOLD_MULTI_OTSU ? (p->classes ? p->classes : CLASSES) - 1 : 1;
    double levels[GI_THRESHOLD_CLASSES_MAX];
    if (!state || level.kind != GI_LEVEL_AUTO)
        return;
    if (level.method == GI_THRESHOLD_MULTI_OTSU)
        gi_level_multi_otsu(levels, n + 1, state);
    else if (gi_level_resolve(levels, &level, type, state, NULL))
        return;
    size_t used = (size_t)snprintf(text, nbytes, "level%s by %s:", n > 1 ? "s" : "",
                                   gi_threshold_methods[level.method].name);
    for (int i = 0; i < n && used < nbytes; i++)
        used += (size_t)snprintf(text + used, nbytes - used, "%s %.9g", i ? "," : "",
                                 (double)gi_level_value(levels[i], type));
}

const struct gi_filter gi_filter_threshold = {
    .name = "threshold",
    .group = GI_GROUP_TONE,
    .planes = GI_PLANES_LUMA,
    .summary = "Threshold to a mask, at a level or by Otsu's and other methods",
    .examples = "gpuimg threshold in.png mask.png\n"
                "gpuimg threshold in.png mask.png --threshold 50%\n"
                "gpuimg threshold in.png mask.png --method triangle\n"
                "gpuimg threshold in.png classes.png --method multi-otsu --classes 4\n"
                "gpuimg threshold in.png mask.pgm --threshold 128 --invert",
    .manual =
        "Samples above the level become full scale (white), and all others become 0 "
        "(black). In a colour image the luma 0.2126 R + 0.7152 G + 0.0722 B (ITU-R BT.709) "
        "is compared, and the mask has one channel. With --per-channel each channel is "
        "compared with the level, and alpha does not change.\n\n"
        "--threshold is a sample value (127, or 0.5 in a float image), a percentage of full "
        "scale (50%), or a method by its name. If the maximum in a file's header (maxval) is "
        "not 255 or 65535, the samples are scaled to one of these two when the file is read, "
        "and the level applies to the scaled samples.\n\n"
        "Without it --method finds the level in the histogram of the gray image, or of the "
        "luma of a colour image, even with --per-channel. Otsu's method chooses the level t for "
        "which the two classes v <= t and v > t have the largest variance between them; if "
        "several levels are equally good, it takes the lowest. OpenCV and scikit-image find "
        "the same level in 8 bits. The other methods find the levels of scikit-image's "
        "threshold_li(), threshold_yen() and so on in 8 and 16 bits; those of "
        "threshold_yen() and threshold_multiotsu(), which compute in single precision, "
        "may differ. If all samples are equal, no sample is above the level of any method. "
        "The method \"minimum\" fails if the smoothed histogram does not have two peaks. "
        "--verbose prints the level that is found, and so does gpuimg extract --threshold "
        "METHOD.\n\n"
        "In float images the histogram has 256 bins between the smallest and the largest "
        "finite value, and each sample counts as the centre of its bin; the mean is that of "
        "the samples.\n\n"
        "--method multi-otsu divides the samples into --classes classes, so that the "
        "variance between them is the largest. If the image has fewer values than classes, "
        "each value is a class.",
    .options = options,
    .params_nbytes = sizeof(struct threshold_params),
    .check = check,
    .plan = plan,
    .run = run,
    .measure = gi_level_measure,
    .samples.tell = tell,
};
