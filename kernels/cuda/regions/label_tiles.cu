/* Components of tiles by union-find in shared memory, the first step of labelling (label.cu).
 *
 *    block = tile                     parent[]: node of run k of a word =
 *    +------+------+------+------+      lane * BAND_NODES + column * WORD_NODES + k
 *    | warp0| warp1| warp2| warp3|    lane l of a warp owns band l of its column of words
 *    +------+------+------+------+
 *
 * Phases: load (foreground bits), join bands within a warp (each run first links to the first run
 * that it touches above, other contacts are joined in pairs), join columns of words (1 to 0 and 3
 * to 2, then 2 to 1), find the parts, store. Where lanes read nodes that others write, all of them
 * read, then synchronise, then write, so that reads need no atomics.
 *
 * Example: 128 threads; a word has up to 16 runs and 17 nodes, a band 4 * 17 + 1 = 69, a tile 2208
 * nodes.
 * SPDX-License-Identifier: MIT */
#include "kernels/cuda/regions/label.h"

enum {
    /* Nodes of a word and of a band. Run k of 32 bands is in 32 different banks. */
    WORD_NODES = RUNS + 1,
    BAND_NODES = TILE_COLUMNS * WORD_NODES + 1,
    TILE_NODES = TILE_BANDS * BAND_NODES,
    AT_ONCE = 4, /* number of runs whose parents are looked up together */
};

static_assert((int)TILE_BANDS == (int)WARP, "a lane has a band");

/* Flags in memory.parts. */
static const uint32_t OPEN = 1u << 31, LINK = 1u << 30;

struct memory {
    uint32_t words[TILE_WORDS]; /* foreground, then roots */
    uint32_t parent[TILE_NODES];
    uint32_t parts[TILE_NODES]; /* for a root the first pixel of its part, maybe with OPEN; for
                                   other runs the root, with LINK */
    unsigned nopen;
};

/* ---- joins ---- */

/* Joins a pair of nodes per lane; two equal nodes are no pair. All lanes find their roots before
 * any lane links, so that no lane reads what another writes. */
static __device__ inline void join_pairs(uint32_t *parent, uint32_t a, uint32_t b)
{
    do {
        for (uint32_t up_a, up_b;; a = up_a, b = up_b) {
            up_a = parent[parent[a]];
            up_b = parent[parent[b]];
            if (!__any_sync(ALL_LANES, a != up_a || b != up_b))
                break;
        }
        __syncwarp();
        if (hook(parent, &a, &b))
            a = b;
        __syncwarp();
    } while (__any_sync(ALL_LANES, a != b));
}

/* Path compression for the runs of a warp's words: a path of 32 steps becomes one of 2. */
static __device__ inline void tile_shorten(uint32_t *parent, unsigned first, unsigned nruns)
{
    for (int round = 0; round < 2; round++)
        for (unsigned k = 0; __any_sync(ALL_LANES, k < nruns); k += AT_ONCE) {
            uint32_t up[AT_ONCE];
#pragma unroll
            for (int i = 0; i < AT_ONCE; i++)
                up[i] = parent[parent[parent[parent[first + k + i]]]];
            __syncwarp();
#pragma unroll
            for (int i = 0; i < AT_ONCE; i++)
                parent[first + k + i] = up[i];
            __syncwarp();
        }
}

/* Finds the roots of AT_ONCE nodes from `first` on; all lanes take the same number of steps. */
static __device__ inline void tile_find(uint32_t root[AT_ONCE], const uint32_t *parent,
                                        unsigned first)
{
    bool more = false;
#pragma unroll
    for (unsigned i = 0; i < AT_ONCE; i++)
        root[i] = parent[first + i];
    do {
        more = false;
#pragma unroll
        for (unsigned i = 0; i < AT_ONCE; i++) {
            uint32_t up = parent[parent[root[i]]];
            more |= up != root[i];
            root[i] = up;
        }
    } while (__any_sync(ALL_LANES, more));
}

/* Joins the runs of a warp's words to the bands above. A lane has one band, whose nodes are first,
 * first + 1, ... The parent of each run is the first run that it touches above, which needs no
 * search; the other contacts are joined in pairs. */
