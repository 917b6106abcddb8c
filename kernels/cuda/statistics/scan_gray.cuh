/* Prefix sums of gray bytes, for scan.cu: the same division of the work, but a lane owns 16
 * neighbouring pixels, so that a row of a tile is scanned over the warp once, and dot products of
 * bytes make its sums.
 *
 * A warp owns a tile, GRAY_TILE pixels wide and `band` rows high.
 *
 *     1. gray_look: sums of each column of a tile, of each row, and of the tile, from the last row
 *        to the first: rows that are read last are the first that gray_make reads, from the L2
 * cache
 *     2. gray_tiles: exclusive prefix sums of columns over bands, of rows over strips, of tiles
 * over both
 *     3. gray_make: result = above + before + v
 *
 * In gray_make a lane sums up its 16 pixels from the sum of all lanes to the left (Hillis-Steele)
 * and exchanges the sums through shared memory, after which it has 2 pixels of each of GRAY_PARTS
 * parts of a row and whose stores are coalesced. `above` are results in the row above, of these
 * pixels. Quads of sums are permuted within 8, so that there are no bank conflicts.
 * SPDX-License-Identifier: MIT */
#ifndef GI_KERNELS_CUDA_SCAN_GRAY_CUH
#define GI_KERNELS_CUDA_SCAN_GRAY_CUH

#include "kernels/cuda/common/prefix.cuh"
#include "kernels/cuda/common/strips_words.cuh"
#include "kernels/statistics.h"

enum {
    GRAY_TILE = 512,
    GRAY_PARTS = GRAY_TILE / 64,
    GRAY_WARPS = 4,   /* per block: tiles side by side */
    GRAY_BLOCKS = 4,  /* per multiprocessor: both passes run in one wave */
    GRAY_ROWS = 4,    /* per step of gray_look */
    GRAY_GROUPS = 16, /* of bands that threads of gray_tiles add up */
};

struct gray_args {
    struct source src;
    struct target dst;
    bool squares, across, down;
    int words;
    int band, strips, bands;
    unsigned *sums;              /* of the columns of each band; a row is `strips` tiles wide */
    unsigned long long *columns; /* of the columns of all bands above */
    unsigned long long *rows; /* per row and strip: its sum; later that of all strips to the left */
    unsigned long long *tiles; /* per band and strip: its sum; later that of all above and left */
};

/* The tile of a warp. */
struct gray_tile {
    int strip, y0, y1;
};

static __device__ __forceinline__ bool gray_tile_of(const struct gray_args *args,
                                                    struct gray_tile *tile)
{
    tile->strip = (int)blockIdx.x * GRAY_WARPS + (int)threadIdx.x / 32;
    tile->y0 = (int)blockIdx.y * args->band;
    tile->y1 = min(tile->y0 + args->band, args->src.height);
    return tile->strip < args->strips;
}

/* Returns a lane's pixels of row y. Those past the end of the row are read from its padding: their
 * sums are not used. */
static __device__ __forceinline__ uint4 gray_load(const struct gray_args *args,
                                                  const struct gray_tile *tile, int y)
{
    return *(const uint4 *)(args->src.data + (size_t)(unsigned)y * args->src.stride +
                            tile->strip * GRAY_TILE + (int)threadIdx.x % 32 * 16);
}

/* Returns the factors of the bytes of a word. */
static __device__ __forceinline__ unsigned gray_factors(const struct gray_args *args, unsigned word)
{
    return args->squares ? word : 0x01010101;
}

/* Returns the sum of a lane's pixels. */
static __device__ __forceinline__ unsigned gray_sum(const struct gray_args *args, uint4 v)
{
    unsigned sum = dot4_unsigned(v.x, gray_factors(args, v.x), 0);
    sum = dot4_unsigned(v.y, gray_factors(args, v.y), sum);
    sum = dot4_unsigned(v.z, gray_factors(args, v.z), sum);
    return dot4_unsigned(v.w, gray_factors(args, v.w), sum);
}

/* Returns the sum over the warp of v[i], where i is the lane modulo 4. */
static __device__ __forceinline__ unsigned lanes_sum(const unsigned (&v)[GRAY_ROWS])
{
    unsigned lane = threadIdx.x;
    unsigned a = lane & 1 ? v[1] : v[0], b = lane & 1 ? v[3] : v[2];
    a += __shfl_xor_sync(ALL_LANES, lane & 1 ? v[0] : v[1], 1);
    b += __shfl_xor_sync(ALL_LANES, lane & 1 ? v[2] : v[3], 1);
    unsigned sum = lane & 2 ? b : a;
    sum += __shfl_xor_sync(ALL_LANES, lane & 2 ? a : b, 2);
#pragma unroll
    for (int d = 4; d < 32; d *= 2)
        sum += __shfl_xor_sync(ALL_LANES, sum, d);
    return sum;
}

