/* Connected components: finds the foreground by a threshold or a mask image, labels it, measures
 * each component and collects its pixels, by the primitives `label`, `region_stats` and `compact`.
 * SPDX-License-Identifier: MIT */
#include "filters/regions/extract.h"

#include "filters/regions/choose.h"
#include "filters/regions/labels.h"

#include <stdlib.h>
#include <string.h>

#include "filters/tone/luma.h"
#include "filters/tone/threshold_level.h"
#include "kernels/arithmetic.h"
#include "kernels/color.h"
#include "kernels/kernels.h"
#include "kernels/tone.h"

static enum gi_status check(void *params, struct gi_err *err)
{
    const struct gi_extract_params *p = params;
    const bool levels = p->at.kind != GI_LEVEL_AUTO || p->at.method != GI_THRESHOLD_OTSU;
    if (p->mask_image && levels)
        return gi_fail(err, GI_E_USAGE, "--mask-image %s and --threshold: want one of them",
                       p->mask_image);
    if (p->labels_image && (p->mask_image || levels || p->invert))
        return gi_fail(err, GI_E_USAGE, "--labels-image %s and %s: want one of them",
                       p->labels_image,
                       p->mask_image ? "--mask-image"
                       : p->invert   ? "--invert"
                                     : "--threshold");
    if (p->max_area && p->max_area < p->min_area)
        return gi_fail(err, GI_E_USAGE, "--max-area %llu: want --min-area, %llu px, or more",
                       (unsigned long long)p->max_area, (unsigned long long)p->min_area);
    return GI_OK;
}

#define MOST_PIXELS (UINT32_MAX - 1) /* the limit of label() */

enum gi_status gi_regions_take(const struct gi_image *src, struct gi_err *err)
{
    if ((uint64_t)src->width * (uint64_t)src->height <= MOST_PIXELS)
        return GI_OK;
    return gi_fail(err, GI_E_UNSUPPORTED, "%d x %d pixels: regions want at most %u in all",
                   src->width, src->height, MOST_PIXELS);
}

/* Costs are measured on two threads with photographs: 2.2 ns per pixel of integers, and 13 ns per
 * pixel of floats, because range and threshold take several passes. A nanosecond is 46
 * multiply-adds. */
static enum gi_status plan(struct gi_plan *plan, struct gi_err *err)
{
    const struct gi_extract_params *p = plan->params;
    const struct gi_image *src = &plan->sources[0], *mask = &plan->sources[1];
    enum gi_status status = gi_regions_take(src, err);
    if (status)
        return status;
    if (plan->nsources > 1 && (mask->width != src->width || mask->height != src->height))
        return gi_fail(err, GI_E_UNSUPPORTED, "--%s: is %d x %d, want %d x %d as the input",
                       p->labels_image ? "labels-image" : "mask-image", mask->width, mask->height,
                       src->width, src->height);
    size_t labels = (size_t)src->width * (size_t)src->height * sizeof(uint32_t);
    plan->dependency = GI_DEPENDENCY_GLOBAL;
    plan->array_nbytes = p->labels || p->points || p->descriptors || p->moments ? labels : 0;
    if (p->labels_image)
        plan->array_nbytes = 4 * labels; /* labels, parts, and a table of each */
    plan->scratch_nbytes = labels + gi_luma_nbytes(src);
    plan->cost = (struct gi_cost){.other = (src->type == GI_F32 ? 600.0 : 100.0) / src->channels,
                                  .nbytes = 6.0 / src->channels}; /* labels are written and read */
    return GI_OK;
}

/* Turns a label image into floats, which hold all labels. */
static enum gi_status admit(const void *params, int j, struct gi_image *other, struct gi_err *err)
{
    const struct gi_extract_params *p = params;
    uint32_t largest;
    if (!p->labels_image)
        return GI_OK;
    enum gi_status status = gi_labels_check(&largest, other, err);
    return status ? status : gi_labels_to_floats(other, err);
}

static void ask_all(void *params)
{
    struct gi_extract_params *p = params;
    p->labels = p->points = p->descriptors = p->moments = true;
}

/* Finds the threshold, unless there is a mask, and the range in which float intensities are
 * quantised. */
static enum gi_status find_levels(struct gi_queue *queue, struct gi_extract *extract,
                                  const struct gi_image *gray, const struct gi_extract_params *p,
                                  bool masked, struct gi_err *err)
{
    double level = 0;
    enum gi_status status =
        gi_level_find(queue, &level, masked ? NULL : &p->at, &extract->lo, &extract->hi, gray, err);
    if (!masked)
        extract->threshold = gi_level_value(level, gray->type);
    return status;
}

