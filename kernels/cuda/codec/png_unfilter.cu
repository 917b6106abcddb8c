/* The second half of the PNG decoder: finds the bytes that matches copy, and undoes the filters.
 *
 * resolve_bytes() finds the bytes of the filtered rows. A byte that a match
 * copies is the index of an earlier byte, which may be copied too. Threads replace an index by the
 * index that they find there (pointer doubling), so a chain of n references takes about log2(n)
 * steps:
 *
 *   byte         0   1   2   3   4   5
 *   at first    'a'  0   1   2   3   4
 *   step 1      'a' 'a'  0   1   2   3
 *   step 2      'a' 'a' 'a' 'a'  0   1
 *
 * In undo_filters() a warp has a group of rows. A lane undoes the filters of a row, in
 * chunks of a few pixels, one chunk behind the lane of the row above (a wavefront), from which it
 * gets the row above by a shuffle. The last row of the group above is stored in `edges` by another
 * warp, whose thread block began earlier or is the same, so it never waits for this one. All lanes
 * load the same step of `rows`, see struct png_task; store_rows() puts the chunks in the order of
 * the image. SPDX-License-Identifier: MIT */
#include "kernels/cuda/codec/png_decode.h"
#include "kernels/cuda/common/measure.h"

enum {
    RESOLVE_THREADS = 256,
    TILE_CHUNKS = 32, /* of a row, which a thread block of resolve_bytes() has */
    CHUNK_WORDS_MOST = 6,
    UNDO_WARPS = 4, /* of a thread block; each undoes the filters of a group of rows */
    UNDO_THREADS = UNDO_WARPS * WARP,
    EDGE_CHUNKS = 8, /* chunks of the row above that lanes load together */
    STEPS_AHEAD = 4, /* steps whose chunks are loaded ahead of use */
    STORE_THREADS = 256,
};

/* Returns the index in `rows` of the word that has byte x of row y. */
static __device__ inline size_t word_of(const struct png_task &task, uint32_t x, uint32_t y)
{
    const uint32_t group = y / PNG_GROUP_ROWS, lane = y % PNG_GROUP_ROWS;
    const uint32_t chunk = x / task.chunk_nbytes, word = x % task.chunk_nbytes / 4;
    const size_t step = (size_t)group * task.nsteps + chunk + lane;
    return (step * (task.chunk_nbytes / 4) + word) * PNG_GROUP_ROWS + lane;
}

/* ---- matches ---- */

/* Returns the value of byte i. Other threads replace origins at the same time, so they are read
 * from the L2 cache: each is either the old or the new index, and both are right. */
static __device__ inline uint32_t resolve(uint32_t *origins, uint32_t i, uint32_t origin)
{
    while (!(origin & PNG_KNOWN)) {
        origin = __ldcg(origins + origin);
        __stcg(origins + i, origin);
    }
    return origin & 255;
}

/* Sums of bytes, of which Adler-32 consists. */
struct sums {
    device_u64 bytes, weighted; /* byte i times the number of bytes from it on */
};

/* Returns byte i of the filtered rows, and adds it to the sums. */
static __device__ inline uint32_t byte_at(const struct png_task &task, uint32_t i,
                                          struct sums *sums)
{
    const uint32_t byte = resolve(task.origins, i, __ldcg(task.origins + i));
    sums->bytes += byte;
    sums->weighted += (device_u64)(task.raw_nbytes - i) * byte;
    return byte;
}

/* Adds the sums of all threads of the block to those of the image. */
static __device__ inline void add_sums(const struct png_task &task, struct sums mine)
{
    __shared__ device_u64 sums[2];
    if (threadIdx.x < 2)
        sums[threadIdx.x] = 0;
    __syncthreads();
    const device_u64 bytes = warp_sum(mine.bytes);
    const device_u64 weighted = warp_sum(mine.weighted % GI_ADLER_BASE);
    if (threadIdx.x % WARP == 0) {
        atomicAdd(&sums[0], bytes);
        atomicAdd(&sums[1], weighted);
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        atomicAdd(&task.state->sum, sums[0]);
        atomicAdd(&task.state->weighted, sums[1] % GI_ADLER_BASE);
    }
}

/* A thread block has TILE_CHUNKS chunks of the rows of a group: a warp reads a row, and then
 * a lane stores the chunks of a row, as in undo_filters(). */
