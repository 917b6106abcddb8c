/* Reading the tokens of DEFLATE: literals, and matches of a length and a distance.
 * SPDX-License-Identifier: MIT */
#ifndef GI_KERNELS_CUDA_INFLATE_TOKENS_CUH
#define GI_KERNELS_CUDA_INFLATE_TOKENS_CUH

#include "kernels/cuda/codec/inflate_codes.cuh"

/* The codes of a block of the stream. */
struct inflate_block {
    struct inflate_code<LITERAL_BITS> literals;
    struct inflate_code<DISTANCE_BITS> distances;
    struct code_counts<LITERAL_WARPS> literal_counts;
    struct code_counts<1> distance_counts;
};

/* Reads bits in ascending order. A word is loaded one word ahead of its use. */
struct reader {
    const uint32_t *words;
    uint32_t nwords, index, low, high, next; /* words `index`, index + 1 and index + 2 */
};

static __device__ inline uint32_t word_at(const struct reader &r, uint32_t i)
{
    return i < r.nwords ? __ldg(r.words + i) : 0;
}

static __device__ inline struct reader reader_at(const struct png_task &task, uint32_t bit)
{
    struct reader r = {task.words, (task.stream_nbytes + 3) / 4, bit / 32};
    r.low = word_at(r, r.index);
    r.high = word_at(r, r.index + 1);
    r.next = word_at(r, r.index + 2);
    return r;
}

/* Returns 32 bits from `bit` on, which is at most 32 more than in the call before. */
static __device__ inline uint32_t reader_peek(struct reader *r, uint32_t bit)
{
    if (bit / 32 != r->index) {
        r->index++;
        r->low = r->high;
        r->high = r->next;
        r->next = word_at(*r, r->index + 2);
    }
    return __funnelshift_r(r->low, r->high, bit % 32);
}

/* What begins at a bit. */
enum token_kind { TOKEN_LITERAL, TOKEN_MATCH, TOKEN_END, TOKEN_DAMAGED };

struct token {
    enum token_kind kind;
    uint32_t value; /* literal, or length of the match */
    uint32_t distance;
};

/* Returns the extra bits of a symbol whose code begins `bits`. */
static __device__ inline uint32_t extra_of(uint32_t symbol, uint32_t bits)
{
    return bits >> SYMBOL_NBITS(symbol) & ((1u << SYMBOL_EXTRA(symbol)) - 1);
}

/* Reads the token at *bit, which begins with `symbol`, the first of `bits`, and moves *bit behind
 * it. `peek(bit)` returns 32 bits. */
template <typename F>
static __device__ inline struct token token_read(const struct inflate_block &block, uint32_t symbol,
                                                 uint32_t bits, const F &peek, uint32_t *bit)
{
    const uint32_t kind = SYMBOL_KIND(symbol);
    struct token token = {TOKEN_LITERAL, LITERAL_VALUE(symbol) + extra_of(symbol, bits), 0};
    *bit += SYMBOL_NBITS(symbol) + SYMBOL_EXTRA(symbol);
    if (kind == KIND_LENGTH) {
        bits = peek(*bit);
        const uint32_t distance = code_symbol(block.distances, bits);
        token.kind = SYMBOL_KIND(distance) == KIND_LENGTH ? TOKEN_MATCH : TOKEN_DAMAGED;
        token.distance = SYMBOL_VALUE(distance) + extra_of(distance, bits);
        *bit += SYMBOL_NBITS(distance) + SYMBOL_EXTRA(distance);
    } else if (kind == KIND_END) {
        token.kind = TOKEN_END;
    } else if (kind == KIND_BAD || symbol == 0) {
        token.kind = TOKEN_DAMAGED;
    }
    return token;
}

/* Makes the codes of a block from their lengths. All threads of the block call it. Returns false if
 * they are not those of a block. */
static __device__ inline bool block_make(struct inflate_block *block, const uint8_t *lengths,
                                         uint32_t nliterals, uint32_t ndistances)
{
    const uint8_t *distances = lengths + nliterals;
    const unsigned rank = code_count(&block->literal_counts, lengths, nliterals, 0);
    const unsigned distance_rank =
        code_count(&block->distance_counts, distances, ndistances, LITERAL_WARPS);
    __syncthreads();
    code_begin(&block->literals, &block->literal_counts, 0);
    code_begin(&block->distances, &block->distance_counts, LITERAL_WARPS);
    __syncthreads();
    code_order(&block->literals, block->literal_counts, lengths, nliterals, 0, rank,
               literal_symbol);
    code_order(&block->distances, block->distance_counts, distances, ndistances, LITERAL_WARPS,
               distance_rank, distance_symbol);
    __syncthreads();
    code_fill(&block->literals);
    code_fill(&block->distances);
    __syncthreads();
    const uint32_t whole = 1u << CODE_BITS_MOST, total = block->distances.total;
    const bool one = total == whole / 2 && block->distances.ncodes == 1;
    return block->literals.total == whole && (total == whole || total == 0 || one);
}

/* Adds the numbers of literals to the table of literals. All PNG_SUBS threads call it. */
static __device__ inline void runs_make(struct inflate_block *block)
{
    constexpr uint32_t WORDS = (1u << LITERAL_BITS) / PNG_SUBS;
    uint32_t made[WORDS];
#pragma unroll
    for (uint32_t k = 0; k < WORDS; k++) {
        const uint32_t word = threadIdx.x + k * PNG_SUBS;
        uint32_t nbits = 0, n = 0;
        for (;;) {
            const uint32_t symbol = block->literals.direct[word >> nbits];
            if (symbol == 0 || SYMBOL_KIND(symbol) != KIND_LITERAL ||
                nbits + SYMBOL_NBITS(symbol) > LITERAL_BITS)
                break;
            nbits += SYMBOL_NBITS(symbol);
            n++;
        }
        made[k] = n << 28 | nbits << 10;
    }
    __syncthreads();
#pragma unroll
    for (uint32_t k = 0; k < WORDS; k++)
        block->literals.direct[threadIdx.x + k * PNG_SUBS] |= made[k];
    __syncthreads();
}

#endif
