/* Local threshold: a level for each pixel, by what stands around it.
 * SPDX-License-Identifier: MIT */
#include <math.h>

#include "filters/filter.h"
#include "filters/tone/luma.h"

enum method { MEAN, NIBLACK, SAUVOLA, PHANSALKAR };

struct params {
    int method; /* enum method */
    int k;      /* pixels */
    double offset, factor, range;
    bool invert, per_channel;
    struct gi_border_params edge;
};

static const struct gi_choice methods[] = {
    {"mean", NULL, "m - offset"},
    {"niblack", NULL, "m - factor * s - offset"},
    {"sauvola", NULL, "m * (1 + factor * (s / range - 1)) - offset"},
    {"phansalkar", NULL, "m * (1 + 2 * e^(-10 m) + factor * (s / range - 1)) - offset"},
    {0},
};

static const struct gi_option options[] = {
    {.name = "method",
     .letter = 'm',
     .type = GI_OPT_CHOICE,
     .offset = offsetof(struct params, method),
     .default_text = "mean",
     .choices = methods,
     .help = "The level of a pixel, m being the mean and s the deviation of the samples around it"},
    {.name = "k",
     .letter = 'k',
     .type = GI_OPT_ODD,
     .offset = offsetof(struct params, k),
     .default_text = "31",
     .min = 1,
     .max = GI_TAPS_MAX,
     .unit = "px",
     .help = "Side of the square with the pixel in its middle"},
    {.name = "offset",
     .letter = 'c',
     .type = GI_OPT_REAL,
     .offset = offsetof(struct params, offset),
     .default_text = "0",
     .help = "What is taken off the level, a sample value"},
    {.name = "factor",
     .letter = 'f',
     .type = GI_OPT_REAL,
     .offset = offsetof(struct params, factor),
     .min = -100,
     .max = 100,
     .help = "How much the deviation counts; 0.2 unless given, for phansalkar 0.25"},
    {.name = "range",
     .letter = 'r',
     .type = GI_OPT_REAL,
     .offset = offsetof(struct params, range),
     .min = 1e-30,
     .max = 1e30,
     .help = "For sauvola and phansalkar: the deviation that leaves the level at the mean, a "
             "sample value; half of full scale unless given"},
    {.name = "invert",
     .letter = 'i',
     .type = GI_OPT_FLAG,
     .offset = offsetof(struct params, invert),
     .help = "The other way round: samples above the level become zero"},
    {.name = "per-channel",
     .type = GI_OPT_FLAG,
     .offset = offsetof(struct params, per_channel),
     .help = "Compare each channel of a colour image by itself, and keep alpha"},
    GI_BORDER_OPTIONS(struct params),
    {.name = NULL},
};

/* The finite samples of a float image, to take levels between. */
struct state {
    struct gi_reduction found[GI_MAX_CHANNELS];
};

static enum gi_status check(void *params, struct gi_err *err)
{
    const struct params *p = params;
    bool ranged = p->method == SAUVOLA || p->method == PHANSALKAR;
    if (!isnan(p->factor) && p->method == MEAN)
        return gi_fail(err, GI_E_USAGE, "--factor: want a --method that has one, not mean");
    if (!isnan(p->range) && !ranged)
        return gi_fail(err, GI_E_USAGE, "--range: want --method sauvola or phansalkar");
    return GI_OK;
}

static bool by_luma(const struct gi_plan *plan)
{
    return gi_luma_decides(&plan->sources[0], ((const struct params *)plan->params)->per_channel);
}

static enum gi_status plan(struct gi_plan *plan, struct gi_err *err)
{
    (void)err;
    const struct params *p = plan->params;
    const struct gi_image *src = &plan->sources[0];
    plan->halo = p->k / 2;
    plan->border = (enum gi_border)p->edge.border;
    plan->cost.other = p->method == MEAN ? 12 : 25;
    if (by_luma(plan)) {
        plan->result.channels = 1;
        plan->cost.nbytes = 2 * (double)gi_type_nbytes(src->type);
    }
    if (src->type == GI_F32) {
        plan->passes = 1;
        plan->state_nbytes = sizeof(struct state);
    }
    return GI_OK;
}

static enum gi_status measure(const struct gi_plan *plan, struct gi_queue *queue, void *state,
                              int pass, const struct gi_image *band, struct gi_err *err)
{
    (void)pass;
    struct gi_image judge;
    enum gi_status status = gi_judge_make(queue, &judge, band, by_luma(plan), err);
    if (status)
        return status;
    status = queue->k->reduce(queue, ((struct state *)state)->found, &judge, &(struct gi_reduce){0},
                              err);
    gi_judge_release(queue, &judge, by_luma(plan));
    return status;
}

