/* Results of operations that are label images: their sample types, and how they are stored.
 * SPDX-License-Identifier: MIT */
#include "filters/regions/label_result.h"

#include "filters/regions/host_image.h"
#include "filters/regions/labels.h"
#include "filters/tone/luma.h"

const struct gi_choice gi_label_result_choices[] = {
    {"16", NULL, "whole numbers, up to 65535"},
    {"float", NULL, "32-bit float, whole numbers up to 16777215"},
    {0},
};

enum gi_type gi_label_result_type(int depth)
{
    return depth ? GI_F32 : GI_U16;
}

/* The flooding takes 700 ns per pixel, but on all devices, so that it is not counted here. */
void gi_label_result_plan(struct gi_plan *plan, int depth)
{
    const struct gi_image *src = &plan->sources[0];
    size_t pixels = (size_t)src->width * (size_t)src->height;
    plan->dependency = GI_DEPENDENCY_GLOBAL;
    plan->result.channels = 1;
    plan->result.type = gi_label_result_type(depth);
    plan->scratch_nbytes = 24 * pixels + gi_luma_nbytes(src);
    plan->cost = (struct gi_cost){.other = 20.0 / src->channels, .nbytes = 8.0 / src->channels};
}

enum gi_status gi_label_result_store(struct gi_queue *queue, struct gi_image *dst,
                                     const struct gi_flooding *flooding, uint32_t largest,
                                     struct gi_err *err)
{
    const uint32_t most = dst->type == GI_U16 ? 65535 : GI_LABEL_MAX;
    struct gi_image host;
    if (largest > most)
        return gi_fail(err, GI_E_UNSUPPORTED, "%u labels: want at most %u%s", largest, most,
                       dst->type == GI_U16 ? ", or --depth float" : "");
    enum gi_status status = gi_image_alloc(&host, dst->width, dst->height, 1, dst->type, err);
    if (status)
        return status;
    for (int y = 0; y < host.height; y++) {
        const uint32_t *labels = flooding->labels + gi_flooding_at(flooding, 0, y);
        for (int x = 0; x < host.width; x++) {
            uint32_t label = labels[x] & GI_FLOODING_LABEL;
            if (host.type == GI_U16)
                ((uint16_t *)gi_row(&host, y))[x] = (uint16_t)label;
            else
                ((float *)gi_row(&host, y))[x] = (float)label;
        }
    }
    status = gi_host_store(queue, dst, &host, err);
    gi_image_free(&host);
    return status;
}
