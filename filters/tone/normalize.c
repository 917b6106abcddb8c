/* Contrast stretching: maps two percentiles of the samples to black and white, linearly or by a
 * curve that lightens dark samples. With a mean and a standard deviation: the input of neural
 * networks.
 * SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdlib.h>

#include "filters/statistics/opaque.h"
#include "filters/statistics/order.h"
#include "filters/tone/curve.h"
#include "filters/tone/luma.h"
#include "imgio/small.h"
#include "kernels/color.h"
#include "kernels/kernels.h"
#include "kernels/tone.h"

enum stretch { STRETCH_LINEAR, STRETCH_ASINH, STRETCH_LOG };

struct normalize_params {
    struct gi_reals percentiles, mean, std;
    int stretch; /* enum stretch */
    bool per_channel;
};

/* In the order of enum stretch. */
static const struct gi_choice stretches[] = {
    {"linear", NULL, "t: in proportion"},
    {"asinh", NULL, "asinh(10 t) / asinh(10): lightens dark samples"},
    {"log", NULL, "log(1 + 1000 t) / log(1001): lightens dark samples more"},
    {0},
};

static const struct gi_option options[] = {
    {GI_OPTION("percentiles", REALS, struct normalize_params, percentiles), .letter = 'p',
     .default_text = "0,100", .min = 0, .max = 100, .least = 2, .most = 2, .metavar = "LO,HI",
     .help = "The percentiles that become black and white"},
    {GI_OPTION("stretch", CHOICE, struct normalize_params, stretch), .letter = 's',
     .default_text = "linear", .choices = stretches,
     .help = "Curve between black and white, where t is 0 at LO and 1 at HI"},
    {GI_OPTION("per-channel", FLAG, struct normalize_params, per_channel),
     .help = "Stretch each channel of a colour image separately"},
    {GI_OPTION("mean", REALS, struct normalize_params, mean), .min = -1e6, .max = 1e6, .most = 3,
     .metavar = "M[,M,M]",
     .help = "In place of a stretch: subtract this from samples of 0 to 1, "
             "one number or one per colour, and give floats"},
    {GI_OPTION("std", REALS, struct normalize_params, std), .min = 1e-6, .max = 1e6, .most = 3,
     .metavar = "S[,S,S]", .help = "With or without --mean: divide the difference by this"},
    {.name = NULL},
};

/* Order statistics of a channel of floats, which are two neighbouring ranks per percentile. */
enum { RANKS = 4 };

struct normalize_state {
    int pass;                                       /* GI_F32: the last pass that was begun */
    struct gi_float_totals totals[GI_MAX_CHANNELS]; /* GI_F32: from pass 1 on */
    struct gi_rank ranks[GI_MAX_CHANNELS * RANKS];
    uint64_t counts[]; /* counts per channel, by value or (GI_F32) by upper half of the key; then
                          counts per rank */
};

/* The samples of a channel that become black and white. If both are equal, samples are
 * unchanged. */
struct normalize_ends {
    double lo, hi, full;
};

/* Returns whether samples are standardized by given numbers. */
static bool is_given(const struct normalize_params *p)
{
    return p->mean.n || p->std.n;
}

static enum gi_status check(void *arg, struct gi_err *err)
{
    const struct normalize_params *p = arg;
    const double *v = p->percentiles.v;
    if (is_given(p) && p->stretch != STRETCH_LINEAR)
        return gi_fail(err, GI_E_USAGE, "--mean and --std: want no --stretch");
    if (is_given(p) && (p->per_channel || v[0] != 0 || v[1] != 100))
        return gi_fail(err, GI_E_USAGE,
                       "--mean and --std: want no --percentiles and no --per-channel");
    if (v[0] < v[1])
        return GI_OK;
    return gi_fail(err, GI_E_USAGE, "--percentiles %.15g,%.15g: want LO below HI, such as 1,99",
                   v[0], v[1]);
}

