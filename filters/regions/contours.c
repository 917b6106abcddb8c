/* Contours of a mask or of a label image. The backend finds the foreground, and the host follows
 * its borders. SPDX-License-Identifier: MIT */
#include "filters/regions/contours.h"

#include <math.h>
#include <stdlib.h>

#include "filters/regions/extract.h"
#include "filters/regions/host_image.h"
#include "filters/regions/labels.h"
#include "filters/tone/luma.h"
#include "filters/tone/threshold_level.h"
#include "kernels/kernels.h"
#include "kernels/tone.h"

static const struct gi_choice points[] = {
    {"corners", NULL, "pixels where the direction changes"},
    {"all", NULL, "every pixel of the border"},
    {0},
};

static const struct gi_option options[] = {
    {GI_OPTION("threshold", LEVEL, struct gi_contours_params, at), .also = "at", .letter = 't',
     .default_text = "0",
     .help = "Pixels brighter than this level are foreground; in a colour image the luma is "
             "compared"},
    {GI_OPTION("by-label", FLAG, struct gi_contours_params, by_label),
     .help = "Take the samples as labels: pixels with the same value above 0 are a region, and "
             "regions that are touching have contours of their own"},
    {GI_OPTION("invert", FLAG, struct gi_contours_params, invert),
     .help = "Swap foreground and background"},
    {GI_OPTION("points", CHOICE, struct gi_contours_params, points), .default_text = "corners",
     .choices = points, .help = "Which points a contour has"},
    {GI_OPTION("simplify", REAL, struct gi_contours_params, simplify), .min = 0, .max = 10000,
     .unit = "px",
     .help = "Leave out points (Douglas-Peucker algorithm) as long as the contour is at most this "
             "far from the one with all points"},
    {.name = NULL},
};

static enum gi_status check(void *params, struct gi_err *err)
{
    const struct gi_contours_params *p = params;
    if (p->by_label && (p->invert || p->at.kind != GI_LEVEL_VALUE || p->at.value != 0))
        return gi_fail(err, GI_E_USAGE, "--by-label and %s: want one of them",
                       p->invert ? "--invert" : "--threshold");
    return GI_OK;
}

static enum gi_status plan(struct gi_plan *plan, struct gi_err *err)
{
    const struct gi_contours_params *p = plan->params;
    const struct gi_image *src = &plan->sources[0];
    enum gi_status status = gi_regions_take(src, err);
    if (!status && p->by_label && src->channels != 1)
        return gi_fail(err, GI_E_UNSUPPORTED, "--by-label: has %d channels: want one, of labels",
                       src->channels);
    plan->dependency = GI_DEPENDENCY_GLOBAL;
    plan->array_nbytes =
        (size_t)src->width * (size_t)src->height * (2 * sizeof(uint32_t) + sizeof(float));
    plan->scratch_nbytes = 2 * gi_luma_nbytes(src);
    plan->cost.other = 200.0 / src->channels;
    return status;
}

/* Makes `mask`, which the caller releases: full scale in the foreground, else 0. */
static enum gi_status find_foreground(struct gi_queue *queue, struct gi_image *mask,
                                      const struct gi_image *src,
                                      const struct gi_contours_params *p, struct gi_err *err)
{
    const bool by_luma = gi_luma_decides(src, false);
    struct gi_threshold spec = {.invert = p->invert};
    struct gi_image judge;
    enum gi_status status = gi_judge_make(queue, &judge, src, by_luma, err);
    if (status)
        return status;
    status = gi_level_above(queue, &spec.above, &p->at, &judge, err);
    if (!status)
        status = queue->k->alloc(queue, mask, src->width, src->height, 1, src->type, err);
    if (!status)
        status = queue->k->threshold(queue, mask, &judge, &spec, err);
    gi_judge_release(queue, &judge, by_luma);
    return status;
}

/* Makes `labels` of `from`, an image in host memory, which it frees: labels of 32 bits, or a mask
 * of bytes. Sets *largest to the largest label. */
static enum gi_status make_labels(struct gi_image *labels, uint32_t *largest, struct gi_image *from,
                                  bool by_label, struct gi_err *err)
{
    *largest = 1;
    if (!by_label && from->type == GI_U8) {
        *labels = *from;
        *from = (struct gi_image){0};
        return GI_OK;
    }
    enum gi_status status = by_label ? gi_labels_check(largest, from, err) : GI_OK;
    if (!status)
        status =
            gi_image_alloc(labels, from->width, from->height, 1, by_label ? GI_U32 : GI_U8, err);
    for (int y = 0; y < from->height && !status; y++) {
        void *row = gi_row(labels, y);
        const void *samples = gi_row(from, y);
        for (int x = 0; x < from->width; x++)
            if (by_label)
                ((uint32_t *)row)[x] = gi_label_at(from, x, y);
            else
                ((uint8_t *)row)[x] = gi_sample(samples, (size_t)x, from->type) > 0 ? 255 : 0;
    }
    gi_image_free(from);
    return status;
}

