/* Inflates the zlib stream of a PNG (RFC 1950, RFC 1951), in two kernels.
 *
 * read_stream() has one thread block per image. The blocks of a DEFLATE stream are read one after
 * another, because each begins with its own Huffman codes. Within a block the tokens (literals and
 * matches) are counted in windows of PNG_SUBS subsequences, each by one thread that does not know
 * at which bit its first token begins. Like the codes of JPEG (jpeg_entropy.cu) those of DEFLATE
 * synchronise themselves: 10 to 135 bits behind a wrong start a thread is in step in the mean.
 *
 *   subsequences     |      0      |      1      |      2      |
 *   round 1          ==============|=============|=============|   from guessed starts
 *   round 2                         ======================== ...   from where the one before ended
 *
 * Rounds are repeated until each subsequence begins where the one before it ended, up to the end of
 * the block. Then a prefix sum tells where the bytes of each subsequence belong.
 *
 * expand_windows() decodes all subsequences once more, a window per thread block. It stores, for
 * each byte, the literal or the index of the byte that a match copies; resolve_bytes()
 * (png_unfilter.cu) follows these indices.
 * SPDX-License-Identifier: MIT */
#include "kernels/cuda/codec/inflate_header.cuh"
#include "kernels/cuda/codec/inflate_tokens.cuh"

enum {
    WARPS = PNG_SUBS / WARP,
    ADLER_NBYTES = 4,
    STAGED_MORE = 160,   /* bits that are staged behind a window: the end of a token, three words */
    ROUNDS_MOST = 5,     /* of a window, before subsequences become longer */
    LONG_MATCH = 16,     /* bytes of a match that lanes store together */
    EXPAND_BLOCKS = 264, /* thread blocks of expand_windows() */
};

/* How the tokens of a subsequence end. */
enum ending { AT_BORDER, AT_END_OF_BLOCK, AT_DAMAGE };

struct subsequence {
    uint32_t end, nbytes; /* the bit behind its tokens, and the bytes that they make */
    enum ending ending;
};

/* What the threads of read_stream() share. */
struct reading {
    struct staged staged;
    struct inflate_header header;
    struct inflate_block block;
    uint32_t ends[PNG_SUBS];
    uint8_t endings[PNG_SUBS];
    uint32_t first_ending; /* first subsequence that does not end at its border, or PNG_SUBS */
};

/* Where reading is. All threads have the same values. */
struct position {
    uint32_t bit, byte; /* next bit of the stream, next byte of the filtered rows */
    uint32_t staged;    /* first bit of the stream that is staged, a multiple of 32 */
    uint32_t expected;  /* subsequences of the block before, and probably of this one */
    uint32_t sub_bits;  /* of the subsequences */
    uint32_t nblocks, nwindows, nsubs;
    uint32_t cost;
    uint32_t status;
};

/* ---- windows ---- */

/* Counts the bytes of the tokens that begin in bits `bit` to border - 1 behind the first bit that
 * is staged. Takes several literals at a time, but not close to the border, so that it ends at the
 * same token from wherever it began. */
static __device__ inline struct subsequence count(const struct reading &s, uint32_t bit,
                                                  uint32_t border)
{
    struct subsequence sub = {bit, 0, AT_BORDER};
    for (;;) {
        uint32_t bits, symbol, low, middle, high;
        for (;;) { /* literals, of which lanes have different numbers */
            low = staged_word(s.staged, bit / 32);
            middle = staged_word(s.staged, bit / 32 + 1);
            bits = __funnelshift_r(low, middle, bit % 32);
            symbol = s.block.literals.direct[bits & ((1u << LITERAL_BITS) - 1)];
            if (SYMBOL_RUN(symbol) == 0 || bit + LITERAL_BITS > border)
                break;
            bit += SYMBOL_RUN_NBITS(symbol);
            sub.nbytes += SYMBOL_RUN(symbol);
        }
        if (bit >= border)
            break;
        const uint32_t i = bit / 32;
        high = staged_word(s.staged, i + 2);
        const auto peek = [&](uint32_t at) {
            return at / 32 == i ? __funnelshift_r(low, middle, at % 32)
                                : __funnelshift_r(middle, high, at % 32);
        };
        symbol = symbol ? symbol : code_symbol(s.block.literals, bits);
        const struct token token = token_read(s.block, symbol, bits, peek, &bit);
        if (token.kind == TOKEN_LITERAL)
            sub.nbytes++;
        else if (token.kind == TOKEN_MATCH)
            sub.nbytes += token.value;
        else {
            sub.ending = token.kind == TOKEN_END ? AT_END_OF_BLOCK : AT_DAMAGE;
            break;
        }
    }
    sub.end = bit;
    return sub;
}

/* Makes sure that `nbits` bits from p->bit on are staged, and those that tokens at their end need.
 */
