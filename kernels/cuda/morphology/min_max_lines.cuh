/* Minima along the rows of a strip, for min_max_strips.cu, of cells (min_max_cells.cuh).
 *
 * Narrow elements: a thread stores its cells in shared memory, reads all cells of its windows, and
 * computes minima of 3, of 9 and of `width` neighbours by three-operand minima.
 *
 * Others: van Herk/Gil-Werman with minima of whole blocks.
 *
 *        thread t - 1      thread t          thread t + 1
 *      +-----------------+-----------------+-----------------+   blocks of B pixels, here 4 per
 *      |   |   |   |   a~~~~~~~|~~~|~~~|~~~~~~~b |   |   |   |   thread
 *      +-----------------+-----------------+-----------------+
 *
 * Two minima per cell are stored in shared memory: `after`, of the cells from it to the end of its
 * block and of the next n blocks, and `upto`, of the block before its own and of the cells of its
 * block up to it. The minimum of pixels a to b is min(after[a], upto[b]). With q = (width - 1) / B
 * the block of b is q or q + 1 blocks after that of a, so n = q - 1 covers all blocks in between,
 * and if q > 1 none beyond a or b. B is the largest power of two that divides the pixels of a
 * thread and gives q > 1. RGB has no such blocks: there a block is a thread's samples, and has a
 * minimum for each remainder of a sample's index by 3.
 *
 * Widths that are neither narrow nor have q > 1 use doubling: the minimum of 2m pixels is the
 * minimum of two minima of m pixels.
 *
 * Example: 8-bit gray. Width 15 is narrow: 30 cells are read. Width 31: B = 8, q = 3, n = 2.
 * SPDX-License-Identifier: MIT */
#ifndef GI_KERNELS_CUDA_MIN_MAX_LINES_CUH
#define GI_KERNELS_CUDA_MIN_MAX_LINES_CUH

#include "kernels/cuda/morphology/min_max_cells.cuh"

enum { DIRECT = 4 /* blocks whose minimum is computed without doubling */ };

static __device__ __forceinline__ void line_sync(void)
{
    if (blockDim.x > 32)
        __syncthreads();
    else
        __syncwarp();
}

/* The element along a row, the same in all steps of a block. */
struct line_spec {
    int width, reach; /* of the element in pixels; samples before its anchor */
    /* Bytes from a thread's first cell to the cells from its first window's start on, and to the
     * last cells of its windows. */
    int first[2 * NBYTES], last[NBYTES];
};

/* Returns the offset of sample i from a thread's first cell. The cells of a thread are followed by
 * one of padding, so that accesses are free of bank conflicts. */
static inline __host__ __device__ int line_padded(int i, int samples)
{
    return i + (i >= 0 ? i / samples : -((samples - 1 - i) / samples));
}

/* Returns the bytes of shared memory per thread: after, upto, and minima of blocks. */
static inline int line_nbytes(int nbytes, int channels)
{
    return 4 * nbytes * (2 * (NBYTES / nbytes + 1) + 3 * channels);
}

/* Shared memory for the exchange. */
template <typename T> struct line {
    unsigned *after, *upto, *blocks; /* the first two: the thread's own cells; all threads' */
};

template <typename T> static __device__ __forceinline__ struct line<T> line_at(unsigned *memory) {
    enum { EACH = (cell<T>::SAMPLES + 1) * cell<T>::WORDS };
    int n = (int)blockDim.x, t = (int)threadIdx.x;
    struct line<T> line = {
        memory + t *EACH, memory + (n + t) * EACH, memory + 2 * n *EACH
    };
    return line;
}

/* Returns the minimum of block `block` (of those exported) of a channel of the thread `d` to the
 * right; near the ends of the thread block an arbitrary one. */
template <typename T>
static __device__ __forceinline__ cell<T> block_get(const unsigned *blocks, int block, int d)
{
    int n = (int)blockDim.x;
    return cell_get<T>(blocks, block * n + min(max((int)threadIdx.x + d, 0), n - 1));
}

template <typename T>
static __device__ __forceinline__ void block_put(unsigned *blocks, int block, cell<T> least)
{
    cell_put<T>(blocks, block * (int)blockDim.x + (int)threadIdx.x, least);
}

template <typename T> static __device__ __forceinline__ cell<T> greatest_cell(void)
{
    cell<T> c;
#pragma unroll
    for (int p = 0; p < cell<T>::PARTS; p++)
        c.v[p] = ~0u;
    return c;
}