static __device__ inline void tile_join_bands(uint32_t *parent, const struct band &band,
                                              unsigned first, bool eight)
{
    struct around low = {}, high = {};
    low.own = band;
    high.own = band_above(band);
    struct contacts t = contacts_of(low, high, eight);
    unsigned above = first - BAND_NODES;
    for (uint32_t m = first_of(band.all, t.up | t.left | t.right); m; m &= m - 1) {
        unsigned bit = lowest(m), other = contact_take(&t, m & (0 - m));
        parent[first + run_number(band, bit)] = above + run_number(high.own, other);
    }
    __syncwarp();
    tile_shorten(parent, first, (unsigned)__popc(band.starts));
    for (uint32_t m; m = t.up | t.left | t.right, __any_sync(ALL_LANES, m != 0);) {
        unsigned a = first, b = first;
        if (m) {
            unsigned bit = lowest(m), other = contact_take(&t, m & (0 - m));
            a = first + run_number(band, bit);
            b = above + run_number(high.own, other);
        }
        join_pairs(parent, a, b);
    }
}

/* Joins the runs of a warp's words to the runs of the words on their left. */
static __device__ inline void tile_join_left(uint32_t *parent, const struct band &left,
                                             const struct band &right, unsigned first, bool eight)
{
    const struct band left_above = band_above(left);
    struct seam s = seam_of(left, right, left_above, band_above(right), eight);
    unsigned left_first = first - WORD_NODES;
    unsigned l = left_first + run_number(left, 31),
             l_above = left_first - BAND_NODES + run_number(left_above, 31);
    join_pairs(parent, s.level ? l : first, first);
    join_pairs(parent, s.falling ? l_above : first, first);
    join_pairs(parent, s.rising ? l : first, s.rising ? first - BAND_NODES : first);
}

/* ---- parts ---- */

/* Returns the node, in the label image, of pixel y * TILE_WIDTH + x of a tile. */
static __device__ inline uint32_t tile_node(const struct field &f, const struct tile &tile,
                                            uint32_t pixel)
{
    return ((tile.y + pixel / TILE_WIDTH) * f.columns + tile.column) * WARP + pixel % TILE_WIDTH;
}

/* Returns the starts of those runs of a word that may touch another tile. */
static __device__ inline uint32_t tile_edge(const struct band &band)
{
    unsigned lane = threadIdx.x % WARP, column = threadIdx.x / WARP;
    if (lane == 0 || lane == TILE_BANDS - 1)
        return band.starts;
    uint32_t edge = column == 0 ? band.starts & 1 : 0;
    if (column == TILE_COLUMNS - 1 && band.all >> 31)
        edge |= 1u << (31 - __clz((int)band.starts));
    return edge;
}

/* Fills t->parts and returns the starts of the runs that are roots. A root is in the topmost band
 * of its part, as is the first pixel of the part. `origin` is the first pixel of the word. */
static __device__ inline uint32_t tile_parts(struct memory *t, const struct band &band,
                                             unsigned first, unsigned origin)
{
    const unsigned lane = threadIdx.x % WARP;
    uint32_t own = 0, top = 0, m = band.starts;
    for (unsigned k = first; __any_sync(ALL_LANES, m != 0); k += AT_ONCE) {
        uint32_t root[AT_ONCE];
        tile_find(root, t->parent, k);
#pragma unroll
        for (unsigned i = 0; i < AT_ONCE; i++, m &= m - 1) {
            own |= root[i] == k + i ? m & (0 - m) : 0;
            top |= root[i] >= lane * BAND_NODES ? m & (0 - m) : 0;
            if (root[i] != k + i)
                t->parts[k + i] = root[i] | LINK;
        }
    }
    for (m = top; m; m &= m - 1) {
        uint32_t start = m & (0 - m), node = first + run_number(band, lowest(m));
        unsigned row, bit = run_first(band, start, &row);
        uint32_t root = own & start ? node : t->parts[node] ^ LINK;
        atomicMin(&t->parts[root], origin + row * TILE_WIDTH + bit);
    }
    __syncthreads();
    for (m = tile_edge(band); m; m &= m - 1) {
        uint32_t node = first + run_number(band, lowest(m));
        atomicOr(&t->parts[own & m & (0 - m) ? node : t->parts[node] ^ LINK], OPEN);
    }
    return own;
}

/* Returns the first pixel of the part of a run, with OPEN added if the part is open. */
static __device__ inline uint32_t part_of(const struct memory *t, unsigned node)
{
    uint32_t part = t->parts[node];
    return part & LINK ? t->parts[part ^ LINK] : part;
}

