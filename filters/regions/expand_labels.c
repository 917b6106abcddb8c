/* Expands the regions of a label image: background pixels near a region get its label.
 * SPDX-License-Identifier: MIT */
#include <math.h>

#include "filters/filter.h"
#include "kernels/kernels.h"
#include "kernels/regions.h"

struct expand_labels_params {
    double distance; /* px */
};

static const struct gi_option options[] = {
    {GI_OPTION("distance", REAL, struct expand_labels_params, distance), .letter = 'd',
     .default_text = "1", .min = 0, .max = GI_DISTANCE_SIDE, .unit = "px",
     .help = "Expand regions up to this Euclidean distance"},
    {.name = NULL},
};

static enum gi_status plan(struct gi_plan *plan, struct gi_err *err)
{
    const struct expand_labels_params *p = plan->params;
    const struct gi_image *src = &plan->sources[0];
    if (src->channels != 1)
        return gi_fail(err, GI_E_UNSUPPORTED, "%d channels: want one, of labels", src->channels);
    if (src->width > GI_DISTANCE_SIDE || src->height > GI_DISTANCE_SIDE)
        return gi_fail(err, GI_E_UNSUPPORTED, "%d x %d pixels: want at most %d per side",
                       src->width, src->height, GI_DISTANCE_SIDE);
    plan->halo = (int)p->distance;
    plan->scratch_nbytes = (size_t)src->width * (size_t)src->height * sizeof(int32_t);
    plan->cost = (struct gi_cost){.other = 600, .nbytes = 8};
    return GI_OK;
}

/* Returns the largest n for which sqrt(n), rounded to double, is at most `distance`. */
static int64_t squared_limit(double distance)
{
    int64_t n = (int64_t)(distance * distance);
    while (sqrt((double)n + 1) <= distance)
        n++;
    while (sqrt((double)n) > distance)
        n--;
    return n;
}

static enum gi_status run(const struct gi_plan *plan, struct gi_queue *queue,
                          const struct gi_work *work, struct gi_err *err)
{
    const struct expand_labels_params *p = plan->params;
    struct gi_distance spec = {.kind = GI_DISTANCE_SAMPLE, .within = squared_limit(p->distance)};
    return queue->k->distance(queue, work->dst, work->srcs, &spec, err);
}

const struct gi_filter gi_filter_expand_labels = {
    .name = "expand-labels",
    .group = GI_GROUP_REGIONS,
    .planes = GI_PLANES_LUMA,
    .summary = "Expand the regions of a label image, without merging them",
    .examples = "gpuimg expand-labels labels.png wider.png --distance 5\n"
                "gpuimg expand-labels nuclei.pgm cells.pgm --distance 12.5\n"
                "gpuimg expand-labels labels.png territories.png --distance 1000\n"
                "gpuimg run 'expand-labels --distance 3 | expand-labels' labels.png out.png",
    .manual = "The image is a label image, as gpuimg extract --labels writes it: 0 is background, "
              "and all samples above 0 are labels. A background pixel gets the label of the "
              "nearest pixel that has one, if the Euclidean distance between their centres is at "
              "most --distance. All other pixels do not change, so regions that meet stay "
              "apart. If pixels with labels are equally near, the leftmost of them counts, and in "
              "one column the uppermost.\n\n"
              "The result has the sample type of the image. Negative samples and NaN are "
              "background.\n\n"
              "The result is that of scikit-image's expand_labels(), except where regions with "
              "different labels are equally near.",
    .options = options,
    .params_nbytes = sizeof(struct expand_labels_params),
    .plan = plan,
    .run = run,
};
