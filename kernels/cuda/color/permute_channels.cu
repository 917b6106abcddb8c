/* Channel permutation: the samples are gathered.
 * SPDX-License-Identifier: MIT */
#include "kernels/cuda/common/gather_samples.h"
#include "kernels/color.h"

static enum gi_status by_samples(struct gi_queue *queue, struct gi_image *dst,
                                 const struct gi_image *srcs,
                                 const struct gi_permute_channels *spec, struct gi_err *err)
{
    struct sample_gather gather = {};
    struct gi_border_spec border = {GI_BORDER_VALUE, {}};
    char value[GI_PIXEL_NBYTES_MAX];
    size_t nbytes = gi_type_nbytes(dst->type);
    memcpy(border.value, spec->value, sizeof border.value);
    gi_border_pixel(value, &border, dst);
    gather.dst = *dst;
    gather.nbytes = (int)nbytes;
    gather.channels = dst->channels;
    gather.width = dst->width;
    for (int c = 0; c < dst->channels; c++) {
        int s = spec->from[c].source;
        memcpy(&gather.value[c], value + (size_t)c * nbytes, nbytes);
        if (s < 0)
            continue;
        gather.from[c] = (const char *)srcs[s].data + (size_t)spec->from[c].channel * nbytes;
        gather.step[c] = srcs[s].channels * (int)nbytes;
        gather.stride[c] = (ptrdiff_t)srcs[s].stride;
    }
    return gi_cuda_gather_samples(gi_cuda(queue), &gather, err);
}

const struct gi_permute_channels_way gi_cuda_permute_channels_ways[GI_WAYS_MAX] = {
    {{"samples", "everything"}, NULL, by_samples},
};
