/* Threshold: two values out of many.
 * SPDX-License-Identifier: MIT */
#include "filters/filter.h"
#include "filters/tone/levels.h"

struct params {
    struct gi_level at;
    bool invert;
};

static const struct gi_option options[] = {
    {.name = "at",
     .letter = 't',
     .type = GI_OPT_LEVEL,
     .offset = offsetof(struct params, at),
     .default_text = "otsu",
     .help = "The level: samples above it become full scale, the others zero"},
    {.name = "invert",
     .letter = 'i',
     .type = GI_OPT_FLAG,
     .offset = offsetof(struct params, invert),
     .help = "The other way round: samples above the level become zero"},
    {.name = NULL},
};

/* Looking for Otsu's threshold reads the image once more a pass. */
static struct gi_cost cost(const struct gi_image *src, const void *arg)
{
    const struct params *p = arg;
    return (struct gi_cost){
        .other = p->at.kind == GI_LEVEL_OTSU ? 1 + 8 * gi_level_passes(src->type) : 1};
}

static size_t state_nbytes(const struct gi_image *src, const void *arg)
{
    (void)src;
    (void)arg;
    return sizeof(struct gi_level_state);
}

static int passes(const struct gi_image *src, const void *arg)
{
    const struct params *p = arg;
    return p->at.kind == GI_LEVEL_OTSU ? gi_level_passes(src->type) : 0;
}

static enum gi_status measure(struct gi_queue *queue, void *state, int pass,
                              const struct gi_image *band, const void *arg, struct gi_err *err)
{
    (void)arg;
    return gi_level_measure(queue, state, pass, band, err);
}

static enum gi_status run(struct gi_queue *queue, struct gi_image *dst, const struct gi_image *src,
                          const void *arg, const void *state, struct gi_err *err)
{
    const struct params *p = arg;
    double otsu = p->at.kind == GI_LEVEL_OTSU ? gi_level_otsu(state) : 0;
    return queue->k->threshold(queue, dst, src, gi_level_value(&p->at, src->type, otsu), p->invert,
                               err);
}

const struct gi_filter gi_filter_threshold = {
    .name = "threshold",
    .summary = "Make every sample black or white",
    .manual =
        "A sample above the level becomes full scale, any other zero; in a colour image each "
        "channel is compared by itself, and alpha stays as it is.\n\n"
        "The level is a sample value (127, or 0.5 in a float image), a per cent of full scale "
        "(50%), or otsu: the value t that parts the image in two classes, v <= t and v > t, with "
        "the largest variance between them (N. Otsu, A threshold selection method from gray-level "
        "histograms, IEEE Trans. SMC 9(1), 1979); of equals the lowest. It is found from the gray "
        "image, or from the luma of a colour image (0.2126 R + 0.7152 G + 0.0722 B, ITU-R BT.709), "
        "value by value in 8 and 16 bits; in float images from 256 bins between the smallest and "
        "the largest finite value, as the centre of its bin. OpenCV and scikit-image find the "
        "same. Where all samples are equal, none is above.",
    .options = options,
    .params_nbytes = sizeof(struct params),
    .cost = cost,
    .run = run,
    .state_nbytes = state_nbytes,
    .passes = passes,
    .measure = measure,
};
