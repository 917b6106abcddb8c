/* Encodes JPEG scans in two kernels, without a serial thread.
 *
 * A tile is up to 96 blocks of one restart segment: 96 MCUs of gray, 32 of full and 16 of halved
 * chroma. code_tiles() makes their coefficients and codes, and stores the bits of each tile in a
 * region of its own, beginning at bit 0:
 *
 *   pixels --8 threads per MCU--> rows of the DCT --8 threads per block--> columns, quantized
 *          --1 thread per block--> bits per block --prefix sum--> places of the codes in the region
 *
 * stuff_tiles() moves the bits to their place. A tile's first bit has the phase p within its byte,
 * which is the number of all bits before it in its segment, modulo 8. The byte that two tiles share
 * belongs to the later one. For example, in a segment of two tiles with 203 and 196 bits
 *
 *   tile 0: p = 0, bytes 0 to 24, that is bits 0 to 199
 *   tile 1: p = 3, the last 3 bits of tile 0 and 196 bits: 24 whole bytes, and 7 bits and a 1
 *
 * The bytes of a tile, its stuffed zeros and a restart marker are counted, a decoupled look-back
 * adds up the counts of the tiles before, and the bytes are written.
 * SPDX-License-Identifier: MIT */
#include "kernels/cuda/codec/jpeg_blocks.cuh"
#include "kernels/cuda/common/look_back.cuh"

enum {
    THREADS = 128,
    WARPS = THREADS / WARP,
    TILE_BLOCKS = 96,
    REGION_WORDS = (TILE_BLOCKS * GI_JPEG_BLOCK_BITS + 31) / 32,
};

/* The work on one image. Pointers are to device memory. */
struct encoding {
    struct gi_image src;
    struct gi_jpeg_layout layout;
    const struct gi_jpeg_plan *plan;
    unsigned segment_tiles, ntiles; /* tiles of a whole segment, and of the image */
    unsigned *lengths;              /* bits of each tile */
    uint32_t *regions;              /* REGION_WORDS words per tile; bit 31 of a word is first */
    device_u64 *states;             /* of the look-back, then a counter of tiles */
    device_u64 *total;              /* bytes of the scan */
    unsigned char *bytes;           /* the scan; bytes from `room` on are not written */
    unsigned room;
};

/* The MCUs of a tile. */
struct place {
    int segment, first, n;
    bool begins, ends; /* it is the first or last tile of its segment */
};

template <int BLOCKS>
static __device__ inline struct place place_of(const struct encoding &e, unsigned tile)
{
    constexpr int MCUS = TILE_BLOCKS / BLOCKS;
    const int segment = (int)(tile / e.segment_tiles), index = (int)(tile % e.segment_tiles);
    const int first = segment * e.layout.interval + index * MCUS;
    const int end = min(e.layout.nmcus, (segment + 1) * e.layout.interval);
    const int n = min(MCUS, end - first);
    return {segment, first, n, index == 0, first + n == end};
}

/* ---- tiles ---- */

/* The position of an MCU. */
struct corner {
    int left, top;
};

template <int BLOCKS>
static __device__ inline struct corner corner_of(const struct gi_jpeg_layout &layout, int mcu)
{
    constexpr int SIDE = BLOCKS == 6 ? 2 * GI_JPEG_SIDE : GI_JPEG_SIDE;
    return {mcu % layout.across * SIDE, mcu / layout.across * SIDE};
}

/* Returns the DC of a block minus the DC of the block before it of the same component. `index`
 * counts the blocks in shared memory, whose first MCU is number `first`. */
template <int BLOCKS>
static __device__ inline int difference_of(const int16_t (*blocks)[PITCH], const struct encoding &e,
                                           const struct place &place, int index)
{
    const int k = index % BLOCKS, before = BLOCKS == 6 && k < 4 ? (k + 3) % 4 : k;
    const int at = index - k, other = at - (BLOCKS < 6 || k == 0 || k >= 4 ? BLOCKS : 0);
    const int mcu = place.first - 1 + index / BLOCKS;
    const struct corner corner = corner_of<BLOCKS>(e.layout, mcu);
    const int dc = dc_of<BLOCKS>(blocks + at, e.layout, k, corner.left, corner.top);
    if (other == 0 && place.begins)
        return dc;
    const struct corner back = corner_of<BLOCKS>(e.layout, other < at ? mcu - 1 : mcu);
    return dc - dc_of<BLOCKS>(blocks + other, e.layout, before, back.left, back.top);
}

