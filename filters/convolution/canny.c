/* Canny's edge detector (J. Canny, A computational approach to edge detection, 1986) as in OpenCV
 * or as in scikit-image: a Gaussian, the gradient with non-maximum suppression (the primitive
 * canny), and hysteresis (the primitive hysteresis, or reconstruct).
 * SPDX-License-Identifier: MIT */
#include <math.h>

#include "filters/convolution/weights.h"
#include "filters/filter.h"
#include "kernels/canny.h"
#include "kernels/color.h"
#include "kernels/kernels.h"
#include "kernels/morphology.h"
#include "kernels/tone.h"

enum like { OPENCV, SKIMAGE };
enum norm { L1, L2 };

struct canny_params {
    double low, high, sigma;
    int size, norm, like;
};

static const struct gi_choice norms[] = {
    {"l1", NULL, "|gx| + |gy|"},
    {"l2", NULL, "the root of gx^2 + gy^2"},
    {0},
};

static const struct gi_choice peers[] = {
    {"opencv", NULL, "compares with the nearest of 8 neighbours, by whole numbers"},
    {"skimage", NULL, "smooths first and interpolates between neighbours, in floats"},
    {0},
};

static const struct gi_option options[] = {
    {GI_OPTION("low", REAL, struct canny_params, low), .letter = 'l', .min = 0, .max = 1e9,
     .help = "Lower threshold: gradients above it continue an edge; by default half of --high"},
    {GI_OPTION("high", REAL, struct canny_params, high), .letter = 'u', .min = 0, .max = 1e9,
     .help = "Upper threshold: gradients above it begin an edge; by default twice --low, or 200 in "
             "8 bits (for skimage 51)"},
    {GI_OPTION("sigma", REAL, struct canny_params, sigma), .letter = 's', .min = 0.1, .max = 250,
     .unit = "px",
     .help = "Smooth with a Gaussian of this standard deviation first; by default not at all, and "
             "for skimage by 1 px"},
    {GI_OPTION("norm", CHOICE, struct canny_params, norm), .default_text = "l1", .choices = norms,
     .help = "Length of the gradient; --like skimage always takes l2"},
    {GI_OPTION("size", ODD, struct canny_params, size), .default_text = "3", .min = 3,
     .max = GI_CANNY_SIZE_MAX, .unit = "px", .help = "Side of the Sobel operator"},
    {GI_OPTION("like", CHOICE, struct canny_params, like), .default_text = "opencv",
     .choices = peers, .help = "Whose edges the result has"},
    {.name = NULL},
};

static enum gi_status check(void *params, struct gi_err *err)
{
    const struct canny_params *p = params;
    if (p->low > p->high)
        return gi_fail(err, GI_E_USAGE, "--low %g: want at most --high %g", p->low, p->high);
    if (p->like == SKIMAGE && p->size != 3)
        return gi_fail(err, GI_E_USAGE, "--size %d: want 3 with --like skimage", p->size);
    return GI_OK;
}

/* Returns the specification of the primitive for an image of `type`. */
static struct gi_canny spec_of(const struct canny_params *p, enum gi_type type)
{
    bool skimage = p->like == SKIMAGE;
    struct gi_canny spec = {
        .size = p->size, .squared = p->norm == L2 && !skimage, .interpolated = skimage};
    double full = (double)gi_type_full_scale(type), usual = skimage ? 0.2 : 200 / 255.0;
    double high = !isnan(p->high) ? p->high : !isnan(p->low) ? 2 * p->low : usual * full;
    double low = !isnan(p->low) ? p->low : high / 2;
    double unit = skimage ? full : spec.size == 7 ? 16 : 1;
    low /= unit;
    high /= unit;
    spec.low = spec.squared ? low * low : low;
    spec.high = spec.squared ? high * high : high;
    if (type != GI_F32 && !skimage) { /* compared with whole numbers */
        spec.low = floor(spec.low);
        spec.high = floor(spec.high);
    }
    return spec;
}

/* Plans the Gaussian. scikit-image pads with 0 and divides by the sum of the weights inside the
 * image, which transparent pixels outside it amount to. */
