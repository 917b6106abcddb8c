/* The CUDA backend's table.
 * SPDX-License-Identifier: MIT */
#include "kernels/cuda/device/host.h"

static const struct gi_kernels kernels = {
    .kind = GI_DEVICE_CUDA,
    .name = "cuda",
    .probe = gi_cuda_probe,
    .open = gi_cuda_open,
    .close = gi_cuda_close,
    .alloc = gi_cuda_alloc,
    .release = gi_cuda_release,
    .upload = gi_cuda_upload,
    .download = gi_cuda_download,
    .sync = gi_cuda_sync,
    .copy = gi_cuda_copy,
    .jobs = gi_cuda_jobs,
    .limits = gi_cuda_limits,
    .mark = gi_cuda_mark,
    .elapsed_ms = gi_cuda_elapsed_ms,
    .roofline = gi_cuda_roofline,
    .convolve_separable = gi_cuda_convolve_separable,
    .convolve_2d = gi_cuda_convolve_2d,
    .box = gi_cuda_box,
    .gradient = gi_cuda_gradient,
    .threshold = gi_cuda_threshold,
    .luma = gi_cuda_luma,
    .histogram = gi_cuda_histogram,
    .moments = gi_cuda_moments,
    .select = gi_cuda_select,
    .label = gi_cuda_label,
    .region_stats = gi_cuda_region_stats,
};

const struct gi_kernels *gi_kernels_cuda(void)
{
    return &kernels;
}