static bool by_luma(const struct gi_plan *plan)
{
    return gi_luma_decides(&plan->sources[0],
                           ((const struct normalize_params *)plan->params)->per_channel);
}

static int measured(const struct gi_plan *plan)
{
    return by_luma(plan) ? 1 : plan->sources[0].channels;
}

/* Checks that there is one number, or one per colour. */
static enum gi_status check_count(const struct gi_plan *plan, const struct gi_reals *numbers,
                                  const char *name, struct gi_err *err)
{
    int colors = gi_color_channels(&plan->sources[0]);
    if (numbers->n <= 1 || numbers->n == colors)
        return GI_OK;
    return gi_fail(err, GI_E_USAGE, "--%s: %d numbers: want 1, or %d for an image of %s", name,
                   numbers->n, colors, colors == 3 ? "3 colours" : "one channel");
}

static enum gi_status plan_given(struct gi_plan *plan, struct gi_err *err)
{
    const struct normalize_params *p = plan->params;
    enum gi_status status = check_count(plan, &p->mean, "mean", err);
    plan->result.type = GI_F32;
    plan->cost.fmas = 2;
    return status ? status : check_count(plan, &p->std, "std", err);
}

static enum gi_type result_type(const void *params, enum gi_type type)
{
    return is_given(params) ? GI_F32 : type;
}

/* Returns the number for channel c, or `otherwise` if there is none. */
static double number_for(const struct gi_reals *numbers, int c, double otherwise)
{
    return !numbers->n ? otherwise : numbers->v[numbers->n > 1 ? c : 0];
}

/* Computes (v - mean) / std as fmaf(1 / std, v, -mean / std), for floats of 0 to 1. */
static enum gi_status run_given(const struct normalize_params *p, struct gi_queue *queue,
                                const struct gi_work *work, struct gi_err *err)
{
    struct gi_pointwise spec = {.op = GI_POINTWISE_AFFINE};
    const struct gi_image *src = work->srcs;
    for (int c = 0; c < gi_color_channels(src); c++) {
        double std = number_for(&p->std, c, 1);
        spec.scale[c] = (float)(1 / std);
        spec.offset[c] = (float)(-number_for(&p->mean, c, 0) / std);
    }
    if (src->type == GI_F32)
        return queue->k->pointwise(queue, work->dst, src, &spec, err);
    enum gi_status status = queue->k->convert(queue, work->dst, src, NULL, err);
    return status ? status : queue->k->pointwise(queue, work->dst, work->dst, &spec, err);
}

/* Returns the curve at t, from 0 to 1. The defaults of AsinhStretch and LogStretch in astropy. */
static double stretched(enum stretch stretch, double t)
{
    return stretch == STRETCH_ASINH ? asinh(10 * t) / asinh(10)
           : stretch == STRETCH_LOG ? log1p(1000 * t) / log1p(1000)
                                    : t;
}

/* Entries of the table of a curve for floats, whose interpolation is exact to 2^-21: the error is
 * at most h^2 / 8 times the second derivative, which is below 144,762 (that of log at 0). */
enum { CURVE_ENTRIES = (1 << 18) + 1 };

static enum gi_status plan_curve(struct gi_plan *plan, enum stretch stretch, struct gi_err *err)
{
    float *table = gi_plan_tables(plan, CURVE_ENTRIES * sizeof *table, err);
    for (int i = 0; i < CURVE_ENTRIES && table; i++)
        table[i] = (float)stretched(stretch, i / (CURVE_ENTRIES - 1.0));
    return table ? GI_OK : GI_E_MEMORY;
}