static enum gi_status plan_gaussian(struct gi_plan *plan, const struct canny_params *p,
                                    struct gi_err *err)
{
    bool skimage = p->like == SKIMAGE;
    double sigma = isnan(p->sigma) ? 1 : p->sigma;
    struct gi_gaussian taps = {.k = skimage ? 2 * (int)(4 * sigma + 0.5) + 1 : gi_gaussian_k(sigma),
                               .sigma = sigma};
    const struct gi_border_params border = {.mode = GI_BORDER_CLAMP, .value.n = 1};
    struct gi_separable_tables *tables = gi_gaussian_plan(plan, &taps, &taps, &border, err);
    if (tables && skimage)
        tables->spec.border = (struct gi_border_spec){.mode = GI_BORDER_VALUE};
    plan->halo = 0;
    return tables ? GI_OK : GI_E_MEMORY;
}

static enum gi_status plan(struct gi_plan *plan, struct gi_err *err)
{
    const struct canny_params *p = plan->params;
    const struct gi_image *src = &plan->sources[0];
    bool skimage = p->like == SKIMAGE;
    enum gi_status status = skimage || !isnan(p->sigma) ? plan_gaussian(plan, p, err) : GI_OK;
    size_t pixels = (size_t)src->width * (size_t)src->height;
    plan->result.channels = 1;
    plan->dependency = GI_DEPENDENCY_GLOBAL;
    plan->scratch_nbytes = pixels * gi_type_nbytes(src->type) * (size_t)(2 + src->channels) +
                           (skimage ? pixels * 4 * 9 : 0);
    plan->cost.other = 20;
    plan->cost.nbytes = 6;
    return status;
}

/* Hysteresis: dst becomes full scale at the edges of the classes (0, 1 and 2) that are connected to
 * a strong one. `classes` is overwritten. */
static enum gi_status connect_edges(struct gi_queue *queue, struct gi_image *dst,
                                    struct gi_image *classes, struct gi_err *err)
{
    struct gi_threshold all = {0, false}, strong = {1, false};
    struct gi_hysteresis levels = {0, 1};
    struct gi_image edges;
    if (queue->k->hysteresis)
        return queue->k->hysteresis(queue, dst, classes, &levels, err);
    enum gi_status status =
        queue->k->alloc(queue, &edges, classes->width, classes->height, 1, classes->type, err);
    if (status)
        return status;
    struct gi_reconstruct spec = {classes, 8};
    status = queue->k->threshold(queue, &edges, classes, &all, err);
    if (!status)
        status = queue->k->threshold(queue, classes, classes, &strong, err);
    if (!status)
        status = queue->k->reconstruct(queue, dst, &edges, &spec, err);
    queue->k->release(queue, &edges);
    return status;
}

/* Makes dst from the image whose gradients count, of the same type. */
static enum gi_status find_edges(struct gi_queue *queue, struct gi_image *dst,
                                 const struct gi_image *src, const struct gi_canny *spec,
                                 struct gi_err *err)
{
    struct gi_image classes;
    enum gi_status status =
        queue->k->alloc(queue, &classes, src->width, src->height, 1, src->type, err);
    if (status)
        return status;
    status = queue->k->canny(queue, &classes, src, spec, err);
    if (!status)
        status = connect_edges(queue, dst, &classes, err);
    queue->k->release(queue, &classes);
    return status;
}

/* Makes a float image with alpha, which is opaque if `src` has none. */
static enum gi_status to_floats(struct gi_queue *queue, struct gi_image *floats,
                                const struct gi_image *src, struct gi_err *err)
{
    struct gi_image plain;
    int channels = src->channels + !gi_has_alpha(src);
    enum gi_status status =
        queue->k->alloc(queue, &plain, src->width, src->height, src->channels, GI_F32, err);
    if (status)
        return status;
    status = queue->k->convert(queue, &plain, src, NULL, err);
    if (status || channels == src->channels) {
        *floats = plain;
        if (status)
            queue->k->release(queue, &plain);
        return status;
    }
    struct gi_permute_channels spec = {.nsources = 1};
    for (int c = 0; c < channels; c++) {
        spec.from[c].source = c < src->channels ? 0 : -1;
        spec.from[c].channel = c < src->channels ? c : 0;
        spec.value[c] = 1;
    }
    status = queue->k->alloc(queue, floats, src->width, src->height, channels, GI_F32, err);
    if (!status) {
        status = queue->k->permute_channels(queue, floats, &plain, &spec, err);
        if (status)
            queue->k->release(queue, floats);
    }
    queue->k->release(queue, &plain);
    return status;
}

