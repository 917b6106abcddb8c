/* Comparison of two host images: the operation, which computes the metrics that are asked.
 * SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdlib.h>

#include "filters/statistics/compare_work.h"
#include "filters/statistics/ssimulacra2.h"

enum gi_status gi_compare_check(const struct gi_image *x, const struct gi_image *y,
                                struct gi_err *err)
{
    bool size = x->width == y->width && x->height == y->height;
    if (size && x->channels == y->channels)
        return GI_OK;
    return gi_fail(err, GI_E_UNSUPPORTED,
                   "%d x %d, %d channel%s, %s against %d x %d, %d channel%s, %s: want the same %s",
                   x->width, x->height, x->channels, x->channels == 1 ? "" : "s",
                   gi_type_word(x->type), y->width, y->height, y->channels,
                   y->channels == 1 ? "" : "s", gi_type_word(y->type),
                   size ? "channels: --visible ignores those that say nothing, and --gray compares "
                          "in gray"
                        : "size, as gpuimg crop or gpuimg resize makes it");
}

enum gi_status gi_compare_match(struct gi_image *converted, const struct gi_image **a,
                                const struct gi_image **b, struct gi_err *err)
{
    const struct gi_image *x = *a, *y = *b;
    *converted = (struct gi_image){0};
    enum gi_status status = gi_compare_check(x, y, err);
    if (status || x->type == y->type)
        return status;
    bool first = x->type < y->type;
    status = gi_image_convert(converted, first ? x : y, first ? y->type : x->type, err);
    *(first ? a : b) = converted;
    return status;
}

/* The work is done on the host in double precision. For each sample, SSIM takes 4 sums over 11 rows
 * and over 11 columns; the other metrics take less. */
static enum gi_status plan(struct gi_plan *plan, struct gi_err *err)
{
    plan->dependency = GI_DEPENDENCY_GLOBAL;
    plan->on_host = true;
    plan->cost = (struct gi_cost){.other = 8 * 2 * 11};
    if (((const struct gi_compare_rules *)plan->params)->metrics & GI_COMPARE_SSIMULACRA2)
        plan->scratch_nbytes =
            gi_ssimulacra2_nbytes(plan->sources[0].width, plan->sources[0].height);
    return gi_compare_check(&plan->sources[0], &plan->sources[1], err);
}

static enum gi_status measure(struct gi_comparison *result, struct gi_compare_work *work,
                              struct gi_err *err)
{
    unsigned metrics = work->rules->metrics;
    enum gi_status status = gi_compare_pieces(work, err);
    if (!status)
        status = gi_compare_differences(result, work, err);
    gi_compare_rows_end(result);
    if (!status && metrics & (GI_COMPARE_SSIM | GI_COMPARE_MS_SSIM))
        status = gi_compare_similarities(result, work, err);
    if (!status && metrics & GI_COMPARE_CIEDE2000)
        status = gi_compare_colors(result, work, err);
    if (!status && metrics & GI_COMPARE_SSIMULACRA2)
        status = gi_compare_ssimulacra2(result, work, err);
    if (!status && metrics & GI_COMPARE_PIXELMATCH)
        status = gi_compare_pixelmatch(result, work, err);
    free(work->differs);
    return status;
}

void gi_compare_rows_begin(struct gi_comparison *result, const struct gi_compare_rules *rules,
                           const struct gi_image *a, const struct gi_image *b)
{
    unsigned metrics = rules->metrics ? rules->metrics : GI_COMPARE_DEFAULT;
    const struct gi_difference none = {.mse =
                                           metrics & (GI_COMPARE_MSE | GI_COMPARE_PSNR) ? 0 : NAN,
                                       .psnr = NAN,
                                       .ssim = NAN,
                                       .ms_ssim = NAN,
                                       .ciede2000 = NAN,
                                       .ciede2000_max = NAN,
                                       .ssimulacra2 = NAN};
    *result = (struct gi_comparison){.type = a->type > b->type ? a->type : b->type,
                                     .metrics = metrics,
                                     .all = none,
                                     .nchannels = a->channels};
    for (int c = 0; c < GI_MAX_CHANNELS; c++)
        result->channels[c] = none;
}

bool gi_compare_takes_rows(const struct gi_compare_rules *rules)
{
    const unsigned sums = GI_COMPARE_MSE | GI_COMPARE_PSNR | GI_COMPARE_NO_METRIC;
    return rules->metrics && !(rules->metrics & ~sums) && !rules->nregions && !rules->mask;
}

