/* Reads the zlib stream of a PNG (RFC 1950, RFC 1951): finds its tokens and counts their bytes.
 *
 * In read_segments() thread blocks take one segment (png_segments.cu) after another. The blocks of
 * a segment are read one after another. Within a block the tokens (literals and
 * matches) are counted in windows of PNG_SUBS subsequences, each by one thread that does not know
 * at which bit its first token begins. Like the codes of JPEG (jpeg_entropy.cu) those of DEFLATE
 * synchronise themselves: 10 to 135 bits behind a wrong start a thread is in step in the mean.
 *
 *   subsequences     |      0      |      1      |      2      |
 *   round 1          ==============|=============|=============|   from guessed starts
 *   round 2                         ======================== ...   from where the one before ended
 *
 * Rounds are repeated until each subsequence begins where the one before it ended, up to the end of
 * the block. Then a prefix sum tells where in the segment the bytes of each subsequence belong.
 * SPDX-License-Identifier: MIT */
#include "kernels/cuda/codec/inflate_header.cuh"
#include "kernels/cuda/codec/inflate_tokens.cuh"
#include "kernels/cuda/common/arch.cuh"

enum {
    WARPS = PNG_SUBS / WARP,
    STAGED_MORE = 160, /* bits that are staged behind a window: the end of a token, three words */
    READ_BLOCKS = 264, /* thread blocks of read_segments() */
};

/* Thread blocks of read_segments() per multiprocessor. */
#if GI_CUDA_ARCH >= 800
enum { READ_TOGETHER = 2 };
#else
enum { READ_TOGETHER = 1 };
#endif

/* How the tokens of a subsequence end. */
enum ending { AT_BORDER, AT_END_OF_BLOCK, AT_DAMAGE };

struct subsequence {
    uint32_t end, nbytes; /* the bit behind its tokens, and the bytes that they make */
    enum ending ending;
};

/* What the threads of read_segments() share. */
struct reading {
    struct staged<STAGED_WORDS> staged;
    struct inflate_header header;
    struct inflate_block block;
    uint32_t ends[PNG_SUBS];
    uint8_t endings[PNG_SUBS];
    uint32_t first_ending; /* first subsequence that does not end at its border, or PNG_SUBS */
    uint32_t segment;      /* that is read; at least the number of segments if none is left */
    uint32_t block_index, window, sub; /* that have been reserved; the first of the subsequences */
    uint32_t next_start;               /* nearest start of another segment, or a later bit */
};