/* Renumbers the labels of an image after regions were dropped. */
static void relabel(struct gi_image *labels, const uint32_t *renumber)
{
    for (int y = 0; y < labels->height; y++) {
        uint32_t *row = gi_row(labels, y);
        for (int x = 0; x < labels->width; x++)
            row[x] = renumber[row[x]];
    }
}

/* Removes the points of regions that were dropped. */
static void drop_points(struct gi_pixel_list *points, const struct gi_image *labels)
{
    uint64_t n = 0;
    for (uint64_t i = 0; i < points->n; i++) {
        const uint32_t *row = gi_row(labels, (int)points->y[i]);
        if (!row[points->x[i]])
            continue;
        points->x[n] = points->x[i];
        points->y[n] = points->y[i];
        points->value[n++] = points->value[i];
    }
    points->n = n;
}

/* Measures the shapes of the regions that are kept, from the label image on the host. */
static enum gi_status measure_shapes(struct gi_extract *extract, const struct gi_extract_params *p,
                                     struct gi_err *err)
{
    const size_t n = (size_t)extract->n + 1;
    enum gi_status status = GI_OK;
    if (p->descriptors)
        extract->shapes = malloc(n * sizeof *extract->shapes);
    if (p->moments)
        extract->moments = malloc(n * sizeof *extract->moments);
    if ((p->descriptors && !extract->shapes) || (p->moments && !extract->moments))
        return gi_fail(err, GI_E_MEMORY, "out of memory: %u regions", extract->n);
    if (p->descriptors)
        status = gi_shape_descriptors(extract->shapes, extract->regions, extract->n,
                                      &extract->labels, err);
    if (!status && p->moments)
        status = gi_region_moments(extract->moments, extract->regions, extract->n, &extract->labels,
                                   err);
    return status;
}

/* Gives the regions that are kept their own labels again. */
static void rename_regions(struct gi_extract *extract, const uint32_t *renumber, bool labels)
{
    for (uint32_t i = 0; i < extract->found; i++)
        if (renumber[i + 1])
            extract->names[renumber[i + 1] - 1] = extract->names[i];
    for (int y = 0; y < extract->labels.height && labels; y++) {
        uint32_t *row = gi_row(&extract->labels, y);
        for (int x = 0; x < extract->labels.width; x++)
            row[x] = row[x] ? extract->names[row[x] - 1] : 0;
    }
}

/* Drops regions, and does all that needs the label image: `labels` on the backend, which is
 * released, unless the result has it already. */
static enum gi_status choose(struct gi_queue *queue, struct gi_extract *extract,
                             struct gi_image *labels, const struct gi_extract_params *p,
                             struct gi_err *err)
{
    uint32_t *renumber = malloc(((size_t)extract->found + 1) * sizeof *renumber);
    enum gi_status status =
        renumber ? gi_regions_keep(extract, renumber, p, err)
                 : gi_fail(err, GI_E_MEMORY, "out of memory: %u regions", extract->found);
    bool dropped = extract->n < extract->found;
    if (!status && !extract->labels.data &&
        (p->labels || p->descriptors || p->moments || (dropped && p->points)))
        status = queue->k->download(queue, &extract->labels, labels, NULL, err);
    if (!status && dropped && extract->labels.data)
        relabel(&extract->labels, renumber);
    if (!status && dropped && p->points)
        drop_points(&extract->points, &extract->labels);
    if (!status)
        status = measure_shapes(extract, p, err);
    if (!status && extract->names)
        rename_regions(extract, renumber, p->labels);
    free(renumber);
    return status;
}

static enum gi_status components_of(struct gi_queue *queue, struct gi_extract *extract,
                                    const struct gi_image *gray,
                                    const struct gi_predicate *foreground,
                                    const struct gi_extract_params *p, struct gi_err *err)
{
    struct gi_labels labels = {.n = 0};
    struct gi_label spec = {foreground->above, foreground->invert, p->connectivity ? 8 : 4};
    enum gi_status status = queue->k->label(queue, &labels, foreground->on, &spec, err);
    if (status)
        return status;
    struct gi_region_stats sums = {&labels.image, labels.n, extract->lo, extract->hi};
    extract->n = extract->found = labels.n;
    extract->regions = malloc(((size_t)labels.n + 1) * sizeof *extract->regions);
    status = extract->regions ? queue->k->region_stats(queue, extract->regions, gray, &sums, err)
                              : gi_fail(err, GI_E_MEMORY, "out of memory: %u regions", labels.n);
    if (!status)
        status = choose(queue, extract, &labels.image, p, err);
    if (labels.image.data)
        queue->k->release(queue, &labels.image);
    return status;
}

