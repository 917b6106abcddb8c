/* Prefix sums of samples along rows, columns or both (integral image, summed-area table), exact, by
 * reduce-then-scan: samples are read twice, results are written once.
 *
 * A warp owns a tile of PARTS parts (32 lanes x EACH pixels side by side) and `band` rows, and
 * moves down it.
 *
 *            strip 0    strip 1    strip 2     1. scan_look: per tile, sums of each column
 *           +----------+----------+----------+    (`columns`) and of each row (`rows`)
 *    band 0 |  warp 0  |  warp 1  |  warp 2  | 2. scan_tiles: exclusive prefix sums of `rows`
 *           +----------+----------+----------+    over strips, of `columns` over bands
 *    band 1 |          |          |          | 3. scan_starts: for integral images, prefix
 *           +----------+----------+----------+    sums of `columns` along the row
 *                                              4. scan_make: result = above + before + v
 *
 * In scan_make, `above` is the result one row above (from `columns` in the first row), `before` is
 * the sum of the row to the left of the tile, and v is the prefix sum within the part. v is summed
 * first within a lane, then over the warp with shuffles (Hillis-Steele). Shared memory is used by
 * scan_starts only (block scan). Phases of a row: load (one row ahead), exchange (warp scan),
 * compute, store.
 *
 * Bytes of one channel: scan_gray.cuh.
 *
 * Example: for 8192 x 8192 16-bit gray, EACH is 2, a part is 64 pixels wide and a tile 256. The 32
 * strips need 8 blocks. With 7 blocks on each of 132 multiprocessors there are 116 bands of 71
 * rows.
 * SPDX-License-Identifier: MIT */
#include "kernels/cuda/common/prefix.cuh"
#include "kernels/cuda/common/sample.cuh"
#include "kernels/cuda/statistics/scan_gray.cuh"
#include "kernels/statistics.h"

typedef unsigned long long u64;

enum {
    PARTS = 4,     /* parts of a tile, side by side */
    WARPS = 4,     /* per block: tiles side by side */
    THREADS = 128, /* of blocks that add up tiles */
    STARTS_THREADS = 1024,
    ROWS_MIN = 32,    /* minimum of a tile */
    ROWS_MAX = 65536, /* maximum rows of a tile: a column of squared bytes fits in 32 bits */
    LOOK_ROWS = 4,    /* rows per warp in flight */
    TILE_BLOCKS = 7,  /* per multiprocessor, of one channel: both passes run in one wave */
    ADD_AHEAD = 16,
};

struct scan_args {
    struct source src;
    struct target dst;
    enum gi_scan_along along;
    bool squares;
    int words;
    double scale, unit; /* GI_F32: 2^shift and 2^-shift */
    int band;           /* rows per tile */
    int strips, bands;  /* number of tiles across and down */
    u64 *columns;       /* a row per band: first column sums, later starting values */
    u64 *rows;          /* `channels` sums per row and tile; later those of all tiles to the left */
};

template <int CHANNELS> struct scan_shape {
    enum {
        EACH = CHANNELS == 1 ? 2 : 1, /* neighbouring pixels per lane */
        PART = 32 * EACH,
        TILE = PARTS * PART,
        S = EACH * CHANNELS, /* samples per lane and part */
    };
};

/* Types of samples in registers, and of sums along a row within a part. Sums of bytes and of their
 * squares fit in 32 bits. All other types share a kernel: a word is a sample, or two of 16 bits. */
template <bool BYTES> struct scan_types {
    typedef uint32_t sample;
    typedef u64 sum;
};
template <> struct scan_types<true> {
    typedef uint8_t sample;
    typedef unsigned sum;
};

static __device__ __forceinline__ unsigned value_of(const struct scan_args *args, uint8_t v)
{
    return args->squares ? (unsigned)v * v : v;
}

static __device__ __forceinline__ u64 value_of(const struct scan_args *args, uint32_t v)
{
    if (args->src.type == GI_F32)
        return (u64)gi_scan_float(__uint_as_float(v), args->squares, args->scale);
    return args->squares ? v * v : v;
}

/* A lane's samples of a part. Samples past the end of the row are read from its padding. */
template <typename T, int S> struct __align__(S == 3 ? sizeof(T) : S * sizeof(T)) samples_of
{
    T v[S];
};

/* Loads a lane's samples of a part. If S is even, samples of 16 bits are in the first S / 2 words,
 * because extracting them here would wait for the loads. */
