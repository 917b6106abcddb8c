/* Connected-component labelling of a binary image with 4 or 8 neighbours: run-based union-find,
 * first in tiles (label_tiles.cu), then across the seams between tiles, in the label image itself.
 * Components are then numbered in raster order of first pixels. Roots are joined by atomic minima:
 * Y. Komura, "GPU-based cluster-labeling algorithm without the use of conventional iteration",
 * Computer Physics Communications 194, 2015.
 *
 *    tile: 128 pixels x 32 bands         1. label_tiles: components of each tile, in shared memory
 *    +----+----+----+----+               2. label_seams: join runs across the edges of tiles
 *    |w0  |w1  |w2  |w3  | band 0        3. label_open: find the roots of open parts (components
 *    |    |    |    |    |  ...             of a tile that reach its edge)
 *    |    |    |    |    | band 31       4. label_count, scan_counts: number the first pixels
 *    +----+----+----+----+               5. label_pixels: write the label of every pixel
 *    warp = column of 32-pixel words, lane = band (1 row, or 2 rows with 8 neighbours)
 *
 * Example: 8192 x 8192 pixels, 8 neighbours: bands of 2 rows, tiles of 128 x 64 pixels, 64 x 128
 * tiles. A tile has 32 bands of 4 words with up to 16 runs each.
 * SPDX-License-Identifier: MIT */
#include "kernels/cuda/regions/label.h"
#include "kernels/cuda/regions/block_scan.h"
#include "kernels/kernels.h"

enum {
    SEAM_THREADS = 256,
    SEAM_WARPS = SEAM_THREADS / WARP,
    SEAM_WORDS = 4,    /* words that a warp joins to the row above */
    OPEN_THREADS = 64, /* per tile */
    COUNT_THREADS = 256,
    COUNT_EACH = 4, /* words per thread of label_count() */
    COUNT_WORDS = COUNT_THREADS * COUNT_EACH,
};

/* ---- seams ---- */

/* Returns the band whose first row is y; it is empty outside the image. */
static __device__ inline struct band band_at(const struct field &f, unsigned column, unsigned y)
{
    if (column >= f.columns || y >= f.height)
        return band_of(0, 0);
    const uint32_t *word = &f.words[y * f.columns + column];
    return band_of(word[0], f.rows == 1 ? word[0] : y + 1 < f.height ? word[f.columns] : 0);
}

/* Returns the node of the run that contains bit `bit`. */
static __device__ inline uint32_t node_at(const struct field &f, const struct band &band,
                                          unsigned column, unsigned y, unsigned bit)
{
    unsigned row, start = 31 - (unsigned)__clz((int)(band.starts & ((2u << bit) - 1)));
    bit = run_first(band, 1u << start, &row);
    return ((y + row) * f.columns + column) * WARP + bit;
}

/* Joins the columns `mask` of a word in the first band of a tile to the band above the tile. */
static __device__ inline void join_row(const struct field &f, unsigned column, unsigned y,
                                       uint32_t mask)
{
    const unsigned above = y - f.rows;
    const struct around low = {band_at(f, column - 1, y), band_at(f, column, y),
                               band_at(f, column + 1, y)};
    const struct around high = {band_at(f, column - 1, above), band_at(f, column, above),
                                band_at(f, column + 1, above)};
    struct contacts t = contacts_of(low, high, f.rows == 2);
    for (uint32_t m; (m = (t.up | t.left | t.right) & mask);) {
        unsigned bit = lowest(m), other = contact_take(&t, m & (0 - m));
        uint32_t node = other == ~0u ? node_at(f, high.left, column - 1, above, 31)
                        : other > 31 ? node_at(f, high.right, column + 1, above, 0)
                                     : node_at(f, high.own, column, above, other);
        join(f.nodes, node, node_at(f, low.own, column, y, bit));
    }
}

/* Joins a word in the first column of a tile to the word on its left. Where a first band touches
 * the band above the tile, join_row() joins them. */
static __device__ inline void join_column(const struct field &f, unsigned column, unsigned y)
{
    unsigned above = y % (TILE_BANDS * f.rows) == 0 ? f.height : y - f.rows;
    const struct band left = band_at(f, column - 1, y), right = band_at(f, column, y),
                      left_above = band_at(f, column - 1, above),
                      right_above = band_at(f, column, above);
    struct seam s = seam_of(left, right, left_above, right_above, f.rows == 2);
    while (s.level || s.falling || s.rising) {
        bool falls = !s.level && s.falling, rises = !s.level && !s.falling;
        join(f.nodes, node_at(f, falls ? left_above : left, column - 1, falls ? above : y, 31),
             node_at(f, rises ? right_above : right, column, rises ? above : y, 0));
        s.rising &= !rises;
        s.falling &= !falls;
        s.level = false;
    }
}

