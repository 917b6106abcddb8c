/* Strong reductions by any ratio in one pass: column sums slide down in registers, and shared
 * memory passes finished rows of them on to the row sums. For 8 and 16 bits.
 *
 * A block owns a strip of `wide` result pixels and a band of result rows, and moves down the band.
 * Columns: a thread owns OWN = 8 neighbouring source samples. It loads and unpacks each source row
 * once, and adds it to the partial sums of all SLOTS results whose windows contain the row. Rows: a
 * thread computes one pixel of the GROUP = 4 rows of a step (or of some of these rows, if a strip
 * has few pixels because they have several channels).
 *
 *      source rows of a step               sums[ROWS]                       4 result rows
 *     +----+----+- ... -+------+          +---------------------+          +-------------+
 *     | t0 | t1 |       | t127 | columns  | finished: 4 rows    |   rows   | x0 .. x0+n  |
 *     |    |    |       |      | -------> | first blocks of the | -------> |             |
 *     |    |    |       |      |  down[]  | following 4 results | along[]  |             |
 *     +----+----+- ... -+------+          +---------------------+          +-------------+
 *     SLOTS partial sums per sample (registers)
 *
 * Shared memory: `sums`, a ring buffer of rows of column sums, [result % ROWS]; a sum over more
 * than 32 taps stores its first block of taps there until the second block is complete. `down`:
 * weights of each source row for the SLOTS results from the oldest unfinished result on, 0 outside
 * their windows. `along`: row weights of all pixels of the strip. `ends`: ends of windows, a ring
 * buffer.
 *
 * Phases of a step: load and compute columns, exchange (barrier), compute rows, store.
 *
 * Example: 8192 to 1200 gray pixels with 41 taps: a source row is in at most 6 windows. Strips of
 * 134 pixels have 956 source samples. A step reads 27 source rows, in batches that end where a
 * window or the first block of a window ends.
 * SPDX-License-Identifier: MIT */
#include "kernels/cuda/geometry/resample_slide.h"
#include "kernels/cuda/geometry/resample_strips.cuh"

enum {
    GROUP = 4,
    OWN = PIECE,
    SLOTS = 6,        /* results whose windows may contain a row; at most STEP_WEIGHTS */
    STEP_WEIGHTS = 8, /* floats of `down` per source row */
    BATCH = 5,        /* maximum of source rows that are loaded at a time */
    ROWS = 2 * GROUP,
    ENDS = 4 * GROUP,
    LATER = ROWS - GROUP + 1, /* results whose first block may be complete */
    THREADS = 128,
    SAMPLES_MAX = THREADS * OWN, /* maximum source samples of a row under a strip */
    TAPS_MAX = 2 * GI_TAPS_BLOCK,
    BLOCKS = 4,            /* per multiprocessor */
    SHARED_MAX = 56 << 10, /* bytes, so that BLOCKS blocks fit on an H100 */
};

struct slide_args {
    struct gi_image dst, src;
    struct device_side row, col;
    int wide;  /* pixels per strip */
    int reach; /* maximum of source rows that a step reads */
    int band_rows;
    bool weigh;
};

/* Windows of column sums end before taps of weight 0, which are outside the image at its ends. So
 * no more than SLOTS windows overlap there either. Sums of integers are the same without them. */
static __host__ __device__ __forceinline__ int window_taps(const float *weights, int taps)
{
    while (taps > 1 && weights[taps - 1] == 0)
        taps--;
    return taps;
}

/* ---- columns ---- */

/* Returns the first source row after the window of result i. */
static __device__ int end_at(const struct device_side &col, int i)
{
    i = min(i, col.n - 1);
    return col.first[i] + window_taps(col.weights + (size_t)col.phase[i] * col.taps, col.taps);
}

/* Fills `down` for source rows `from` to the end of the step at result row y. */
static __device__ __forceinline__ void weights_down(float *down, const struct device_side &col,
                                                    const int *ends, int y, int from)
{
    int rows = ends[(y + GROUP - 1) % ENDS] - from;
    for (int i = (int)threadIdx.x; i < rows * STEP_WEIGHTS; i += THREADS) {
        int r = from + i / STEP_WEIGHTS, at = y + i % STEP_WEIGHTS;
#pragma unroll
        for (int j = 0; j < GROUP; j++)
            at += r >= ends[(y + j) % ENDS];
        int t = at < col.n ? r - col.first[at] : -1;
        down[i] = t >= 0 && t < col.taps ? col.weights[(size_t)col.phase[at] * col.taps + t] : 0;
    }
}

/* State of a thread's columns. */
template <typename T> struct window {
    enum { WORDS = OWN * (int)sizeof(T) / 4 };
    float sum[SLOTS][OWN];        /* of the oldest unfinished result and the following results */
    unsigned ahead[BATCH][WORDS]; /* source rows r to r + n - 1 */
    const char *next;             /* source row r + n */
    int r, n;
    int oldest, stop; /* oldest unfinished result; end of its window */
    int full, event; /* first result whose first block of taps is incomplete; row after the block */
};

