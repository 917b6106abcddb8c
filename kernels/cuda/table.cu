/* The table of the CUDA backend: all members of struct gi_kernels, and the table of implementations
 * of every primitive.
 * SPDX-License-Identifier: MIT */
#include "kernels/cuda/device/device_slots.h"

#define FUNCTION(name, samples, shape, result, spec)                                               \
    GI_WAYS_FUNCTION(gi_cuda_##name, gi_cuda_##name##_ways, name, samples, shape)
#define ABOUT(name, samples, shape, result, spec)  &name##_about,
#define SLOT(name, samples, shape, result, spec)   , .name = gi_cuda_##name
#define ABSENT(name, samples, shape, result, spec) , .name = NULL
#define MEMBER(member)                             , .member = gi_cuda_##member

GI_PRIMITIVES_BOTH(FUNCTION)
GI_PRIMITIVES_CUDA(FUNCTION)

static const struct gi_ways *const ways[] = {
    GI_PRIMITIVES_BOTH(ABOUT) GI_PRIMITIVES_CUDA(ABOUT) NULL,
};

static const struct gi_kernels kernels = {
    .kind = GI_DEVICE_CUDA,
    .name = "cuda",
    .probe = gi_cuda_probe,
    .describe = gi_cuda_describe,
    .device_open = gi_cuda_device_open GI_DEVICE_FUNCTIONS(MEMBER),
    .roofline = gi_cuda_roofline,
    .ways = ways GI_PRIMITIVES_CPU(ABSENT) GI_PRIMITIVES_CUDA(SLOT) GI_PRIMITIVES_BOTH(SLOT),
};

const struct gi_kernels *gi_kernels_cuda(void)
{
    return &kernels;
}