static __global__ void __launch_bounds__(RESOLVE_THREADS) resolve_bytes(struct png_task task)
{
    constexpr uint32_t WARPS = RESOLVE_THREADS / WARP;
    __shared__ uint32_t tile[PNG_GROUP_ROWS * (TILE_CHUNKS * CHUNK_WORDS_MOST + 1)];
    const uint32_t lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
    const uint32_t ntiles = (task.nchunks + TILE_CHUNKS - 1) / TILE_CHUNKS;
    const uint32_t group = blockIdx.x / ntiles, first = blockIdx.x % ntiles * TILE_CHUNKS;
    const uint32_t nwords = task.chunk_nbytes / 4;
    const uint32_t pitch = TILE_CHUNKS * nwords + 1 - nwords % 2; /* no bank conflicts */
    const uint32_t top = group * PNG_GROUP_ROWS, left = first * task.chunk_nbytes;
    struct sums sums = {0, 0};
    if (task.state->status)
        return;
    for (uint32_t l = warp; l < PNG_GROUP_ROWS && top + l < task.height; l += WARPS) {
        uint8_t *row = (uint8_t *)(tile + l * pitch);
        const uint32_t at = (top + l) * (task.row_nbytes + 1) + 1 + left;
        const uint32_t n = min(TILE_CHUNKS * task.chunk_nbytes, task.row_nbytes - left);
#pragma unroll 4
        for (uint32_t x = lane; x < n; x += WARP)
            row[x] = (uint8_t)byte_at(task, at + x, &sums);
    }
    if (first == 0 && warp == 0 && top + lane < task.height)
        task.filters[top + lane] =
            (uint8_t)byte_at(task, (top + lane) * (task.row_nbytes + 1), &sums);
    add_sums(task, sums);
    uint32_t *rows = task.rows + (size_t)group * task.nsteps * nwords * PNG_GROUP_ROWS;
    const uint32_t nchunks = min((uint32_t)TILE_CHUNKS, task.nchunks - first);
    for (uint32_t k = warp; k < (nchunks + PNG_GROUP_ROWS - 1) * nwords; k += WARPS) {
        const uint32_t step = k / nwords, chunk = step - lane; /* large before the row begins */
        if (chunk < nchunks && top + lane < task.height)
            rows[((size_t)first * nwords + k) * PNG_GROUP_ROWS + lane] =
                tile[lane * pitch + chunk * nwords + k % nwords];
    }
}

enum gi_status gi_cuda_png_resolve(struct gi_cuda_queue *cu, const struct png_task *task,
                                   struct gi_err *err)
{
    const uint32_t ntiles = (task->nchunks + TILE_CHUNKS - 1) / TILE_CHUNKS;
    resolve_bytes<<<ntiles * task->ngroups, RESOLVE_THREADS, 0, cu->stream>>>(*task);
    GI_CUDA_LAUNCHED();
    return GI_OK;
}

/* ---- filters ---- */

/* Which neighbours the filter of a row uses. Sub is Paeth without the row above, and Up is Paeth
 * without the pixels to the left, because Paeth chooses the neighbour that is nearest to
 * left + up - corner. */
struct neighbours {
    uint32_t left, up; /* 0 or all bits */
    bool mean;
};

static __device__ inline struct neighbours neighbours_of(uint8_t filter)
{
    const bool both = filter == GI_PNG_AVERAGE || filter == GI_PNG_PAETH;
    return {both || filter == GI_PNG_SUB ? UINT32_MAX : 0,
            both || filter == GI_PNG_UP ? UINT32_MAX : 0, filter == GI_PNG_AVERAGE};
}

/* Returns what the filter predicts for a byte. */
static __device__ inline uint32_t predict(uint32_t left, uint32_t up, uint32_t corner, bool mean)
{
    const int to_left = abs((int)up - (int)corner), to_up = abs((int)left - (int)corner);
    const int to_corner = abs((int)(left + up) - 2 * (int)corner);
    const uint32_t other = to_up <= to_corner ? up : corner;
    const uint32_t paeth = to_left <= to_up && to_left <= to_corner ? left : other;
    return mean ? (left + up) >> 1 : paeth;
}

/* A row while its filter is undone: the bytes of the pixels to the left and above the left. */
template <int PIXEL> struct undoing {
    struct neighbours use;
    uint32_t left[PIXEL], corner[PIXEL];
};

/* Undoes the filter of a chunk of WORDS words, in place. `above` is the chunk above it. */
template <int PIXEL, int WORDS>
static __device__ inline void undo(struct undoing<PIXEL> *row, uint32_t words[WORDS],
                                   const uint32_t above[WORDS])
{
#pragma unroll
    for (int w = 0; w < WORDS; w++) {
        const uint32_t up_word = above[w] & row->use.up;
        uint32_t made = 0;
#pragma unroll
        for (int i = 0; i < 4; i++) {
            const int k = (w * 4 + i) % PIXEL;
            const uint32_t up = up_word >> 8 * i & 255;
            const uint32_t predicted = predict(row->left[k] & row->use.left, up,
                                               row->corner[k] & row->use.left, row->use.mean);
            row->left[k] = ((words[w] >> 8 * i) + predicted) & 255;
            row->corner[k] = up;
            made |= row->left[k] << 8 * i;
        }
        words[w] = made;
    }
}

