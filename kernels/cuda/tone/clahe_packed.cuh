/* CLAHE of 16 bits and floats with a low limit of contrast: the way "packed". A block owns pixels
 * between the same four tiles. Entries of the tables of these tiles grow slowly, because the counts
 * are limited. So the four tables, which have 512 KiB, are packed into 200 KiB of shared memory:
 *
 *   far[v / 64]   4 x 16 bits   entry 64 * (v / 64) of each table            8 KiB
 *   near[v / 4]   4 x 8 bits    entry 4 * (v / 4), minus that of `far`      64 KiB
 *   last[v]       4 x 4 bits    entry v, minus entry 4 * (v / 4)           128 KiB
 *
 * Example: entries 64 and 70 of a table are 190 and 207, and entry 68 is 202. Entry 70 is far[1] +
 * near[17] + last[70] = 190 + 12 + 5.
 *
 * A thread owns a column of samples, whose weights across do not change.
 * SPDX-License-Identifier: MIT */
#ifndef GI_KERNELS_CUDA_CLAHE_PACKED_CUH
#define GI_KERNELS_CUDA_CLAHE_PACKED_CUH

#include "kernels/cuda/tone/clahe_bytes.cuh"
#include "kernels/cuda/tone/clahe_values.cuh"

enum {
    PACKED_THREADS = 1024,
    PACKED_AHEAD = 4, /* rows per thread in flight */
    FAR_STEP = 64,    /* values per entry of `far` */
    NEAR_STEP = 4,    /* values per entry of `near` */
    NEAR_MOST = 255,
    LAST_MOST = 15,
};

struct packed {
    uint2 far[65536 / FAR_STEP];
    unsigned near[65536 / NEAR_STEP];
    uint16_t last[65536];
};

/* Returns whether all tables of this shape can be packed. From one
 * value to the next, an entry of a table grows by less than `steepest`: by the clipped count of the
 * value, its equal share of the clipped samples, and one more where the share leaves a remainder.
 * Rounding adds less than 2. */
static bool packs(const struct gi_clahe_shape *shape)
{
    double total = (double)shape->x.tile * shape->y.tile;
    double steepest = ((double)shape->limit + total / shape->bins + 1) * (double)shape->scale;
    return (FAR_STEP - NEAR_STEP) * steepest + 2 <= NEAR_MOST &&
           (NEAR_STEP - 1) * steepest + 2 <= LAST_MOST;
}

/* Packs the tables of the tiles around (tx, ty). A thread packs NEAR_STEP entries of each table at
 * a time, and the 16 threads that share an entry of `far` are in one warp. */
static __device__ void tables_pack(struct packed *packed, const struct clahe_args &args, int set,
                                   int tx, int ty)
{
    const struct gi_clahe_side &sx = args.shape.x, &sy = args.shape.y;
    enum { LANES = FAR_STEP / NEAR_STEP, GROUPS = 65536 / NEAR_STEP };
    const ushort4 *tables =
        (const ushort4 *)args.tables + (size_t)set * sx.tiles * sy.tiles * GROUPS;
    const ushort4 *from[4];
#pragma unroll
    for (int k = 0; k < 4; k++)
        from[k] = tables + ((size_t)gi_clahe_nearest(&sy, ty + k / 2) * sx.tiles +
                            gi_clahe_nearest(&sx, tx + k % 2)) *
                               GROUPS;
#pragma unroll 2
    for (unsigned i = threadIdx.x; i < GROUPS; i += PACKED_THREADS) {
        unsigned first[4], near = 0, last[NEAR_STEP] = {};
        const int shifts[4] = {0, 8, 4, 12}; /* of tables, in `last`: entry_of() spreads them */
#pragma unroll
        for (int k = 0; k < 4; k++) {
            ushort4 entries = from[k][i];
            first[k] = __shfl_sync(~0u, (unsigned)entries.x, 0, LANES);
            near |= (entries.x - first[k]) << 8 * k;
            last[1] |= (unsigned)(entries.y - entries.x) << shifts[k];
            last[2] |= (unsigned)(entries.z - entries.x) << shifts[k];
            last[3] |= (unsigned)(entries.w - entries.x) << shifts[k];
        }
        packed->near[i] = near;
        ((uint2 *)packed->last)[i] = make_uint2(last[1] << 16, last[2] | last[3] << 16);
        if (i % LANES == 0)
            packed->far[i / LANES] =
                make_uint2(first[0] | first[1] << 16, first[2] | first[3] << 16);
    }
}

