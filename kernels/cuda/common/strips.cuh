/* Sums of all windows of k x k samples in one pass, at a cost that hardly depends on k: running
 * column sums and prefix sums along the row. All sums are modulo 2^32, which is exact because the
 * sums of a window fit in 32 bits. The epilogue of the kernel, which is the box filter
 * (box_strips.cu) or local thresholds (local_strips.cu), computes results from the sums.
 *
 * Block: up to 32 warps. It owns a strip of columns (threads * PIXELS, including the halo) and a
 * band of rows, and moves down the band, ROWS rows per step. A thread owns PIXELS = 8 neighbouring
 * pixels and keeps for each of their columns the sum of k samples.
 *
 *       halo          across           halo
 *     +------+-----------------------+------+    row y + r     added to the column sums
 *     |t0|t1 |t2 |t3 |  ...    |     |  |tn |       ...
 *     +------+-----------------------+------+    row y - r - 1 subtracted
 *        column sums: registers
 *     +------+-----------------------+------+
 *     | P0 P1 ...   prefix sums P        Pm |    shared memory, one word of padding every 8
 *     +------+-----------------------+------+
 *        window of pixel x = P(x + r) - P(x - r - 1)
 *
 * Exchange: prefix sums within the thread, then by shuffles within the warp (threads_scan), then
 * the totals of the warps through `before`; the results are stored in shared memory.
 *
 * Phases of a step: compute columns, load (the rows of the next step), exchange (block scan),
 * compute windows, store.
 *
 * Example: k = 31, 8-bit gray: r = 15, halo = 16 pixels, ROWS = 2; 72 bytes of shared memory per
 * thread. Pixel 0 of a thread reads the prefix sums padded(15) = 16 and padded(-16) = -18.
 * SPDX-License-Identifier: MIT */
#ifndef GI_KERNELS_CUDA_STRIPS_CUH
#define GI_KERNELS_CUDA_STRIPS_CUH

#include "kernels/cuda/common/pdl.cuh"
#include "kernels/cuda/convolution/box.cuh"

enum {
    PIXELS = 8, /* neighbouring pixels per thread */
    WARPS = 32, /* maximum of a block */
    MOST_THREADS = 32 * WARPS,
};

static __device__ __forceinline__ unsigned dot4(unsigned a, unsigned b, unsigned sum)
{
    asm("dp4a.u32.s32 %0, %1, %2, %0;" : "+r"(sum) : "r"(a), "r"(b));
    return sum;
}

/* Updates the column sums: columns[s] += fresh sample - old sample. If WEIGH is set, colours are
 * multiplied by alpha. */
template <typename T, int CHANNELS, bool WEIGH>
static __device__ __forceinline__ void columns_move(unsigned *columns, const unsigned *fresh,
                                                    const unsigned *old)
{
    enum { WORDS = PIXELS * CHANNELS * (int)sizeof(T) / 4, LAST = CHANNELS - 1 };
#pragma unroll
    for (int i = 0; i < WORDS; i++) {
        unsigned f = fresh[i], o = old[i];
        if (sizeof(T) == 2) {
            columns[2 * i] = dot2(__byte_perm(f, o, 0x5410), 0xff01, columns[2 * i]);
            columns[2 * i + 1] = dot2(__byte_perm(f, o, 0x7632), 0xff01, columns[2 * i + 1]);
        } else if (WEIGH) {
#pragma unroll
            for (int b = 0; b < 4; b++) {
                unsigned v = f >> 8 * b & 255, w = o >> 8 * b & 255;
                if (b % CHANNELS == LAST)
                    columns[4 * i + b] += v - w;
                else
                    columns[4 * i + b] +=
                        v * (f >> 8 * (b | LAST) & 255) - w * (o >> 8 * (b | LAST) & 255);
            }
        } else { /* pairs of fresh and old, times 1 and -1 */
            unsigned low = __byte_perm(f, o, 0x5140), high = __byte_perm(f, o, 0x7362);
            columns[4 * i] = dot4(low, 0x0000ff01, columns[4 * i]);
            columns[4 * i + 1] = dot4(low, 0xff010000, columns[4 * i + 1]);
            columns[4 * i + 2] = dot4(high, 0x0000ff01, columns[4 * i + 2]);
            columns[4 * i + 3] = dot4(high, 0xff010000, columns[4 * i + 3]);
        }
    }
}

/* Returns the index of prefix sum i in shared memory. Every 8 sums are followed by one word of
 * padding, so that threads access sums that are 8 apart without bank conflicts. */
