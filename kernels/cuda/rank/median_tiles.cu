/* Median and rank filters of rectangles, any type, in sorted tiles. A block sorts the samples of a
 * tile of the image and its halo. All windows of the tile then search this order, in which types
 * differ no longer (ordinal transform: B. Weiss, "Fast median and bilateral filtering", SIGGRAPH
 * 2006). Prefixes of the order are bit planes, as levels of a wavelet matrix are (Y. Moroto, N.
 * Umetani, "Constant time median filter using 2D wavelet matrix", SIGGRAPH Asia 2022).
 *
 *     samples of tile and halo     sorted positions, chunks of 32         planes
 *     +---------------------+      |  chunk 0  |  chunk 1  | ... |        0: no bit
 *     |   halo              |      (3, 0) (7, 2) (0, 5) ...               1: bits of the first 128
 *     |   +-------------+   |                                             2: bits of the first 256
 *     |   |  results    |   |      found by radix sort, 8 bits per pass   ...
 *
 * Plane p has a bit for each sample of tile and halo, which is set for the first 128 p (or 64 p or
 * 256 p) samples in ascending order. The number of set bits within a window is the number of its
 * samples among these. A thread moves down a column of the result and keeps that number for one
 * plane: a row enters, a row leaves. From this plane it goes through the order, chunk by chunk, and
 * tests which positions are within the window, until it finds the sample of the wanted rank. If
 * this takes more than MAX_CHUNKS chunks, the thread searches the planes.
 *
 * Example: k = 31, 16 bits: 64 x 64 results, 94 x 94 samples, 2 passes, 277 chunks, 70 planes of
 * 1128 bytes, 100 KiB of shared memory, two blocks per multiprocessor.
 * SPDX-License-Identifier: MIT */
#include "kernels/cuda/rank/tile_sort.cuh"

enum {
    MAX_CHUNKS = 12,      /* tested before a search of planes */
    SMALL = 21 * 21,      /* samples of a window */
    BYTES_MOST = 47 * 47, /* as many; the way sliding is faster in larger windows of bytes */
};

/* Makes all planes of a sorted list, and removes transparent pixels from it. */
static __device__ __forceinline__ void make_planes(unsigned *planes, const struct tile *tile,
                                                   uint16_t *list)
{
    int nplanes = tile->nplanes + tile->hides;
    for (int i = (int)threadIdx.x; i < nplanes * tile->pitch; i += THREADS)
        planes[i] = 0;
    __syncthreads();
    for (int i = (int)threadIdx.x; i < tile->columns * tile->rows; i += THREADS) {
        unsigned position = list[slot(i)], x = position & 255;
        int p = min((i / CHUNK >> tile->shift) + 1, tile->nplanes);
        if (position & HIDDEN)
            list[slot(i)] = NOWHERE;
        else if (p < nplanes)
            atomicOr(&planes[p * tile->pitch + (int)(position >> 8) * tile->words + (int)(x / 32)],
                     1u << x % 32);
    }
    __syncthreads();
    for (int i = (int)threadIdx.x; i < tile->rows * tile->words; i += THREADS) {
        unsigned bits = 0;
        for (int p = 1; p < nplanes; p++)
            planes[p * tile->pitch + i] = bits |= planes[p * tile->pitch + i];
    }
    __syncthreads();
}

/* A window that moves down a column of the tile. WORDS is the number of words of its width. */
template <int WORDS> struct window {
    const unsigned *planes; /* at the column's first word */
    const char *list;
    const struct tile *tile;
    int height, rank;
    unsigned mask;        /* bits of the last word */
    unsigned first, last; /* twice the least and the greatest position within, `last` with
                             0x8080 */
    int plane, below;     /* samples of the window that are in this plane */
};

/* Returns how many samples of n rows of the window from row y on are in plane p. */
template <int WORDS>
static __device__ __forceinline__ int count(const struct window<WORDS> *window, int p, int y, int n)
{
    const unsigned *row = window->planes + p * window->tile->pitch + y * window->tile->words;
    int sum = 0;
#pragma unroll 4
    for (int i = 0; i < n; i++, row += window->tile->words) {
#pragma unroll
        for (int w = 0; w < WORDS; w++) {
            unsigned bits = __funnelshift_r(row[w], row[w + 1], threadIdx.x);
            sum += __popc(w == WORDS - 1 ? bits & window->mask : bits);
        }
    }
    return sum;
}

