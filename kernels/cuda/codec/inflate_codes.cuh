/* Huffman codes of DEFLATE (RFC 1951, section 3.2) in shared memory: they are made from the lengths
 * of the codes by all threads of a block. DEFLATE stores codes with their first bit lowest.
 * SPDX-License-Identifier: MIT */
#ifndef GI_KERNELS_CUDA_INFLATE_CODES_CUH
#define GI_KERNELS_CUDA_INFLATE_CODES_CUH

#include "kernels/cuda/codec/png_decode.h"
#include "kernels/cuda/common/prefix.cuh"

enum {
    CODE_BITS_MOST = 15,
    SYMBOLS_MOST = 288, /* literals, end of block and lengths */
    LITERAL_WARPS = SYMBOLS_MOST / WARP,
    LITERAL_BITS = 11, /* codes up to this length are found by one access */
    DISTANCE_BITS = 9,
    LENGTH_BITS = 7,      /* maximum length of the codes of code lengths */
    LENGTH_SYMBOLS = 19,  /* of the code of code lengths */
    LITERALS_LEAST = 257, /* literals, end of block and lengths in a header */
    LITERALS_MOST = 286,
    DISTANCES_MOST = 30,
    REPEAT = 255, /* in place of a length: equals the length before it */
};

/* What the threads of the block know of a symbol: bits 0 to 3 are the length of its code, bits 4 to
 * 7 the number of extra bits, bits 8 and 9 the kind, and bits 16 to 31 the value: the literal, or
 * the smallest length or distance. 0: there is no such code. For literals, in the table by bits,
 * bits 28 to 31 are the number of literals that the bits of the index consist of, and bits 10 to 13
 * the number of bits of these literals (runs_make()). */
enum { KIND_LITERAL, KIND_END, KIND_LENGTH, KIND_BAD };
#define SYMBOL_NBITS(symbol)     ((symbol)&15u)
#define SYMBOL_EXTRA(symbol)     ((symbol) >> 4 & 15u)
#define SYMBOL_KIND(symbol)      ((symbol) >> 8 & 3u)
#define SYMBOL_RUN_NBITS(symbol) ((symbol) >> 10 & 15u)
#define SYMBOL_RUN(symbol)       ((symbol) >> 28)
#define SYMBOL_VALUE(symbol)     ((symbol) >> 16 & 0x7fffu)
#define LITERAL_VALUE(symbol)    ((symbol) >> 16 & 0x1ffu) /* also of a length */

/* A code whose words of up to DIRECT bits are found in a table. */
template <unsigned DIRECT> struct inflate_code {
    uint32_t direct[1u << DIRECT];  /* by the next DIRECT bits; 0: the code is longer, or none */
    uint32_t symbols[SYMBOLS_MOST]; /* in the order of their codes */
    /* For each length, with codes as numbers of 15 bits whose first bit is uppermost: the first
     * code of the length, the code after its last one, and the index of its first symbol. */
    uint32_t first[CODE_BITS_MOST + 1], limit[CODE_BITS_MOST + 1], index[CODE_BITS_MOST + 1];
    uint32_t total; /* 2^15 if the code is complete */
    uint32_t ncodes;
};

/* Each returns a symbol without the length of its code. */
static __device__ inline uint32_t symbol_of(unsigned kind, uint32_t value, uint32_t extra)
{
    return value << 16 | kind << 8 | extra << 4;
}

/* Lengths (section 3.2.5): eight of 3 to 10 without extra bits, then four for each number of extra
 * bits; the last one is 258. */
static __device__ inline uint32_t literal_symbol(unsigned i)
{
    if (i < 256)
        return symbol_of(KIND_LITERAL, i, 0);
    if (i == 256)
        return symbol_of(KIND_END, 0, 0);
    if (i > 285)
        return symbol_of(KIND_BAD, 0, 0);
    const uint32_t k = i - 257, extra = k < 8 ? 0 : k / 4 - 1;
    return i == 285 ? symbol_of(KIND_LENGTH, 258, 0)
                    : symbol_of(KIND_LENGTH, k < 8 ? k + 3 : ((4 + k % 4) << extra) + 3, extra);
}

static __device__ inline uint32_t distance_symbol(unsigned i)
{
    const uint32_t extra = i < 4 ? 0 : i / 2 - 1;
    return i > 29 ? symbol_of(KIND_BAD, 0, 0)
                  : symbol_of(KIND_LENGTH, i < 4 ? i + 1 : ((2 + i % 2) << extra) + 1, extra);
}

/* Symbols of the code of code lengths: 16 repeats the length before it, 17 and 18 are zeros. */
static __device__ inline uint32_t length_symbol(unsigned i)
{
    return symbol_of(KIND_LENGTH, i, i < 16 ? 0 : i == 16 ? 2 : i == 17 ? 3 : 7);
}

/* Returns the place of a symbol's length among those of the code of code lengths, whose order is
 * 16, 17, 18, 0, 8, 7, 9, 6, and so on (section 3.2.7). */