template <int S>
static __device__ __forceinline__ void words_load(samples_of<uint32_t, S> *to, const char *row,
                                                  long long at, bool u16)
{
    const uint16_t *from = (const uint16_t *)row + at;
    if (!u16) {
        *to = *(const samples_of<uint32_t, S> *)((const uint32_t *)row + at);
    } else if (S % 2 == 0) {
        samples_of<uint32_t, S / 2> half = *(const samples_of<uint32_t, S / 2> *)from;
#pragma unroll
        for (int s = 0; s < S / 2; s++)
            to->v[s] = half.v[s];
    } else {
#pragma unroll
        for (int s = 0; s < S; s++)
            to->v[s] = from[s];
    }
}

template <int S>
static __device__ __forceinline__ uint32_t sample_of(const samples_of<uint32_t, S> &part, int s,
                                                     bool u16)
{
    if (S % 2 == 0 && u16)
        return s % 2 ? part.v[s / 2] >> 16 : part.v[s / 2] & 0xffff;
    return part.v[s];
}

template <int S>
static __device__ __forceinline__ uint8_t sample_of(const samples_of<uint8_t, S> &part, int s, bool)
{
    return part.v[s];
}

/* A lane's samples of the parts of a row. For a part outside the image the start of the row is
 * read, so that loads do not wait for a branch. */
template <bool BYTES, int CHANNELS> struct scan_row {
    samples_of<typename scan_types<BYTES>::sample, scan_shape<CHANNELS>::S> part[PARTS];
};

/* Index of a lane's first sample in each part, and how many of its samples are inside the image. */
struct scan_place {
    long long at[PARTS];
    int n[PARTS];
};

template <int CHANNELS>
static __device__ __forceinline__ struct scan_place place_of(const struct scan_args *args,
                                                             int strip)
{
    typedef scan_shape<CHANNELS> shape;
    long long samples = (long long)args->src.width * CHANNELS;
    struct scan_place place;
#pragma unroll
    for (int p = 0; p < PARTS; p++) {
        long long at = (long long)strip * shape::TILE * CHANNELS +
                       ((int)threadIdx.x % 32 + 32 * p) * (int)shape::S;
        place.n[p] = (int)max(0LL, min((long long)shape::S, samples - at));
        place.at[p] = place.n[p] ? at : 0;
    }
    return place;
}

template <bool BYTES, int CHANNELS>
static __device__ __forceinline__ void row_load(scan_row<BYTES, CHANNELS> *row,
                                                const struct scan_args *args,
                                                const struct scan_place *place, int y)
{
    enum { S = scan_shape<CHANNELS>::S };
    const char *from = args->src.data + (size_t)y * args->src.stride;
#pragma unroll
    for (int p = 0; p < PARTS; p++) {
        if constexpr (BYTES)
            row->part[p] = *(const samples_of<uint8_t, S> *)(from + place->at[p]);
        else
            words_load(&row->part[p], from, place->at[p], args->src.type == GI_U16);
    }
}

/* Computes the values v of samples, which are 0 outside the image. */
template <typename T, int S, typename A>
static __device__ __forceinline__ void values_of(A *v, const struct scan_args *args,
                                                 const samples_of<T, S> &samples, int n)
{
#pragma unroll
    for (int s = 0; s < S; s++)
        v[s] = s < n ? value_of(args, sample_of(samples, s, args->src.type == GI_U16)) : 0;
}

/* Computes inclusive prefix sums over the lanes of a warp, per channel. v[s] becomes the sum up to
 * and including this lane, and `total` becomes the sum of all lanes. The shuffles follow Hillis and
 * Steele, CACM 29(12), 1986. */
template <int S, int CHANNELS, typename A>
static __device__ __forceinline__ void lanes_scan(A *v, A *total)
{
    int lane = (int)threadIdx.x % 32;
#pragma unroll
    for (int c = 0; c < CHANNELS; c++) {
#pragma unroll
        for (int s = c + CHANNELS; s < S; s += CHANNELS)
            v[s] += v[s - CHANNELS];
        A mine = v[S - CHANNELS + c], before = mine;
#pragma unroll
        for (int d = 1; d < 32; d *= 2) {
            A other = __shfl_up_sync(~0u, before, d);
            before += lane >= d ? other : 0;
        }
        total[c] = __shfl_sync(~0u, before, 31);
#pragma unroll
        for (int s = c; s < S; s += CHANNELS)
            v[s] += before - mine;
    }
}

