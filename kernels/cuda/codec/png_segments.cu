/* Divides the zlib stream of a PNG into segments, which thread blocks read at the same time.
 *
 * A block of a DEFLATE stream begins where the one before it ends, which is unknown until that one
 * has been read. But hardly anything except a header of dynamic codes obeys all rules of such a
 * header: among all bits of 20 photographs (13 MB) only those of the 692 headers do.
 * search_headers() looks for the first ones in each 64 KiB of the stream.
 *
 *   stream     |  block  |  block  | stored |  block   |  block  |
 *   segments   |    0    |    1             |    2     |    3    |
 *                                      |         4           no part of the stream
 *
 * A segment begins at a header that was found, or at the beginning of the stream, and ends where a
 * block of it ends at which another one begins. So blocks with fixed codes and stored ones, which
 * cannot be found, are read behind the one before them. Bits that only look like a header make a
 * segment that no other leads to: join_segments() follows the segments from the first one on and
 * finds where the bytes of each belong.
 * SPDX-License-Identifier: MIT */
#include "kernels/cuda/codec/inflate_tokens.cuh"
#include "kernels/cuda/common/measure.h"

enum {
    ADLER_NBYTES = 4,
    SEARCH_THREADS = 1024,
    STEP_WORDS = 4096, /* of the stream */
    PART_STEPS = 4,    /* of the part of the stream in which a thread block searches */
    FOUND_MOST = 1024, /* headers of a thread block that are checked evenly */
    FEW_LENGTHS = 3,   /* code lengths that are looked up at a time */
    FEW_BITS = 3 * FEW_LENGTHS,
    JOIN_THREADS = 1024,
    LINKS_MOST = 4096, /* in shared memory */
};

/* ---- headers ---- */

/* What the threads of search_headers() share. */
struct search {
    uint8_t shares[1u << FEW_BITS];                      /* of three code lengths, see share_of() */
    uint8_t symbols[SEARCH_THREADS][LENGTH_SYMBOLS + 1]; /* in the order of their codes */
    uint32_t nfound, nheaders;
    uint32_t found[FOUND_MOST]; /* where the code of code lengths is complete */
};

/* Returns how many 128ths of all codes of 7 bits the codes of three lengths take. Those of a
 * complete code take all 128. */
static __device__ inline uint32_t share_of(uint32_t lengths)
{
    uint32_t share = 0;
    for (int i = 0; i < FEW_LENGTHS; i++, lengths >>= 3)
        share += lengths & 7 ? 128u >> (lengths & 7) : 0;
    return share;
}

/* Returns a bit for each bit of the word low, behind which `high` follows: whether a header with
 * type 2, at most 286 literals and at most 30 distances may begin there. */
static __device__ inline uint32_t may_begin(uint32_t low, uint32_t high)
{
    const auto bit = [&](uint32_t i) { return __funnelshift_r(low, high, i); };
    return ~bit(1) & bit(2) & ~(bit(4) & bit(5) & bit(6) & bit(7)) &
           ~(bit(9) & bit(10) & bit(11) & bit(12));
}

/* Returns the lengths of the code of code lengths of the header that begins at bit `at` of four
 * words, 3 bits for each of 19. */
static __device__ inline device_u64 lengths_at(const uint32_t words[4], uint32_t at)
{
    at += 13;
    const uint32_t a = at < 32 ? words[0] : words[1], b = at < 32 ? words[1] : words[2];
    const uint32_t c = at < 32 ? words[2] : words[3];
    const device_u64 bits =
        (device_u64)__funnelshift_r(b, c, at % 32) << 32 | __funnelshift_r(a, b, at % 32);
    const uint32_t n = (uint32_t)(bits & 15) + 4;
    return bits >> 4 & (((device_u64)1 << 3 * n) - 1);
}

static __device__ inline bool is_complete(const struct search &s, device_u64 lengths)
{
    uint32_t share = 0;
    for (int i = 0; i < LENGTH_SYMBOLS; i += FEW_LENGTHS, lengths >>= FEW_BITS)
        share += s.shares[lengths & ((1u << FEW_BITS) - 1)];
    return share == 128;
}

/* A code of code lengths as one thread uses it. Byte n of each number is about codes of n bits, as
 * numbers of 7 bits whose first bit is uppermost. */
struct small_code {
    device_u64 limits; /* the code after the last one */
    device_u64 places; /* the index of the first one's symbol, less the first one in n bits */
    uint8_t *symbols;
};

