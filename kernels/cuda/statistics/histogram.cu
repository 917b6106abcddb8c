/* Privatised histograms: each block counts in shared memory and adds its counts once to 64-bit
 * counts in global memory. Each bank has a counter of every bin of bytes, which avoids conflicts.
 * The bins of 16-bit keys are divided among blocks, which read the same samples at the same time.
 * SPDX-License-Identifier: MIT */
#include "kernels/cuda/common/tiles.cuh"

static __device__ inline void count(unsigned *table, unsigned offset)
{
    atomicAdd((unsigned *)((char *)table + offset), 1u);
}

/* ---- 8 bits ---- */

enum { BINS8 = 256, ROW8 = 64, TABLE8 = BINS8 * ROW8 };

/* The counters of bin v begin at v * ROW8, COPIES of them per channel. One __byte_perm() makes the
 * byte offset of a counter: v, followed by a byte that depends on the lane. If lanes would share a
 * bank, each lane begins `turn` channels later than the first lane, so that 32 lanes use 32 banks
 * (31 for three channels). */
template <int CHANNELS> struct counter8 {
    enum { COPIES = ROW8 / CHANNELS, TURNS = CHANNELS == 4 ? 2 : CHANNELS == 3 ? 3 : 1 };
    unsigned *table, turn;
    unsigned slot[CHANNELS]; /* low byte of offsets, for samples c, c + CHANNELS, ... of a tile */
};

template <int CHANNELS>
static __device__ inline void sample_count(const struct counter8<CHANNELS> &counter, uint8_t v,
                                           unsigned channel)
{
    count(counter.table, (v * ROW8 + channel * counter.COPIES) * sizeof(unsigned));
}

template <int CHANNELS>
static __device__ inline void piece_count(const struct counter8<CHANNELS> &counter,
                                          const uint4 &piece, int at)
{
    const unsigned *words = (const unsigned *)&piece;
#pragma unroll
    for (int k = 0; k < 16; k++) {
        unsigned word = words[k / 4], slot = counter.slot[(at + k) % CHANNELS];
        if (CHANNELS == 4)
            word = __funnelshift_r(word, word, 8 * counter.turn);
        count(counter.table, __byte_perm(word, slot, 0x5504 | k % 4 << 4));
    }
}

template <int CHANNELS>
static __global__ void __launch_bounds__(THREADS)
    histogram8(device_u64 *counts, struct gi_image src, struct walk walk)
{
    extern __shared__ __align__(16) unsigned table[];
    constexpr unsigned COPIES = counter8<CHANNELS>::COPIES, TURNS = counter8<CHANNELS>::TURNS;
    struct tile<uint8_t, CHANNELS> start;
    uint4 pieces[start.WIDE];
    walk_start(walk, &start.y, &start.index, threadIdx.x / WARP * gridDim.x + blockIdx.x);
    tile_find(&start, src);
    pieces_load(pieces, start);
    table_clear(table, TABLE8);
    unsigned lane = threadIdx.x % WARP;
    struct counter8<CHANNELS> counter;
    counter.table = table;
    counter.turn = lane % TURNS;
#pragma unroll
    for (int c = 0; c < CHANNELS; c++)
        counter.slot[c] =
            ((c + counter.turn) % CHANNELS * COPIES + lane / TURNS) * sizeof(unsigned);
    tiles_count(counter, start, pieces, src, walk);

    constexpr unsigned USED = (WARP + TURNS - 1) / TURNS;
    for (unsigned i = threadIdx.x; i < BINS8 * CHANNELS; i += THREADS) {
        unsigned c = i / BINS8, v = i % BINS8, sum = 0;
        for (unsigned r = 0; r < USED; r++)
            sum += table[v * ROW8 + c * COPIES + (r + v) % USED];
        if (sum)
            atomicAdd(&counts[i], (device_u64)sum);
    }
}

/* ---- floats in few bins ---- */

/* Counts GI_KEY_RANGE if float arithmetic finds the bin edge of a sample to within half a bin. Edge
 * i is stored as the smallest float that is not below it, `copies` times, at table[i * copies]. The
 * counters of each channel follow, with as many copies, for nbins + 2 bins, of which the first and
 * the last count samples outside the range. */