/* The tile of a warp: its strip and band. */
static __device__ __forceinline__ bool tile_of(const struct scan_args *args, int *strip, int *y0,
                                               int *y1)
{
    *strip = (int)blockIdx.x * WARPS + (int)threadIdx.x / 32;
    *y0 = (int)blockIdx.y * args->band;
    *y1 = min(*y0 + args->band, args->src.height);
    return *strip < args->strips;
}

template <bool BYTES, int CHANNELS>
static __global__ void __launch_bounds__(32 * WARPS, CHANNELS == 1 ? TILE_BLOCKS : 1)
    scan_look(const __grid_constant__ struct scan_args args)
{
    typedef scan_shape<CHANNELS> shape;
    typedef typename scan_types<BYTES>::sum A;
    typedef typename scan_types<BYTES>::sample T;
    enum { S = shape::S };
    int strip, y0, y1, lane = (int)threadIdx.x % 32;
    if (!tile_of(&args, &strip, &y0, &y1))
        return;
    struct scan_place place = place_of<CHANNELS>(&args, strip);
    A columns[PARTS][S] = {};
    scan_row<BYTES, CHANNELS> rows[LOOK_ROWS];
    /* Load LOOK_ROWS rows. */
    for (int y = y0; y < y1; y += LOOK_ROWS) {
#pragma unroll
        for (int i = 0; i < LOOK_ROWS; i++)
            row_load<BYTES, CHANNELS>(&rows[i], &args, &place, min(y + i, y1 - 1));
#pragma unroll
        for (int i = 0; i < LOOK_ROWS; i++) {
            A along[CHANNELS] = {};
            if (y + i >= y1)
                break;
#pragma unroll
            for (int p = 0; p < PARTS; p++) {
                A v[S];
                values_of<T, S>(v, &args, rows[i].part[p], place.n[p]);
#pragma unroll
                for (int s = 0; s < S; s++) {
                    columns[p][s] += v[s];
                    along[s % CHANNELS] += v[s];
                }
            }
            /* Reduce the row sums over the warp. */
            if (args.along == GI_SCAN_COLUMNS)
                continue;
#pragma unroll
            for (int c = 0; c < CHANNELS; c++) {
#pragma unroll
                for (int d = 16; d; d /= 2)
                    along[c] += __shfl_xor_sync(~0u, along[c], d);
                if (lane == 0)
                    args.rows[((size_t)(y + i) * args.strips + strip) * CHANNELS + c] = along[c];
            }
        }
    }
    u64 *out = args.columns + (size_t)blockIdx.y * ((size_t)args.src.width * CHANNELS);
#pragma unroll
    for (int p = 0; p < PARTS; p++)
#pragma unroll
        for (int s = 0; s < S; s++)
            if (s < place.n[p] && args.along != GI_SCAN_ROWS)
                out[place.at[p] + s] = columns[p][s];
}

/* Replaces n values, which are `step` apart, by their exclusive prefix sums. */
static __device__ __forceinline__ void add_up(u64 *v, int n, size_t step)
{
    u64 sum = 0, own[ADD_AHEAD];
    for (int i = 0; i < n; i += ADD_AHEAD, v += ADD_AHEAD * step) {
#pragma unroll
        for (int j = 0; j < ADD_AHEAD; j++)
            own[j] = i + j < n ? v[j * step] : 0;
#pragma unroll
        for (int j = 0; j < ADD_AHEAD && i + j < n; j++) {
            v[j * step] = sum;
            sum += own[j];
        }
    }
}

/* Exclusive prefix sums over tiles: a thread owns one channel of one row, or one column. */
static __global__ void __launch_bounds__(THREADS)
    scan_tiles(const __grid_constant__ struct scan_args args)
{
    long long i = (long long)blockIdx.x * THREADS + threadIdx.x;
    int channels = args.src.channels;
    long long nrows = args.along == GI_SCAN_COLUMNS ? 0 : (long long)args.src.height * channels;
    long long samples = args.along == GI_SCAN_ROWS ? 0 : (long long)args.src.width * channels;
    if (i < nrows)
        add_up(args.rows + i / channels * args.strips * channels + i % channels, args.strips,
               (size_t)channels);
    else if (i - nrows < samples)
        add_up(args.columns + (i - nrows), args.bands, (size_t)samples);
}

