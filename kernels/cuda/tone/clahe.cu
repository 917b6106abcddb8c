/* Contrast-limited adaptive histogram equalization (CLAHE) in three kernels: blocks count parts of
 * a tile; one block per tile clips the histogram and makes the lookup table; blocks interpolate
 * between the tables of four tiles. The kernels that count and interpolate are in clahe_bytes.cuh
 * and, of 16 bits and floats, in clahe_values.cuh and clahe_packed.cuh.
 * SPDX-License-Identifier: MIT */
#include "kernels/cuda/tone/clahe_packed.cuh"

/* ---- tables ---- */

/* Returns the sum of `v` over the lanes up to and including this one. */
static __device__ __forceinline__ unsigned warp_sums(unsigned v)
{
    for (int d = 1; d < 32; d *= 2) {
        unsigned other = __shfl_up_sync(~0u, v, d);
        v += (int)(threadIdx.x % 32) >= d ? other : 0;
    }
    return v;
}

/* Returns the sum of `v` over the block; *before is the sum over the lower threads (exclusive
 * prefix sum). */
template <int THREADS> static __device__ unsigned block_sum(unsigned v, unsigned *before)
{
    __shared__ unsigned warps[THREADS / 32];
    unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32, sum = warp_sums(v);
    __syncthreads();
    if (lane == 31)
        warps[warp] = sum;
    __syncthreads();
    unsigned total = 0, first = 0;
    for (unsigned i = 0; i < THREADS / 32; i++) {
        first += i < warp ? warps[i] : 0;
        total += warps[i];
    }
    *before = first + sum - v;
    return total;
}

/* Makes the table of a tile. A warp owns consecutive values, and processes GROUP of them per lane
 * at a time. */
