/* Rank filter with a structuring element of any shape: radix select, 8 bits per pass, highest digit
 * first. Histograms are counted again for every sample.
 * SPDX-License-Identifier: MIT */
#include "kernels/cuda/rank/footprint_histogram.cuh"

template <typename T, bool NARROW>
static __device__ __forceinline__ void median_runs_samples(const struct runs_args &args,
                                                           unsigned *shared, unsigned (*keys)[SPAN])
{
    const struct median_args &median = args.median;
    unsigned *at = shared + threadIdx.x;
    struct strip strip = {&median, (int)(blockIdx.x * WARP), {keys[0], keys[1]}};
    int i = strip.first + (int)threadIdx.x, channels = median.src.channels;
    bool keep = median.keep_alpha && i % channels == channels - 1;
    for (int y = (int)blockIdx.y; y < median.src.height; y += (int)gridDim.y) {
        unsigned rank = median.rank, key = 0, n = 0;
        for (int shift = 8 * (int)sizeof(T) - 8; shift >= 0; shift -= 8) {
            struct place place = {0, 0};
            unsigned counted = count_runs<T, NARROW>(&strip, at, &args, y, key, shift);
            bool first = shift == 8 * (int)sizeof(T) - 8;
            n = first ? counted : n;
            if (first && median.hides && n)
                rank = (unsigned)gi_rank_place(median.percent, (int)n);
            key = n ? key << 8 | find<NARROW>(&place, at, &rank) : 0;
        }
        T out = sample_of<T>(key);
        if (i >= median.src.width * channels)
            continue;
        if (keep || !n)
            out = ((const T *)(median.src.data + (size_t)y * median.src.stride))[i];
        ((T *)(median.dst.data + (size_t)y * median.dst.stride))[i] = out;
    }
}

template <bool NARROW>
static __global__ void __launch_bounds__(WARP)
    median_runs(const __grid_constant__ struct runs_args args)
{
    extern __shared__ unsigned shared[];
    __shared__ unsigned keys[2][SPAN];
    SAMPLE_TYPES(args.median.src.type, median_runs_samples<T, NARROW>(args, shared, keys));
}

bool gi_cuda_median_runs_takes(const struct gi_queue *queue, const struct gi_image *src,
                               const struct gi_median *spec)
{
    (void)queue, (void)src;
    return spec->runs != NULL;
}

enum gi_status gi_cuda_median_runs(struct gi_queue *queue, struct gi_image *dst,
                                   const struct gi_image *src, const struct gi_median *spec,
                                   struct gi_err *err)
{
    struct gi_cuda_queue *cu = gi_cuda(queue);
    struct runs_args args = runs_args_of(dst, src, spec);
    bool narrow = gi_footprint_pixels(spec->runs, spec->nruns) <= 65535;
    return narrow ? runs_launch(cu, &args, median_runs<true>, bins<true>::NBYTES, err)
                  : runs_launch(cu, &args, median_runs<false>, bins<false>::NBYTES, err);
}