/* If a block is a thread's samples: replaces next[c], the minimum of the own block, by that of the
 * n blocks to the right, and gets before[c], that of the block on the left. Sample c of the own
 * block is in the same channel as sample (c - d * SAMPLES) mod 3 of block d of RGB. */
template <typename T, int CHANNELS>
static __device__ __forceinline__ void blocks_far(cell<T> *next, cell<T> *before, unsigned *blocks,
                                                  int n)
{
    enum { TURN = CHANNELS == 3 ? (int)cell<T>::SAMPLES % 3 : 0 };
    int m = 1;
#pragma unroll
    for (int c = 0; c < CHANNELS; c++)
        block_put<T>(blocks, c, next[c]);
    line_sync();
#pragma unroll
    for (int c = 0; c < CHANNELS; c++)
        before[c] = block_get<T>(blocks, (c + TURN) % CHANNELS, -1);
    for (; n > DIRECT && 2 * m <= n; m *= 2) {
#pragma unroll
        for (int c = 0; c < CHANNELS; c++)
            next[c] = cells_least<T>(
                next[c], block_get<T>(blocks, (c + (CHANNELS - TURN) * m) % CHANNELS, m));
        line_sync();
#pragma unroll
        for (int c = 0; c < CHANNELS; c++)
            block_put<T>(blocks, c, next[c]);
        line_sync();
    }
#pragma unroll
    for (int c = 0; c < CHANNELS; c++)
        next[c] = greatest_cell<T>();
    /* minima of m blocks: the first m and the last m of n, or each of few */
    for (int d = 1; d <= n; d += m > 1 ? n - m : 1) {
#pragma unroll
        for (int c = 0; c < CHANNELS; c++)
            next[c] = cells_least<T>(
                next[c], block_get<T>(blocks, (c + (CHANNELS - TURN) * d) % CHANNELS, d));
        if (d == n - m + 1)
            break;
    }
}

/* If a thread has several blocks: `least` are their minima, per channel. Computes next and before
 * of each block. */
template <typename T, int CHANNELS, int BLOCKS>
static __device__ __forceinline__ void
blocks_near(cell<T> (*next)[CHANNELS], cell<T> (*before)[CHANNELS], unsigned *blocks, int n)
{
    cell<T> first[CHANNELS], second[CHANNELS], least[BLOCKS][CHANNELS];
#pragma unroll
    for (int c = 0; c < CHANNELS; c++) {
        block_put<T>(blocks, 3 * c, next[0][c]);
        block_put<T>(blocks, 3 * c + 1, next[1][c]);
        block_put<T>(blocks, 3 * c + 2, next[BLOCKS - 1][c]);
    }
    line_sync();
#pragma unroll
    for (int c = 0; c < CHANNELS; c++) {
        first[c] = block_get<T>(blocks, 3 * c, 1);
        second[c] = block_get<T>(blocks, 3 * c + 1, 1);
        before[0][c] = block_get<T>(blocks, 3 * c + 2, -1);
#pragma unroll
        for (int k = 0; k < BLOCKS; k++) {
            least[k][c] = next[k][c];
            if (k > 0)
                before[k][c] = least[k - 1][c];
        }
#pragma unroll
        for (int k = 0; k < BLOCKS; k++)
            next[k][c] = k + 1 < BLOCKS ? least[k + 1 < BLOCKS ? k + 1 : 0][c] : first[c];
        if (n > 1)
#pragma unroll
            for (int k = 0; k < BLOCKS; k++)
                next[k][c] =
                    cells_least<T>(next[k][c], k + 2 < BLOCKS ? least[k + 2 < BLOCKS ? k + 2 : 0][c]
                                               : k + 2 == BLOCKS ? first[c]
                                                                 : second[c]);
    }
}

/* Reads the cell that is `nbytes` bytes from `own`. */
template <typename T>
static __device__ __forceinline__ cell<T> cell_at(const unsigned *own, int nbytes)
{
    return cell_get<T>((const unsigned *)((const char *)own + nbytes), 0);
}

/* Returns the number of samples that a thread of line_narrow() reads in addition to its own number.
 */
template <typename T> static constexpr __host__ __device__ int narrow_more(void)
{
    return sizeof(T) == 4 ? 8 : 16;
}

