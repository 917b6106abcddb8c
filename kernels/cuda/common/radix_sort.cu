/* LSD radix sort of keys, 8 bits per pass. A pass reads and writes every key once: decoupled
 * look-back gives each tile the number of earlier keys with the same digit. A. Adinets, D. Merrill,
 * "Onesweep: A Faster Least Significant Digit Radix Sort for GPUs", 2022.
 *
 *     keys of a tile                      shared memory                       result
 *     +--------+--------+- ... -+         +-----+--------+---+- ... -+        | digit 0 | digit 1
 * .. | warp 0 | warp 1 |       |  rank   |  0  |   1    | 2 |       | store  | ...[0]..|...[1]...
 *     +--------+--------+- ... -+ ------> +-----+--------+---+- ... -+ -----> in runs of one digit
 *
 * A block sorts one tile. A warp ranks its keys among those with the same digit: it compares the
 * digits of 32 keys by eight ballots. The keys go to shared memory in the order of their digits,
 * and from there to the result, so that stores are coalesced. Thread d looks back for digit d.
 *
 * Example: 2^26 keys of 32 bits: 16384 tiles of 4096 keys; a digit of a tile has 16 keys, 64 bytes.
 * SPDX-License-Identifier: MIT */
#include "kernels/cuda/common/radix_sort.h"
#include "kernels/cuda/common/measure.h"

enum { DIGITS = 256, THREADS = DIGITS, WARPS = THREADS / WARP, COUNT_BLOCKS = 8 };

/* State of a digit of a tile: 0 if nothing is known, OWN plus the number of its own keys, or 1 plus
 * the number of keys of all tiles up to this one. */
static const unsigned OWN = 1u << 31;

template <typename K> struct sort_tile {
    enum { EACH = 64 / (int)sizeof(K), KEYS = THREADS * EACH };
};

template <typename K> static __device__ __forceinline__ unsigned digit_of(K key, int shift)
{
    return (unsigned)(key >> shift) & (DIGITS - 1);
}

/* Adds the number of keys with each digit of each pass to `counts`. */
template <typename K>
static __global__ void __launch_bounds__(THREADS)
    sort_count(unsigned *counts, const K *keys, size_t n, int passes)
{
    __shared__ unsigned found[sizeof(K)][DIGITS];
    for (int p = 0; p < passes; p++)
        found[p][threadIdx.x] = 0;
    __syncthreads();
    for (size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x; i < n;
         i += (size_t)gridDim.x * THREADS) {
        K key = keys[i];
        for (int p = 0; p < passes; p++)
            atomicAdd(&found[p][digit_of(key, 8 * p)], 1);
    }
    __syncthreads();
    for (int p = 0; p < passes; p++)
        if (found[p][threadIdx.x])
            atomicAdd(&counts[p * DIGITS + (int)threadIdx.x], found[p][threadIdx.x]);
}

/* Replaces the counts of a pass by the number of keys with lower digits. */
static __global__ void __launch_bounds__(THREADS) sort_scan(unsigned *counts)
{
    unsigned *count = counts + blockIdx.x * DIGITS + threadIdx.x, all;
    *count = block_before<WARPS>(*count, &all);
}

/* ranks[i] becomes the rank of key i of the lane among the keys of its warp with the same digit;
 * `counts` becomes the number of keys of the warp with each digit. */
template <typename K>
static __device__ __forceinline__ void rank_keys(unsigned *ranks, unsigned *counts, const K *keys,
                                                 int shift)
{
    unsigned lane = threadIdx.x % WARP;
#pragma unroll
    for (int i = 0; i < sort_tile<K>::EACH; i++) {
        unsigned digit = digit_of(keys[i], shift), peers = ALL_LANES;
#pragma unroll
        for (int bit = 0; bit < 8; bit++) {
            unsigned set = __ballot_sync(ALL_LANES, digit >> bit & 1);
            peers &= digit >> bit & 1 ? set : ~set;
        }
        unsigned first = counts[digit], before = (unsigned)__popc(peers & ((1u << lane) - 1));
        __syncwarp();
        if (!before)
            counts[digit] = first + (unsigned)__popc(peers);
        __syncwarp();
        ranks[i] = first + before;
    }
}

/* Returns the number of keys of this digit in all tiles before `tile`, which has `count` of them.
 * Tiles are assigned in order, so all earlier tiles run or have ended. */
static __device__ __forceinline__ unsigned look_back(volatile unsigned *states, unsigned tile,
                                                     unsigned count)
{
    unsigned before = 0;
    for (unsigned t = tile; t > 0;) {
        unsigned state = states[(size_t)(t - 1) * DIGITS + threadIdx.x];
        if (state & OWN) {
            before += state - OWN;
            t--;
        } else if (state) {
            before += state - 1;
            t = 0;
        }
    }
    states[(size_t)tile * DIGITS + threadIdx.x] = before + count + 1;
    return before;
}

