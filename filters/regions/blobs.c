/* Blobs: maxima of differences of Gaussians over place and scale (blobs_find.c), with the subpixel
 * centre and the flux of each (blobs_measure.c), for stars and cells.
 *
 * G(s) is the image, with samples from 0 to 1, filtered by a Gaussian of standard deviation s. The
 * response of scale i is (G(s_i) - G(s_(i+1))) / (ratio - 1) with s_i = min_sigma ratio^i, as in
 * scikit-image's blob_dog(). Source: D. Lowe, Distinctive image features from scale-invariant
 * keypoints, IJCV 60(2), 2004.
 * SPDX-License-Identifier: MIT */
#include "filters/regions/blobs.h"

#include <math.h>
#include <stdlib.h>

#include "filters/regions/host_image.h"
#include "filters/tone/luma.h"

enum { SIGMA_MAX = 250 };

static const struct gi_option options[] = {
    {GI_OPTION("min-sigma", REAL, struct gi_blobs_params, min_sigma), .default_text = "1",
     .min = 0.5, .max = SIGMA_MAX, .unit = "px",
     .help = "Standard deviation of the first Gaussian: find blobs from about 1.3 times this "
             "standard deviation on"},
    {GI_OPTION("max-sigma", REAL, struct gi_blobs_params, max_sigma), .default_text = "10",
     .min = 0.5, .max = SIGMA_MAX, .unit = "px",
     .help = "Maximum standard deviation of the smaller Gaussian of a difference"},
    {GI_OPTION("ratio", REAL, struct gi_blobs_params, ratio), .default_text = "1.6", .min = 1.05,
     .max = 2, .help = "Factor between the standard deviations of one Gaussian and the next"},
    {GI_OPTION("threshold", REAL, struct gi_blobs_params, threshold), .letter = 't',
     .default_text = "0.05", .min = 0, .max = 1e9,
     .help =
         "Only blobs whose response is above this level; samples are 0 to 1, so that faint stars "
         "in 16 bits need 0.001 or less. Text without blobs has the highest response"},
    {GI_OPTION("overlap", REAL, struct gi_blobs_params, overlap), .default_text = "0.5", .min = 0,
     .max = 1, .help = "Leave out a blob if a larger one covers more than this part of its area"},
    {GI_OPTION("aperture", REAL, struct gi_blobs_params, aperture), .letter = 'a', .min = 0.5,
     .max = 2000, .unit = "px",
     .help = "Radius of the circle in which the flux is summed; by default 4 times the radius of "
             "the blob"},
    {GI_OPTION("count", INT, struct gi_blobs_params, count), .default_text = "0", .min = 0,
     .max = 2147483647, .unit = "blobs",
     .help = "At most this many blobs, those with the highest response; 0 means all"},
    {GI_OPTION("invert", FLAG, struct gi_blobs_params, invert),
     .help = "Find dark blobs on a bright background; their flux is negative"},
    {.name = NULL},
};

static enum gi_status check(void *params, struct gi_err *err)
{
    const struct gi_blobs_params *p = params;
    if (p->min_sigma > p->max_sigma)
        return gi_fail(err, GI_E_USAGE, "--min-sigma %g: want at most --max-sigma %g", p->min_sigma,
                       p->max_sigma);
    return GI_OK;
}

static enum gi_status plan(struct gi_plan *plan, struct gi_err *err)
{
    const struct gi_blobs_params *p = plan->params;
    const struct gi_image *src = &plan->sources[0];
    const size_t npixels = (size_t)src->width * (size_t)src->height;
    const int nscales = gi_blobs_scales(p);
    for (int i = 0; i <= nscales; i++)
        plan->cost.fmas += 16 * p->min_sigma * pow(p->ratio, i) / src->channels;
    plan->cost.other = 20.0 * nscales / src->channels;
    plan->dependency = GI_DEPENDENCY_GLOBAL;
    plan->array_nbytes = 6 * npixels * sizeof(float);
    plan->scratch_nbytes = 4 * npixels * sizeof(float) + gi_luma_nbytes(src);
    return GI_OK;
}

