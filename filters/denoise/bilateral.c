/* Bilateral filter (C. Tomasi and R. Manduchi, 1998) and joint bilateral filter (G. Petschnigg and
 * others, 2004): a mean weighted by spatial distance and by difference of colour. This file
 * computes the two tables of weights.
 * SPDX-License-Identifier: MIT */
#include <math.h>
#include <string.h>

#include "filters/alpha.h"
#include "filters/filter.h"
#include "filters/tone/threshold_level.h"
#include "kernels/denoise.h"
#include "kernels/kernels.h"

struct bilateral_params {
    double sigma; /* pixels */
    struct gi_level range;
    int k; /* pixels; 0: derived from sigma */
    const char *guide;
    int alpha;
    struct gi_border_params border;
};

enum { SIGMA_MAX = 84 /* 2 * rint(1.5 * 84) + 1 <= GI_BILATERAL_MAX */ };

/* Weights below this become 0, so that no weight is too small for the precision of floats. */
static const double LEAST = 0x1p-40;

static const struct gi_option options[] = {
    {GI_OPTION("sigma", REAL, struct bilateral_params, sigma), .also = "sigma-spatial",
     .letter = 's', .default_text = "3", .min = 0.1, .max = SIGMA_MAX, .unit = "px",
     .help = "Standard deviation of the Gaussian weight of the distance r"},
    {GI_OPTION("range", LEVEL, struct bilateral_params, range), .also = "sigma-range",
     .letter = 'r', .amount = true, .default_text = "10%",
     .help = "Standard deviation of the Gaussian weight of the difference d"},
    {GI_OPTION("k", ODD, struct bilateral_params, k), .letter = 'k', .min = 1,
     .max = GI_BILATERAL_MAX, .unit = "px",
     .help = "Diameter of the disk of pixels around each pixel; by default three sigma, as in "
             "OpenCV"},
    {GI_OPTION("guide", IMAGE, struct bilateral_params, guide), .letter = 'g', .metavar = "IMAGE",
     .help = "Compute the differences d from this image, which has the size of the input"},
    GI_BORDER_OPTIONS(struct bilateral_params),
    GI_ALPHA_OPTION(struct bilateral_params, alpha),
    {.name = NULL},
};

static enum gi_status check(void *params, struct gi_err *err)
{
    const struct bilateral_params *p = params;
    return gi_level_check_positive(&p->range, "range", err);
}

struct bilateral_tables {
    struct gi_bilateral spec;
    float value[GI_RANGE_ENTRIES], slope[GI_RANGE_ENTRIES], space[];
};

static double weight(double distance, double sigma)
{
    double x = distance / sigma, w = exp(-x * x / 2);
    return w < LEAST ? 0 : w;
}

/* Fills in the spatial weights of a disk. As in OpenCV, the disk contains all offsets whose
 * distance is at most the radius. Returns the number of weights that are not 0. */
static int fill_space(struct bilateral_tables *t, double sigma)
{
    int half = t->spec.k / 2, n = 0;
    for (int j = 0; j <= half; j++)
        for (int i = 0; i <= half; i++) {
            bool inside = i * i + j * j <= half * half;
            t->space[j * (half + 1) + i] = inside ? (float)weight(hypot(i, j), sigma) : 0;
            n += inside ? (i ? 2 : 1) * (j ? 2 : 1) : 0;
        }
    t->spec.space = t->space;
    return n;
}

/* Fills in the range weights. For bytes the table has an entry per distance. For other types the
 * table ends at the distance where weights become 0, and each entry has the slope of a tangent. */
static void fill_range(struct bilateral_tables *t, const struct gi_image *src, double sigma)
{
    struct gi_bilateral *spec = &t->spec;
    double far = sigma * sqrt(-2 * log(LEAST));
    bool whole = src->type == GI_U8;
    spec->n = whole ? 255 * gi_color_channels(src) + 1 : GI_RANGE_ENTRIES;
    spec->scale = whole ? 1 : (float)((spec->n - 1) / far);
    spec->value = t->value;
    spec->slope = whole ? NULL : t->slope;
    for (int i = 0; i < spec->n; i++) {
        double d = i / (double)spec->scale, w = weight(d, sigma);
        t->value[i] = (float)w;
        t->slope[i] = (float)(-w * d / (sigma * sigma) / (double)spec->scale);
    }
}