/* Makes the image whose gradients count. */
static enum gi_status smoothed(struct gi_queue *queue, struct gi_image *smooth,
                               const struct gi_image *src, const struct gi_separable *spec,
                               struct gi_err *err)
{
    enum gi_status status =
        queue->k->alloc(queue, smooth, src->width, src->height, src->channels, src->type, err);
    if (status)
        return status;
    status = queue->k->convolve_separable(queue, smooth, src, spec, err);
    if (status)
        queue->k->release(queue, smooth);
    return status;
}

static enum gi_status run_like_skimage(const struct gi_canny *spec,
                                       const struct gi_separable *gaussian, struct gi_queue *queue,
                                       const struct gi_work *work, struct gi_err *err)
{
    struct gi_image floats, smooth, edges;
    enum gi_status status = to_floats(queue, &floats, work->srcs, err);
    if (status)
        return status;
    status = smoothed(queue, &smooth, &floats, gaussian, err);
    queue->k->release(queue, &floats);
    if (status)
        return status;
    status = queue->k->alloc(queue, &edges, smooth.width, smooth.height, 1, GI_F32, err);
    if (!status) {
        status = find_edges(queue, &edges, &smooth, spec, err);
        if (!status)
            status = queue->k->convert(queue, work->dst, &edges, NULL, err);
        queue->k->release(queue, &edges);
    }
    queue->k->release(queue, &smooth);
    return status;
}

static enum gi_status run(const struct gi_plan *plan, struct gi_queue *queue,
                          const struct gi_work *work, struct gi_err *err)
{
    const struct gi_separable_tables *gaussian = plan->tables;
    struct gi_canny spec = spec_of(plan->params, work->srcs->type);
    struct gi_image smooth;
    if (spec.interpolated)
        return run_like_skimage(&spec, &gaussian->spec, queue, work, err);
    if (!gaussian)
        return find_edges(queue, work->dst, work->srcs, &spec, err);
    enum gi_status status = smoothed(queue, &smooth, work->srcs, &gaussian->spec, err);
    if (status)
        return status;
    status = find_edges(queue, work->dst, &smooth, &spec, err);
    queue->k->release(queue, &smooth);
    return status;
}

const struct gi_filter gi_filter_canny = {
    .name = "canny",
    .group = GI_GROUP_FILTERS,
    .planes = GI_PLANES_LUMA,
    .summary = "Canny edge detection: thin, connected edges as a mask",
    .examples = "gpuimg canny in.png edges.png\n"
                "gpuimg canny photo.jpg edges.png --low 60 --high 150 --sigma 1.4\n"
                "gpuimg canny cells.tif edges.png --like skimage --sigma 2",
    .manual =
        "The result is a mask of one channel, in which edges are white and one pixel wide. The "
        "gradient is that of the Sobel operator (1 2 1), not divided by anything. Non-maximum "
        "suppression keeps the pixels whose gradient is a maximum across the edge. Those above "
        "--high are edges, and those above --low are edges if they are connected to one "
        "(hysteresis "
        "with 8 neighbours).\n\n"
        "Thresholds are in sample values of the gradient: --low 100 of an 8-bit image corresponds "
        "to 25700 in 16 bits, and to 0.39 in a float image. A step from black to white has a "
        "gradient of 4 times full scale. With --size 5 gradients are up to 12 times as large, and "
        "with --size 7 up to 160 times.\n\n"
        "In a colour image every pixel has the gradient of the channel in which it is largest. "
        "Alpha is dropped; with --sigma colours are weighted by it.\n\n"
        "The result is that of OpenCV's Canny() in 8 bits, to the byte, with --norm l2 that of "
        "L2gradient. 16-bit and float images, which OpenCV refuses, follow the same rules; "
        "gradients of floats are computed in float. --sigma smooths as gpuimg gaussian does.\n\n"
        "--like skimage gives the edges of scikit-image's canny(), which smooths by --sigma with "
        "weights outside the image left out, compares with magnitudes that are interpolated "
        "between neighbours, and finds no edges in the outermost pixels. It is computed in float, "
        "and scikit-image computes in double: pixels may differ where two magnitudes, or a "
        "magnitude and a threshold, are equal except for rounding.\n\n"
        "Source: J. Canny, A computational approach to edge detection, IEEE Trans. PAMI 8(6), "
        "1986.",
    .options = options,
    .params_nbytes = sizeof(struct canny_params),
    .check = check,
    .plan = plan,
    .run = run,
};
