/* Adaptive (local) threshold: compares each sample with a level that follows from exact sums of its
 * neighbourhood, by the mean, a Gaussian mean, Niblack's, Sauvola's and other rules.
 * SPDX-License-Identifier: MIT */
#include <math.h>

#include "filters/convolution/weights.h"
#include "filters/filter.h"
#include "filters/tone/luma.h"
#include "filters/tone/threshold_level.h"
#include "kernels/kernels.h"
#include "kernels/morphology.h"
#include "kernels/tone.h"

enum method { MEAN, GAUSSIAN, NIBLACK, SAUVOLA, PHANSALKAR, WOLF, BERNSEN };

struct local_threshold_params {
    int method; /* enum method */
    int k;      /* pixels */
    double offset, factor, range, sigma;
    struct gi_level contrast;
    bool invert, per_channel;
    struct gi_border_params border;
};

static const struct gi_choice methods[] = {
    {"mean", NULL, "m - offset"},
    {"gaussian", NULL, "weighted mean - offset"},
    {"niblack", NULL, "m - factor * s - offset"},
    {"sauvola", NULL, "m * (1 + factor * (s / range - 1)) - offset"},
    {"phansalkar", NULL, "m * (1 + 2 e^(-10 m / full scale) + factor * (s / range - 1)) - offset"},
    {"wolf", NULL, "m + factor * (s / S - 1) * (m - M) - offset"},
    {"bernsen", NULL, "(minimum + maximum) / 2 - offset"},
    {0},
};

static const struct gi_option options[] = {
    {GI_OPTION("method", CHOICE, struct local_threshold_params, method), .letter = 'm',
     .default_text = "mean", .choices = methods, .help = "How the level is computed"},
    {GI_OPTION("k", ODD, struct local_threshold_params, k), .letter = 'k', .default_text = "31",
     .min = 1, .max = GI_TAPS_MAX, .unit = "px",
     .help = "Side of the square of samples around the pixel"},
    {GI_OPTION("offset", REAL, struct local_threshold_params, offset), .letter = 'c',
     .default_text = "0",
     .help = "Sample value that is subtracted from the level; a larger one makes more samples "
             "white"},
    {GI_OPTION("factor", REAL, struct local_threshold_params, factor), .letter = 'f', .min = -100,
     .max = 100,
     .help = "Factor of the standard deviation, for the methods \"niblack\", \"sauvola\", "
             "\"phansalkar\" and \"wolf\". The default is 0.2; for \"phansalkar\" it is 0.25, "
             "and for \"wolf\" it is 0.5"},
    {GI_OPTION("range", REAL, struct local_threshold_params, range), .letter = 'r', .min = 1e-30,
     .max = 1e30,
     .help = "For the methods \"sauvola\" and \"phansalkar\": the range in their formulas, in "
             "sample values; by default half of full scale"},
    {GI_OPTION("sigma", REAL, struct local_threshold_params, sigma), .letter = 's', .min = 0.1,
     .max = 1000, .unit = "px",
     .help = "For the method \"gaussian\": standard deviation of the weights; by default 0.3 ((k "
             "- 1) / 2 - 1) + 0.8"},
    {GI_OPTION("contrast", LEVEL, struct local_threshold_params, contrast), .amount = true,
     .help = "For the method \"bernsen\": areas count as smooth if the difference between "
             "maximum and minimum is smaller than this; by default (15 / 255) of full scale"},
    {GI_OPTION("invert", FLAG, struct local_threshold_params, invert), .letter = 'i',
     .help = "The reverse: samples above the level become 0, and all others become full scale"},
    {GI_OPTION("per-channel", FLAG, struct local_threshold_params, per_channel),
     .help = "Compare each channel of a colour image separately, and keep alpha"},
    GI_BORDER_OPTIONS(struct local_threshold_params),
    {.name = NULL},
};

/* What the measuring passes find. */
struct local_threshold_state {
    /* Minimum and maximum of the finite samples per channel. They are measured for float images,
     * whose samples are rounded to equal steps between minimum and maximum. With WOLF they are also
     * measured for integers. */
    struct gi_reduction found[GI_MAX_CHANNELS];
    double most; /* WOLF: the maximum of N * N * s * s, in levels */
};

static enum gi_status check(void *params, struct gi_err *err)
{
    const struct local_threshold_params *p = params;
    bool ranged = p->method == SAUVOLA || p->method == PHANSALKAR;
    bool factored = ranged || p->method == NIBLACK || p->method == WOLF;
    if (!isnan(p->factor) && !factored)
        return gi_fail(err, GI_E_USAGE, "--factor: want a --method that has one, not %s",
                       methods[p->method].name);
    if (!isnan(p->range) && !ranged)
        return gi_fail(err, GI_E_USAGE, "--range: want --method sauvola or phansalkar");
    if (!isnan(p->sigma) && p->method != GAUSSIAN)
        return gi_fail(err, GI_E_USAGE, "--sigma: want --method gaussian");
    if (p->contrast.kind == GI_LEVEL_UNSET)
        return GI_OK;
    if (p->method != BERNSEN)
        return gi_fail(err, GI_E_USAGE, "--contrast: want --method bernsen");
    return gi_level_check_positive(&p->contrast, "contrast", err);
}

