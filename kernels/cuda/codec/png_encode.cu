/* Encodes the strips of a PNG, in six kernels and without a search for matches.
 *
 *   filter_rows   a block per row: five filters are measured, the best one is applied
 *   choose_strips a block per strip: do runs suit it? One or two samples are coded and hashed.
 *   count_tokens  a block per 64 KiB of a strip: how often does each token occur?
 *   make_codes    a smaller block per 64 KiB: the Huffman codes
 *   place_blocks  a thread per strip: the first bit of each block, the first byte of each strip
 *   put_blocks    a block per 64 KiB: bits of the tokens, prefix sum, codes
 *
 * One thread makes the codes for the most part, so the block of make_codes is small: its other
 * threads would only occupy the multiprocessor.
 *
 * A thread owns a group of 64 bytes. A run may begin groups before and end groups after it: bit i
 * of a word in shared memory tells whether byte i of the group equals the byte before it, and the
 * words of the other groups tell where the run begins and ends. For example, with 300 equal bytes
 * from byte 10 on, bits 11 to 309 of the block are set. Thread 0 has the token of the match of 258
 * bytes at byte 11, threads 1 to 3 have no token, and thread 4 has that of the other 41, at byte
 * 269.
 * SPDX-License-Identifier: MIT */
#include "kernels/cuda/codec/png_codes.cuh"
#include "kernels/cuda/codec/png_rows.cuh"

enum {
    THREADS = GI_PNG_GROUPS, /* per block of 64 KiB */
    COPIES = 4,              /* of counts, so that fewer threads of a warp add to the same one */
    SAMPLE_THREADS = GI_RUNS_SAMPLE / GI_PNG_GROUP,
    CODE_THREADS = (GI_RUNS_SYMBOLS + WARP - 1) / WARP * WARP,
    PLACE_THREADS = 256,
    STORED_NBYTES = GI_RUNS_BLOCK / 2,
};

/* ---- choice ---- */

/* Reads the group of up to 16 tokens at p. */
static __device__ inline uint32_t hash_at(const uint8_t *p, uint32_t group)
{
    uint64_t words[2] = {0, 0};
    for (uint32_t i = 0; i < group; i++)
        words[i / 8] |= (uint64_t)p[i] << i % 8 * 8;
    return gi_runs_hash(words[0], words[1]);
}

static __global__ void __launch_bounds__(SAMPLE_THREADS) choose_strips(struct encoding e)
{
    __shared__ uint64_t equal[SAMPLE_THREADS];
    __shared__ struct png_code code;
    __shared__ uint32_t seen[1 << (GI_RUNS_SEEN_BITS - 5)];
    const int number = (int)blockIdx.x;
    const uint32_t nbytes = nbytes_of(e, number), nsamples = nbytes < GI_RUNS_SAMPLED_TWICE ? 1 : 2;
    const uint32_t n = min(nbytes, (uint32_t)GI_RUNS_SAMPLE);
    uint8_t *folded = e.folded + (size_t)number * 2 * GI_RUNS_SAMPLE;
    uint32_t ntokens[2] = {0, 0};
    clear_counts(&code);
    for (uint32_t k = 0; k < nsamples; k++) {
        const uint8_t *sample = e.raw + (size_t)number * e.pitch +
                                (size_t)((nbytes - n) / (2 * nsamples)) * (2 * k + 1);
        uint32_t mine = 0;
        compare_group<false>(equal, sample, n);
        __syncthreads();
        each_token<false>(equal, sample, n, [&](uint32_t token) {
            atomicAdd(&code.counts[token], 1);
            mine++;
        });
        uint32_t at = k * GI_RUNS_SAMPLE + block_before<SAMPLE_THREADS / WARP>(mine, &ntokens[k]);
        each_token<false>(equal, sample, n, [&](uint32_t token) {
            folded[at++] = (uint8_t)(token ^ (token >> 8) * GI_RUNS_FOLDED_RUN);
        });
        __syncthreads();
    }
    make_code(&code);
    const uint64_t all = ntokens[0] + ntokens[1];
    const uint32_t group = gi_runs_group(all, code.nbits);
    uint32_t repeats = 0, groups = 0, total;
    for (uint32_t k = 0; k < nsamples; k++) {
        for (uint32_t i = threadIdx.x; i < sizeof seen / sizeof *seen; i += SAMPLE_THREADS)
            seen[i] = 0;
        __syncthreads();
        for (uint32_t i = threadIdx.x; i + GI_RUNS_GROUP_MOST <= ntokens[k]; i += SAMPLE_THREADS) {
            const uint32_t hash = hash_at(folded + k * GI_RUNS_SAMPLE + i, group);
            const uint32_t bit = 1u << hash % 32;
            repeats += (atomicOr(&seen[hash / 32], bit) & bit) != 0;
            groups++;
        }
        __syncthreads();
    }
    block_before<SAMPLE_THREADS / WARP>(repeats, &total);
    const uint64_t all_repeats = total;
    __syncthreads();
    block_before<SAMPLE_THREADS / WARP>(groups, &total);
    if (threadIdx.x == 0)
        e.strips[number].suits = gi_runs_rule(all, code.nbits, total, all_repeats);
}

