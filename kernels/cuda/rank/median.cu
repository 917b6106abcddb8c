/* Rank filter of rectangles of any size, by sliding histograms, and the choice of the
 * implementation. T. Huang, G. Yang, G. Tang, "A fast two-dimensional median filtering algorithm",
 * IEEE TASSP 27(1), 1979. Here windows move down the columns: a warp moves down 32 neighbouring
 * columns. Each lane has a histogram of the upper 8 bits of its window's samples, in a
 * shared-memory bank of its own. Lower digits of 16-bit and float samples are counted again for
 * every sample (radix select).
 * SPDX-License-Identifier: MIT */
#include "kernels/cuda/rank/sliding_histogram.cuh"

/* Returns the next digit of the key that begins with `digits`. Only samples whose keys begin with
 * these digits count, in the window whose first row is y. */
template <typename T, bool NARROW>
static __device__ __forceinline__ unsigned next_digit(const struct strip *strip, unsigned *at,
                                                      int y, unsigned digits, int shift,
                                                      unsigned *rank)
{
    count_digits<T, NARROW>(strip, at, y, digits, shift);
    struct place place = {0, 0};
    return find<NARROW>(&place, at, rank);
}

template <typename T, bool NARROW>
static __device__ __forceinline__ void median_sliding_samples(const struct median_args &args,
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
        for (int y = y0 - above; y < y0 - above + args.height - 1; y++)
            slide<T, NARROW>(&strip, upper, &place, y, 0, false);
        for (int y = y0; y < min(y0 + band, args.src.height); y++) {
            unsigned rank = args.rank;
            slide<T, NARROW>(&strip, upper, &place, y - above + args.height - 1, y - above - 1,
                             y > y0);
            unsigned key = find<NARROW>(&place, upper, &rank);
            for (int shift = 8 * (int)sizeof(T) - 16; shift >= 0; shift -= 8)
                key = key << 8 | next_digit<T, NARROW>(&strip, lower, y - above, key, shift, &rank);
            T out = sample_of<T>(key);
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
    median_sliding(const __grid_constant__ struct median_args args, int band)
{
    extern __shared__ unsigned shared[];
    __shared__ unsigned keys[2][SPAN];
    SAMPLE_TYPES(args.src.type, median_sliding_samples<T, NARROW>(args, band, shared, keys));
}

static enum gi_status sliding(struct gi_queue *queue, struct gi_image *dst,
                              const struct gi_image *src, const struct gi_median *spec,
                              struct gi_err *err)
{
    struct median_args args = median_args_of(dst, src, spec);
    struct gi_cuda_queue *cu = gi_cuda(queue);
    bool narrow = args.width * args.height <= 65535;
    int digits = src->type == GI_U8 ? 1 : 2; /* that are counted at a time */
    return narrow
               ? sliding_launch(cu, &args, median_sliding<true>, bins<true>::NBYTES * digits, err)
               : sliding_launch(cu, &args, median_sliding<false>, bins<false>::NBYTES * digits,
                                err);
}

bool gi_cuda_median_sliding_takes(const struct gi_queue *queue, const struct gi_image *src,
                                  const struct gi_median *spec)
{
    (void)queue, (void)src;
    return !spec->runs;
}

/* Time of each way in us on an H100, 8192 x 8192, gray, random. 8 bits, k = 3: near 78, network
 * 196, sliding 5882. k = 5: network 262, sliding 5418. k = 15: tiles 3900, sliding 5900; photo:
 * tiles 4994, sliding 5833. k = 63, photo: tiles 15119, sliding 11659. 16 bits, k = 9: tiles 5156,
 * sliding 60267. k = 31: tiles 5161, sliding 241755. Floats, k = 15: tiles 7118, sliding 353485.
 * Rank of 25 %, k = 5: sorted 1153, tiles 5620; 16 bits 1190 and 6502. */
const struct gi_median_way gi_cuda_median_ways[GI_WAYS_MAX] = {
    {{"near", "medians of 8 bits, k 3, from 9.0 on"},
     gi_cuda_median_near_takes,
     gi_cuda_median_near},
    {{"network", "medians, k 3, 5 and 7"}, gi_cuda_median_network_takes, gi_cuda_median_network},
    {{"opaque", "medians, k 3, 5 and 7, that ignore transparent pixels"},
     gi_cuda_median_opaque_takes,
     gi_cuda_median_opaque},
    {{"sorted", "k to 7, of any shape"}, gi_cuda_sorted_takes, gi_cuda_rank_sorted},
    {{"tiles", "rectangles to 95 x 95, of 8 bits to 47 x 47"},
     gi_cuda_median_tiles_takes,
     gi_cuda_median_tiles},
    {{"sliding", "rectangles"}, gi_cuda_median_sliding_takes, sliding},
    {{"runs", "windows of any other shape"}, gi_cuda_median_runs_takes, gi_cuda_median_runs},
};