static __device__ inline struct small_code small_code_make(device_u64 lengths, uint8_t *symbols)
{
    device_u64 counts = 0;
    for (device_u64 rest = lengths; rest; rest >>= 3)
        counts += (device_u64)((rest & 7) != 0) << 8 * (rest & 7);
    /* Each byte of the product is the sum of the counts up to there, at most 19. */
    device_u64 next = counts * 0x0101010101010101u << 8;
    struct small_code code = {0, 0, symbols};
    uint32_t limit = 0;
    for (uint32_t n = 1; n <= LENGTH_BITS; n++) {
        const uint32_t first = limit >> (LENGTH_BITS - n);
        limit += (uint32_t)(counts >> 8 * n & 255) << (LENGTH_BITS - n);
        code.limits |= (device_u64)limit << 8 * n;
        code.places |= (device_u64)((uint32_t)(next >> 8 * n) - first & 255) << 8 * n;
    }
    for (uint32_t i = 0; i < LENGTH_SYMBOLS; i++) {
        const uint32_t nbits = (uint32_t)(lengths >> 3 * length_place(i)) & 7;
        if (nbits) {
            symbols[next >> 8 * nbits & 255] = (uint8_t)i;
            next += (device_u64)1 << 8 * nbits;
        }
    }
    return code;
}

/* Returns the symbol whose code begins `bits`. The code is complete. */
static __device__ inline uint32_t small_code_symbol(const struct small_code &code, uint32_t bits,
                                                    uint32_t *nbits)
{
    const device_u64 tops = 0x8080808080808080u, ones = 0x0101010101010101u;
    const uint32_t v = __brev(bits) >> (32 - LENGTH_BITS);
    /* Byte n keeps its uppermost bit if v is not below the limit, which is at most 128. Byte 0
     * does. */
    const uint32_t n = (uint32_t)__popcll((v * ones | tops) - code.limits & tops);
    *nbits = n;
    return code.symbols[(v >> (LENGTH_BITS - n)) + (uint32_t)(code.places >> 8 * n) & 255];
}

/* Returns whether both codes of a header whose code of code lengths is complete are those of a
 * block, like block_make(), and blocks can end. */
static __device__ inline bool is_header(const struct png_task &task, uint32_t bit,
                                        const uint32_t words[4], uint8_t *symbols)
{
    const uint32_t whole = 1u << CODE_BITS_MOST;
    const uint32_t head = __funnelshift_r(words[0], words[1], bit % 32);
    const uint32_t nliterals = (head >> 3 & 31) + LITERALS_LEAST;
    const uint32_t nlengths = nliterals + (head >> 8 & 31) + 1;
    const struct small_code code = small_code_make(lengths_at(words, bit % 32), symbols);
    uint32_t at = bit + 17 + 3 * ((head >> 13 & 15) + 4), before = REPEAT, ndistances = 0;
    uint32_t shares[2] = {0, 0}; /* of all codes of literals and of distances, in 2^15ths */
    bool ends = false;
    struct reader reader = reader_at(task, at);
    for (uint32_t i = 0; i < nlengths;) {
        const uint32_t bits = reader_peek(&reader, at);
        uint32_t nbits, n = 1;
        const uint32_t symbol = small_code_symbol(code, bits, &nbits);
        const uint32_t nextra = SYMBOL_EXTRA(length_symbol(symbol));
        const uint32_t extra = bits >> nbits & ((1u << nextra) - 1);
        at += nbits + nextra;
        if (symbol >= 16)
            n = extra + (symbol == 18 ? 11 : 3);
        if (symbol != 16)
            before = symbol < 16 ? symbol : 0;
        if (before == REPEAT || n > nlengths - i)
            return false;
        const uint32_t share = before ? whole >> before : 0;
        const uint32_t nhere = i < nliterals ? min(n, nliterals - i) : 0;
        ends |= before && i <= 256 && i + n > 256;
        shares[0] += nhere * share;
        shares[1] += (n - nhere) * share;
        ndistances += before ? n - nhere : 0;
        i += n;
        if (shares[0] > whole || shares[1] > whole || (i > 256 && !ends) ||
            (i >= nliterals && shares[0] != whole))
            return false;
    }
    return shares[1] == whole || shares[1] == 0 || (shares[1] == whole / 2 && ndistances == 1);
}

/* Notes a segment that begins at `bit`, if there is a header. */
static __device__ inline void check_header(const struct png_task &task, struct search *s,
                                           uint32_t bit)
{
    const struct reader reader = reader_at(task, bit);
    const uint32_t words[4] = {reader.low, reader.high, reader.next,
                               word_at(reader, reader.index + 3)};
    if (!is_header(task, bit, words, s->symbols[threadIdx.x]))
        return;
    s->nheaders = 1;
    const uint32_t i = 1 + atomicAdd(&task.state->nfound, 1);
    if (i < task.nblocks_most) {
        task.segments[i].first = bit;
        atomicOr(&task.starts[bit / 32], 1u << bit % 32);
    } else {
        atomicOr(&task.state->status, PNG_TOO_SLOW);
    }
}

/* Collects the bits of the words from index `from` on at which headers may begin. */
static __device__ inline void collect(const struct png_task &task, struct search *s, uint32_t from)
{
    const struct reader reader = {task.words, (task.stream_nbytes + 3) / 4};
    for (uint32_t k = threadIdx.x; k < STEP_WORDS; k += SEARCH_THREADS) {
        const uint32_t words[4] = {word_at(reader, from + k), word_at(reader, from + k + 1),
                                   word_at(reader, from + k + 2), word_at(reader, from + k + 3)};
        for (uint32_t may = may_begin(words[0], words[1]); may; may &= may - 1) {
            const uint32_t at = (uint32_t)__ffs((int)may) - 1, bit = (from + k) * 32 + at;
            if (!is_complete(*s, lengths_at(words, at)) || bit <= PNG_FIRST_BIT)
                continue;
            const uint32_t i = atomicAdd(&s->nfound, 1);
            if (i < FOUND_MOST)
                s->found[i] = bit;
            else
                check_header(task, s, bit);
        }
    }
}

