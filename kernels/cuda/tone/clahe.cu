/* Contrast-limited adaptive histogram equalization (CLAHE) in three kernels. First blocks count
 * parts of a tile. Then one block per tile clips the histogram and makes the lookup table. Finally
 * blocks interpolate between the tables of four tiles. Kernels for 8 bits: clahe_bytes.cuh.
 * SPDX-License-Identifier: MIT */
#include "kernels/cuda/tone/clahe_bytes.cuh"

/* ---- counts ---- */

/* Counts 16-bit and float samples by atomics in global memory. */
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

/* Makes the table of a tile. A thread owns `bins` / TABLE_THREADS consecutive values. */
template <typename T>
static __global__ void __launch_bounds__(TABLE_THREADS)
    clahe_table(const __grid_constant__ struct clahe_args args, int set)
{
    unsigned tile = blockIdx.x, bins = args.shape.bins, n = bins / TABLE_THREADS;
    unsigned v0 = threadIdx.x * n, over = 0, sum = 0, before;
    const uint32_t *counts = args.counts + (size_t)tile * bins;
    T *table = (T *)args.tables + ((size_t)set * gridDim.x + tile) * bins;
    struct gi_clahe_cut cut = {args.shape.limit, 0, 0, 1};
    for (unsigned v = v0; v < v0 + n; v++) {
        unsigned kept = min(counts[v], cut.limit);
        over += counts[v] - kept;
        sum += kept;
    }
    gi_clahe_share(&cut, block_sum(over, &before), bins);
    /* Counts that grow by one and are below v0: multiples of the step, at most `extra` of them. */
    unsigned grown = min((v0 + cut.step - 1) / cut.step, cut.extra);
    block_sum(sum, &before);
    sum = before + v0 * cut.each + grown;
    for (unsigned v = v0; v < v0 + n; v++) {
        bool grows = grown < cut.extra && v == grown * cut.step;
        grown += grows;
        sum += min(counts[v], cut.limit) + cut.each + grows;
        float f = __fmul_rn((float)sum, args.shape.scale);
        table[v] = (T)__float2uint_rn(fminf(f, (float)(bins - 1)));
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

/* One thread per sample of a row. */
template <typename T>
static __global__ void __launch_bounds__(EACH_THREADS)
    clahe_each(const __grid_constant__ struct clahe_args args)
{
    const struct gi_clahe_side &sx = args.shape.x, &sy = args.shape.y;
    int channels = args.src.channels, i = (int)(blockIdx.x * EACH_THREADS + threadIdx.x);
    int x = i / channels, channel = i % channels, set = args.sets > 1 ? channel : 0;
    if (x >= sx.n)
        return;
    bool alpha = channels % 2 == 0 && channel == channels - 1;
    float a, b;
    int tx = gi_clahe_tile(&sx, x, &a);
    int left = gi_clahe_nearest(&sx, tx), right = gi_clahe_nearest(&sx, tx + 1);
    size_t bins = args.shape.bins;
    const uint16_t *tables =
        (const uint16_t *)args.tables + (size_t)(alpha ? 0 : set) * sx.tiles * sy.tiles * bins;
    for (int y = (int)blockIdx.y; y < args.src.height; y += (int)gridDim.y) {
        T sample = ((const T *)((const char *)args.src.data + (size_t)y * args.src.stride))[i];
        unsigned v = value_of(sample);
        int ty = gi_clahe_tile(&sy, y + args.y, &b);
        const uint16_t *up = tables + (size_t)gi_clahe_nearest(&sy, ty) * sx.tiles * bins + v;
        const uint16_t *down = tables + (size_t)gi_clahe_nearest(&sy, ty + 1) * sx.tiles * bins + v;
        float f = clahe_between(up[left * bins], up[right * bins], down[left * bins],
                                down[right * bins], a, b);
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
        auto *each = args->src.type == GI_U16 ? clahe_each<uint16_t> : clahe_each<float>;
        each<<<grid, EACH_THREADS, 0, cu->stream>>>(*args);
    }
    GI_CUDA_LAUNCHED();
    return GI_OK;
}

/* Makes the tables, one set after another. */
static enum gi_status make_tables(struct gi_cuda_queue *cu, const struct clahe_args *args,
                                  unsigned ntiles, struct gi_err *err)
{
    bool bytes = args->src.type == GI_U8;
    auto *count = args->src.type == GI_U16 ? clahe_count_each<uint16_t> : clahe_count_each<float>;
    int blocks = 6; /* per multiprocessor */
    if (bytes) {
        GI_CUDA_ALLOW_SHARED(cu, clahe_count8);
        GI_CUDA_TRY(cudaOccupancyMaxActiveBlocksPerMultiprocessor(
            &blocks, clahe_count8, COUNT_THREADS, COUNT_NBYTES)); /* one wave */
    }
    int parts = blocks * cu->units / (int)ntiles,
        most = ceil_div(args->shape.y.tile, PARTS_MIN_ROWS);
    dim3 grid(ntiles, (unsigned)(parts < 1 ? 1 : parts < most ? parts : most));
    for (int set = 0; set < args->sets; set++) {
        GI_CUDA_TRY(cudaMemsetAsync(
            args->counts, 0, (size_t)ntiles * args->shape.bins * sizeof(uint32_t), cu->stream));
        if (bytes)
            clahe_count8<<<grid, COUNT_THREADS, COUNT_NBYTES, cu->stream>>>(*args, set);
        else
            count<<<grid, COUNT_THREADS, 0, cu->stream>>>(*args, set);
        GI_CUDA_LAUNCHED();
        if (bytes)
            clahe_table<uint8_t><<<ntiles, TABLE_THREADS, 0, cu->stream>>>(*args, set);
        else
            clahe_table<uint16_t><<<ntiles, TABLE_THREADS, 0, cu->stream>>>(*args, set);
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
    enum gi_status status = gi_cuda_scratch(cu, &scratch, counts_nbytes + tables_nbytes, err);
    if (status)
        return status;
    args.counts = (uint32_t *)scratch;
    args.tables = (char *)scratch + counts_nbytes;
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