/* Makes the bits of a tile. The first BLOCKS blocks in shared memory are those of the MCU before
 * the tile, whose DCs are needed; they are unused in the first tile of a segment. */
template <int BLOCKS>
static __global__ void __launch_bounds__(THREADS) code_tiles(struct encoding e)
{
    constexpr int CHANNELS = BLOCKS == 1 ? 1 : PIXEL_NBYTES;
    __shared__ __align__(16) int16_t blocks[TILE_BLOCKS + BLOCKS][PITCH];
    __shared__ uint64_t masks[TILE_BLOCKS + BLOCKS];
    const struct place place = place_of<BLOCKS>(e, blockIdx.x);
    const int thread = (int)threadIdx.x, unused = place.begins ? 1 : 0;
    /* Load: pixels to rows of the DCT. */
    for (int i = unused * GI_JPEG_SIDE + thread; i < (place.n + 1) * GI_JPEG_SIDE; i += THREADS) {
        const int slot = i / GI_JPEG_SIDE, r = i % GI_JPEG_SIDE;
        const struct corner corner = corner_of<BLOCKS>(e.layout, place.first - 1 + slot);
        int16_t(*to)[PITCH] = &blocks[slot * BLOCKS];
        if (BLOCKS == 6) {
            put_luma_rows(to, e.src, corner.left, corner.top, r);
            put_chroma_rows(to, e.src, corner.left, corner.top, r);
        } else {
            put_rows<CHANNELS>(to, e.src, corner.left, corner.top, r);
        }
    }
    __syncthreads();
    /* Compute: columns to coefficients. */
    const int nblocks = (place.n + 1) * BLOCKS, step = THREADS / GI_JPEG_SIDE;
    for (int i = unused * BLOCKS + thread / WARP * (WARP / GI_JPEG_SIDE); i < nblocks; i += step) {
        const int index = i + thread % WARP / GI_JPEG_SIDE, at = min(index, nblocks - 1);
        put_columns(blocks[at], &masks[at], e.plan, component_of_block<BLOCKS>(at % BLOCKS),
                    thread % GI_JPEG_SIDE, index < nblocks);
    }
    __syncthreads();
    /* Count: a thread per block. */
    const int index = thread + BLOCKS, k = index % BLOCKS;
    const bool mine = index < nblocks;
    const struct gi_jpeg_coder *coder = &e.plan->coders[component_of_block<BLOCKS>(k)];
    struct counter counter = {0};
    int difference = 0;
    uint64_t mask = 0;
    if (mine) {
        const struct corner corner = corner_of<BLOCKS>(e.layout, place.first - 1 + index / BLOCKS);
        mask = gi_jpeg_is_dummy(&e.layout, k, corner.left, corner.top) ? 0 : masks[index];
        difference = difference_of<BLOCKS>(blocks, e, place, index);
        code_block(&counter, coder, difference, blocks[index], mask);
    }
    unsigned total;
    const unsigned at = block_before<WARPS>(counter.bits, &total);
    /* Store. */
    uint32_t *region = e.regions + (size_t)blockIdx.x * REGION_WORDS;
    for (unsigned i = threadIdx.x; i < (total + 31) / 32; i += THREADS)
        region[i] = 0;
    __syncthreads();
    if (mine) {
        struct writer writer = {region + at / 32, 0, (int)(at % 32)};
        code_block(&writer, coder, difference, blocks[index], mask);
        writer.end();
    }
    if (thread == 0) {
        e.lengths[blockIdx.x] = total;
        e.states[blockIdx.x] = 0;
        e.states[e.ntiles] = 0; /* the counter of tiles */
    }
}

/* ---- bytes ---- */

/* The bytes of a tile: those of the last `phase` bits of the tile before and of its own bits. */
struct stuffing {
    const uint32_t *region;
    uint32_t tail; /* the bits of the tile before, the last one in bit 0 */
    unsigned phase, end /* phase + bits */, nbytes;
};

/* Returns four bytes of the tile, the first in the upper bits. Ones follow the last bit. */
static __device__ inline uint32_t bytes_at(const struct stuffing &s, unsigned word)
{
    const unsigned nwords = (s.end - s.phase + 31) / 32, first = 32 * word;
    const uint32_t high = word ? s.region[word - 1] : s.tail;
    const uint32_t low = word < nwords ? s.region[word] : 0;
    const uint32_t bytes = __funnelshift_r(low, high, s.phase);
    return first + 32 <= s.end ? bytes : bytes | ~0u >> (s.end - first);
}

