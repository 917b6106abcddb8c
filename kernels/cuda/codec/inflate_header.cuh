/* The header of a DEFLATE block with dynamic Huffman codes (RFC 1951, section 3.2.7), read by all
 * threads of a thread block.
 *
 * The code lengths of the two codes are themselves coded, in up to 320 symbols that follow one
 * another. For each bit of a window the threads find the symbol that would begin there and where
 * the next symbol would begin. next[k][p] is the position 2^k symbols after position p (pointer
 * doubling), so the first 2^LENGTH_LEVELS threads find the position of one symbol each in a few
 * steps: that of symbol 5 is next[2][next[0][0]].
 * SPDX-License-Identifier: MIT */
#ifndef GI_KERNELS_CUDA_INFLATE_HEADER_CUH
#define GI_KERNELS_CUDA_INFLATE_HEADER_CUH

#include "kernels/cuda/codec/inflate_codes.cuh"

enum {
    LENGTH_WINDOW = 1024, /* bits in which symbols are searched at a time */
    LENGTH_LEVELS = 9,    /* 2^9 symbols are more than PNG_LENGTHS */
    HEADER_BITS = 6144,   /* more than a header has, with the last window */
    STAGED_WORDS = 8192,  /* of the stream in shared memory, more than a header has */
};

/* A part of the stream in shared memory. A word is skipped after every four, so that threads which
 * read at distances of PNG_SUB_BITS bits access different banks. */
template <uint32_t WORDS> struct staged {
    uint32_t words[WORDS / 4 * 5];
};

/* Returns the word `i` words behind the first one. */
template <uint32_t WORDS>
static __device__ inline uint32_t staged_word(const struct staged<WORDS> &staged, uint32_t i)
{
    return staged.words[i + i / 4];
}

/* Returns 32 bits, `at` bits behind the first one. */
template <uint32_t WORDS>
static __device__ inline uint32_t staged_bits(const struct staged<WORDS> &staged, uint32_t at)
{
    return __funnelshift_r(staged_word(staged, at / 32), staged_word(staged, at / 32 + 1), at % 32);
}

/* Loads the part of the stream from bit `first` on, a multiple of 32. Behind its end are zeros. */
template <uint32_t WORDS>
static __device__ inline void stage(struct staged<WORDS> *staged, const struct png_task &task,
                                    uint32_t first)
{
    const uint32_t nwords = (task.stream_nbytes + 3) / 4;
    __syncthreads();
    for (uint32_t i = threadIdx.x; i < WORDS; i += blockDim.x)
        staged->words[i + i / 4] = first / 32 + i < nwords ? task.words[first / 32 + i] : 0;
    __syncthreads();
}

struct inflate_header {
    struct inflate_code<LENGTH_BITS> code;
    struct code_counts<1> counts;
    uint16_t next[LENGTH_LEVELS][LENGTH_WINDOW];
    uint8_t lengths[PNG_LENGTHS]; /* of the literals, then of the distances */
    uint32_t at;                  /* next bit of the stream */
    uint32_t nliterals, ndistances;
    uint32_t bad; /* not 0: the header is damaged */
};

/* Fills next[0], and then the other levels. Positions from LENGTH_WINDOW on stay as they are. */
static __device__ inline void find_next(struct inflate_header *h,
                                        const struct staged<STAGED_WORDS> &staged, uint32_t at)
{
    for (unsigned p = threadIdx.x; p < LENGTH_WINDOW; p += PNG_SUBS) {
        const uint32_t bits = staged_bits(staged, at + p), symbol = code_symbol(h->code, bits);
        h->next[0][p] = symbol ? p + SYMBOL_NBITS(symbol) + SYMBOL_EXTRA(symbol) : UINT16_MAX;
    }
    for (unsigned k = 1; k < LENGTH_LEVELS; k++) {
        __syncthreads();
        for (unsigned p = threadIdx.x; p < LENGTH_WINDOW; p += PNG_SUBS) {
            const uint16_t half = h->next[k - 1][p];
            h->next[k][p] = half < LENGTH_WINDOW ? h->next[k - 1][half] : half;
        }
    }
    __syncthreads();
}