/* Each of the first `row_jobs` warps joins some words of a horizontal seam. Each other warp joins
 * 32 bands of a vertical seam. */
static __global__ void __launch_bounds__(SEAM_THREADS)
    label_seams(struct field f, unsigned row_jobs, unsigned jobs)
{
    constexpr unsigned EACH = WARP / SEAM_WORDS,
                       BITS = WARP / EACH; /* lanes per word, bits per lane */
    const unsigned lane = threadIdx.x % WARP;
    unsigned job = blockIdx.x * SEAM_WARPS + threadIdx.x / WARP;
    if (job >= jobs)
        return;
    if (job < row_jobs) {
        unsigned word = job * SEAM_WORDS + lane / EACH;
        join_row(f, word % f.columns, (word / f.columns + 1) * TILE_BANDS * f.rows,
                 ((1u << BITS) - 1) << lane % EACH * BITS);
        return;
    }
    job -= row_jobs;
    unsigned y = (job / (f.tiles - 1) * WARP + lane) * f.rows;
    if (y < f.height)
        join_column(f, (job % (f.tiles - 1) + 1) * TILE_COLUMNS, y);
}

/* Finds the components of the open parts of a tile, and clears the bit of each part that is not the
 * first part of its component. */
static __global__ void __launch_bounds__(SEAM_THREADS) label_open(struct field f, unsigned ntiles)
{
    unsigned thread = blockIdx.x * SEAM_THREADS + threadIdx.x, tile = thread / OPEN_THREADS;
    unsigned nopen = tile < ntiles ? f.nopen[tile] : 0;
    for (unsigned i = thread % OPEN_THREADS; i < nopen; i += OPEN_THREADS) {
        uint2 *part = &f.open[(size_t)tile * TILE_OPEN + i];
        uint32_t node = part->x, root = find_halving(f.nodes, node);
        part->y = root;
        if (root != node)
            atomicAnd(&f.roots[node / WARP], ~(1u << node % WARP));
    }
}

/* ---- numbers ---- */

/* Counts the first pixels before each word, within the word's block, and the first pixels of each
 * block. */
static __global__ void __launch_bounds__(COUNT_THREADS) label_count(struct field f, unsigned nwords)
{
    unsigned at = (blockIdx.x * COUNT_THREADS + threadIdx.x) * COUNT_EACH, count;
    uint4 roots = {};
    if (at < nwords)
        roots = *(const uint4 *)&f.roots[at];
    uint4 sums; /* inclusive sums of the words */
    sums.x = (unsigned)__popc(roots.x);
    sums.y = sums.x + (unsigned)__popc(roots.y);
    sums.z = sums.y + (unsigned)__popc(roots.z);
    sums.w = sums.z + (unsigned)__popc(roots.w);
    unsigned before = block_before<COUNT_THREADS / WARP>(sums.w, &count);
    if (at < nwords)
        *(uint4 *)&f.before[at] =
            make_uint4(before, before + sums.x, before + sums.y, before + sums.z);
    if (threadIdx.x == 0)
        f.counts[blockIdx.x] = count;
}

/* Returns the label of the component whose first pixel is bit `bit` of word `i` of `roots`. */
static __device__ inline uint32_t label_of(const struct field &f, unsigned i, unsigned bit)
{
    return f.counts[i / COUNT_WORDS] + f.before[i] +
           (uint32_t)__popc(f.roots[i] & ((2u << bit) - 1));
}

/* Returns the index at which a tile keeps the label of the part with this first pixel. First pixels
 * in a band are never neighbours, so half the width suffices. */
static __device__ inline unsigned label_slot(const struct field &f, unsigned pixel)
{
    return pixel / TILE_WIDTH / f.rows * (TILE_WIDTH / 2) + pixel % TILE_WIDTH / 2;
}

