/* Match: the tones of an image become as frequent as those of a reference.
 * SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "filters/tone/curve.h"

struct params {
    const char *reference;
};

static const struct gi_option options[] = {
    {.name = "reference",
     .letter = 'r',
     .type = GI_OPT_IMAGE,
     .picture = true,
     .offset = offsetof(struct params, reference),
     .example = "reference.png",
     .help = "The image whose tones are wanted, of any size"},
    {.name = NULL},
};

static enum gi_status check(void *params, struct gi_err *err)
{
    const struct params *p = params;
    return p->reference ? GI_OK : gi_fail(err, GI_E_USAGE, "--reference: missing: want an image");
}

static enum gi_status plan(struct gi_plan *plan, struct gi_err *err)
{
    const struct gi_image *src = &plan->sources[0], *like = &plan->sources[1];
    enum gi_status status = gi_curve_takes(src, "", err);
    if (status)
        return status;
    if (like->type != src->type)
        return gi_fail(err, GI_E_UNSUPPORTED,
                       "a reference of %d-bit samples: want %d bits, as the image",
                       8 * (int)gi_type_nbytes(like->type), 8 * (int)gi_type_nbytes(src->type));
    if (gi_colour_channels(like) != gi_colour_channels(src))
        return gi_fail(err, GI_E_UNSUPPORTED, "a reference of %d colour%s: want %d, as the image",
                       gi_colour_channels(like), gi_colour_channels(like) == 1 ? "" : "s",
                       gi_colour_channels(src));
    plan->reach = GI_REACH_ALL;
    plan->cost.other = 18;
    plan->cost.nbytes = (double)gi_type_nbytes(src->type);
    return GI_OK;
}

/* What v becomes: at the share of samples up to v, on straight lines between the shares of the
 * values that the reference has. */
static void fill_curve(double *to, const uint64_t *counts, uint64_t total, const uint64_t *like,
                       uint64_t like_total, int n)
{
    int before = -1, at = 0;
    uint64_t sum = 0, below = 0, up;
    while (!like[at])
        at++;
    up = like[at];
    for (int v = 0; v < n; v++) {
        sum += counts[v];
        double share = (double)sum / (double)total;
        while (up < like_total && (double)up / (double)like_total <= share) {
            before = at;
            below = up;
            do
                at++;
            while (!like[at]);
            up += like[at];
        }
        double high = (double)up / (double)like_total, low = (double)below / (double)like_total;
        if (before < 0 || share >= high)
            to[v] = at;
        else
            to[v] = (double)(at - before) / (high - low) * (share - low) + (double)before;
    }
}

struct curves {
    const double *to;
    int each; /* from those of a channel to the next one's */
};

static double curve(const void *arg, int channel, double v)
{
    const struct curves *curves = arg;
    return curves->to[channel * curves->each + (int)v];
}

static enum gi_status count(struct gi_queue *queue, uint64_t **counts, const struct gi_image *image,
                            int n, struct gi_err *err)
{
    struct gi_histogram_spec spec = {.key = GI_KEY_VALUE, .nbins = n};
    *counts = calloc((size_t)n * (size_t)image->channels, sizeof **counts);
    if (!*counts)
        return gi_fail(err, GI_E_MEMORY, "out of memory: %d counts", n);
    return queue->k->histogram(queue, *counts, image, &spec, err);
}

static enum gi_status run(const struct gi_plan *plan, struct gi_queue *queue,
                          const struct gi_work *work, struct gi_err *err)
{
    const struct gi_image *src = &work->srcs[0], *like = &work->srcs[1];
    int n = (int)gi_type_full_scale(src->type) + 1, channels = gi_colour_channels(src);
    uint64_t *counts = NULL, *wanted = NULL;
    double *to = malloc((size_t)n * (size_t)channels * sizeof *to);
    (void)plan;
    enum gi_status status = GI_OK;
    if (!to)
        status = gi_fail(err, GI_E_MEMORY, "out of memory: %d curves", channels);
    if (!status)
        status = count(queue, &counts, src, n, err);
    if (!status)
        status = count(queue, &wanted, like, n, err);
    for (int c = 0; c < channels && !status; c++)
        fill_curve(to + c * n, counts + c * n, (uint64_t)src->width * (uint64_t)src->height,
                   wanted + c * n, (uint64_t)like->width * (uint64_t)like->height, n);
    struct curves curves = {to, n};
    if (!status)
        status = gi_curve_run(queue, work, &(struct gi_curve){curve, &curves, true}, err);
    free(to);
    free(counts);
    free(wanted);
    return status;
}

const struct gi_filter gi_filter_match = {
    .name = "match",
    .summary = "Make tones as frequent as those of a reference image",
    .examples = "gpuimg match in.png out.png --reference good.png\n"
                "gpuimg match frame2.tif out.tif -r frame1.tif\n"
                "gpuimg match evening.jpg out.jpg --reference noon.jpg",
    .manual =
        "A sample v becomes the value at which the reference's cumulative distribution is that of "
        "the image at v: S(v) is the share of samples up to v, and between the shares of the "
        "values that occur in the reference it goes on straight lines, in double, rounded half to "
        "even; below the first share it is the least of them. That is scikit-image's "
        "match_histograms() with each channel by itself, which does not round. Transparent pixels "
        "count too, alpha stays as it is. It takes 8 and 16 bits, the reference of as many and of "
        "as many colours.",
    .options = options,
    .params_nbytes = sizeof(struct params),
    .check = check,
    .plan = plan,
    .run = run,
};