/* One pass. `starts` is where each digit begins in the result, `states` the state of each digit of
 * each tile, and *next the next tile. */
template <typename K>
static __global__ void __launch_bounds__(THREADS)
    sort_pass(K *to, const K *from, const unsigned *starts, volatile unsigned *states,
              unsigned *next, unsigned n, int shift)
{
    enum { EACH = sort_tile<K>::EACH, KEYS = sort_tile<K>::KEYS };
    __shared__ K sorted[KEYS];
    __shared__ unsigned counts[WARPS][DIGITS], offsets[DIGITS], tile;
    unsigned me = threadIdx.x, warp = me / WARP, lane = me % WARP;
    if (me == 0)
        tile = atomicAdd(next, 1);
    for (int w = 0; w < WARPS; w++)
        counts[w][me] = 0;
    __syncthreads();
    /* Load. Places after the last key have the highest key and are not stored. */
    unsigned first = tile * KEYS, left = min(n - first, (unsigned)KEYS), ranks[EACH];
    K keys[EACH];
#pragma unroll
    for (int i = 0; i < EACH; i++) {
        unsigned at = (warp * EACH + i) * WARP + lane;
        keys[i] = at < left ? from[first + at] : ~(K)0;
    }
    rank_keys(ranks, counts[warp], keys, shift);
    __syncthreads();
    /* Scan the digits of the tile. */
    unsigned count = 0, all;
#pragma unroll
    for (int w = 0; w < WARPS; w++)
        count += counts[w][me];
    states[(size_t)tile * DIGITS + me] = OWN | count;
    unsigned start = block_before<WARPS>(count, &all), upto = start;
#pragma unroll
    for (int w = 0; w < WARPS; w++) {
        unsigned own = counts[w][me];
        counts[w][me] = upto;
        upto += own;
    }
    __syncthreads();
    /* Exchange in shared memory, look back, store. */
#pragma unroll
    for (int i = 0; i < EACH; i++)
        sorted[counts[warp][digit_of(keys[i], shift)] + ranks[i]] = keys[i];
    offsets[me] = starts[me] + look_back(states, tile, count) - start;
    __syncthreads();
#pragma unroll
    for (int i = 0; i < EACH; i++) {
        unsigned at = i * THREADS + me;
        if (at < left)
            to[offsets[digit_of(sorted[at], shift)] + at] = sorted[at];
    }
}

static size_t ntiles_of(size_t n, int key_nbytes)
{
    size_t keys = key_nbytes == 4 ? (int)sort_tile<uint32_t>::KEYS : (int)sort_tile<uint64_t>::KEYS;
    return (n + keys - 1) / keys;
}

size_t gi_cuda_sort_scratch(size_t n, int key_nbytes)
{
    return sizeof(unsigned) * (DIGITS * (ntiles_of(n, key_nbytes) + (size_t)key_nbytes) + 1);
}

template <typename K>
static enum gi_status launch(struct gi_cuda_queue *cu, K *to, K *other, const K *from,
                             unsigned *counts, size_t n, int passes, struct gi_err *err)
{
    size_t ntiles = ntiles_of(n, sizeof(K));
    unsigned *states = counts + DIGITS * sizeof(K), *next = states + DIGITS * ntiles;
    size_t blocks = (size_t)COUNT_BLOCKS * (size_t)cu->units;
    GI_CUDA_TRY(cudaMemsetAsync(counts, 0, DIGITS * sizeof(K) * sizeof *counts, cu->stream));
    sort_count<K><<<(unsigned)(blocks < ntiles ? blocks : ntiles), THREADS, 0, cu->stream>>>(
        counts, from, n, passes);
    GI_CUDA_LAUNCHED();
    sort_scan<<<(unsigned)passes, THREADS, 0, cu->stream>>>(counts);
    GI_CUDA_LAUNCHED();
    for (int p = 0; p < passes; p++) {
        GI_CUDA_TRY(cudaMemsetAsync(states, 0, (DIGITS * ntiles + 1) * sizeof *states, cu->stream));
        sort_pass<K><<<(unsigned)ntiles, THREADS, 0, cu->stream>>>(p % 2 ? to : other,
                                                                   p == 0  ? from
                                                                   : p % 2 ? other
                                                                           : to,
                                                                   counts + p * DIGITS, states,
                                                                   next, (unsigned)n, 8 * p);
        GI_CUDA_LAUNCHED();
    }
    return GI_OK;
}

enum gi_status gi_cuda_sort_launch(struct gi_cuda_queue *cu, void *to, void *other,
                                   const void *from, void *scratch, size_t n, int key_nbytes,
                                   int nbytes, struct gi_err *err)
{
    unsigned *counts = (unsigned *)scratch;
    if (key_nbytes == 4)
        return launch(cu, (uint32_t *)to, (uint32_t *)other, (const uint32_t *)from, counts, n,
                      nbytes, err);
    return launch(cu, (uint64_t *)to, (uint64_t *)other, (const uint64_t *)from, counts, n, nbytes,
                  err);
}