/* Computes the minima of WIDTH pixels from cells in registers: of 3, 9 and then WIDTH. */
template <typename T, int CHANNELS, int WIDTH>
static __device__ __forceinline__ void line_narrow_by(cell<T> *cells, const unsigned *own,
                                                      const struct line_spec *spec)
{
    enum { SAMPLES = cell<T>::SAMPLES, MORE = (WIDTH - 1) * CHANNELS, C = CHANNELS };
    if constexpr (MORE <= narrow_more<T>()) {
        cell<T> all[SAMPLES + MORE];
#pragma unroll
        for (int i = 0; i < SAMPLES + MORE; i++)
            all[i] = cell_at<T>(own, spec->first[i]);
        if constexpr (WIDTH >= 3)
#pragma unroll
            for (int i = 0; i < SAMPLES + MORE - 2 * C; i++)
                all[i] = cells_least3<T>(all[i], all[i + C], all[i + 2 * C]);
        if constexpr (WIDTH >= 9)
#pragma unroll
            for (int i = 0; i < SAMPLES + MORE - 8 * C; i++)
                all[i] = cells_least3<T>(all[i], all[i + 3 * C], all[i + 6 * C]);
        enum { DONE = WIDTH >= 9 ? 9 : WIDTH >= 3 ? 3 : 1, LAST = (WIDTH - DONE) * C };
#pragma unroll
        for (int s = 0; s < SAMPLES; s++)
            cells[s] = LAST == 0 ? all[s]
                       : WIDTH > 2 * DONE
                           ? cells_least3<T>(all[s], all[s + LAST / C / 2 * C], all[s + LAST])
                           : cells_least<T>(all[s], all[s + LAST]);
    }
}

/* The same for a width that line_is_narrow(). Threads without results get none. */
template <typename T, int CHANNELS>
static __device__ __forceinline__ void line_narrow(cell<T> *cells, struct line<T> *line,
                                                   const struct line_spec *spec, bool makes)
{
    unsigned *own = line->after; /* double buffering */
    line->after = line->upto;
    line->upto = own;
#pragma unroll
    for (int s = 0; s < cell<T>::SAMPLES; s++)
        cell_put<T>(own, s, cells[s]);
    line_sync();
    if (!makes)
        return;
    switch (spec->width) {
    case 3:
        return line_narrow_by<T, CHANNELS, 3>(cells, own, spec);
    case 5:
        return line_narrow_by<T, CHANNELS, 5>(cells, own, spec);
    case 7:
        return line_narrow_by<T, CHANNELS, 7>(cells, own, spec);
    case 9:
        return line_narrow_by<T, CHANNELS, 9>(cells, own, spec);
    case 11:
        return line_narrow_by<T, CHANNELS, 11>(cells, own, spec);
    case 13:
        return line_narrow_by<T, CHANNELS, 13>(cells, own, spec);
    default:
        return line_narrow_by<T, CHANNELS, 15>(cells, own, spec);
    }
}

template <typename T, int CHANNELS> static __device__ __forceinline__ bool line_is_narrow(int width)
{
    return width % 2 && width <= 15 && (width - 1) * CHANNELS <= narrow_more<T>();
}

/* Stores `after` and `upto` of a thread's cells, with blocks of SIZE samples. */
template <typename T, int CHANNELS, int SIZE>
static __device__ __forceinline__ void blocks_put(const cell<T> *cells, const struct line<T> *line,
                                                  int width)
{
    enum { SAMPLES = cell<T>::SAMPLES, BLOCKS = SAMPLES / SIZE };
    cell<T> next[BLOCKS][CHANNELS], before[BLOCKS][CHANNELS];
#pragma unroll
    for (int s = 0; s < SAMPLES; s++) {
        cell<T> *least = &next[s / SIZE][s % SIZE % CHANNELS];
        if (s % SIZE < CHANNELS)
            *least = cells[s];
        else if (s % SIZE / CHANNELS % 2 == 0)
            *least = cells_least3<T>(*least, cells[s - CHANNELS], cells[s]);
        else if (s % SIZE + CHANNELS >= SIZE)
            *least = cells_least<T>(*least, cells[s]);
    }
    int n = (width - 1) * CHANNELS / SIZE - 1;
    if constexpr (BLOCKS > 1)
        blocks_near<T, CHANNELS, BLOCKS>(next, before, line->blocks, n);
    else
        blocks_far<T, CHANNELS>(next[0], before[0], line->blocks, n);
#pragma unroll
    for (int s = SAMPLES - 1; s >= 0; s--) {
        cell<T> *run = &next[s / SIZE][s % SIZE % CHANNELS];
        cell_put<T>(line->after, s, *run = cells_least<T>(*run, cells[s]));
    }
#pragma unroll
    for (int s = 0; s < SAMPLES; s++) {
        cell<T> *run = &before[s / SIZE][s % SIZE % CHANNELS];
        cell_put<T>(line->upto, s, *run = cells_least<T>(*run, cells[s]));
    }
}