/* Returns a bit per byte of the word, bit 0 for the first one, that belongs to the tile, and sets
 * *stuffed to those of them that a zero follows. */
static __device__ inline unsigned bytes_of(const struct stuffing &s, unsigned word, uint32_t bytes,
                                           unsigned *stuffed)
{
    const unsigned left = s.nbytes - 4 * word, own = left < 4 ? (1u << left) - 1 : 15;
    unsigned ones = 0;
#pragma unroll
    for (int i = 0; i < 4; i++)
        ones |= (bytes >> (24 - 8 * i) & 255) == 255 ? 1u << i : 0;
    *stuffed = ones & own;
    return own;
}

/* Finds the bits of a tile. Adds up the bits of all tiles before it in its segment, of which there
 * are at most 4096 if the scan has restart markers. All threads of the block call this function. */
template <int BLOCKS>
static __device__ inline struct stuffing stuffing_of(const struct encoding &e, unsigned tile,
                                                     const struct place &place)
{
    unsigned bits = 0, all;
    for (unsigned i = (unsigned)place.segment * e.segment_tiles + threadIdx.x; i < tile;
         i += THREADS)
        bits += e.lengths[i];
    block_before<WARPS>(bits, &all);
    const uint32_t *region = e.regions + (size_t)tile * REGION_WORDS;
    struct stuffing s = {region, 0, all % 8, all % 8 + e.lengths[tile], 0};
    s.nbytes = place.ends ? (s.end + 7) / 8 : s.end / 8;
    if (s.phase) { /* a tile before another has more than 32 bits */
        const unsigned length = e.lengths[tile - 1], word = (length - 1) / 32;
        const uint32_t *before = region - REGION_WORDS;
        s.tail =
            __funnelshift_r(before[word], word ? before[word - 1] : 0, 32 * (word + 1) - length);
    }
    return s;
}

template <int BLOCKS>
static __global__ void __launch_bounds__(THREADS) stuff_tiles(struct encoding e)
{
    __shared__ unsigned tile_number, tile_at;
    if (threadIdx.x == 0)
        tile_number = (unsigned)atomicAdd(&e.states[e.ntiles], 1);
    __syncthreads();
    const unsigned tile = tile_number;
    const struct place place = place_of<BLOCKS>(e, tile);
    const struct stuffing s = stuffing_of<BLOCKS>(e, tile, place);
    const bool marker = place.ends && tile + 1 < e.ntiles;
    /* Count. */
    const unsigned nwords = (s.nbytes + 3) / 4;
    unsigned stuffed, count = 0, total;
    for (unsigned i = threadIdx.x; i < nwords; i += THREADS) {
        bytes_of(s, i, bytes_at(s, i), &stuffed);
        count += (unsigned)__popc(stuffed);
    }
    __syncthreads(); /* block_before() has been called before */
    block_before<WARPS>(count, &total);
    total += s.nbytes + (marker ? 2 : 0);
    /* Exchange. */
    if (threadIdx.x < WARP) {
        const unsigned before = look_back(e.states, tile, total);
        if (threadIdx.x == 0)
            tile_at = before;
        if (threadIdx.x == 0 && tile + 1 == e.ntiles)
            *e.total = before + total;
    }
    __syncthreads();
    /* Store, if everything fits. */
    unsigned at = tile_at;
    if (at + total > e.room)
        return;
    if (marker && threadIdx.x == 0) {
        e.bytes[at + total - 2] = 0xff;
        e.bytes[at + total - 1] = (unsigned char)(GI_JPEG_MARKER_RST0 + place.segment % 8);
    }
    for (unsigned first = 0; first < nwords; first += THREADS) {
        const unsigned word = first + threadIdx.x;
        unsigned bytes = 0, own = 0, n;
        stuffed = 0;
        if (word < nwords) {
            bytes = bytes_at(s, word);
            own = bytes_of(s, word, bytes, &stuffed);
        }
        unsigned to = at + block_before<WARPS>((unsigned)(__popc(own) + __popc(stuffed)), &n);
#pragma unroll
        for (unsigned i = 0; i < 4; i++) {
            if (own >> i & 1)
                e.bytes[to++] = (unsigned char)(bytes >> (24 - 8 * i));
            if (stuffed >> i & 1)
                e.bytes[to++] = 0;
        }
        at += n;
        __syncthreads();
    }
}