/* Prefix sums of a band's starting values along the row: a block owns one channel of one band. */
static __global__ void __launch_bounds__(STARTS_THREADS)
    scan_starts(const __grid_constant__ struct scan_args args)
{
    enum { N = 4 * STARTS_THREADS };
    __shared__ u64 v[N + 1];
    int channels = args.src.channels, width = args.src.width;
    u64 *row = args.columns + (size_t)blockIdx.x * width * channels + blockIdx.y, before = 0;
    for (int x0 = 0; x0 < width; x0 += N) {
        int n = min((int)N, width - x0);
        for (int i = (int)threadIdx.x; i < n; i += STARTS_THREADS)
            v[i] = row[(size_t)(x0 + i) * channels];
        prefix_of_block<STARTS_THREADS>(v, n);
        for (int i = (int)threadIdx.x; i < n; i += STARTS_THREADS)
            row[(size_t)(x0 + i) * channels] = before + v[i + 1];
        before += v[n];
        __syncthreads();
    }
}

/* Stores the first n of a lane's sums of a part to row y, from sample `at` on. */
template <int S>
static __device__ __forceinline__ void sums_store(const struct scan_args *args, const u64 *sums,
                                                  int y, long long at, int n)
{
    char *row = args->dst.data + (size_t)y * args->dst.stride;
    u64 out[S];
#pragma unroll
    for (int s = 0; s < S; s++)
        out[s] = args->src.type == GI_F32
                     ? (u64)__double_as_longlong((double)(int64_t)sums[s] * args->unit)
                     : sums[s];
    if (S == 2 && n == S) {
        if (args->words == 2)
            *(ulonglong2 *)((u64 *)row + at) = make_ulonglong2(out[0], out[S - 1]);
        else
            *(uint2 *)((unsigned *)row + at) = make_uint2((unsigned)out[0], (unsigned)out[S - 1]);
        return;
    }
#pragma unroll
    for (int s = 0; s < S; s++)
        if (s < n && args->words == 2)
            ((u64 *)row)[at + s] = out[s];
        else if (s < n)
            ((unsigned *)row)[at + s] = (unsigned)out[s];
}

/* What a warp of scan_make has in registers: a row, and per channel the sum left of its tile. */
template <bool BYTES, int CHANNELS> struct make_row {
    scan_row<BYTES, CHANNELS> samples;
    u64 before[CHANNELS];
};

template <bool BYTES, int CHANNELS>
static __device__ __forceinline__ void make_load(make_row<BYTES, CHANNELS> *row,
                                                 const struct scan_args *args,
                                                 const struct scan_place *place, int strip, int y)
{
    row_load<BYTES, CHANNELS>(&row->samples, args, place, y);
#pragma unroll
    for (int c = 0; c < CHANNELS; c++)
        row->before[c] = args->along == GI_SCAN_COLUMNS
                             ? 0
                             : args->rows[((size_t)y * args->strips + strip) * CHANNELS + c];
}

template <bool BYTES, int CHANNELS>
static __global__ void __launch_bounds__(32 * WARPS, CHANNELS == 1 ? TILE_BLOCKS : 1)
    scan_make(const __grid_constant__ struct scan_args args)
{
    typedef scan_shape<CHANNELS> shape;
    typedef typename scan_types<BYTES>::sum A;
    typedef typename scan_types<BYTES>::sample T;
    enum { S = shape::S };
    int strip, y0, y1;
    if (!tile_of(&args, &strip, &y0, &y1))
        return;
    struct scan_place place = place_of<CHANNELS>(&args, strip);
    bool down = args.along != GI_SCAN_ROWS, across = args.along != GI_SCAN_COLUMNS;
    size_t samples = (size_t)args.src.width * CHANNELS;
    u64 above[PARTS][S] = {};
#pragma unroll
    for (int p = 0; p < PARTS; p++)
#pragma unroll
        for (int s = 0; s < S; s++)
            if (s < place.n[p] && down)
                above[p][s] = args.columns[(size_t)blockIdx.y * samples + place.at[p] + s];
    make_row<BYTES, CHANNELS> next;
    make_load<BYTES, CHANNELS>(&next, &args, &place, strip, y0);
    for (int y = y0; y < y1; y++) {
        /* Load the next row. */
        make_row<BYTES, CHANNELS> row = next;
        make_load<BYTES, CHANNELS>(&next, &args, &place, strip, min(y + 1, y1 - 1));
#pragma unroll
        for (int p = 0; p < PARTS; p++) {
            /* Exchange: prefix sums over the warp. Compute. Store. */
            A v[S], total[CHANNELS] = {};
            values_of<T, S>(v, &args, row.samples.part[p], place.n[p]);
            if (across)
                lanes_scan<S, CHANNELS>(v, total);
#pragma unroll
            for (int s = 0; s < S; s++)
                above[p][s] = (down ? above[p][s] : 0) + row.before[s % CHANNELS] + v[s];
#pragma unroll
            for (int c = 0; c < CHANNELS; c++)
                row.before[c] += total[c];
            sums_store<S>(&args, above[p], y, place.at[p], place.n[p]);
        }
    }
}

