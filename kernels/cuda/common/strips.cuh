/* Sums of all windows of k x k samples in one pass, at a cost that hardly depends on k: running
 * column sums and prefix sums along the row. All sums are modulo 2^32, which is exact because the
 * sums of a window fit in 32 bits. The epilogue of the kernel, which is the box filter
 * (box_strips.cu) or local thresholds (local_strips.cu), computes results from the sums.
 *
 * Block: up to 32 warps. It owns a strip of columns (threads * PIXELS, including the halo) and a
 * band of rows, and moves down the band, ROWS rows per step. A thread owns PIXELS = 8 or 16
 * neighbouring pixels and keeps for each of their columns the sum of k samples.
 *
 *       halo          across           halo
 *     +------+-----------------------+------+    row y + r     added to the column sums
 *     |t0|t1 |t2 |t3 |  ...    |     |  |tn |       ...
 *     +------+-----------------------+------+    row y - r - 1 subtracted
 *        column sums: registers
 *     +------+-----------------------+------+
 *     | P0 P1 ...   prefix sums P        Pm |    shared memory, padding after those of a thread
 *     +------+-----------------------+------+
 *        window of pixel x = P(x + r) - P(x - r - 1)
 *
 * Exchange: the totals of threads are added up by shuffles within the warp (threads_scan), then, if
 * there are several warps, the totals of warps through `before`. From the sum of all pixels before
 * its own, a thread makes its prefix sums one after the other and stores them in shared memory.
 *
 * Phases of a step: compute columns, load (the rows of the next step), exchange (block scan),
 * compute windows, store.
 *
 * Every second block moves up its band instead: neighbouring bands begin, or end, at their common
 * edge at the same time, and rows that both need are read from memory once.
 *
 * A band begins with the sums of k rows, of bytes four rows per instruction. These are more than
 * its own rows if k is large. Then another kernel adds up blocks of BLOCK_ROWS rows first, and a
 * band begins with the sums of whole blocks.
 *
 * Example: k = 31, 8-bit gray: r = 15, halo = 16 pixels, PIXELS = 16, ROWS = 2; 136 bytes of shared
 * memory per thread and sum. Pixel 0 of a thread reads the prefix sums padded(15) = 15 and
 * padded(-16) = -17.
 * SPDX-License-Identifier: MIT */
#ifndef GI_KERNELS_CUDA_STRIPS_CUH
#define GI_KERNELS_CUDA_STRIPS_CUH

#include "kernels/cuda/common/pdl.cuh"
#include "kernels/cuda/common/strips_words.cuh"
#include "kernels/cuda/convolution/box.cuh"

enum {
    PIXELS_MAX = 16,             /* neighbouring pixels per thread */
    WARPS = 32,                  /* maximum of a block */
    BLOCK_ROWS = 32,             /* rows that are added up before, if k is large */
    SUMS_NBYTES_MAX = 256 << 20, /* of the sums of all blocks */
    MOST_THREADS = 32 * WARPS,
};

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
        if (blockDim.x > 32) {
            unsigned all = __shfl_sync(~0u, base[v], 31);
            if (lane > warp)
                atomicAdd(&before[lane * N + v], all);
        }
        base[v] -= sums[v];
    }
}

/* Returns the index of prefix sum i in shared memory. The sums of a thread, `pixels` of them (8 or
 * 16), are followed by one of padding, so that threads access sums without bank conflicts. */
static inline int padded(int i, int pixels)
{
    return i + (i >> (pixels == 16 ? 4 : 3));
}

/* Division of rows into strips. */
struct strips_cut {
    int strips, across; /* strips per row; result pixels per strip */
    int threads;        /* per block; 0: the halo is too wide */
};

/* Chooses the number of threads per block. Each side of a strip has a halo of `halo` pixels, and
 * few of the threads should work on the halo. */
