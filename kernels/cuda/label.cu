/* label: connected components by union-find over runs of foreground in 32-pixel words.
 * Tiles are solved in shared memory, their seams in the label image itself; then roots are numbered
 * in raster order. A node is a run's first pixel, a parent always comes earlier, so a root is the
 * first pixel of its component. Tiles are solved a second time rather than stored.
 * SPDX-License-Identifier: MIT */
#include "kernels/cuda/measure.h"

enum {
    TILE_COLUMNS = 4, /* words across */
    TILE_ROWS = 64,
    THREADS = TILE_COLUMNS * TILE_ROWS, /* one word each */
    AHEAD = 8,                          /* words whose samples are in flight at a time */
    NUMBER_THREADS = 256,               /* of the kernels that walk over all words */
    NUMBER_WARPS = NUMBER_THREADS / WARP,
    NODE_PITCH = 33, /* nodes of a word, and one: the same bit of 32 words lies in 32 banks */
};

/* Everything is indexed alike: pixel (x, y) is node y * 32 * columns + x of the label image, and
 * bit x % 32 of word y * columns + x / 32 of the bit images. */
struct field {
    uint32_t *nodes;  /* the label image: parents first, labels in the end */
    uint32_t *words;  /* foreground */
    uint32_t *roots;  /* first the roots of tiles, then those of components */
    uint32_t *before; /* component roots before each word */
    unsigned columns; /* of words: a row's stride */
    unsigned tiles;   /* side by side */
    int height;
    bool eight; /* connectivity */
};

/* The first bit of the run in `word` that bit `bit` belongs to. */
static __device__ inline unsigned run_start(uint32_t word, unsigned bit)
{
    uint32_t starts = word & ~(word << 1);
    return 31 - (unsigned)__clz((int)(starts & ((2u << bit) - 1)));
}

/* ---- union-find: parents are smaller than their children ---- */

static __device__ inline uint32_t find(const volatile uint32_t *parent, uint32_t node)
{
    for (uint32_t up; (up = parent[node]) != node;)
        node = up;
    return node;
}

static __device__ inline void join(uint32_t *parent, uint32_t a, uint32_t b)
{
    for (;;) {
        a = find(parent, a);
        b = find(parent, b);
        if (a == b)
            return;
        uint32_t low = a < b ? a : b, high = a < b ? b : a;
        uint32_t old = atomicMin(&parent[high], low);
        if (old == high)
            return;
        a = old; /* somebody else had given it a parent: both are the same component now */
        b = low;
    }
}

/* ---- which runs touch ---- */

/* Bits of a word whose pixels touch a pixel of the row above, or of the word to the left, each pair
 * of runs named once and none that others imply. */
struct contacts {
    bool left;
    uint32_t up, up_left, up_right;
};

/* Word `i` of an array of rows of `columns` words, with the neighbour's bit on each side: bit b of
 * the word is bit b + 1. */
static __device__ inline uint64_t widened(const uint32_t *words, size_t i, unsigned column,
                                          unsigned columns)
{
    uint64_t left = column > 0 ? words[i - 1] >> 31 : 0;
    uint64_t right = column + 1 < columns ? words[i + 1] & 1 : 0;
    return left | (uint64_t)words[i] << 1 | right << 33;
}

static __device__ inline struct contacts contacts_of(const uint32_t *words, size_t i,
                                                     unsigned column, unsigned columns, bool above,
                                                     bool eight)
{
    uint64_t c = widened(words, i, column, columns);
    uint64_t u = above ? widened(words, i - columns, column, columns) : 0;
    uint64_t both = c & u, lone = eight ? c & ~u : 0;
    return {(c & 3) == 3, (uint32_t)((both & ~(both << 1)) >> 1),
            (uint32_t)((lone & u << 1 & ~(c << 1)) >> 1),
            (uint32_t)((lone & u >> 1 & ~(c >> 1)) >> 1)};
}

/* Joins the run at bit `bit` of word i to that at `dx` (-1, 0, 1) above it. PITCH: nodes a word. */
template <unsigned PITCH>
static __device__ inline void join_above(uint32_t *parent, const uint32_t *words, uint32_t i,
                                         unsigned columns, unsigned bit, int dx)
{
    uint32_t j = i - columns;
    int other = (int)bit + dx;
    j = other < 0 ? j - 1 : other > 31 ? j + 1 : j;
    other &= 31;
    join(parent, i * PITCH + run_start(words[i], bit),
         j * PITCH + run_start(words[j], (unsigned)other));
}

