/* moments: integer sums of samples, by thread, warp and block.
 * SPDX-License-Identifier: MIT */
#include "kernels/cuda/measure.h"

enum { THREADS = 256, WARPS = THREADS / WARP, BLOCKS = 8 /* a multiprocessor */ };

enum { FIELDS = sizeof(struct gi_sums) / sizeof(uint64_t) };

struct quantisers {
    struct quantiser channel[GI_MAX_CHANNELS];
};

template <typename T, int CHANNELS>
static __global__ void __launch_bounds__(THREADS)
    moments(struct gi_sums *sums, struct gi_image src, struct walk walk, struct quantisers z)
{
    struct gi_sums mine[CHANNELS] = {};
    struct piece<T, CHANNELS> now, next;
    unsigned index, y;
    walk_start(walk, &y, &index, blockIdx.x * THREADS + threadIdx.x);
    for (piece_load(&now, src, y, index); now.n; now = next) {
        walk_next(walk, &y, &index);
        piece_load(&next, src, y, index);
        struct some_sums<T> part[CHANNELS] = {
        };
#pragma unroll
        for (int i = 0; i < now.SAMPLES; i++)
            if (i < now.n && now.samples[i] == now.samples[i]) /* no NaN */
                some_add(&part[i % CHANNELS], now.samples[i], z.channel[i % CHANNELS]);
#pragma unroll
        for (int c = 0; c < CHANNELS; c++) {
            mine[c].n += part[c].n;
            mine[c].q += part[c].q;
            mine[c].q2_low += part[c].q2_low;
            mine[c].q2_high += part[c].q2_high;
        }
    }
    __shared__ device_u64 partial[WARPS][CHANNELS * FIELDS];
    for (int c = 0; c < CHANNELS; c++) {
        device_u64 fields[FIELDS] = {warp_sum(mine[c].n), warp_sum(mine[c].q),
                                     warp_sum(mine[c].q2_low), warp_sum(mine[c].q2_high)};
        for (int i = 0; i < FIELDS; i++)
            if (threadIdx.x % WARP == 0)
                partial[threadIdx.x / WARP][c * FIELDS + i] = fields[i];
    }
    __syncthreads();
    if (threadIdx.x < CHANNELS * FIELDS) {
        device_u64 sum = 0;
        for (int w = 0; w < WARPS; w++)
            sum += partial[w][threadIdx.x];
        if (sum)
            atomicAdd((device_u64 *)sums + threadIdx.x, sum);
    }
}

template <typename T, int CHANNELS>
static void launch(struct gi_cuda_context *cu, struct gi_sums *sums, const struct gi_image *src,
                   const struct quantisers *z)
{
    unsigned blocks = (unsigned)(cu->units * BLOCKS);
    struct walk walk =
        walk_of(src, piece<T, CHANNELS>::SAMPLES * sizeof(T), (size_t)blocks * THREADS);
    moments<T, CHANNELS><<<blocks, THREADS, 0, cu->stream>>>(sums, *src, walk, *z);
}

template <typename T>
static void launch_channels(struct gi_cuda_context *cu, struct gi_sums *sums,
                            const struct gi_image *src, const struct quantisers *z)
{
    switch (src->channels) {
    case 1:
        launch<T, 1>(cu, sums, src, z);
        break;
    case 2:
        launch<T, 2>(cu, sums, src, z);
        break;
    case 3:
        launch<T, 3>(cu, sums, src, z);
        break;
    default:
        launch<T, 4>(cu, sums, src, z);
    }
}

enum gi_status gi_cuda_moments_launch(struct gi_cuda_context *cu, struct gi_sums *sums,
                                      const struct gi_image *src, const float *lo, const float *hi,
                                      struct gi_err *err)
{
    struct quantisers z = {};
    for (int c = 0; c < src->channels && src->type == GI_F32; c++)
        z.channel[c] = quantiser_of(lo[c], hi[c]);
    if (src->type == GI_U8)
        launch_channels<uint8_t>(cu, sums, src, &z);
    else if (src->type == GI_U16)
        launch_channels<uint16_t>(cu, sums, src, &z);
    else
        launch_channels<float>(cu, sums, src, &z);
    GI_CUDA_LAUNCHED();
    return GI_OK;
}

enum gi_status gi_cuda_moments(struct gi_context *cx, struct gi_sums *sums,
                               const struct gi_image *src, const float *lo, const float *hi,
                               struct gi_err *err)
{
    struct gi_cuda_context *cu = gi_cuda(cx);
    struct gi_sums *device, found[GI_MAX_CHANNELS];
    size_t nbytes = (size_t)src->channels * sizeof *sums;
    enum gi_status status = gi_cuda_scratch(cu, (void **)&device, nbytes, err);
    if (status)
        return status;
    GI_CUDA_TRY(cudaMemsetAsync(device, 0, nbytes, cu->stream));
    status = gi_cuda_moments_launch(cu, device, src, lo, hi, err);
    if (!status)
        status = gi_cuda_copy_to_host(cu, found, nbytes, device, nbytes, nbytes, 1, err);
    for (int c = 0; c < src->channels && !status; c++) {
        sums[c].n += found[c].n;
        sums[c].q += found[c].q;
        sums[c].q2_low += found[c].q2_low;
        sums[c].q2_high += found[c].q2_high;
    }
    return status;
}