/* Each thread block searches its part of the stream, step by step, until it has found a header. */
static __global__ void __launch_bounds__(SEARCH_THREADS) search_headers(struct png_task task)
{
    __shared__ struct search s;
    for (uint32_t i = threadIdx.x; i < 1u << FEW_BITS; i += SEARCH_THREADS)
        s.shares[i] = (uint8_t)share_of(i);
    for (uint32_t step = 0; step < PART_STEPS; step++) {
        if (threadIdx.x == 0)
            s.nfound = s.nheaders = 0;
        __syncthreads();
        collect(task, &s, (blockIdx.x * PART_STEPS + step) * STEP_WORDS);
        __syncthreads();
        for (uint32_t i = threadIdx.x; i < min(s.nfound, (uint32_t)FOUND_MOST); i += SEARCH_THREADS)
            check_header(task, &s, s.found[i]);
        __syncthreads();
        if (s.nheaders)
            return;
        __syncthreads();
    }
}

enum gi_status gi_cuda_png_search(struct gi_cuda_queue *cu, const struct png_task *task,
                                  struct gi_err *err)
{
    const uint32_t each = PART_STEPS * STEP_WORDS * 4;
    search_headers<<<(task->stream_nbytes + each - 1) / each, SEARCH_THREADS, 0, cu->stream>>>(
        *task);
    GI_CUDA_LAUNCHED();
    return GI_OK;
}

/* ---- the order of segments ---- */

/* Returns whether the first two bytes are those of a zlib stream without a dictionary. */
static __device__ inline bool is_zlib(uint32_t head)
{
    const uint32_t cmf = head & 255, flags = head >> 8 & 255;
    return cmf % 16 == 8 && cmf / 16 <= 7 && !(flags & 32) && (cmf << 8 | flags) % 31 == 0;
}

/* Finds for each segment which one begins where it ends. Each has one, if it is neither the last
 * nor damaged. */
static __device__ inline void find_nexts(const struct png_task &task, struct png_link *links,
                                         uint32_t nsegments)
{
    __shared__ uint32_t firsts[JOIN_THREADS];
    for (uint32_t i = threadIdx.x; i - threadIdx.x < nsegments; i += JOIN_THREADS) {
        struct png_segment segment = {};
        struct png_link link = {PNG_NO_PART, PNG_NO_PART};
        if (i < nsegments) {
            segment = task.segments[i];
            link.nbytes = segment.status ? PNG_NO_PART : segment.nbytes;
        }
        for (uint32_t from = 0; from < nsegments; from += JOIN_THREADS) {
            const uint32_t n = min(nsegments - from, (uint32_t)JOIN_THREADS);
            __syncthreads();
            if (threadIdx.x < n)
                firsts[threadIdx.x] = task.segments[from + threadIdx.x].first;
            __syncthreads();
            for (uint32_t k = 0; k < n; k++)
                if (firsts[k] == segment.end && !segment.last)
                    link.next = from + k;
        }
        if (i < nsegments)
            links[i] = link;
    }
    __syncthreads();
}

/* Follows the segments from the first one on. Returns false if they are not exactly the rows. */
static __device__ inline bool follow(const struct png_task &task, const struct png_link *links)
{
    uint32_t byte = 0;
    for (uint32_t i = 0;;) {
        const struct png_link link = links[i];
        if (link.nbytes > task.raw_nbytes - byte)
            return false;
        task.segments[i].byte = byte;
        byte += link.nbytes;
        if (link.next == PNG_NO_PART)
            return byte == task.raw_nbytes && task.segments[i].last &&
                   (task.segments[i].end + 7) / 8 + ADLER_NBYTES == task.stream_nbytes;
        i = link.next;
    }
}

static __global__ void __launch_bounds__(JOIN_THREADS) join_segments(struct png_task task)
{
    __shared__ struct png_link few[LINKS_MOST];
    const uint32_t nsegments = png_nsegments(task);
    struct png_link *links = nsegments <= LINKS_MOST ? few : task.links;
    if (task.state->status)
        return;
    find_nexts(task, links, nsegments);
    if (threadIdx.x == 0 && !(is_zlib(task.words[0]) && follow(task, links)))
        task.state->status = PNG_DAMAGED;
}

enum gi_status gi_cuda_png_join(struct gi_cuda_queue *cu, const struct png_task *task,
                                struct gi_err *err)
{
    join_segments<<<1, JOIN_THREADS, 0, cu->stream>>>(*task);
    GI_CUDA_LAUNCHED();
    return GI_OK;
}