static __device__ __forceinline__ void gray_rows_load(uint4 *rows, const struct gray_args *args,
                                                      const struct gray_tile *tile, int y)
{
#pragma unroll
    for (int i = 0; i < GRAY_ROWS; i++)
        rows[i] = y + i >= tile->y0 ? gray_load(args, tile, y + i) : make_uint4(0, 0, 0, 0);
}

static __global__ void __launch_bounds__(32 * GRAY_WARPS)
    gray_look(const __grid_constant__ struct gray_args args)
{
    struct gray_tile tile;
    if (!gray_tile_of(&args, &tile))
        return;
    int lane = (int)threadIdx.x % 32;
    unsigned columns[16] = {};
    unsigned long long total = 0;
    uint4 next[GRAY_ROWS];
    gray_rows_load(next, &args, &tile, tile.y1 - GRAY_ROWS);
    for (int y = tile.y1 - GRAY_ROWS; y > tile.y0 - GRAY_ROWS; y -= GRAY_ROWS) {
        uint4 rows[GRAY_ROWS];
        unsigned along[GRAY_ROWS];
#pragma unroll
        for (int i = 0; i < GRAY_ROWS; i++)
            rows[i] = next[i];
        gray_rows_load(next, &args, &tile, y - GRAY_ROWS);
#pragma unroll
        for (int w = 0; w < 4; w++) {
            unsigned bytes[4], of[GRAY_ROWS];
#pragma unroll
            for (int i = 0; i < GRAY_ROWS; i++)
                of[i] = w == 0 ? rows[i].x : w == 1 ? rows[i].y : w == 2 ? rows[i].z : rows[i].w;
            bytes_transpose(bytes, of[0], of[1], of[2], of[3]);
#pragma unroll
            for (int i = 0; i < 4; i++)
                columns[4 * w + i] =
                    dot4_unsigned(bytes[i], gray_factors(&args, bytes[i]), columns[4 * w + i]);
        }
        if (!args.across)
            continue;
#pragma unroll
        for (int i = 0; i < GRAY_ROWS; i++)
            along[i] = gray_sum(&args, rows[i]);
        unsigned sum = lanes_sum(along);
        total += sum;
        if (lane < GRAY_ROWS && y + lane >= tile.y0)
            args.rows[(size_t)(y + lane) * args.strips + tile.strip] = sum;
    }
    if (args.across) {
        total += __shfl_xor_sync(ALL_LANES, total, 1);
        total += __shfl_xor_sync(ALL_LANES, total, 2);
        if (lane == 0)
            args.tiles[blockIdx.y * args.strips + tile.strip] = total;
    }
    uint4 *out = (uint4 *)(args.sums + ((size_t)blockIdx.y * args.strips + tile.strip) * GRAY_TILE +
                           16 * lane);
#pragma unroll
    for (int w = 0; w < 4; w++)
        out[w] =
            make_uint4(columns[4 * w], columns[4 * w + 1], columns[4 * w + 2], columns[4 * w + 3]);
}

/* Exclusive prefix sums of columns over bands. A warp adds up a group of bands of 32 columns. */
static __device__ void gray_columns(const struct gray_args *args, int column)
{
    __shared__ unsigned long long groups[GRAY_GROUPS][32];
    int lane = (int)threadIdx.x % 32, group = (int)threadIdx.x / 32;
    int each = (args->bands + GRAY_GROUPS - 1) / GRAY_GROUPS;
    int first = min(group * each, args->bands), end = min(first + each, args->bands);
    size_t pitch = (size_t)args->strips * GRAY_TILE;
    const unsigned *sums = args->sums + column + lane;
    unsigned long long sum = 0, *out = args->columns + column + lane;
#pragma unroll 8
    for (int band = first; band < end; band++)
        sum += sums[band * pitch];
    groups[group][lane] = sum;
    __syncthreads();
    sum = 0;
    for (int i = 0; i < group; i++)
        sum += groups[i][lane];
#pragma unroll 8
    for (int band = first; band < end; band++) {
        out[band * pitch] = sum;
        sum += sums[band * pitch];
    }
}

