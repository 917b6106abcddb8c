/* Blur: the mean of k x k pixels.
 * SPDX-License-Identifier: MIT */
#include "filters/filter.h"
#include "filters/convolution/weights.h"

struct params {
    int k;
    struct gi_border_params edge;
};

static const struct gi_option options[] = {
    {.name = "k",
     .letter = 'k',
     .type = GI_OPT_ODD,
     .offset = offsetof(struct params, k),
     .default_text = "5",
     .min = 1,
     .max = GI_TAPS_MAX,
     .unit = "px",
     .help = "Side of the square whose mean each pixel becomes"},
    GI_BORDER_OPTIONS(struct params),
    {.name = NULL},
};

static struct gi_halo halo(const void *arg)
{
    const struct params *p = arg;
    return (struct gi_halo){p->k / 2, (enum gi_border)p->edge.border};
}

/* Integers: running sums, about ten operations a sample whatever k. */
static struct gi_cost cost(const struct gi_image *src, const void *arg)
{
    const struct params *p = arg;
    bool whole_numbers = src->type != GI_F32;
    return (struct gi_cost){.fmas = whole_numbers ? 0 : 2 * p->k, .other = whole_numbers ? 10 : 0};
}

static enum gi_status run(struct gi_queue *queue, struct gi_image *dst, const struct gi_image *src,
                          const void *arg, const void *state, struct gi_err *err)
{
    (void)state;
    const struct params *p = arg;
    struct gi_edge edge = gi_edge_from(&p->edge, src);
    if (src->type != GI_F32) {
        struct gi_box box = {.k = p->k, .alpha = GI_ALPHA_WEIGH, .edge = edge};
        return queue->k->box(queue, dst, src, &box, err);
    }
    float taps[GI_TAPS_MAX];
    double sum = gi_box_taps(taps, p->k);
    struct gi_separable spec = {.row = taps,
                                .col = taps,
                                .nrow = p->k,
                                .ncol = p->k,
                                .row_anchor = p->k / 2,
                                .col_anchor = p->k / 2,
                                .sum = (float)(sum * sum),
                                .alpha = GI_ALPHA_WEIGH,
                                .edge = edge};
    return queue->k->convolve_separable(queue, dst, src, &spec, err);
}

const struct gi_filter gi_filter_blur = {
    .name = "blur",
    .summary = "Blur by the mean of k x k pixels",
    .manual =
        "Each pixel becomes the mean of the k x k pixels around it:\n"
        "out(y, x) = sum of in(y + j, x + i) / k^2, for i and j from -(k - 1) / 2 to (k - 1) / 2. "
        "For 8- and 16-bit images the mean is exact and rounded to the nearest, as OpenCV's blur() "
        "gives it; the time it takes does not depend on k.\n\n"
        "With alpha, colour counts as much as its pixel is opaque, so that what is transparent "
        "does not bleed.",
    .options = options,
    .params_nbytes = sizeof(struct params),
    .halo = halo,
    .cost = cost,
    .run = run,
};