template <unsigned PITCH>
static __device__ inline void join_contacts(uint32_t *parent, const uint32_t *words, uint32_t i,
                                            unsigned columns, const struct contacts &t)
{
    if (t.left)
        join(parent, i * PITCH, (i - 1) * PITCH + run_start(words[i - 1], 31));
    for (uint32_t m = t.up; m; m &= m - 1)
        join_above<PITCH>(parent, words, i, columns, (unsigned)__ffs((int)m) - 1, 0);
    for (uint32_t m = t.up_left; m; m &= m - 1)
        join_above<PITCH>(parent, words, i, columns, (unsigned)__ffs((int)m) - 1, -1);
    for (uint32_t m = t.up_right; m; m &= m - 1)
        join_above<PITCH>(parent, words, i, columns, (unsigned)__ffs((int)m) - 1, 1);
}

/* ---- tiles ---- */

/* Solves the tile whose words are in `words` (shared): at the end each run's node holds its root.
 */
static __device__ inline void tile_solve(uint32_t *parent, const uint32_t *words, bool eight)
{
    unsigned i = threadIdx.x;
    uint32_t word = words[i], starts = word & ~(word << 1);
    for (uint32_t m = starts; m; m &= m - 1) {
        uint32_t node = i * NODE_PITCH + (uint32_t)__ffs((int)m) - 1;
        parent[node] = node;
    }
    __syncthreads();
    join_contacts<NODE_PITCH>(
        parent, words, i, TILE_COLUMNS,
        contacts_of(words, i, i % TILE_COLUMNS, TILE_COLUMNS, i >= TILE_COLUMNS, eight));
    __syncthreads();
    for (uint32_t m = starts; m; m &= m - 1) {
        uint32_t node = i * NODE_PITCH + (uint32_t)__ffs((int)m) - 1;
        parent[node] = find(parent, node); /* others see the old parent or the root */
    }
    __syncthreads();
}

/* Where word `i` of this block's tile stands in the field. Tiles cover the padding of rows too. */
static __device__ inline void tile_word(unsigned *column, unsigned *y, const struct field &f,
                                        unsigned i)
{
    *column = blockIdx.x % f.tiles * TILE_COLUMNS + i % TILE_COLUMNS;
    *y = blockIdx.x / f.tiles * TILE_ROWS + i / TILE_COLUMNS;
}

/* The node of the field for a node of this tile. */
static __device__ inline uint32_t tile_to_field(const struct field &f, uint32_t node)
{
    unsigned column, y;
    tile_word(&column, &y, f, node / NODE_PITCH);
    return (y * f.columns + column) * WARP + node % NODE_PITCH;
}

/* Foreground bits of this thread's word: each warp makes the 32 words of its lanes. */
template <typename T>
static __device__ inline uint32_t tile_foreground(const struct field &f,
                                                  const struct foreground &predicate)
{
    unsigned lane = threadIdx.x % WARP, first = threadIdx.x - lane;
    uint32_t mine = 0;
    for (unsigned i = 0; i < WARP; i += AHEAD) {
        bool on[AHEAD];
#pragma unroll
        for (unsigned j = 0; j < AHEAD; j++) {
            unsigned column, y;
            tile_word(&column, &y, f, first + i + j);
            on[j] = is_foreground<T>(predicate, (int)(column * WARP + lane), (int)y);
        }
#pragma unroll
        for (unsigned j = 0; j < AHEAD; j++) {
            uint32_t bits = __ballot_sync(ALL_LANES, on[j]);
            mine = lane == i + j ? bits : mine;
        }
    }
    return mine;
}

/* Writes foreground bits, tile roots, and the parents that seams and roots need. */
template <typename T>
static __global__ void __launch_bounds__(THREADS)
    label_tiles(struct field f, struct foreground predicate)
{
    __shared__ uint32_t words[THREADS], parent[THREADS * NODE_PITCH];
    unsigned i = threadIdx.x, column, y;
    uint32_t word = tile_foreground<T>(f, predicate);
    words[i] = word;
    __syncthreads();
    tile_solve(parent, words, f.eight);
    tile_word(&column, &y, f, i);
    if (y >= (unsigned)f.height)
        return;

    unsigned row = i / TILE_COLUMNS;
    uint32_t starts = word & ~(word << 1), seam = row == 0 || row == TILE_ROWS - 1 ? starts : 0;
    if (i % TILE_COLUMNS == 0)
        seam |= word & 1;
    if (i % TILE_COLUMNS == TILE_COLUMNS - 1 && word >> 31)
        seam |= 1u << run_start(word, 31);
    uint32_t roots = 0;
    size_t at = (size_t)y * f.columns + column;
    for (uint32_t m = starts; m; m &= m - 1) {
        unsigned bit = (unsigned)__ffs((int)m) - 1;
        uint32_t node = i * NODE_PITCH + bit, root = parent[node];
        roots |= root == node ? 1u << bit : 0;
        if (root == node || (seam >> bit & 1))
            f.nodes[at * WARP + bit] = tile_to_field(f, root);
    }
    f.words[at] = word;
    f.roots[at] = roots;
}