static inline struct strips_cut strips_cut_of(int width, int halo, int most, int pixels)
{
    struct strips_cut cut = {0, 0, 0};
    double best = 1e30;
    for (int n = 32; n <= most; n += 32) {
        int across = n * pixels - 2 * halo;
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
    int r, halo; /* window radius; halo per side, > r and whole threads */
    struct strips_cut cut;
    int band;          /* rows per block */
    int shared_nbytes; /* per block */
    /* Column sums of BLOCK_ROWS rows, [block of rows][strip][sum][thread], or NULL */
    unsigned *sums;
    /* offsets, in bytes, from a thread's prefix sums to the prefix sums at the ends of window j */
    int high[PIXELS_MAX], low[PIXELS_MAX];
};

/* The kernel argument. END is the epilogue. Its members are its parameters, and it defines:
 *   T, CHANNELS      sample type; channels
 *   PIXELS           neighbouring pixels per thread: 8, or 16 if registers suffice
 *   SUMS             sums per pixel: of samples, and of other integers computed from them
 *   ROWS             rows per step
 *   CENTRE           whether the epilogue reads the source samples at the centres
 *   THREADS          maximum per block, for launch bounds, or 0 for strips_threads()
 *   BLOCKS           resident blocks per multiprocessor, for launch bounds
 *   LARGE            whether k can exceed 2 * BLOCK_ROWS + 1, so that strips_sums() is compiled
 *   summed           the epilogue whose strips_sums() runs; it has the same sums
 *   with_sums()      returns the epilogue of that type
 *   begin()          returns a word that remains in a register
 *   move()           adds a row to column sums and, if SUBTRACT, subtracts an old row
 *   QUADS            whether there is add(), for bytes
 *   add()            adds samples s to s + 3 of four rows; word i has sample s + i of each row
 *   make()           computes the words of a thread's results from prefix sums */
template <typename END> struct strips_work {
    struct strips_args strips;
    END end;
};

/* Loads the rows that enter and leave the windows of the step at row y. `down` is 1, or -1 if the
 * block moves up. */
template <typename T, int WORDS, int ROWS>
static __device__ __forceinline__ void turn_load(unsigned (*fresh)[WORDS], unsigned (*old)[WORDS],
                                                 const struct strips_args *args,
                                                 struct box_chunk chunk, int y, int down)
{
    int first = y - down * (args->r + 1), last = y + down * args->r;
    int low = min(first, last) - ROWS, high = max(first, last) + ROWS;
    if (low >= 0 && high <= args->rows.src.height) { /* most steps: plain addresses */
#pragma unroll
        for (int i = 0; i < ROWS; i++) {
            chunk_load_inside<T, WORDS>(fresh[i], chunk, last + down * i);
            chunk_load_inside<T, WORDS>(old[i], chunk, first + down * i);
        }
        return;
    }
#pragma unroll
    for (int i = 0; i < ROWS; i++) {
        chunk_load<T, WORDS>(fresh[i], &args->rows, chunk, last + down * i);
        chunk_load<T, WORDS>(old[i], &args->rows, chunk, first + down * i);
    }
}

/* Stores the prefix sums of the block at `prefix`, given the column sums of each row of a step. */
template <int PIXELS, int ROWS, int SUMS>
static __device__ __forceinline__ void block_scan(unsigned *prefix,
                                                  const unsigned (*columns)[PIXELS * SUMS],
                                                  unsigned (*before)[WARPS * ROWS * SUMS], int turn)
{
    enum { VALUES = ROWS * SUMS };
    int me = (int)threadIdx.x;
    unsigned base[VALUES], totals[VALUES];
#pragma unroll
    for (int v = 0; v < VALUES; v++) {
        const unsigned *own = columns[v / SUMS] + v % SUMS;
        totals[v] = own[0];
#pragma unroll
        for (int j = 1; j < PIXELS; j++)
            totals[v] += own[j * SUMS];
    }
    threads_scan<VALUES>(base, before[turn], totals);
    if (blockDim.x > 32) {
        __syncthreads();
#pragma unroll
        for (int v = 0; v < VALUES; v++)
            base[v] += before[turn][me / 32 * VALUES + v];
        if (me < WARPS)
#pragma unroll
            for (int v = 0; v < VALUES; v++)
                before[turn ^ 1][me * VALUES + v] = 0;
    } else {
        __syncwarp(); /* all threads have read the prefix sums of the step before */
    }
#pragma unroll
    for (int j = 0; j < PIXELS; j++) {
#pragma unroll
        for (int v = 0; v < VALUES; v++)
            base[v] += columns[v / SUMS][j * SUMS + v % SUMS];
        words_put<VALUES>(prefix + j * VALUES, base);
    }
    if (blockDim.x > 32)
        __syncthreads();
    else
        __syncwarp();
}

/* Returns the words per thread that are live during a step, most of them in registers: column sums,
 * prefix sums, and samples that enter, leave and are at the centres. */
template <typename END> static __host__ __device__ constexpr int strips_live()
{
    return END::PIXELS * END::SUMS * (1 + END::ROWS) + (2 + END::CENTRE) * END::ROWS * END::WORDS;
}

/* Returns the maximum number of threads per block, which have 64, 128 or 255 registers each
 * unless END sets the number. */
template <typename END> static __host__ __device__ constexpr int strips_threads()
{
    int live = strips_live<END>();
    if (END::THREADS > 0)
        return END::THREADS;
    return (live <= 48    ? MOST_THREADS
            : live <= 100 ? MOST_THREADS / 2
                          : MOST_THREADS / 4) /
           END::BLOCKS;
}

/* Returns the chunk of a thread in strip `strip`. */
template <typename END>
static __device__ __forceinline__ struct box_chunk strip_chunk(const struct strips_args *args,
                                                               int strip)
{
    int x = strip * args->cut.across - args->halo + (int)threadIdx.x * END::PIXELS;
    return chunk_at(&args->rows, x * END::CHANNELS, (int)sizeof(typename END::T));
}

/* Adds rows y0 to y1 - 1 to column sums, of bytes four rows at a time. */
template <typename END>
static __device__ __forceinline__ void rows_add(unsigned *columns,
                                                const struct strips_work<END> *work,
                                                struct box_chunk chunk, int y0, int y1)
{
    typedef typename END::T T;
    enum { WORDS = END::WORDS };
    const struct box_rows *rows = &work->strips.rows;
    unsigned none[WORDS] = {};
    int y = y0;
    if constexpr (END::QUADS) {
#pragma unroll 1
        for (; y + 4 <= y1; y += 4) {
            unsigned fresh[4][WORDS];
            if (y >= 0 && y + 4 <= rows->src.height)
#pragma unroll
                for (int i = 0; i < 4; i++)
                    chunk_load_inside<T, WORDS>(fresh[i], chunk, y + i);
            else
#pragma unroll
                for (int i = 0; i < 4; i++)
                    chunk_load<T, WORDS>(fresh[i], rows, chunk, y + i);
#pragma unroll
            for (int w = 0; w < WORDS; w++) {
                unsigned bytes[4];
                bytes_transpose(bytes, fresh[0][w], fresh[1][w], fresh[2][w], fresh[3][w]);
                work->end.add(columns, bytes, 4 * w);
            }
        }
    }
    enum { AT_ONCE = END::QUADS ? 1 : 4 };
#pragma unroll AT_ONCE
    for (; y < y1; y++) {
        unsigned fresh[WORDS];
        chunk_load<T, WORDS>(fresh, rows, chunk, y);
        work->end.template move<false>(columns, fresh, none);
    }
}

/* Returns the first sum of the thread in block `block` of rows. Its sums are blockDim.x apart. */
template <typename END>
static __device__ __forceinline__ unsigned *block_sums(const struct strips_args *args, int block,
                                                       int strip)
{
    size_t row = ((size_t)block * args->cut.strips + strip) * END::PIXELS * END::SUMS;
    return args->sums + row * blockDim.x + threadIdx.x;
}

/* Makes the sums of a block of rows. */
template <typename END>
static __global__ void __launch_bounds__(strips_threads<END>(), END::BLOCKS)
    strips_sums(const __grid_constant__ struct strips_work<END> work)
{
    const struct strips_args &args = work.strips;
    int strip = (int)blockIdx.x % args.cut.strips, block = (int)blockIdx.x / args.cut.strips;
    unsigned columns[END::PIXELS * END::SUMS] = {}, *out = block_sums<END>(&args, block, strip);
    rows_add(columns, &work, strip_chunk<END>(&args, strip), block * BLOCK_ROWS,
             (block + 1) * BLOCK_ROWS);
#pragma unroll
    for (int s = 0; s < END::PIXELS * END::SUMS; s++)
        out[s * blockDim.x] = columns[s];
}

/* Adds rows y0 to y1 - 1, which may be outside the image, to column sums. */
template <typename END>
static __device__ __forceinline__ void
window_begin(unsigned *columns, const struct strips_work<END> *work, struct box_chunk chunk,
             int strip, int y0, int y1)
{
    const struct strips_args *args = &work->strips;
    int first = (max(y0, 0) + BLOCK_ROWS - 1) / BLOCK_ROWS;
    int last = min(y1, args->rows.src.height) / BLOCK_ROWS; /* of whole blocks, exclusive */
    if (!END::LARGE || !args->sums || first >= last)
        first = last = y1;
    for (int block = first; block < last; block++) {
        const unsigned *sums = block_sums<END>(args, block, strip);
#pragma unroll
        for (int s = 0; s < END::PIXELS * END::SUMS; s++)
            columns[s] += sums[s * blockDim.x];
    }
    bool whole = first < last;
#pragma unroll 1
    for (int part = 0; part <= (int)whole; part++)
        rows_add(columns, work, chunk, part ? last * BLOCK_ROWS : y0,
                 whole && !part ? first * BLOCK_ROWS : y1);
}

template <typename END>
static __global__ void __launch_bounds__(strips_threads<END>(), END::BLOCKS)
    strips(const __grid_constant__ struct strips_work<END> work)
{
    typedef typename END::T T;
    enum { CHANNELS = END::CHANNELS, ROWS = END::ROWS, SUMS = END::SUMS, VALUES = ROWS * SUMS };
    enum { PIXELS = END::PIXELS, PIXEL_NBYTES = CHANNELS * sizeof(T) };
    enum { WORDS = PIXELS * PIXEL_NBYTES / 4 };
    /* Too many live words: samples are loaded after the exchange. */
    constexpr bool LATE = strips_live<END>() > 200;
    static_assert(WORDS == END::WORDS, "an epilogue makes the words of a row");
    extern __shared__ uint4 memory[];
    __shared__ __align__(16) unsigned before[2][WARPS * VALUES];
    const struct strips_args &args = work.strips;
    int me = (int)threadIdx.x, r = args.r, width = args.rows.src.width;
    unsigned *prefix = (unsigned *)memory + me * (PIXELS + 1) * VALUES;
    int strip = (int)blockIdx.x % args.cut.strips;
    int x = strip * args.cut.across - args.halo + me * PIXELS;
    int y0 = (int)blockIdx.x / args.cut.strips * args.band;
    int y1 = min(y0 + args.band, args.rows.src.height);
    bool makes = me * PIXELS >= args.halo && me * PIXELS < args.halo + args.cut.across && x < width;
    struct box_chunk chunk = strip_chunk<END>(&args, strip);
    chunk_wait(&args.rows, &chunk);
    /* Every second band is made from below. */
    int down = (int)blockIdx.x / args.cut.strips % 2 ? -1 : 1, rows = y1 - y0;
    int start = down < 0 ? y1 - 1 : y0;
    long long stride = down * (long long)args.dst.stride;
    char *out = args.dst.data + (size_t)start * args.dst.stride + (long long)x * PIXEL_NBYTES;
    for (int i = me; i < WARPS * VALUES; i += (int)blockDim.x)
        before[0][i] = 0;
    __syncthreads();

    unsigned kept = work.end.begin(), columns[PIXELS * SUMS] = {};
    unsigned fresh[ROWS][WORDS], old[ROWS][WORDS], centre[ROWS][WORDS];
    int above = down < 0 ? y1 - r : y0 - r - 1; /* the window before the first, of 2 * r + 1 rows */
    window_begin(columns, &work, chunk, strip, above, above + 2 * r + 1);
    turn_load<T, WORDS, ROWS>(fresh, old, &args, chunk, start, down);
    for (int y = 0, turn = 0; y < rows; y += ROWS, turn ^= 1) {
        /* Compute columns: update the column sums. */
        unsigned sums[ROWS][PIXELS * SUMS], words[ROWS][WORDS];
#pragma unroll
        for (int i = 0; i < ROWS; i++) {
            if (END::CENTRE && !LATE)
                chunk_load_inside<T, WORDS>(centre[i], chunk, start + down * min(y + i, rows - 1));
            work.end.template move<true>(columns, fresh[i], old[i]);
#pragma unroll
            for (int s = 0; s < PIXELS * SUMS; s++)
                sums[i][s] = columns[s];
        }
        /* Load the rows of the next step. Exchange: prefix sums within the block. */
        if (!LATE)
            turn_load<T, WORDS, ROWS>(fresh, old, &args, chunk, start + down * (y + ROWS), down);
        block_scan<PIXELS, ROWS, SUMS>(prefix, sums, before, turn);
        if (LATE) {
            turn_load<T, WORDS, ROWS>(fresh, old, &args, chunk, start + down * (y + ROWS), down);
#pragma unroll
            for (int i = 0; i < ROWS; i++)
                if (END::CENTRE)
                    chunk_load_inside<T, WORDS>(centre[i], chunk,
                                                start + down * min(y + i, rows - 1));
        }
        if (!makes)
            continue;
        /* Compute windows as differences of prefix sums, and store. */
        work.end.make(words, &args, prefix, centre, kept);
#pragma unroll
        for (int i = 0; i < ROWS; i++, out += stride)
            if (y + i < rows)
                chunk_store<T, WORDS>((T *)out, words[i], (width - x) * CHANNELS);
    }
}

/* Divides the work of windows of k x k pixels among blocks, and fills all members except the
 * images. Returns false if windows are too large. */
template <typename END>
static bool strips_divide(struct strips_args *args, const struct gi_cuda_queue *cu,
                          const struct gi_image *src, int k)
{
    enum { PIXELS = END::PIXELS, EACH_NBYTES = END::ROWS * END::SUMS * (int)sizeof(unsigned) };
    args->r = k / 2;
    args->halo = (args->r / PIXELS + 1) * PIXELS;
    args->cut = strips_cut_of(src->width, args->halo, strips_threads<END>(), PIXELS);
    args->shared_nbytes = args->cut.threads * (PIXELS + 1) * EACH_NBYTES;
    for (int j = 0; j < PIXELS; j++) {
        args->high[j] = padded(j + args->r, PIXELS) * EACH_NBYTES;
        args->low[j] = padded(j - args->r - 1, PIXELS) * EACH_NBYTES;
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
    int strips = args->cut.strips, whole = src->height / BLOCK_ROWS;
    void (*kernel)(const struct strips_work<END>) = ::strips<END>;
    GI_CUDA_ALLOW_SHARED(cu, kernel);
    GI_CUDA_TRY(
        cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, threads, (size_t)shared));
    int bands = blocks * cu->units / strips; /* one wave */
    bands = bands < 1 ? 1 : bands < src->height ? bands : src->height;
    /* Sums are made if bands begin with more rows, less the parts of two blocks, than the image
     * has, which is never so if r is at most BLOCK_ROWS. */
    size_t sums_nbytes = (size_t)whole * strips * threads * END::PIXELS * END::SUMS * 4;
    bool sums = END::LARGE && whole && (2LL * args->r - 2 * BLOCK_ROWS) * bands > src->height &&
                sums_nbytes <= SUMS_NBYTES_MAX;
    void *more;
    enum gi_status status =
        gi_cuda_box_rows(cu, &work.strips.rows, src, &border, END::PIXELS * END::CHANNELS,
                         args->halo * END::CHANNELS, &more, sums ? sums_nbytes : 0, err);
    if (status)
        return status;
    work.strips.sums = sums ? (unsigned *)more : NULL;
    work.strips.dst = target_of(dst);
    work.strips.band = ceil_div(src->height, bands);
    dim3 grid(strips * ceil_div(src->height, work.strips.band));
    if (!sums)
        return pdl_launch(cu, kernel, grid, threads, shared, &work, err);
    if constexpr (END::LARGE) {
        struct strips_work<typename END::summed> made = {
            work.strips, end->with_sums()
        };
        strips_sums<typename END::summed><<<strips * whole, threads, 0, cu->stream>>>(made);
        GI_CUDA_LAUNCHED();
    }
    kernel<<<grid, threads, shared, cu->stream>>>(work);
    GI_CUDA_LAUNCHED();
    return GI_OK;
}

#endif