/* Loads the words of a step, one chunk per lane. */
template <int WORDS>
static __device__ inline void step_load(uint32_t words[WORDS], const uint32_t *group, uint32_t step,
                                        bool there)
{
#pragma unroll
    for (int w = 0; w < WORDS; w++)
        words[w] = there ? group[((size_t)step * WORDS + w) * WARP + threadIdx.x % WARP] : 0;
}

/* What a warp needs to undo the filters of a group of rows. */
struct group {
    uint32_t *words;                 /* of the group in `rows` */
    const uint32_t *edge;            /* the row above the group; NULL: there is none */
    uint32_t *next_edge;             /* becomes the last row */
    const volatile uint32_t *theirs; /* number of chunks in `edge` */
    volatile uint32_t *mine;         /* number of chunks in `next_edge` */
};

/* Loads EDGE_CHUNKS chunks of the row above from `chunk` on, one per lane, when they are there. */
template <int WORDS>
static __device__ inline void edge_load(uint32_t edge[WORDS], const struct group &g, uint32_t chunk,
                                        uint32_t nchunks)
{
    const uint32_t lane = threadIdx.x % WARP, want = min(chunk + EDGE_CHUNKS, nchunks);
    while (*g.theirs < want)
        __nanosleep(20);
    __threadfence();
    if (lane < EDGE_CHUNKS && chunk + lane < nchunks)
#pragma unroll
        for (int w = 0; w < WORDS; w++)
            edge[w] = __ldcg(g.edge + (size_t)(chunk + lane) * WORDS + w);
    __syncwarp();
}

/* Undoes the filters of the rows of a group, a row per lane. */
template <int PIXEL, int WORDS>
static __device__ inline void undo_group(const struct png_task &task, const struct group &g,
                                         uint8_t filter)
{
    const uint32_t lane = threadIdx.x % WARP, nchunks = task.nchunks;
    struct undoing<PIXEL> row = {};
    row.use = neighbours_of(filter);
    uint32_t ahead[STEPS_AHEAD][WORDS], done[WORDS] = {}, edge[WORDS] = {};
#pragma unroll
    for (uint32_t k = 0; k < STEPS_AHEAD; k++)
        step_load<WORDS>(ahead[k], g.words, k, k < task.nsteps);
    for (uint32_t first = 0; first < task.nsteps; first += STEPS_AHEAD) {
#pragma unroll
        for (uint32_t k = 0; k < STEPS_AHEAD; k++) {
            const uint32_t step = first + k, chunk = step - lane; /* large before the row begins */
            if (g.edge && step < nchunks && step % EDGE_CHUNKS == 0)
                edge_load<WORDS>(edge, g, step, nchunks);
            uint32_t above[WORDS], words[WORDS];
#pragma unroll
            for (int w = 0; w < WORDS; w++) {
                const uint32_t other = __shfl_sync(ALL_LANES, edge[w], step % EDGE_CHUNKS);
                above[w] = __shfl_up_sync(ALL_LANES, done[w], 1);
                above[w] = lane == 0 ? other : above[w];
                words[w] = ahead[k][w];
            }
            step_load<WORDS>(ahead[k], g.words, step + STEPS_AHEAD,
                             step + STEPS_AHEAD < task.nsteps);
            if (chunk < nchunks) {
                undo<PIXEL, WORDS>(&row, words, above);
#pragma unroll
                for (int w = 0; w < WORDS; w++) {
                    done[w] = words[w];
                    g.words[((size_t)step * WORDS + w) * WARP + lane] = words[w];
                    if (lane == WARP - 1)
                        g.next_edge[(size_t)chunk * WORDS + w] = words[w];
                }
            }
            if (lane == WARP - 1 && chunk < nchunks &&
                (chunk % EDGE_CHUNKS == EDGE_CHUNKS - 1 || chunk == nchunks - 1)) {
                __threadfence();
                *g.mine = chunk + 1;
            }
        }
    }
}