struct range {
    int nbins;
    double lo, hi, width;
    /* fmaf(v, scale, offset) is clamped to least and most. Its bits, shifted right by `shift` and
     * masked, are i * pitch, the byte offset of the edge i that sample v is compared with. */
    float scale, offset, least, most;
    unsigned shift, mask, copies, pitch;
    unsigned channel_pitch; /* bytes; of the table of edges, too */
};

/* PERIOD: samples after which channels repeat; 3 or, for 1, 2 and 4 channels, 4. */
template <int PERIOD> struct range_counter {
    unsigned *table, column; /* bytes */
    struct range range;
    unsigned channel[PERIOD]; /* of samples c, c + PERIOD, ... of a tile */
};
template <int PERIOD>
static __device__ inline void sample_count(const struct range_counter<PERIOD> &counter, float v,
                                           unsigned channel)
{
    const struct range &range = counter.range;
    float place = fmaf(v, range.scale, range.offset);
    place = fminf(fmaxf(place, range.least), range.most); /* NaN gives least */
    unsigned edge = (__float_as_uint(place) >> range.shift & range.mask) | counter.column;
    bool beyond = v >= *(const float *)((const char *)counter.table + edge);
    count(counter.table, edge + (1 + channel) * range.channel_pitch + (beyond ? range.pitch : 0));
}

template <int PERIOD>
static __device__ inline void piece_count(const struct range_counter<PERIOD> &counter,
                                          const uint4 &piece, int at)
{
    const float *samples = (const float *)&piece;
#pragma unroll
    for (int k = 0; k < 4; k++)
        sample_count(counter, samples[k], counter.channel[(at + k) % PERIOD]);
}

static __device__ inline void range_edges(float *table, const struct range &range)
{
#pragma unroll 1
    for (unsigned i = threadIdx.x; i < (range.nbins + 1) * range.copies; i += THREADS) {
        int edge = (int)(i / range.copies);
        table[i] = edge < range.nbins ? __double2float_ru(range.lo + edge * range.width)
                                      : nextafterf(__double2float_rd(range.hi), INFINITY);
    }
}

template <int PERIOD>
static __global__ void __launch_bounds__(THREADS)
    histogram_range(device_u64 *counts, struct gi_image src, struct walk walk, struct range range)
{
    extern __shared__ __align__(16) unsigned table[];
    struct tile<float, PERIOD> start;
    uint4 pieces[start.WIDE];
    walk_start(walk, &start.y, &start.index, threadIdx.x / WARP * gridDim.x + blockIdx.x);
    tile_find(&start, src);
    pieces_load(pieces, start);
    const unsigned size = range.channel_pitch / sizeof(unsigned), lane = threadIdx.x % WARP;
    table_clear(table, (1 + src.channels) * size);
    range_edges((float *)table, range);
    __syncthreads();
    struct range_counter<PERIOD> counter;
    counter.table = table;
    counter.column = lane % range.copies * sizeof(unsigned);
    counter.range = range;
#pragma unroll
    for (int c = 0; c < PERIOD; c++)
        counter.channel[c] = (lane * start.N + c) % src.channels;
    tiles_count(counter, start, pieces, src, walk);

    for (unsigned i = threadIdx.x; i < src.channels * range.nbins; i += THREADS) {
        unsigned c = i / range.nbins, bin = i % range.nbins, sum = 0;
        const unsigned *row = table + (1 + c) * size + (1 + bin) * range.copies;
#pragma unroll 1
        for (unsigned r = 0; r < range.copies; r++)
            sum += row[(r + bin) & (range.copies - 1)];
        if (sum)
            atomicAdd(&counts[i], (device_u64)sum);
    }
}

/* ---- many bins ---- */

/* Parameters of a key. */
struct key_spec {
    int nbins;
    double lo, hi, width, bins_per_unit; /* GI_KEY_RANGE */
    float scale; /* bins_per_unit if products with it are exact bins, or 0 */
    /* Other floats: the bin is 16 bits of key >> shift; a sample counts if key & mask == prefix. */
    unsigned shift, mask, prefix;
};