static enum gi_status regions_of(struct gi_queue *queue, struct gi_extract *extract,
                                 const struct gi_image *gray, const struct gi_predicate *foreground,
                                 const struct gi_extract_params *p, struct gi_err *err)
{
    enum gi_status status = GI_OK;
    if (p->points)
        status = queue->k->compact(queue, &extract->points, gray, foreground, err);
    if (!status && !p->labels_image)
        return components_of(queue, extract, gray, foreground, p, err);
    if (!status)
        status = gi_label_regions(queue, extract, gray, foreground->on, err);
    return status ? status : choose(queue, extract, NULL, p, err);
}

/* Makes `marked`, which is full scale where channel c of the mask is above or below 0. NaN is
 * neither above nor below 0. `spare` is overwritten. */
static enum gi_status mark_channel(struct gi_queue *queue, struct gi_image *marked,
                                   struct gi_image *spare, const struct gi_image *mask, int c,
                                   struct gi_err *err)
{
    const struct gi_kernels *k = queue->k;
    struct gi_permute_channels channel = {.from = {{0, c}}, .nsources = 1};
    struct gi_pointwise negative = {.op = GI_POINTWISE_AFFINE, .scale = {-1}};
    struct gi_arithmetic either = {.op = GI_ARITHMETIC_MAXIMUM, .plain = true, .other = spare};
    struct gi_threshold above_zero = {0};
    enum gi_status status = k->permute_channels(queue, marked, mask, &channel, err);
    if (!status && mask->type == GI_F32)
        status = k->pointwise(queue, spare, marked, &negative, err);
    if (!status)
        status = k->threshold(queue, marked, marked, &above_zero, err);
    if (!status && mask->type == GI_F32)
        status = k->threshold(queue, spare, spare, &above_zero, err);
    if (!status && mask->type == GI_F32)
        status = k->arithmetic(queue, marked, marked, &either, err);
    return status;
}

/* Makes `marked`, which the caller releases. It is > 0 where a colour sample of the mask is not
 * 0. */
static enum gi_status mark(struct gi_queue *queue, struct gi_image *marked,
                           const struct gi_image *mask, struct gi_err *err)
{
    const struct gi_kernels *k = queue->k;
    struct gi_image one = {0}, spare = {0};
    struct gi_arithmetic either = {.op = GI_ARITHMETIC_MAXIMUM, .plain = true, .other = &one};
    enum gi_status status = k->alloc(queue, marked, mask->width, mask->height, 1, mask->type, err);
    if (!status)
        status = k->alloc(queue, &one, mask->width, mask->height, 1, mask->type, err);
    if (!status)
        status = k->alloc(queue, &spare, mask->width, mask->height, 1, mask->type, err);
    for (int c = 0; c < gi_color_channels(mask) && !status; c++) {
        status = mark_channel(queue, c ? &one : marked, &spare, mask, c, err);
        if (!status && c)
            status = k->arithmetic(queue, marked, marked, &either, err);
    }
    if (one.data)
        k->release(queue, &one);
    if (spare.data)
        k->release(queue, &spare);
    return status;
}

static enum gi_status analyse(const struct gi_plan *plan, struct gi_queue *queue, void *result,
                              const struct gi_image *srcs, struct gi_err *err)
{
    const struct gi_extract_params *p = plan->params;
    const struct gi_kernels *k = queue->k;
    struct gi_extract *extract = result;
    struct gi_image luma = {0}, marked = {0};
    const struct gi_image *gray = srcs, *mask = plan->nsources > 1 ? &srcs[1] : NULL;
    const bool labelled = p->labels_image && mask;
    *extract = (struct gi_extract){.type = srcs->type};
    enum gi_status status = GI_OK;
    if (srcs->channels > 1) {
        gray = &luma;
        status = k->alloc(queue, &luma, srcs->width, srcs->height, 1, srcs->type, err);
        if (!status)
            status = k->luma(queue, &luma, srcs, NULL, err);
    }
    if (!status)
        status = find_levels(queue, extract, gray, p, mask, err);
    if (!status && mask && !labelled)
        status = mark(queue, &marked, mask, err);
    if (!status) {
        struct gi_predicate foreground = {.on = labelled ? mask
                                                : mask   ? &marked
                                                         : gray,
                                          .above = mask ? 0 : extract->threshold,
                                          .invert = p->invert};
        status = regions_of(queue, extract, gray, &foreground, p, err);
    }
    if (marked.data)
        k->release(queue, &marked);
    if (luma.data)
        k->release(queue, &luma);
    return status;
}