/* Returns which positions of a chunk are within the window. A bit above each coordinate takes the
 * borrow of the comparison. */
template <int WORDS>
static __device__ __forceinline__ unsigned members(const struct window<WORDS> *window, int chunk)
{
    const uint4 *list = (const uint4 *)(window->list + chunk * CHUNK_NBYTES);
    unsigned bits = 0;
#pragma unroll
    for (int i = 0; i < 4; i++) {
        uint4 v = list[i];
        const unsigned words[4] = {v.x, v.y, v.z, v.w};
#pragma unroll
        for (int j = 0; j < 4; j++) {
            unsigned is = ((words[j] | 0x80808080u) - window->first) & (window->last - words[j]);
            bits = bits >> 1 | (is & is << 8 & 0x80008000u);
        }
    }
    return bits;
}

/* Finds the last plane with no more than `rank` of the window's `size` samples. y is the window's
 * first row. If `known`, window->plane and window->below are valid, and the search goes from there
 * in steps that double; then, or else, it guesses in turn by interpolation and by bisection. */
template <int WORDS>
static __device__ __forceinline__ void find_plane(struct window<WORDS> *window, int y, int size,
                                                  bool known)
{
    int low = 0, end = window->tile->nplanes, least = 0, rank = window->rank, ahead = 2;
    bool up = window->below <= rank, gallop = known, bisect = false;
    if (known && up) {
        low = window->plane;
        least = window->below;
    } else if (known) {
        end = window->plane;
        size = window->below;
    }
    while (end - low > 1) {
        int across = end - low, step = across / 2;
        gallop = gallop && ahead < across;
        if (gallop) {
            step = up ? ahead : across - ahead;
            ahead *= 2;
        } else {
            if (!bisect)
                step = min(max((rank - least) * across / (size - least), 1), across - 1);
            bisect = !bisect;
        }
        int n = count(window, low + step, y, window->height);
        gallop = gallop && (n <= rank) == up;
        if (n <= rank) {
            low += step;
            least = n;
        } else {
            end = low + step;
            size = n;
        }
    }
    window->plane = low;
    window->below = least;
}

/* Returns the position of the sample of the wanted rank, in the window whose first row is y. */
template <int WORDS>
static __device__ __forceinline__ unsigned find(struct window<WORDS> *window, int y, int size)
{
    int shift = window->tile->shift, chunk = window->plane << shift, below = window->below;
    unsigned bits;
    for (int tested = 0;; tested++) {
        if (tested == MAX_CHUNKS) {
            find_plane(window, y, size, true);
            chunk = window->plane << shift;
            below = window->below;
        }
        bool back = below > window->rank;
        chunk -= back;
        bits = members(window, chunk);
        int n = __popc(bits);
        below -= back ? n : 0;
        if (!(chunk & ((1 << shift) - 1))) {
            window->plane = chunk >> shift;
            window->below = below;
        }
        if (below <= window->rank && window->rank < below + n)
            break;
        chunk += !back;
        below += back ? 0 : n;
    }
    for (int i = window->rank - below; i > 0; i--)
        bits &= bits - 1;
    return ((const uint16_t *)window->list)[slot(chunk * CHUNK + __ffs((int)bits) - 1)];
}