static enum gi_status analyse(const struct gi_plan *plan, struct gi_queue *queue, void *result,
                              const struct gi_image *srcs, struct gi_err *err)
{
    const struct gi_blobs_params *p = plan->params;
    const bool by_luma = gi_luma_decides(srcs, false);
    struct gi_blobs *blobs = result;
    struct gi_image gray, host = {0};
    enum gi_status status = gi_judge_make(queue, &gray, srcs, by_luma, err);
    if (status)
        return status;
    status = gi_blobs_find(queue, blobs, &gray, p, err);
    if (!status)
        status = gi_blobs_prune(blobs, p, gray.width, gray.height, err);
    if (!status && blobs->n)
        status = gi_host_copy(queue, &host, &gray, err);
    gi_judge_release(queue, &gray, by_luma);
    if (!status && blobs->n)
        status = gi_blobs_measure(blobs, &host, p->aperture, err);
    gi_image_free(&host);
    return status;
}

static void result_free(void *result)
{
    struct gi_blobs *blobs = result;
    free(blobs->blobs);
    *blobs = (struct gi_blobs){0};
}

static void result_digest(const void *result, struct gi_digest *digest)
{
    const struct gi_blobs *blobs = result;
    gi_digest_integer(digest, (int64_t)blobs->n);
    for (uint64_t i = 0; i < blobs->n; i++) {
        const struct gi_blob *blob = &blobs->blobs[i];
        const double reals[] = {blob->x, blob->y, blob->response, blob->flux};
        gi_digest_integer(digest, blob->scale);
        gi_digest_reals(digest, reals, 4);
    }
}

const struct gi_filter gi_filter_blobs = {
    .name = "blobs",
    .group = GI_GROUP_REGIONS,
    .summary = "Blobs: stars, cells and other spots, with centre, size and flux",
    .manual =
        "Finds bright spots of any size by differences of Gaussians. TABLE gets a row per blob, "
        "the one with the highest response first: the centre x and y, sigma, the radius (sqrt(2) "
        "sigma) and the flux. Coordinates are in pixels from the centre of the upper left pixel. "
        "Without TABLE the rows are printed, and gpuimg draw --table draws circles from them. In a "
        "colour image the luma is used.\n\n"
        "The image, with samples from 0 to 1, is filtered by Gaussians whose standard deviations "
        "are --min-sigma, --ratio times this, and so on up to --max-sigma. The response is the "
        "difference of one such image and the next, divided by ratio - 1. A blob is a pixel whose "
        "response is above --threshold and not below those of its 26 neighbours in space and "
        "scale; sigma is the smaller standard deviation. A Gaussian spot has about 1.3 times this "
        "standard deviation.\n\n"
        "If discs of these radii overlap, the one with the smaller sigma is left out, or of equal "
        "ones that with the lower response, if the part of its area that they share is more than "
        "--overlap. The blobs are those of scikit-image's blob_dog(), which does not define which "
        "blob is left out of more than two, or of two with the same sigma.\n\n"
        "The centre is that of the quadratic polynomial through the response of the pixel and its "
        "neighbours: the pixel minus H^-1 g, with the gradient g and the second derivatives H as "
        "differences. Centres of Gaussian spots are within 0.05 pixels.\n\n"
        "The flux is the sum of the samples whose centres are at most --aperture away from the "
        "centre, minus their number times the background. The background is the median of the "
        "samples from 1.5 to 2 apertures away. It is in sample values, 0 to 255 in 8 bits. Other "
        "blobs in the circle count too: in a dense field give --aperture.\n\n"
        "Sources: D. Lowe, Distinctive image features from scale-invariant keypoints, IJCV 60(2), "
        "2004; M. Brown and D. Lowe, Invariant features from interest point groups, BMVC 2002.",
    .options = options,
    .params_nbytes = sizeof(struct gi_blobs_params),
    .check = check,
    .plan = plan,
    .analysis.nbytes = sizeof(struct gi_blobs),
    .analysis.run = analyse,
    .analysis.free = result_free,
    .analysis.digest = result_digest,
};
