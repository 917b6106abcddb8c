/* Mode filter (most frequent sample of a window). Rectangles use sliding histograms that move down
 * the columns; for other structuring elements every window is counted again. For 8 bits the result
 * is the fullest bin. For 16 bits the histogram of the upper digits selects candidates, whose lower
 * digits are then counted.
 * SPDX-License-Identifier: MIT */
#include "kernels/cuda/rank/footprint_histogram.cuh"

template <bool NARROW>
static __device__ __forceinline__ unsigned count_of(const unsigned *at, unsigned bin)
{
    return NARROW ? at[bin / 2 * WARP] >> 16 * (bin & 1) & 0xffff : at[bin * WARP];
}

/* If a bin contains more than *most samples, returns the key of the fullest bin (the first one if
 * there are several) and sets *most to its count. Otherwise returns `key`. `digits` are the upper
 * digits of all keys. */
template <bool NARROW>
static __device__ __forceinline__ unsigned fullest(const unsigned *at, unsigned digits,
                                                   unsigned *most, unsigned key)
{
#pragma unroll 8
    for (unsigned bin = 0; bin < BINS; bin++) {
        unsigned count = count_of<NARROW>(at, bin);
        key = count > *most ? digits << 8 | bin : key;
        *most = max(*most, count);
    }
    return key;
}

/* Returns the mode of 16-bit samples in a window. If `runs` is NULL, y is the first row of the
 * window, otherwise its middle row. */
template <bool NARROW>
static __device__ __forceinline__ unsigned fullest_pair(const struct strip *strip,
                                                        const unsigned *upper, unsigned *lower,
                                                        const struct runs_args *runs, int y)
{
    unsigned most = 0, key = 0, digits = 0;
    for (;;) {
        while (digits < BINS && count_of<NARROW>(upper, digits) <= most)
            digits++;
        if (!__any_sync(~0u, digits < BINS))
            return key;
        if (runs)
            count_runs<uint16_t, NARROW>(strip, lower, runs, y, digits, 0);
        else
            count_digits<uint16_t, NARROW>(strip, lower, y, digits, 0);
        key = fullest<NARROW>(lower, digits, &most, key);
        digits++;
    }
}

template <typename T, bool NARROW>
static __device__ __forceinline__ void mode_sliding_samples(const struct median_args &args,
                                                            int band, unsigned *shared,
                                                            unsigned (*keys)[SPAN])
{
    unsigned *upper = shared + threadIdx.x, *lower = upper + bins<NARROW>::NBYTES / 4;
    struct strip strip = {&args, (int)(blockIdx.x * WARP), {keys[0], keys[1]}};
    int i = strip.first + (int)threadIdx.x, channels = args.src.channels, above = args.height / 2;
    bool keep = args.keep_alpha && i % channels == channels - 1;
    for (int y0 = (int)blockIdx.y * band; y0 < args.src.height; y0 += (int)gridDim.y * band) {
        struct place place = {0, 0};
        for (int j = 0; j < bins<NARROW>::WORDS; j++)
            upper[j * WARP] = 0;
        for (int y = y0 - args.height + 1; y < min(y0 + band, args.src.height); y++) {
            unsigned most = 0;
            slide<T, NARROW>(&strip, upper, &place, y - above + args.height - 1, y - above - 1,
                             y > y0);
            if (y < y0) /* the first window is still being filled */
                continue;
            T out =
                (T)(sizeof(T) == 1 ? fullest<NARROW>(upper, 0, &most, 0)
                                   : fullest_pair<NARROW>(&strip, upper, lower, NULL, y - above));
            if (i >= args.src.width * channels)
                continue;
            if (keep)
                out = ((const T *)(args.src.data + (size_t)y * args.src.stride))[i];
            ((T *)(args.dst.data + (size_t)y * args.dst.stride))[i] = out;
        }
    }
}

