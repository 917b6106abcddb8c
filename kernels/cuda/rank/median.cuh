/* Median and rank filters: arguments, and unsigned keys that are ordered like the samples.
 * SPDX-License-Identifier: MIT */
#ifndef GI_KERNELS_CUDA_MEDIAN_CUH
#define GI_KERNELS_CUDA_MEDIAN_CUH

#include "kernels/cuda/convolution/box.cuh"
#include "kernels/cuda/common/measure.h"
#include "kernels/rank.h"

struct median_args {
    struct source src; /* border values are samples */
    struct target dst;
    int width, height; /* of the window */
    unsigned rank;     /* index of the result among the samples in ascending order */
    bool keep_alpha;
    bool hides; /* ignore samples of pixels whose alpha is not > 0 */
    double percent;
};

static inline struct median_args median_args_of(struct gi_image *dst, const struct gi_image *src,
                                                const struct gi_median *spec)
{
    struct gi_border_spec border =
        src->type == GI_F32 ? spec->border : box_border(src, &spec->border);
    return {source_of(src, &border, GI_ALPHA_PLAIN),
            target_of(dst),
            spec->width,
            spec->height,
            (unsigned)spec->rank,
            gi_has_alpha(src) && !spec->alpha_too,
            gi_median_hides(spec, src),
            spec->percent};
}

/* Returns whether all samples of the rectangle count. */
static inline bool median_is_rectangle(const struct gi_median *spec)
{
    return !spec->runs ||
           gi_footprint_pixels(spec->runs, spec->nruns) == spec->width * spec->height;
}

/* key_of() returns a key; keys are ordered like samples, with NaN above all. sample_of() returns
 * the sample of a key. */
template <typename T> static __device__ __forceinline__ unsigned key_of(T v)
{
    if (sizeof(T) < 4)
        return (unsigned)v;
    unsigned bits = __float_as_uint((float)v);
    return (bits & 0x7fffffffu) > 0x7f800000u ? ~0u : gi_float_key(bits);
}

/* Returns the key that ignored samples, and no others, have. */
template <typename T> static __device__ __forceinline__ unsigned no_key()
{
    return sizeof(T) < 4 ? ~0u : 0;
}

template <typename T> static __device__ __forceinline__ T sample_of(unsigned key)
{
    if (sizeof(T) < 4)
        return (T)key;
    return (T)__uint_as_float(key == ~0u ? 0x7fc00000u : gi_float_key_bits(key));
}

/* Returns the sample of channel c of pixel (x, y), which may be outside the image. */
template <typename T>
static __device__ __noinline__ T value_at(const struct median_args *args, int x, int y, int c)
{
    int xi = gi_border_index(x, args->src.width, args->src.border);
    int yi = gi_border_index(y, args->src.height, args->src.border);
    if (xi < 0 || yi < 0)
        return (T)args->src.value[c];
    const T *row = (const T *)(args->src.data + (size_t)yi * args->src.stride);
    return row[(size_t)xi * args->src.channels + c];
}

gi_median_takes_fn gi_cuda_median_near_takes, gi_cuda_median_network_takes,
    gi_cuda_median_opaque_takes, gi_cuda_median_tiles_takes, gi_cuda_median_sliding_takes,
    gi_cuda_median_runs_takes, gi_cuda_sorted_takes;
gi_median_fn gi_cuda_median_near, gi_cuda_median_network, gi_cuda_median_opaque,
    gi_cuda_median_tiles, gi_cuda_median_runs, gi_cuda_rank_sorted, gi_cuda_mode_sorted;

#endif
