/* Expands the tokens of a PNG's stream to bytes.
 *
 * expand_windows() decodes all subsequences once more, a thread each, now that read_segments()
 * (png_inflate.cu) has found where they begin and join_segments() where their bytes belong. It
 * stores, for each byte, the literal or the index of the byte that a match copies; resolve_bytes()
 * (png_unfilter.cu) follows these indices.
 * SPDX-License-Identifier: MIT */
#include "kernels/cuda/codec/inflate_header.cuh"
#include "kernels/cuda/codec/inflate_tokens.cuh"

enum {
    LONG_MATCH = 16,              /* bytes of a match that lanes store together */
    EXPAND_THREADS = PNG_LENGTHS, /* subsequences of a window that a thread block expands */
    EXPAND_PARTS = (PNG_SUBS + EXPAND_THREADS - 1) / EXPAND_THREADS, /* of a window */
    EXPAND_WORDS = EXPAND_THREADS * 2 * PNG_SUB_BITS / 32 + 16,      /* of the stream, of a part */
    EXPAND_BLOCKS = 792,
};

/* What the threads of expand_windows() share. */
struct expansion {
    struct staged<EXPAND_WORDS> staged;
    struct inflate_block block;
    uint8_t lengths[PNG_LENGTHS];
};

/* Where a lane stores a match. One that overlaps itself repeats its first `distance` bytes, so all
 * its bytes refer to these: then chains of references stay short. */
struct match {
    uint32_t byte, length, distance;
};

/* Stores bytes `first`, first + step, and so on of a match. */
static __device__ inline void store_match(const struct png_task &task, const struct match &match,
                                          uint32_t first, uint32_t step)
{
    uint32_t back = first < match.distance ? first : first % match.distance;
    for (uint32_t i = first; i < match.length; i += step) {
        task.origins[match.byte + i] = match.byte - match.distance + back;
        back += step;
        back = back < match.distance ? back : step == 1 ? 0 : back % match.distance;
    }
}

/* Stores the match of each lane, if its length is not 0. Lanes store long ones together. */
static __device__ inline void store_matches(const struct png_task &task, const struct match &match)
{
    if (match.length < LONG_MATCH)
        store_match(task, match, 0, 1);
    for (uint32_t rest = __ballot_sync(ALL_LANES, match.length >= LONG_MATCH); rest;
         rest &= rest - 1) {
        const int from = __ffs(rest) - 1;
        const struct match one = {__shfl_sync(ALL_LANES, match.byte, from),
                                  __shfl_sync(ALL_LANES, match.length, from),
                                  __shfl_sync(ALL_LANES, match.distance, from)};
        store_match(task, one, threadIdx.x % WARP, WARP);
    }
}

/* Stores the bytes of the tokens in bits `bit` to border - 1 behind the first bit that is staged,
 * from `byte` on. Returns false if a match begins before the first byte. All lanes call it. */
static __device__ inline bool expand(const struct png_task &task, const struct expansion &s,
                                     uint32_t bit, uint32_t border, uint32_t byte)
{
    const auto peek = [&](uint32_t at) { return staged_bits(s.staged, at); };
    for (;;) {
        struct match match = {0, 0, 1};
        uint32_t bits = 0, symbol = 0;
        while (bit < border) { /* literals, of which lanes have different numbers */
            bits = peek(bit);
            symbol = s.block.literals.direct[bits & ((1u << LITERAL_BITS) - 1)];
            if (symbol == 0 || SYMBOL_KIND(symbol) != KIND_LITERAL)
                break;
            task.origins[byte++] = PNG_KNOWN | LITERAL_VALUE(symbol);
            bit += SYMBOL_NBITS(symbol);
        }
        if (!__any_sync(ALL_LANES, bit < border))
            return true;
        if (bit < border) {
            symbol = symbol ? symbol : code_symbol(s.block.literals, bits);
            const struct token token = token_read(s.block, symbol, bits, peek, &bit);
            if (token.kind == TOKEN_LITERAL)
                task.origins[byte++] = PNG_KNOWN | token.value;
            else if (token.kind == TOKEN_MATCH)
                match = {byte, token.value, token.distance};
            else
                bit = border; /* the end of the block */
        }
        if (__any_sync(ALL_LANES, match.length && match.distance > byte))
            return false;
        store_matches(task, match);
        byte += match.length;
    }
}

/* Stores the bytes of `nsubs` subsequences of a window from number `first` on, a thread each. The
 * segment's bytes begin at `byte`. All threads of the block call it. */
static __device__ inline bool expand_part(const struct png_task &task, struct expansion *s,
                                          const struct png_window &window, uint32_t first,
                                          uint32_t byte)
{
    const struct png_lengths *code = &task.lengths[window.block];
    const struct png_sub *subs = &task.subs[window.first_sub];
    const uint32_t i = first + threadIdx.x, staged = subs[first].bit / 32 * 32;
    stage(&s->staged, task, staged);
    s->lengths[threadIdx.x] = code->lengths[threadIdx.x];
    __syncthreads();
    block_make(&s->block, s->lengths, code->nliterals, code->ndistances);
    if (i - threadIdx.x % WARP >= window.nsubs)
        return true;
    const struct png_sub sub = i < window.nsubs ? subs[i] : (struct png_sub){staged, 0};
    const uint32_t border = i + 1 < window.nsubs ? subs[i + 1].bit : window.end;
    return expand(task, *s, sub.bit - staged, i < window.nsubs ? border - staged : 0,
                  byte + sub.byte);
}

/* Each thread block takes one part of a window after another, first the first parts of all. */
static __global__ void __launch_bounds__(EXPAND_THREADS) expand_windows(struct png_task task)
{
    __shared__ struct expansion s;
    const uint32_t nwindows = task.state->nwindows;
    bool good = true;
    /* Other thread blocks may set the status meanwhile, so all threads must agree on it. */
    if (__syncthreads_or((int)task.state->status))
        return;
    for (uint32_t k = blockIdx.x; k < nwindows * EXPAND_PARTS; k += gridDim.x) {
        const struct png_window window = task.windows[k % nwindows];
        const uint32_t byte = task.segments[window.segment].byte;
        const uint32_t first = k / nwindows * EXPAND_THREADS;
        if (byte == PNG_NO_PART)
            continue;
        if (first < window.nsubs)
            good &= expand_part(task, &s, window, first, byte);
        const uint8_t *stored = (const uint8_t *)task.words + window.stored_at;
        for (uint32_t i = first + threadIdx.x; !window.nsubs && i < window.nbytes;
             i += EXPAND_PARTS * EXPAND_THREADS)
            task.origins[byte + window.byte + i] = PNG_KNOWN | stored[i];
    }
    if (!good)
        task.state->status = PNG_DAMAGED;
}

enum gi_status gi_cuda_png_expand(struct gi_cuda_queue *cu, const struct png_task *task,
                                  struct gi_err *err)
{
    expand_windows<<<EXPAND_BLOCKS, EXPAND_THREADS, 0, cu->stream>>>(*task);
    GI_CUDA_LAUNCHED();
    return GI_OK;
}