static __host__ __device__ __forceinline__ int padded(int i)
{
    return i + (i >> 3);
}

/* Loads or stores N words of shared memory, with wide accesses if N is even. */
template <int N> static __device__ __forceinline__ void words_get(unsigned *v, const unsigned *p)
{
    if constexpr (N == 4) {
        uint4 t = *(const uint4 *)p;
        v[0] = t.x, v[1] = t.y, v[2] = t.z, v[3] = t.w;
    } else if constexpr (N == 2) {
        uint2 t = *(const uint2 *)p;
        v[0] = t.x, v[1] = t.y;
    } else {
#pragma unroll
        for (int i = 0; i < N; i++)
            v[i] = p[i];
    }
}

template <int N> static __device__ __forceinline__ void words_put(unsigned *p, const unsigned *v)
{
    if constexpr (N == 3)
        p[0] = v[0], p[1] = v[1], p[2] = v[2];
    else
        words_store<N>(p, v);
}

/* Adds the value of the lane whose number is d lower, if that lane exists. */
static __device__ __forceinline__ void add_lane(unsigned *sum, int d)
{
    asm volatile("{\n\t.reg .u32 other;\n\t.reg .pred there;\n\t"
                 "shfl.sync.up.b32 other|there, %0, %1, 0, 0xffffffff;\n\t"
                 "@there add.u32 %0, %0, other;\n\t}"
                 : "+r"(*sum)
                 : "r"(d));
}

/* Exclusive prefix sum within the warp: base[v] = the sum of sums[v] over the lower lanes. The sum
 * over all lanes of the warp is added to before[w] of every later warp w. */
template <int N>
static __device__ __forceinline__ void threads_scan(unsigned *base, unsigned *before,
                                                    const unsigned *sums)
{
    int lane = (int)threadIdx.x % 32, warp = (int)threadIdx.x / 32;
#pragma unroll
    for (int v = 0; v < N; v++)
        base[v] = sums[v];
#pragma unroll
    for (int d = 1; d < 32; d *= 2)
#pragma unroll
        for (int v = 0; v < N; v++)
            add_lane(&base[v], d);
#pragma unroll
    for (int v = 0; v < N; v++) {
        unsigned all = __shfl_sync(~0u, base[v], 31);
        if (lane > warp)
            atomicAdd(&before[lane * N + v], all);
        base[v] -= sums[v];
    }
}

/* Division of rows into strips. */
struct strips_cut {
    int strips, across; /* strips per row; result pixels per strip */
    int threads;        /* per block; 0: the halo is too wide */
};

/* Chooses the number of threads per block. Each side of a strip has a halo of `halo` pixels, and
 * few of the threads should work on the halo. */
static inline struct strips_cut strips_cut_of(int width, int halo, int most)
{
    struct strips_cut cut = {0, 0, 0};
    double best = 1e30;
    for (int n = 32; n <= most; n += 32) {
        int across = n * PIXELS - 2 * halo;
        if (across <= 0)
            continue;
        int strips = ceil_div(width, across);
        double cost = (double)strips * n * (1 + n / 2048.0); /* large blocks wait longer */
        if (cost < best) {
            best = cost;
            cut = {strips, across, n};
        }
    }
    return cut;
}

/* The kernel arguments that do not depend on the epilogue. */
struct strips_args {
    struct box_rows rows;
    struct target dst;
    int r, halo; /* window radius; halo per side, > r and a multiple of PIXELS */
    struct strips_cut cut;
    int band;          /* rows per block */
    int shared_nbytes; /* per block */
    /* offsets, in words, from a thread's prefix sums to the prefix sums at the ends of window j */
    int high[PIXELS], low[PIXELS];
};

/* The kernel argument. END is the epilogue. Its members are its parameters, and it defines:
 *   T, CHANNELS, WEIGH   sample type; channels; whether colours are multiplied by alpha
 *   ROWS, VALUES         rows per step; sums per pixel and step, row by row
 *   SQUARES              whether the second sum is a sum of squares (one row of 8-bit gray)
 *   CENTRE               whether the epilogue reads the source samples at the centres
 *   THREADS, BLOCKS      launch bounds
 *   begin()              returns a word that remains in a register
 *   make()               computes the words of a thread's results from prefix sums */
template <typename END> struct strips_work {
    struct strips_args strips;
    END end;
};