/* Loads the words of a tile, and labels its parts. */
static __device__ inline void number_parts(const struct field &f, const struct tile &tile,
                                           uint32_t *labels, uint32_t *words)
{
    uint32_t roots[2], label[2];
    const unsigned nopen = f.nopen[blockIdx.x];
#pragma unroll
    for (unsigned k = 0; k < 2; k++) {
        unsigned i = k * TILE_THREADS + threadIdx.x, y = tile.y + i / TILE_COLUMNS;
        unsigned at = y * f.columns + tile.column + i % TILE_COLUMNS;
        bool inside = k < f.rows && y < f.height;
        words[i] = inside ? f.words[at] : 0;
        roots[k] = inside ? f.roots[at] : 0;
        label[k] = inside ? f.counts[at / COUNT_WORDS] + f.before[at] : 0;
    }
#pragma unroll
    for (unsigned k = 0; k < 2; k++)
        for (uint32_t m = roots[k]; m; m &= m - 1)
            labels[label_slot(f, (k * TILE_THREADS + threadIdx.x) * WARP + lowest(m))] = ++label[k];
    for (unsigned i = threadIdx.x; i < nopen; i += TILE_THREADS) {
        uint2 part = f.open[(size_t)blockIdx.x * TILE_OPEN + i];
        unsigned y = part.x / WARP / f.columns - tile.y;
        unsigned x = part.x - ((tile.y + y) * f.columns + tile.column) * WARP;
        if (part.x != part.y)
            labels[label_slot(f, y * TILE_WIDTH + x)] = label_of(f, part.y / WARP, part.y % WARP);
    }
}

/* Assigns labels first to the parts of a tile, then to its runs, then to its pixels. */
static __global__ void __launch_bounds__(TILE_THREADS) label_pixels(struct field f)
{
    constexpr unsigned WORD_LABELS = RUNS + 1;
    __shared__ uint32_t words[TILE_WORDS], labels[TILE_BANDS * TILE_WIDTH / 2];
    __shared__ uint32_t runs[TILE_THREADS * WORD_LABELS]; /* per word: 0, then each of its runs */
    const struct tile tile = tile_of(f);
    const unsigned i = threadIdx.x;
    unsigned y = tile.y + i / TILE_COLUMNS * f.rows;
    uint4 firsts[2] = {};
    if (y < f.height) {
        size_t at = (size_t)(y / f.rows) * f.columns + tile.column + i % TILE_COLUMNS;
        firsts[0] = f.firsts[2 * at];
        firsts[1] = f.firsts[2 * at + 1];
    }
    /* Load the words, and store the label of each part at its first pixel. */
    number_parts(f, tile, labels, words);
    __syncthreads();
    struct band band =
        tile_band(words, i / TILE_COLUMNS * f.rows * TILE_COLUMNS + i % TILE_COLUMNS, f.rows);
    /* Exchange: the label of every run. */
    unsigned nruns = (unsigned)__popc(band.starts);
#pragma unroll
    for (unsigned k = 0; k < RUNS; k++)
        if (k < nruns)
            runs[i * WORD_LABELS + k + 1] = labels[label_slot(f, ((const uint16_t *)firsts)[k])];
    runs[i * WORD_LABELS] = 0;
    __syncthreads();

    /* Store: a warp writes a band, and a lane writes four columns, including padding. */
    unsigned column = i % WARP / 8, quad = i % 8 * 4;
    for (unsigned b = i / WARP; b < TILE_BANDS; b += TILE_THREADS / WARP) {
        y = tile.y + b * f.rows;
        band = tile_band(words, b * f.rows * TILE_COLUMNS + column, f.rows);
        uint32_t run = (b * TILE_COLUMNS + column) * WORD_LABELS, out[4];
        run += (unsigned)__popc(band.starts & ((1u << quad) - 1));
#pragma unroll
        for (unsigned k = 0; k < 4; k++) {
            run += band.starts >> (quad + k) & 1;
            out[k] = runs[run];
        }
        uint4 *to = (uint4 *)&f.nodes[((size_t)y * f.columns + tile.column + column) * WARP + quad];
        for (unsigned row = 0; row < f.rows; row++, to += f.columns * (WARP / 4)) {
            uint32_t bits = (row ? band.bottom : band.top) >> quad;
            if (y + row < f.height)
                *to = make_uint4(bits & 1 ? out[0] : 0, bits & 2 ? out[1] : 0,
                                 bits & 4 ? out[2] : 0, bits & 8 ? out[3] : 0);
        }
    }
}

/* ---- launches ---- */

static size_t field_words(const struct gi_image *labels)
{
    return labels->stride / (WARP * sizeof(uint32_t)) * (size_t)labels->height;
}

static unsigned count_blocks(const struct gi_image *labels)
{
    return (unsigned)((field_words(labels) + COUNT_WORDS - 1) / COUNT_WORDS);
}

/* Returns the number of tiles in a column of tiles, with bands of `rows` rows. */
static unsigned tiles_down(const struct gi_image *labels, unsigned rows)
{
    unsigned tile_rows = TILE_BANDS * rows;
    return ((unsigned)labels->height + tile_rows - 1) / tile_rows;
}