template <int KEY> struct key_sample {
    typedef float type;
};
template <> struct key_sample<GI_KEY_VALUE> {
    typedef uint16_t type;
};

enum { NO_BIN = 1 << 30 }; /* beyond every table */

/* Returns the bin, computed by division, then corrected by comparison with the bin's edges. */
static __device__ __noinline__ unsigned range_bin(const struct key_spec &k, float sample)
{
    double v = sample;
    if (!(v >= k.lo && v < k.hi))
        return v == k.hi ? k.nbins - 1 : NO_BIN;
    int i = (int)((v - k.lo) * k.bins_per_unit);
    i = i < 0 ? 0 : i >= k.nbins ? k.nbins - 1 : i;
    while (i > 0 && v < k.lo + i * k.width)
        i--;
    while (i + 1 < k.nbins && v >= k.lo + (i + 1) * k.width)
        i++;
    return i;
}

template <int KEY>
static __device__ inline unsigned key_bin(const struct key_spec &, uint16_t sample)
{
    return sample;
}

template <int KEY> static __device__ inline unsigned key_bin(const struct key_spec &k, float sample)
{
    if (KEY == GI_KEY_RANGE && (k.scale == 0 || !(sample >= 0 && sample <= (float)k.hi)))
        return k.scale == 0 ? range_bin(k, sample) : NO_BIN;
    if (KEY == GI_KEY_RANGE)
        return min((int)(sample * k.scale), k.nbins - 1);
    unsigned key = gi_float_key(__float_as_uint(sample));
    return sample == sample && (key & k.mask) == k.prefix ? key >> k.shift & 0xffff : NO_BIN;
}

/* Counts the bins first to first + size - 1. One more counter counts all other samples, because a
 * branch would cost more. Lanes with the same counter do not wait for each other. */
template <int KEY, int PERIOD> struct part_counter {
    unsigned *table, first, size;
    const struct key_spec *key; /* the kernel's argument: a copy would be on the thread's stack */
    unsigned channel[PERIOD];   /* of samples c, c + PERIOD, ... of a tile */
};

template <int KEY, int PERIOD, typename T>
static __device__ inline void sample_count(const struct part_counter<KEY, PERIOD> &counter, T v,
                                           unsigned channel)
{
    unsigned bin = key_bin<KEY>(*counter.key, v) + (channel * counter.key->nbins - counter.first);
    atomicAdd(&counter.table[min(bin, counter.size)], 1u);
}

template <int KEY, int PERIOD>
static __device__ inline void piece_count(const struct part_counter<KEY, PERIOD> &counter,
                                          const uint4 &piece, int at)
{
    typedef typename key_sample<KEY>::type T;
    const T *samples = (const T *)&piece;
#pragma unroll
    for (int k = 0; k < 16 / (int)sizeof(T); k++)
        sample_count(counter, samples[k], counter.channel[(at + k) % PERIOD]);
}

/* Block i counts part i % parts of the bins. */
template <int KEY, int PERIOD>
static __global__ void __launch_bounds__(THREADS)
    histogram_wide(device_u64 *counts, struct gi_image src, struct walk walk,
                   const __grid_constant__ struct key_spec key, unsigned size, unsigned parts)
{
    extern __shared__ __align__(16) unsigned table[];
    struct tile<typename key_sample<KEY>::type, PERIOD> start;
    uint4 pieces[start.WIDE];
    unsigned group = blockIdx.x / parts, first = blockIdx.x % parts * size;
    walk_start(walk, &start.y, &start.index, threadIdx.x / WARP * (gridDim.x / parts) + group);
    tile_find(&start, src);
    pieces_load(pieces, start);
    table_clear(table, size + 4);
    struct part_counter<KEY, PERIOD> counter;
    counter.table = table;
    counter.first = first;
    counter.size = size;
    counter.key = &key;
#pragma unroll
    for (int c = 0; c < PERIOD; c++)
        counter.channel[c] = (threadIdx.x % WARP * start.N + c) % src.channels;
    tiles_count(counter, start, pieces, src, walk);

    /* Each group starts at a different bin, so that groups do not update the same counts at
     * once. */
    unsigned all = (unsigned)(src.channels * key.nbins), from = group * 1024 % size;
    for (unsigned k = threadIdx.x; k < size; k += THREADS) {
        unsigned i = from + k < size ? from + k : from + k - size;
        if (first + i < all && table[i])
            atomicAdd(&counts[first + i], (device_u64)table[i]);
    }
}