static __device__ inline void stage_bits(const struct png_task &task, struct reading *s,
                                         struct position *p, uint32_t nbits)
{
    if (p->bit + nbits + STAGED_MORE <= p->staged + STAGED_WORDS * 32)
        return;
    p->staged = p->bit / 32 * 32;
    stage(&s->staged, task, p->staged);
}

/* Counts the `n` subsequences of the window that begins at p->bit until they agree up to the end of
 * the block, or up to the end of the window. *first is the first bit of the thread's subsequence.
 */
static __device__ inline struct subsequence count_window(const struct png_task &task,
                                                         struct reading *s, struct position *p,
                                                         uint32_t n, uint32_t *first)
{
    const uint32_t i = threadIdx.x, border = p->bit - p->staged + (i + 1) * p->sub_bits;
    uint32_t start = border - p->sub_bits;
    struct subsequence sub = {border, 0, AT_BORDER};
    if (i < n)
        sub = count(*s, start, border);
    for (;;) {
        s->ends[i] = sub.end;
        s->endings[i] = (uint8_t)sub.ending;
        if (i == 0)
            s->first_ending = n;
        __syncthreads();
        const unsigned endings = __ballot_sync(ALL_LANES, sub.ending != AT_BORDER);
        if (i % WARP == 0 && endings)
            atomicMin(&s->first_ending, i + (uint32_t)__ffs((int)endings) - 1);
        const bool wrong = i && i < n && s->endings[i - 1] == AT_BORDER && s->ends[i - 1] != start;
        const uint32_t before = i ? s->ends[i - 1] : start;
        __syncthreads();
        p->cost += PNG_COST_ROUND;
        *first = p->staged + start;
        if (!__syncthreads_or(wrong && i <= s->first_ending))
            return sub;
        if (p->cost > task.cost_most) {
            p->status = PNG_TOO_SLOW;
            return sub;
        }
        if (wrong)
            sub = count(*s, start = before, border);
    }
}

/* Notes a window that has been counted: its first `nsubs` subsequences, up to bit `end`. */
static __device__ inline void note_window(const struct png_task &task, struct position *p,
                                          uint32_t first, uint32_t nbytes, uint32_t nsubs,
                                          uint32_t end)
{
    const uint32_t i = threadIdx.x;
    uint32_t total;
    const uint32_t before = block_before<WARPS>(i < nsubs ? nbytes : 0, &total);
    if (total > task.raw_nbytes - p->byte) {
        p->status = PNG_DAMAGED;
        return;
    }
    if (p->nwindows == task.nwindows_most || nsubs > task.nsubs_most - p->nsubs) {
        p->status = PNG_TOO_SLOW;
        return;
    }
    if (i < nsubs)
        task.subs[p->nsubs + i] = {first, p->byte + before};
    if (i == 0)
        task.windows[p->nwindows] = {p->nsubs, nsubs, p->nblocks - 1, end, p->byte, total, 0};
    p->nwindows++;
    p->nsubs += nsubs;
    p->byte += total;
}

/* ---- blocks ---- */

/* Notes a stored block: LEN, its complement, and bytes (section 3.2.4). */
static __device__ inline void read_stored(const struct png_task &task, const struct reading *s,
                                          struct position *p)
{
    const uint32_t at = (p->bit + 7) / 8;
    const uint32_t header = staged_bits(s->staged, at * 8 - p->staged);
    const uint32_t n = header & 0xffff;
    if ((header >> 16 ^ n) != 0xffff || at + 4 > task.stream_nbytes ||
        n > task.stream_nbytes - at - 4 || n > task.raw_nbytes - p->byte)
        p->status = PNG_DAMAGED;
    else if (p->nwindows == task.nwindows_most)
        p->status = PNG_TOO_SLOW;
    if (p->status)
        return;
    if (threadIdx.x == 0)
        task.windows[p->nwindows] = {0, 0, 0, 0, p->byte, n, at + 4};
    p->nwindows++;
    p->bit = (at + 4 + n) * 8;
    p->byte += n;
}

