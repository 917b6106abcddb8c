/* Tokens and Huffman codes of the PNG encoder, by the threads of a block together.
 * SPDX-License-Identifier: MIT */
#ifndef GI_KERNELS_CUDA_PNG_CODES_CUH
#define GI_KERNELS_CUDA_PNG_CODES_CUH

#include "kernels/cuda/common/measure.h"
#include "kernels/png_encode.h"

/* The bytes of the group of a thread. In local memory bytes of the same number are next to each
 * other for the threads of a warp. */
struct png_group {
    uint32_t words[GI_PNG_GROUP / 4];
};

static __device__ inline uint32_t group_byte(const struct png_group &group, uint32_t at)
{
    return group.words[at / 4 % (GI_PNG_GROUP / 4)] >> at % 4 * 8 & 255;
}

/* Reads the group of this thread from the `n` bytes at p, and stores its comparisons in `equal`
 * (see struct gi_png_cursor). With WHOLE, p is a multiple of 16, and padding follows the bytes. */
template <bool WHOLE>
static __device__ inline void load_group(struct png_group *group, uint64_t *equal, const uint8_t *p,
                                         uint32_t n)
{
    const uint32_t at = threadIdx.x * GI_PNG_GROUP;
    uint32_t before = at && at < n ? p[at - 1] : 256;
    uint64_t bits = 0;
    for (uint32_t i = 0; i < GI_PNG_GROUP && at < n; i += 16) {
        uint32_t quad[4] = {0, 0, 0, 0};
        if (WHOLE) {
            const uint4 v = *(const uint4 *)(p + at + i);
            quad[0] = v.x, quad[1] = v.y, quad[2] = v.z, quad[3] = v.w;
        } else {
            for (uint32_t k = 0; k < 16 && at + i + k < n; k++)
                quad[k / 4] |= (uint32_t)p[at + i + k] << k % 4 * 8;
        }
        for (uint32_t k = 0; k < 16; k++) {
            const uint32_t byte = quad[k / 4] >> k % 4 * 8 & 255;
            bits |= (uint64_t)(byte == before && at + i + k < n) << (i + k);
            before = byte;
        }
        for (uint32_t k = 0; k < 4; k++)
            group->words[i / 4 + k] = quad[k];
    }
    equal[threadIdx.x] = bits;
}

/* Takes the next token (imgio/png/runs_code.h) of the cursor in the thread's group. */
static __device__ inline bool next_token(uint32_t *token, struct gi_png_cursor *cursor,
                                         const struct png_group &group)
{
    uint32_t where, length;
    if (!gi_png_next(cursor, &where, &length))
        return false;
    *token = length ? 256 + length - 3 : group_byte(group, where);
    return true;
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
 * GI_RUNS_TOKENS threads. */
static __device__ inline void make_code(struct png_code *code)
{
    const uint32_t t = threadIdx.x, count = t < GI_RUNS_TOKENS ? code->counts[t] : 0;
    if (t < GI_RUNS_SYMBOLS)
        code->of_symbols[t] = t < 256 ? count : t == GI_RUNS_END;
    if (t == 0)
        code->nbits = 0;
    __syncthreads();
    uint32_t nbits = 0;
    if (t >= 256 && count) {
        struct gi_runs_item extra;
        atomicAdd(&code->of_symbols[gi_runs_length_symbol(&extra, t - 256 + 3)], count);
        nbits = count * (extra.nbits + 1);
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