/* Joins across tiles. Inside a tile row the contact to the left is implied by the one above it. */
static __global__ void label_seams(struct field f)
{
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned column = i % f.columns, y = i / f.columns;
    bool first_row = y % TILE_ROWS == 0, first = column % TILE_COLUMNS == 0,
         last = column % TILE_COLUMNS == TILE_COLUMNS - 1;
    if (y >= (unsigned)f.height || !(first_row || first || last) || f.words[i] == 0)
        return;
    struct contacts t = contacts_of(f.words, i, column, f.columns, y > 0, f.eight);
    t.left = t.left && first;
    if (!first_row) {
        t.left = t.left && !(f.words[i - f.columns] & 1 && f.words[i - f.columns - 1] >> 31);
        t.up = 0;
        t.up_left &= first ? 1u : 0;
        t.up_right &= last ? 0x80000000u : 0;
    }
    join_contacts<WARP>(f.nodes, f.words, i, f.columns, t);
}

/* ---- numbers ---- */

/* Points every tile root straight at its component's root, keeps the bits of the latter, and counts
 * them before each word. A thread has one word. */
static __global__ void __launch_bounds__(NUMBER_THREADS)
    label_roots(struct field f, size_t nwords, device_u64 *n, device_u64 *scan)
{
    __shared__ unsigned counts[NUMBER_WARPS];
    __shared__ unsigned block_before;
    unsigned lane = threadIdx.x % WARP, warp = threadIdx.x / WARP, tile = scan_tile(scan), count;
    size_t i = (size_t)tile * NUMBER_THREADS + threadIdx.x;
    uint32_t kept = i < nwords ? f.roots[i] : 0;
    for (uint32_t m = kept; m; m &= m - 1) {
        unsigned bit = (unsigned)__ffs((int)m) - 1;
        uint32_t node = (uint32_t)i * WARP + bit, root = find(f.nodes, node);
        if (root != node) {
            f.nodes[node] = root;
            kept ^= 1u << bit;
        }
    }
    unsigned before = warp_before((unsigned)__popc(kept), &count);
    if (lane == 0)
        counts[warp] = count;
    __syncthreads();
    if (warp == 0) {
        unsigned all, at = warp_before(lane < NUMBER_WARPS ? counts[lane] : 0, &all);
        device_u64 start = scan_before(scan, tile, all);
        if (lane < NUMBER_WARPS)
            counts[lane] = at;
        if (lane == 0) {
            block_before = (unsigned)start;
            if (tile == gridDim.x - 1)
                *n = start + all;
        }
    }
    __syncthreads();
    if (i < nwords) {
        f.roots[i] = kept;
        f.before[i] = block_before + counts[warp] + before;
    }
}

/* The label of the component whose root is `root`. */
static __device__ inline uint32_t label_of(const struct field &f, uint32_t root)
{
    uint32_t bits = f.roots[root / WARP] & ((1u << root % WARP) - 1);
    return f.before[root / WARP] + (uint32_t)__popc(bits) + 1;
}

/* Solves each tile again, now with labels for roots, and writes its pixels. */
static __global__ void __launch_bounds__(THREADS) label_pixels(struct field f)
{
    __shared__ uint32_t words[THREADS], parent[THREADS * NODE_PITCH];
    unsigned i = threadIdx.x, column, y;
    tile_word(&column, &y, f, i);
    uint32_t word = y < (unsigned)f.height ? f.words[(size_t)y * f.columns + column] : 0;
    words[i] = word;
    __syncthreads();
    tile_solve(parent, words, f.eight);

    uint32_t starts = word & ~(word << 1), others = 0;
    for (uint32_t m = starts; m; m &= m - 1) {
        unsigned bit = (unsigned)__ffs((int)m) - 1;
        uint32_t node = i * NODE_PITCH + bit;
        if (parent[node] == node)
            parent[node] = label_of(f, f.nodes[tile_to_field(f, node)]);
        else
            others |= 1u << bit;
    }
    __syncthreads();
    for (uint32_t m = others; m; m &= m - 1) {
        uint32_t node = i * NODE_PITCH + (uint32_t)__ffs((int)m) - 1;
        parent[node] = parent[parent[node]];
    }
    __syncthreads();

    /* Four pixels a lane, a tile row a warp; padding is written too. */
    unsigned part = i % WARP / 8, quad = i % 8 * 4;
    for (unsigned w = i / WARP * TILE_COLUMNS + part; w < THREADS;
         w += THREADS / WARP * TILE_COLUMNS) {
        uint32_t bits = words[w], out[4];
#pragma unroll
        for (unsigned k = 0; k < 4; k++)
            out[k] =
                bits >> (quad + k) & 1 ? parent[w * NODE_PITCH + run_start(bits, quad + k)] : 0;
        tile_word(&column, &y, f, w);
        if (y < (unsigned)f.height)
            *(uint4 *)&f.nodes[((size_t)y * f.columns + column) * WARP + quad] =
                make_uint4(out[0], out[1], out[2], out[3]);
    }
}