/* Stores the results of a thread's word; t->words gets the bits of first pixels. */
static __device__ inline void tile_output(const struct field &f, const struct tile &tile,
                                          struct memory *t, const struct band &band, unsigned first,
                                          unsigned origin, uint32_t own)
{
    __align__(16) uint16_t firsts[RUNS];
    for (uint32_t m = own; m; m &= m - 1) {
        uint32_t part = t->parts[first + run_number(band, lowest(m))], pixel = part & ~OPEN;
        atomicOr(&t->words[pixel / WARP], 1u << pixel % WARP);
        if (part & OPEN) {
            uint32_t node = tile_node(f, tile, pixel);
            f.nodes[node] = node;
            f.open[(size_t)blockIdx.x * TILE_OPEN + atomicAdd(&t->nopen, 1u)] = make_uint2(node, 0);
        }
    }
    for (uint32_t m = tile_edge(band); m; m &= m - 1) {
        unsigned row, bit = run_first(band, m & (0 - m), &row);
        uint32_t part = part_of(t, first + run_number(band, lowest(m)));
        f.nodes[tile_node(f, tile, origin + row * TILE_WIDTH + bit)] =
            tile_node(f, tile, part & ~OPEN);
    }
    unsigned y = tile.y + threadIdx.x % WARP * f.rows, nruns = (unsigned)__popc(band.starts);
#pragma unroll
    for (unsigned k = 0; k < RUNS; k++)
        firsts[k] = k < nruns ? (uint16_t)part_of(t, first + k) : 0;
    if (y >= f.height)
        return;
    size_t at = (size_t)(y / f.rows) * f.columns + tile.column + threadIdx.x / WARP;
    f.firsts[2 * at] = ((uint4 *)firsts)[0];
    f.firsts[2 * at + 1] = ((uint4 *)firsts)[1];
}

static __device__ inline void tile_store(const struct field &f, const struct tile &tile,
                                         uint32_t *image, const uint32_t *words)
{
    for (unsigned i = threadIdx.x; i < f.rows * TILE_THREADS; i += TILE_THREADS) {
        unsigned y = tile.y + i / TILE_COLUMNS;
        if (y < f.height)
            image[y * f.columns + tile.column + i % TILE_COLUMNS] = words[i];
    }
}

template <typename T>
static __global__ void __launch_bounds__(TILE_THREADS, 10)
    label_tiles(struct field f, struct foreground predicate)
{
    __shared__ struct memory t;
    const unsigned lane = threadIdx.x % WARP, column = threadIdx.x / WARP;
    const struct tile tile = tile_of(f);
    const bool eight = f.rows == 2;
    /* Load the foreground bits. */
    for (unsigned i = column; i < f.rows * TILE_COLUMNS; i += TILE_COLUMNS)
        foreground_words<T, TILE_WIDTH>(t.words + i * WARP, predicate, tile.column * WARP,
                                        tile.y + i * (WARP / TILE_COLUMNS));
    __syncthreads();
    tile_store(f, tile, f.words, t.words);

    unsigned at = lane * f.rows * TILE_COLUMNS + column;
    unsigned first = lane * BAND_NODES + column * WORD_NODES;
    const struct band band = tile_band(t.words, at, f.rows);
    const struct band left = column > 0 ? tile_band(t.words, at - 1, f.rows) : band_of(0, 0);
#pragma unroll
    for (unsigned k = 0; k < RUNS; k++) {
        t.parent[first + k] = first + k;
        t.parts[first + k] = UINT32_MAX;
    }
    /* Join bands, then columns of words. */
    tile_join_bands(t.parent, band, first, eight);
    for (unsigned step = 1; step < TILE_COLUMNS; step *= 2) {
        __syncthreads();
        if (column % (2 * step) == step)
            tile_join_left(t.parent, left, band, first, eight);
    }
    for (unsigned i = threadIdx.x; i < TILE_WORDS; i += TILE_THREADS)
        t.words[i] = 0;
    if (threadIdx.x == 0)
        t.nopen = 0;
    __syncthreads();
    /* Find the parts and store them. */
    unsigned origin = lane * f.rows * TILE_WIDTH + column * WARP;
    uint32_t own = tile_parts(&t, band, first, origin);
    __syncthreads();
    tile_output(f, tile, &t, band, first, origin, own);
    __syncthreads();
    tile_store(f, tile, f.roots, t.words);
    if (threadIdx.x == 0)
        f.nopen[blockIdx.x] = t.nopen;
}

template <typename T>
static enum gi_status launch(const struct field *f, unsigned ntiles, const struct foreground *on,
                             cudaStream_t stream, struct gi_err *err)
{
    label_tiles<T><<<ntiles, TILE_THREADS, 0, stream>>>(*f, *on);
    GI_CUDA_LAUNCHED();
    return GI_OK;
}

enum gi_status gi_cuda_label_tiles(const struct field *f, unsigned ntiles,
                                   const struct foreground *on, cudaStream_t stream,
                                   struct gi_err *err)
{
    GI_CUDA_TYPES(on->on.type, launch<T>(f, ntiles, on, stream, err));
}