static bool by_luma(const struct gi_plan *plan)
{
    return gi_luma_decides(&plan->sources[0],
                           ((const struct local_threshold_params *)plan->params)->per_channel);
}

/* Plans everything that depends on the method: cost, taps, measuring passes. */
static enum gi_status plan_method(struct gi_plan *plan, const struct local_threshold_params *p,
                                  struct gi_err *err)
{
    plan->cost.other = p->method == MEAN ? 12 : p->method == BERNSEN ? 8 : 25;
    if (p->method == BERNSEN)
        return GI_OK;
    if (p->method == GAUSSIAN) {
        const struct gi_gaussian g = {
            .k = p->k, .sigma = isnan(p->sigma) ? gi_gaussian_sigma(p->k) : p->sigma};
        struct gi_separable_tables *tables = gi_gaussian_plan(plan, &g, &g, &p->border, err);
        if (!tables)
            return GI_E_MEMORY;
        tables->spec.alpha = GI_ALPHA_PLAIN;
        plan->cost.other = 2;
        return GI_OK;
    }
    bool wolf = p->method == WOLF;
    plan->passes = wolf ? 2 : plan->sources[0].type == GI_F32;
    plan->state_nbytes = plan->passes ? sizeof(struct local_threshold_state) : 0;
    plan->wide = wolf; /* the second pass needs neighbourhoods */
    return GI_OK;
}

static enum gi_status plan(struct gi_plan *plan, struct gi_err *err)
{
    const struct local_threshold_params *p = plan->params;
    const struct gi_image *src = &plan->sources[0];
    plan->halo = p->k / 2;
    plan->border = (enum gi_border)p->border.mode;
    if (by_luma(plan)) {
        plan->result.channels = 1;
        plan->cost.nbytes = 2 * (double)gi_type_nbytes(src->type);
    }
    return plan_method(plan, p, err);
}

/* The conversion of levels to samples: the sample of level 0, and the distance between two
 * levels. */
struct unit {
    double lo, step;
};

static struct unit unit_of(const struct gi_image *judge, const struct gi_border_spec *border,
                           const struct local_threshold_state *state)
{
    double lo = INFINITY, hi = -INFINITY;
    if (judge->type != GI_F32)
        return (struct unit){0, 1};
    for (int c = 0; c < gi_color_channels(judge); c++) {
        if (state->found[c].n) {
            lo = fmin(lo, (double)state->found[c].min);
            hi = fmax(hi, (double)state->found[c].max);
        }
        if (border->mode == GI_BORDER_VALUE && isfinite(border->value[c])) {
            lo = fmin(lo, (double)border->value[c]);
            hi = fmax(hi, (double)border->value[c]);
        }
    }
    return (struct unit){lo < INFINITY ? lo : 0, lo < hi ? (hi - lo) / (GI_LOCAL_LEVELS - 1) : 1};
}

/* Fills the members that all rules use. */
static struct gi_local window_of(const struct local_threshold_params *p,
                                 const struct gi_image *judge,
                                 const struct local_threshold_state *state)
{
    struct gi_local local = {.k = p->k, .mean = p->method == MEAN, .invert = p->invert};
    local.border = gi_border_spec_from(&p->border, judge);
    struct unit unit = unit_of(judge, &local.border, state);
    local.lo = unit.lo;
    local.scale = 1 / unit.step;
    return local;
}

/* Returns the level of the smallest sample of the image. */
static double least_level(const struct gi_local *local, const struct gi_image *judge,
                          const struct local_threshold_state *state)
{
    double least = INFINITY;
    for (int c = 0; c < gi_color_channels(judge); c++)
        if (state->found[c].n)
            least = fmin(least, (double)state->found[c].min);
    if (judge->type == GI_F32)
        return gi_local_float(local, least < INFINITY ? (float)least : NAN);
    return least;
}

