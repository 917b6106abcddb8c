/* SSIMULACRA 2 of images in host memory (filters/statistics/ssimulacra2.h): their linear light,
 * with alpha composited over gray. SPDX-License-Identifier: MIT */
#include "filters/statistics/ssimulacra2.h"

#include <stdlib.h>

#include "filters/color/spaces.h"
#include "filters/statistics/compare_work.h"

/* Gray below transparent pixels, encoded, 0 to 1. */
static const double backdrops[2] = {0.1, 0.9};

/* Linear light of an image over a backdrop. Pixels that are not compared are those of the
 * original. */
struct lighting {
    const struct gi_scored_original *original;
    const struct gi_image *image;
    struct gi_image *light; /* GI_F32, three channels */
    double backdrop;
};

static void load_pixel(float rgb[3], const struct lighting *lighting, const struct gi_image *image,
                       const void *row, size_t x)
{
    size_t i = x * (size_t)image->channels, colors = (size_t)gi_color_channels(image);
    double full = gi_type_full_scale(image->type);
    double alpha = gi_has_alpha(image) ? gi_sample(row, i + colors, image->type) / full : 1;
    for (size_t c = 0; c < 3; c++) {
        double v = gi_sample(row, i + (colors == 3 ? c : 0), image->type);
        if (lighting->original->light && alpha == 1)
            rgb[c] = lighting->original->light[(int)v];
        else
            rgb[c] = (float)gi_srgb_light(alpha * v / full + (1 - alpha) * lighting->backdrop);
    }
}

static void light_row(void *arg, int y, void *scratch)
{
    const struct lighting *lighting = arg;
    const struct gi_image *a = lighting->original->image;
    const uint8_t *ignored = lighting->original->ignored;
    float *row = gi_row(lighting->light, y);
    if (ignored)
        ignored += (size_t)y * (size_t)a->width;
    for (size_t x = 0; x < (size_t)a->width; x++) {
        const struct gi_image *image = ignored && ignored[x] ? a : lighting->image;
        load_pixel(row + 3 * x, lighting, image, gi_row(image, y), x);
    }
}

/* Begins original k if `score` is NULL, otherwise scores `image` against it. */
static enum gi_status use(double *score, struct gi_scored_original *original, int k,
                          const struct gi_image *image, struct gi_err *err)
{
    struct gi_queue *queue = original->queue;
    struct gi_image lit = {0}, placed;
    bool direct = original->light && !gi_has_alpha(image) && (!original->ignored || !score);
    const float *light = direct ? original->light : NULL;
    enum gi_status status = GI_OK;
    if (!direct) {
        struct lighting lighting = {original, image, &lit, backdrops[k]};
        status = gi_image_alloc(&lit, image->width, image->height, 3, GI_F32, err);
        if (!status)
            status = queue->k->jobs(queue, image->height, light_row, &lighting, 0, err);
    }
    if (!status)
        status = queue->k->upload(queue, &placed, direct ? image : &lit, NULL, err);
    if (!status) {
        struct gi_ssimulacra2 *over = &original->over[k];
        status = score ? gi_ssimulacra2_score(score, over, &placed, light, err)
                       : gi_ssimulacra2_begin(over, queue, &placed, light, err);
        queue->k->release(queue, &placed);
    }
    gi_image_free(&lit);
    return status;
}

enum gi_status gi_scored_original_begin(struct gi_scored_original *original, struct gi_queue *queue,
                                        const struct gi_image *image, const uint8_t *ignored,
                                        struct gi_err *err)
{
    *original = (struct gi_scored_original){.queue = queue, .image = image, .ignored = ignored};
    if (image->type != GI_F32 && !(original->light = gi_ssimulacra2_light(image->type)))
        return gi_fail(err, GI_E_MEMORY, "out of memory: a table of linear light");
    enum gi_status status = use(NULL, original, 0, image, err);
    return status || !gi_has_alpha(image) ? status : use(NULL, original, 1, image, err);
}

enum gi_status gi_scored_original_score(double *score, struct gi_scored_original *original,
                                        const struct gi_image *other, struct gi_err *err)
{
    double bright;
    enum gi_status status = use(score, original, 0, other, err);
    if (status || !gi_has_alpha(other))
        return status;
    status = use(&bright, original, 1, other, err);
    *score = bright < *score ? bright : *score;
    return status;
}

void gi_scored_original_end(struct gi_scored_original *original)
{
    for (int k = 0; k < 2; k++)
        gi_ssimulacra2_end(&original->over[k]);
    free(original->light);
    *original = (struct gi_scored_original){0};
}

enum gi_status gi_compare_ssimulacra2(struct gi_comparison *result,
                                      const struct gi_compare_work *work, struct gi_err *err)
{
    struct gi_scored_original original;
    enum gi_status status =
        gi_scored_original_begin(&original, work->queue, work->a, work->ignored, err);
    if (!status)
        status = gi_scored_original_score(&result->all.ssimulacra2, &original, work->b, err);
    gi_scored_original_end(&original);
    return status;
}
