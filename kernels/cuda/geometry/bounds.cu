/* Bounding box of all pixels that differ from a given pixel. A thread visits ROWS rows of a column;
 * a block combines the results of its threads by atomics in shared memory, then updates four global
 * values.
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

template <typename T, int CHANNELS>
static __device__ bool differs(const struct bounds_args &args, const T *pixel)
{
    const bool alpha = CHANNELS == 2 || CHANNELS == 4;
    bool any = false;
#pragma unroll
    for (int c = 0; c < CHANNELS; c++) {
        float s = (float)pixel[c];
        if (alpha && c < CHANNELS - 1)
            s = __fmul_rn(s, (float)pixel[CHANNELS - 1]);
        any = any || !(fabsf(__fsub_rn(s, args.pixel[c])) <= args.limit[c]);
    }
    return any;
}

template <typename T, int CHANNELS>
static __global__ void __launch_bounds__(POINTWISE_THREADS) bounds(struct bounds_args args)
{
    __shared__ int found[4];
    int x = (int)(blockIdx.x * POINTWISE_THREADS + threadIdx.x);
    int left = INT_MAX, top = INT_MAX, right = -1, bottom = -1;
    if (threadIdx.x < 4)
        found[threadIdx.x] = threadIdx.x < 2 ? INT_MAX : -1;
    __syncthreads();
    if (x < args.src.width) {
        for (int y = (int)blockIdx.y * ROWS;
             y < args.src.height && y < ((int)blockIdx.y + 1) * ROWS; y++) {
            const T *row = (const T *)((const char *)args.src.data + (size_t)y * args.src.stride);
            if (differs<T, CHANNELS>(args, row + (size_t)x * CHANNELS)) {
                left = right = x;
                top = min(top, y);
                bottom = y;
            }
        }
    }
    if (bottom >= 0) {
        atomicMin(&found[0], left);
        atomicMin(&found[1], top);
        atomicMax(&found[2], right);
        atomicMax(&found[3], bottom);
    }
    __syncthreads();
    if (threadIdx.x < 2 && found[threadIdx.x] != INT_MAX)
        atomicMin(&args.found[threadIdx.x], found[threadIdx.x]);
    if (threadIdx.x >= 2 && threadIdx.x < 4 && found[threadIdx.x] >= 0)
        atomicMax(&args.found[threadIdx.x], found[threadIdx.x]);
}

template <typename T, int CHANNELS>
static enum gi_status look(struct gi_cuda_queue *cu, const struct bounds_args &args,
                           struct gi_err *err)
{
    dim3 grid((unsigned)ceil_div(args.src.width, POINTWISE_THREADS),
              (unsigned)ceil_div(args.src.height, ROWS));
    bounds<T, CHANNELS><<<grid, POINTWISE_THREADS, 0, cu->stream>>>(args);
    GI_CUDA_LAUNCHED();
    return GI_OK;
}

template <typename T>
static enum gi_status look_at_channels(struct gi_cuda_queue *cu, const struct bounds_args &args,
                                       struct gi_err *err)
{
    GI_CUDA_CHANNELS(args.src.channels, look<T, CHANNELS>(cu, args, err));
}

static enum gi_status look_at(struct gi_cuda_queue *cu, const struct bounds_args &args,
                              struct gi_err *err)
{
    GI_CUDA_TYPES(args.src.type, look_at_channels<T>(cu, args, err));
}

static enum gi_status by_pixels(struct gi_queue *queue, struct gi_bounds *out,
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
    status = look_at(cu, args, err);
    if (!status)
        status = gi_cuda_copy_to_host(cu, found, sizeof found, args.found, sizeof found,
                                      sizeof found, 1, err);
    *out = {};
    if (!status && found[3] >= 0)
        *out = {found[0], found[1], found[2] + 1, found[3] + 1};
    return status;
}

const struct gi_bounds_way gi_cuda_bounds_ways[GI_WAYS_MAX] = {
    {{"pixels", "everything"}, NULL, by_pixels},
};
