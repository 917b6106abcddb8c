/* Corners of an image: maxima of the responses of Harris or of Shi and Tomasi, which the backend
 * computes in floats, or the corners of FAST, which the host finds (corners_fast.c).
 *
 * With the Sobel derivatives gx and gy (1 2 1 across, -1 0 1 along; samples are 0 to 1) and G, a
 * Gaussian, the structure tensor is A = G gx gx, B = G gx gy, C = G gy gy. The response is
 *   Harris:         A C - B^2 - k (A + C)^2
 *   Shi and Tomasi: (A + C - sqrt((A - C)^2 + 4 B^2)) / 2, the smaller eigenvalue
 * as in scikit-image's corner_harris() and corner_shi_tomasi(), except that pixels outside the
 * image are the nearest ones and not 0, which makes corners at the sides of the image.
 * Sources: C. Harris and M. Stephens, A combined corner and edge detector, Alvey Vision Conference
 * 1988; J. Shi and C. Tomasi, Good features to track, CVPR 1994.
 * SPDX-License-Identifier: MIT */
#include "filters/regions/corners.h"

#include <math.h>
#include <stdio.h>

#include "filters/arithmetic/formula.h"
#include "filters/convolution/weights.h"
#include "filters/regions/host_image.h"
#include "filters/tone/luma.h"
#include "filters/tone/threshold_level.h"
#include "kernels/kernels.h"

enum { DISTANCE_MAX = 2000, TENSOR = 3 };

static const struct gi_choice methods[] = {
    {"harris", NULL, "corners by both eigenvalues of the structure tensor"},
    {"shi-tomasi", NULL, "by its smaller eigenvalue"},
    {"fast", NULL, "FAST-9-16: by the pixels on a circle; the fastest"},
    {"min-eigenvalue", "shi-tomasi", NULL},
    {0},
};

static const struct gi_option options[] = {
    {GI_OPTION("method", CHOICE, struct gi_corners_params, method), .letter = 'm',
     .default_text = "harris", .choices = methods, .help = "The corner detector"},
    {GI_OPTION("sigma", REAL, struct gi_corners_params, sigma), .letter = 's', .default_text = "1",
     .min = 0.1, .max = 250, .unit = "px",
     .help = "Standard deviation of the Gaussian over which gradients are collected; not for fast"},
    {GI_OPTION("k", REAL, struct gi_corners_params, k), .letter = 'k', .default_text = "0.05",
     .min = 0, .max = 0.25,
     .help = "Harris: factor of the squared trace. A larger one leaves out corners of one "
             "direction, that is edges"},
    {GI_OPTION("quality", REAL, struct gi_corners_params, quality), .default_text = "0.01",
     .min = 0, .max = 1,
     .help = "Only corners above this part of the highest score; with 0 those above the minimum "
             "of the image; not for fast"},
    {GI_OPTION("threshold", LEVEL, struct gi_corners_params, contrast), .letter = 't',
     .amount = true, .default_text = "4%", .min = 0, .max = 1e9,
     .help = "FAST: by how much the pixels of an arc are brighter or darker than the corner, in "
             "sample values or percent of full scale"},
    {GI_OPTION("min-distance", INT, struct gi_corners_params, min_distance), .letter = 'd',
     .default_text = "1", .min = 0, .max = DISTANCE_MAX, .unit = "px",
     .help = "A corner has the highest score of all pixels that are at most this many columns and "
             "rows away; 0 keeps every pixel above the threshold"},
    {GI_OPTION("count", INT, struct gi_corners_params, count), .default_text = "0", .min = 0,
     .max = 2147483647, .unit = "corners",
     .help = "At most this many corners, those with the highest scores; 0 means all"},
    {GI_OPTION("keep-border", FLAG, struct gi_corners_params, keep_border),
     .help = "Find corners also where fewer than --min-distance pixels are between them and a side "
             "of the image; fast always needs 3"},
    {.name = NULL},
};

