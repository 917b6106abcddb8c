/* histogram: counters in shared memory, merged once a block into 64-bit counts.
 * 8-bit samples have a counter for each bank, so that no two lanes ever meet; wider keys are split
 * over blocks that read the same samples at about the same time, each counting its part of the
 * bins. SPDX-License-Identifier: MIT */
#include "kernels/cuda/measure.h"

#include <stdlib.h>

enum {
    BINS8 = 256,
    THREADS8 = 512,
    BLOCKS8 = 4, /* a multiprocessor: 4 * 32 KB of counters */
    THREADS_WIDE = 1024,
};

/* ---- 8 bits ---- */

/* Counter r of channel c and bin b is word b * 32 + c * COPIES + r. A lane counts in copy lane /
 * CHANNELS, and lane l starts l channels later than lane 0: 32 lanes, 32 banks (30 for 3 channels).
 */
template <int CHANNELS>
static __global__ void __launch_bounds__(THREADS8)
    histogram8(device_u64 *counts, struct gi_image src, struct walk walk)
{
    constexpr int COPIES = WARP / CHANNELS, N = piece<uint8_t, CHANNELS>::SAMPLES, WORDS = N / 4;
    __shared__ unsigned table[BINS8 * WARP];
    for (int i = threadIdx.x; i < BINS8 * WARP; i += THREADS8)
        table[i] = 0;
    __syncthreads();

    /* Counters by byte offset: bin * 128, which is shift and mask, or this. */
    unsigned lane = threadIdx.x % WARP, turn = lane % CHANNELS, slot[CHANNELS];
#pragma unroll
    for (int c = 0; c < CHANNELS; c++)
        slot[c] = ((c + turn) % CHANNELS * COPIES + lane / CHANNELS % COPIES) * sizeof(unsigned);
    struct piece<uint8_t, CHANNELS> now, next;
    unsigned index, y;
    walk_start(walk, &y, &index, blockIdx.x * THREADS8 + threadIdx.x);
    for (piece_load(&now, src, y, index); now.n; now = next) {
        walk_next(walk, &y, &index);
        piece_load(&next, src, y, index);
        if (now.n < N) {
#pragma unroll
            for (int i = 0; i < N; i++)
                if (i < now.n)
                    atomicAdd(&table[now.samples[i] * WARP + i % CHANNELS * COPIES], 1u);
            continue;
        }
#pragma unroll
        for (int i = 0; i < WORDS; i++) {
            const unsigned *words = (const unsigned *)now.samples;
            unsigned after = CHANNELS == 3 ? words[(i + 1) % WORDS] : words[i];
            unsigned word = __funnelshift_r(words[i], after, 8 * turn);
#pragma unroll
            for (int j = 0; j < 4; j++) {
                unsigned bin = (j == 0 ? word << 7 : word >> (8 * j - 7)) & 255 << 7;
                unsigned at = bin | slot[(4 * i + j) % CHANNELS];
                atomicAdd((unsigned *)((char *)table + at), 1u);
            }
        }
    }
    __syncthreads();

    for (int i = threadIdx.x; i < BINS8 * CHANNELS; i += THREADS8) {
        int bin = i / CHANNELS, c = i % CHANNELS;
        unsigned sum = 0;
        for (int r = 0; r < COPIES; r++)
            sum += table[bin * WARP + c * COPIES + (r + bin) % COPIES];
        if (sum)
            atomicAdd(&counts[c * BINS8 + bin], (device_u64)sum);
    }
}

/* ---- wider keys ---- */

/* Edges of GI_KEY_RANGE, and what GI_KEY_FLOAT_LOW wants. */
struct key_spec {
    int nbins;
    double lo, hi, width, bins_per_unit;
    unsigned prefix;
};

static __device__ inline double range_edge(const struct key_spec &k, int i)
{
    return k.lo + i * k.width;
}