template <bool NARROW>
static __global__ void __launch_bounds__(WARP)
    mode_sliding(const __grid_constant__ struct median_args args, int band)
{
    extern __shared__ unsigned shared[];
    __shared__ unsigned keys[2][SPAN];
    if (args.src.type == GI_U8)
        mode_sliding_samples<uint8_t, NARROW>(args, band, shared, keys);
    else
        mode_sliding_samples<uint16_t, NARROW>(args, band, shared, keys);
}

template <typename T, bool NARROW>
static __device__ __forceinline__ void mode_runs_samples(const struct runs_args &args,
                                                         unsigned *shared, unsigned (*keys)[SPAN])
{
    const struct median_args &window = args.median;
    unsigned *upper = shared + threadIdx.x, *lower = upper + bins<NARROW>::NBYTES / 4;
    struct strip strip = {&window, (int)(blockIdx.x * WARP), {keys[0], keys[1]}};
    int i = strip.first + (int)threadIdx.x, channels = window.src.channels;
    bool keep = window.keep_alpha && i % channels == channels - 1;
    for (int y = (int)blockIdx.y; y < window.src.height; y += (int)gridDim.y) {
        unsigned most = 0;
        unsigned n = count_runs<T, NARROW>(&strip, upper, &args, y, 0, 8 * (int)sizeof(T) - 8);
        T out = (T)(sizeof(T) == 1 ? fullest<NARROW>(upper, 0, &most, 0)
                                   : fullest_pair<NARROW>(&strip, upper, lower, &args, y));
        if (i >= window.src.width * channels)
            continue;
        if (keep || !n)
            out = ((const T *)(window.src.data + (size_t)y * window.src.stride))[i];
        ((T *)(window.dst.data + (size_t)y * window.dst.stride))[i] = out;
    }
}

template <bool NARROW>
static __global__ void __launch_bounds__(WARP)
    mode_runs(const __grid_constant__ struct runs_args args)
{
    extern __shared__ unsigned shared[];
    __shared__ unsigned keys[2][SPAN];
    if (args.median.src.type == GI_U8)
        mode_runs_samples<uint8_t, NARROW>(args, shared, keys);
    else
        mode_runs_samples<uint16_t, NARROW>(args, shared, keys);
}

static enum gi_status runs(struct gi_queue *queue, struct gi_image *dst, const struct gi_image *src,
                           const struct gi_median *spec, struct gi_err *err)
{
    struct gi_cuda_queue *cu = gi_cuda(queue);
    struct runs_args args = runs_args_of(dst, src, spec);
    int digits = (int)gi_type_nbytes(src->type); /* of a sample */
    return gi_footprint_pixels(spec->runs, spec->nruns) <= 65535
               ? runs_launch(cu, &args, mode_runs<true>, bins<true>::NBYTES * digits, err)
               : runs_launch(cu, &args, mode_runs<false>, bins<false>::NBYTES * digits, err);
}

static enum gi_status sliding(struct gi_queue *queue, struct gi_image *dst,
                              const struct gi_image *src, const struct gi_median *spec,
                              struct gi_err *err)
{
    struct gi_cuda_queue *cu = gi_cuda(queue);
    struct median_args args = median_args_of(dst, src, spec);
    int digits = (int)gi_type_nbytes(src->type); /* of a sample */
    return args.width * args.height <= 65535
               ? sliding_launch(cu, &args, mode_sliding<true>, bins<true>::NBYTES * digits, err)
               : sliding_launch(cu, &args, mode_sliding<false>, bins<false>::NBYTES * digits, err);
}

/* Times in us on an H100, 8192 x 8192, gray, random. k = 5: 8 bits sorted 1687, sliding 8789; 16
 * bits 1715 and 222258. */
const struct gi_mode_way gi_cuda_mode_ways[GI_WAYS_MAX] = {
    {{"sorted", "k to 7, of any shape"}, gi_cuda_sorted_takes, gi_cuda_mode_sorted},
    {{"sliding", "rectangles"}, gi_cuda_median_sliding_takes, sliding},
    {{"runs", "windows of any other shape"}, gi_cuda_median_runs_takes, runs},
};
