/* Integral images (summed-area tables), and cumulative sums along rows or columns, by the primitive
 * `scan`. Sums are integers, so that all devices compute the same sums. Floats are first rounded to
 * multiples of a power of 2.
 * SPDX-License-Identifier: MIT */
#include "filters/statistics/integral.h"
#include "kernels/kernels.h"
#include "kernels/statistics.h"

#include <math.h>
#include <string.h>

enum { SUM_BITS = 62 }; /* bits for a sum of floats, besides the sign and a margin for rounding */

static enum gi_scan_along along_of(const struct gi_plan *plan)
{
    const struct gi_integral_params *p = plan->params;
    if (plan->filter == &gi_filter_integral)
        return GI_SCAN_BOTH;
    return p->along ? GI_SCAN_COLUMNS : GI_SCAN_ROWS;
}

/* longest() returns the number of samples in the longest sum, and most_of() returns the maximum
 * that an integer sample adds to a sum. */
static double longest(const struct gi_plan *plan)
{
    enum gi_scan_along along = along_of(plan);
    double width = plan->sources[0].width, height = plan->sources[0].height;
    return (along == GI_SCAN_COLUMNS ? 1 : width) * (along == GI_SCAN_ROWS ? 1 : height);
}

static double most_of(const struct gi_plan *plan)
{
    double full = (double)gi_type_full_scale(plan->sources[0].type);
    return ((const struct gi_integral_params *)plan->params)->squares ? full * full : full;
}

/* Words of 32 bits that a sum takes. */
static int words_of(const struct gi_plan *plan)
{
    bool floats = plan->sources[0].type == GI_F32;
    return !floats && longest(plan) * most_of(plan) <= UINT32_MAX ? 1 : 2;
}

static enum gi_status plan(struct gi_plan *plan, struct gi_err *err)
{
    const struct gi_image *src = &plan->sources[0];
    plan->dependency = GI_DEPENDENCY_GLOBAL;
    plan->cost.other = 4;
    plan->cost.nbytes = 8;
    plan->array_nbytes = (size_t)gi_image_nbytes(src) / gi_type_nbytes(src->type) *
                         sizeof(uint32_t) * (size_t)words_of(plan);
    if (src->width > INT32_MAX / 2 ||
        (src->type != GI_F32 && longest(plan) * most_of(plan) >= 0x1p64))
        return gi_fail(err, GI_E_UNSUPPORTED, "%d x %d pixels: their sums don't fit in 64 bits",
                       src->width, src->height);
    return GI_OK;
}

/* Finds the power of 2 by which floats are multiplied, so that no sum needs more than SUM_BITS
 * bits. */
static enum gi_status find_shift(int *shift, const struct gi_plan *plan, struct gi_queue *queue,
                                 const struct gi_image *src, struct gi_err *err)
{
    const struct gi_integral_params *p = plan->params;
    struct gi_reduction found[GI_MAX_CHANNELS];
    struct gi_reduce all = {0};
    double most = 0;
    int exponent;
    memset(found, 0, sizeof found);
    enum gi_status status = queue->k->reduce(queue, found, src, &all, err);
    for (int c = 0; c < src->channels; c++)
        most = fmax(most, fmax(fabs((double)found[c].min), fabs((double)found[c].max)));
    frexp((p->squares ? most * most : most) * longest(plan), &exponent);
    *shift = SUM_BITS - exponent;
    *shift = *shift < -1000 ? -1000 : *shift > 1000 ? 1000 : *shift;
    return status;
}

static enum gi_status analyse(const struct gi_plan *plan, struct gi_queue *queue, void *result,
                              const struct gi_image *srcs, struct gi_err *err)
{
    const struct gi_integral_params *p = plan->params;
    struct gi_integral *integral = result;
    struct gi_scan scan = {.along = along_of(plan), .squares = p->squares, .words = words_of(plan)};
    struct gi_image dst;
    enum gi_status status = GI_OK;
    if (srcs->type == GI_F32)
        status = find_shift(&scan.shift, plan, queue, srcs, err);
    if (!status)
        status = queue->k->alloc(queue, &dst, srcs->width * scan.words, srcs->height,
                                 srcs->channels, GI_U32, err);
    if (status)
        return status;
    status = queue->k->scan(queue, &dst, srcs, &scan, err);
    if (status) {
        queue->k->release(queue, &dst);
        return status;
    }
    integral->words = scan.words;
    integral->is_float = srcs->type == GI_F32;
    return queue->k->download(queue, &integral->sums, &dst, NULL, err);
}

void gi_integral_row(float *row, int y, const void *self)
{
    const struct gi_integral *integral = self;
    size_t n = gi_row_samples(&integral->sums) / (size_t)integral->words;
    const void *sums = gi_row(&integral->sums, y);
    for (size_t i = 0; i < n; i++)
        row[i] = integral->is_float     ? (float)((const double *)sums)[i]
                 : integral->words == 1 ? (float)((const uint32_t *)sums)[i]
                                        : (float)((const uint64_t *)sums)[i];
}