/* Loads the rows that enter and leave the windows of the step at row y. */
template <typename T, int WORDS, int ROWS>
static __device__ __forceinline__ void turn_load(unsigned (*fresh)[WORDS], unsigned (*old)[WORDS],
                                                 const struct strips_args *args,
                                                 struct box_chunk chunk, int y)
{
#pragma unroll
    for (int i = 0; i < ROWS; i++) {
        chunk_load<T, WORDS>(fresh[i], &args->rows, chunk, y + i + args->r);
        chunk_load<T, WORDS>(old[i], &args->rows, chunk, y + i - args->r - 1);
    }
}

/* Updates the column sums of squares: squares[j] += (fresh sample - 128)^2 - (old sample -
 * 128)^2. */
static __device__ __forceinline__ void squares_move(unsigned *squares, const unsigned *fresh,
                                                    const unsigned *old)
{
#pragma unroll
    for (int j = 0; j < PIXELS; j++) {
        unsigned byte = (unsigned)j & 3, extended = byte | (byte | 8) * 0x1110;
        int f = (int)signs_perm(fresh[j / 4] ^ 0x80808080, 0, extended);
        int o = (int)signs_perm(old[j / 4] ^ 0x80808080, 0, extended);
        squares[j] = (unsigned)(f * f) - ((unsigned)(o * o) - squares[j]);
    }
}

/* Sets the initial sums of squares. Each of the first 2 * r + 1 rows subtracts `old` samples that
 * are 0, whose square is (0 - 128)^2 = 128^2. */
static __device__ __forceinline__ void squares_begin(unsigned *squares, int r)
{
#pragma unroll
    for (int j = 0; j < PIXELS; j++)
        squares[j] = (2 * r + 1) * 128 * 128;
}

/* Turns prefix sums within threads into prefix sums within the block, and stores the latter at
 * `prefix`. */
template <int VALUES>
static __device__ __forceinline__ void block_scan(unsigned *prefix, unsigned (*sums)[VALUES],
                                                  unsigned (*before)[WARPS * VALUES], int turn)
{
    int me = (int)threadIdx.x;
    unsigned base[VALUES];
    threads_scan<VALUES>(base, before[turn], sums[PIXELS - 1]);
    __syncthreads();
#pragma unroll
    for (int v = 0; v < VALUES; v++)
        base[v] += before[turn][me / 32 * VALUES + v];
    if (me < WARPS)
#pragma unroll
        for (int v = 0; v < VALUES; v++)
            before[turn ^ 1][me * VALUES + v] = 0;
#pragma unroll
    for (int j = 0; j < PIXELS; j++) {
#pragma unroll
        for (int v = 0; v < VALUES; v++)
            sums[j][v] += base[v];
        words_put<VALUES>(prefix + j * VALUES, sums[j]);
    }
    __syncthreads();
}

