/* Huffman decoding of a scan in subsequences, each by one thread (A. Weissenberger, B. Schmidt,
 * "Accelerating JPEG Decompression on GPUs", 2021). A thread does not know at which symbol its
 * subsequence begins, so it starts to decode some bits before, at a guessed position. Huffman codes
 * synchronise themselves: after some symbols most guesses are right.
 *
 *   subsequences     |      0      |      1      |      2      |
 *   guesses                  ......|       ......|
 *   decoded          ==============|=============|=============|
 *
 * Then each subsequence compares where it began with the end of the one before. Where the two
 * differ, it is decoded again from there, in rounds, until all agree. A block does that for a chunk
 * of subsequences; it also decodes the last subsequences of the chunk before, so that errors at its
 * own start end there. Prefix sums, first within chunks and then over chunks, give the number of
 * the first block of each subsequence and its DC coefficients, and a second kernel decodes once
 * more and writes the coefficients.
 *
 * Restart intervals begin at known bits, with a known state.
 * SPDX-License-Identifier: MIT */
#include "kernels/cuda/codec/jpeg_decode.h"
#include "kernels/cuda/common/measure.h"

enum {
    THREADS = JPEG_CHUNK + JPEG_LEAD_SUBS, /* of a block that synchronises */
    WRITE_THREADS = 128,
    TABLES = 2 * GI_JPEG_COMPONENTS,
};

/* ---- reading ---- */

/* Reads bits of task.bytes in ascending order. A word is loaded one word ahead of its use, so that
 * decoding does not wait for memory. */
struct reader {
    const uint32_t *words;
    uint32_t index, upper, lower; /* words `index` and index + 1, with the first byte uppermost */
    uint32_t next;                /* word index + 2 as it is in memory */
};

static __device__ inline uint32_t first_byte_uppermost(uint32_t word)
{
    return __byte_perm(word, 0, 0x0123);
}

static __device__ inline struct reader reader_at(const uint8_t *bytes, uint32_t bit)
{
    const uint32_t *words = (const uint32_t *)bytes;
    uint32_t index = bit / 32;
    return {words, index, first_byte_uppermost(words[index]),
            first_byte_uppermost(words[index + 1]), words[index + 2]};
}

/* Returns 32 bits from `bit` on, which is at most 32 more than in the call before. */
static __device__ inline uint32_t reader_peek(struct reader *r, uint32_t bit)
{
    if (bit / 32 != r->index) {
        r->index++;
        r->upper = r->lower;
        r->lower = first_byte_uppermost(r->next);
        r->next = r->words[r->index + 2];
    }
    return __funnelshift_l(r->lower, r->upper, bit % 32);
}

/* ---- decoding ---- */

/* The state of a thread that decodes. If coefficients are written, the sums are those of the whole
 * scan, else of the subsequence. */
struct decoding {
    struct jpeg_place at;
    struct jpeg_sums sums;
    uint32_t symbols; /* number of symbols that were decoded */
};

/* What the threads of a block share. */
struct shared {
    struct gi_jpeg_codes codes[TABLES];
    uint8_t columns[GI_JPEG_BLOCK]; /* position, column by column, of each zigzag place */
};

static __device__ inline void shared_load(struct shared *shared, const struct jpeg_task &task,
                                          int ncomponents)
{
    static_assert(sizeof *shared->codes % sizeof(uint32_t) == 0, "codes are words");
    const unsigned words = 2 * (unsigned)ncomponents * sizeof *shared->codes / sizeof(uint32_t);
    for (unsigned i = threadIdx.x; i < words; i += blockDim.x)
        ((uint32_t *)shared->codes)[i] = ((const uint32_t *)task.codes)[i];
    for (unsigned i = threadIdx.x; i < GI_JPEG_BLOCK; i += blockDim.x)
        shared->columns[i] = task.columns[i];
    __syncthreads();
}

/* Returns the number of the restart interval that bit `bit` belongs to. */
static __device__ inline uint32_t segment_of(const struct jpeg_task &task, uint32_t bit)
{
    uint32_t lo = 0, hi = task.nsegments - 1;
    while (lo < hi) {
        uint32_t middle = (lo + hi + 1) / 2;
        if (task.segments[middle] * 8 <= bit)
            lo = middle;
        else
            hi = middle - 1;
    }
    return lo;
}

/* Begins restart interval number `segment`, or ends the last one. Returns false if the one before
 * has too few or too many blocks. */