/* Where reading is. All threads have the same values. */
struct position {
    uint32_t bit, byte;     /* next bit of the stream, next byte of the segment */
    uint32_t staged;        /* first bit of the stream that is staged, a multiple of 32 */
    uint32_t sub_bits;      /* of the subsequences */
    uint32_t expected;      /* bits of the block before, and probably of this one */
    uint32_t cost, counted; /* of the segment, and how much of it png_state.cost contains */
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

/* Reserves a window and its `nsubs` subsequences. Ends the work if there is no room or if
 * all segments together take too long. */
static __device__ inline void reserve(const struct png_task &task, struct reading *s,
                                      struct position *p, uint32_t nsubs)
{
    struct png_state *state = task.state;
    bool full = false;
    if (threadIdx.x == 0) {
        s->window = atomicAdd(&state->nwindows, 1);
        s->sub = atomicAdd(&state->nsubs, nsubs);
        const uint32_t cost = p->cost - p->counted, all = atomicAdd(&state->cost, cost) + cost;
        full = s->window >= task.nwindows_most || s->sub > task.nsubs_most ||
               nsubs > task.nsubs_most - s->sub || all > task.all_most ||
               *(volatile uint32_t *)&state->status;
    }
    p->counted = p->cost;
    if (__syncthreads_or(full))
        p->status = PNG_TOO_SLOW;
}

/* Notes a window that has been counted: its first `nsubs` subsequences, up to bit `end`. */
static __device__ inline void note_window(const struct png_task &task, struct reading *s,
                                          struct position *p, uint32_t first, uint32_t nbytes,
                                          uint32_t nsubs, uint32_t end)
{
    const uint32_t i = threadIdx.x;
    uint32_t total;
    const uint32_t before = block_before<WARPS>(i < nsubs ? nbytes : 0, &total);
    if (total > task.raw_nbytes - p->byte) {
        p->status = PNG_DAMAGED;
        return;
    }
    reserve(task, s, p, nsubs);
    if (p->status)
        return;
    if (i < nsubs)
        task.subs[s->sub + i] = {first, p->byte + before};
    if (i == 0)
        task.windows[s->window] = {s->segment, s->sub,  nsubs, s->block_index,
                                   end,        p->byte, total, 0};
    p->byte += total;
}

/* ---- blocks ---- */

/* Notes a stored block: LEN, its complement, and bytes (section 3.2.4). */
static __device__ inline void read_stored(const struct png_task &task, struct reading *s,
                                          struct position *p)
{
    const uint32_t at = (p->bit + 7) / 8;
    const uint32_t header = staged_bits(s->staged, at * 8 - p->staged);
    const uint32_t n = header & 0xffff;
    if ((header >> 16 ^ n) != 0xffff || at + 4 > task.stream_nbytes ||
        n > task.stream_nbytes - at - 4 || n > task.raw_nbytes - p->byte)
        p->status = PNG_DAMAGED;
    else
        reserve(task, s, p, 0);
    if (p->status)
        return;
    if (threadIdx.x == 0)
        task.windows[s->window] = {s->segment, 0, 0, 0, 0, p->byte, n, at + 4};
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
    if (i == 0)
        s->block_index = atomicAdd(&task.state->nblocks, 1);
    __syncthreads();
    if (s->block_index >= task.nblocks_most) {
        p->status = PNG_TOO_SLOW;
        return;
    }
    struct png_lengths *lengths = &task.lengths[s->block_index];
    if (i < PNG_LENGTHS)
        lengths->lengths[i] = h->lengths[i];
    if (i == 0) {
        lengths->nliterals = (uint16_t)nliterals;
        lengths->ndistances = (uint16_t)ndistances;
    }
}

/* Finds the nearest start of another segment. The block at p.bit ends there, or before. */
static __device__ inline void find_next_start(const struct png_task &task, struct reading *s,
                                              const struct position &p)
{
    const uint32_t nwords = min(task.stream_nbytes / 4 + 1 - p.bit / 32, (uint32_t)STAGED_WORDS);
    if (threadIdx.x == 0)
        s->next_start = p.bit + STAGED_WORDS * 32;
    __syncthreads();
    for (uint32_t i = threadIdx.x; i < nwords; i += PNG_SUBS) {
        const uint32_t word = task.starts[p.bit / 32 + i];
        const uint32_t later = i ? word : word & 0u - (2u << p.bit % 32);
        if (later) {
            atomicMin(&s->next_start, (p.bit / 32 + i) * 32 + (uint32_t)__ffs((int)later) - 1);
            break;
        }
    }
    __syncthreads();
}

/* Chooses the length of subsequences so that a window has room for `nbits` bits, and returns how
 * many subsequences it should have. A window that is longer than the rest of the block wastes time.
 */
static __device__ inline uint32_t window_subs(struct position *p, uint32_t nbits)
{
    p->sub_bits = nbits <= PNG_SUBS * PNG_SUB_BITS ? PNG_SUB_BITS : 2 * PNG_SUB_BITS;
    const uint32_t n = (nbits + p->sub_bits - 1) / p->sub_bits;
    const uint32_t staged = (STAGED_WORDS * 32 - STAGED_MORE) / p->sub_bits / WARP * WARP;
    return min(max((n + WARP - 1) / WARP * WARP, 4 * WARP), min(staged, (uint32_t)PNG_SUBS));
}

/* Reads a block with Huffman codes. */
static __device__ inline void read_coded(const struct png_task &task, struct reading *s,
                                         struct position *p, bool fixed)
{
    find_next_start(task, s, *p);
    read_codes(task, s, p, fixed);
    const uint32_t begin = p->bit;
    const uint32_t likely = min(s->next_start, begin + p->expected + p->expected / 8 + 512);
    for (bool over = false; !p->status && !over;) {
        uint32_t first;
        const uint32_t n =
            window_subs(p, likely > p->bit ? likely - p->bit : PNG_SUBS / 4 * PNG_SUB_BITS);
        stage_bits(task, s, p, n * p->sub_bits);
        const struct subsequence sub = count_window(task, s, p, n, &first);
        if (p->status)
            return;
        const uint32_t last = min(s->first_ending, n - 1), end = p->staged + s->ends[last];
        over = s->endings[last] == AT_END_OF_BLOCK;
        if (s->endings[last] == AT_DAMAGE || end / 8 > task.stream_nbytes)
            p->status = PNG_DAMAGED;
        else
            note_window(task, s, p, first, sub.nbytes, last + 1, end);
        p->bit = end;
        __syncthreads();
    }
    p->expected = p->bit - begin;
}

/* Returns whether a segment begins at a bit within the stream. */
static __device__ inline bool is_start(const struct png_task &task, uint32_t bit)
{
    return task.starts[bit / 32] >> bit % 32 & 1;
}

/* Reads the segment that begins at bit `first`. */
static __device__ inline void read_segment(const struct png_task &task, struct reading *s,
                                           uint32_t first)
{
    struct position p = {.bit = first, .staged = first / 32 * 32, .expected = STAGED_WORDS * 32};
    bool last = false;
    stage(&s->staged, task, p.staged);
    do {
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
    } while (!p.status && !last && !is_start(task, p.bit));
    if (threadIdx.x == 0)
        task.segments[s->segment] = {first, p.bit, p.byte, PNG_NO_PART, p.status, last};
    if (threadIdx.x == 0 && p.status == PNG_TOO_SLOW)
        atomicOr(&task.state->status, PNG_TOO_SLOW);
}

static __global__ void __launch_bounds__(PNG_SUBS, READ_TOGETHER)
    read_segments(struct png_task task)
{
    extern __shared__ __align__(16) unsigned char memory[];
    struct reading *s = (struct reading *)memory;
    const uint32_t nsegments = png_nsegments(task);
    for (;;) {
        __syncthreads();
        if (threadIdx.x == 0)
            s->segment = *(volatile uint32_t *)&task.state->status
                             ? nsegments
                             : atomicAdd(&task.state->taken, 1);
        __syncthreads();
        if (s->segment >= nsegments)
            return;
        read_segment(task, s, s->segment ? task.segments[s->segment].first : PNG_FIRST_BIT);
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
    GI_CUDA_ALLOW_SHARED(cu, read_segments);
    read_segments<<<READ_BLOCKS, PNG_SUBS, shared, cu->stream>>>(*task);
    GI_CUDA_LAUNCHED();
    return GI_OK;
}