/* ---- launches ---- */

template <int BLOCKS>
static enum gi_status launch(struct gi_cuda_queue *cu, const struct encoding *e, struct gi_err *err)
{
    code_tiles<BLOCKS><<<e->ntiles, THREADS, 0, cu->stream>>>(*e);
    GI_CUDA_LAUNCHED();
    stuff_tiles<BLOCKS><<<e->ntiles, THREADS, 0, cu->stream>>>(*e);
    GI_CUDA_LAUNCHED();
    return GI_OK;
}

static size_t aligned(size_t nbytes)
{
    return (nbytes + GI_CUDA_ALIGN - 1) / GI_CUDA_ALIGN * GI_CUDA_ALIGN;
}

/* Divides scratch memory among the arrays, and copies the plan to the device. */
static enum gi_status place_arrays(struct gi_cuda_queue *cu, struct encoding *e,
                                   const struct gi_jpeg_plan *plan, struct gi_err *err)
{
    const size_t n = e->ntiles, region_nbytes = n * REGION_WORDS * sizeof(uint32_t);
    const size_t sizes[] = {sizeof *plan, n * sizeof *e->lengths, (n + 2) * sizeof *e->states,
                            region_nbytes, region_nbytes};
    size_t nbytes = 0;
    char *at;
    for (size_t size : sizes)
        nbytes += aligned(size);
    enum gi_status status = gi_cuda_scratch(cu, (void **)&at, nbytes, err);
    if (status)
        return status;
    e->plan = (const struct gi_jpeg_plan *)at;
    e->lengths = (unsigned *)(at += aligned(sizes[0]));
    e->states = (device_u64 *)(at += aligned(sizes[1]));
    e->total = e->states + n + 1;
    e->regions = (uint32_t *)(at += aligned(sizes[2]));
    e->bytes = (unsigned char *)(at += aligned(sizes[3]));
    e->room = region_nbytes < UINT32_MAX ? (unsigned)region_nbytes : UINT32_MAX;
    GI_CUDA_TRY(
        cudaMemcpyAsync((void *)e->plan, plan, sizeof *plan, cudaMemcpyHostToDevice, cu->stream));
    return GI_OK;
}

static enum gi_status by_tiles(struct gi_queue *queue, struct gi_jpeg_scan *scan,
                               const struct gi_image *src, const struct gi_jpeg_encode *spec,
                               struct gi_err *err)
{
    struct gi_cuda_queue *cu = gi_cuda(queue);
    struct gi_jpeg_plan plan;
    *scan = {};
    enum gi_status status = gi_jpeg_plan_make(&plan, src, spec->frame, err);
    if (status)
        return status;
    const struct gi_jpeg_layout *layout = &plan.layout;
    const int mcus = TILE_BLOCKS / layout->nblocks, rest = layout->nmcus % layout->interval;
    struct encoding e = {};
    e.src = *src;
    e.layout = *layout;
    e.segment_tiles = (unsigned)((layout->interval + mcus - 1) / mcus);
    e.ntiles = (unsigned)(layout->nmcus / layout->interval) * e.segment_tiles +
               (unsigned)((rest + mcus - 1) / mcus);
    status = place_arrays(cu, &e, &plan, err);
    if (!status)
        status = layout->nblocks == 1   ? launch<1>(cu, &e, err)
                 : layout->nblocks == 3 ? launch<3>(cu, &e, err)
                                        : launch<6>(cu, &e, err);
    device_u64 n;
    if (!status)
        status = gi_cuda_copy_to_host(cu, &n, sizeof n, e.total, sizeof n, sizeof n, 1, err);
    if (!status && n > e.room)
        status = gi_fail(err, GI_E_UNSUPPORTED, "jpeg_encode: the scan has %llu bytes", n);
    if (!status)
        status = gi_jpeg_scan_alloc(scan, (size_t)n, spec->allocator, err);
    if (status)
        return status;
    status = gi_cuda_copy_to_host(cu, scan->bytes, scan->nbytes, e.bytes, scan->nbytes,
                                  scan->nbytes, 1, err);
    if (status)
        gi_jpeg_scan_free(scan);
    return status;
}

const struct gi_jpeg_encode_way gi_cuda_jpeg_encode_ways[GI_WAYS_MAX] = {
    {{"tiles", "everything"}, NULL, by_tiles},
};