static void result_free(void *result)
{
    gi_image_free(&((struct gi_integral *)result)->sums);
}

static void result_digest(const void *result, struct gi_digest *digest)
{
    const struct gi_integral *integral = result;
    gi_digest_integer(digest, integral->words);
    gi_digest_integer(digest, integral->is_float);
    gi_digest_image(digest, &integral->sums);
}

/* Puts the sums of a part between those of the other parts. */
static enum gi_status add_part(void *all_sums, const void *part_sums,
                               const struct gi_part_names *names, struct gi_err *err)
{
    struct gi_integral *all = all_sums;
    const struct gi_integral *part = part_sums;
    const struct gi_image *from = &part->sums;
    size_t words = (size_t)part->words, width = (size_t)from->width / words;
    enum gi_status status = GI_OK;
    if (!all->words)
        status =
            gi_image_alloc(&all->sums, from->width, from->height, names->nchannels, GI_U32, err);
    if (status)
        return status;
    all->words = part->words;
    all->is_float = part->is_float;
    for (int y = 0; y < from->height; y++) {
        const uint32_t *in = gi_row(from, y);
        uint32_t *out = gi_row(&all->sums, y);
        for (size_t x = 0; x < width; x++)
            for (int c = 0; c < names->n; c++, in += words)
                memcpy(out + (x * (size_t)names->nchannels + (size_t)names->at[c]) * words, in,
                       words * sizeof *in);
    }
    return GI_OK;
}

const struct gi_parts_join gi_integral_parts = {.add = add_part};

#define SUMS_MANUAL                                                                                \
    "Each channel, including alpha, is summed separately, and the array of sums has the shape "    \
    "of the image. OUTPUT is a .npy file, which holds the sums exactly, or a .pfm file, which "    \
    "holds the nearest floats and is possible for one or three channels. With many images, and "   \
    "with --tar, each image gives an array with its name: .npy, or .pfm with --suffix .pfm.\n\n"   \
    "In 8- and 16-bit images the sums are whole numbers: of 32 bits if the largest possible "      \
    "sum fits, otherwise of 64 bits. In float images the sums are doubles, and NaN and "           \
    "infinity count as 0. Float samples (or their squares) are rounded to multiples of a power "   \
    "of two and added as whole numbers, so that the result is the same on every device. The "      \
    "power of two is the smallest one for which all sums fit in 62 bits."

#define SQUARES_OPTION                                                                             \
    {                                                                                              \
        GI_OPTION("squares", FLAG, struct gi_integral_params, squares),                            \
            .help = "Sum up the squares of the samples"                                            \
    }

static const struct gi_option integral_options[] = {SQUARES_OPTION, {.name = NULL}};

static const struct gi_choice directions[] = {
    {"rows", NULL, "along each row, from the left"},
    {"columns", NULL, "along each column, from the top"},
    {0},
};

static const struct gi_option cumulative_options[] = {
    {GI_OPTION("along", CHOICE, struct gi_integral_params, along), .letter = 'a',
     .default_text = "rows", .choices = directions, .help = "Direction of the sums"},
    SQUARES_OPTION,
    {.name = NULL},
};

const struct gi_filter gi_filter_integral = {
    .name = "integral",
    .group = GI_GROUP_MEASUREMENT,
    .summary = "Integral image (summed-area table), exact",
    .manual = "out(y, x) is the sum of in(j, i) over all j <= y and i <= x (integral image, "
              "summed-area table). The sum over any rectangle then follows from four of these "
              "sums.\n\n" SUMS_MANUAL "\n\n"
              "scikit-image's integral_image gives the same; OpenCV's "
              "integral has an additional row and column of zeros in "
              "front.",
    .options = integral_options,
    .params_nbytes = sizeof(struct gi_integral_params),
    .plan = plan,
    .analysis.nbytes = sizeof(struct gi_integral),
    .analysis.run = analyse,
    .analysis.free = result_free,
    .analysis.digest = result_digest,
};

const struct gi_filter gi_filter_cumulative = {
    .name = "cumulative",
    .group = GI_GROUP_MEASUREMENT,
    .summary = "Cumulative sums along rows or columns, exact",
    .manual = "out(y, x) is the sum of in(y, i) over all i <= x, like numpy's cumsum. With "
              "--along columns it is the sum of in(j, x) over all j <= y.\n\n" SUMS_MANUAL,
    .options = cumulative_options,
    .params_nbytes = sizeof(struct gi_integral_params),
    .plan = plan,
    .analysis.nbytes = sizeof(struct gi_integral),
    .analysis.run = analyse,
    .analysis.free = result_free,
    .analysis.digest = result_digest,
};