/* Where levels begin and how far they are apart, in sample units. */
struct unit {
    double lo, step;
};

static struct unit unit_of(const struct gi_image *judge, const struct gi_edge *edge,
                           const struct state *state)
{
    double lo = INFINITY, hi = -INFINITY;
    if (judge->type != GI_F32)
        return (struct unit){0, 1};
    for (int c = 0; c < gi_colour_channels(judge); c++) {
        if (state->found[c].n) {
            lo = fmin(lo, (double)state->found[c].min);
            hi = fmax(hi, (double)state->found[c].max);
        }
        if (edge->border == GI_BORDER_VALUE && isfinite(edge->value[c])) {
            lo = fmin(lo, (double)edge->value[c]);
            hi = fmax(hi, (double)edge->value[c]);
        }
    }
    return (struct unit){lo < INFINITY ? lo : 0, lo < hi ? (hi - lo) / (GI_LOCAL_LEVELS - 1) : 1};
}

/* The rule as kernels/local.h has it, whose sums are those of levels. */
static void rule_of(struct gi_local *local, const struct params *p, struct unit unit,
                    enum gi_type type)
{
    double n = (double)p->k * p->k, full = (double)gi_type_full_scale(type);
    double factor = !isnan(p->factor) ? p->factor : p->method == PHANSALKAR ? 0.25 : 0.2;
    double range = !isnan(p->range) ? p->range : full / 2;
    double offset = n * p->offset / unit.step, base = -n * unit.lo / unit.step;
    local->mean = p->method == MEAN;
    local->lo = unit.lo;
    local->scale = 1 / unit.step;
    local->shift = offset;
    if (p->method == NIBLACK) {
        local->level = -factor;
    } else if (p->method != MEAN) { /* S - base is the sum of the samples themselves */
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

static enum gi_status run(const struct gi_plan *plan, struct gi_queue *queue,
                          const struct gi_work *work, struct gi_err *err)
{
    const struct params *p = plan->params;
    struct gi_image judge;
    enum gi_status status = gi_judge_make(queue, &judge, work->srcs, by_luma(plan), err);
    if (status)
        return status;
    struct gi_local local = {.k = p->k, .invert = p->invert};
    local.edge = gi_edge_from(&p->edge, &judge);
    rule_of(&local, p, unit_of(&judge, &local.edge, work->state), judge.type);
    status = queue->k->local_threshold(queue, work->dst, &judge, &local, err);
    gi_judge_release(queue, &judge, by_luma(plan));
    return status;
}

const struct gi_filter gi_filter_local_threshold = {
    .name = "local-threshold",
    .summary = "Make a mask: white what is above the level of its surroundings",
    .examples = "gpuimg local-threshold page.jpg mask.png --offset 10\n"
                "gpuimg local-threshold page.jpg mask.png --method sauvola --k 51\n"
                "gpuimg local-threshold cells.tif mask.png --method niblack --factor -0.5 --k 101",
    .manual =
        "A sample above the level becomes full scale, any other zero, and the level follows the "
        "mean m and the deviation s (of the population) of the k x k samples around it: uneven "
        "light does not matter. A colour image is judged by its luma (0.2126 R + 0.7152 G + 0.0722 "
        "B, ITU-R BT.709), and the mask has one channel; with --per-channel each channel is "
        "compared by itself, and alpha stays as it is. The time it takes does not depend on k.\n\n"
        "mean: m - offset.\n"
        "niblack: m - factor * s - offset (W. Niblack, An introduction to digital image "
        "processing, 1986; he writes the factor with the other sign).\n"
        "sauvola: m * (1 + factor * (s / range - 1)) - offset (J. Sauvola, M. Pietikainen, "
        "Adaptive document image binarization, Pattern Recognition 33(2), 2000).\n"
        "phansalkar: m * (1 + 2 e^(-10 m / full scale) + factor * (s / range - 1)) - offset, for "
        "faint and dark pictures (N. Phansalkar et al., Adaptive local thresholding for detection "
        "of nuclei in diversity stained cytology images, ICCSP 2011).\n\n"
        "Sums are exact, and no root is taken: squares are compared. Results are those of "
        "scikit-image's threshold_local (method mean), threshold_niblack and threshold_sauvola, "
        "whose borders are mirror for the first and reflect101 for the others. OpenCV's "
        "adaptiveThreshold rounds the mean first: its C is --offset C - 0.5 here, its border "
        "clamp, and its THRESH_BINARY_INV --invert. Samples of float images are taken in 1048575 "
        "equal steps between the smallest and the largest finite one; NaN counts as the smallest.",
    .options = options,
    .params_nbytes = sizeof(struct params),
    .check = check,
    .plan = plan,
    .run = run,
    .measure = measure,
};