/* Returns whether Adler-32 at the end of the stream agrees with the sums. */
static __device__ inline bool adler_agrees(const struct png_task &task)
{
    const uint8_t *end = (const uint8_t *)task.words + task.stream_nbytes;
    const uint32_t want = (uint32_t)end[-4] << 24 | end[-3] << 16 | end[-2] << 8 | end[-1];
    const uint32_t low = (uint32_t)((1 + task.state->sum) % GI_ADLER_BASE);
    const uint32_t high = (uint32_t)((task.raw_nbytes + task.state->weighted) % GI_ADLER_BASE);
    return want == (high << 16 | low);
}

template <int PIXEL>
static __global__ void __launch_bounds__(UNDO_THREADS) undo_filters(struct png_task task)
{
    constexpr int WORDS = png_chunk_nbytes(PIXEL) / 4;
    __shared__ uint32_t block; /* in the order in which thread blocks begin */
    if (threadIdx.x == 0)
        block = atomicAdd(&task.state->begun, 1);
    __syncthreads();
    const uint32_t i = block * UNDO_WARPS + threadIdx.x / WARP;
    if (task.state->status || i >= task.ngroups)
        return;
    const uint32_t y = i * PNG_GROUP_ROWS + threadIdx.x % WARP, above = i ? i - 1 : 0;
    const uint8_t filter = y < task.height ? task.filters[y] : 0;
    const size_t edge_words = (size_t)task.nchunks * WORDS;
    const struct group g = {
        .words = task.rows + (size_t)i * task.nsteps * WORDS * WARP,
        .edge = i ? task.edges + above * edge_words : NULL,
        .next_edge = task.edges + i * edge_words,
        .theirs = &task.stored[above],
        .mine = &task.stored[i],
    };
    undo_group<PIXEL, WORDS>(task, g, filter);
    if (filter > GI_PNG_PAETH || (i == 0 && threadIdx.x == 0 && !adler_agrees(task)))
        task.state->damaged = 1;
}

/* ---- the image ---- */

/* A thread per word of a row, or per pixel if there is a palette. */
static __global__ void __launch_bounds__(STORE_THREADS)
    store_rows(struct png_task task, struct gi_image result, const struct png_palette *palette)
{
    const uint32_t i = blockIdx.x * STORE_THREADS + threadIdx.x;
    if (task.state->status || i >= (palette ? task.row_nbytes : (task.row_nbytes + 3) / 4))
        return;
    for (uint32_t y = blockIdx.y; y < task.height; y += gridDim.y) {
        uint8_t *row = (uint8_t *)result.data + (size_t)y * result.stride;
        if (palette) {
            const uint32_t index = task.rows[word_of(task, i, y)] >> i % 4 * 8 & 255;
            for (int c = 0; c < result.channels; c++)
                row[(size_t)i * result.channels + c] = (uint8_t)(palette->colors[index] >> 8 * c);
            if (index >= palette->ncolors)
                task.state->damaged = 1;
        } else {
            const uint32_t word = task.rows[word_of(task, i * 4, y)];
            ((uint32_t *)row)[i] =
                result.type == GI_U16 ? __byte_perm(word, 0, 0x2301) : word; /* big-endian */
        }
    }
}

enum gi_status gi_cuda_png_unfilter(struct gi_cuda_queue *cu, const struct png_task *task,
                                    const struct gi_image *result,
                                    const struct png_palette *palette, struct gi_err *err)
{
    const unsigned blocks = (task->ngroups + UNDO_WARPS - 1) / UNDO_WARPS;
    switch (task->pixel_nbytes) {
    case 1:
        undo_filters<1><<<blocks, UNDO_THREADS, 0, cu->stream>>>(*task);
        break;
    case 2:
        undo_filters<2><<<blocks, UNDO_THREADS, 0, cu->stream>>>(*task);
        break;
    case 3:
        undo_filters<3><<<blocks, UNDO_THREADS, 0, cu->stream>>>(*task);
        break;
    case 4:
        undo_filters<4><<<blocks, UNDO_THREADS, 0, cu->stream>>>(*task);
        break;
    case 6:
        undo_filters<6><<<blocks, UNDO_THREADS, 0, cu->stream>>>(*task);
        break;
    default:
        undo_filters<8><<<blocks, UNDO_THREADS, 0, cu->stream>>>(*task);
        break;
    }
    GI_CUDA_LAUNCHED();
    const uint32_t across = palette ? task->row_nbytes : (task->row_nbytes + 3) / 4;
    const dim3 grid((across + STORE_THREADS - 1) / STORE_THREADS,
                    task->height < 65535 ? task->height : 65535);
    store_rows<<<grid, STORE_THREADS, 0, cu->stream>>>(*task, *result, palette);
    GI_CUDA_LAUNCHED();
    return GI_OK;
}