enum gi_status gi_compare_rows_add(struct gi_comparison *result,
                                   const struct gi_compare_rules *rules, const struct gi_image *a,
                                   const struct gi_image *b, struct gi_queue *queue,
                                   struct gi_err *err)
{
    struct gi_image converted;
    struct gi_compare_work work = {.a = a, .b = b, .rules = rules, .queue = queue};
    enum gi_status status = gi_compare_match(&converted, &work.a, &work.b, err);
    if (!status)
        status = gi_compare_pieces(&work, err);
    if (!status)
        status = gi_compare_differences(result, &work, err);
    free(work.differs);
    gi_image_free(&converted);
    return status;
}

static enum gi_status analyse(const struct gi_plan *plan, struct gi_queue *queue, void *out,
                              const struct gi_image *srcs, struct gi_err *err)
{
    struct gi_compare_rules rules = *(const struct gi_compare_rules *)plan->params;
    struct gi_comparison *result = out;
    struct gi_image converted;
    uint8_t *ignored = NULL;
    struct gi_compare_work work = {.a = &srcs[0], .b = &srcs[1], .rules = &rules, .queue = queue};
    enum gi_status status = gi_compare_match(&converted, &work.a, &work.b, err);
    if (!status)
        status = gi_compare_ignored(&ignored, &rules, work.a, err);
    work.ignored = ignored;
    gi_compare_rows_begin(result, &rules, &srcs[0], &srcs[1]);
    rules.metrics = result->metrics;
    if (!status)
        status = measure(result, &work, err);
    free(ignored);
    gi_image_free(&converted);
    return status;
}

static void digest_difference(struct gi_digest *digest, const struct gi_difference *difference)
{
    const double reals[] = {difference->max,           difference->mse,
                            difference->psnr,          difference->ssim,
                            difference->ms_ssim,       difference->ciede2000,
                            difference->ciede2000_max, difference->ssimulacra2};
    gi_digest_integer(digest, (int64_t)difference->samples);
    gi_digest_integer(digest, (int64_t)difference->differing);
    gi_digest_reals(digest, reals, sizeof reals / sizeof *reals);
    gi_digest_integer(digest, (int64_t)difference->pixelmatch);
    gi_digest_integer(digest, (int64_t)difference->antialiased);
}

static void result_digest(const void *result, struct gi_digest *digest)
{
    const struct gi_comparison *comparison = result;
    gi_digest_integer(digest, (int)comparison->type);
    gi_digest_integer(digest, comparison->metrics);
    gi_digest_integer(digest, comparison->nchannels);
    digest_difference(digest, &comparison->all);
    for (int c = 0; c < comparison->nchannels; c++)
        digest_difference(digest, &comparison->channels[c]);
}

static const struct gi_option options[] = {
    {GI_OPTION("metric", TEXT, struct gi_compare_rules, metric), .metavar = "NAME[,NAME]",
     .help = "Compute and print only these metrics, separated by commas: mse, psnr, ssim, ms-ssim, "
             "ciede2000, ssimulacra2, pixelmatch, or differing alone. The number of samples that "
             "differ and the largest difference are always printed. Without this option the "
             "metrics are mse, psnr and "
             "ssim"},
    {GI_OPTION("tolerance", REAL, struct gi_compare_rules, tolerance), .default_text = "0",
     .min = 0, .max = 1e9, .metavar = "N",
     .help = "Samples that differ by at most this many sample values count as equal"},
    {GI_OPTION("threshold", REAL, struct gi_compare_rules, threshold), .default_text = "0.1",
     .min = 0, .max = 1, .metavar = "X",
     .help = "Distance in YIQ, as a fraction of that of black and white, from which on pixels "
             "differ by --metric pixelmatch"},
    {GI_OPTION("ignore-region", TEXT, struct gi_compare_rules, regions), .metavar = "WxH+X+Y",
     .help = "Leave out the pixels of this rectangle, whose upper left pixel is X,Y; several "
             "rectangles are separated by commas"},
    {0},
};

