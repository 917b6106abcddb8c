/* label: connected components by union-find over runs of foreground in 32-pixel words.
 * Tiles are solved in shared memory, their seams in the label image itself; then roots are numbered
 * in raster order. A node is a run's first pixel, a parent always comes earlier, so a root is the
 * first pixel of its component.
 * SPDX-License-Identifier: MIT */
#include "kernels/cuda/scan.h"

enum {
    TILE_COLUMNS = 4, /* words across */
    TILE_ROWS = 64,
    THREADS = TILE_COLUMNS * TILE_ROWS, /* one word each */
    NUMBER_THREADS = 256,               /* of the kernels that walk over all words */
    NUMBER_WARPS = NUMBER_THREADS / WARP,
    RUNS = 16,       /* at most in a word */
    NODE_PITCH = 33, /* nodes of a word, and one: the same bit of 32 words lies in 32 banks */
};

/* Everything is indexed alike: pixel (x, y) is node y * 32 * columns + x of the label image, and
 * bit x % 32 of word y * columns + x / 32 of the bit images. */
struct field {
    uint32_t *nodes;  /* the label image: parents first, labels in the end */
    uint32_t *words;  /* foreground */
    uint32_t *roots;  /* first the roots of tiles, then those of components */
    uint32_t *before; /* component roots before each word, in its block of label_roots() */
    uint32_t *counts; /* component roots before each such block */
    uint4 *runs;      /* 16 x 16 bits a word: the root of each run, as a node of its tile */
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

/* As find, and halves the way for whoever comes after. */
static __device__ inline uint32_t find_halving(volatile uint32_t *parent, uint32_t node)
{
    for (uint32_t up = parent[node], upper; up != node; up = parent[node]) {
        upper = parent[up];
        if (upper == up)
            return up;
        parent[node] = upper;
        node = upper;
    }
    return node;
}

static __device__ inline void join(uint32_t *parent, uint32_t a, uint32_t b)
{
    for (;;) {
        a = find_halving(parent, a);
        b = find_halving(parent, b);
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

/* The node of the run that is at `dx` (-1, 0, 1) above bit `bit` of word i. PITCH: nodes a word. */
template <unsigned PITCH>
static __device__ inline uint32_t node_above(const uint32_t *words, uint32_t i, unsigned columns,
                                             unsigned bit, int dx)
{
    int other = (int)bit + dx;
    uint32_t j = i - columns;
    j = other < 0 ? j - 1 : other > 31 ? j + 1 : j;
    return j * PITCH + run_start(words[j], (unsigned)other & 31);
}

/* ---- tiles ---- */

/* Gives each run of word i its first contact for a parent, and takes that from `t`: a forest
 * without any search. Runs without a contact are roots. */
static __device__ inline void tile_link(uint32_t *parent, const uint32_t *words, unsigned i,
                                        struct contacts *t)
{
    for (uint32_t m = words[i]; m;) {
        uint32_t low = m & (0 - m), after = m + low, run = m & ~after;
        uint32_t node = i * NODE_PITCH + (uint32_t)__ffs((int)low) - 1, up = node;
        uint32_t contact = (t->up | t->up_left | t->up_right) & run;
        m &= after;
        contact &= 0 - contact;
        if (contact) {
            int dx = t->up & contact ? 0 : t->up_left & contact ? -1 : 1;
            up = node_above<NODE_PITCH>(words, i, TILE_COLUMNS, (unsigned)__ffs((int)contact) - 1,
                                        dx);
            t->up &= ~contact;
            t->up_left &= dx < 1 ? ~contact : ~0u;
            t->up_right &= dx == 1 ? ~contact : ~0u;
        } else if (t->left && low == 1) {
            up = (i - 1) * NODE_PITCH + run_start(words[i - 1], 31);
            t->left = false;
        }
        parent[node] = up;
    }
}

/* Brings the runs of word i some steps nearer to their roots. */
static __device__ inline void tile_shorten(uint32_t *parent, uint32_t word, unsigned i)
{
    uint32_t starts = word & ~(word << 1), m = starts, up[RUNS];
#pragma unroll
    for (int k = 0; k < RUNS; k++, m &= m - 1)
        if (m) {
            up[k] = parent[i * NODE_PITCH + (uint32_t)__ffs((int)m) - 1];
            for (int step = 0; step < 3; step++)
                up[k] = parent[up[k]];
        }
    __syncthreads();
    m = starts;
#pragma unroll
    for (int k = 0; k < RUNS; k++, m &= m - 1)
        if (m)
            parent[i * NODE_PITCH + (uint32_t)__ffs((int)m) - 1] = up[k];
    __syncthreads();
}

/* As find, while others join: every access is atomic, and the way is cut short. */
static __device__ inline uint32_t find_shared(uint32_t *parent, uint32_t node)
{
    uint32_t root = node, up = atomicOr(&parent[node], 0u), first = up;
    for (; up != root; up = atomicOr(&parent[root], 0u))
        root = up;
    if (first != root)
        atomicMin(&parent[node], root);
    return root;
}

static __device__ inline void join_shared(uint32_t *parent, uint32_t a, uint32_t b)
{
    for (;;) {
        a = find_shared(parent, a);
        b = find_shared(parent, b);
        if (a == b)
            return;
        uint32_t low = a < b ? a : b, high = a < b ? b : a;
        a = atomicMin(&parent[high], low);
        if (a == high)
            return;
        b = low; /* somebody else had given it a parent: both are the same component now */
    }
}

/* Joins word i along the contacts that are left, one at a time. */
static __device__ inline void tile_join(uint32_t *parent, const uint32_t *words, unsigned i,
                                        struct contacts t)
{
    if (t.left)
        join_shared(parent, i * NODE_PITCH, (i - 1) * NODE_PITCH + run_start(words[i - 1], 31));
    while (t.up | t.up_left | t.up_right) {
        uint32_t some = t.up ? t.up : t.up_left ? t.up_left : t.up_right;
        int dx = t.up ? 0 : t.up_left ? -1 : 1;
        unsigned bit = (unsigned)__ffs((int)some) - 1;
        t.up &= dx == 0 ? some - 1 : ~0u;
        t.up_left &= dx < 0 ? some - 1 : ~0u;
        t.up_right &= dx > 0 ? some - 1 : ~0u;
        join_shared(parent, i * NODE_PITCH + run_start(words[i], bit),
                    node_above<NODE_PITCH>(words, i, TILE_COLUMNS, bit, dx));
    }
}

/* Solves the tile whose words are in `words` (shared): at the end each run's node leads to its
 * root. */
static __device__ inline void tile_solve(uint32_t *parent, const uint32_t *words, bool eight)
{
    unsigned i = threadIdx.x;
    struct contacts t =
        contacts_of(words, i, i % TILE_COLUMNS, TILE_COLUMNS, i >= TILE_COLUMNS, eight);
    tile_link(parent, words, i, &t);
    __syncthreads();
    tile_shorten(parent, words[i], i);
    tile_join(parent, words, i, t);
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

/* Writes foreground bits, tile roots, and the parents that seams and roots need. */
template <typename T>
static __global__ void __launch_bounds__(THREADS)
    label_tiles(struct field f, struct foreground predicate)
{
    __shared__ uint32_t words[THREADS], parent[THREADS * NODE_PITCH];
    unsigned i = threadIdx.x, column, y;
    tile_word(&column, &y, f, i - i % WARP);
    uint32_t word = foreground_words<T, TILE_COLUMNS * WARP>(words + (i - i % WARP), predicate,
                                                             column * WARP, y);
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
    uint32_t roots = 0, at = y * f.columns + column, m = starts;
    __align__(16) uint16_t runs[RUNS];
#pragma unroll
    for (int k = 0; k < RUNS; k++, m &= m - 1) {
        runs[k] = 0;
        if (m == 0)
            continue;
        unsigned bit = (unsigned)__ffs((int)m) - 1;
        uint32_t node = i * NODE_PITCH + bit, root = find(parent, node);
        runs[k] = (uint16_t)root;
        roots |= root == node ? 1u << bit : 0;
        if (root == node || (seam >> bit & 1))
            f.nodes[at * WARP + bit] = tile_to_field(f, root);
    }
    f.words[at] = word;
    f.roots[at] = roots;
    if (word) {
        f.runs[2 * (size_t)at] = ((uint4 *)runs)[0];
        if (__popc(starts) > RUNS / 2)
            f.runs[2 * (size_t)at + 1] = ((uint4 *)runs)[1];
    }
}

/* ---- seams ---- */

/* Joins word i, in the first row of a tile, to the row above: a lane a bit. */
static __device__ inline void join_row(const struct field &f, uint32_t i)
{
    unsigned lane = threadIdx.x % WARP;
    struct contacts t = contacts_of(f.words, i, i % f.columns, f.columns, true, f.eight);
    bool up = t.up >> lane & 1, left = t.up_left >> lane & 1, right = t.up_right >> lane & 1;
    if (!up && !left && !right)
        return;
    uint32_t node = i * WARP + run_start(f.words[i], lane);
    if (up)
        join(f.nodes, node, node_above<WARP>(f.words, i, f.columns, lane, 0));
    if (left)
        join(f.nodes, node, node_above<WARP>(f.words, i, f.columns, lane, -1));
    if (right)
        join(f.nodes, node, node_above<WARP>(f.words, i, f.columns, lane, 1));
}

/* Joins word i, in the first column of a tile, to its left side: a lane a row. Inside a tile a
 * contact to the left is implied by the one above it; join_row() has what is above a first row. */
static __device__ inline void join_column(const struct field &f, uint32_t i, bool first_row)
{
    uint32_t right = f.words[i], left = f.words[i - 1];
    uint32_t above = first_row ? 0 : f.words[i - f.columns];
    uint32_t above_left = first_row ? 0 : f.words[i - f.columns - 1];
    bool r = right & 1, l = left >> 31, ar = above & 1, al = above_left >> 31;
    if (r && l && !(ar && al))
        join(f.nodes, i * WARP, (i - 1) * WARP + run_start(left, 31));
    if (f.eight && r && al && !l && !ar)
        join(f.nodes, i * WARP, (i - f.columns - 1) * WARP + run_start(above_left, 31));
    if (f.eight && l && ar && !r && !al)
        join(f.nodes, (i - 1) * WARP + run_start(left, 31), (i - f.columns) * WARP);
}

/* A warp has one word of a row seam, or after `row_jobs` of these 32 rows of a column seam. */
static __global__ void __launch_bounds__(NUMBER_THREADS)
    label_seams(struct field f, unsigned row_jobs, unsigned jobs)
{
    unsigned lane = threadIdx.x % WARP;
    unsigned job = blockIdx.x * NUMBER_WARPS + threadIdx.x / WARP;
    if (job >= jobs)
        return;
    if (job < row_jobs) {
        join_row(f, (job / f.columns + 1) * TILE_ROWS * f.columns + job % f.columns);
        return;
    }
    job -= row_jobs;
    unsigned column = (job % (f.tiles - 1) + 1) * TILE_COLUMNS;
    unsigned y = job / (f.tiles - 1) * WARP + lane;
    if (y < (unsigned)f.height)
        join_column(f, y * f.columns + column, y % TILE_ROWS == 0);
}

/* ---- numbers ---- */

/* Points every tile root straight at its component's root, keeps the bits of the latter, and counts
 * them: before each word of a block, and in each block. A thread has one word. */
static __global__ void __launch_bounds__(NUMBER_THREADS) label_roots(struct field f, size_t nwords)
{
    size_t i = (size_t)blockIdx.x * NUMBER_THREADS + threadIdx.x;
    uint32_t kept = i < nwords ? f.roots[i] : 0;
    for (uint32_t m = kept; m; m &= m - 1) {
        unsigned bit = (unsigned)__ffs((int)m) - 1;
        uint32_t node = (uint32_t)i * WARP + bit, root = find(f.nodes, node);
        if (root != node) {
            f.nodes[node] = root;
            kept ^= 1u << bit;
        }
    }
    unsigned count, before = block_before<NUMBER_WARPS>((unsigned)__popc(kept), &count);
    if (i < nwords) {
        f.roots[i] = kept;
        f.before[i] = before;
    }
    if (threadIdx.x == 0)
        f.counts[blockIdx.x] = count;
}

/* The label of the component whose root is `root`. */
static __device__ inline uint32_t label_of(const struct field &f, uint32_t root)
{
    uint32_t bits = f.roots[root / WARP] & ((1u << root % WARP) - 1);
    return f.counts[root / (WARP * NUMBER_THREADS)] + f.before[root / WARP] +
           (uint32_t)__popc(bits) + 1;
}

/* Gives the roots of each tile their labels, then every pixel that of its run's root. */
static __global__ void __launch_bounds__(THREADS) label_pixels(struct field f)
{
    __shared__ uint32_t words[THREADS], labels[THREADS * NODE_PITCH];
    __shared__ __align__(16) uint16_t runs[THREADS][RUNS];
    unsigned i = threadIdx.x, column, y;
    tile_word(&column, &y, f, i);
    uint32_t at = y * f.columns + column, word = y < (unsigned)f.height ? f.words[at] : 0;
    uint32_t m = word & ~(word << 1);
    words[i] = word;
    if (word) {
        ((uint4 *)runs[i])[0] = f.runs[2 * (size_t)at];
        if (__popc(m) > RUNS / 2)
            ((uint4 *)runs[i])[1] = f.runs[2 * (size_t)at + 1];
    }
    for (int k = 0; m; k++, m &= m - 1) {
        unsigned bit = (unsigned)__ffs((int)m) - 1;
        if (runs[i][k] == i * NODE_PITCH + bit)
            labels[i * NODE_PITCH + bit] = label_of(f, f.nodes[at * WARP + bit]);
    }
    __syncthreads();

    /* Four pixels a lane, a tile row a warp; padding is written too. */
    unsigned part = i % WARP / 8, quad = i % 8 * 4;
    for (unsigned w = i / WARP * TILE_COLUMNS + part; w < THREADS;
         w += THREADS / WARP * TILE_COLUMNS) {
        uint32_t bits = words[w], starts = bits & ~(bits << 1), out[4];
        int run = __popc(starts & ((1u << quad) - 1)) - 1;
#pragma unroll
        for (unsigned k = 0; k < 4; k++) {
            run += starts >> (quad + k) & 1;
            out[k] = bits >> (quad + k) & 1 ? labels[runs[w][run]] : 0;
        }
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
    return field_words(labels) * (RUNS * sizeof(uint16_t) + 3 * sizeof(uint32_t)) +
           number_blocks(labels) * sizeof(uint32_t);
}

enum gi_status gi_cuda_label_launch(struct gi_cuda_context *cu, const struct gi_image *labels,
                                    device_u64 *n, void *scratch,
                                    const struct gi_predicate *predicate, int connectivity,
                                    struct gi_err *err)
{
    size_t nwords = field_words(labels);
    unsigned columns = (unsigned)(nwords / (size_t)labels->height), across = columns / TILE_COLUMNS;
    unsigned height = (unsigned)labels->height, down = (height + TILE_ROWS - 1) / TILE_ROWS;
    unsigned row_jobs = (down - 1) * columns, tiles = across * down;
    unsigned jobs = row_jobs + (across - 1) * ((height + WARP - 1) / WARP);
    struct field f = {};
    f.nodes = (uint32_t *)labels->data;
    f.runs = (uint4 *)scratch;
    f.words = (uint32_t *)(f.runs + 2 * nwords);
    f.roots = f.words + nwords;
    f.before = f.roots + nwords;
    f.counts = f.before + nwords;
    f.columns = columns;
    f.tiles = across;
    f.height = labels->height;
    f.eight = connectivity == 8;

    struct foreground on = foreground_of(predicate);
    if (on.on.type == GI_U8)
        label_tiles<uint8_t><<<tiles, THREADS, 0, cu->stream>>>(f, on);
    else if (on.on.type == GI_U16)
        label_tiles<uint16_t><<<tiles, THREADS, 0, cu->stream>>>(f, on);
    else
        label_tiles<float><<<tiles, THREADS, 0, cu->stream>>>(f, on);
    if (jobs)
        label_seams<<<(jobs + NUMBER_WARPS - 1) / NUMBER_WARPS, NUMBER_THREADS, 0, cu->stream>>>(
            f, row_jobs, jobs);
    label_roots<<<number_blocks(labels), NUMBER_THREADS, 0, cu->stream>>>(f, nwords);
    scan_counts<<<1, SCAN_THREADS, 0, cu->stream>>>(f.counts, number_blocks(labels), n);
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