static __device__ inline uint32_t length_place(uint32_t i)
{
    const uint32_t other = i >= 8 ? 2 * i - 12 : 19 - 2 * i;
    return i >= 16 ? i - 16 : i == 0 ? 3 : other;
}

/* A code is made in four phases, with a barrier after each. In the first three a thread has a
 * symbol: the threads of the warps from `first_warp` on those from 0 on. `lengths` are those of the
 * `n` symbols, at most 32 * WARPS, 0 to 15; 0 means that the symbol does not occur. */
template <unsigned WARPS> struct code_counts {
    uint16_t of[WARPS][CODE_BITS_MOST + 1]; /* symbols of each length, by warp */
};

/* Returns the number of symbols of the same length that precede the symbol of this thread in its
 * warp. */
template <unsigned WARPS>
static __device__ inline unsigned code_count(struct code_counts<WARPS> *counts,
                                             const uint8_t *lengths, unsigned n,
                                             unsigned first_warp)
{
    const unsigned warp = threadIdx.x / WARP - first_warp, lane = threadIdx.x % WARP;
    const unsigned i = warp * WARP + lane;
    if (warp >= WARPS)
        return 0;
    const unsigned nbits = i < n ? lengths[i] : 0, peers = __match_any_sync(ALL_LANES, nbits);
    const unsigned rank = __popc(peers & ((1u << lane) - 1));
    if (lane <= CODE_BITS_MOST)
        counts->of[warp][lane] = 0;
    __syncwarp();
    if (rank == 0)
        counts->of[warp][nbits] = (uint16_t)__popc(peers);
    return rank;
}

/* The first warp finds the first code of each length, a lane per length. */
template <unsigned WARPS, unsigned DIRECT>
static __device__ inline void code_begin(struct inflate_code<DIRECT> *code,
                                         struct code_counts<WARPS> *counts, unsigned first_warp)
{
    const unsigned lane = threadIdx.x % WARP;
    uint32_t count = 0, total, ncodes;
    if (threadIdx.x / WARP != first_warp)
        return;
    for (unsigned w = 0; w < WARPS && lane >= 1 && lane <= CODE_BITS_MOST; w++) {
        const uint32_t here = counts->of[w][lane];
        counts->of[w][lane] = (uint16_t)count; /* in the warps before */
        count += here;
    }
    const uint32_t span = lane <= CODE_BITS_MOST ? count << (CODE_BITS_MOST - lane) : 0;
    const uint32_t first = warp_before(span, &total), index = warp_before(count, &ncodes);
    if (lane <= CODE_BITS_MOST) {
        code->first[lane] = first;
        code->limit[lane] = first + span;
        code->index[lane] = index;
    }
    if (lane == 0) {
        code->total = total;
        code->ncodes = ncodes;
    }
}

/* Puts the symbols in order. `symbol(i)` is symbol number i, and `rank` is that of code_count(). */
template <unsigned WARPS, unsigned DIRECT, typename F>
static __device__ inline void
code_order(struct inflate_code<DIRECT> *code, const struct code_counts<WARPS> &counts,
           const uint8_t *lengths, unsigned n, unsigned first_warp, unsigned rank, const F &symbol)
{
    const unsigned warp = threadIdx.x / WARP - first_warp;
    const unsigned i = warp * WARP + threadIdx.x % WARP;
    const unsigned nbits = warp < WARPS && i < n ? lengths[i] : 0;
    if (nbits)
        code->symbols[code->index[nbits] + counts.of[warp][nbits] + rank] = symbol(i) | nbits;
}

/* Fills code->direct. */
template <unsigned DIRECT>
static __device__ inline void code_fill(struct inflate_code<DIRECT> *code)
{
    for (unsigned word = threadIdx.x; word < 1u << DIRECT; word += blockDim.x) {
        const uint32_t v = __brev(word) >> (32 - CODE_BITS_MOST);
        uint32_t found = 0;
        for (unsigned k = DIRECT; k >= 1; k--) /* the shortest length that fits is found last */
            if (v < code->limit[k])
                found = k;
        code->direct[word] = found ? code->symbols[code->index[found] + ((v - code->first[found]) >>
                                                                         (CODE_BITS_MOST - found))]
                                   : 0;
    }
}

/* Returns the symbol whose code begins `bits`, which has the next bit lowest, or 0. */
template <unsigned DIRECT>
static __device__ inline uint32_t code_symbol(const struct inflate_code<DIRECT> &code,
                                              uint32_t bits)
{
    const uint32_t symbol = code.direct[bits & ((1u << DIRECT) - 1)];
    if (symbol == 0) {
        const uint32_t v = __brev(bits) >> (32 - CODE_BITS_MOST);
        for (unsigned k = DIRECT + 1; k <= CODE_BITS_MOST; k++)
            if (v < code.limit[k])
                return code.symbols[code.index[k] + ((v - code.first[k]) >> (CODE_BITS_MOST - k))];
    }
    return symbol;
}

#endif