template <typename T, int C>
static __device__ __forceinline__ void add_row(struct window<T> &m, int i, const float4 *down,
                                               bool weigh)
{
    float v[OWN];
    piece_unpack<T, C>(v, m.ahead[i], weigh);
    float4 w0 = down[0], w1 = down[1];
    const float w[STEP_WEIGHTS] = {w0.x, w0.y, w0.z, w0.w, w1.x, w1.y, w1.z, w1.w};
#pragma unroll
    for (int k = 0; k < SLOTS; k++)
#pragma unroll
        for (int j = 0; j < OWN; j++)
            m.sum[k][j] = __fmaf_rn(w[k], v[j], m.sum[k][j]);
}

/* Stores a row of sums, added to the stored first block of taps if `add`. */
static __device__ __forceinline__ void put_sums(float *to, const float (&sum)[OWN], bool add)
{
#pragma unroll
    for (int i = 0; i < OWN; i += 4) {
        float4 v = make_float4(sum[i], sum[i + 1], sum[i + 2], sum[i + 3]);
        if (add) {
            float4 first = *(const float4 *)(to + i);
            v = make_float4(__fadd_rn(first.x, v.x), __fadd_rn(first.y, v.y),
                            __fadd_rn(first.z, v.z), __fadd_rn(first.w, v.w));
        }
        *(float4 *)(to + i) = v;
    }
}

/* Completes the column sums of a step of `nrows` results, whose source rows begin at `from`.
 * `first` has n entries. */
template <typename T, int C>
static __device__ __forceinline__ void
column_sums(struct window<T> &m, float *sums, const struct slide_args &args, const int *ends,
            const float4 *down, const int32_t *first, int n, int from, int nrows)
{
    for (int j = 0; j < nrows; j++) {
        float *out = sums + m.oldest % ROWS * SAMPLES_MAX;
        bool finish, two_blocks;
        do {
            /* The rows that are loaded end a window, a first block, or neither. */
            int end = m.r + m.n, slot = (int)(m.full - m.oldest);
            float *block = sums + m.full % ROWS * SAMPLES_MAX;
            finish = end == m.stop;
            two_blocks = slot > 0;
            bool fill = !finish && end == m.event;
            if (finish)
                m.stop = ends[++m.oldest % ENDS];
            if (fill || slot < (int)finish)
                m.event = (int)++m.full < n ? first[m.full] + GI_TAPS_BLOCK : INT32_MAX;
            unsigned ahead[BATCH][window<T>::WORDS];
            int count = m.n;
            m.n = min(min(m.stop, m.event), end + BATCH) - end;
#pragma unroll
            for (int i = 0; i < BATCH; i++)
                if (i < m.n) {
                    piece_load(ahead[i], m.next);
                    m.next += args.src.stride;
                }
#pragma unroll
            for (int i = 0; i < BATCH; i++)
                if (i < count)
                    add_row<T, C>(m, i, down + (m.r + i - from) * (STEP_WEIGHTS / 4), args.weigh);
            memcpy(m.ahead, ahead, sizeof ahead);
            m.r = end;
            if (fill)
#pragma unroll
                for (int k = 0; k < LATER; k++)
                    if (k == slot) {
                        put_sums(block, m.sum[k], false);
#pragma unroll
                        for (int i = 0; i < OWN; i++)
                            m.sum[k][i] = 0;
                    }
        } while (!finish);
        put_sums(out, m.sum[0], two_blocks);
#pragma unroll
        for (int k = 0; k < SLOTS; k++)
#pragma unroll
            for (int i = 0; i < OWN; i++)
                m.sum[k][i] = k + 1 < SLOTS ? m.sum[k + 1 < SLOTS ? k + 1 : k][i] : 0.0f;
    }
}

/* ---- rows ---- */

/* Computes f[row][channel], which are sums along N rows that begin at `sums`. `along` points to the
 * weights of the pixel, which are `step` floats apart. Sums of two blocks of taps need no carry. */
template <int C, int N>
static __device__ __forceinline__ void row_sums(float (&f)[N][C], int taps, const float *sums,
                                                const float *along, int step)
{
    for (int t = 0; t < taps; t += GI_TAPS_BLOCK) {
        float block[N][C] = {};
#pragma unroll 4
        for (int n = min(taps - t, (int)GI_TAPS_BLOCK); n > 0; n--, along += step, sums += C) {
            float w = *along;
#pragma unroll
            for (int j = 0; j < N; j++) {
                float v[C];
                if constexpr (C == 4)
                    *(float4 *)v = *(const float4 *)(sums + j * SAMPLES_MAX);
#pragma unroll
                for (int c = 0; c < C; c++)
                    block[j][c] =
                        __fmaf_rn(w, C == 4 ? v[c] : sums[j * SAMPLES_MAX + c], block[j][c]);
            }
        }
#pragma unroll
        for (int j = 0; j < N; j++)
#pragma unroll
            for (int c = 0; c < C; c++)
                f[j][c] = t == 0 ? block[j][c] : __fadd_rn(f[j][c], block[j][c]);
    }
}