/* ---- launches ---- */

/* Returns the grid-stride loop of `blocks` blocks. */
template <typename T, int CHANNELS>
static struct walk tiles_of(const struct gi_image *src, unsigned blocks)
{
    return walk_of(src, tile<T, CHANNELS>::WIDE * WARP * 16, (size_t)blocks * WARPS);
}

template <int CHANNELS>
static enum gi_status launch8(struct gi_cuda_queue *cu, device_u64 *counts,
                              const struct gi_image *src, struct gi_err *err)
{
    unsigned blocks = (unsigned)cu->units;
    size_t nbytes = TABLE8 * sizeof(unsigned);
    GI_CUDA_ALLOW_SHARED(cu, histogram8<CHANNELS>);
    histogram8<CHANNELS><<<blocks, THREADS, nbytes, cu->stream>>>(
        counts, *src, tiles_of<uint8_t, CHANNELS>(src, blocks));
    GI_CUDA_LAUNCHED();
    return GI_OK;
}

/* Returns whether histogram_range() is exact with `shared_nbytes` bytes per block. A sample
 * at edge i becomes the float base + i + 1/2, where base is the power of 2 above nbins; the upper
 * mantissa bits are then i. Errors in bins, with m = max(|lo|, |hi|) / width: at most m / 2^24 each
 * from rounding `scale` and `offset`, and base / 2^23 from fmaf(). The limits here keep their sum
 * below a quarter of a bin. */
static bool range_of(struct range *range, const struct gi_histogram_spec *spec, int channels,
                     int shared_nbytes)
{
    double span = spec->hi - spec->lo, scale = spec->nbins / span;
    double m = fmax(fabs(spec->lo), fabs(spec->hi)) * scale;
    if (!(m <= 1 << 20 && scale >= 1e-30 && scale <= 1e30))
        return false;
    int bits = 1, log2_pitch = 2 + 5; /* one counter per lane, or fewer */
    while (1 << bits <= spec->nbins)
        bits++;
    size_t rows = (size_t)spec->nbins + 2, nbytes;
    do
        nbytes = ((rows << log2_pitch) + 15) / 16 * 16;
    while (nbytes * (1 + (size_t)channels) > (size_t)shared_nbytes && --log2_pitch >= 2);
    float base = (float)(1 << bits);
    range->nbins = spec->nbins;
    range->lo = spec->lo;
    range->hi = spec->hi;
    range->width = span / spec->nbins;
    range->scale = (float)scale;
    range->offset = (float)(base + 0.5 - spec->lo * scale);
    range->least = base;
    range->most = base + (float)spec->nbins;
    range->shift = (unsigned)(23 - bits - log2_pitch);
    range->mask = ((1u << bits) - 1) << log2_pitch;
    range->pitch = 1u << log2_pitch;
    range->copies = range->pitch / sizeof(unsigned);
    range->channel_pitch = (unsigned)nbytes;
    return log2_pitch >= 2;
}

template <int PERIOD>
static enum gi_status launch_range(struct gi_cuda_queue *cu, device_u64 *counts,
                                   const struct gi_image *src, const struct range *range,
                                   struct gi_err *err)
{
    unsigned blocks = (unsigned)cu->units;
    size_t nbytes = (1 + (size_t)src->channels) * (size_t)range->channel_pitch;
    GI_CUDA_ALLOW_SHARED(cu, histogram_range<PERIOD>);
    histogram_range<PERIOD><<<blocks, THREADS, nbytes, cu->stream>>>(
        counts, *src, tiles_of<float, PERIOD>(src, blocks), *range);
    GI_CUDA_LAUNCHED();
    return GI_OK;
}