/* The bin by division, then moved to where the edges say. */
static __device__ inline int range_bin(const struct key_spec &k, float sample)
{
    double v = sample;
    if (!(v >= k.lo && v <= k.hi))
        return -1;
    if (v == k.hi)
        return k.nbins - 1;
    int i = (int)((v - k.lo) * k.bins_per_unit);
    i = i < 0 ? 0 : i >= k.nbins ? k.nbins - 1 : i;
    while (i > 0 && v < range_edge(k, i))
        i--;
    while (i + 1 < k.nbins && v >= range_edge(k, i + 1))
        i++;
    return i;
}

/* The bin of a sample, -1 where it has none. */
template <int KEY> static __device__ inline int key_bin(const struct key_spec &, uint16_t sample)
{
    return sample;
}

template <int KEY> static __device__ inline int key_bin(const struct key_spec &k, float sample)
{
    if (KEY == GI_KEY_RANGE)
        return range_bin(k, sample);
    unsigned key = gi_float_key(__float_as_uint(sample));
    if (sample != sample || (KEY == GI_KEY_FLOAT_LOW && key >> 16 != k.prefix))
        return -1;
    return (int)(KEY == GI_KEY_FLOAT_LOW ? key & 0xffff : key >> 16);
}

/* Block i counts the counters [part * table_size, ...) with part = i % parts, of all channels. */
template <typename T, int KEY, int CHANNELS>
static __global__ void __launch_bounds__(THREADS_WIDE)
    histogram_wide(device_u64 *counts, struct gi_image src, struct walk walk, struct key_spec key,
                   unsigned table_size, unsigned parts)
{
    extern __shared__ unsigned table[];
    for (unsigned i = threadIdx.x; i < table_size; i += THREADS_WIDE)
        table[i] = 0;
    __syncthreads();

    struct piece<T, CHANNELS> now, next;
    unsigned first = blockIdx.x % parts * table_size, index, y;
    walk_start(walk, &y, &index, blockIdx.x / parts * THREADS_WIDE + threadIdx.x);
    for (piece_load(&now, src, y, index); now.n; now = next) {
        walk_next(walk, &y, &index);
        piece_load(&next, src, y, index);
#pragma unroll
        for (int i = 0; i < now.SAMPLES; i++) {
            int bin = i < now.n ? key_bin<KEY>(key, now.samples[i]) : -1;
            unsigned at = (unsigned)(i % CHANNELS * key.nbins + bin) - first;
            if (bin >= 0 && at < table_size)
                atomicAdd(&table[at], 1u);
        }
    }
    __syncthreads();

    unsigned all = (unsigned)(CHANNELS * key.nbins);
    for (unsigned i = threadIdx.x; i < table_size && first + i < all; i += THREADS_WIDE)
        if (table[i])
            atomicAdd(&counts[first + i], (device_u64)table[i]);
}

/* ---- launches ---- */

template <int CHANNELS>
static enum gi_status launch8(struct gi_cuda_context *cu, device_u64 *counts,
                              const struct gi_image *src, struct gi_err *err)
{
    unsigned blocks = (unsigned)(cu->units * BLOCKS8);
    struct walk walk = walk_of(src, piece<uint8_t, CHANNELS>::SAMPLES, (size_t)blocks * THREADS8);
    histogram8<CHANNELS><<<blocks, THREADS8, 0, cu->stream>>>(counts, *src, walk);
    GI_CUDA_LAUNCHED();
    return GI_OK;
}

template <typename T, int KEY, int CHANNELS>
static enum gi_status launch_wide(struct gi_cuda_context *cu, device_u64 *counts,
                                  const struct gi_image *src, const struct key_spec *key,
                                  struct gi_err *err)
{
    /* The largest power of two that a block may have, or what is needed. */
    unsigned all = (unsigned)(CHANNELS * key->nbins), table_size = 4096;
    while (table_size < all && 2 * table_size * sizeof(unsigned) <= (size_t)cu->shared_nbytes)
        table_size *= 2;
    unsigned parts = (all + table_size - 1) / table_size;
    unsigned groups = (unsigned)cu->units < parts ? 1 : (unsigned)cu->units / parts;
    size_t nbytes = table_size * sizeof(unsigned);
    GI_CUDA_TRY(cudaFuncSetAttribute(histogram_wide<T, KEY, CHANNELS>,
                                     cudaFuncAttributeMaxDynamicSharedMemorySize, (int)nbytes));
    struct walk walk =
        walk_of(src, piece<T, CHANNELS>::SAMPLES * sizeof(T), (size_t)groups * THREADS_WIDE);
    histogram_wide<T, KEY, CHANNELS><<<groups * parts, THREADS_WIDE, nbytes, cu->stream>>>(
        counts, *src, walk, *key, table_size, parts);
    GI_CUDA_LAUNCHED();
    return GI_OK;
}