/* Computes and stores rows y to end - 1 of a step, for the n pixels of a strip from x0 on. A thread
 * computes N rows of a pixel. `left` is the first sample of the strip. */
template <typename T, int C, int N>
static __device__ __forceinline__ void make_rows(const struct slide_args &args, const float *sums,
                                                 const float *along, int x0, int n, int left, int y,
                                                 int end)
{
    const struct device_side *row = &args.row;
    for (int i = (int)threadIdx.x; i < n * (GROUP / N); i += THREADS) {
        int part = N == GROUP ? 0 : i / n * N, x = N == GROUP ? i : i % n;
        int from = (row->first[x0 + x] - row->origin) * C - left;
        float f[N][C];
        row_sums<C, N>(f, row->taps, sums + part * SAMPLES_MAX + from, along + x, args.wide);
#pragma unroll
        for (int j = 0; j < N; j++)
            if (y + part + j < end)
                pixel_store<T, C>(args.dst, *row, args.col, args.weigh, f[j], x0 + x, y + part + j);
    }
}

/* `shared` and `ends` are shared by the block. */
template <typename T, int C>
static __device__ __forceinline__ void strip_make(const struct slide_args &args, float4 *shared,
                                                  int *ends)
{
    constexpr int FEW = C == 4 ? 1 : 2; /* rows per thread if a strip has few pixels */
    const struct device_side *row = &args.row;
    float4 *down = shared;
    float *sums = (float *)(down + args.reach * (STEP_WEIGHTS / 4));
    float *along = sums + ROWS * SAMPLES_MAX;
    int tid = (int)threadIdx.x;
    int x0 = (int)blockIdx.x * args.wide, n = min(args.wide, row->n - x0);
    int left = (row->first[x0] - row->origin) * C / OWN * OWN; /* sample of the source */
    int nsamples = (row->first[x0 + n - 1] - row->origin + row->taps) * C - left;
    int y0 = (int)blockIdx.y * args.band_rows, nrows = min(args.band_rows, args.col.n - y0);
    struct device_side col = args.col; /* of the band's results and the following results */
    col.first += y0;
    col.phase += y0;
    col.n -= y0;
    int from = col.first[0];
    for (int x = tid; x < n; x += THREADS) {
        const float *weights = row->weights + (size_t)row->phase[x0 + x] * row->taps;
        for (int t = 0; t < row->taps; t++)
            along[t * args.wide + x] = weights[t];
    }
    if (tid < 2 * GROUP)
        ends[tid] = end_at(col, tid);
    __syncthreads();
    weights_down((float *)down, col, ends, 0, from);
    struct window<T> m = {};
    m.next = (const char *)args.src.data + (size_t)(from - col.origin) * args.src.stride +
             (size_t)(left + tid * OWN) * sizeof(T);
    m.r = from;
    m.stop = ends[0];
    m.event = from + GI_TAPS_BLOCK;
    __syncthreads();
    for (int y = 0; y < nrows; y += GROUP) {
        /* Load and compute columns. */
        int made = min((int)GROUP, nrows - y);
        if (tid * OWN < nsamples)
            column_sums<T, C>(m, sums + tid * OWN, args, ends, down, col.first, col.n, from, made);
        if (tid < GROUP)
            ends[(y + 2 * GROUP + tid) % ENDS] = end_at(col, y + 2 * GROUP + tid);
        __syncthreads();
        /* Exchange done: compute rows and store. */
        const float *rows = sums + y % ROWS * SAMPLES_MAX;
        if (n * (GROUP / FEW) <= THREADS)
            make_rows<T, C, FEW>(args, rows, along, x0, n, left, y0 + y, y0 + nrows);
        else
            make_rows<T, C, GROUP>(args, rows, along, x0, n, left, y0 + y, y0 + nrows);
        from = ends[(y + GROUP - 1) % ENDS];
        weights_down((float *)down, col, ends, y + GROUP, from);
        __syncthreads();
    }
}

template <int C>
static __global__ void __launch_bounds__(THREADS, BLOCKS)
    slide(const __grid_constant__ struct slide_args args)
{
    extern __shared__ float4 shared[];
    __shared__ int ends[ENDS];
    if (args.src.type == GI_U8)
        strip_make<uint8_t, C>(args, shared, ends);
    else
        strip_make<uint16_t, C>(args, shared, ends);
}

/* ---- launcher ---- */