template <int KEY, int PERIOD>
static enum gi_status launch_wide(struct gi_cuda_queue *cu, device_u64 *counts,
                                  const struct gi_image *src, const struct key_spec *key,
                                  struct gi_err *err)
{
    /* Divides the bins into as few parts as the shared memory of a block allows. */
    unsigned all = (unsigned)(src->channels * key->nbins);
    unsigned most = (unsigned)cu->shared_nbytes / sizeof(unsigned) - 8;
    unsigned parts = (all + most - 1) / most, size = ((all + parts - 1) / parts + 3) / 4 * 4;
    unsigned groups = (unsigned)cu->units < parts ? 1 : (unsigned)cu->units / parts;
    size_t nbytes = (size + 4) * sizeof(unsigned);
    GI_CUDA_ALLOW_SHARED(cu, (histogram_wide<KEY, PERIOD>));
    histogram_wide<KEY, PERIOD><<<groups * parts, THREADS, nbytes, cu->stream>>>(
        counts, *src, tiles_of<typename key_sample<KEY>::type, PERIOD>(src, groups), *key, size,
        parts);
    GI_CUDA_LAUNCHED();
    return GI_OK;
}

/* ---- ways; their counts are in device memory ---- */

/* GI_KEY_RANGE with a valid range. */
static bool is_range(const struct gi_image *src, const struct gi_histogram_spec *spec)
{
    double span = spec->hi - spec->lo;
    return src->type == GI_F32 && spec->key == GI_KEY_RANGE && span >= 0 && isfinite(span);
}

static bool bytes_takes(const struct gi_queue *queue, const struct gi_image *src,
                        const struct gi_histogram_spec *spec)
{
    return src->type == GI_U8;
}

static enum gi_status bytes(struct gi_queue *queue, uint64_t *counts, const struct gi_image *src,
                            const struct gi_histogram_spec *spec, struct gi_err *err)
{
    GI_CUDA_CHANNELS(src->channels,
                     launch8<CHANNELS>(gi_cuda(queue), (device_u64 *)counts, src, err));
}

static bool range_takes(const struct gi_queue *queue, const struct gi_image *src,
                        const struct gi_histogram_spec *spec)
{
    struct range range;
    int shared = ((const struct gi_cuda_queue *)queue)->shared_nbytes;
    return is_range(src, spec) && range_of(&range, spec, src->channels, shared);
}

static enum gi_status range(struct gi_queue *queue, uint64_t *counts, const struct gi_image *src,
                            const struct gi_histogram_spec *spec, struct gi_err *err)
{
    struct gi_cuda_queue *cu = gi_cuda(queue);
    struct range r;
    range_of(&r, spec, src->channels, cu->shared_nbytes);
    auto *launch = src->channels == 3 ? launch_range<3> : launch_range<4>;
    return launch(cu, (device_u64 *)counts, src, &r, err);
}

static bool parts_takes(const struct gi_queue *queue, const struct gi_image *src,
                        const struct gi_histogram_spec *spec)
{
    return src->type != GI_U8;
}