/* The results of a block: each warp moves down 32 columns of some rows. */
template <typename T, int WORDS>
static __device__ __forceinline__ void filter(const struct median_args *args,
                                              const struct tile *tile, const char *list,
                                              const unsigned *planes, int x0, int y0, int c)
{
    int warps = tile->width / WARP, warp = (int)threadIdx.x / WARP; /* next to each other */
    int part = tile->height / (WARPS / warps), y = warp / warps * part;
    int x = warp % warps * WARP + (int)threadIdx.x % WARP, channels = args->src.channels;
    int left = x0 - args->width / 2, top = y0 - args->height / 2;
    struct window<WORDS> window = {
        planes + x / WARP, list, tile, args->height, (int)args->rank
    };
    bool inside = left >= 0 && top >= 0 && left + tile->columns <= args->src.width &&
                  top + tile->rows <= args->src.height;
    int bits = args->width - 32 * (WORDS - 1); /* of the last word */
    window.mask = bits >= 32 ? ~0u : (1u << bits) - 1;
    window.first = (unsigned)(y << 8 | x) * 0x10001u;
    window.last =
        (unsigned)((y + args->height - 1) << 8 | (x + args->width - 1)) * 0x10001u | 0x80808080u;
    if (x0 + x >= args->src.width)
        return;
    int size = args->width * args->height, own = (args->height / 2 << 8) + args->width / 2 + x;
    if (args->hides)
        size = count(&window, tile->nplanes, y, args->height);
    if (args->hides && size)
        window.rank = gi_rank_place(args->percent, size);
    if (size)
        find_plane(&window, y, size, false);
    for (int end = min(y + part, args->src.height - y0); y < end; y++) {
        if (args->hides && size)
            window.rank = gi_rank_place(args->percent, size);
        unsigned position = size ? find(&window, y, size) : (unsigned)(own + (y << 8));
        int from_x = left + (int)(position & 255), from_y = top + (int)(position >> 8);
        T v = inside
                  ? ((const T *)(args->src.data +
                                 (size_t)from_y * args->src.stride))[(size_t)from_x * channels + c]
                  : value_at<T>(args, from_x, from_y, c);
        T *row = (T *)(args->dst.data + (size_t)(y0 + y) * args->dst.stride);
        row[(size_t)(x0 + x) * channels + c] = size ? sample_of<T>(key_of<T>(v)) : v;
        if (args->hides && y + 1 < end)
            size += count(&window, tile->nplanes, y + args->height, 1) -
                    count(&window, tile->nplanes, y, 1);
        if (y + 1 < end)
            window.below += count(&window, window.plane, y + args->height, 1) -
                            count(&window, window.plane, y, 1);
        window.first += 0x01000100u;
        window.last += 0x01000100u;
    }
}

template <typename T>
static __device__ void copy_alpha(const struct median_args *args, const struct tile *tile, int x0,
                                  int y0)
{
    int channels = args->src.channels;
    for (int y = y0 + (int)threadIdx.x / WARP; y < min(y0 + tile->height, args->src.height);
         y += WARPS)
        for (int x = x0 + (int)threadIdx.x % WARP; x < min(x0 + tile->width, args->src.width);
             x += WARP) {
            size_t at = (size_t)x * channels + channels - 1;
            ((T *)(args->dst.data + (size_t)y * args->dst.stride))[at] =
                ((const T *)(args->src.data + (size_t)y * args->src.stride))[at];
        }
}

template <typename T, int WORDS>
static __device__ __forceinline__ void tile_make(const struct median_args &args,
                                                 const struct tile &tile, uint4 *shared)
{
    int n = tile.columns * tile.rows, c = (int)blockIdx.y;
    int x0 = (int)(blockIdx.x % (unsigned)tile.across) * tile.width;
    int y0 = (int)(blockIdx.x / (unsigned)tile.across) * tile.height;
    if (args.keep_alpha && c == args.src.channels - 1) {
        copy_alpha<T>(&args, &tile, x0, y0);
        return;
    }
    char *list = (char *)shared, *rest = list + tile.list_nbytes;
    uint16_t *from = (uint16_t *)list, *to = (uint16_t *)rest;
    struct sorting sorting;
    sorting.counts = (uint16_t *)(rest + tile.list_nbytes);
    sorting.keys = (unsigned *)(sorting.counts + WARPS * DIGITS);
    sorting.ranks = (uint16_t *)(sorting.keys + n);
    for (int i = n + (int)threadIdx.x; i < tile.nchunks * CHUNK; i += THREADS)
        from[slot(i)] = NOWHERE;
    if (sizeof(T) == 1) /* one pass, to the first list */
        swap_lists(&from, &to);
    load<T>(&sorting, from, &args, &tile, x0 - args.width / 2, y0 - args.height / 2, c);
    __syncthreads();
    for (int shift = 0; shift < 8 * (int)sizeof(T); shift += 8) {
        sort_pass(&sorting, &tile, from, to, shift);
        swap_lists(&from, &to);
    }
    make_planes((unsigned *)rest, &tile, (uint16_t *)list);
    filter<T, WORDS>(&args, &tile, list, (const unsigned *)rest, x0, y0, c);
}

