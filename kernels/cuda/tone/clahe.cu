/* Contrast-limited adaptive histogram equalization (CLAHE) in three kernels: blocks count parts of
 * a tile; one block per tile clips the histogram and makes the lookup table; blocks interpolate
 * between the tables of four tiles. 8-bit kernels: clahe_bytes.cuh. 16 bits and floats have 65536
 * bins: large tiles are counted in shared memory, two counters of 16 bits per word, and the tables
 * of four neighbouring tiles are interleaved, so that a pixel needs one access of 8 bytes.
 * SPDX-License-Identifier: MIT */
#include "kernels/cuda/tone/clahe_bytes.cuh"

/* ---- counts ---- */

/* 16 bits and floats, large tiles: 128 KiB of counters in shared memory. A counter that reaches
 * PAIR_LIMIT moves that number to global memory. Between two barriers a block counts CHUNK pixels.
 * PAIR_LIMIT + CHUNK is below 2^16, so that a counter cannot overflow into its neighbour. */
enum {
    PAIR_THREADS = 1024,
    PAIR_AHEAD = 16, /* samples per thread that are loaded before the first is counted */
    CHUNK = PAIR_THREADS * PAIR_AHEAD,
    PAIR_LIMIT = 1 << 15,
    PAIR_NBYTES = 65536 / 2 * (int)sizeof(unsigned),
    PAIR_MIN_PIXELS = 1 << 17, /* minimum pixels per part of a tile: twice the counters */
};

static __device__ __forceinline__ void pair_add(unsigned *pairs, uint32_t *counts, unsigned v)
{
    unsigned shift = v % 2 * 16, old = atomicAdd(&pairs[v / 2], 1u << shift);
    if ((old >> shift & 0xffff) == PAIR_LIMIT - 1) {
        atomicSub(&pairs[v / 2], (unsigned)PAIR_LIMIT << shift);
        atomicAdd(&counts[v], (unsigned)PAIR_LIMIT);
    }
}

template <typename T>
static __global__ void __launch_bounds__(PAIR_THREADS)
    clahe_count_pairs(const __grid_constant__ struct clahe_args args, int set)
{
    extern __shared__ unsigned pairs[];
    const struct gi_clahe_side &sx = args.shape.x, &sy = args.shape.y;
    int tile = (int)blockIdx.x, parts = (int)gridDim.y, part = (int)blockIdx.y, width = sx.tile;
    int x0 = tile % sx.tiles * width, top = tile / sx.tiles * sy.tile;
    int y0 = top + (int)((long long)sy.tile * part / parts);
    int y1 = top + (int)((long long)sy.tile * (part + 1) / parts);
    uint32_t *counts = args.counts + (size_t)tile * args.shape.bins;
    for (int i = (int)threadIdx.x; i < PAIR_NBYTES / 4; i += PAIR_THREADS)
        pairs[i] = 0;
    /* The thread's pixel, which advances by PAIR_THREADS pixels in raster order. */
    int x = (int)threadIdx.x % width, y = y0 + (int)threadIdx.x / width;
    int dx = PAIR_THREADS % width, dy = PAIR_THREADS / width;
    long long chunks = ((long long)(y1 - y0) * width + CHUNK - 1) / CHUNK;
    for (long long i = 0; i < chunks; i++) {
        unsigned v[PAIR_AHEAD];
        int n = 0;
#pragma unroll
        for (int k = 0; k < PAIR_AHEAD; k++) {
            if (y < y1) {
                size_t at =
                    (size_t)gi_border_index(y, sy.n, GI_BORDER_REFLECT101) * args.judge.stride;
                v[k] = judged(args, (const T *)((const char *)args.judge.data + at), x0 + x, set);
                n = k + 1;
            }
            x += dx, y += dy;
            if (x >= width)
                x -= width, y++;
        }
        __syncthreads();
#pragma unroll
        for (int k = 0; k < PAIR_AHEAD; k++)
            if (k < n)
                pair_add(pairs, counts, v[k]);
    }
    __syncthreads();
    for (int i = (int)threadIdx.x; i < PAIR_NBYTES / 4; i += PAIR_THREADS) {
        if (pairs[i] & 0xffff)
            atomicAdd(&counts[2 * i], pairs[i] & 0xffff);
        if (pairs[i] >> 16)
            atomicAdd(&counts[2 * i + 1], pairs[i] >> 16);
    }
}