static __device__ inline bool begin_segment(const struct jpeg_task &task, struct decoding *d,
                                            uint32_t segment)
{
    uint32_t blocks = min(segment * task.segment_blocks, task.grid.ncoded);
    bool whole = d->at.unit == 0 && d->at.zigzag == 0 && d->sums.blocks == blocks;
    d->at.unit = d->at.zigzag = 0;
    d->sums.restarts = 1;
    for (int i = 0; i < GI_JPEG_COMPONENTS; i++)
        d->sums.dc[i] = 0;
    return whole;
}

/* Adds a DC difference. Returns the coefficient. */
static __device__ inline int add_dc(struct decoding *d, unsigned component, int difference)
{
    int sum = 0;
#pragma unroll
    for (unsigned i = 0; i < GI_JPEG_COMPONENTS; i++)
        if (i == component)
            sum = d->sums.dc[i] += difference;
    return sum;
}

/* Decodes the symbols that begin before bit `end`. If WRITE, stores the coefficients, stops after
 * the last block of the scan, and returns false if the scan is damaged. */
template <bool WRITE>
static __device__ inline bool decode(const struct jpeg_task &task, const struct shared *shared,
                                     struct decoding *d, uint32_t end)
{
    const uint32_t nunits = (uint32_t)task.grid.nunits, ncoded = task.grid.ncoded;
    const uint32_t components = task.components;
    int16_t *const coefficients = task.coefficients;
    struct reader reader = reader_at(task.bytes, d->at.bit);
    uint32_t segment = segment_of(task, d->at.bit), segment_end = task.segments[segment + 1] * 8;
    uint32_t bit = d->at.bit, unit, zigzag;
    bool good = true;
    if (bit == task.segments[segment] * 8)
        good = begin_segment(task, d, segment);
    unit = d->at.unit;
    zigzag = d->at.zigzag;
    while (bit < end && (!WRITE || (good && d->sums.blocks < ncoded))) {
        const unsigned component = components >> 2 * unit & 3;
        const uint32_t bits = reader_peek(&reader, bit);
        const uint32_t symbol = gi_jpeg_symbol(&shared->codes[2 * component + (zigzag > 0)], bits);
        d->symbols++;
        const uint32_t length = symbol >> 8 & 31, more = symbol & 15, run = symbol >> 4 & 15;
        if (bit + length + more > segment_end) {
            good = segment_end - bit < 8;
            bit = segment_end;
            d->at.unit = (uint16_t)unit;
            d->at.zigzag = (uint16_t)zigzag;
            good &= begin_segment(task, d, ++segment);
            unit = zigzag = 0;
            segment_end = task.segments[segment < task.nsegments ? segment + 1 : segment] * 8;
            continue;
        }
        /* DC coefficients and ends of blocks take the same way as others, because the threads of a
         * warp meet all kinds at once. A DC symbol has no run. */
        const bool is_dc = zigzag == 0;
        const uint32_t place = zigzag + run;
        int value = gi_jpeg_extend(bits << length, more);
        const int dc = add_dc(d, component, is_dc ? value : 0);
        if (WRITE) {
            value = is_dc ? dc : value;
            if ((is_dc || more) && place < GI_JPEG_BLOCK)
                coefficients[(size_t)d->sums.blocks * GI_JPEG_BLOCK + shared->columns[place]] =
                    (int16_t)value;
            good &= !(symbol & GI_JPEG_NO_CODE) && !(is_dc && gi_jpeg_leaves16(dc));
        }
        zigzag = is_dc || more || run == 15 ? place + 1 : GI_JPEG_BLOCK;
        bit += length + more;
        const bool ends = zigzag >= GI_JPEG_BLOCK;
        if (WRITE)
            good &= zigzag <= GI_JPEG_BLOCK;
        zigzag = ends ? 0 : zigzag;
        unit = ends ? (unit + 1 == nunits ? 0 : unit + 1) : unit;
        d->sums.blocks += ends;
    }
    if (WRITE && d->sums.blocks >= ncoded)
        good &= segment + 1 >= task.nsegments && segment_end - bit < 8;
    d->at = {bit, (uint16_t)unit, (uint16_t)zigzag};
    return good;
}

/* ---- prefix sums ---- */

static __device__ inline struct jpeg_sums sums_add(const struct jpeg_sums &a,
                                                   const struct jpeg_sums &b)
{
    struct jpeg_sums both = b;
    both.blocks += a.blocks;
    both.restarts |= a.restarts;
    for (int i = 0; i < GI_JPEG_COMPONENTS; i++)
        both.dc[i] += b.restarts ? 0 : a.dc[i];
    return both;
}