/* Returns entry v of the upper two tables in .x and of the lower two in .y, 16 bits each. */
static __device__ __forceinline__ uint2 packed_entry(const struct packed *packed, unsigned v)
{
    uint2 far = packed->far[v / FAR_STEP];
    unsigned near = packed->near[v / NEAR_STEP];
    unsigned last = __byte_perm(packed->last[v], 0, 0x4140);
    return make_uint2(far.x + __byte_perm(near, 0, 0x4140) + (last & 0x000f000f),
                      far.y + __byte_perm(near, 0, 0x4342) + (last >> 4 & 0x000f000f));
}

/* Returns 2^23 + half I of `pair` as a float. */
template <int I> static __device__ __forceinline__ float half_float(unsigned pair)
{
    return __uint_as_float(__byte_perm(pair, 0x4b000000u, I ? 0x7432 : 0x7410));
}

/* The weights of the tiles before and after a column of samples, each with the term -2^23 * weight.
 * fmaf(2^23 + entry, weight, term) is then entry * weight, rounded once. */
struct column {
    float before, after, before_bulk, after_bulk;
};

static __device__ __forceinline__ float column_between(const struct column &column, unsigned pair)
{
    return __fadd_rn(__fmaf_rn(half_float<0>(pair), column.before, column.before_bulk),
                     __fmaf_rn(half_float<1>(pair), column.after, column.after_bulk));
}

/* The pixels of a block that are between the same tiles. */
struct cell {
    int tx, ty, x0, x1, y0, y1;
};

/* Finds the first of the pixels from `p` on that are between the same tiles, of all pixels of
 * `src` before `end`, and advances *p to the pixels after these. Pixels are counted row after row
 * of tiles; there column after column, and there row after row of pixels. */
static __device__ struct cell cell_next(const struct clahe_args &args, const struct spans &across,
                                        const struct spans &down, long long *p, long long end)
{
    struct cell c;
    float weight;
    long long width = args.src.width;
    c.ty = gi_clahe_tile(&args.shape.y, (int)(*p / width) + args.y, &weight);
    int top = down.starts[c.ty + 1], height = down.starts[c.ty + 2] - top;
    long long before = width * top;
    c.tx = gi_clahe_tile(&args.shape.x, (int)((*p - before) / height), &weight);
    c.x0 = across.starts[c.tx + 1];
    c.x1 = across.starts[c.tx + 2];
    before += (long long)c.x0 * height;
    long long pixels = (long long)(c.x1 - c.x0) * height;
    c.y0 = top + (int)((*p - before) / (c.x1 - c.x0));
    c.y1 = top + (int)(min(pixels, end - before) / (c.x1 - c.x0));
    *p = min(before + pixels, end);
    return c;
}

/* Maps a sample of each of ROWS rows, which are `step` apart. *in and *out are the samples of row
 * *y; they and *y advance. */
template <int ROWS, typename T>
static __device__ __forceinline__ void
rows_map(const struct packed *packed, const struct clahe_args &args, const struct column &column,
         const char **in, char **out, int *y, int step)
{
    T v[ROWS];
#pragma unroll
    for (int k = 0; k < ROWS; k++, *in += step * args.src.stride)
        v[k] = *(const T *)*in;
#pragma unroll
    for (int k = 0; k < ROWS; k++, *y += step, *out += step * args.dst.stride) {
        float b;
        gi_clahe_tile(&args.shape.y, *y + args.y, &b);
        uint2 e = packed_entry(packed, value_of(v[k]));
        float f = __fadd_rn(__fmul_rn(column_between(column, e.x), __fsub_rn(1.0f, b)),
                            __fmul_rn(column_between(column, e.y), b));
        *(T *)*out = stored(f, v[k]);
    }
}