/* 16 bits and floats, small tiles: atomics in global memory. */
template <typename T>
static __global__ void __launch_bounds__(COUNT_THREADS)
    clahe_count_each(const __grid_constant__ struct clahe_args args, int set)
{
    const struct gi_clahe_side &sx = args.shape.x, &sy = args.shape.y;
    int tile = (int)blockIdx.x, parts = (int)gridDim.y, part = (int)blockIdx.y;
    int x0 = tile % sx.tiles * sx.tile, top = tile / sx.tiles * sy.tile;
    int y0 = top + (int)((long long)sy.tile * part / parts);
    int y1 = top + (int)((long long)sy.tile * (part + 1) / parts);
    uint32_t *counts = args.counts + (size_t)tile * args.shape.bins;
    for (int y = y0 + (int)(threadIdx.x / 32); y < y1; y += COUNT_THREADS / 32) {
        size_t at = (size_t)gi_border_index(y, sy.n, GI_BORDER_REFLECT101) * args.judge.stride;
        const T *row = (const T *)((const char *)args.judge.data + at);
        for (int x = x0 + (int)(threadIdx.x % 32); x < x0 + sx.tile; x += 32)
            atomicAdd(&counts[judged(args, row, x, set)], 1u);
    }
}

/* ---- tables ---- */

/* Returns the sum of `v` over the block; *before is the sum over the lower threads (exclusive
 * prefix sum). */
static __device__ unsigned block_sum(unsigned v, unsigned *before)
{
    __shared__ unsigned warps[TABLE_THREADS / 32];
    unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32, sum = v;
    for (int d = 1; d < 32; d *= 2) {
        unsigned other = __shfl_up_sync(~0u, sum, d);
        sum += (int)lane >= d ? other : 0;
    }
    __syncthreads();
    if (lane == 31)
        warps[warp] = sum;
    __syncthreads();
    unsigned total = 0, first = 0;
    for (unsigned i = 0; i < TABLE_THREADS / 32; i++) {
        first += i < warp ? warps[i] : 0;
        total += warps[i];
    }
    *before = first + sum - v;
    return total;
}

/* Makes the table of a tile. A thread owns `bins` / TABLE_THREADS consecutive values, and processes
 * GROUP of them at a time. */
template <typename T>
static __global__ void __launch_bounds__(TABLE_THREADS)
    clahe_table(const __grid_constant__ struct clahe_args args, int set)
{
    enum { GROUP = sizeof(T) == 1 ? 1 : 4 };
    struct __align__(GROUP * sizeof(uint32_t)) counted
    {
        uint32_t at[GROUP];
    };
    struct __align__(GROUP * sizeof(T)) entries
    {
        T at[GROUP];
    };
    unsigned tile = blockIdx.x, bins = args.shape.bins, n = bins / TABLE_THREADS;
    unsigned v0 = threadIdx.x * n, over = 0, sum = 0, before;
    const struct counted *counts = (const struct counted *)(args.counts + (size_t)tile * bins + v0);
    struct entries *table =
        (struct entries *)((T *)args.tables + ((size_t)set * gridDim.x + tile) * bins + v0);
    struct gi_clahe_cut cut = {args.shape.limit, 0, 0, 1};
#pragma unroll 4
    for (unsigned i = 0; i < n / GROUP; i++) {
        struct counted group = counts[i];
#pragma unroll
        for (int k = 0; k < GROUP; k++) {
            unsigned kept = min(group.at[k], cut.limit);
            over += group.at[k] - kept;
            sum += kept;
        }
    }
    gi_clahe_share(&cut, block_sum(over, &before), bins);
    /* Number of bins below v0 whose count grows by one. These bins are multiples of cut.step, and
     * there are at most cut.extra of them. */
    unsigned grown = min((v0 + cut.step - 1) / cut.step, cut.extra);
    block_sum(sum, &before);
    sum = before + v0 * cut.each + grown;
#pragma unroll 4
    for (unsigned i = 0; i < n / GROUP; i++) {
        struct counted group = counts[i];
        struct entries made;
#pragma unroll
        for (int k = 0; k < GROUP; k++) {
            bool grows = grown < cut.extra && v0 + i * GROUP + k == grown * cut.step;
            grown += grows;
            sum += min(group.at[k], cut.limit) + cut.each + grows;
            float f = __fmul_rn((float)sum, args.shape.scale);
            made.at[k] = (T)__float2uint_rn(fminf(f, (float)(bins - 1)));
        }
        table[i] = made;
    }
}

/* ---- pixels ---- */