const struct gi_filter gi_filter_compare = {
    .name = "compare",
    .group = GI_GROUP_MEASUREMENT,
    .summary = "Compare two images: PSNR, SSIM, largest difference",
    .manual =
        "Prints the number of samples that differ, the largest absolute difference, the "
        "mean squared error (mse), the peak signal-to-noise ratio (psnr) and the mean "
        "structural similarity (ssim), for the whole image and for each channel. psnr = 10 "
        "log10(full scale^2 / mse); for equal images it is infinite, in JSON null. --metric "
        "names other metrics, and those that are not named take no time. The images must "
        "have the same size and channels. If their depths differ, the image with fewer bits "
        "is converted to the depth of the other first.\n\n"
        "With --visible only what is seen counts. Colours do not count where alpha is 0 in "
        "one of the images, only the alphas do. An alpha that is opaque everywhere in both "
        "images, or that one of them lacks, is left out, and so are two of three colour "
        "channels if R, G and B are equal everywhere in both; otherwise gray stands for "
        "equal R, G and B, and no alpha for an opaque one. So an opaque RGBA image can equal "
        "an RGB image, or a gray one.\n\n"
        "Without limits the exit status is 1 if a sample differs by more than --tolerance, "
        "and 0 otherwise, as in cmp; a regression test needs nothing else. With limits "
        "(--max-diff, --min-psnr, --min-ssim, --min-ms-ssim, --max-ciede2000, "
        "--min-ssimulacra2, --max-differing) it is 1 if one of them does "
        "not hold, and 0 otherwise. It is 2 if a file cannot be read or the images cannot be "
        "compared. --quiet prints errors only. The pixels of --ignore and --ignore-region are "
        "left out of all numbers, and so are SSIM windows that contain one of them.\n\n"
        "Many pairs can be compared in one command, which then prints a table with a row "
        "per pair. A and B may be two folders, whose files are paired by their paths below "
        "the folders. --pairs names a file that lists the pairs. With --tar, A and B are "
        "tars, whose images are paired by their names; a leading ./ is ignored. The order "
        "of the images in the two tars may differ: an image waits in memory for its "
        "partner, as far as --memory allows.\n\nA visual regression test compares two folders of "
        "screenshots with --metric pixelmatch, allows some pixels by --max-differing, leaves out "
        "what always changes by --ignore or --ignore-region, writes --junit for the build server "
        "and --html for people.\n\ngpuimg compare does not search a folder for "
        "duplicates (dedupe); it compares the given pairs.\n\n"
        "SSIM is that of Wang, Bovik, Sheikh and Simoncelli, 2004, with Gaussian windows "
        "of 11 x 11 pixels and sigma 1.5 that are wholly inside the image, K1 = 0.01, K2 = "
        "0.03, and the population covariance. If a side of the image is shorter than 11 "
        "pixels, the window has the largest odd length that fits.\n\n"
        "MS-SSIM (ms-ssim) is that of Wang, Simoncelli and Bovik, 2003: SSIM on five scales, "
        "each made from the one before by the mean of 2 x 2 pixels, where the last row or "
        "column of an odd size is repeated. Images with a side below 161 pixels have none "
        "(nan, in JSON null). ciede2000 and ciede2000_max are the mean and the maximum of "
        "the colour difference CIEDE2000 (Sharma, Wu and Dalal, 2005) of the pixels, which "
        "are taken as sRGB and composited over white if they have alpha.\n\n"
        "ssimulacra2 is the score of SSIMULACRA 2.1, which says how good a compressed image looks "
        "beside the first image: 100 is equal, 90 looks the same, 70 is high, 50 medium and 30 low "
        "quality. Samples are taken as sRGB. With alpha the lower score over a dark and a bright "
        "gray counts. Pixels that are left out count as equal. The program of its author, which "
        "computes in float32, prints up to 0.1 less, above 90 up to 1.4 less.\n\n"
        "--metric pixelmatch counts the pixels that look different, as the package "
        "pixelmatch does: by their distance in YIQ, in 8 bits and over white, without those "
        "on antialiased edges, which are counted apart. Counts and pictures are those of "
        "pixelmatch for Python, and of mapbox/pixelmatch up to 5.3; versions 6 and 7 blend "
        "alpha over a pattern, and those after 7.2 measure in OKLab. Then these pixels "
        "decide: without limits the exit status is 1 if there are any, --max-differing "
        "limits their number or percentage, and --diff writes the picture of pixelmatch.",
    .options = options,
    .params_nbytes = sizeof(struct gi_compare_rules),
    .check = gi_compare_rules_check,
    .sources.min = 2,
    .sources.max = 2,
    .plan = plan,
    .analysis.nbytes = sizeof(struct gi_comparison),
    .analysis.run = analyse,
    .analysis.digest = result_digest,
};
