/* Exact distance transform. Sites are packed as bits, 32 rows of a column per word, from which the
 * distance to the nearest site in a column follows by counting zeros. In a row the columns around a
 * pixel are then searched outward, until no farther column can be nearer. Rows with a pixel whose
 * search reaches REACH columns are computed again by a search for the nearest column of each pixel
 * that uses that this column never decreases from left to right.
 *
 *    word: 32 rows x 1 column       1. distance_pack: the sites as bits
 *    +-+-+-+-+-+-+-+                2. distance_scan: per word, the nearest sites above and below
 *    | | | | | | | | words 0        3. distance_near: searches of at most REACH columns, in tiles
 *    | | | | | | | |                   of 256 columns x 4 rows with a halo in shared memory
 *    +-+-+-+-+-+-+-+                4. distance_far: the other rows, a block per row, by bisection:
 *    | | | | | | | | words 1           a warp per pixel searches between the columns that are
 *    +-+-+-+-+-+-+-+                   nearest to its neighbours of the last level
 *
 * Example of step 4: in a row of 7 pixels the first level searches all columns for pixel 3; if the
 * nearest is column 5, the second level searches columns 0 to 5 for pixel 1 and 5 to 6 for pixel 5.
 * SPDX-License-Identifier: MIT */
#include "kernels/cuda/common/sample.cuh"
#include "kernels/regions.h"

enum {
    PACK_THREADS = 256,
    NEAR_THREADS = 256, /* columns of a tile */
    NEAR_ROWS = 4,      /* of a tile; divides 32 */
    REACH = 128,        /* columns */
    NEAR_WIDTH = NEAR_THREADS + 2 * REACH,
    FAR_THREADS = 256,
    FAR_BLOCKS = 8,         /* per multiprocessor */
    GRID_ROWS = 16384,      /* of a grid */
    NO_SITE = 1 << 28,      /* an offset of this amount or more says that the column has no site */
    NEAR_FAR = 0x3fff,      /* the same for offsets of 16 bits, which are limited to this amount */
    FAR_NBYTES = 256 << 20, /* limit of the memory for the rows of distance_far() */
};

/* The sites of the image: width x words of each array. */
struct sites {
    uint32_t *bits; /* bit i: row 32 * word + i has a site */
    int32_t *above; /* row of the last site above the word, or -NO_SITE */
    int32_t *below; /* row of the first site below the word, or 2 * NO_SITE */
    uint8_t *far;   /* per row: 1 if a search has not ended within REACH columns */
    int32_t *rows;  /* two rows per block of distance_far() */
    int width, height, words;
};

struct distance_args {
    struct gi_image dst, src;
    struct gi_distance spec;
    struct sites sites;
};

/* ---- columns ---- */

template <typename T>
static __device__ __forceinline__ void words_pack(const struct distance_args &args, int x)
{
    const struct gi_image &src = args.src;
    const T *column = (const T *)src.data + x;
    for (int word = (int)blockIdx.y; word < args.sites.words; word += (int)gridDim.y) {
        uint32_t bits = 0;
#pragma unroll 8
        for (int i = 0; i < 32; i++) {
            int y = 32 * word + i;
            if (y >= src.height)
                break;
            T v = *(const T *)((const char *)column + (size_t)y * src.stride);
            bool site = ((float)v > args.spec.above) != args.spec.invert;
            bits |= (uint32_t)site << i;
        }
        args.sites.bits[(size_t)word * src.width + x] = bits;
    }
}

/* Each thread packs 32 rows of a column. */
static __global__ void __launch_bounds__(PACK_THREADS)
    distance_pack(const __grid_constant__ struct distance_args args)
{
    int x = (int)(blockIdx.x * PACK_THREADS + threadIdx.x);
    if (x < args.src.width)
        SAMPLE_TYPES(args.src.type, words_pack<T>(args, x));
}

/* Each thread scans the words of a column, down and up. */
static __global__ void __launch_bounds__(PACK_THREADS) distance_scan(struct sites s)
{
    int x = (int)(blockIdx.x * PACK_THREADS + threadIdx.x);
    int last = -NO_SITE, next = 2 * NO_SITE;
    if (x >= s.width)
        return;
#pragma unroll 8
    for (int word = 0; word < s.words; word++) {
        size_t at = (size_t)word * s.width + x;
        uint32_t bits = s.bits[at];
        s.above[at] = last;
        last = bits ? 32 * word + 31 - __clz((int)bits) : last;
    }
#pragma unroll 8
    for (int word = s.words - 1; word >= 0; word--) {
        size_t at = (size_t)word * s.width + x;
        uint32_t bits = s.bits[at];
        s.below[at] = next;
        next = bits ? 32 * word + __ffs((int)bits) - 1 : next;
    }
}

/* Returns the rows from row y of the word down to the nearest site in its column, which is negative
 * for a site above. If two sites are equally near it is the upper one. */
static __device__ __forceinline__ int offset_in(uint32_t bits, int above, int below, int y)
{
    uint32_t upper = bits & (0xffffffffu >> (31 - y % 32)), lower = bits & ~upper;
    int first = y - y % 32;
    int up = y - (upper ? first + 31 - __clz((int)upper) : above);
    int down = (lower ? first + __ffs((int)lower) - 1 : below) - y;
    return up <= down ? -up : down;
}