static enum gi_status plan(struct gi_plan *plan, struct gi_err *err)
{
    if (is_given(plan->params))
        return plan_given(plan, err);
    const struct gi_image *src = &plan->sources[0];
    const struct normalize_params *p = plan->params;
    bool floats = src->type == GI_F32;
    size_t tables = (size_t)(measured(plan) * (floats ? 1 + RANKS : 1));
    plan->passes = floats ? 2 : 1;
    plan->state_nbytes =
        sizeof(struct normalize_state) + tables * (size_t)gi_counts_n(src->type) * 8;
    plan->cost.other = 1 + 8 * plan->passes;
    return floats && p->stretch ? plan_curve(plan, (enum stretch)p->stretch, err) : GI_OK;
}

/* Asks for the percentiles of the finite samples. */
static void ask(struct normalize_state *state, int channels, const struct gi_reals *percentiles)
{
    for (int c = 0; c < channels; c++) {
        struct gi_float_totals *totals = &state->totals[c];
        *totals = gi_float_totals(state->counts + (size_t)c * GI_KEY_HALF);
        uint64_t n = totals->n - totals->minus_infinite - totals->plus_infinite;
        for (int i = 0; i < 2; i++)
            gi_ranks_of_percentile(&state->ranks[c * RANKS + 2 * i], c, percentiles->v[i], n,
                                   totals->minus_infinite);
    }
    gi_ranks_find(state->ranks, channels * RANKS, state->counts);
}

static enum gi_status count(const struct gi_plan *plan, struct gi_queue *queue, void *arg, int pass,
                            const struct gi_image *band, struct gi_err *err)
{
    const struct normalize_params *p = plan->params;
    struct normalize_state *state = arg;
    int channels = band->channels;
    if (pass == 0)
        return gi_counts_add(queue, state->counts, band, err);
    if (state->pass == 0)
        ask(state, channels, &p->percentiles);
    state->pass = 1;
    return gi_ranks_count(queue, state->counts + (size_t)channels * GI_KEY_HALF, state->ranks,
                          channels * RANKS, band, err);
}

static enum gi_status measure(const struct gi_plan *plan, struct gi_queue *queue, void *arg,
                              const struct gi_look *look, struct gi_err *err)
{
    struct normalize_state *state = arg;
    const struct gi_image *src = &plan->sources[0];
    const struct gi_opaque_counting how = {.opaque = src->mask,
                                           .by_luma = by_luma(plan),
                                           .count = count,
                                           .counts = src->type == GI_F32 ? NULL : state->counts};
    return gi_count_opaque(plan, queue, state, look, &how, err);
}

static void find_ends(struct normalize_ends *ends, const struct gi_plan *plan,
                      const struct normalize_state *state)
{
    const double *percent = ((const struct normalize_params *)plan->params)->percentiles.v;
    const struct gi_image *src = &plan->sources[0];
    int channels = measured(plan), nvalues = gi_counts_n(src->type);
    struct gi_rank ranks[GI_MAX_CHANNELS * RANKS];
    if (src->type == GI_F32) {
        for (int i = 0; i < channels * RANKS; i++)
            ranks[i] = state->ranks[i];
        gi_ranks_answer(ranks, channels * RANKS, state->counts + (size_t)channels * GI_KEY_HALF);
    }
    for (int c = 0; c < channels; c++) {
        const uint64_t *counts = state->counts + (size_t)c * (size_t)nvalues;
        const struct gi_float_totals *totals = &state->totals[c];
        double value[2];
        for (int i = 0; i < 2; i++)
            value[i] =
                src->type == GI_F32
                    ? gi_ranks_percentile(&ranks[c * RANKS + 2 * i], percent[i],
                                          totals->n - totals->minus_infinite -
                                              totals->plus_infinite)
                    : gi_counts_percentile(counts, gi_curve_total(counts, src->type), percent[i]);
        ends[c] =
            (struct normalize_ends){value[0], value[1], (double)gi_type_full_scale(src->type)};
    }
}