static void result_free(void *result)
{
    struct gi_extract *extract = result;
    free(extract->regions);
    free(extract->names);
    free(extract->shapes);
    free(extract->moments);
    free(extract->order);
    gi_image_free(&extract->labels);
    gi_pixel_list_free(&extract->points);
    *extract = (struct gi_extract){0};
}

static void digest_region(struct gi_digest *digest, const struct gi_region_sums *region)
{
    const uint64_t members[] = {
        region->area,    region->sum_x,    region->sum_y,        region->min_x,
        region->min_y,   region->max_x,    region->max_y,        region->min_key,
        region->max_key, region->straight, region->diagonal,     region->mixed,
        region->value.n, region->value.q,  region->value.q2_low, region->value.q2_high};
    for (size_t i = 0; i < sizeof members / sizeof *members; i++)
        gi_digest_integer(digest, (int64_t)members[i]);
}

static void digest_shape(struct gi_digest *digest, const struct gi_shape_descriptors *shape)
{
    const double reals[] = {shape->major_axis,      shape->minor_axis, shape->eccentricity,
                            shape->orientation_deg, shape->solidity,   shape->feret_diameter};
    gi_digest_reals(digest, reals, 6);
}

static void digest_moments(struct gi_digest *digest, const struct gi_moments *moments)
{
    gi_digest_reals(digest, moments->mu, GI_MOMENTS);
    gi_digest_reals(digest, moments->nu, GI_MOMENTS);
    gi_digest_reals(digest, moments->hu, GI_MOMENTS);
}

static void result_digest(const void *result, struct gi_digest *digest)
{
    const struct gi_extract *extract = result;
    const struct gi_pixel_list *points = &extract->points;
    const double range[] = {extract->lo, extract->hi, extract->threshold};
    gi_digest_integer(digest, extract->n);
    gi_digest_integer(digest, extract->found);
    gi_digest_integer(digest, (int)extract->type);
    gi_digest_reals(digest, range, 3);
    for (uint32_t i = 0; i < extract->n; i++) {
        digest_region(digest, &extract->regions[i]);
        gi_digest_integer(digest, gi_extract_label(extract, i));
        gi_digest_integer(digest, extract->order[i]);
        if (extract->shapes)
            digest_shape(digest, &extract->shapes[i]);
        if (extract->moments)
            digest_moments(digest, &extract->moments[i]);
    }
    gi_digest_image(digest, &extract->labels);
    for (uint64_t i = 0; i < points->n; i++) {
        gi_digest_integer(digest, points->x[i]);
        gi_digest_integer(digest, points->y[i]);
        gi_digest_bytes(digest, &points->value[i], sizeof points->value[i]);
    }
}

/* In the order of enum gi_region_order. */
static const struct gi_choice orders[] = {
    {"label", NULL, "by first pixel, from the top"},
    {"area", NULL, "largest first"},
    {"x", NULL, "leftmost bounding box first"},
    {"y", NULL, "topmost bounding box first"},
    {"mean", NULL, "brightest first"},
    {0},
};