static __device__ __forceinline__ float clahe_between(float p, float q, float r, float s, float a,
                                                      float b)
{
    float c = __fsub_rn(1.0f, a);
    return __fadd_rn(__fmul_rn(__fadd_rn(__fmul_rn(p, c), __fmul_rn(q, a)), __fsub_rn(1.0f, b)),
                     __fmul_rn(__fadd_rn(__fmul_rn(r, c), __fmul_rn(s, a)), b));
}

/* The result for sample v. */
template <typename T> static __device__ __forceinline__ T stored(float f, T v)
{
    if constexpr (sizeof(T) == 4)
        return canonical(v == v ? __fdiv_rn(f, 65535.0f) : v);
    else
        return (T)__float2uint_rn(f);
}

/* Interleaves the tables of the four tiles around each cell. Cell (x, y) is the area between the
 * centres of tiles x - 1 and x in its row, and y - 1 and y in its column. There is one thread per
 * value; blockIdx.z is the set. */
static __global__ void __launch_bounds__(EACH_THREADS)
    clahe_interleave(const __grid_constant__ struct clahe_args args)
{
    const struct gi_clahe_side &sx = args.shape.x, &sy = args.shape.y;
    size_t bins = args.shape.bins, v = (size_t)blockIdx.x * EACH_THREADS + threadIdx.x;
    int cells = (int)gridDim.y, x = (int)blockIdx.y % (sx.tiles + 1) - 1;
    int y = (int)blockIdx.y / (sx.tiles + 1) - 1;
    const uint16_t *tables =
        (const uint16_t *)args.tables + (size_t)blockIdx.z * sx.tiles * sy.tiles * bins + v;
    const uint16_t *up = tables + (size_t)gi_clahe_nearest(&sy, y) * sx.tiles * bins;
    const uint16_t *down = tables + (size_t)gi_clahe_nearest(&sy, y + 1) * sx.tiles * bins;
    size_t left = gi_clahe_nearest(&sx, x) * bins, right = gi_clahe_nearest(&sx, x + 1) * bins;
    args.four[((size_t)blockIdx.z * cells + blockIdx.y) * bins + v] =
        make_ushort4(up[left], up[right], down[left], down[right]);
}

/* One thread per sample of a row. FOUR: the tables are interleaved. */
template <typename T, bool FOUR>
static __global__ void __launch_bounds__(EACH_THREADS)
    clahe_each(const __grid_constant__ struct clahe_args args)
{
    const struct gi_clahe_side &sx = args.shape.x, &sy = args.shape.y;
    int channels = args.src.channels, i = (int)(blockIdx.x * EACH_THREADS + threadIdx.x);
    int x = i / channels, channel = i % channels;
    if (x >= sx.n)
        return;
    bool alpha = channels % 2 == 0 && channel == channels - 1;
    size_t bins = args.shape.bins, set = alpha || args.sets == 1 ? 0 : channel;
    float a, b;
    int tx = gi_clahe_tile(&sx, x, &a);
    size_t left = gi_clahe_nearest(&sx, tx) * bins, right = gi_clahe_nearest(&sx, tx + 1) * bins;
    const uint16_t *tables = (const uint16_t *)args.tables + set * sx.tiles * sy.tiles * bins;
    const ushort4 *four =
        args.four + (set * (sy.tiles + 1) * (sx.tiles + 1) + (size_t)(tx + 1)) * bins;
    for (int y = (int)blockIdx.y; y < args.src.height; y += (int)gridDim.y) {
        T sample = ((const T *)((const char *)args.src.data + (size_t)y * args.src.stride))[i];
        unsigned v = value_of(sample);
        int ty = gi_clahe_tile(&sy, y + args.y, &b);
        ushort4 e;
        if (FOUR) {
            e = four[(size_t)(ty + 1) * (sx.tiles + 1) * bins + v];
        } else {
            const uint16_t *up = tables + (size_t)gi_clahe_nearest(&sy, ty) * sx.tiles * bins + v;
            const uint16_t *down =
                tables + (size_t)gi_clahe_nearest(&sy, ty + 1) * sx.tiles * bins + v;
            e = make_ushort4(up[left], up[right], down[left], down[right]);
        }
        float f = clahe_between(e.x, e.y, e.z, e.w, a, b);
        ((T *)((char *)args.dst.data + (size_t)y * args.dst.stride))[i] =
            alpha ? sample : stored(f, sample);
    }
}

/* ---- launchers ---- */