/* Returns the sums of the lane that is `step` below. */
static __device__ inline struct jpeg_sums sums_of_lane_below(const struct jpeg_sums &mine,
                                                             unsigned step)
{
    struct jpeg_sums other;
    other.blocks = __shfl_up_sync(ALL_LANES, mine.blocks, step);
    other.restarts = __shfl_up_sync(ALL_LANES, mine.restarts, step);
    for (int i = 0; i < GI_JPEG_COMPONENTS; i++)
        other.dc[i] = __shfl_up_sync(ALL_LANES, mine.dc[i], step);
    return other;
}

/* Returns the sums of the threads before this one. The block has N threads, all of which call this
 * function once. */
template <unsigned N> static __device__ inline struct jpeg_sums sums_before(struct jpeg_sums mine)
{
    __shared__ struct jpeg_sums warps[N / WARP];
    const unsigned lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
    struct jpeg_sums before = {};
    for (unsigned step = 1; step < WARP; step *= 2) {
        const struct jpeg_sums other = sums_of_lane_below(mine, step);
        if (lane >= step)
            mine = sums_add(other, mine);
    }
    if (lane == WARP - 1)
        warps[warp] = mine;
    __syncthreads();
    for (unsigned i = 0; i < warp; i++)
        before = sums_add(before, warps[i]);
    const struct jpeg_sums within = sums_of_lane_below(mine, 1);
    return lane ? sums_add(before, within) : before;
}

/* ---- synchronisation ---- */

static __device__ inline bool is_same(const struct jpeg_place &a, const struct jpeg_place &b)
{
    return a.bit == b.bit && a.unit == b.unit && a.zigzag == b.zigzag;
}

/* The number of bits, and of subsequences, of the scan. */
static __device__ inline uint32_t bits_of(const struct jpeg_task &task)
{
    return task.segments[task.nsegments] * 8;
}

static __device__ inline uint32_t subs_of(const struct jpeg_task &task)
{
    return (bits_of(task) + task.sub_bits - 1) / task.sub_bits;
}

/* Decodes a subsequence, which is number `index`, from sub->in on. Returns its number of symbols.
 */
static __device__ inline uint32_t decode_sub(const struct jpeg_task &task,
                                             const struct shared *shared, struct jpeg_sub *sub,
                                             uint32_t index)
{
    struct decoding d = {sub->in};
    decode<false>(task, shared, &d, min((index + 1) * task.sub_bits, bits_of(task)));
    sub->out = d.at;
    sub->sums = d.sums;
    return d.symbols;
}

/* Guesses where a subsequence begins, by decoding the one before it. */
static __device__ inline struct jpeg_place guess(const struct jpeg_task &task,
                                                 const struct shared *shared, uint32_t index)
{
    const uint32_t start = index * task.sub_bits;
    struct decoding d = {{index ? start - task.sub_bits : 0, 0, 0}};
    if (index > 0)
        decode<false>(task, shared, &d, start);
    return d.at;
}

/* Lists the subsequences that don't begin where the one before ends. Returns their number. */
static __device__ inline unsigned list_wrong(uint16_t *list, const struct jpeg_sub *subs,
                                             unsigned n)
{
    const unsigned i = threadIdx.x;
    const bool wrong = i > 0 && i < n && !is_same(subs[i].in, subs[i - 1].out);
    unsigned count, at = block_before<THREADS / WARP>((unsigned)wrong, &count);
    if (wrong)
        list[at] = (uint16_t)i;
    __syncthreads();
    return count;
}