/* Reads the cells that are `offset` samples from a thread's own. */
template <typename T>
static __device__ __forceinline__ void line_read(cell<T> *cells, const unsigned *own, int offset)
{
    enum { SAMPLES = cell<T>::SAMPLES };
    int to = line_padded(offset, SAMPLES), next = SAMPLES - (offset & (SAMPLES - 1));
#pragma unroll
    for (int s = 0; s < SAMPLES; s++)
        cells[s] = cell_get<T>(own, to + s + (s >= next));
}

/* Replaces cells by minima of m pixels, by doubling, in `after`. Returns m; 2 * m is at least the
 * width. */
template <typename T, int CHANNELS>
static __device__ __forceinline__ int line_double(cell<T> *cells, const struct line<T> *line,
                                                  int width)
{
    enum { SAMPLES = cell<T>::SAMPLES };
    int m = 1;
    for (;; m *= 2) {
        cell<T> other[SAMPLES];
        line_sync();
#pragma unroll
        for (int s = 0; s < SAMPLES; s++)
            cell_put<T>(line->after, s, cells[s]);
        line_sync();
        if (2 * m >= width)
            return m;
        line_read<T>(other, line->after, m * CHANNELS);
#pragma unroll
        for (int s = 0; s < SAMPLES; s++)
            cells[s] = cells_least<T>(cells[s], other[s]);
    }
}

/* Computes the minima of `width` pixels in ROWS rows. Only threads that make results get them. */
template <typename T, int CHANNELS>
static __device__ __forceinline__ void
least_along(unsigned (&words)[ROWS][4], const line_keys<T> (&rows)[ROWS],
            const struct line_spec *spec, struct line<T> *line, bool makes)
{
    enum { SAMPLES = cell<T>::SAMPLES, PIXELS = CHANNELS == 3 ? 0 : SAMPLES / CHANNELS };
    int width = spec->width, m = 0;
    cell<T> cells[SAMPLES];
    cells_of_rows<T>(cells, rows);
    if (width == 1)
        return rows_of_cells<T>(words, cells);
    if (line_is_narrow<T, CHANNELS>(width)) {
        line_narrow<T, CHANNELS>(cells, line, spec, makes);
        return rows_of_cells<T>(words, cells);
    }
    if (PIXELS >= 16 && width > 32)
        blocks_put<T, CHANNELS, PIXELS >= 16 ? 16 * CHANNELS : SAMPLES>(cells, line, width);
    else if (PIXELS >= 8 && width > 16)
        blocks_put<T, CHANNELS, PIXELS >= 8 ? 8 * CHANNELS : SAMPLES>(cells, line, width);
    else if (PIXELS >= 8 && width > 8)
        blocks_put<T, CHANNELS, PIXELS >= 8 ? 4 * CHANNELS : SAMPLES>(cells, line, width);
    else if ((width - 1) * CHANNELS >= 2 * SAMPLES)
        blocks_put<T, CHANNELS, SAMPLES>(cells, line, width);
    else
        m = line_double<T, CHANNELS>(cells, line, width);
    if (!m)
        line_sync();
    if (!makes)
        return;
#pragma unroll
    for (int s = 0; s < SAMPLES; s++)
        cells[s] = cell_at<T>(line->after, spec->first[s]);
    cell<T> other[SAMPLES];
    if (m)
        line_read<T>(other, line->after, (width - m) * CHANNELS - spec->reach);
    else
#pragma unroll
        for (int s = 0; s < SAMPLES; s++)
            other[s] = cell_at<T>(line->upto, spec->last[s]);
#pragma unroll
    for (int s = 0; s < SAMPLES; s++)
        cells[s] = cells_least<T>(cells[s], other[s]);
    rows_of_cells<T>(words, cells);
}

#endif