/* Returns the spans of the `n` positions from `first` on. */
static struct spans spans_of(const struct gi_clahe_side *side, int first, int n)
{
    struct spans spans = {side->tiles, {0}};
    float weight;
    for (int t = 0, at = 0; t <= side->tiles; t++) {
        long long guess = ((long long)t * side->tile) + side->tile / 2 - 2;
        at = guess < at ? at : guess < side->n ? (int)guess : side->n;
        while (at < side->n && gi_clahe_tile(side, at, &weight) < t)
            at++;
        spans.starts[t + 1] = t < side->tiles ? at : side->n;
    }
    for (int t = 0; t <= side->tiles + 1; t++) {
        int at = spans.starts[t] - first;
        spans.starts[t] = at < 0 ? 0 : at < n ? at : n;
    }
    return spans;
}

static unsigned blocks_of(const struct spans *spans, int size)
{
    int n = 0;
    for (int t = 0; t <= spans->tiles; t++)
        n += ceil_div(spans->starts[t + 1] - spans->starts[t], size);
    return (unsigned)n;
}

static enum gi_status look(struct gi_cuda_queue *cu, const struct clahe_args *args,
                           struct gi_err *err)
{
    const struct gi_clahe_side *x = &args->shape.x, *y = &args->shape.y;
    int channels = args->src.channels, height = args->src.height;
    int width = channels == 1 ? LOOK_THREADS * 4 : LOOK_THREADS * 4 / channels - 4;
    if (args->src.type == GI_U8) {
        struct spans across = spans_of(x, 0, x->n), down = spans_of(y, args->y, args->src.height);
        auto *kernel = args->sets > 1 ? clahe_look8<true> : clahe_look8<false>;
        kernel<<<dim3(blocks_of(&across, width), blocks_of(&down, LOOK_ROWS)), LOOK_THREADS, 0,
                 cu->stream>>>(*args, across, down);
    } else {
        dim3 grid(ceil_div((long long)x->n * channels, EACH_THREADS),
                  (unsigned)(height < 4096 ? height : 4096));
        bool four = args->four, u16 = args->src.type == GI_U16;
        if (four) {
            unsigned cells = (unsigned)((x->tiles + 1) * (y->tiles + 1));
            clahe_interleave<<<dim3(args->shape.bins / EACH_THREADS, cells, (unsigned)args->sets),
                               EACH_THREADS, 0, cu->stream>>>(*args);
            GI_CUDA_LAUNCHED();
        }
        auto *each = u16    ? four ? clahe_each<uint16_t, true> : clahe_each<uint16_t, false>
                        : four ? clahe_each<float, true>
                            : clahe_each<float, false>;
        each<<<grid, EACH_THREADS, 0, cu->stream>>>(*args);
    }
    GI_CUDA_LAUNCHED();
    return GI_OK;
}

/* Returns the number of parts into which each tile is divided, so that `blocks` blocks per
 * multiprocessor fill the device. */
static unsigned parts_of(const struct gi_cuda_queue *cu, const struct clahe_args *args, int ntiles,
                         int blocks)
{
    int parts = blocks * cu->units / ntiles, most = ceil_div(args->shape.y.tile, PARTS_MIN_ROWS);
    return (unsigned)(parts < 1 ? 1 : parts < most ? parts : most);
}

static enum gi_status count_bytes(struct gi_cuda_queue *cu, const struct clahe_args *args,
                                  unsigned ntiles, int set, struct gi_err *err)
{
    int blocks;
    GI_CUDA_ALLOW_SHARED(cu, clahe_count8);
    GI_CUDA_TRY(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, clahe_count8, COUNT_THREADS,
                                                              COUNT_NBYTES)); /* one wave */
    dim3 grid(ntiles, parts_of(cu, args, (int)ntiles, blocks));
    clahe_count8<<<grid, COUNT_THREADS, COUNT_NBYTES, cu->stream>>>(*args, set);
    GI_CUDA_LAUNCHED();
    return GI_OK;
}