/* ---- results ---- */

/* Stores the result of pixel (x, y), whose nearest site is `offset` rows below in column `column`,
 * or -1 if there is none. */
static __device__ __forceinline__ void result_store(const struct distance_args &args, int x, int y,
                                                    int column, int offset)
{
    enum gi_distance_kind kind = args.spec.kind;
    char *row = (char *)args.dst.data + (size_t)y * args.dst.stride;
    int64_t cost = gi_distance_cost(kind, x - column, offset);
    if (kind == GI_DISTANCE_PLACE) {
        ((float *)row)[2 * (size_t)x] = (float)column;
        ((float *)row)[2 * (size_t)x + 1] = column < 0 ? -1.0f : (float)(y + offset);
    } else if (kind == GI_DISTANCE_SAMPLE) {
        bool near = column >= 0 && cost <= args.spec.within;
        const char *from =
            (const char *)args.src.data + (near ? (size_t)(y + offset) * args.src.stride : 0);
        SAMPLE_TYPES(args.src.type, ((T *)row)[x] = near ? ((const T *)from)[column] : (T)0);
    } else {
        float v = column < 0                      ? INFINITY
                  : kind != GI_DISTANCE_EUCLIDEAN ? __ll2float_rn(cost)
                  : cost <= 1 << 24               ? __fsqrt_rn((float)cost)
                                                  : (float)__dsqrt_rn((double)cost);
        SAMPLE_TYPES(args.dst.type, sample_store((T *)row + x, v));
    }
}

/* ---- near sites ---- */

/* Returns the distance as gi_distance_cost() does, in 32 bits. */
static __device__ __forceinline__ int cost_near(enum gi_distance_kind kind, int dx, int dy)
{
    return kind == GI_DISTANCE_CITY_BLOCK   ? dx + abs(dy)
           : kind == GI_DISTANCE_CHESSBOARD ? max(dx, abs(dy))
                                            : dx * dx + dy * dy;
}

/* Searches the columns outward from a pixel. offsets[k] is the offset in the column k to the right.
 * *column becomes the number of columns to the nearest site. Returns false if columns beyond REACH
 * may be nearer. */
static __device__ __forceinline__ bool search_near(int *column, const int16_t *offsets,
                                                   enum gi_distance_kind kind)
{
    int best = cost_near(kind, 0, offsets[0]), k = 1;
    *column = 0;
    for (; k <= REACH && cost_near(kind, k, 0) <= best; k++) {
        int left = cost_near(kind, k, offsets[-k]), right = cost_near(kind, k, offsets[k]);
        *column = left <= best ? -k : *column; /* in a tie the column on the left */
        best = min(best, left);
        *column = right < best ? k : *column;
        best = min(best, right);
    }
    return cost_near(kind, k, 0) > best;
}

static __global__ void __launch_bounds__(NEAR_THREADS)
    distance_near(const __grid_constant__ struct distance_args args)
{
    __shared__ int16_t offsets[NEAR_ROWS][NEAR_WIDTH];
    const struct sites &s = args.sites;
    int x0 = (int)(blockIdx.x * NEAR_THREADS), x = x0 + (int)threadIdx.x;
    for (int y0 = (int)blockIdx.y * NEAR_ROWS; y0 < s.height; y0 += (int)gridDim.y * NEAR_ROWS) {
        for (int i = (int)threadIdx.x; i < NEAR_WIDTH; i += NEAR_THREADS) {
            int column = x0 + i - REACH;
            bool inside = column >= 0 && column < s.width;
            size_t at = (size_t)(y0 / 32) * s.width + (inside ? column : 0);
            uint32_t bits = s.bits[at];
            int above = s.above[at], below = s.below[at];
#pragma unroll
            for (int r = 0; r < NEAR_ROWS; r++) {
                int offset = inside ? offset_in(bits, above, below, y0 + r) : NEAR_FAR;
                offsets[r][i] = (int16_t)min(max(offset, -NEAR_FAR), NEAR_FAR);
            }
        }
        __syncthreads();
        for (int r = 0; r < NEAR_ROWS && x < s.width && y0 + r < s.height; r++) {
            const int16_t *own = &offsets[r][threadIdx.x + REACH];
            int column;
            if (search_near(&column, own, args.spec.kind))
                result_store(args, x, y0 + r, x + column, own[column]);
            else
                s.far[y0 + r] = 1;
        }
        __syncthreads();
    }
}

/* ---- other rows ---- */

/* The warp returns the column from `lo` to `hi` that is nearest to pixel x, or -1 if these columns
 * have no site; in a tie the leftmost. */
