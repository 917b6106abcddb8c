/* The table of one instruction level.
 * SPDX-License-Identifier: MIT */
#include "kernels/cpu/cpu.h"
#include "kernels/cpu/device/host.h"

extern const struct gi_kernels GI_CPU(kernels);

static enum gi_status open_level(struct gi_queue **queue, const struct gi_open_options *options,
                                 struct gi_err *err)
{
    return gi_cpu_host_open(queue, &GI_CPU(kernels), options, err);
}

const struct gi_kernels GI_CPU(kernels) = {
    GI_CPU_HOST_SLOTS,
    .open = open_level,
    .roofline = GI_CPU(roofline),
    .convolve_separable = GI_CPU(convolve_separable),
    .convolve_2d = GI_CPU(convolve_2d),
    .box = GI_CPU(box),
    .gradient = GI_CPU(gradient),
    .threshold = GI_CPU(threshold),
    .luma = GI_CPU(luma),
    .histogram = GI_CPU(histogram),
    .moments = GI_CPU(moments),
    .select = GI_CPU(select),
    .label = GI_CPU(label),
    .region_stats = GI_CPU(region_stats),
};