/* Makes the codes of a block, whose header begins at p->bit, and notes their lengths. */
static __device__ inline void read_codes(const struct png_task &task, struct reading *s,
                                         struct position *p, bool fixed)
{
    struct inflate_header *h = &s->header;
    const uint32_t i = threadIdx.x;
    if (i == 0)
        h->at = p->bit - p->staged;
    if (fixed) { /* section 3.2.6 */
        if (i < PNG_LENGTHS)
            h->lengths[i] = i < 144 ? 8 : i < 256 ? 9 : i < 280 ? 7 : i < 288 ? 8 : 5;
        if (i == 0) {
            h->nliterals = SYMBOLS_MOST;
            h->ndistances = PNG_LENGTHS - SYMBOLS_MOST;
            h->bad = 0;
        }
    } else {
        __syncthreads();
        header_read(h, s->staged);
    }
    __syncthreads();
    p->bit = p->staged + h->at;
    const uint32_t nliterals = h->nliterals, ndistances = h->ndistances;
    if (h->bad || !block_make(&s->block, h->lengths, nliterals, ndistances)) {
        p->status = PNG_DAMAGED;
        return;
    }
    runs_make(&s->block);
    if (p->nblocks == task.nwindows_most) {
        p->status = PNG_TOO_SLOW;
        return;
    }
    struct png_lengths *lengths = &task.lengths[p->nblocks];
    if (i < PNG_LENGTHS)
        lengths->lengths[i] = h->lengths[i];
    if (i == 0) {
        lengths->nliterals = (uint16_t)nliterals;
        lengths->ndistances = (uint16_t)ndistances;
    }
    p->nblocks++;
}

/* Returns how many subsequences the next window should have, after `done` of the block. A window
 * that is longer than the rest of the block wastes time. */
static __device__ inline uint32_t window_subs(const struct position &p, uint32_t done)
{
    const uint32_t expected = p.expected + p.expected / 8 + 4, rest = max(expected, done) - done;
    const uint32_t staged = (STAGED_WORDS * 32 - STAGED_MORE) / p.sub_bits / WARP * WARP;
    return min(max((rest + WARP - 1) / WARP * WARP, 4 * WARP), min(staged, (uint32_t)PNG_SUBS));
}

/* Reads a block with Huffman codes. */
static __device__ inline void read_coded(const struct png_task &task, struct reading *s,
                                         struct position *p, bool fixed)
{
    read_codes(task, s, p, fixed);
    bool over = false;
    uint32_t done = 0;
    while (!p->status && !over) {
        uint32_t first;
        const uint32_t n = window_subs(*p, done);
        stage_bits(task, s, p, n * p->sub_bits);
        const uint32_t cost = p->cost;
        const struct subsequence sub = count_window(task, s, p, n, &first);
        if (p->status)
            return;
        const uint32_t last = min(s->first_ending, n - 1), end = p->staged + s->ends[last];
        over = s->endings[last] == AT_END_OF_BLOCK;
        if (s->endings[last] == AT_DAMAGE || end / 8 > task.stream_nbytes)
            p->status = PNG_DAMAGED;
        else
            note_window(task, p, first, sub.nbytes, last + 1, end);
        done += last + 1;
        p->bit = end;
        if (p->cost - cost > ROUNDS_MOST * PNG_COST_ROUND && p->sub_bits == PNG_SUB_BITS) {
            p->sub_bits *= 2; /* the codes synchronise late */
            done /= 2;
        }
        __syncthreads();
    }
    p->expected = done;
}

/* Returns whether the first two bytes are those of a zlib stream without a dictionary. */
static __device__ inline bool is_zlib(uint32_t head)
{
    const uint32_t cmf = head & 255, flags = head >> 8 & 255;
    return cmf % 16 == 8 && cmf / 16 <= 7 && !(flags & 32) && (cmf << 8 | flags) % 31 == 0;
}

static __global__ void __launch_bounds__(PNG_SUBS, 1) read_stream(struct png_task task)
{
    extern __shared__ __align__(16) unsigned char memory[];
    struct reading *s = (struct reading *)memory;
    struct position p = {.bit = 16, .expected = PNG_SUBS, .sub_bits = PNG_SUB_BITS};
    bool last = false;
    stage(&s->staged, task, 0);
    if (!is_zlib(staged_bits(s->staged, 0)))
        p.status = PNG_DAMAGED;
    while (!p.status && !last) {
        stage_bits(task, s, &p, HEADER_BITS);
        const uint32_t bits = staged_bits(s->staged, p.bit - p.staged), type = bits >> 1 & 3;
        last = bits & 1;
        p.bit += 3;
        p.cost += PNG_COST_BLOCK;
        if (type == 0)
            read_stored(task, s, &p);
        else if (type == 3)
            p.status = PNG_DAMAGED;
        else
            read_coded(task, s, &p, type == 1);
        if (!p.status && p.cost > task.cost_most)
            p.status = PNG_TOO_SLOW;
        if (!p.status && p.bit / 8 >= task.stream_nbytes)
            p.status = PNG_DAMAGED;
        __syncthreads();
    }
    if (!p.status &&
        (p.byte != task.raw_nbytes || (p.bit + 7) / 8 + ADLER_NBYTES != task.stream_nbytes))
        p.status = PNG_DAMAGED;
    if (threadIdx.x == 0) {
        task.state->status = p.status;
        task.state->nwindows = p.nwindows;
    }
}