static __device__ __forceinline__ int search_far(const int32_t *offsets, int x, int lo, int hi,
                                                 enum gi_distance_kind kind)
{
    int64_t best = INT64_MAX;
    int column = -1;
#pragma unroll 4
    for (int i = lo + (int)(threadIdx.x % 32); i <= hi; i += 32) {
        int offset = offsets[i];
        int64_t cost = gi_distance_cost(kind, x - i, offset);
        bool nearer = abs(offset) < NO_SITE && cost < best;
        best = nearer ? cost : best;
        column = nearer ? i : column;
    }
    for (int d = 16; d > 0; d /= 2) {
        int64_t other = __shfl_xor_sync(~0u, best, d);
        int other_column = __shfl_xor_sync(~0u, column, d);
        bool takes = other < best || (other == best && other_column < column);
        best = takes ? other : best;
        column = takes ? other_column : column;
    }
    return column;
}

/* Fills nearest[x] for all pixels of a row, by bisection: the pixels of a level are in the middle
 * between those of earlier levels. */
static __device__ __forceinline__ void bisect_row(int32_t *nearest, const int32_t *offsets,
                                                  int width, enum gi_distance_kind kind)
{
    int warp = (int)threadIdx.x / 32, step = 1;
    while (step <= width / 2)
        step *= 2;
    for (; step > 0; step /= 2) {
        /* pixels step - 1, 3 step - 1, 5 step - 1, ... */
        for (long long x = (2LL * warp + 1) * step - 1; x < width;
             x += 2LL * step * (FAR_THREADS / 32)) {
            int lo = x >= step ? nearest[x - step] : 0;
            int hi = x + step < width ? nearest[x + step] : width - 1;
            int column = search_far(offsets, (int)x, max(lo, 0), hi, kind);
            if (threadIdx.x % 32 == 0)
                nearest[x] = column;
        }
        __syncthreads();
    }
}

static __global__ void __launch_bounds__(FAR_THREADS)
    distance_far(const __grid_constant__ struct distance_args args)
{
    const struct sites &s = args.sites;
    int32_t *nearest = s.rows + (size_t)blockIdx.x * 2 * s.width, *offsets = nearest + s.width;
    for (int y = (int)blockIdx.x; y < s.height; y += (int)gridDim.x) {
        if (!s.far[y])
            continue;
        for (int x = (int)threadIdx.x; x < s.width; x += FAR_THREADS) {
            size_t at = (size_t)(y / 32) * s.width + x;
            offsets[x] = offset_in(s.bits[at], s.above[at], s.below[at], y);
        }
        __syncthreads();
        bisect_row(nearest, offsets, s.width, args.spec.kind);
        for (int x = (int)threadIdx.x; x < s.width; x += FAR_THREADS) {
            int column = nearest[x];
            result_store(args, x, y, column, column < 0 ? 0 : offsets[column]);
        }
        __syncthreads();
    }
}

static enum gi_status by_search(struct gi_queue *queue, struct gi_image *dst,
                                const struct gi_image *src, const struct gi_distance *spec,
                                struct gi_err *err)
{
    struct gi_cuda_queue *cu = gi_cuda(queue);
    struct distance_args args = {*dst, *src, *spec, {}};
    struct sites *s = &args.sites;
    s->width = src->width;
    s->height = src->height;
    s->words = ceil_div(src->height, 32);
    size_t width = (size_t)src->width, n = width * (size_t)s->words;
    long long fit = FAR_NBYTES / (2 * (long long)width * (long long)sizeof *s->rows);
    long long most = min((long long)cu->units * FAR_BLOCKS, (long long)src->height);
    int blocks = (int)max(min(fit, most), 1LL);
    size_t rows_nbytes = (size_t)blocks * 2 * width * sizeof *s->rows;
    void *scratch;
    enum gi_status status = gi_cuda_scratch(
        cu, &scratch, rows_nbytes + 3 * n * sizeof *s->bits + (size_t)src->height, err);
    if (status)
        return status;
    s->rows = (int32_t *)scratch;
    s->bits = (uint32_t *)((char *)scratch + rows_nbytes);
    s->above = (int32_t *)(s->bits + n);
    s->below = s->above + n;
    s->far = (uint8_t *)(s->below + n);
    GI_CUDA_TRY(cudaMemsetAsync(s->far, 0, (size_t)src->height, cu->stream));
    unsigned across = (unsigned)ceil_div(src->width, PACK_THREADS);
    dim3 pack(across, (unsigned)min(s->words, (int)GRID_ROWS));
    dim3 near((unsigned)ceil_div(src->width, NEAR_THREADS),
              (unsigned)min(ceil_div(src->height, NEAR_ROWS), (int)GRID_ROWS));
    distance_pack<<<pack, PACK_THREADS, 0, cu->stream>>>(args);
    GI_CUDA_LAUNCHED();
    distance_scan<<<across, PACK_THREADS, 0, cu->stream>>>(*s);
    GI_CUDA_LAUNCHED();
    distance_near<<<near, NEAR_THREADS, 0, cu->stream>>>(args);
    GI_CUDA_LAUNCHED();
    distance_far<<<(unsigned)blocks, FAR_THREADS, 0, cu->stream>>>(args);
    GI_CUDA_LAUNCHED();
    return GI_OK;
}

const struct gi_distance_way gi_cuda_distance_ways[GI_WAYS_MAX] = {
    {{"search", "everything"}, NULL, by_search},
};