template <typename END>
static __global__ void __launch_bounds__(END::THREADS, END::BLOCKS)
    strips(const __grid_constant__ struct strips_work<END> work)
{
    typedef typename END::T T;
    enum { CHANNELS = END::CHANNELS, ROWS = END::ROWS, VALUES = END::VALUES };
    enum { SAMPLES = PIXELS * CHANNELS, PIXEL_NBYTES = CHANNELS * sizeof(T) };
    enum { WORDS = PIXELS * PIXEL_NBYTES / 4 };
    extern __shared__ uint4 memory[];
    __shared__ __align__(16) unsigned before[2][WARPS * VALUES];
    const struct strips_args &args = work.strips;
    int me = (int)threadIdx.x, r = args.r, width = args.rows.src.width;
    unsigned *prefix = (unsigned *)memory + me * (PIXELS + 1) * VALUES;
    int x = (int)blockIdx.x % args.cut.strips * args.cut.across - args.halo + me * PIXELS;
    int y0 = (int)blockIdx.x / args.cut.strips * args.band;
    int y1 = min(y0 + args.band, args.rows.src.height);
    bool makes = me * PIXELS >= args.halo && me * PIXELS < args.halo + args.cut.across && x < width;
    struct box_chunk chunk = chunk_at(&args.rows, x * CHANNELS, (int)sizeof(T));
    chunk_wait(&args.rows, &chunk);
    char *out = args.dst.data + (size_t)y0 * args.dst.stride + (long long)x * PIXEL_NBYTES;
    for (int i = me; i < WARPS * VALUES; i += (int)blockDim.x)
        before[0][i] = 0;
    __syncthreads();

    unsigned kept = work.end.begin(), columns[SAMPLES] = {}, squares[PIXELS];
    unsigned fresh[ROWS][WORDS], old[ROWS][WORDS] = {}, centre[ROWS][WORDS];
    squares_begin(squares, r);
#pragma unroll 4
    for (int y = y0 - r - 1; y < y0 + r; y++) {
        chunk_load<T, WORDS>(fresh[0], &args.rows, chunk, y);
        columns_move<T, CHANNELS, END::WEIGH>(columns, fresh[0], old[0]);
        if (END::SQUARES)
            squares_move(squares, fresh[0], old[0]);
    }
    turn_load<T, WORDS, ROWS>(fresh, old, &args, chunk, y0);
    for (int y = y0, turn = 0; y < y1; y += ROWS, turn ^= 1) {
        /* Compute columns: update the column sums, then add them up within the thread. */
        unsigned sums[PIXELS][VALUES], words[ROWS][WORDS];
#pragma unroll
        for (int i = 0; i < ROWS; i++) {
            if (END::CENTRE)
                chunk_load<T, WORDS>(centre[i], &args.rows, chunk, y + i);
            columns_move<T, CHANNELS, END::WEIGH>(columns, fresh[i], old[i]);
            if (END::SQUARES)
                squares_move(squares, fresh[i], old[i]);
#pragma unroll
            for (int s = 0; s < SAMPLES; s++) {
                int j = s / CHANNELS, v = s % CHANNELS + i * CHANNELS;
                sums[j][v] = columns[s] + (j ? sums[j - 1][v] : 0);
                if (END::SQUARES)
                    sums[j][VALUES - 1] = squares[j] + (j ? sums[j - 1][VALUES - 1] : 0);
            }
        }
        /* Load the rows of the next step. Exchange: prefix sums within the block. */
        turn_load<T, WORDS, ROWS>(fresh, old, &args, chunk, y + ROWS);
        block_scan<VALUES>(prefix, sums, before, turn);
        if (!makes)
            continue;
        /* Compute windows as differences of prefix sums, and store. */
        work.end.make(words, &args, prefix, centre, kept);
#pragma unroll
        for (int i = 0; i < ROWS; i++, out += args.dst.stride)
            if (y + i < y1)
                chunk_store<T, WORDS>((T *)out, words[i], (width - x) * CHANNELS);
    }
}

/* Divides the work of windows of k x k pixels among blocks of at most `most` threads, and fills all
 * members except the images. Returns false if windows are too large. */
static inline bool strips_divide(struct strips_args *args, const struct gi_cuda_queue *cu,
                                 const struct gi_image *src, int k, int values, int most)
{
    args->r = k / 2;
    args->halo = (args->r / PIXELS + 1) * PIXELS;
    args->cut = strips_cut_of(src->width, args->halo, most);
    args->shared_nbytes = args->cut.threads * (PIXELS + 1) * values * (int)sizeof(unsigned);
    for (int j = 0; j < PIXELS; j++) {
        args->high[j] = padded(j + args->r) * values;
        args->low[j] = padded(j - args->r - 1) * values;
    }
    return args->r < src->height && args->cut.threads &&
           args->shared_nbytes + 4096 <= cu->shared_nbytes;
}

template <typename END>
static enum gi_status strips_launch(struct gi_cuda_queue *cu, struct gi_image *dst,
                                    const struct gi_image *src, const struct gi_border_spec *mode,
                                    const struct strips_args *args, const END *end,
                                    struct gi_err *err)
{
    struct gi_border_spec border = box_border(src, mode);
    struct strips_work<END> work = {
        *args, *end
    };
    int threads = args->cut.threads, shared = args->shared_nbytes, blocks = 1;
    enum gi_status status =
        gi_cuda_box_rows(cu, &work.strips.rows, src, &border, PIXELS * END::CHANNELS,
                         args->halo * END::CHANNELS, err);
    if (status)
        return status;
    void (*kernel)(const struct strips_work<END>) = strips<END>;
    GI_CUDA_ALLOW_SHARED(cu, kernel);
    GI_CUDA_TRY(
        cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, threads, (size_t)shared));
    int bands = blocks * cu->units / args->cut.strips; /* one wave */
    work.strips.dst = target_of(dst);
    work.strips.band = ceil_div(src->height, bands < 1 ? 1 : bands);
    dim3 grid(args->cut.strips * ceil_div(src->height, work.strips.band));
    return pdl_launch(cu, kernel, grid, threads, shared, &work, err);
}

#endif