static const struct gi_option options[] = {
    {GI_OPTION("threshold", LEVEL, struct gi_extract_params, at), .also = "at", .letter = 't',
     .default_text = "otsu",
     .help = "Pixels brighter than this level are foreground; in a colour image the luma is "
             "compared"},
    {GI_OPTION("mask-image", IMAGE, struct gi_extract_params, mask_image), .metavar = "IMAGE",
     .help = "Take as foreground the pixels that are not 0 in this image of the same size, in "
             "place of --threshold"},
    {GI_OPTION("labels-image", IMAGE, struct gi_extract_params, labels_image), .metavar = "IMAGE",
     .labels = true,
     .help = "Measure the regions of this label image of the same size, such as extract writes, "
             "in place of connected components: all pixels of a label are a region, and the table "
             "has its label"},
    {GI_OPTION("descriptors", FLAG, struct gi_extract_params, descriptors),
     .help = "Add shape descriptors to the table: circularity, orientation, major and minor axis, "
             "eccentricity, solidity and maximum Feret diameter"},
    {GI_OPTION("moments", FLAG, struct gi_extract_params, moments),
     .help = "Add moments of the shapes to the table: central moments, normalized central moments "
             "and Hu's seven invariants"},
    {GI_OPTION("invert", FLAG, struct gi_extract_params, invert),
     .help = "Swap foreground and background"},
    {GI_OPTION("connectivity", CHOICE, struct gi_extract_params, connectivity), .default_text = "8",
     .choices = gi_connectivity_choices, .help = "Which pixels are connected to each other"},
    {GI_OPTION("min-area", SIZE, struct gi_extract_params, min_area), .unit = "px",
     .help = "Drop regions with fewer pixels than this"},
    {GI_OPTION("max-area", SIZE, struct gi_extract_params, max_area), .unit = "px",
     .help = "Drop regions with more pixels than this; 0 means no limit"},
    {GI_OPTION("keep-top", INT, struct gi_extract_params, keep_top), .default_text = "0", .min = 0,
     .max = 2147483647, .unit = "regions",
     .help = "Keep only this many regions, the largest; if several are equally large, the first "
             "of them in raster order; 0 keeps all"},
    {GI_OPTION("sort", CHOICE, struct gi_extract_params, sort), .default_text = "label",
     .choices = orders,
     .help = "Order of the rows of the table; rows with equal values are in raster order"},
    {0},
};

const struct gi_filter gi_filter_extract = {
    .name = "extract",
    .group = GI_GROUP_REGIONS,
    .summary = "Connected components: label, measure and cut out regions",
    .manual =
        "A threshold or a mask image separates the image into foreground and background "
        "(foreground is value > threshold, as in OpenCV's threshold()). Each connected component "
        "of the foreground is a region, and TABLE gets a row per region. Without TABLE the rows "
        "are printed. Regions have the labels 1, 2, 3 and so on, in raster order of their first "
        "pixels. Regions that are dropped by --min-area, --max-area or --keep-top get no label. "
        "Objects (particles, cells) that are touching count as one region; they are "
        "counted apart after gpuimg split-touching, as in run 'gaussian --sigma 1.5 | threshold | "
        "split-touching --min-depth 2 | extract', where --sigma and --min-depth prevent cuts at "
        "rough outlines.\n\n"
        "--labels-image takes the regions from a label image, such as other programs write: "
        "touching regions stay apart, and parts of a label that are not connected are one region. "
        "The intensities are those of INPUT; for shapes alone name the label image twice.\n\n"
        "The number of rows is the count of objects. With --table all.csv each row names its "
        "image, and an image without regions has no row. With --table all.jsonl each image has an "
        "object, also one without regions, and jq -c '[.file, (.regions | length)]' all.jsonl "
        "prints the count of each image.\n\n"
        "A row has the area in pixels, the bounding box, the centroid, the perimeter, and the "
        "mean, standard deviation (of the population), minimum and maximum of the intensity. The "
        "intensity is the gray value, or in a colour image the luma (ITU-R BT.709). The centroid "
        "is in pixels from the centre of the upper left pixel.\n\n"
        "--descriptors adds the circularity (4 pi area / perimeter^2), the solidity (area / "
        "pixels of the convex hull), the maximum Feret diameter (the largest distance between "
        "two points of the hull), and the axes, eccentricity and orientation of the ellipse with "
        "the same second moments. The orientation is the angle between the major axis and the "
        "vertical in degrees, positive if the axis runs from the upper left to the lower "
        "right; it is -45 if the ellipse is a circle, as for a disc, a square and a single "
        "pixel.\n\n"
        "--moments adds the central moments mu20 to mu03 of orders 2 and 3 (the first digit is the "
        "power of x, the second that of y), with lengths in pixels, the normalized ones nu20 to "
        "nu03, and Hu's "
        "invariants hu1 to hu7. Each pixel of the region counts 1. They are those of OpenCV's "
        "moments() and HuMoments() for a binary image, and of regionprops() in scikit-image, "
        "whose indices are those of rows and columns, so that its hu7 has the other sign.\n\n"
        "The perimeter is that of Benkrid and Crookes, as scikit-image computes it; the shape "
        "descriptors are those of regionprops() in scikit-image 0.26 (older versions have "
        "another sign where the orientation is 45 degrees).",
    .options = options,
    .params_nbytes = sizeof(struct gi_extract_params),
    .check = check,
    .sources.admit = admit,
    .plan = plan,
    .analysis.nbytes = sizeof(struct gi_extract),
    .analysis.run = analyse,
    .analysis.free = result_free,
    .analysis.digest = result_digest,
    .analysis.ask_all = ask_all,
};
