/* Peaks of an image: its local maxima (peaks_find.c).
 * SPDX-License-Identifier: MIT */
#include "filters/regions/peaks.h"

#include <math.h>

#include "filters/tone/luma.h"
#include "filters/tone/threshold_level.h"

enum { DISTANCE_MAX = 2000 };

static const struct gi_option options[] = {
    {GI_OPTION("min-distance", INT, struct gi_peaks_params, min_distance), .letter = 'd',
     .default_text = "1", .min = 1, .max = DISTANCE_MAX, .unit = "px",
     .help =
         "A peak is the maximum of all pixels that are at most this many columns and rows away"},
    {GI_OPTION("threshold", LEVEL, struct gi_peaks_params, at), .also = "at", .letter = 't',
     .help = "Only peaks above this level; by default above the minimum of the image"},
    {GI_OPTION("count", INT, struct gi_peaks_params, count), .default_text = "0", .min = 0,
     .max = 2147483647, .unit = "peaks",
     .help = "At most this many peaks, the highest; 0 means all"},
    {GI_OPTION("keep-border", FLAG, struct gi_peaks_params, keep_border),
     .help = "Find peaks also where fewer than --min-distance pixels are between them and a side "
             "of the image"},
    {.name = NULL},
};

static enum gi_status plan(struct gi_plan *plan, struct gi_err *err)
{
    const struct gi_image *src = &plan->sources[0];
    plan->dependency = GI_DEPENDENCY_GLOBAL;
    plan->array_nbytes =
        2 * (size_t)src->width * (size_t)src->height * (size_t)gi_type_nbytes(src->type);
    plan->scratch_nbytes = plan->array_nbytes + gi_luma_nbytes(src);
    plan->cost.other = 60.0 / src->channels;
    return GI_OK;
}

static enum gi_status analyse(const struct gi_plan *plan, struct gi_queue *queue, void *result,
                              const struct gi_image *srcs, struct gi_err *err)
{
    const struct gi_peaks_params *p = plan->params;
    const bool by_luma = gi_luma_decides(srcs, false);
    struct gi_peaks_rule rule = {.min_distance = p->min_distance,
                                 .count = p->count,
                                 .keep_border = p->keep_border,
                                 .level = gi_level_number(&p->at, srcs->type)};
    struct gi_image gray;
    float lo, hi;
    enum gi_status status = gi_judge_make(queue, &gray, srcs, by_luma, err);
    if (status)
        return status;
    if (p->at.kind == GI_LEVEL_UNSET)
        rule.level = NAN;
    if (p->at.kind == GI_LEVEL_AUTO)
        status = gi_level_find(queue, &rule.level, &p->at, &lo, &hi, &gray, err);
    if (!status)
        status = gi_peaks_find(queue, result, &gray, &rule, err);
    gi_judge_release(queue, &gray, by_luma);
    return status;
}

const struct gi_filter gi_filter_peaks = {
    .name = "peaks",
    .group = GI_GROUP_REGIONS,
    .summary = "Peaks: local maxima with a minimum distance",
    .manual =
        "Finds the pixels that are the maximum of the square of 2 D + 1 pixels per side around "
        "them, where D is --min-distance, and that are above --threshold. In a colour image the "
        "luma is compared. TABLE gets a row per peak with its column x, its row y (both from 0, in "
        "the upper left corner) and its value, the highest first; peaks of equal value are in "
        "raster order. Without TABLE the rows are printed.\n\n"
        "Where neighbours are equal, as on a plateau, a peak that is less than D columns and D "
        "rows away from one before is left out. Peaks that are less than D pixels away from a "
        "side of the image are left out, unless --keep-border is given, and an image whose pixels "
        "are all equal has none. NaN is no peak.\n\n"
        "Noise has many peaks: smooth the image before, as in run 'gaussian --sigma 2 | peaks'. "
        "The peaks are those of scikit-image's peak_local_max(), whose threshold_abs is "
        "--threshold, and num_peaks is --count.",
    .options = options,
    .params_nbytes = sizeof(struct gi_peaks_params),
    .plan = plan,
    .analysis.nbytes = sizeof(struct gi_peaks),
    .analysis.run = analyse,
    .analysis.free = gi_peaks_free,
    .analysis.digest = gi_peaks_digest,
};