/* Leaves out the points that were not asked for. */
static enum gi_status thin_out(struct gi_contours *contours, const struct gi_contours_params *p,
                               struct gi_err *err)
{
    uint64_t most = 0, kept = 0;
    for (uint64_t i = 0; i < contours->n; i++)
        most = contours->contours[i].n > most ? contours->contours[i].n : most;
    struct gi_contour_point *spare = malloc((size_t)(most + 1) * sizeof *spare);
    uint64_t *stack = malloc((size_t)(2 * most + 4) * sizeof *stack);
    enum gi_status status = GI_OK;
    if (!spare || !stack)
        status = gi_fail(err, GI_E_MEMORY, "out of memory: contour of %llu points",
                         (unsigned long long)most);
    for (uint64_t i = 0; i < contours->n && !status; i++) {
        struct gi_contour *contour = &contours->contours[i];
        struct gi_contour_point *from = &contours->points[contour->first];
        if (p->points == GI_CONTOUR_CORNERS)
            contour->n = gi_contour_corners(from, contour->n);
        if (!isnan(p->simplify))
            contour->n = gi_contour_simplify(from, spare, stack, contour->n, p->simplify);
        contour->first = kept;
        for (uint64_t j = 0; j < contour->n; j++)
            contours->points[kept++] = from[j];
    }
    contours->npoints = kept;
    free(spare);
    free(stack);
    return status;
}

static enum gi_status analyse(const struct gi_plan *plan, struct gi_queue *queue, void *result,
                              const struct gi_image *srcs, struct gi_err *err)
{
    const struct gi_contours_params *p = plan->params;
    struct gi_image mask = {0}, host = {0}, labels = {0};
    uint32_t largest = 0;
    enum gi_status status = p->by_label ? gi_host_copy(queue, &host, srcs, err)
                                        : find_foreground(queue, &mask, srcs, p, err);
    if (!status && !p->by_label)
        status = queue->k->download(queue, &host, &mask, NULL, err);
    if (mask.data)
        queue->k->release(queue, &mask);
    if (!status)
        status = make_labels(&labels, &largest, &host, p->by_label, err);
    if (!status)
        status = gi_contours_trace(result, &labels, largest, err);
    gi_image_free(&labels);
    return status ? status : thin_out(result, p, err);
}

static void result_free(void *result)
{
    struct gi_contours *contours = result;
    free(contours->contours);
    free(contours->points);
    *contours = (struct gi_contours){0};
}

static void result_digest(const void *result, struct gi_digest *digest)
{
    const struct gi_contours *contours = result;
    gi_digest_integer(digest, (int64_t)contours->n);
    for (uint64_t i = 0; i < contours->n; i++) {
        const struct gi_contour *contour = &contours->contours[i];
        gi_digest_integer(digest, contour->label);
        gi_digest_integer(digest, contour->hole);
        gi_digest_integer(digest, contour->parent);
        gi_digest_integer(digest, (int64_t)contour->n);
    }
    for (uint64_t i = 0; i < contours->npoints; i++) {
        gi_digest_integer(digest, contours->points[i].x);
        gi_digest_integer(digest, contours->points[i].y);
    }
}

const struct gi_filter gi_filter_contours = {
    .name = "contours",
    .group = GI_GROUP_REGIONS,
    .summary = "Contours: outlines of regions as polygons (GeoJSON, CSV, SVG)",
    .manual =
        "Finds the borders of the regions (8-connected components) of a mask or of a label image. "
        "By default all pixels that are not black are foreground, which in a photograph are nearly "
        "all: give it --threshold, such as otsu. Each region has an outer "
        "contour and one for each of its holes. TABLE is GeoJSON, SVG or CSV by its suffix; "
        "without TABLE CSV is printed.\n\n"
        "A contour is a closed polygon through the centres of the pixels of the region that are "
        "on its border. The centre of the upper left pixel is at 0,0; in SVG it is at 0.5,0.5. "
        "These are the contours of OpenCV's findContours() with CHAIN_APPROX_SIMPLE, or "
        "CHAIN_APPROX_NONE with --points all, and with --simplify those of approxPolyDP() for a "
        "closed curve. Contours are in raster order of their first points.\n\n"
        "CSV has a row per contour with its number, the number of the contour directly around it "
        "(its parent; empty if there is none), whether it is that of a hole, the label, and the "
        "points as \"x,y x,y ...\". gpuimg draw --table reads it. In GeoJSON each region is a "
        "polygon with its holes; its outer ring is counterclockwise if y grows upwards, as RFC "
        "7946 wants. A region of one or two points is a Point or a LineString, and a hole that "
        "--simplify has left with fewer than three points is left out.\n\n"
        "NaN is background. Source: S. Suzuki and K. Abe, Topological structural analysis of "
        "digitized binary images by border following, CVGIP 30(1), 1985.",
    .options = options,
    .params_nbytes = sizeof(struct gi_contours_params),
    .check = check,
    .plan = plan,
    .analysis.nbytes = sizeof(struct gi_contours),
    .analysis.run = analyse,
    .analysis.free = result_free,
    .analysis.digest = result_digest,
};