bool gi_cuda_png_fits(const struct gi_cuda_queue *cu)
{
    return sizeof(struct reading) <= (size_t)cu->shared_nbytes;
}

enum gi_status gi_cuda_png_inflate(struct gi_cuda_queue *cu, const struct png_task *task,
                                   struct gi_err *err)
{
    const size_t shared = sizeof(struct reading);
    GI_CUDA_ALLOW_SHARED(cu, read_stream);
    read_stream<<<1, PNG_SUBS, shared, cu->stream>>>(*task);
    GI_CUDA_LAUNCHED();
    return GI_OK;
}

/* ---- bytes ---- */

/* Stores byte `i` of a match at `byte`. A match that overlaps itself repeats its first `distance`
 * bytes, so its bytes refer to these: then chains of references stay short. */
static __device__ inline void store_match(const struct png_task &task, uint32_t byte,
                                          uint32_t distance, uint32_t i)
{
    task.origins[byte + i] = byte - distance + (i < distance ? i : i % distance);
}

/* Stores the bytes of the tokens from bit `bit` to border - 1, from `byte` on. The lanes of a warp
 * store long matches together. Returns false if a match begins before the first byte. All lanes
 * call it. */
static __device__ inline bool expand(const struct png_task &task, const struct inflate_block &block,
                                     uint32_t bit, uint32_t border, uint32_t byte)
{
    struct reader reader = reader_at(task, bit);
    const auto peek = [&](uint32_t at) { return reader_peek(&reader, at); };
    const uint32_t lane = threadIdx.x % WARP;
    while (__any_sync(ALL_LANES, bit < border)) {
        uint32_t length = 0, distance = 0;
        if (bit < border) {
            const uint32_t bits = peek(bit), symbol = code_symbol(block.literals, bits);
            const struct token token = token_read(block, symbol, bits, peek, &bit);
            if (token.kind == TOKEN_LITERAL) {
                task.origins[byte++] = PNG_KNOWN | token.value;
            } else if (token.kind == TOKEN_MATCH) {
                length = token.value;
                distance = token.distance;
            } else { /* the end of the block */
                bit = border;
            }
        }
        if (__any_sync(ALL_LANES, distance > byte))
            return false;
        if (length < LONG_MATCH)
            for (uint32_t i = 0; i < length; i++)
                store_match(task, byte, distance, i);
        for (uint32_t rest = __ballot_sync(ALL_LANES, length >= LONG_MATCH); rest;
             rest &= rest - 1) {
            const int from = __ffs(rest) - 1;
            const uint32_t n = __shfl_sync(ALL_LANES, length, from);
            const uint32_t to = __shfl_sync(ALL_LANES, byte, from);
            const uint32_t back = __shfl_sync(ALL_LANES, distance, from);
            for (uint32_t i = lane; i < n; i += WARP)
                store_match(task, to, back, i);
        }
        byte += length;
    }
    return true;
}

static __global__ void __launch_bounds__(PNG_SUBS) expand_windows(struct png_task task)
{
    __shared__ struct inflate_block block;
    __shared__ uint8_t lengths[PNG_LENGTHS];
    const uint32_t i = threadIdx.x, nwindows = task.state->nwindows;
    bool good = true;
    /* Other thread blocks may set the status meanwhile, so all threads must agree on it. */
    if (__syncthreads_or((int)task.state->status))
        return;
    for (uint32_t w = blockIdx.x; w < nwindows; w += gridDim.x) {
        const struct png_window window = task.windows[w];
        if (window.nsubs == 0) {
            const uint8_t *from = (const uint8_t *)task.words + window.stored_at;
            for (uint32_t k = i; k < window.nbytes; k += PNG_SUBS)
                task.origins[window.byte + k] = PNG_KNOWN | from[k];
            continue;
        }
        const struct png_lengths *code = &task.lengths[window.block];
        __syncthreads();
        if (i < PNG_LENGTHS)
            lengths[i] = code->lengths[i];
        __syncthreads();
        block_make(&block, lengths, code->nliterals, code->ndistances);
        struct png_sub sub = {0, 0};
        uint32_t border = 0;
        if (i < window.nsubs) {
            const struct png_sub *at = &task.subs[window.first_sub + i];
            sub = *at;
            border = i + 1 < window.nsubs ? at[1].bit : window.end;
        }
        good &= expand(task, block, sub.bit, border, sub.byte);
    }
    if (!good)
        task.state->status = PNG_DAMAGED;
}

enum gi_status gi_cuda_png_expand(struct gi_cuda_queue *cu, const struct png_task *task,
                                  struct gi_err *err)
{
    expand_windows<<<EXPAND_BLOCKS, PNG_SUBS, 0, cu->stream>>>(*task);
    GI_CUDA_LAUNCHED();
    return GI_OK;
}
