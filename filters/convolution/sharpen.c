/* Sharpen: unsharp masking.
 * SPDX-License-Identifier: MIT */
#include "filters/filter.h"
#include "filters/convolution/weights.h"

struct params {
    double sigma;     /* px */
    double amount;    /* a factor */
    double threshold; /* per cent of full scale */
    struct gi_border_params edge;
};

static const struct gi_option options[] = {
    {.name = "sigma",
     .letter = 's',
     .type = GI_OPT_REAL,
     .offset = offsetof(struct params, sigma),
     .default_text = "1",
     .min = 0.1,
     .max = 250,
     .unit = "px",
     .help = "Standard deviation of the Gaussian whose blur is taken away"},
    {.name = "amount",
     .letter = 'a',
     .type = GI_OPT_REAL,
     .offset = offsetof(struct params, amount),
     .default_text = "1",
     .min = 0,
     .max = 100,
     .help = "How many times the difference to the blurred image is added"},
    {.name = "threshold",
     .letter = 't',
     .type = GI_OPT_REAL,
     .offset = offsetof(struct params, threshold),
     .default_text = "0",
     .min = 0,
     .max = 100,
     .unit = "% of full scale",
     .help = "Differences that are not larger leave a sample as it is"},
    GI_BORDER_OPTIONS(struct params),
    {.name = NULL},
};

static struct gi_halo halo(const void *arg)
{
    const struct params *p = arg;
    return (struct gi_halo){gi_gaussian_k(p->sigma) / 2, (enum gi_border)p->edge.border};
}

static struct gi_cost cost(const struct gi_image *src, const void *arg)
{
    (void)src;
    return (struct gi_cost){.fmas = 2 * gi_gaussian_k(((const struct params *)arg)->sigma) + 1,
                            .other = 2};
}

static enum gi_status run(struct gi_queue *queue, struct gi_image *dst, const struct gi_image *src,
                          const void *arg, const void *state, struct gi_err *err)
{
    (void)state;
    const struct params *p = arg;
    float taps[GI_TAPS_MAX];
    int k = gi_gaussian_k(p->sigma);
    double sum = gi_gaussian_taps(taps, k, p->sigma);
    struct gi_separable spec = {
        .row = taps,
        .col = taps,
        .nrow = k,
        .ncol = k,
        .row_anchor = k / 2,
        .col_anchor = k / 2,
        .sum = (float)(sum * sum),
        .alpha = GI_ALPHA_WEIGH,
        .edge = gi_edge_from(&p->edge, src),
        .finish = {.kind = GI_FINISH_UNSHARP,
                   .amount = (float)p->amount,
                   .threshold =
                       (float)(p->threshold * (double)gi_type_full_scale(src->type) / 100)},
    };
    return queue->k->convolve_separable(queue, dst, src, &spec, err);
}

const struct gi_filter gi_filter_sharpen = {
    .name = "sharpen",
    .summary = "Sharpen by an unsharp mask",
    .manual =
        "Takes a Gaussian blur away: out = in + amount (in - blurred), wherever the difference "
        "|in - blurred| is larger than the threshold; elsewhere out = in. The Gaussian is the one "
        "of the command gaussian with the same --sigma.\n\n"
        "The threshold is a per cent of full scale, so that it means the same in 8 bits, in 16 "
        "bits "
        "and in float; it keeps noise in even areas from being sharpened.\n\n"
        "Alpha stays as it is; colour counts in the blur as much as its pixel is opaque.",
    .options = options,
    .params_nbytes = sizeof(struct params),
    .halo = halo,
    .cost = cost,
    .run = run,
};