/* Exclusive prefix sums of row `row` over strips. */
static __device__ void gray_strips(unsigned long long *row, int strips)
{
    unsigned long long sum = 0;
#pragma unroll 4
    for (int i = 0; i < strips; i++) {
        unsigned long long own = row[i];
        row[i] = sum;
        sum += own;
    }
}

/* The first blocks: columns. Then one block: tiles. Then rows, one per thread. */
static __global__ void __launch_bounds__(32 * GRAY_GROUPS)
    gray_tiles(const __grid_constant__ struct gray_args args, int blocks)
{
    int block = (int)blockIdx.x, lane = (int)threadIdx.x % 32;
    if (block < blocks) {
        gray_columns(&args, block * 32);
    } else if (block > blocks) {
        int y = (block - blocks - 1) * 32 * GRAY_GROUPS + (int)threadIdx.x;
        if (y < args.src.height)
            gray_strips(args.rows + (size_t)y * args.strips, args.strips);
    } else {
        for (int band = (int)threadIdx.x; band < args.bands; band += 32 * GRAY_GROUPS)
            gray_strips(args.tiles + (size_t)band * args.strips, args.strips);
        __syncthreads();
        for (int strip = (int)threadIdx.x / 32; strip < args.strips; strip += GRAY_GROUPS) {
            unsigned long long sum = 0, all;
#pragma unroll 4
            for (int band = lane; band - lane < args.bands; band += 32) {
                unsigned long long *at = args.tiles + (size_t)band * args.strips + strip;
                unsigned long long own = band < args.bands ? *at : 0;
                unsigned long long before = warp_before(own, &all);
                if (band < args.bands)
                    *at = sum + before;
                sum += all;
            }
        }
    }
}

/* Returns where quad i of a row of sums is. */
static __device__ __forceinline__ int gray_quad(int i)
{
    return i ^ (i >> 3 & 3);
}

/* Stores a lane's sums of a part, from pixel x on, that are not whole tiles of 64-bit sums. */
static __device__ __forceinline__ void gray_store(const struct gray_args *args, char *row, int x,
                                                  const unsigned long long *v)
{
#pragma unroll
    for (int i = 0; i < 2; i++)
        if (x + i < args->src.width && args->words == 2)
            ((unsigned long long *)row)[x + i] = v[i];
        else if (x + i < args->src.width)
            ((unsigned *)row)[x + i] = (unsigned)v[i];
}

/* Loads the results of the row above the tile. */
static __device__ __forceinline__ void gray_begin(unsigned long long (*above)[2],
                                                  const struct gray_args *args,
                                                  const struct gray_tile *tile)
{
    int lane = (int)threadIdx.x % 32;
    size_t at = ((size_t)blockIdx.y * args->strips + tile->strip) * GRAY_TILE + 2 * lane;
    unsigned long long left =
        args->across && args->down ? args->tiles[blockIdx.y * args->strips + tile->strip] : 0;
#pragma unroll
    for (int p = 0; p < GRAY_PARTS; p++) {
        ulonglong2 own =
            args->down ? *(const ulonglong2 *)(args->columns + at + 64 * p) : make_ulonglong2(0, 0);
        unsigned long long all = 0, before = 0;
        if (args->across) {
            before = left + warp_before(own.x + own.y, &all);
            left += all;
            own.y += own.x;
        }
        above[p][0] = before + own.x;
        above[p][1] = before + own.y;
    }
}

