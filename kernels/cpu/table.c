/* The table of one instruction level, and the functions of its primitives.
 * SPDX-License-Identifier: MIT */
#include "kernels/cpu/cpu.h"
#include "kernels/cpu/device/host.h"

extern const struct gi_kernels GI_CPU(kernels);

static enum gi_status device_open(struct gi_device **device, const struct gi_open_options *options,
                                  struct gi_err *err)
{
    return gi_cpu_host_device_open(device, &GI_CPU(kernels), options, err);
}

#define FUNCTION(name, samples, shape, result, spec)                                               \
    GI_WAYS_FUNCTION(GI_CPU(name), GI_CPU(name##_ways), name, samples, shape)
#define ABOUT(name, samples, shape, result, spec)  &name##_about,
#define SLOT(name, samples, shape, result, spec)   , .name = GI_CPU(name)
#define ABSENT(name, samples, shape, result, spec) , .name = NULL

GI_PRIMITIVES_BOTH(FUNCTION)
GI_PRIMITIVES_CPU(FUNCTION)

static const struct gi_ways *const ways[] = {
    GI_PRIMITIVES_BOTH(ABOUT) GI_PRIMITIVES_CPU(ABOUT) NULL,
};

const struct gi_kernels GI_CPU(kernels) = {
    GI_CPU_HOST_SLOTS,
    .device_open = device_open,
    .roofline = GI_CPU(roofline),
    .ways = ways GI_PRIMITIVES_CPU(SLOT) GI_PRIMITIVES_CUDA(ABSENT) GI_PRIMITIVES_BOTH(SLOT),
};