/* Fills in the rule that kernels/tone.h defines, for sums of levels. */
static void rule_of(struct gi_local *local, const struct local_threshold_params *p,
                    const struct gi_image *judge, const struct local_threshold_state *state)
{
    struct unit unit = {local->lo, 1 / local->scale};
    double n = (double)p->k * p->k, full = (double)gi_type_full_scale(judge->type);
    double usual = p->method == PHANSALKAR ? 0.25 : p->method == WOLF ? 0.5 : 0.2;
    double factor = isnan(p->factor) ? usual : p->factor;
    double range = !isnan(p->range) ? p->range : full / 2;
    double offset = n * p->offset / unit.step, base = -n * unit.lo / unit.step;
    local->shift = offset;
    if (p->method == NIBLACK) {
        local->level = -factor;
    } else if (p->method == WOLF) {
        base = n * least_level(local, judge, state);
        local->part = factor;
        local->shift = offset - factor * base;
        if (base != 0) /* if all samples equal the minimum, none may be above it after rounding */
            local->shift = nextafter(local->shift, -INFINITY);
        local->slope = state->most > 0 ? factor / sqrt(state->most) : 0;
        local->level = -local->slope * base;
    } else if (p->method != MEAN) { /* S - base is the sum of the samples */
        local->part = factor;
        local->shift = offset - factor * base;
        local->slope = factor * unit.step / (n * range);
        local->level = -local->slope * base;
    }
    if (p->method == PHANSALKAR) {
        local->swell = 2;
        local->decay = 10 * unit.step / (n * full);
        local->base = base;
    }
}

static enum gi_status measure(const struct gi_plan *plan, struct gi_queue *queue, void *arg,
                              const struct gi_look *look, struct gi_err *err)
{
    const struct gi_image *band = look->srcs;
    struct local_threshold_state *state = arg;
    struct gi_image judge;
    enum gi_status status = gi_judge_make(queue, &judge, band, by_luma(plan), err);
    if (status)
        return status;
    struct gi_local local = window_of(plan->params, &judge, state);
    double most = 0;
    local.above = look->above;
    local.below = look->below;
    status = look->pass
                 ? queue->k->local_spread(queue, &most, &judge, &local, err)
                 : queue->k->reduce(queue, state->found, &judge, &(struct gi_reduce){0}, err);
    state->most = fmax(state->most, most);
    gi_judge_release(queue, &judge, by_luma(plan));
    return status;
}

/* A sample is above the Gaussian mean only if the difference is more than the error of the mean. So
 * constant images have no sample above the mean. */
#define GAUSSIAN_ERROR 0x1p-20

static enum gi_status run_gaussian(const struct gi_plan *plan, struct gi_queue *queue,
                                   struct gi_image *dst, const struct gi_image *judge,
                                   struct gi_err *err)
{
    const struct local_threshold_params *p = plan->params;
    struct gi_separable spec = ((const struct gi_separable_tables *)plan->tables)->spec;
    float full = gi_type_full_scale(judge->type);
    spec.border = gi_border_spec_from(&p->border, judge);
    spec.epilogue =
        (struct gi_epilogue){.kind = GI_EPILOGUE_ABOVE,
                             .amount = p->invert ? 0 : full,
                             .bias = p->invert ? full : 0,
                             .threshold = (float)((double)full * GAUSSIAN_ERROR - p->offset)};
    return queue->k->convolve_separable(queue, dst, judge, &spec, err);
}

static enum gi_status run_bernsen(const struct local_threshold_params *p, struct gi_queue *queue,
                                  struct gi_image *dst, const struct gi_image *judge,
                                  struct gi_err *err)
{
    struct gi_image ends[2] = {{0}};
    struct gi_min_max window = {.width = p->k,
                                .height = p->k,
                                .anchor_x = p->k / 2,
                                .anchor_y = p->k / 2,
                                .border = gi_border_spec_from(&p->border, judge)};
    struct gi_bernsen spec = {.least = &ends[0],
                              .greatest = &ends[1],
                              .contrast = (double)gi_type_full_scale(judge->type) * 15 / 255,
                              .more = -2 * p->offset,
                              .invert = p->invert};
    if (p->contrast.kind != GI_LEVEL_UNSET)
        spec.contrast = gi_level_number(&p->contrast, judge->type);
    enum gi_status status = GI_OK;
    for (int i = 0; i < 2 && !status; i++) {
        status = queue->k->alloc(queue, &ends[i], judge->width, judge->height, judge->channels,
                                 judge->type, err);
        window.greatest = i;
        if (!status)
            status = queue->k->min_max(queue, &ends[i], judge, &window, err);
    }
    if (!status)
        status = queue->k->bernsen(queue, dst, judge, &spec, err);
    for (int i = 0; i < 2; i++)
        if (ends[i].data)
            queue->k->release(queue, &ends[i]);
    return status;
}