static enum gi_status plan(struct gi_plan *plan, struct gi_err *err)
{
    const struct bilateral_params *p = plan->params;
    const struct gi_image *src = &plan->sources[0];
    const struct gi_image *judge = &plan->sources[p->guide ? 1 : 0];
    if (judge->width != src->width || judge->height != src->height)
        return gi_fail(err, GI_E_UNSUPPORTED,
                       "--guide: %d x %d pixels: want %d x %d, as the input has", judge->width,
                       judge->height, src->width, src->height);
    int half = p->k ? p->k / 2 : (int)fmax(rint(1.5 * p->sigma), 1);
    size_t nspace = (size_t)(half + 1) * (size_t)(half + 1);
    struct bilateral_tables *t = gi_plan_tables(plan, sizeof *t + nspace * sizeof *t->space, err);
    if (!t)
        return GI_E_MEMORY;
    t->spec.k = 2 * half + 1;
    t->spec.border = gi_border_spec_from(&p->border, src);
    double unit = (double)gi_type_full_scale(judge->type) / (double)gi_type_full_scale(src->type);
    fill_range(t, judge, gi_level_number(&p->range, src->type) * unit);
    plan->cost.other = 14.0 * fill_space(t, p->sigma);
    plan->alpha_apart = true;
    plan->halo = half;
    plan->border = t->spec.border.mode;
    if (p->guide) {
        struct gi_border_spec border = gi_border_spec_from(&p->border, judge);
        memcpy(t->spec.guide_value, border.value, sizeof border.value);
        plan->cost.other *= 2;
        if (plan->border == GI_BORDER_WRAP) /* bands have no rows of the guide past its ends */
            plan->dependency = GI_DEPENDENCY_GLOBAL;
    }
    return GI_OK;
}

static enum gi_status run(const struct gi_plan *plan, struct gi_queue *queue,
                          const struct gi_work *work, struct gi_err *err)
{
    struct gi_bilateral spec = ((const struct bilateral_tables *)plan->tables)->spec;
    if (plan->nsources > 1)
        spec.guide = &work->srcs[1];
    return queue->k->bilateral(queue, work->dst, work->srcs, &spec, err);
}

const struct gi_filter gi_filter_bilateral = {
    .name = "bilateral",
    .group = GI_GROUP_FILTERS,
    .summary = "Bilateral filter: smooth but keep edges",
    .examples =
        "gpuimg bilateral in.png out.png\n"
        "gpuimg bilateral depth.png out.png --guide photo.png\n"
        "gpuimg bilateral scan.tif out.tif --k 9 --sigma 75 --range 75 --border reflect101\n"
        "gpuimg bilateral texture.tga out.tga --alpha keep",
    .manual = "Each pixel becomes a weighted mean of the pixels around it. Pixels that are near "
              "and of similar colour weigh most, so that noise is removed and edges stay. The "
              "weight of a pixel is exp(-r^2 / (2 sigma^2)) * exp(-d^2 / (2 range^2)), where r "
              "is its distance in pixels and d is the difference in sample values; in a colour "
              "image d is |dR| + |dG| + |dB|. Edges that are several times higher than --range "
              "stay.\n\n"
              "With --guide (joint or cross bilateral filter) d is computed from the pixels of "
              "another image, so that the edges of that image stay. For example, a photograph "
              "can guide the filter for its depth map, and a picture with flash can guide the "
              "filter for the same picture without flash. The guide may have another depth than "
              "the input, and it may be gray if the input has colour, or have colour if the "
              "input is gray. The alpha of the guide is ignored.\n\n" GI_ALPHA_COPIED_MANUAL ".\n\n"
              "In float images pixels "
              "with NaN or infinity have no weight. They do not change without --guide, and "
              "become the mean of their neighbours with --guide.\n\n"
              "Sources: C. Tomasi, R. Manduchi, Bilateral filtering for gray and color images, "
              "1998; G. Petschnigg and others, Digital photography with flash and no-flash image "
              "pairs, 2004. In OpenCV's bilateralFilter() the names are sigmaSpace (--sigma), "
              "sigmaColor (--range) and d (--k). With --border reflect101 its 8-bit results "
              "differ by one step at few samples, because OpenCV adds in another order. The "
              "weights of the difference d come from a table, which is exact for 8-bit images "
              "and has an error of at most 7e-6 for other images.",
    .samples.averages = true,
    .options = options,
    .params_nbytes = sizeof(struct bilateral_params),
    .check = check,
    .plan = plan,
    .run = run,
};