static enum gi_status plan(struct gi_plan *plan, struct gi_err *err)
{
    const struct gi_corners_params *p = plan->params;
    const struct gi_image *src = &plan->sources[0];
    const size_t npixels = (size_t)src->width * (size_t)src->height;
    const struct gi_border_params border = {.mode = GI_BORDER_CLAMP};
    const struct gi_gaussian gaussian = {.k = 2 * (int)(4 * p->sigma + 0.5) + 1, .sigma = p->sigma};
    if (p->method != GI_CORNERS_FAST) {
        struct gi_separable_tables *tables =
            gi_gaussian_plan(plan, &gaussian, &gaussian, &border, err);
        if (!tables)
            return GI_E_MEMORY;
        tables->spec.alpha = GI_ALPHA_PLAIN;
        plan->cost.fmas = (TENSOR * plan->cost.fmas + 30) / src->channels;
        plan->scratch_nbytes = (2 * TENSOR + 1) * npixels * sizeof(float);
    }
    plan->halo = 0;
    plan->dependency = GI_DEPENDENCY_GLOBAL;
    plan->array_nbytes = 2 * npixels * sizeof(float);
    plan->scratch_nbytes += gi_luma_nbytes(src);
    plan->cost.other = 60.0 / src->channels;
    return GI_OK;
}

/* Makes `tensor`, which the caller releases: A, B and C as channels, before the Gaussian. */
static enum gi_status make_products(struct gi_queue *queue, struct gi_image *tensor,
                                    const struct gi_image *gray, struct gi_err *err)
{
    static const char text[] =
        "gx = (a(1, -1) - a(-1, -1)) + 2 * (a(1, 0) - a(-1, 0)) + (a(1, 1) - a(-1, 1)); "
        "gy = (a(-1, 1) - a(-1, -1)) + 2 * (a(0, 1) - a(0, -1)) + (a(1, 1) - a(1, -1)); "
        "gx * gx, gx * gy, gy * gy";
    struct gi_image floats;
    enum gi_status status =
        queue->k->alloc(queue, &floats, gray->width, gray->height, 1, GI_F32, err);
    if (status)
        return status;
    status = queue->k->convert(queue, &floats, gray, NULL, err);
    if (!status)
        status = gi_formula_make(queue, tensor, TENSOR, text, &floats, NULL, NULL, err);
    queue->k->release(queue, &floats);
    return status;
}

static enum gi_status find_responses(const struct gi_plan *plan, struct gi_queue *queue,
                                     struct gi_peaks *corners, const struct gi_image *gray,
                                     struct gi_err *err)
{
    const struct gi_corners_params *p = plan->params;
    const struct gi_separable_tables *gaussian = plan->tables;
    const struct gi_peaks_rule rule = {.min_distance = p->min_distance,
                                       .count = p->count,
                                       .keep_border = p->keep_border,
                                       .level = NAN,
                                       .share = p->quality};
    struct gi_image products, tensor, responses;
    char text[100] = "(a.r + a.b - sqrt((a.r - a.b) ^ 2 + 4 * a.g ^ 2)) / 2";
    if (p->method == GI_CORNERS_HARRIS)
        snprintf(text, sizeof text, "a.r * a.b - a.g ^ 2 - %.17g * (a.r + a.b) ^ 2", p->k);
    enum gi_status status = make_products(queue, &products, gray, err);
    if (status)
        return status;
    status = queue->k->alloc(queue, &tensor, gray->width, gray->height, TENSOR, GI_F32, err);
    if (!status) {
        status = queue->k->convolve_separable(queue, &tensor, &products, &gaussian->spec, err);
        if (!status)
            status = gi_formula_make(queue, &responses, 1, text, &tensor, NULL, NULL, err);
        queue->k->release(queue, &tensor);
    }
    queue->k->release(queue, &products);
    if (status)
        return status;
    status = gi_peaks_find(queue, corners, &responses, &rule, err);
    queue->k->release(queue, &responses);
    return status;
}

