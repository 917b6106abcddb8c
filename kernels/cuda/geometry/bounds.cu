/* Bounding box of all pixels that differ from a given pixel. A thread visits a piece of 16 bytes in
 * ROWS rows and marks the samples that differ in any row; a block combines the results of its
 * threads by atomics in shared memory, then updates four global values.
 * SPDX-License-Identifier: MIT */
#include <limits.h>

#include "kernels/cuda/common/pointwise.cuh"
#include "kernels/geometry.h"

enum { ROWS = 32 /* per block */ };

struct bounds_args {
    struct gi_image src;
    float pixel[GI_MAX_CHANNELS]; /* premultiplied if there is alpha */
    float limit[GI_MAX_CHANNELS];
    int *found; /* minimum of x and y, maximum of x and y */
};

/* Returns a bit for each of the first n samples of a piece that differs. Channels repeat after
 * three samples, or after four if there are 1, 2 or 4. */
template <typename T>
static __device__ __forceinline__ unsigned differing(const struct bounds_args &args,
                                                     const uint4 &piece, const float *pixel,
                                                     const float *limit, int n)
{
    const unsigned *words = (const unsigned *)&piece;
    int channels = args.src.channels;
    unsigned bits = 0;
#pragma unroll
    for (int i = 0; i < PIECE / (int)sizeof(T); i++) {
        float s = sample_unpack<T>(words, i), weighed = s;
        if (i % 2 < 1 && channels == 2)
            weighed = __fmul_rn(s, sample_unpack<T>(words, i | 1));
        if (i % 4 < 3 && channels == 4)
            weighed = __fmul_rn(s, sample_unpack<T>(words, i | 3));
        float from = channels == 3 ? pixel[i % 3] : pixel[i % 4];
        float most = channels == 3 ? limit[i % 3] : limit[i % 4];
        if (i < n && !(fabsf(__fsub_rn(weighed, from)) <= most))
            bits |= 1u << i;
    }
    return bits;
}

/* `found` is shared by the block. */
template <typename T>
static __device__ __forceinline__ void rows_look(const struct bounds_args &args, int *found)
{
    enum { N = PIECE / (int)sizeof(T) };
    int x = (int)(blockIdx.x * POINTWISE_THREADS + threadIdx.x), channels = args.src.channels;
    int y0 = (int)blockIdx.y * ROWS, y1 = min(y0 + ROWS, args.src.height);
    int top = INT_MAX, bottom = -1, n = args.src.width * channels - x * N;
    unsigned columns = 0;
    float pixel[4], limit[4];
#pragma unroll
    for (int c = 0; c < 4; c++) { /* of the channels from the first sample of a piece on */
        pixel[c] = args.pixel[(x * N + c) % channels];
        limit[c] = args.limit[(x * N + c) % channels];
    }
#pragma unroll 4
    for (int y = y0; n > 0 && y < y1; y++) {
        unsigned bits = differing<T>(args, *piece_at(args.src, x, y), pixel, limit, n);
        columns |= bits;
        top = bits ? min(top, y) : top;
        bottom = bits ? y : bottom;
    }
    if (columns) {
        atomicMin(&found[0], (x * N + __ffs((int)columns) - 1) / channels);
        atomicMin(&found[1], top);
        atomicMax(&found[2], (x * N + 31 - __clz((int)columns)) / channels);
        atomicMax(&found[3], bottom);
    }
}

static __global__ void __launch_bounds__(POINTWISE_THREADS)
    bounds(const __grid_constant__ struct bounds_args args)
{
    __shared__ int found[4];
    if (threadIdx.x < 4)
        found[threadIdx.x] = threadIdx.x < 2 ? INT_MAX : -1;
    __syncthreads();
    SAMPLE_TYPES(args.src.type, rows_look<T>(args, found));
    __syncthreads();
    if (threadIdx.x < 2 && found[threadIdx.x] != INT_MAX)
        atomicMin(&args.found[threadIdx.x], found[threadIdx.x]);
    if (threadIdx.x >= 2 && threadIdx.x < 4 && found[threadIdx.x] >= 0)
        atomicMax(&args.found[threadIdx.x], found[threadIdx.x]);
}

static enum gi_status look(struct gi_cuda_queue *cu, const struct bounds_args &args,
                           struct gi_err *err)
{
    dim3 grid((unsigned)ceil_div(pieces_of(&args.src), POINTWISE_THREADS),
              (unsigned)ceil_div(args.src.height, ROWS));
    bounds<<<grid, POINTWISE_THREADS, 0, cu->stream>>>(args);
    GI_CUDA_LAUNCHED();
    return GI_OK;
}

static enum gi_status by_pieces(struct gi_queue *queue, struct gi_bounds *out,
                                const struct gi_image *src, const struct gi_bounds_spec *spec,
                                struct gi_err *err)
{
    struct gi_cuda_queue *cu = gi_cuda(queue);
    struct bounds_args args = {};
    int found[4], last = src->channels - 1;
    void *scratch;
    enum gi_status status = gi_cuda_scratch(cu, &scratch, sizeof found, err);
    if (status)
        return status;
    args.src = *src;
    args.found = (int *)scratch;
    for (int c = 0; c < src->channels; c++) {
        bool weighed = gi_has_alpha(src) && c < last;
        args.pixel[c] = weighed ? spec->pixel[c] * spec->pixel[last] : spec->pixel[c];
        args.limit[c] = weighed ? spec->tolerance * gi_type_full_scale(src->type) : spec->tolerance;
    }
    /* minima start larger than any coordinate, maxima smaller */
    GI_CUDA_TRY(cudaMemsetAsync(args.found, 0x7f, 2 * sizeof *found, cu->stream));
    GI_CUDA_TRY(cudaMemsetAsync(args.found + 2, 0xff, 2 * sizeof *found, cu->stream));
    status = look(cu, args, err);
    if (!status)
        status = gi_cuda_copy_to_host(cu, found, sizeof found, args.found, sizeof found,
                                      sizeof found, 1, err);
    *out = {};
    if (!status && found[3] >= 0)
        *out = {found[0], found[1], found[2] + 1, found[3] + 1};
    return status;
}

const struct gi_bounds_way gi_cuda_bounds_ways[GI_WAYS_MAX] = {
    {{"pieces", "everything"}, NULL, by_pieces},
};