template <int PERIOD>
static enum gi_status launch_parts(struct gi_cuda_queue *cu, device_u64 *counts,
                                   const struct gi_image *src, const struct gi_histogram_spec *spec,
                                   struct gi_err *err)
{
    double span = spec->hi - spec->lo;
    struct key_spec key = {
        spec->nbins, spec->lo, spec->hi, span / spec->nbins, spec->nbins / span, 0, 16, 0, 0};
    if (spec->lo == 0 && key.width * spec->nbins == spec->hi && fabs(ilogb(key.width)) < 100 &&
        key.width == ldexp(1, ilogb(key.width))) /* a power of 2 */
        key.scale = (float)key.bins_per_unit;
    enum gi_status status = GI_OK;
    switch (spec->key) {
    case GI_KEY_VALUE:
        return launch_wide<GI_KEY_VALUE, PERIOD>(cu, counts, src, &key, err);
    case GI_KEY_RANGE:
        return is_range(src, spec) ? launch_wide<GI_KEY_RANGE, PERIOD>(cu, counts, src, &key, err)
                                   : GI_OK; /* empty range: nothing is counted */
    case GI_KEY_FLOAT_HIGH:
        return launch_wide<GI_KEY_FLOAT_HIGH, PERIOD>(cu, counts, src, &key, err);
    default:
        key.shift = 0;
        key.mask = 0xffff0000u;
        for (int i = 0; i < spec->nprefixes && !status; i++) {
            key.prefix = (unsigned)spec->prefixes[i] << 16;
            status = launch_wide<GI_KEY_FLOAT_HIGH, PERIOD>(
                cu, counts + (size_t)(i * src->channels) * spec->nbins, src, &key, err);
        }
        return status;
    }
}

static enum gi_status parts(struct gi_queue *queue, uint64_t *counts, const struct gi_image *src,
                            const struct gi_histogram_spec *spec, struct gi_err *err)
{
    auto *launch = src->channels == 3 ? launch_parts<3> : launch_parts<4>;
    return launch(gi_cuda(queue), (device_u64 *)counts, src, spec, err);
}

/* Counts in zeroed device memory, then adds these counts, by way of pinned memory, to `counts` in
 * host memory. */
template <gi_histogram_fn *ENQUEUE>
static enum gi_status count(struct gi_queue *queue, uint64_t *counts, const struct gi_image *src,
                            const struct gi_histogram_spec *spec, struct gi_err *err)
{
    struct gi_cuda_queue *cu = gi_cuda(queue);
    const struct gi_allocator *pinned = &cu->device->host_allocator;
    size_t sets = spec->key == GI_KEY_FLOAT_LOW ? (size_t)spec->nprefixes : 1;
    size_t n = (size_t)src->channels * (size_t)spec->nbins * sets;
    size_t nbytes = n * sizeof *counts;
    uint64_t *device, *found = (uint64_t *)pinned->alloc(pinned->self, nbytes);
    enum gi_status status = found ? gi_cuda_scratch(cu, (void **)&device, nbytes, err)
                                  : gi_fail(err, GI_E_MEMORY, "out of memory: %zu bins", n);
    if (!status && cudaMemsetAsync(device, 0, nbytes, cu->stream) != cudaSuccess)
        status = gi_cuda_fail(err, cudaGetLastError(), "cudaMemsetAsync");
    status = status ? status : ENQUEUE(queue, device, src, spec, err);
    if (!status)
        status = gi_cuda_copy_to_host(cu, found, nbytes, device, nbytes, nbytes, 1, err);
    for (size_t i = 0; i < n && !status; i++)
        counts[i] += found[i];
    if (found)
        pinned->free(pinned->self, found);
    return status;
}

/* As gi_cuda_histogram(), but counts stay on the device. For the benchmark. */
enum gi_status gi_cuda_histogram_launch(struct gi_queue *queue, uint64_t *counts,
                                        const struct gi_image *src,
                                        const struct gi_histogram_spec *spec, struct gi_err *err)
{
    static gi_histogram_fn *const launch[] = {bytes, range, parts};
    const struct gi_ways *ways = gi_ways_find(queue->k, "histogram");
    for (int i = -1; (i = gi_way_next(queue, ways, i)) >= 0;)
        if (gi_cuda_histogram_ways[i].takes(queue, src, spec)) {
            gi_way_note(queue, ways, i);
            return launch[i](queue, counts, src, spec, err);
        }
    return gi_way_refuse(queue, ways, err);
}

const struct gi_histogram_way gi_cuda_histogram_ways[GI_WAYS_MAX] = {
    {{"bytes", "8 bits: a counter for each bank of shared memory"}, bytes_takes, count<bytes>},
    {{"range", "floats in a range of few bins"}, range_takes, count<range>},
    {{"parts", "16 bits and floats: bins shared out to blocks"}, parts_takes, count<parts>},
};