static enum gi_status run_curves(struct gi_queue *queue, const struct gi_work *work,
                                 const struct normalize_ends *ends, bool each, enum stretch stretch,
                                 struct gi_err *err)
{
    int n = gi_curve_values(work->srcs[0].type);
    int curves = each ? gi_color_channels(&work->srcs[0]) : 1;
    double *to = gi_small_alloc((size_t)curves * (size_t)n * sizeof *to);
    for (int c = 0; c < curves; c++)
        for (int v = 0; v < n; v++) {
            const struct normalize_ends *e = &ends[c];
            double t = (v - e->lo) / (e->hi - e->lo);
            if (stretch != STRETCH_LINEAR)
                t = stretched(stretch, fmin(fmax(t, 0), 1));
            to[c * n + v] = e->lo < e->hi ? t * e->full : v;
        }
    enum gi_status status =
        gi_curve_run(queue, work, &(struct gi_curve){.to = to, .each = each}, err);
    free(to);
    return status;
}

/* Applies the curve of the plan to floats. The black point is subtracted first, which is exact
 * near it, where curves are steep. */
static enum gi_status run_floats(const struct gi_plan *plan, struct gi_queue *queue,
                                 const struct gi_work *work, const struct normalize_ends *ends,
                                 bool each, struct gi_err *err)
{
    const struct gi_image *src = work->srcs;
    struct gi_image moved, table,
        host = {.data = plan->tables,
                .stride = CURVE_ENTRIES * sizeof(float),
                .width = CURVE_ENTRIES,
                .height = 1,
                .channels = 1,
                .type = GI_F32};
    struct gi_pointwise subtract = {.op = GI_POINTWISE_AFFINE};
    struct gi_color_lut curve = {
        .table = &table, .kind = GI_COLOR_LUT_CURVES, .n = CURVE_ENTRIES, .full = 1};
    for (int c = 0; c < gi_color_channels(src); c++) {
        struct normalize_ends e = ends[each ? c : 0];
        if (!(e.lo < e.hi))
            e = (struct normalize_ends){0, 1, 1};
        float base = (float)e.lo;
        double scale = (CURVE_ENTRIES - 1) / (e.hi - e.lo);
        subtract.scale[c] = 1;
        subtract.offset[c] = -base;
        curve.scale[c] = (float)scale;
        curve.offset[c] = (float)(((double)base - e.lo) * scale);
    }
    enum gi_status status =
        queue->k->alloc(queue, &moved, src->width, src->height, src->channels, src->type, err);
    if (status)
        return status;
    status = queue->k->pointwise(queue, &moved, src, &subtract, err);
    if (!status)
        status = queue->k->upload(queue, &table, &host, NULL, err);
    if (!status) {
        status = queue->k->color_lut(queue, work->dst, &moved, &curve, err);
        queue->k->release(queue, &table);
    }
    queue->k->release(queue, &moved);
    return status;
}

static enum gi_status run(const struct gi_plan *plan, struct gi_queue *queue,
                          const struct gi_work *work, struct gi_err *err)
{
    struct normalize_ends ends[GI_MAX_CHANNELS];
    struct gi_stretch lines[GI_MAX_CHANNELS];
    bool each = !by_luma(plan), moves = false;
    enum stretch stretch = (enum stretch)((const struct normalize_params *)plan->params)->stretch;
    if (is_given(plan->params))
        return run_given(plan->params, queue, work, err);
    find_ends(ends, plan, work->state);
    if (plan->sources[0].type != GI_F32)
        return run_curves(queue, work, ends, each, stretch, err);
    for (int c = 0; c < gi_color_channels(&plan->sources[0]); c++) {
        const struct normalize_ends *e = &ends[each ? c : 0];
        lines[c] = (struct gi_stretch){e->lo, e->hi, {0, 1}};
        moves = moves || e->lo < e->hi;
    }
    if (stretch != STRETCH_LINEAR && moves)
        return run_floats(plan, queue, work, ends, each, err);
    return gi_stretch_run(queue, work, lines, err);
}