/* ---- launches ---- */

static size_t field_words(const struct gi_image *labels)
{
    return labels->stride / (WARP * sizeof(uint32_t)) * (size_t)labels->height;
}

static unsigned number_blocks(const struct gi_image *labels)
{
    return (unsigned)((field_words(labels) + NUMBER_THREADS - 1) / NUMBER_THREADS);
}

size_t gi_cuda_label_scratch(const struct gi_image *labels)
{
    return scan_nbytes(number_blocks(labels)) + 3 * field_words(labels) * sizeof(uint32_t);
}

enum gi_status gi_cuda_label_launch(struct gi_cuda_context *cu, const struct gi_image *labels,
                                    device_u64 *n, void *scratch,
                                    const struct gi_predicate *predicate, int connectivity,
                                    struct gi_err *err)
{
    size_t nwords = field_words(labels), nscan = scan_nbytes(number_blocks(labels));
    device_u64 *scan = (device_u64 *)scratch;
    uint32_t *words = (uint32_t *)((char *)scratch + nscan);
    unsigned columns = (unsigned)(nwords / (size_t)labels->height), across = columns / TILE_COLUMNS;
    struct field f = {(uint32_t *)labels->data,
                      words,
                      words + nwords,
                      words + 2 * nwords,
                      columns,
                      across,
                      labels->height,
                      connectivity == 8};
    unsigned tiles = across * (unsigned)((labels->height + TILE_ROWS - 1) / TILE_ROWS);
    struct foreground on = foreground_of(predicate);
    GI_CUDA_TRY(cudaMemsetAsync(scan, 0, nscan, cu->stream));
    if (on.on.type == GI_U8)
        label_tiles<uint8_t><<<tiles, THREADS, 0, cu->stream>>>(f, on);
    else if (on.on.type == GI_U16)
        label_tiles<uint16_t><<<tiles, THREADS, 0, cu->stream>>>(f, on);
    else
        label_tiles<float><<<tiles, THREADS, 0, cu->stream>>>(f, on);
    label_seams<<<number_blocks(labels), NUMBER_THREADS, 0, cu->stream>>>(f);
    label_roots<<<number_blocks(labels), NUMBER_THREADS, 0, cu->stream>>>(f, nwords, n, scan);
    label_pixels<<<tiles, THREADS, 0, cu->stream>>>(f);
    GI_CUDA_LAUNCHED();
    return GI_OK;
}

enum gi_status gi_cuda_label(struct gi_context *cx, struct gi_image *labels, uint32_t *n,
                             const struct gi_predicate *predicate, int connectivity,
                             struct gi_err *err)
{
    struct gi_cuda_context *cu = gi_cuda(cx);
    const struct gi_image *on = predicate->on;
    enum gi_status status = cx->k->alloc(cx, labels, on->width, on->height, 1, GI_U32, err);
    if (status)
        return status;
    char *scratch;
    if (field_words(labels) > UINT32_MAX / WARP)
        status = gi_fail(err, GI_E_DEVICE_MEMORY, "%d x %d pixels are too many to label on CUDA",
                         on->width, on->height);
    else
        status = gi_cuda_scratch(cu, (void **)&scratch, 16 + gi_cuda_label_scratch(labels), err);
    device_u64 *count = (device_u64 *)scratch, found;
    if (!status)
        status =
            gi_cuda_label_launch(cu, labels, count, scratch + 16, predicate, connectivity, err);
    if (!status)
        status = gi_cuda_copy_to_host(cu, &found, sizeof found, count, sizeof found, sizeof found,
                                      1, err);
    if (status)
        cx->k->release(cx, labels);
    else
        *n = (uint32_t)found;
    return status;
}