/* ---- codes ---- */

/* The bytes of the thread block's 64 KiB. */
struct part {
    int strip;
    uint32_t index, n; /* number in the strip, and bytes; 0: there are none */
    const uint8_t *bytes;
};

static __device__ inline struct part part_of(const struct encoding &e)
{
    const int number = (int)(blockIdx.x / e.strip_blocks);
    const uint32_t index = blockIdx.x % e.strip_blocks, nbytes = nbytes_of(e, number);
    const size_t at = (size_t)index * GI_RUNS_BLOCK;
    struct part part;
    part.strip = number;
    part.index = index;
    part.n = at < nbytes ? (uint32_t)min((size_t)GI_RUNS_BLOCK, nbytes - at) : 0;
    part.bytes = e.raw + (size_t)number * e.pitch + at;
    return part;
}

/* Returns whether the part is the last one of the stream. */
static __device__ inline bool is_last(const struct encoding &e, const struct part &part)
{
    return part.strip == e.nstrips - 1 &&
           (size_t)part.index * GI_RUNS_BLOCK + part.n == e.last_nbytes;
}

static __global__ void __launch_bounds__(THREADS) count_tokens(struct encoding e)
{
    __shared__ uint64_t equal[THREADS];
    __shared__ uint32_t counts[GI_RUNS_TOKENS][COPIES];
    const struct part part = part_of(e);
    const uint32_t t = threadIdx.x;
    if (!part.n || !e.strips[part.strip].suits)
        return;
    for (uint32_t i = t; i < GI_RUNS_TOKENS * COPIES; i += THREADS)
        counts[i / COPIES][i % COPIES] = 0;
    compare_group<true>(equal, part.bytes, part.n);
    __syncthreads();
    each_token<true>(equal, part.bytes, part.n,
                     [&](uint32_t token) { atomicAdd(&counts[token][t % COPIES], 1); });
    __syncthreads();
    uint32_t sum = 0;
    for (uint32_t i = 0; t < GI_RUNS_TOKENS && i < COPIES; i++)
        sum += counts[t][i];
    if (t < GI_RUNS_TOKENS)
        e.blocks[blockIdx.x].counts[t] = sum;
}

static __global__ void __launch_bounds__(CODE_THREADS) make_codes(struct encoding e)
{
    __shared__ struct png_code code;
    __shared__ uint16_t codes[GI_RUNS_SYMBOLS], head_codes[GI_RUNS_HEAD_SYMBOLS];
    __shared__ uint32_t head_counts[GI_RUNS_HEAD_SYMBOLS], npairs, nsymbols;
    __shared__ uint8_t head_lengths[GI_RUNS_HEAD_SYMBOLS];
    __shared__ struct gi_runs_pair pairs[GI_RUNS_SYMBOLS + GI_RUNS_DISTANCES];
    const struct part part = part_of(e);
    const uint32_t t = threadIdx.x;
    struct block *block = &e.blocks[blockIdx.x];
    if (!part.n || !e.strips[part.strip].suits)
        return;
    for (uint32_t token = t; token < GI_RUNS_TOKENS; token += CODE_THREADS)
        code.counts[token] = block->counts[token];
    __syncthreads();
    make_code(&code);
    /* The head. */
    if (t < GI_RUNS_HEAD_SYMBOLS)
        head_counts[t] = 0;
    __syncthreads();
    if (t == 0) {
        gi_runs_codes(codes, code.lengths, GI_RUNS_SYMBOLS);
        nsymbols = gi_runs_used(code.lengths);
        npairs = gi_runs_pairs(pairs, code.lengths, nsymbols);
        for (uint32_t i = 0; i < npairs; i++)
            head_counts[pairs[i].symbol]++;
    }
    __syncthreads();
    make_lengths(head_lengths, &code.sorting, head_counts, GI_RUNS_HEAD_SYMBOLS,
                 GI_RUNS_HEAD_CODE_BITS);
    if (t == 0) {
        gi_runs_codes(head_codes, head_lengths, GI_RUNS_HEAD_SYMBOLS);
        const uint32_t nitems = gi_runs_head(block->items, pairs, npairs, head_lengths, head_codes,
                                             nsymbols, is_last(e, part));
        uint32_t nbits = 0;
        for (uint32_t i = 0; i < nitems; i++)
            nbits += block->items[i].nbits;
        block->nitems = nitems;
        block->head_nbits = nbits;
        block->nbits = nbits + code.nbits;
        block->stored = block->nbits >= 8 * part.n;
        block->end = gi_runs_item(codes[GI_RUNS_END], code.lengths[GI_RUNS_END]);
    }
    /* Store the code of every token. */
    for (uint32_t token = t; token < GI_RUNS_TOKENS; token += CODE_THREADS) {
        struct gi_runs_item extra = gi_runs_item(0, 0);
        const uint32_t symbol =
            token < 256 ? token : gi_runs_length_symbol(&extra, token - 256 + 3);
        const uint32_t length = code.lengths[symbol];
        block->bits[token] = codes[symbol] | extra.bits << length;
        block->nbits_of[token] = (uint8_t)(length + extra.nbits + (token >= 256));
    }
}

