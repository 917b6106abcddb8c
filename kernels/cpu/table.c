/* The table of one instruction level.
 * SPDX-License-Identifier: MIT */
#include "kernels/cpu/cpu.h"
#include "kernels/cpu/device/host.h"

extern const struct gi_kernels GI_CPU(kernels);

static enum gi_status device_open(struct gi_device **device, const struct gi_open_options *options,
                                  struct gi_err *err)
{
    return gi_cpu_host_device_open(device, &GI_CPU(kernels), options, err);
}

static const struct gi_ways *const ways[] = {
    &GI_CPU(convolve_separable_ways),
    &GI_CPU(convolve_2d_ways),
    &GI_CPU(box_ways),
    &GI_CPU(extreme_ways),
    &GI_CPU(median_ways),
    &GI_CPU(bilateral_ways),
    &GI_CPU(nlmeans_ways),
    &GI_CPU(gradient_ways),
    &GI_CPU(pointwise_ways),
    &GI_CPU(threshold_ways),
    &GI_CPU(local_threshold_ways),
    &GI_CPU(local_spread_ways),
    &GI_CPU(scan_ways),
    &GI_CPU(combine_ways),
    &GI_CPU(luma_ways),
    &GI_CPU(clahe_ways),
    &GI_CPU(mix_ways),
    &GI_CPU(recolour_ways),
    &GI_CPU(count_colours_ways),
    &GI_CPU(histogram_ways),
    &GI_CPU(moments_ways),
    &GI_CPU(select_ways),
    &GI_CPU(label_ways),
    &GI_CPU(region_stats_ways),
    &GI_CPU(paint_ways),
    &GI_CPU(scatter_ways),
    &GI_CPU(window_ways),
    &GI_CPU(turn_ways),
    &GI_CPU(shuffle_ways),
    &GI_CPU(bounds_ways),
    &GI_CPU(reduce_ways),
    &GI_CPU(resample_ways),
    &GI_CPU(warp_ways),
    NULL,
};

const struct gi_kernels GI_CPU(kernels) = {
    GI_CPU_HOST_SLOTS,
    .device_open = device_open,
    .roofline = GI_CPU(roofline),
    .ways = ways,
    .convolve_separable = GI_CPU(convolve_separable),
    .convolve_2d = GI_CPU(convolve_2d),
    .box = GI_CPU(box),
    .extreme = GI_CPU(extreme),
    .median = GI_CPU(median),
    .bilateral = GI_CPU(bilateral),
    .nlmeans = GI_CPU(nlmeans),
    .gradient = GI_CPU(gradient),
    .pointwise = GI_CPU(pointwise),
    .threshold = GI_CPU(threshold),
    .local_threshold = GI_CPU(local_threshold),
    .local_spread = GI_CPU(local_spread),
    .scan = GI_CPU(scan),
    .combine = GI_CPU(combine),
    .luma = GI_CPU(luma),
    .clahe = GI_CPU(clahe),
    .mix = GI_CPU(mix),
    .count_colours = GI_CPU(count_colours),
    .recolour = GI_CPU(recolour),
    .histogram = GI_CPU(histogram),
    .moments = GI_CPU(moments),
    .select = GI_CPU(select),
    .label = GI_CPU(label),
    .region_stats = GI_CPU(region_stats),
    .paint = GI_CPU(paint),
    .scatter = GI_CPU(scatter),
    .window = GI_CPU(window),
    .turn = GI_CPU(turn),
    .shuffle = GI_CPU(shuffle),
    .bounds = GI_CPU(bounds),
    .reduce = GI_CPU(reduce),
    .resample = GI_CPU(resample),
    .warp = GI_CPU(warp),
};