static __global__ void __launch_bounds__(THREADS) synchronise(const struct jpeg_task *tasks)
{
    __shared__ struct shared shared;
    __shared__ struct jpeg_sub subs[THREADS];
    __shared__ uint16_t list[THREADS];
    __shared__ uint32_t slowest; /* number of symbols of the slowest thread in this round */
    const struct jpeg_task &task = tasks[blockIdx.y];
    if (jpeg_gave_up(task))
        return;
    const uint32_t nsubs = subs_of(task), chunk = blockIdx.x * JPEG_CHUNK;
    if (nsubs == 0 && threadIdx.x == 0) /* there are only markers */
        atomicOr(task.status, JPEG_DAMAGED);
    if (chunk >= nsubs)
        return;
    const uint32_t first = chunk > JPEG_LEAD_SUBS ? chunk - JPEG_LEAD_SUBS : 0;
    const unsigned n = min(chunk + JPEG_CHUNK, nsubs) - first, i = threadIdx.x;
    shared_load(&shared, task, task.result.channels);
    if (i < n) {
        subs[i].in = guess(task, &shared, first + i);
        decode_sub(task, &shared, &subs[i], first + i);
    }
    __syncthreads();
    unsigned wrong, symbols = 0;
    for (int round = 0; (wrong = list_wrong(list, subs, n)) != 0 && round < JPEG_ROUNDS &&
                        symbols < task.symbols_most;
         round++) {
        const unsigned k = i < wrong ? list[i] : 0;
        const struct jpeg_place in = k ? subs[k - 1].out : subs[0].in;
        if (i == 0)
            slowest = 0;
        __syncthreads();
        if (k) {
            subs[k].in = in;
            atomicMax(&slowest, decode_sub(task, &shared, &subs[k], first + k));
        }
        __syncthreads();
        symbols += slowest;
    }
    if (wrong && i == 0)
        atomicOr(task.status, JPEG_NOT_SYNCHRONISED);
    const bool own = i < n && first + i >= chunk;
    struct jpeg_sums mine = {};
    if (own)
        mine = subs[i].sums;
    const struct jpeg_sums before = sums_before<THREADS>(mine);
    if (own)
        task.subs[first + i] = {subs[i].in, subs[i].out, before};
    if (i == n - 1)
        task.chunks[blockIdx.x] = sums_add(before, mine);
}

/* ---- coefficients ---- */

/* Returns the sums of the first n chunks. All threads of the block call this function. */
static __device__ inline struct jpeg_sums sums_of_chunks(const struct jpeg_task &task, uint32_t n)
{
    __shared__ struct jpeg_sums all;
    const uint32_t each = (n + WRITE_THREADS - 1) / WRITE_THREADS;
    const uint32_t first = min(threadIdx.x * each, n), end = min(first + each, n);
    struct jpeg_sums mine = {};
    for (uint32_t i = first; i < end; i++)
        mine = sums_add(mine, task.chunks[i]);
    const struct jpeg_sums before = sums_before<WRITE_THREADS>(mine);
    if (threadIdx.x == WRITE_THREADS - 1)
        all = sums_add(before, mine);
    __syncthreads();
    return all;
}

/* Decodes and writes. Only now is it known whether all chunks agree; if they don't, the image is
 * given up. */
static __global__ void __launch_bounds__(WRITE_THREADS)
    write_coefficients(const struct jpeg_task *tasks)
{
    static_assert(JPEG_CHUNK % WRITE_THREADS == 0, "a block is within a chunk");
    __shared__ struct shared shared;
    const struct jpeg_task &task = tasks[blockIdx.y];
    if (jpeg_gave_up(task))
        return;
    const uint32_t first = blockIdx.x * WRITE_THREADS, index = first + threadIdx.x;
    const uint32_t nsubs = subs_of(task);
    if (first >= nsubs)
        return;
    shared_load(&shared, task, task.result.channels);
    const struct jpeg_sums chunks = sums_of_chunks(task, first / JPEG_CHUNK);
    if (index >= nsubs)
        return;
    const struct jpeg_sub &sub = task.subs[index];
    if (index > 0 && !is_same(sub.in, task.subs[index - 1].out))
        atomicOr(task.status, JPEG_NOT_SYNCHRONISED);
    struct decoding d = {sub.in, sums_add(chunks, sub.sums)};
    bool good = decode<true>(task, &shared, &d, min((index + 1) * task.sub_bits, bits_of(task)));
    if (index + 1 == nsubs)
        good &= d.sums.blocks == task.grid.ncoded && d.at.unit == 0 && d.at.zigzag == 0;
    if (!good)
        atomicOr(task.status, JPEG_DAMAGED);
}

enum gi_status gi_cuda_jpeg_entropy(struct gi_cuda_queue *cu, const struct jpeg_launch *launch,
                                    struct gi_err *err)
{
    const unsigned chunks = (launch->subs + JPEG_CHUNK - 1) / JPEG_CHUNK;
    synchronise<<<dim3(chunks, launch->n), THREADS, 0, cu->stream>>>(launch->tasks);
    GI_CUDA_LAUNCHED();
    const unsigned blocks = (launch->subs + WRITE_THREADS - 1) / WRITE_THREADS;
    write_coefficients<<<dim3(blocks, launch->n), WRITE_THREADS, 0, cu->stream>>>(launch->tasks);
    GI_CUDA_LAUNCHED();
    return GI_OK;
}