template <typename T>
static enum gi_status count_values(struct gi_cuda_queue *cu, const struct clahe_args *args,
                                   unsigned ntiles, int set, struct gi_err *err)
{
    long long pixels = (long long)args->shape.x.tile * args->shape.y.tile;
    if (pixels >= PAIR_MIN_PIXELS && cu->shared_nbytes >= PAIR_NBYTES) {
        long long most = pixels / PAIR_MIN_PIXELS, parts = parts_of(cu, args, (int)ntiles, 1);
        GI_CUDA_ALLOW_SHARED(cu, clahe_count_pairs<T>);
        clahe_count_pairs<T><<<dim3(ntiles, (unsigned)(parts < most ? parts : most)), PAIR_THREADS,
                               PAIR_NBYTES, cu->stream>>>(*args, set);
    } else {
        dim3 grid(ntiles, parts_of(cu, args, (int)ntiles, EACH_BLOCKS));
        clahe_count_each<T><<<grid, COUNT_THREADS, 0, cu->stream>>>(*args, set);
    }
    GI_CUDA_LAUNCHED();
    return GI_OK;
}

/* Makes the tables, one set after the other. */
static enum gi_status make_tables(struct gi_cuda_queue *cu, const struct clahe_args *args,
                                  unsigned ntiles, struct gi_err *err)
{
    enum gi_status (*counter)(struct gi_cuda_queue *, const struct clahe_args *, unsigned, int,
                              struct gi_err *) = count_values<uint16_t>;
    if (args->src.type != GI_U16)
        counter = args->src.type == GI_U8 ? count_bytes : count_values<float>;
    auto *table = args->src.type == GI_U8 ? clahe_table<uint8_t> : clahe_table<uint16_t>;
    enum gi_status status = GI_OK;
    for (int set = 0; set < args->sets && !status; set++) {
        GI_CUDA_TRY(cudaMemsetAsync(
            args->counts, 0, (size_t)ntiles * args->shape.bins * sizeof(uint32_t), cu->stream));
        status = counter(cu, args, ntiles, set, err);
        if (status)
            return status;
        table<<<ntiles, TABLE_THREADS, 0, cu->stream>>>(*args, set);
        GI_CUDA_LAUNCHED();
    }
    return GI_OK;
}

static enum gi_status tiles(struct gi_queue *queue, struct gi_image *dst,
                            const struct gi_image *src, const struct gi_clahe *spec,
                            struct gi_err *err)
{
    struct gi_cuda_queue *cu = gi_cuda(queue);
    struct clahe_args args = {};
    args.dst = *dst;
    args.src = *src;
    args.judge = spec->judge ? *spec->judge : *src;
    args.shape = gi_clahe_shape_of(src, spec);
    args.sets = spec->judge ? 1 : gi_colour_channels(src);
    args.y = spec->tables ? spec->y : 0;
    unsigned ntiles = (unsigned)(spec->across * spec->down), bins = args.shape.bins;
    size_t counts_nbytes = (size_t)ntiles * bins * sizeof(uint32_t);
    void *scratch;
    size_t tables_nbytes = (size_t)args.sets * ntiles * bins * (bins == BINS8 ? 1 : 2);
    size_t entries = (size_t)(spec->across + 1) * (size_t)(spec->down + 1) * bins;
    size_t four_nbytes = (size_t)args.sets * entries * sizeof *args.four;
    /* Interleaving an entry costs about as much as it saves for half a pixel. */
    bool four = bins != BINS8 && four_nbytes <= FOUR_MAX_NBYTES &&
                entries <= 2 * (size_t)src->width * (size_t)src->height;
    if (!four)
        four_nbytes = 0;
    /* `four` is first because its elements have the strictest alignment. */
    enum gi_status status =
        gi_cuda_scratch(cu, &scratch, four_nbytes + counts_nbytes + tables_nbytes, err);
    if (status)
        return status;
    args.four = four ? (ushort4 *)scratch : NULL;
    args.counts = (uint32_t *)((char *)scratch + four_nbytes);
    args.tables = (char *)args.counts + counts_nbytes;
    status = spec->tables ? gi_cuda_copy_to_device(cu, args.tables, tables_nbytes, spec->tables,
                                                   tables_nbytes, tables_nbytes, 1, err)
                          : make_tables(cu, &args, ntiles, err);
    return status ? status : look(cu, &args, err);
}

static bool bytes_takes(const struct gi_queue *queue, const struct gi_image *src,
                        const struct gi_clahe *spec)
{
    return src->type == GI_U8;
}

static bool values_takes(const struct gi_queue *queue, const struct gi_image *src,
                         const struct gi_clahe *spec)
{
    return src->type != GI_U8;
}

const struct gi_clahe_way gi_cuda_clahe_ways[GI_WAYS_MAX] = {
    {{"bytes", "8 bits: counts in shared memory, spans of pixels with the same tables"},
     bytes_takes,
     tiles},
    {{"values", "16 bits and floats"}, values_takes, tiles},
};