/* ---- places ---- */

static __device__ inline device_u64 aligned_8(device_u64 bits)
{
    return (bits + 7) / 8 * 8;
}

static __device__ inline device_u64 strip_nbytes(const struct encoding &e, int number)
{
    const uint32_t nbytes = nbytes_of(e, number);
    if (!e.strips[number].suits)
        return nbytes;
    device_u64 at = 0;
    for (uint32_t i = 0; i * (device_u64)GI_RUNS_BLOCK < nbytes; i++) {
        struct block *block = &e.blocks[(size_t)number * e.strip_blocks + i];
        const uint32_t n = min((uint32_t)GI_RUNS_BLOCK, nbytes - i * GI_RUNS_BLOCK);
        block->start = at;
        if (!block->stored) {
            at += block->nbits;
            continue;
        }
        for (uint32_t piece = 0; piece < n; piece += STORED_NBYTES)
            at = aligned_8(at + 3) + 8 * (4 + min((uint32_t)STORED_NBYTES, n - piece));
    }
    if (number == e.nstrips - 1)
        return aligned_8(at) / 8;
    return aligned_8(at + 3) / 8 + 4; /* an empty stored block */
}

/* One block of threads. Strips begin at multiples of 16 bytes. */
static __global__ void __launch_bounds__(PLACE_THREADS) place_blocks(struct encoding e)
{
    for (int i = (int)threadIdx.x; i < e.nstrips; i += PLACE_THREADS)
        e.strips[i].nbytes = strip_nbytes(e, i);
    __syncthreads();
    device_u64 at = 0;
    for (int i = 0; i < e.nstrips && threadIdx.x == 0; i++) {
        e.strips[i].at = at;
        at += (e.strips[i].nbytes + 15) / 16 * 16;
    }
}

/* ---- bits ---- */

/* Writes bits into words that are zeros at first and may be shared with other writers. */
struct writer {
    uint32_t *word;
    uint64_t bits;
    uint32_t n; /* number of bits in `bits`, below 32 after put() */

    __device__ writer(uint32_t *words, device_u64 at)
        : word(words + at / 32), bits(0), n((uint32_t)(at % 32))
    {
    }
    __device__ void put(uint32_t more, uint32_t count)
    {
        bits |= (uint64_t)more << n;
        n += count;
        if (n >= 32) {
            atomicOr(word++, (uint32_t)bits);
            bits >>= 32;
            n -= 32;
        }
    }
    __device__ void end()
    {
        if (n)
            atomicOr(word, (uint32_t)bits);
    }
};

/* Writes the tokens of this thread, after those of the threads before it. */
static __device__ inline void put_tokens(const struct block *block, uint32_t *words,
                                         device_u64 start, const struct part &part)
{
    __shared__ uint64_t equal[THREADS];
    __shared__ uint32_t bits[GI_RUNS_TOKENS];
    __shared__ uint8_t nbits[GI_RUNS_TOKENS];
    uint32_t mine = 0, total;
    compare_group<true>(equal, part.bytes, part.n);
    if (threadIdx.x < GI_RUNS_TOKENS) {
        bits[threadIdx.x] = block->bits[threadIdx.x];
        nbits[threadIdx.x] = block->nbits_of[threadIdx.x];
    }
    __syncthreads();
    each_token<true>(equal, part.bytes, part.n, [&](uint32_t token) { mine += nbits[token]; });
    struct writer writer(words, start + block_before<THREADS / WARP>(mine, &total));
    each_token<true>(equal, part.bytes, part.n,
                     [&](uint32_t token) { writer.put(bits[token], nbits[token]); });
    writer.end();
}