/* Copies samples `i` of every `step`th row from y to y1 - 1. */
static __device__ void column_copy(const struct clahe_args &args, int i, int y, int y1, int step)
{
    for (; y < y1; y += step) {
        const char *in = (const char *)args.src.data + (size_t)y * args.src.stride;
        char *out = (char *)args.dst.data + (size_t)y * args.dst.stride;
        if (args.src.type == GI_U16)
            ((uint16_t *)out)[i] = ((const uint16_t *)in)[i];
        else
            ((uint32_t *)out)[i] = ((const uint32_t *)in)[i];
    }
}

/* Maps samples `i` of every `step`th row from y to y1 - 1. */
template <typename T>
static __device__ void column_map(const struct packed *packed, const struct clahe_args &args, int i,
                                  int y, int y1, int step)
{
    struct column column;
    gi_clahe_tile(&args.shape.x, i / args.src.channels, &column.after);
    column.before = __fsub_rn(1.0f, column.after);
    column.before_bulk = __fmul_rn(column.before, -8388608.0f);
    column.after_bulk = __fmul_rn(column.after, -8388608.0f);
    const char *in = (const char *)((const T *)args.src.data + i) + (size_t)y * args.src.stride;
    char *out = (char *)((T *)args.dst.data + i) + (size_t)y * args.dst.stride;
    while (y + (PACKED_AHEAD - 1) * step < y1)
        rows_map<PACKED_AHEAD, T>(packed, args, column, &in, &out, &y, step);
    while (y < y1)
        rows_map<1, T>(packed, args, column, &in, &out, &y, step);
}

/* Block i maps the samples of set i % args.sets. If there are several sets, these are the samples
 * of a channel, blocks of all sets work on the same pixels at about the same time, and each copies
 * a part of alpha. */
static __global__ void __launch_bounds__(PACKED_THREADS)
    clahe_packed(const __grid_constant__ struct clahe_args args,
                 const __grid_constant__ struct spans across,
                 const __grid_constant__ struct spans down)
{
    extern __shared__ __align__(16) char shared[];
    struct packed *packed = (struct packed *)shared;
    int channels = args.src.channels, colors = channels - (channels % 2 == 0);
    int sets = args.sets, set = (int)blockIdx.x % sets;
    /* Channels that this block maps: the first, and how many. */
    int first = sets > 1 ? set : 0, n = sets == 1 ? channels : 1;
    long long pixels = (long long)args.src.width * args.src.height, areas = gridDim.x / sets;
    long long area = blockIdx.x / sets, p = pixels * area / areas,
              end = pixels * (area + 1) / areas;
    while (p < end) {
        struct cell c = cell_next(args, across, down, &p, end);
        __syncthreads();
        tables_pack(packed, args, set, c.tx, c.ty);
        __syncthreads();
        int columns = (c.x1 - c.x0) * n, wide = min(columns, (int)PACKED_THREADS);
        int rows = PACKED_THREADS / wide, y = c.y0 + (int)threadIdx.x / wide;
        if ((int)threadIdx.x >= rows * wide)
            continue;
        for (int k = (int)threadIdx.x % wide; k < columns; k += wide) {
            int i = (c.x0 + k / n) * channels + first + k % n;
            bool u16 = args.src.type == GI_U16, alpha = i % channels >= colors;
            if (!alpha && u16)
                column_map<uint16_t>(packed, args, i, y, c.y1, rows);
            else if (!alpha)
                column_map<float>(packed, args, i, y, c.y1, rows);
            else
                column_copy(args, i, y, c.y1, rows);
            if (sets > 1 && colors < channels) /* some rows of alpha */
                column_copy(args, i - set + colors, y + set * rows, c.y1, sets * rows);
        }
    }
}

#endif