template <int CHANNELS>
static enum gi_status launch(struct gi_cuda_context *cu, device_u64 *counts,
                             const struct gi_image *src, const struct gi_histogram_spec *spec,
                             struct gi_err *err)
{
    double span = spec->hi - spec->lo;
    struct key_spec key = {spec->nbins,        spec->lo,           spec->hi,
                           span / spec->nbins, spec->nbins / span, 0};
    if (src->type == GI_U8)
        return launch8<CHANNELS>(cu, counts, src, err);
    if (src->type == GI_U16)
        return launch_wide<uint16_t, GI_KEY_VALUE, CHANNELS>(cu, counts, src, &key, err);
    if (spec->key == GI_KEY_FLOAT_HIGH)
        return launch_wide<float, GI_KEY_FLOAT_HIGH, CHANNELS>(cu, counts, src, &key, err);
    if (spec->key == GI_KEY_FLOAT_LOW) {
        enum gi_status status = GI_OK;
        for (int i = 0; i < spec->nprefixes && !status; i++) {
            key.prefix = spec->prefixes[i];
            status = launch_wide<float, GI_KEY_FLOAT_LOW, CHANNELS>(
                cu, counts + (size_t)i * CHANNELS * spec->nbins, src, &key, err);
        }
        return status;
    }
    if (!(span >= 0 && span < (double)INFINITY))
        return GI_OK; /* no range: nothing is counted */
    return launch_wide<float, GI_KEY_RANGE, CHANNELS>(cu, counts, src, &key, err);
}

enum gi_status gi_cuda_histogram_launch(struct gi_cuda_context *cu, uint64_t *counts,
                                        const struct gi_image *src,
                                        const struct gi_histogram_spec *spec, struct gi_err *err)
{
    device_u64 *device = (device_u64 *)counts;
    switch (src->channels) {
    case 1:
        return launch<1>(cu, device, src, spec, err);
    case 2:
        return launch<2>(cu, device, src, spec, err);
    case 3:
        return launch<3>(cu, device, src, spec, err);
    default:
        return launch<4>(cu, device, src, spec, err);
    }
}

enum gi_status gi_cuda_histogram(struct gi_context *cx, uint64_t *counts,
                                 const struct gi_image *src, const struct gi_histogram_spec *spec,
                                 struct gi_err *err)
{
    struct gi_cuda_context *cu = gi_cuda(cx);
    size_t n = (size_t)src->channels * (size_t)spec->nbins;
    if (spec->key == GI_KEY_FLOAT_LOW)
        n *= (size_t)spec->nprefixes;
    size_t nbytes = n * sizeof *counts;
    uint64_t *device, *found = (uint64_t *)malloc(nbytes);
    if (!found)
        return gi_fail(err, GI_E_MEMORY, "out of memory: %zu bins", n);
    enum gi_status status = gi_cuda_scratch(cu, (void **)&device, nbytes, err);
    cudaError_t error = cudaSuccess;
    if (!status && (error = cudaMemsetAsync(device, 0, nbytes, cu->stream)) != cudaSuccess)
        status = gi_cuda_fail(err, error, "cudaMemsetAsync");
    if (!status)
        status = gi_cuda_histogram_launch(cu, device, src, spec, err);
    if (!status)
        status = gi_cuda_copy_to_host(cu, found, nbytes, device, nbytes, nbytes, 1, err);
    for (size_t i = 0; i < n && !status; i++)
        counts[i] += found[i];
    free(found);
    return status;
}