/* Writes the head of the block, and the code of its end. All threads of the block call this
 * function. */
static __device__ inline void put_head(const struct block *block, uint32_t *words)
{
    const uint32_t t = threadIdx.x;
    const struct gi_runs_item item = t < block->nitems ? block->items[t] : gi_runs_item(0, 0);
    uint32_t total;
    struct writer head(words, block->start + block_before<THREADS / WARP>(item.nbits, &total));
    if (item.nbits) {
        head.put(item.bits, item.nbits);
        head.end();
    }
    if (t == 0) {
        struct writer end(words, block->start + block->nbits - block->end.nbits);
        end.put(block->end.bits, block->end.nbits);
        end.end();
    }
}

/* Copies the bytes as stored blocks. */
static __device__ inline void put_stored(uint32_t *words, device_u64 start, const struct part &part,
                                         bool last)
{
    for (uint32_t piece = 0; piece < part.n; piece += STORED_NBYTES) {
        const uint32_t n = min((uint32_t)STORED_NBYTES, part.n - piece);
        const device_u64 at = aligned_8(start + 3);
        if (threadIdx.x == 0) {
            struct writer head(words, start);
            head.put(last && piece + n == part.n, 3);
            head.end();
            struct writer length(words, at);
            length.put(n, 16);
            length.put(~n & 0xffff, 16);
            length.end();
        }
        uint8_t *to = (uint8_t *)words + at / 8 + 4;
        for (uint32_t i = threadIdx.x; i < n; i += THREADS)
            to[i] = part.bytes[piece + i];
        start = at + 8 * (4 + (device_u64)n);
    }
}

static __global__ void __launch_bounds__(THREADS) put_blocks(struct encoding e)
{
    const struct part part = part_of(e);
    const struct strip *strip = &e.strips[part.strip];
    const struct block *block = &e.blocks[blockIdx.x];
    uint32_t *words = e.bytes + strip->at / 4;
    if (!part.n)
        return;
    if (!strip->suits) {
        uint8_t *to = (uint8_t *)words + (size_t)part.index * GI_RUNS_BLOCK;
        for (uint32_t i = threadIdx.x; i < part.n; i += THREADS)
            to[i] = part.bytes[i];
        return;
    }
    const bool ends = (size_t)part.index * GI_RUNS_BLOCK + part.n == nbytes_of(e, part.strip);
    if (ends && part.strip < e.nstrips - 1 && threadIdx.x == 0) {
        struct writer empty(words, 8 * (strip->nbytes - 2)); /* the other bits are zeros */
        empty.put(0xffff, 16);
        empty.end();
    }
    if (block->stored) {
        put_stored(words, block->start, part, is_last(e, part));
        return;
    }
    put_head(block, words);
    put_tokens(block, words, block->start + block->head_nbits, part);
}

/* ---- launches ---- */

static size_t aligned(size_t nbytes)
{
    return (nbytes + GI_CUDA_ALIGN - 1) / GI_CUDA_ALIGN * GI_CUDA_ALIGN;
}

/* Divides scratch memory among the arrays. Sets *room to the maximum bytes of the result. */
static enum gi_status place_arrays(struct gi_cuda_queue *cu, struct encoding *e, size_t *room,
                                   struct gi_err *err)
{
    const size_t n = (size_t)e->nstrips, nblocks = n * e->strip_blocks;
    const size_t sizes[] = {n * sizeof *e->strips, nblocks * sizeof *e->blocks,
                            n * 2 * GI_RUNS_SAMPLE, n * e->pitch, n * e->pitch};
    size_t nbytes = 0;
    char *at;
    for (size_t size : sizes)
        nbytes += aligned(size);
    enum gi_status status = gi_cuda_scratch(cu, (void **)&at, nbytes, err);
    if (status)
        return status;
    e->strips = (struct strip *)at;
    e->blocks = (struct block *)(at += aligned(sizes[0]));
    e->folded = (uint8_t *)(at += aligned(sizes[1]));
    e->raw = (uint8_t *)(at += aligned(sizes[2]));
    e->bytes = (uint32_t *)(at += aligned(sizes[3]));
    *room = sizes[4];
    return GI_OK;
}

