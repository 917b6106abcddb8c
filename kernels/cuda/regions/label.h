/* Shared by the labelling kernels. The foreground is divided into bands, and bands into runs. With
 * 8 neighbours a band is two rows, because touching columns of two rows then always belong
 * together; otherwise it is one row.
 * SPDX-License-Identifier: MIT */
#ifndef GI_KERNELS_CUDA_LABEL_H
#define GI_KERNELS_CUDA_LABEL_H

#include "kernels/cuda/common/measure.h"

enum {
    TILE_COLUMNS = 4, /* words of 32 pixels in a row of a tile */
    TILE_BANDS = 32,
    TILE_WIDTH = TILE_COLUMNS * WARP,
    TILE_WORDS = 2 * TILE_BANDS * TILE_COLUMNS, /* maximum */
    TILE_THREADS = TILE_BANDS * TILE_COLUMNS,   /* one thread per word of a band */
    TILE_OPEN = 192, /* maximum of open parts in a tile, because at most 192 runs reach its edge */
    RUNS = 16,       /* maximum in a word of a band */
};

/* Pixel (x, y) is bit x % 32 of word y * columns + x / 32 of a bit image, and node y * 32 * columns
 * + x of the label image. A part is the intersection of a component with a tile. A part is open if
 * it reaches the tile's edge. The first pixels of open parts are the nodes of a forest in which
 * parts are joined across seams; the first pixels of runs at an edge point to the first pixels of
 * their parts. */
struct field {
    uint32_t *nodes;  /* the label image: first parent nodes, finally labels */
    uint32_t *words;  /* foreground */
    uint32_t *roots;  /* a bit is 1 at the first pixel of a part, later only of a component */
    uint32_t *before; /* first pixels before each word in its block of label_count() */
    uint32_t *counts; /* first pixels before each such block */
    /* 16 numbers of 16 bits per word of a band. Number k is the first pixel of the part of run k,
     * as y * TILE_WIDTH + x within the tile. */
    uint4 *firsts;
    /* TILE_OPEN pairs per tile, one for each open part: the first pixel of the part, and the first
     * pixel of its component. */
    uint2 *open;
    uint32_t *nopen;  /* per tile */
    unsigned columns; /* words per row */
    unsigned tiles;   /* side by side */
    unsigned height;
    unsigned rows; /* per band */
};

/* Writes foreground bits, `roots`, `firsts`, the list of open parts, and the parents that are
 * needed to join parts across seams. */
enum gi_status gi_cuda_label_tiles(const struct field *f, unsigned ntiles,
                                   const struct foreground *on, cudaStream_t stream,
                                   struct gi_err *err);

/* ---- tiles ---- */

/* The first word and row of this block's tile. Tiles also cover the padding of rows. */
struct tile {
    unsigned column, y;
};

static __device__ inline struct tile tile_of(const struct field &f)
{
    return {blockIdx.x % f.tiles * TILE_COLUMNS, blockIdx.x / f.tiles * TILE_BANDS * f.rows};
}

/* ---- runs of a word of a band ---- */

struct band {
    uint32_t top, bottom, all, starts; /* `top` equals `bottom` in bands of one row */
};

static __device__ inline struct band band_of(uint32_t top, uint32_t bottom)
{
    uint32_t all = top | bottom;
    return {top, bottom, all, all & ~(all << 1)};
}

/* Returns the band of word `i` of a tile; i is the word of its upper row. */
static __device__ inline struct band tile_band(const uint32_t *words, unsigned i, unsigned rows)
{
    return band_of(words[i], words[i + (rows - 1) * TILE_COLUMNS]);
}

/* Returns the same word of the band above, which another lane has. Above the first band the result
 * is empty. */
static __device__ inline struct band band_above(const struct band &band)
{
    uint32_t top = __shfl_up_sync(ALL_LANES, band.top, 1),
             bottom = __shfl_up_sync(ALL_LANES, band.bottom, 1);
    return threadIdx.x % WARP ? band_of(top, bottom) : band_of(0, 0);
}

static __device__ inline unsigned lowest(uint32_t bits)
{
    return (unsigned)__ffs((int)bits) - 1;
}

/* Returns the number of the run that contains bit `bit`. */
static __device__ inline unsigned run_number(const struct band &band, unsigned bit)
{
    return (unsigned)__popc(band.starts & ((2u << bit) - 1)) - 1;
}