static __global__ void __launch_bounds__(32 * GRAY_WARPS)
    gray_make(const __grid_constant__ struct gray_args args)
{
    __shared__ uint4 quads[GRAY_WARPS][2][GRAY_TILE / 4];
    struct gray_tile tile;
    if (!gray_tile_of(&args, &tile))
        return;
    int lane = (int)threadIdx.x % 32, x = tile.strip * GRAY_TILE + 2 * lane;
    bool across = args.across, down = args.down;
    bool whole = args.words == 2 && (tile.strip + 1) * GRAY_TILE <= args.src.width;
    unsigned long long above[GRAY_PARTS][2];
    gray_begin(above, &args, &tile);
    uint4 *line = quads[threadIdx.x / 32][0];
    const unsigned long long *rows = args.rows + (size_t)tile.y0 * args.strips + tile.strip;
    char *out = args.dst.data + (size_t)tile.y0 * args.dst.stride;
    uint4 next = gray_load(&args, &tile, tile.y0);
    unsigned long long next_before = across ? *rows : 0;
    for (int y = tile.y0; y < tile.y1; y++, out += args.dst.stride) {
        /* Load the next row. */
        unsigned words[4] = {next.x, next.y, next.z, next.w};
        unsigned long long before = next_before;
        unsigned base = across ? gray_sum(&args, next) : 0, own = base;
        if (y + 1 < tile.y1) {
            rows += args.strips;
            next = gray_load(&args, &tile, y + 1);
            next_before = across ? *rows : 0;
        }
        /* Prefix sums over the warp, and in the lane. Exchange. */
        if (across)
#pragma unroll
            for (int d = 1; d < 32; d *= 2) {
                unsigned other = __shfl_up_sync(ALL_LANES, base, d);
                base += lane >= d ? other : 0;
            }
        base -= own;
#pragma unroll
        for (int w = 0; w < 4; w++) {
            unsigned factors = gray_factors(&args, words[w]), v[4];
#pragma unroll
            for (int i = 0; i < 4; i++) {
                unsigned mask = across ? ~0u >> (24 - 8 * i) : 255u << 8 * i;
                v[i] = dot4_unsigned(words[w], factors & mask, base);
            }
            base = across ? v[3] : 0;
            line[gray_quad(4 * lane + w)] = make_uint4(v[0], v[1], v[2], v[3]);
        }
        __syncwarp();
        /* Compute. Store. */
        if (!down)
#pragma unroll
            for (int p = 0; p < GRAY_PARTS; p++)
                above[p][0] = above[p][1] = 0;
#pragma unroll
        for (int p = 0; p < GRAY_PARTS; p++) {
            uint2 v = ((const uint2 *)(line + gray_quad(16 * p + lane / 2)))[lane % 2];
            above[p][0] += before + v.x;
            above[p][1] += before + v.y;
        }
        if (whole)
#pragma unroll
            for (int p = 0; p < GRAY_PARTS; p++)
                *((ulonglong2 *)((unsigned long long *)out + x) + 32 * p) =
                    make_ulonglong2(above[p][0], above[p][1]);
        else
#pragma unroll
            for (int p = 0; p < GRAY_PARTS; p++)
                gray_store(&args, out, x + 64 * p, above[p]);
        line = y - tile.y0 & 1 ? line - GRAY_TILE / 4 : line + GRAY_TILE / 4;
    }
}

static inline enum gi_status gray_launch(struct gi_cuda_queue *cu, struct gray_args *args,
                                         struct gi_err *err)
{
    const struct source *src = &args->src;
    args->strips = ceil_div(src->width, GRAY_TILE);
    int across = ceil_div(args->strips, GRAY_WARPS);
    int bands = ceil_div((long long)GRAY_BLOCKS * cu->units, across); /* about one wave */
    args->band = ceil_div(src->height, bands);
    args->band = args->band < 32 ? 32 : args->band > 65536 ? 65536 : args->band;
    args->bands = ceil_div(src->height, args->band);
    size_t ntiles = (size_t)args->bands * args->strips, ncolumns = ntiles * GRAY_TILE;
    size_t nrows = (size_t)src->height * args->strips;
    void *scratch;
    enum gi_status status = gi_cuda_scratch(
        cu, &scratch, ncolumns * 12 + (nrows + ntiles) * sizeof(unsigned long long), err);
    if (status)
        return status;
    args->columns = (unsigned long long *)scratch;
    args->sums = (unsigned *)(args->columns + ncolumns);
    args->rows = (unsigned long long *)(args->sums + ncolumns);
    args->tiles = args->rows + nrows;
    dim3 tiles(across, args->bands);
    gray_look<<<tiles, 32 * GRAY_WARPS, 0, cu->stream>>>(*args);
    GI_CUDA_LAUNCHED();
    int blocks = args->down ? args->strips * (GRAY_TILE / 32) : 0;
    int rows = args->across ? 1 + ceil_div(src->height, 32 * GRAY_GROUPS) : 0;
    gray_tiles<<<blocks + rows, 32 * GRAY_GROUPS, 0, cu->stream>>>(*args, blocks);
    GI_CUDA_LAUNCHED();
    gray_make<<<tiles, 32 * GRAY_WARPS, 0, cu->stream>>>(*args);
    GI_CUDA_LAUNCHED();
    return GI_OK;
}

#endif
