/* Sums of quantised floats and of their squares, exact in integers: reduced per thread, then per
 * warp, then per block.
 * SPDX-License-Identifier: MIT */
#include "kernels/cuda/common/measure.h"

enum {
    THREADS = 256,
    WARPS = THREADS / WARP,
    FIELDS = sizeof(struct gi_sums) / sizeof(uint64_t),
};

struct quantisers {
    struct quantiser channel[GI_MAX_CHANNELS];
};

/* Pieces in flight per thread; resident blocks per multiprocessor. */
template <int CHANNELS> struct shape {
    enum { TURN = CHANNELS == 3 ? 2 : 4, BLOCKS = CHANNELS > 2 ? 3 : 4 };
    typedef struct piece<float, CHANNELS> turn[TURN];
};

/* Replaces samples outside the row by NaN, which adds nothing. */
template <int CHANNELS>
static __device__ inline void piece_blank(struct piece<float, CHANNELS> *piece)
{
#pragma unroll
    for (int i = 0; i < piece->SAMPLES; i++)
        if (i >= piece->n)
            piece->samples[i] = NAN;
}

/* Adds the samples of channel c of a step. */
template <int CHANNELS>
static __device__ inline void turn_add(struct gi_sums *sums, int c,
                                       const typename shape<CHANNELS>::turn &pieces,
                                       const struct quantiser &z)
{
    constexpr int N = piece<float, CHANNELS>::SAMPLES;
    uint32_t n = 0;
#pragma unroll
    for (int i = 0; i < shape<CHANNELS>::TURN * N; i++)
        if (i % CHANNELS == c) {
            float v = pieces[i / N].samples[i % N];
            uint32_t q = quantise(v, z); /* NaN gives 0 */
            uint64_t q2 = (uint64_t)q * q;
            n += v == v;
            sums->q += q;
            sums->q2_low += (uint32_t)q2;
            sums->q2_high += q2 >> 32;
        }
    sums->n += n;
}

template <int CHANNELS>
static __global__ void __launch_bounds__(THREADS, (shape<CHANNELS>::BLOCKS))
    sum_channels(struct gi_sums *sums, struct gi_image src, struct walk walk, struct quantisers z)
{
    struct gi_sums mine[CHANNELS] = {};
    unsigned index, y;
    walk_start(walk, &y, &index, blockIdx.x * THREADS + threadIdx.x);
    while (y < (unsigned)src.height) {
        typename shape<CHANNELS>::turn pieces;
        bool whole = true;
#pragma unroll
        for (struct piece<float, CHANNELS> &piece : pieces) {
            piece_load(&piece, src, y, index);
            whole &= piece.n == piece.SAMPLES;
            walk_next(walk, &y, &index);
        }
        if (!whole)
#pragma unroll
            for (struct piece<float, CHANNELS> &piece : pieces)
                piece_blank(&piece);
#pragma unroll
        for (int c = 0; c < CHANNELS; c++)
            turn_add<CHANNELS>(&mine[c], c, pieces, z.channel[c]);
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

template <int CHANNELS>
static enum gi_status launch(struct gi_cuda_queue *cu, struct gi_sums *sums,
                             const struct gi_image *src, const struct quantisers *z,
                             struct gi_err *err)
{
    unsigned blocks = (unsigned)(cu->units * shape<CHANNELS>::BLOCKS);
    struct walk walk =
        walk_of(src, piece<float, CHANNELS>::SAMPLES * sizeof(float), (size_t)blocks * THREADS);
    sum_channels<CHANNELS><<<blocks, THREADS, 0, cu->stream>>>(sums, *src, walk, *z);
    GI_CUDA_LAUNCHED();
    return GI_OK;
}

/* `lo` and `hi` are host memory, `sums` is device memory. */
static enum gi_status launch_channels(struct gi_cuda_queue *cu, struct gi_sums *sums,
                                      const struct gi_image *src, const float *lo, const float *hi,
                                      struct gi_err *err)
{
    struct quantisers z = {};
    for (int c = 0; c < src->channels; c++)
        z.channel[c] = quantiser_of(lo[c], hi[c]);
    GI_CUDA_CHANNELS(src->channels, launch<CHANNELS>(cu, sums, src, &z, err));
}

static enum gi_status by_pieces(struct gi_queue *queue, struct gi_sums *sums,
                                const struct gi_image *src, const struct gi_sums_range *range,
                                struct gi_err *err)
{
    struct gi_cuda_queue *cu = gi_cuda(queue);
    struct gi_sums *device, found[GI_MAX_CHANNELS];
    size_t nbytes = (size_t)src->channels * sizeof *sums;
    enum gi_status status = gi_cuda_scratch(cu, (void **)&device, nbytes, err);
    if (status)
        return status;
    GI_CUDA_TRY(cudaMemsetAsync(device, 0, nbytes, cu->stream));
    status = launch_channels(cu, device, src, range->lo, range->hi, err);
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

const struct gi_sums_way gi_cuda_sums_ways[GI_WAYS_MAX] = {
    {{"pieces", "everything"}, NULL, by_pieces},
};