/* Returns the bit of the first pixel, in raster order, of the run that starts at the single bit
 * `start`; sets *row to 0 or 1. */
static __device__ inline unsigned run_first(const struct band &band, uint32_t start, unsigned *row)
{
    uint32_t run = band.all & ~(band.all + start), top = run & band.top;
    *row = top == 0;
    return lowest(top ? top : start);
}

/* Returns, for each run of `all`, the first bit that is also in `bits` (a subset of `all`). */
static __device__ inline uint32_t first_of(uint32_t all, uint32_t bits)
{
    uint32_t filled = bits;
#pragma unroll
    for (int step = 1; step < 32; step *= 2) {
        filled |= all & filled << step;
        all &= all << step;
    }
    return bits & ~(filled << 1);
}

/* ---- which runs touch ---- */

/* Bits where runs of a band touch runs of the band above. Each pair of runs occurs once, or not at
 * all if other pairs imply it. `up` has a bit in a column of both runs. `left` has a bit where the
 * upper run ends to the left, and `right` where the upper run starts to the right. */
struct contacts {
    uint32_t up, left, right;
};

/* A word of a band and its neighbours. */
struct around {
    struct band left, own, right;
};

static __device__ inline struct contacts contacts_of(const struct around &low,
                                                     const struct around &high, bool eight)
{
    uint32_t t = low.own.top, u = high.own.bottom, both = low.own.all & high.own.all;
    if (!eight)
        return {first_of(both, t & u), 0, 0};
    uint32_t t_left = __funnelshift_l(low.left.top, t, 1),
             t_right = __funnelshift_r(t, low.right.top, 1),
             u_left = __funnelshift_l(high.left.bottom, u, 1),
             u_right = __funnelshift_r(u, high.right.bottom, 1),
             touch = (t & (u | u_left | u_right)) | (u & (t_left | t_right)),
             lone = t & ~high.own.all;
    return {first_of(both, both & touch),
            lone & u_left & ~__funnelshift_l(low.left.all, low.own.all, 1),
            lone & u_right & ~__funnelshift_r(low.own.all, low.right.all, 1)};
}

/* Removes the contact at the single bit `bit`. Returns the bit of the upper run, where ~0 is bit 31
 * of the word on the left, and 32 is bit 0 of the word on the right. */
static __device__ inline unsigned contact_take(struct contacts *t, uint32_t bit)
{
    bool up = t->up & bit, left = t->left & bit;
    t->up &= ~bit;
    t->left &= ~bit;
    t->right &= left ? ~0u : ~bit;
    return lowest(bit) + (up ? 0 : left ? ~0u : 1u);
}

/* Which runs touch across a vertical seam. level: two runs of the same band. falling: the right run
 * and the run to its upper left. rising: the left run and the run to its upper right. Contacts that
 * are implied by other contacts across the seam, or by contacts within words, are omitted. */
struct seam {
    bool level, falling, rising;
};

static __device__ inline struct seam seam_of(const struct band &left, const struct band &right,
                                             const struct band &left_above,
                                             const struct band &right_above, bool eight)
{
    bool l = left.top >> 31, r = right.top & 1;
    bool l_above = left_above.bottom >> 31, r_above = right_above.bottom & 1;
    return {left.all >> 31 && (right.all & 1) && !(l && r && l_above && r_above),
            eight && l_above && r && !l && !r_above, eight && r_above && l && !r && !l_above};
}

/* ---- union-find: a parent has a smaller index than its children ---- */

static __device__ inline uint32_t find(const volatile uint32_t *parent, uint32_t node)
{
    for (uint32_t up; (up = parent[node]) != node;)
        node = up;
    return node;
}

/* As find(), with path halving, which shortens later searches. */
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

/* Links the later one of two roots to the earlier one by an atomic minimum. Returns false if the
 * later one was no longer a root; *a and *b are then the nodes that remain to be joined. */
static __device__ inline bool hook(uint32_t *parent, uint32_t *a, uint32_t *b)
{
    uint32_t low = min(*a, *b), high = max(*a, *b);
    if (low == high)
        return true;
    *a = atomicMin(&parent[high], low);
    *b = low;
    return *a == high;
}

static __device__ inline void join(uint32_t *parent, uint32_t a, uint32_t b)
{
    do {
        a = find_halving(parent, a);
        b = find_halving(parent, b);
    } while (!hook(parent, &a, &b));
}

#endif