static const float *weights_of(const struct gi_resample_side *col, int i)
{
    return col->weights + (size_t)col->phase[i] * (size_t)col->taps;
}

/* Returns the first source row in the window of result i, and the first row after it. */
static int begin_of(const struct gi_resample_side *col, int i)
{
    const float *weights = weights_of(col, i);
    int t = 0;
    while (t < col->taps - 1 && weights[t] == 0)
        t++;
    return col->first[i] + t;
}

static int end_of(const struct gi_resample_side *col, int i)
{
    return col->first[i] + window_taps(weights_of(col, i), col->taps);
}

/* Returns the maximum of source rows that a step reads, or 0 if more windows overlap than the
 * kernel has room for. */
static int reach_of(const struct gi_resample_side *col)
{
    int newest = 0, oldest = 0, before = 0, most = 0;
    for (int i = 0; i < col->n; i++) {
        int end = end_of(col, i), block = col->first[i] + GI_TAPS_BLOCK;
        newest = newest < i ? i : newest;
        while (newest + 1 < col->n && begin_of(col, newest + 1) < end)
            newest++;
        while (block < end && oldest < i && end_of(col, oldest) <= block)
            oldest++;
        if (end < before || newest - i >= SLOTS || (block < end && i - oldest >= LATER))
            return 0;
        before = end;
        int rows = end - col->first[i < GROUP ? 0 : i - GROUP];
        most = rows > most ? rows : most;
    }
    return most;
}

/* Chooses the shape of all strips, and the bytes of shared memory. Returns false if nothing
 * fits. */
static bool shape_of(struct slide_args *args, size_t *nbytes, const struct gi_resample *spec,
                     int channels)
{
    const struct gi_resample_side *row = &spec->row;
    args->reach = reach_of(&spec->col);
    if (args->reach == 0)
        return false;
    for (int wide = row->n < SAMPLES_MAX ? row->n : SAMPLES_MAX; wide > 0; wide = wide * 15 / 16) {
        args->wide = ceil_div(row->n, ceil_div(row->n, wide));
        *nbytes =
            sizeof(float) * ((size_t)args->reach * STEP_WEIGHTS +
                             (size_t)args->wide * (size_t)row->taps + (size_t)ROWS * SAMPLES_MAX);
        if (*nbytes <= SHARED_MAX && samples_of(row, args->wide, channels) <= SAMPLES_MAX)
            return true;
    }
    return false;
}

/* Gray is left to the way fused if the ratio is whole: on an H200 8192 x 8192 pixels become 1024 x
 * 1024 by it in 101 us instead of 119 (8 bits), and in 122 us instead of 128 (16 bits). */
bool gi_cuda_slide_takes(const struct gi_image *src, const struct gi_resample *spec)
{
    struct slide_args args;
    size_t nbytes;
    bool whole = src->channels == 1 && src->width % spec->row.n == 0;
    return !spec->integer && !whole && src->type != GI_F32 && src->channels != 2 &&
           spec->row.taps <= TAPS_MAX && spec->col.taps > GI_TAPS_BLOCK &&
           spec->col.taps <= TAPS_MAX && shape_of(&args, &nbytes, spec, src->channels);
}

template <int C>
static enum gi_status launch(struct gi_cuda_queue *cu, struct slide_args *args, size_t nbytes,
                             struct gi_err *err)
{
    int resident = 0;
    auto kernel = slide<C>;
    GI_CUDA_ALLOW_SHARED(cu, kernel);
    GI_CUDA_TRY(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, kernel, THREADS, nbytes));
    int strips = ceil_div(args->row.n, args->wide);
    int bands = cu->units * (resident < 1 ? 1 : resident) / strips; /* one wave of blocks */
    bands = bands > 65535 ? 65535 : bands < 1 ? 1 : bands;
    args->band_rows = ceil_div(args->col.n, bands);
    dim3 grid((unsigned)strips, (unsigned)ceil_div(args->col.n, args->band_rows));
    kernel<<<grid, THREADS, nbytes, cu->stream>>>(*args);
    GI_CUDA_LAUNCHED();
    return GI_OK;
}

enum gi_status gi_cuda_slide(struct gi_queue *queue, struct gi_image *dst,
                             const struct gi_image *src, const struct gi_resample *spec,
                             struct gi_err *err)
{
    struct gi_cuda_queue *cu = gi_cuda(queue);
    struct slide_args args = {};
    size_t nbytes;
    enum gi_status status = strips_prepare(cu, &args, dst, src, spec, err);
    if (status)
        return status;
    shape_of(&args, &nbytes, spec, src->channels);
    return src->channels == 1   ? launch<1>(cu, &args, nbytes, err)
           : src->channels == 3 ? launch<3>(cu, &args, nbytes, err)
                                : launch<4>(cu, &args, nbytes, err);
}
