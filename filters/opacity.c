/* Measures whether an image has fully transparent pixels.
 * SPDX-License-Identifier: MIT */
#include "filters/opacity.h"
#include "kernels/kernels.h"
#include "kernels/statistics.h"

struct opacity_state {
    struct gi_reduction found[GI_MAX_CHANNELS];
};

void gi_opacity_plan(struct gi_plan *plan, bool alpha_too)
{
    const struct gi_image *src = &plan->sources[0];
    if (!gi_has_alpha(src) || alpha_too ||
        (uint64_t)src->width * (uint64_t)src->height >= UINT32_MAX)
        return;
    plan->passes = 1;
    plan->state_nbytes = sizeof(struct opacity_state);
}

enum gi_status gi_opacity_measure(const struct gi_plan *plan, struct gi_queue *queue, void *state,
                                  const struct gi_look *look, struct gi_err *err)
{
    const struct gi_reduce all = {.opaque = false};
    return queue->k->reduce(queue, ((struct opacity_state *)state)->found, look->srcs, &all, err);
}

bool gi_opacity_counts(const struct gi_border_spec *border, const struct gi_image *image)
{
    float pixel[GI_PIXEL_NBYTES_MAX / sizeof(float)]; /* room for samples of any type */
    if (border->mode != GI_BORDER_VALUE || !gi_has_alpha(image))
        return true;
    gi_border_pixel(pixel, border, image);
    return gi_sample(pixel, (size_t)image->channels - 1, image->type) > 0;
}

bool gi_opacity_hides(const struct gi_plan *plan, const struct gi_work *work,
                      const struct gi_border_spec *border, bool alpha_too)
{
    const struct gi_image *src = &plan->sources[0];
    const struct opacity_state *s = work->state;
    if (!gi_has_alpha(src) || alpha_too)
        return false;
    if (!s || !gi_opacity_counts(border, src))
        return true;
    const struct gi_reduction *alpha = &s->found[src->channels - 1];
    return alpha->nan || alpha->below || (alpha->n && !(alpha->min > 0));
}
