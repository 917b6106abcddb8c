/* Whether fully transparent pixels are there.
 * SPDX-License-Identifier: MIT */
#include "filters/opacity.h"

/* What a look finds out. */
struct state {
    struct gi_reduction found[GI_MAX_CHANNELS];
};

void gi_opacity_plan(struct gi_plan *plan, bool alpha_too)
{
    const struct gi_image *src = &plan->sources[0];
    if (!gi_has_alpha(src) || alpha_too ||
        (uint64_t)src->width * (uint64_t)src->height >= UINT32_MAX)
        return;
    plan->passes = 1;
    plan->state_nbytes = sizeof(struct state);
}

enum gi_status gi_opacity_measure(const struct gi_plan *plan, struct gi_queue *queue, void *state,
                                  const struct gi_look *look, struct gi_err *err)
{
    const struct gi_reduce all = {.opaque = false};
    (void)plan;
    return queue->k->reduce(queue, ((struct state *)state)->found, look->srcs, &all, err);
}

bool gi_opacity_hides(const struct gi_plan *plan, const struct gi_work *work, bool alpha_too)
{
    const struct gi_image *src = &plan->sources[0];
    const struct state *s = work->state;
    if (!gi_has_alpha(src) || alpha_too || !s)
        return gi_has_alpha(src) && !alpha_too;
    const struct gi_reduction *alpha = &s->found[src->channels - 1];
    return alpha->nan || alpha->below || (alpha->n && !(alpha->min > 0));
}