/* Reads the code lengths that begin within LENGTH_WINDOW bits from h->at on, of which `*done` were
 * found before, and moves h->at behind them. */
static __device__ inline void read_window(struct inflate_header *h,
                                          const struct staged<STAGED_WORDS> &staged, uint32_t *done)
{
    const uint32_t at = h->at, want = h->nliterals + h->ndistances;
    uint32_t p = 0, length = 0, n = 0, found;
    find_next(h, staged, at);
    for (unsigned k = 0; k < LENGTH_LEVELS; k++)
        if (threadIdx.x >> k & 1 && p < LENGTH_WINDOW)
            p = h->next[k][p];
    if (threadIdx.x < 1u << LENGTH_LEVELS && p < LENGTH_WINDOW) {
        const uint32_t bits = staged_bits(staged, at + p), symbol = code_symbol(h->code, bits);
        const uint32_t extra = bits >> SYMBOL_NBITS(symbol) & ((1u << SYMBOL_EXTRA(symbol)) - 1);
        const uint32_t value = SYMBOL_VALUE(symbol);
        n = symbol == 0 || value < 16 ? 1 : extra + (value == 18 ? 11 : 3);
        length = value < 16 ? value : value == 16 ? REPEAT : 0;
    }
    const uint32_t first = *done + block_before<PNG_SUBS / WARP>(n, &found);
    if (n && first < want) {
        for (uint32_t i = first; i < min(first + n, want); i++)
            h->lengths[i] = (uint8_t)length;
        if (h->next[0][p] == UINT16_MAX || first + n > want)
            atomicOr(&h->bad, 1);
        if (first + n >= want || h->next[0][p] >= LENGTH_WINDOW)
            h->at = at + h->next[0][p];
    }
    *done += found;
    __syncthreads();
}

/* Replaces REPEAT by the length before. */
static __device__ inline void repeat_lengths(struct inflate_header *h)
{
    const uint32_t i = threadIdx.x, want = h->nliterals + h->ndistances;
    uint32_t from = i;
    while (i < want && from > 0 && h->lengths[from] == REPEAT)
        from--;
    const uint8_t length = i < want ? h->lengths[from] : 0;
    __syncthreads();
    if (i < want) {
        h->lengths[i] = length;
        if (length == REPEAT)
            atomicOr(&h->bad, 1);
    }
    __syncthreads();
}

/* Reads the header behind the three bits of the block's type, at h->at, and moves h->at behind it.
 * Sets h->bad if it is damaged. All PNG_SUBS threads call it. */
static __device__ void header_read(struct inflate_header *h,
                                   const struct staged<STAGED_WORDS> &staged)
{
    uint32_t done = 0;
    __syncthreads();
    const uint32_t at = h->at, bits = staged_bits(staged, at), n = (bits >> 10 & 15) + 4;
    __syncthreads();
    if (threadIdx.x < LENGTH_SYMBOLS) {
        const uint32_t place = length_place(threadIdx.x);
        h->lengths[threadIdx.x] = place < n ? staged_bits(staged, at + 14 + 3 * place) & 7 : 0;
    }
    if (threadIdx.x == 0) {
        h->nliterals = (bits & 31) + LITERALS_LEAST;
        h->ndistances = (bits >> 5 & 31) + 1;
        h->bad = h->nliterals > LITERALS_MOST || h->ndistances > DISTANCES_MOST;
        h->at = at + 14 + 3 * n;
    }
    __syncthreads();
    const unsigned rank = code_count(&h->counts, h->lengths, LENGTH_SYMBOLS, 0);
    __syncthreads();
    code_begin(&h->code, &h->counts, 0);
    __syncthreads();
    code_order(&h->code, h->counts, h->lengths, LENGTH_SYMBOLS, 0, rank, length_symbol);
    __syncthreads();
    code_fill(&h->code);
    if (threadIdx.x == 0 && h->code.total != 1u << CODE_BITS_MOST)
        h->bad = 1;
    __syncthreads();
    while (done < h->nliterals + h->ndistances && !h->bad)
        read_window(h, staged, &done);
    if (!h->bad)
        repeat_lengths(h);
}

#endif
