/* Tokens and Huffman codes of the PNG encoder, by the threads of a block together.
 * SPDX-License-Identifier: MIT */
#ifndef GI_KERNELS_CUDA_PNG_CODES_CUH
#define GI_KERNELS_CUDA_PNG_CODES_CUH

#include "kernels/cuda/common/measure.h"
#include "kernels/png_encode.h"

/* Loads 16 bytes from p + at on. With WHOLE, p is a multiple of 16, and padding follows the bytes;
 * otherwise bytes from n on are not read. */
template <bool WHOLE>
static __device__ inline uint4 load_bytes(const uint8_t *p, uint32_t at, uint32_t n)
{
    if (WHOLE)
        return *(const uint4 *)(p + at);
    uint32_t words[4] = {0, 0, 0, 0};
    for (uint32_t k = 0; k < 16 && at + k < n; k++)
        words[k / 4] |= (uint32_t)p[at + k] << k % 4 * 8;
    return make_uint4(words[0], words[1], words[2], words[3]);
}

/* Returns byte k, which the compiler knows. */
static __device__ inline uint32_t byte_at(const uint4 &v, uint32_t k)
{
    const uint32_t word = k < 4 ? v.x : k < 8 ? v.y : k < 12 ? v.z : v.w;
    return word >> k % 4 * 8 & 255;
}

/* Stores the comparisons of the group of this thread (see struct gi_png_cursor), of the `n` bytes
 * at p. */
template <bool WHOLE>
static __device__ inline void compare_group(uint64_t *equal, const uint8_t *p, uint32_t n)
{
    const uint32_t first = threadIdx.x * GI_PNG_GROUP;
    uint32_t before = first && first < n ? p[first - 1] : 256;
    uint64_t bits = 0;
    for (uint32_t i = 0; i < GI_PNG_GROUP && first + i < n; i += 16) {
        const uint4 v = load_bytes<WHOLE>(p, first + i, n);
        uint32_t some = 0;
#pragma unroll
        for (uint32_t k = 0; k < 16; k++) {
            some |= byte_at(v, k) == before ? 1u << k : 0;
            before = byte_at(v, k);
        }
        bits |= (uint64_t)some << i;
    }
    if (first < n && n - first < GI_PNG_GROUP)
        bits &= ((uint64_t)1 << (n - first)) - 1;
    equal[threadIdx.x] = bits;
}

/* Calls f(token) for each token (imgio/png/runs_code.h) that begins in the group of this thread, in
 * order. compare_group() of all threads comes before. */
template <bool WHOLE, typename F>
static __device__ inline void each_token(const uint64_t *equal, const uint8_t *p, uint32_t n, F f)
{
    const uint32_t group = threadIdx.x, first = group * GI_PNG_GROUP;
    struct gi_png_tokens tokens;
    if (first >= n)
        return;
    if (!gi_png_tokens_of(&tokens, equal, group, n)) {
        struct gi_png_cursor cursor = gi_png_cursor_at(equal, group, n);
        for (uint32_t at, length; gi_png_next(&cursor, &at, &length);)
            f(length ? 256 + length - 3 : p[at]);
        return;
    }
    for (uint32_t i = 0; i < GI_PNG_GROUP && first + i < n; i += 16) {
        const uint4 v = load_bytes<WHOLE>(p, first + i, n);
        const uint32_t all = (uint32_t)(tokens.all >> i), runs = (uint32_t)(tokens.runs >> i);
#pragma unroll
        for (uint32_t k = 0; k < 16; k++)
            if (all >> k & 1)
                f(runs >> k & 1 ? 256 + gi_png_run_at(equal, group, n, i + k) - 3 : byte_at(v, k));
    }
}

/* Scratch memory, shared by the block, for the lengths of a code. */
struct png_sorting {
    uint32_t weights[2 * GI_RUNS_SYMBOLS];
    uint16_t order[GI_RUNS_SYMBOLS], parents[2 * GI_RUNS_SYMBOLS];
    uint32_t used;
};

/* Makes the lengths of the code for `n` symbols with these counts. Each thread finds the place of
 * one symbol in the order by comparing it with all others. The block has at least n threads. */
static __device__ inline void make_lengths(uint8_t *lengths, struct png_sorting *sorting,
                                           const uint32_t *counts, uint32_t n, uint32_t limit)
{
    const uint32_t s = threadIdx.x, mine = s < n ? counts[s] : 0;
    if (s == 0)
        sorting->used = 0;
    __syncthreads();
    if (mine) {
        uint32_t place = 0;
        for (uint32_t i = 0; i < n; i++)
            place += counts[i] && (counts[i] < mine || (counts[i] == mine && i < s));
        sorting->order[place] = (uint16_t)s;
        sorting->weights[place] = mine;
        atomicAdd(&sorting->used, 1);
    }
    if (s < n)
        lengths[s] = 0;
    __syncthreads();
    if (s == 0)
        gi_runs_lengths(lengths, sorting->order, sorting->weights, sorting->parents, sorting->used,
                        limit);
    __syncthreads();
}

/* The code of literals and lengths, shared by the block. */
struct png_code {
    uint32_t counts[GI_RUNS_TOKENS];
    uint32_t of_symbols[GI_RUNS_SYMBOLS];
    uint8_t lengths[GI_RUNS_SYMBOLS];
    uint32_t nbits; /* of all tokens and the end */
    struct png_sorting sorting;
};

static __device__ inline void clear_counts(struct png_code *code)
{
    for (uint32_t t = threadIdx.x; t < GI_RUNS_TOKENS; t += blockDim.x)
        code->counts[t] = 0;
    __syncthreads();
}

/* Makes the lengths of the code from the counts of all tokens. The block has at least
 * GI_RUNS_SYMBOLS threads. */
static __device__ inline void make_code(struct png_code *code)
{
    const uint32_t t = threadIdx.x;
    if (t < GI_RUNS_SYMBOLS)
        code->of_symbols[t] = t < 256 ? code->counts[t] : t == GI_RUNS_END;
    if (t == 0)
        code->nbits = 0;
    __syncthreads();
    uint32_t nbits = 0;
    for (uint32_t token = 256 + t; token < GI_RUNS_TOKENS; token += blockDim.x) {
        const uint32_t count = code->counts[token];
        struct gi_runs_item extra;
        if (!count)
            continue;
        atomicAdd(&code->of_symbols[gi_runs_length_symbol(&extra, token - 256 + 3)], count);
        nbits += count * (extra.nbits + 1);
    }
    __syncthreads();
    make_lengths(code->lengths, &code->sorting, code->of_symbols, GI_RUNS_SYMBOLS,
                 GI_RUNS_CODE_BITS);
    if (t < GI_RUNS_SYMBOLS)
        nbits += code->of_symbols[t] * code->lengths[t];
    if (nbits)
        atomicAdd(&code->nbits, nbits);
    __syncthreads();
}

#endif