static enum gi_status find_fast(struct gi_queue *queue, struct gi_peaks *corners,
                                const struct gi_image *gray, const struct gi_corners_params *p,
                                struct gi_err *err)
{
    struct gi_image host = {0};
    enum gi_status status = gi_host_copy(queue, &host, gray, err);
    if (!status)
        status = gi_fast_corners(queue, corners, &host, gi_level_number(&p->contrast, host.type),
                                 p->min_distance > 0, err);
    gi_image_free(&host);
    return status
               ? status
               : gi_peaks_order(corners, p->min_distance, p->count, gray->width, gray->height, err);
}

static enum gi_status analyse(const struct gi_plan *plan, struct gi_queue *queue, void *result,
                              const struct gi_image *srcs, struct gi_err *err)
{
    const struct gi_corners_params *p = plan->params;
    const bool by_luma = gi_luma_decides(srcs, false);
    struct gi_image gray;
    enum gi_status status = gi_judge_make(queue, &gray, srcs, by_luma, err);
    if (status)
        return status;
    status = p->method == GI_CORNERS_FAST ? find_fast(queue, result, &gray, p, err)
                                          : find_responses(plan, queue, result, &gray, err);
    gi_judge_release(queue, &gray, by_luma);
    return status;
}

const struct gi_filter gi_filter_corners = {
    .name = "corners",
    .group = GI_GROUP_REGIONS,
    .summary = "Corners: feature points by Harris, Shi-Tomasi or FAST",
    .manual =
        "Finds corners, which are points that can be found again in another image of the same "
        "scene. TABLE gets a row per corner with its column x, its row y (both from 0, in the "
        "upper left corner) and its score, the highest first; corners of equal score are in raster "
        "order. Without TABLE the rows are printed. In a colour image the luma is used.\n\n"
        "--method harris and shi-tomasi compute a score for every pixel from Sobel derivatives gx "
        "and gy of samples from 0 to 1. With A, B and C, the means of gx gx, gx gy and gy gy "
        "weighted by a Gaussian of --sigma, the score is\n\n"
        "  harris      A C - B^2 - k (A + C)^2\n"
        "  shi-tomasi  (A + C - sqrt((A - C)^2 + 4 B^2)) / 2\n\n"
        "The scores are those of scikit-image's corner_harris() and corner_shi_tomasi() except "
        "near the sides of the image: pixels outside are the nearest ones here, and black there. "
        "They are computed in floats. The corners are the peaks of the scores, as gpuimg peaks "
        "finds them.\n\n"
        "--method fast finds a corner where 9 consecutive pixels on the circle of 16 pixels with "
        "radius 3 are all brighter, or all darker, than the centre by more than --threshold. The "
        "score is the largest threshold with which the pixel is a corner (for integers a whole "
        "number). A corner is kept if its score is above those of its 8 neighbours. In 8 bits "
        "these are the corners and scores of OpenCV's FastFeatureDetector (TYPE_9_16), and with "
        "--min-distance 0 those without its non-maximum suppression. With --min-distance above 1 "
        "a corner that is less than this many columns and rows away from one with a higher score "
        "is then left out.\n\n"
        "Sources: C. Harris and M. Stephens, A combined corner and edge detector, Alvey Vision "
        "Conference 1988; J. Shi and C. Tomasi, Good features to track, CVPR 1994; E. Rosten and "
        "T. Drummond, Machine learning for high-speed corner detection, ECCV 2006.",
    .options = options,
    .params_nbytes = sizeof(struct gi_corners_params),
    .plan = plan,
    .analysis.nbytes = sizeof(struct gi_peaks),
    .analysis.run = analyse,
    .analysis.free = gi_peaks_free,
    .analysis.digest = gi_peaks_digest,
};