static enum gi_status run(const struct gi_plan *plan, struct gi_queue *queue,
                          const struct gi_work *work, struct gi_err *err)
{
    const struct local_threshold_params *p = plan->params;
    struct gi_image judge;
    enum gi_status status = gi_judge_make(queue, &judge, work->srcs, by_luma(plan), err);
    if (status)
        return status;
    if (p->method == GAUSSIAN) {
        status = run_gaussian(plan, queue, work->dst, &judge, err);
    } else if (p->method == BERNSEN) {
        status = run_bernsen(p, queue, work->dst, &judge, err);
    } else {
        struct gi_local local = window_of(p, &judge, work->state);
        rule_of(&local, p, &judge, work->state);
        status = queue->k->local_threshold(queue, work->dst, &judge, &local, err);
    }
    gi_judge_release(queue, &judge, by_luma(plan));
    return status;
}

const struct gi_filter gi_filter_local_threshold = {
    .name = "local-threshold",
    .group = GI_GROUP_TONE,
    .planes = GI_PLANES_LUMA,
    .summary = "Adaptive threshold: mean, Gaussian, Niblack, Sauvola and others",
    .examples = "gpuimg local-threshold page.jpg mask.png --offset 10\n"
                "gpuimg local-threshold page.jpg mask.png --method sauvola --k 51\n"
                "gpuimg local-threshold cells.tif mask.png --method niblack --factor -0.5 --k 101",
    .manual = "Every pixel has a level of its own, which is computed from the k x k samples "
              "around the pixel, so that uneven light does not matter (adaptive or local "
              "threshold). Samples above their level become full scale (white), and all others "
              "become 0 (black). In a colour image the luma 0.2126 R + 0.7152 G + 0.0722 B "
              "(ITU-R BT.709) is compared, and the mask has one channel. With --per-channel each "
              "channel is compared separately, and alpha does not change. The time does not "
              "depend on k, except with the method \"gaussian\".\n\n"
              "The methods compute the level from the mean m and the standard deviation s of the "
              "samples around the pixel, as follows:\n\n"
              "mean: m - offset.\n"
              "gaussian: m - offset, where m is a weighted mean, with the weights of gpuimg "
              "gaussian for the same --k and --sigma.\n"
              "niblack: m - factor * s - offset (W. Niblack, An introduction to digital image "
              "processing, 1986; he writes the factor with the other sign).\n"
              "sauvola: m * (1 + factor * (s / range - 1)) - offset (J. Sauvola, M. Pietikainen, "
              "Adaptive document image binarization, Pattern Recognition 33(2), 2000).\n"
              "phansalkar: m * (1 + 2 e^(-10 m / full scale) + factor * (s / range - 1)) - "
              "offset, for faint and dark images (N. Phansalkar et al., Adaptive local "
              "thresholding for detection of nuclei in diversity stained cytology images, ICCSP "
              "2011).\n"
              "wolf: m + factor * (s / S - 1) * (m - M) - offset, where M is the minimum of the "
              "image and S the largest s in the image, over all channels; s / S is 0 if S is 0 "
              "(C. Wolf, J.-M. Jolion, Extraction and recognition of artificial text in "
              "multimedia documents, Pattern Analysis and Applications 6, 2003).\n"
              "bernsen: (minimum + maximum) / 2 - offset, with the minimum and the maximum of "
              "the samples around the pixel. In smooth areas, where maximum - minimum is less "
              "than --contrast, the result depends only on (minimum + maximum) / 2: the pixel "
              "becomes white if this value is above half of full scale (J. Bernsen, Dynamic "
              "thresholding of grey-level images, ICPR 1986).\n\n"
              "With --border mirror, the method \"mean\" gives the results of scikit-image's "
              "threshold_local(). The method \"gaussian\" gives the same results if --sigma is "
              "(K - 1) / 6, where K is the block size of threshold_local(), and --k reaches four "
              "sigma. With --border reflect101, the methods \"niblack\" and \"sauvola\" give the "
              "results of threshold_niblack() and threshold_sauvola(). OpenCV's "
              "adaptiveThreshold() rounds the mean before it subtracts its constant C: the "
              "methods \"mean\" and \"gaussian\" give the results of adaptiveThreshold() with "
              "--border clamp and an --offset of C - 0.5. THRESH_BINARY_INV of "
              "adaptiveThreshold() is --invert here.\n\n"
              "Sums are exact. Squares are compared in place of standard deviations, so that no "
              "square root is rounded. With the method \"gaussian\" the mean is computed in "
              "float32, and a sample counts as above its level only if it exceeds the level by "
              "more than 2^-20 of full scale. Float samples are rounded to 1048575 equal steps "
              "between the smallest and the largest finite sample, and NaN counts as the "
              "smallest. With the methods \"gaussian\" and \"bernsen\", a sample does not count "
              "as above its level if there is a NaN in the k x k samples around it.",
    .options = options,
    .params_nbytes = sizeof(struct local_threshold_params),
    .check = check,
    .plan = plan,
    .run = run,
    .measure = measure,
};
