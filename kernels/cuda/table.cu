/* The CUDA backend's table.
 * SPDX-License-Identifier: MIT */
#include "kernels/cuda/device/host.h"

static const struct gi_ways *const ways[] = {
    &gi_cuda_convolve_separable_ways,
    &gi_cuda_convolve_2d_ways,
    &gi_cuda_box_ways,
    &gi_cuda_gradient_ways,
    &gi_cuda_pointwise_ways,
    &gi_cuda_threshold_ways,
    &gi_cuda_luma_ways,
    &gi_cuda_histogram_ways,
    &gi_cuda_moments_ways,
    &gi_cuda_select_ways,
    &gi_cuda_label_ways,
    &gi_cuda_region_stats_ways,
    &gi_cuda_window_ways,
    &gi_cuda_turn_ways,
    &gi_cuda_shuffle_ways,
    &gi_cuda_bounds_ways,
    NULL,
};

static const struct gi_kernels kernels = {
    .kind = GI_DEVICE_CUDA,
    .name = "cuda",
    .probe = gi_cuda_probe,
    .describe = gi_cuda_describe,
    .device_open = gi_cuda_device_open,
    .device_close = gi_cuda_device_close,
    .queue_open = gi_cuda_queue_open,
    .queue_close = gi_cuda_queue_close,
    .limits = gi_cuda_limits,
    .host_allocator = gi_cuda_host_allocator,
    .alloc = gi_cuda_alloc,
    .release = gi_cuda_release,
    .upload = gi_cuda_upload,
    .download = gi_cuda_download,
    .download_into = gi_cuda_download_into,
    .wait = gi_cuda_wait,
    .sync = gi_cuda_sync,
    .copy = gi_cuda_copy,
    .jobs = gi_cuda_jobs,
    .stopwatch_new = gi_cuda_stopwatch_new,
    .stopwatch_mark = gi_cuda_stopwatch_mark,
    .stopwatch_ms = gi_cuda_stopwatch_ms,
    .stopwatch_free = gi_cuda_stopwatch_free,
    .range = gi_cuda_range,
    .roofline = gi_cuda_roofline,
    .ways = ways,
    .convolve_separable = gi_cuda_convolve_separable,
    .convolve_2d = gi_cuda_convolve_2d,
    .box = gi_cuda_box,
    .gradient = gi_cuda_gradient,
    .pointwise = gi_cuda_pointwise,
    .threshold = gi_cuda_threshold,
    .luma = gi_cuda_luma,
    .histogram = gi_cuda_histogram,
    .moments = gi_cuda_moments,
    .select = gi_cuda_select,
    .label = gi_cuda_label,
    .region_stats = gi_cuda_region_stats,
    .window = gi_cuda_window,
    .turn = gi_cuda_turn,
    .shuffle = gi_cuda_shuffle,
    .bounds = gi_cuda_bounds,
};

const struct gi_kernels *gi_kernels_cuda(void)
{
    return &kernels;
}