static enum gi_status launch(struct gi_cuda_queue *cu, const struct encoding *e, size_t room,
                             struct gi_err *err)
{
    const unsigned nblocks = (unsigned)e->nstrips * e->strip_blocks;
    GI_CUDA_TRY(cudaMemsetAsync(e->strips, 0, (size_t)e->nstrips * sizeof *e->strips, cu->stream));
    GI_CUDA_TRY(cudaMemsetAsync(e->bytes, 0, room, cu->stream));
    filter_rows<<<(unsigned)e->src.height, ROW_THREADS, 0, cu->stream>>>(*e);
    GI_CUDA_LAUNCHED();
    choose_strips<<<(unsigned)e->nstrips, SAMPLE_THREADS, 0, cu->stream>>>(*e);
    GI_CUDA_LAUNCHED();
    count_tokens<<<nblocks, THREADS, 0, cu->stream>>>(*e);
    GI_CUDA_LAUNCHED();
    make_codes<<<nblocks, CODE_THREADS, 0, cu->stream>>>(*e);
    GI_CUDA_LAUNCHED();
    place_blocks<<<1, PLACE_THREADS, 0, cu->stream>>>(*e);
    GI_CUDA_LAUNCHED();
    put_blocks<<<nblocks, THREADS, 0, cu->stream>>>(*e);
    GI_CUDA_LAUNCHED();
    return GI_OK;
}

/* Copies the result to the host. */
static enum gi_status fetch(struct gi_cuda_queue *cu, struct gi_png_strips *result,
                            const struct encoding *e, const struct gi_allocator *allocator,
                            struct gi_err *err)
{
    const size_t n = (size_t)e->nstrips, nbytes = n * sizeof(struct strip);
    struct strip *strips = (struct strip *)malloc(nbytes);
    if (!strips)
        return gi_fail(err, GI_E_MEMORY, "out of memory for %zu strips", n);
    enum gi_status status =
        gi_cuda_copy_to_host(cu, strips, nbytes, e->strips, nbytes, nbytes, 1, err);
    const size_t total = status ? 0 : (size_t)(strips[n - 1].at + strips[n - 1].nbytes);
    if (!status)
        status = gi_png_strips_alloc(result, e->nstrips, total, allocator, err);
    if (status) {
        free(strips);
        return status;
    }
    for (size_t i = 0; i < n; i++) {
        const device_u64 raw = i == n - 1 ? e->last_nbytes : e->strip_nbytes;
        const uint32_t low = (uint32_t)((1 + strips[i].sum) % GI_ADLER_BASE);
        const uint32_t high = (uint32_t)((raw + strips[i].weighted) % GI_ADLER_BASE);
        result->strips[i].at = (size_t)strips[i].at;
        result->strips[i].nbytes = (size_t)strips[i].nbytes;
        result->strips[i].adler = high << 16 | low;
        result->strips[i].deflated = strips[i].suits;
    }
    free(strips);
    status = gi_cuda_copy_to_host(cu, result->bytes, total, e->bytes, total, total, 1, err);
    if (status)
        gi_png_strips_free(result);
    return status;
}

static enum gi_status by_groups(struct gi_queue *queue, struct gi_png_strips *result,
                                const struct gi_image *src, const struct gi_png_encode *spec,
                                struct gi_err *err)
{
    struct gi_cuda_queue *cu = gi_cuda(queue);
    const int rows = spec->strip_rows < src->height ? spec->strip_rows : src->height;
    const size_t row_nbytes = gi_row_nbytes(src), nbytes = (size_t)rows * (1 + row_nbytes);
    *result = {};
    if (row_nbytes >= INT32_MAX || nbytes > INT32_MAX)
        return gi_fail(err, GI_E_UNSUPPORTED, "png_encode: a strip of %zu bytes", nbytes);
    struct encoding e = {};
    e.src = *src;
    e.row_nbytes = (uint32_t)row_nbytes;
    e.pixel_nbytes = (uint32_t)(row_nbytes / (size_t)src->width);
    e.strip_rows = rows;
    e.nstrips = 1 + (src->height - 1) / rows;
    e.strip_nbytes = (uint32_t)nbytes;
    e.last_nbytes = (uint32_t)(src->height - (e.nstrips - 1) * rows) * (1 + e.row_nbytes);
    e.strip_blocks = (uint32_t)((nbytes + GI_RUNS_BLOCK - 1) / GI_RUNS_BLOCK);
    /* A stored block adds less than 6 bytes to its half of 64 KiB, and the end less than 16. */
    e.pitch = aligned(nbytes + (nbytes / STORED_NBYTES + 2) * 6 + 16);
    size_t room;
    enum gi_status status = place_arrays(cu, &e, &room, err);
    if (!status)
        status = launch(cu, &e, room, err);
    return status ? status : fetch(cu, result, &e, spec->allocator, err);
}

const struct gi_png_encode_way gi_cuda_png_encode_ways[GI_WAYS_MAX] = {
    {{"groups", "everything"}, NULL, by_groups},
};