template <int WORDS>
static __global__ void __launch_bounds__(THREADS, 2)
    median_tiles(const __grid_constant__ struct median_args args,
                 const __grid_constant__ struct tile tile)
{
    extern __shared__ uint4 shared[];
    SAMPLE_TYPES(args.src.type, tile_make<T, WORDS>(args, tile, shared));
}

/* Sets the memory of a tile. Returns whether a block may have it. */
static bool lay_out(struct tile *tile, const struct gi_median *spec, int width, int height,
                    int shift, int shared_nbytes)
{
    tile->width = width;
    tile->height = height;
    tile->shift = shift;
    tile->columns = width + spec->width - 1;
    tile->rows = height + spec->height - 1;
    if (tile->columns > SIDE_MAX || tile->rows > SIDE_MAX)
        return false;
    int n = tile->columns * tile->rows;
    tile->words = width / WARP + (spec->width + 31) / 32;
    tile->nchunks = ceil_div(n, CHUNK);
    tile->nplanes = ceil_div(tile->nchunks, 1 << shift);
    tile->list_nbytes = tile->nchunks * CHUNK_NBYTES;
    int sorting = tile->list_nbytes + WARPS * DIGITS * 2 + n * 6;
    tile->pitch = tile->rows * tile->words | 1;
    tile->hides = spec->opaque;
    int planes = (tile->nplanes + tile->hides) * tile->pitch * 4;
    tile->nbytes = tile->list_nbytes + (planes > sorting ? planes : sorting);
    return tile->nbytes <= shared_nbytes;
}

/* Chooses the first tile in order of their speed that a multiprocessor has memory for. In small
 * windows a chunk of a large tile has few samples. */
static bool tile_of(struct tile *tile, const struct gi_cuda_queue *cu, const struct gi_median *spec)
{
    static const struct {
        int width, height, shift, blocks;
    } tiles[] = {{64, 32, 1, 2}, {64, 64, 2, 2}, {64, 32, 2, 2}, {64, 32, 2, 1},
                 {64, 32, 3, 1}, {32, 32, 2, 1}, {32, 32, 3, 1}};
    int most = cu->shared_nbytes - 1024; /* static memory */
    for (int i = spec->width * spec->height < SMALL ? 0 : 1; i < 7; i++)
        if (lay_out(tile, spec, tiles[i].width, tiles[i].height, tiles[i].shift,
                    most / tiles[i].blocks))
            return true;
    return false;
}

template <int WORDS>
static enum gi_status launch(struct gi_cuda_queue *cu, const struct median_args *args,
                             struct tile *tile, struct gi_err *err)
{
    tile->across = ceil_div(args->src.width, tile->width);
    dim3 grid((unsigned)tile->across * (unsigned)ceil_div(args->src.height, tile->height),
              (unsigned)args->src.channels);
    GI_CUDA_ALLOW_SHARED(cu, median_tiles<WORDS>);
    median_tiles<WORDS><<<grid, THREADS, (size_t)tile->nbytes, cu->stream>>>(*args, *tile);
    GI_CUDA_LAUNCHED();
    return GI_OK;
}

bool gi_cuda_median_tiles_takes(const struct gi_queue *queue, const struct gi_image *src,
                                const struct gi_median *spec)
{
    struct tile tile;
    bool slow = src->type == GI_U8 && spec->width * spec->height > BYTES_MOST;
    return median_is_rectangle(spec) && !slow &&
           tile_of(&tile, (const struct gi_cuda_queue *)queue, spec);
}

enum gi_status gi_cuda_median_tiles(struct gi_queue *queue, struct gi_image *dst,
                                    const struct gi_image *src, const struct gi_median *spec,
                                    struct gi_err *err)
{
    struct median_args args = median_args_of(dst, src, spec);
    struct gi_cuda_queue *cu = gi_cuda(queue);
    struct tile tile;
    tile_of(&tile, cu, spec);
    return args.width <= 32   ? launch<1>(cu, &args, &tile, err)
           : args.width <= 64 ? launch<2>(cu, &args, &tile, err)
                              : launch<3>(cu, &args, &tile, err);
}