template <bool BYTES, int CHANNELS>
static enum gi_status launch(struct gi_cuda_queue *cu, struct scan_args *args, struct gi_err *err)
{
    const struct source *src = &args->src;
    int blocks = 1;
    GI_CUDA_TRY(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, scan_make<BYTES, CHANNELS>,
                                                              32 * WARPS, 0));
    args->strips = ceil_div(src->width, scan_shape<CHANNELS>::TILE);
    int across = ceil_div(args->strips, WARPS);
    int bands = ceil_div((long long)blocks * cu->units, across); /* about one wave */
    args->band = ceil_div(src->height, bands);
    args->band = args->band < ROWS_MIN ? ROWS_MIN : args->band > ROWS_MAX ? ROWS_MAX : args->band;
    args->bands = ceil_div(src->height, args->band);
    size_t samples = (size_t)src->width * CHANNELS, ncolumns = samples * (size_t)args->bands;
    size_t nrows = (size_t)src->height * (size_t)args->strips * CHANNELS;
    void *scratch;
    enum gi_status status = gi_cuda_scratch(cu, &scratch, (ncolumns + nrows) * sizeof(u64), err);
    if (status)
        return status;
    args->columns = (u64 *)scratch;
    args->rows = args->columns + ncolumns;
    dim3 tiles(across, args->bands);
    scan_look<BYTES, CHANNELS><<<tiles, 32 * WARPS, 0, cu->stream>>>(*args);
    GI_CUDA_LAUNCHED();
    long long most = (long long)samples + (long long)src->height * CHANNELS;
    scan_tiles<<<ceil_div(most, THREADS), THREADS, 0, cu->stream>>>(*args);
    GI_CUDA_LAUNCHED();
    if (args->along == GI_SCAN_BOTH)
        scan_starts<<<dim3(args->bands, CHANNELS), STARTS_THREADS, 0, cu->stream>>>(*args);
    GI_CUDA_LAUNCHED();
    scan_make<BYTES, CHANNELS><<<tiles, 32 * WARPS, 0, cu->stream>>>(*args);
    GI_CUDA_LAUNCHED();
    return GI_OK;
}

template <>
enum gi_status launch<true, 1>(struct gi_cuda_queue *cu, struct scan_args *args, struct gi_err *err)
{
    struct gray_args gray = {args->src,
                             args->dst,
                             args->squares,
                             args->along != GI_SCAN_COLUMNS,
                             args->along != GI_SCAN_ROWS,
                             args->words};
    return gray_launch(cu, &gray, err);
}

static enum gi_status tiles(struct gi_queue *queue, struct gi_image *dst,
                            const struct gi_image *src, const struct gi_scan *spec,
                            struct gi_err *err)
{
    struct gi_cuda_queue *cu = gi_cuda(queue);
    struct gi_border_spec border = {};
    struct scan_args args = {};
    args.src = source_of(src, &border, GI_ALPHA_PLAIN);
    args.dst = target_of(dst);
    args.along = spec->along;
    args.squares = spec->squares;
    args.words = spec->words;
    args.scale = ldexp(1, spec->shift);
    args.unit = ldexp(1, -spec->shift);
    GI_CUDA_CHANNELS(src->channels, src->type == GI_U8 ? launch<true, CHANNELS>(cu, &args, err)
                                                       : launch<false, CHANNELS>(cu, &args, err));
}

const struct gi_scan_way gi_cuda_scan_ways[GI_WAYS_MAX] = {
    {{"tiles", "everything"}, NULL, tiles},
};