const struct gi_filter gi_filter_normalize = {
    .name = "normalize",
    .group = GI_GROUP_TONE,
    .planes = GI_PLANES_RGB,
    .summary = "Stretch the contrast between two percentiles, or standardize",
    .examples = "gpuimg normalize in.png out.png\n"
                "gpuimg normalize in.png out.png --percentiles 1,99\n"
                "gpuimg normalize stars.tif out.png --percentiles 1,99.9 --stretch asinh\n"
                "gpuimg normalize faded.jpg out.png --percentiles 0.5,99.5 --per-channel\n"
                "gpuimg normalize photo.jpg train.npy --mean 0.485,0.456,0.406 --std "
                "0.229,0.224,0.225",
    .manual =
        "The sample value lo at the lower percentile becomes black, and hi at the upper percentile "
        "becomes white. By default these are the minimum and the maximum of the image, so without "
        "--percentiles an image that has black and white samples already does not change; "
        "photographs need 0.5,99.5. A colour sample v becomes full scale * (v - lo) / (hi - lo), "
        "rounded. Samples below lo become black and samples above hi become white; in float images "
        "these samples get values below 0 and above 1. gpuimg help levels has an example for a "
        "brighter image with more contrast and saturation.\n\n"
        "--stretch asinh and log show faint parts of astronomical images: with t = (v - lo) / (hi "
        "- lo), limited to 0 to 1, a sample becomes full scale times the curve at t. These are the "
        "defaults of AsinhStretch and LogStretch in astropy. In float images the curve is "
        "interpolated in a table, with an error below 2^-21. There a channel with lo = hi beside "
        "others (--per-channel) is limited to 0 to 1 and gets the curve.\n\n"
        "Each image and each page of a TIFF has percentiles of its own. For one range for "
        "all of them, gpuimg stats --table - --total prints the minimum and maximum of all, and "
        "gpuimg levels with --black and --white stretches each image by them.\n\n"
        "In a colour image the percentiles are those of the luma, so that colours keep "
        "their hue if no sample is cut off. With --per-channel each channel has "
        "percentiles of its own. Alpha does not change. An image with lo = hi does not "
        "change either.\n\n"
        "With --mean or --std the result is (v / full scale - mean) / std in floats, the input "
        "that neural networks are trained with, as Normalize of torchvision computes it after "
        "ToTensor. Alpha becomes a float of 0 to 1. The numbers of a data set are the mean and "
        "stddev of gpuimg stats --total, divided by full scale: gpuimg stats --recursive train "
        "--table all.jsonl --total writes them as the last line.\n\n"
        "Transparent pixels count; NaN and infinite samples do not. The percentile p of n "
        "sorted samples is the sample at index (n - 1) * p / 100, counted from 0, with "
        "linear interpolation (numpy's default).",
    .options = options,
    .params_nbytes = sizeof(struct normalize_params),
    .check = check,
    .samples.result_type = result_type,
    .plan = plan,
    .run = run,
    .measure = measure,
};

/* ---- the base of pictures ---- */

static enum gi_status plan_base(struct gi_plan *made, struct gi_err *err)
{
    enum gi_status status = plan(made, err);
    if (made->sources[0].type == GI_U8)
        made->passes = 0;
    return status;
}

static enum gi_status run_base(const struct gi_plan *made, struct gi_queue *queue,
                               const struct gi_work *work, struct gi_err *err)
{
    static const struct normalize_ends unchanged = {0};
    return made->sources[0].type == GI_U8
               ? run_curves(queue, work, &unchanged, false, STRETCH_LINEAR, err)
               : run(made, queue, work, err);
}

const struct gi_filter gi_filter_normalize_base = {
    .name = "normalize",
    .options = options,
    .params_nbytes = sizeof(struct normalize_params),
    .check = check,
    .plan = plan_base,
    .run = run_base,
    .measure = measure,
};