template <typename T>
static __global__ void __launch_bounds__(table_block<T>::THREADS)
    clahe_table(const __grid_constant__ struct clahe_args args, int set)
{
    enum { GROUP = sizeof(T) == 1 ? 1 : 4, THREADS = table_block<T>::THREADS };
    struct __align__(GROUP * sizeof(uint32_t)) counted
    {
        uint32_t at[GROUP];
    };
    struct __align__(GROUP * sizeof(T)) entries
    {
        T at[GROUP];
    };
    unsigned tile = blockIdx.x, bins = args.shape.bins, lane = threadIdx.x % 32;
    unsigned n = bins / (THREADS / 32), first = threadIdx.x / 32 * n + lane * GROUP;
    unsigned over = 0, sum = 0, before;
    const uint32_t *counts = args.counts + (size_t)tile * bins;
    T *table = (T *)args.tables + ((size_t)set * gridDim.x + tile) * bins;
    struct gi_clahe_cut cut = {args.shape.limit, 0, 0, 1};
#pragma unroll 4
    for (unsigned v = first; v < first + n; v += 32 * GROUP) {
        struct counted group = *(const struct counted *)(counts + v);
#pragma unroll
        for (int k = 0; k < GROUP; k++) {
            unsigned kept = min(group.at[k], cut.limit);
            over += group.at[k] - kept;
            sum += kept;
        }
    }
    gi_clahe_share(&cut, block_sum<THREADS>(over, &before), bins);
    block_sum<THREADS>(sum, &before);
    before = __shfl_sync(~0u, before, 0); /* counts of the warps before */
#pragma unroll 4
    for (unsigned v = first; v < first + n; v += 32 * GROUP) {
        struct counted group = *(const struct counted *)(counts + v);
        struct entries made;
        unsigned own = 0;
#pragma unroll
        for (int k = 0; k < GROUP; k++) {
            group.at[k] = min(group.at[k], cut.limit);
            own += group.at[k];
        }
        unsigned upto = warp_sums(own);
        /* Number of values below v whose count grows by one. These values are multiples of
         * cut.step, and there are at most cut.extra of them. */
        unsigned grown = min((v + cut.step - 1) / cut.step, cut.extra);
        sum = before + upto - own + v * cut.each + grown;
        before += __shfl_sync(~0u, upto, 31);
#pragma unroll
        for (int k = 0; k < GROUP; k++) {
            bool grows = grown < cut.extra && v + k == grown * cut.step;
            grown += grows;
            sum += group.at[k] + cut.each + grows;
            float f = __fmul_rn((float)sum, args.shape.scale);
            made.at[k] = (T)__float2uint_rn(fminf(f, (float)(bins - 1)));
        }
        *(struct entries *)(table + v) = made;
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

static unsigned tiles_of(const struct clahe_args *args)
{
    return (unsigned)(args->shape.x.tiles * args->shape.y.tiles);
}

/* Returns the number of entries of the interleaved tables of one set. */
static size_t four_of(const struct gi_clahe_shape *shape)
{
    return (size_t)(shape->x.tiles + 1) * (size_t)(shape->y.tiles + 1) * shape->bins;
}

/* Fills `args` and takes scratch memory, with room for interleaved tables if `interleaves`. */
static enum gi_status prepare(struct gi_cuda_queue *cu, struct clahe_args *args,
                              struct gi_image *dst, const struct gi_image *src,
                              const struct gi_clahe *spec, bool interleaves, struct gi_err *err)
{
    args->dst = *dst;
    args->src = *src;
    args->judge = spec->judge ? *spec->judge : *src;
    args->shape = gi_clahe_shape_of(src, spec);
    args->sets = spec->judge ? 1 : gi_color_channels(src);
    args->y = spec->tables ? spec->y : 0;
    size_t sets = (size_t)args->sets, entries = tiles_of(args) * args->shape.bins;
    size_t four_nbytes = interleaves ? sets * four_of(&args->shape) * sizeof *args->four : 0;
    size_t counts_nbytes = entries * sizeof *args->counts;
    args->tables_nbytes = sets * entries * (src->type == GI_U8 ? 1 : sizeof(uint16_t));
    /* `four` is first because its elements have the strictest alignment. */
    enum gi_status status = gi_cuda_scratch(cu, (void **)&args->four,
                                            four_nbytes + counts_nbytes + args->tables_nbytes, err);
    args->counts = (uint32_t *)((char *)args->four + four_nbytes);
    args->tables = (char *)args->counts + counts_nbytes;
    return status;
}

/* Returns the number of parts into which each tile is divided, so that `blocks` blocks per
 * multiprocessor fill the device. */
static unsigned parts_of(const struct gi_cuda_queue *cu, const struct clahe_args *args, int blocks)
{
    int parts = blocks * cu->units / (int)tiles_of(args),
        most = ceil_div(args->shape.y.tile, PARTS_MIN_ROWS);
    return (unsigned)(parts < 1 ? 1 : parts < most ? parts : most);
}

/* Counts a set: adds to `args->counts`, which are zero. */
typedef enum gi_status count_fn(struct gi_cuda_queue *cu, const struct clahe_args *args, int set,
                                struct gi_err *err);

template <int CHANNELS>
static enum gi_status count_samples(struct gi_cuda_queue *cu, const struct clahe_args *args,
                                    int set, struct gi_err *err)
{
    int blocks;
    GI_CUDA_ALLOW_SHARED(cu, clahe_count8<CHANNELS>);
    GI_CUDA_TRY(cudaOccupancyMaxActiveBlocksPerMultiprocessor(
        &blocks, clahe_count8<CHANNELS>, COUNT_THREADS, COUNT_NBYTES)); /* one wave */
    dim3 grid(tiles_of(args), parts_of(cu, args, blocks));
    clahe_count8<CHANNELS><<<grid, COUNT_THREADS, COUNT_NBYTES, cu->stream>>>(*args, set);
    GI_CUDA_LAUNCHED();
    return GI_OK;
}

static enum gi_status count_bytes(struct gi_cuda_queue *cu, const struct clahe_args *args, int set,
                                  struct gi_err *err)
{
    GI_CUDA_CHANNELS(args->judge.channels, count_samples<CHANNELS>(cu, args, set, err));
}

static enum gi_status count_parts(struct gi_cuda_queue *cu, const struct clahe_args *args, int set,
                                  struct gi_err *err)
{
    int size = part_bins(cu), bin_parts = 65536 / size;
    long long most = (long long)args->shape.x.tile * args->shape.y.tile / PART_PIXELS_MIN;
    long long parts = parts_of(cu, args, 1) / bin_parts;
    parts = parts < most ? parts : most;
    dim3 grid(tiles_of(args), parts > 1 ? (unsigned)parts : 1, (unsigned)bin_parts);
    GI_CUDA_ALLOW_SHARED(cu, clahe_count_part);
    clahe_count_part<<<grid, PART_THREADS, (size_t)(size + 1) * sizeof(unsigned), cu->stream>>>(
        *args, set, (unsigned)size);
    GI_CUDA_LAUNCHED();
    return GI_OK;
}

static enum gi_status count_each(struct gi_cuda_queue *cu, const struct clahe_args *args, int set,
                                 struct gi_err *err)
{
    dim3 grid(tiles_of(args), parts_of(cu, args, EACH_BLOCKS));
    clahe_count_each<<<grid, COUNT_THREADS, 0, cu->stream>>>(*args, set);
    GI_CUDA_LAUNCHED();
    return GI_OK;
}

/* Copies the tables of `spec`, or makes them, one set after the other. T: their entries. */
template <typename T>
static enum gi_status tables(struct gi_cuda_queue *cu, const struct clahe_args *args,
                             const struct gi_clahe *spec, count_fn *count, struct gi_err *err)
{
    size_t nbytes = tiles_of(args) * args->shape.bins * sizeof *args->counts;
    if (spec->tables)
        return gi_cuda_copy_to_device(cu, args->tables, args->tables_nbytes, spec->tables,
                                      args->tables_nbytes, args->tables_nbytes, 1, err);
    for (int set = 0; set < args->sets; set++) {
        GI_CUDA_TRY(cudaMemsetAsync(args->counts, 0, nbytes, cu->stream));
        enum gi_status status = count(cu, args, set, err);
        if (status)
            return status;
        clahe_table<T><<<tiles_of(args), table_block<T>::THREADS, 0, cu->stream>>>(*args, set);
        GI_CUDA_LAUNCHED();
    }
    return GI_OK;
}

/* ---- ways ---- */

static enum gi_status bytes(struct gi_queue *queue, struct gi_image *dst,
                            const struct gi_image *src, const struct gi_clahe *spec,
                            struct gi_err *err)
{
    struct gi_cuda_queue *cu = gi_cuda(queue);
    struct clahe_args args = {};
    enum gi_status status = prepare(cu, &args, dst, src, spec, false, err);
    if (!status)
        status = tables<uint8_t>(cu, &args, spec, count_bytes, err);
    if (status)
        return status;
    int width = LOOK_THREADS * 4 / src->channels - (src->channels == 1 ? 0 : 4);
    struct spans across = spans_of(&args.shape.x, 0, src->width);
    struct spans down = spans_of(&args.shape.y, args.y, src->height);
    auto *kernel = args.sets > 1 ? clahe_look8<true> : clahe_look8<false>;
    kernel<<<dim3(blocks_of(&across, width), blocks_of(&down, LOOK_ROWS)), LOOK_THREADS, 0,
             cu->stream>>>(args, across, down);
    GI_CUDA_LAUNCHED();
    return GI_OK;
}

/* Maps the samples. FOUR: by interleaved tables. */
template <bool FOUR>
static enum gi_status look(struct gi_cuda_queue *cu, const struct clahe_args *args,
                           struct gi_err *err)
{
    int height = args->src.height;
    dim3 grid(ceil_div((long long)gi_row_samples(&args->src), EACH_THREADS),
              (unsigned)(height < 4096 ? height : 4096));
    clahe_each<FOUR><<<grid, EACH_THREADS, 0, cu->stream>>>(*args);
    GI_CUDA_LAUNCHED();
    return GI_OK;
}

/* 16 bits and floats in large tiles, whose counters fit in shared memory. */
static bool is_large(const struct gi_queue *queue, const struct gi_image *src,
                     const struct gi_clahe_shape *shape)
{
    return src->type != GI_U8 && (long long)shape->x.tile * shape->y.tile >= LARGE_MIN_PIXELS &&
           part_bins((const struct gi_cuda_queue *)queue) > 0;
}

static bool packed_takes(const struct gi_queue *queue, const struct gi_image *src,
                         const struct gi_clahe *spec)
{
    struct gi_clahe_shape shape = gi_clahe_shape_of(src, spec);
    /* Blocks of four channels of floats, each with its own tables, store too little of a sector. */
    bool fits = spec->judge || gi_type_nbytes(src->type) * (size_t)src->channels < 16;
    return is_large(queue, src, &shape) && packs(&shape) && fits &&
           (int)sizeof(struct packed) <= ((const struct gi_cuda_queue *)queue)->shared_nbytes;
}

static enum gi_status packed(struct gi_queue *queue, struct gi_image *dst,
                             const struct gi_image *src, const struct gi_clahe *spec,
                             struct gi_err *err)
{
    struct gi_cuda_queue *cu = gi_cuda(queue);
    struct clahe_args args = {};
    enum gi_status status = prepare(cu, &args, dst, src, spec, false, err);
    if (!status)
        status = tables<uint16_t>(cu, &args, spec, count_parts, err);
    if (status)
        return status;
    struct spans across = spans_of(&args.shape.x, 0, args.src.width);
    struct spans down = spans_of(&args.shape.y, args.y, args.src.height);
    int areas = cu->units < args.sets ? 1 : cu->units / args.sets;
    GI_CUDA_ALLOW_SHARED(cu, clahe_packed);
    clahe_packed<<<(unsigned)(areas * args.sets), PACKED_THREADS, sizeof(struct packed),
                   cu->stream>>>(args, across, down);
    GI_CUDA_LAUNCHED();
    return GI_OK;
}

static bool interleaved_takes(const struct gi_queue *queue, const struct gi_image *src,
                              const struct gi_clahe *spec)
{
    struct gi_clahe_shape shape = gi_clahe_shape_of(src, spec);
    size_t sets = spec->judge ? 1 : (size_t)gi_color_channels(src);
    return is_large(queue, src, &shape) &&
           sets * four_of(&shape) * sizeof(ushort4) <= INTERLEAVED_MAX_NBYTES;
}

static enum gi_status interleaved(struct gi_queue *queue, struct gi_image *dst,
                                  const struct gi_image *src, const struct gi_clahe *spec,
                                  struct gi_err *err)
{
    struct gi_cuda_queue *cu = gi_cuda(queue);
    struct clahe_args args = {};
    enum gi_status status = prepare(cu, &args, dst, src, spec, true, err);
    if (!status)
        status = tables<uint16_t>(cu, &args, spec, count_parts, err);
    if (status)
        return status;
    unsigned cells = (unsigned)((args.shape.x.tiles + 1) * (args.shape.y.tiles + 1));
    dim3 grid(args.shape.bins / EACH_THREADS, cells, (unsigned)args.sets);
    clahe_interleave<<<grid, EACH_THREADS, 0, cu->stream>>>(args);
    GI_CUDA_LAUNCHED();
    return look<true>(cu, &args, err);
}

static bool values_takes(const struct gi_queue *queue, const struct gi_image *src,
                         const struct gi_clahe *spec)
{
    return src->type != GI_U8;
}

static enum gi_status values(struct gi_queue *queue, struct gi_image *dst,
                             const struct gi_image *src, const struct gi_clahe *spec,
                             struct gi_err *err)
{
    struct gi_cuda_queue *cu = gi_cuda(queue);
    struct clahe_args args = {};
    enum gi_status status = prepare(cu, &args, dst, src, spec, false, err);
    if (!status)
        status = tables<uint16_t>(cu, &args, spec, count_each, err);
    return status ? status : look<false>(cu, &args, err);
}

static bool bytes_takes(const struct gi_queue *queue, const struct gi_image *src,
                        const struct gi_clahe *spec)
{
    return src->type == GI_U8;
}

/* Times in us on an H100, 16-bit gray in 8 x 8 tiles. 8192 x 8192: packed 324, interleaved 741,
 * values 2622. 3840 x 2160: 120, 184 and 344. 2560 x 1440: 81, 122 and 172. */
const struct gi_clahe_way gi_cuda_clahe_ways[GI_WAYS_MAX] = {
    {{"bytes", "8 bits: counts in shared memory, spans of pixels with the same tables"},
     bytes_takes,
     bytes},
    {{"packed",
      "16 bits and floats, large tiles, low limit: counts in shared memory, the tables of "
      "four neighbouring tiles too, packed as differences"},
     packed_takes,
     packed},
    {{"interleaved", "16 bits and floats, large tiles: counts in shared memory, the tables of four "
                     "neighbouring tiles interleaved"},
     interleaved_takes,
     interleaved},
    {{"values", "16 bits and floats"}, values_takes, values},
};