static unsigned tiles_across(const struct gi_image *labels)
{
    return (unsigned)(labels->stride / (TILE_WIDTH * sizeof(uint32_t)));
}

size_t gi_cuda_label_scratch(const struct gi_image *labels)
{
    return field_words(labels) * (RUNS * sizeof(uint16_t) + 3 * sizeof(uint32_t)) +
           count_blocks(labels) * sizeof(uint32_t) +
           (size_t)tiles_across(labels) * tiles_down(labels, 1) *
               (TILE_OPEN * sizeof(uint2) + sizeof(uint32_t));
}

enum gi_status gi_cuda_label_launch(struct gi_cuda_queue *cu, const struct gi_image *labels,
                                    device_u64 *n, void *scratch,
                                    const struct gi_predicate *predicate, int connectivity,
                                    struct gi_err *err)
{
    size_t nwords = field_words(labels);
    unsigned nblocks = count_blocks(labels);
    struct field f = {};
    f.rows = connectivity == 8 ? 2 : 1;
    f.tiles = tiles_across(labels);
    unsigned down = tiles_down(labels, f.rows), ntiles = f.tiles * down;
    f.nodes = (uint32_t *)labels->data;
    f.firsts = (uint4 *)scratch;
    f.words = (uint32_t *)(f.firsts + 2 * nwords);
    f.roots = f.words + nwords;
    f.before = f.roots + nwords;
    f.open = (uint2 *)(f.before + nwords);
    f.nopen = (uint32_t *)(f.open + (size_t)ntiles * TILE_OPEN);
    f.counts = f.nopen + ntiles;
    f.height = (unsigned)labels->height;
    f.columns = f.tiles * TILE_COLUMNS;
    unsigned row_jobs = (down - 1) * f.columns / SEAM_WORDS;
    unsigned jobs = row_jobs + (f.tiles - 1) * ((f.height + f.rows * WARP - 1) / (f.rows * WARP));

    struct foreground on = foreground_of(predicate);
    enum gi_status status = gi_cuda_label_tiles(&f, ntiles, &on, cu->stream, err);
    if (status)
        return status;
    if (jobs)
        label_seams<<<(jobs + SEAM_WARPS - 1) / SEAM_WARPS, SEAM_THREADS, 0, cu->stream>>>(
            f, row_jobs, jobs);
    label_open<<<(ntiles * OPEN_THREADS + SEAM_THREADS - 1) / SEAM_THREADS, SEAM_THREADS, 0,
                 cu->stream>>>(f, ntiles);
    label_count<<<nblocks, COUNT_THREADS, 0, cu->stream>>>(f, (unsigned)nwords);
    scan_counts<<<1, SCAN_THREADS, 0, cu->stream>>>(f.counts, nblocks, n);
    label_pixels<<<ntiles, TILE_THREADS, 0, cu->stream>>>(f);
    GI_CUDA_LAUNCHED();
    return GI_OK;
}

static enum gi_status by_tiles(struct gi_queue *queue, struct gi_labels *made,
                               const struct gi_image *src, const struct gi_label *spec,
                               struct gi_err *err)
{
    struct gi_cuda_queue *cu = gi_cuda(queue);
    struct gi_image *labels = &made->image;
    struct gi_predicate predicate = {src, spec->above, spec->invert};
    enum gi_status status = queue->k->alloc(queue, labels, src->width, src->height, 1, GI_U32, err);
    if (status)
        return status;
    char *scratch;
    if (field_words(labels) > UINT32_MAX / WARP)
        status = gi_fail(err, GI_E_DEVICE_MEMORY, "%d x %d pixels are too many to label on CUDA",
                         src->width, src->height);
    else
        status = gi_cuda_scratch(cu, (void **)&scratch, 16 + gi_cuda_label_scratch(labels), err);
    device_u64 *count = (device_u64 *)scratch, found;
    if (!status)
        status = gi_cuda_label_launch(cu, labels, count, scratch + 16, &predicate,
                                      spec->connectivity, err);
    if (!status)
        status = gi_cuda_copy_to_host(cu, &found, sizeof found, count, sizeof found, sizeof found,
                                      1, err);
    if (status)
        queue->k->release(queue, labels);
    else
        made->n = (uint32_t)found;
    return status;
}

const struct gi_label_way gi_cuda_label_ways[GI_WAYS_MAX] = {
    {{"tiles", "everything"}, NULL, by_tiles},
};
