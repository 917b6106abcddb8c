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
 * In undo_filters() a warp has a group of rows of a plane: plane p has byte p of each pixel, and
 * filters never mix planes. A lane undoes the filter of a row, a word of four pixels at a time, one
 * word behind the lane of the row above (a wavefront), from which it gets the row above by a
 * shuffle. The last row of the group above is stored in `edges` by another warp, whose thread block
 * began earlier or is the same, so it never waits for this one. store_rows() puts the bytes in the
 * order of the image. SPDX-License-Identifier: MIT */
#include "kernels/cuda/codec/png_decode.h"
#include "kernels/cuda/common/measure.h"

enum {
    RESOLVE_THREADS = 256,
    TILE_WORDS = 32, /* of a row of each plane, which a thread block of resolve_bytes() has */
    TILE_PITCH = TILE_WORDS + 3, /* words from plane to plane, for few bank conflicts */
    PLANES_MOST = 8,
    UNDO_WARPS = 4, /* of a thread block; each undoes the filters of a group of rows of a plane */
    UNDO_THREADS = UNDO_WARPS * WARP,
    STEPS_AHEAD = 4, /* steps whose words are loaded ahead of use */
    STORE_THREADS = 128,
};

/* Returns the index in `rows` of word `word` of row y of a plane. */
static __device__ inline size_t word_of(const struct png_task &task, uint32_t plane, uint32_t word,
                                        uint32_t y)
{
    const uint32_t group = y / PNG_GROUP_ROWS, lane = y % PNG_GROUP_ROWS;
    const size_t first = ((size_t)group * task.pixel_nbytes + plane) * task.nsteps;
    return (first + word + lane) * PNG_GROUP_ROWS + lane;
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

/* A thread block has TILE_WORDS words of the rows of a group, of all planes: a warp reads a row,
 * and then a lane stores the words of a row, as in undo_filters(). */
static __global__ void __launch_bounds__(RESOLVE_THREADS) resolve_bytes(struct png_task task)
{
    constexpr uint32_t WARPS = RESOLVE_THREADS / WARP;
    __shared__ uint32_t tile[PNG_GROUP_ROWS * PLANES_MOST * TILE_PITCH];
    const uint32_t lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
    const uint32_t ntiles = (task.nwords + TILE_WORDS - 1) / TILE_WORDS;
    const uint32_t group = blockIdx.x / ntiles, first = blockIdx.x % ntiles * TILE_WORDS;
    const uint32_t nplanes = task.pixel_nbytes;
    const uint32_t pitch = nplanes * TILE_PITCH + nplanes % 2; /* even: no bank conflicts */
    const uint32_t top = group * PNG_GROUP_ROWS, left = first * 4 * nplanes;
    struct sums sums = {0, 0};
    if (task.state->status)
        return;
    for (uint32_t l = warp; l < PNG_GROUP_ROWS && top + l < task.height; l += WARPS) {
        uint8_t *row = (uint8_t *)(tile + l * pitch);
        const uint32_t at = (top + l) * (task.row_nbytes + 1) + 1 + left;
        const uint32_t n = min(TILE_WORDS * 4 * nplanes, task.row_nbytes - left);
        uint32_t plane = lane % nplanes, pixel = lane / nplanes;
#pragma unroll 4
        for (uint32_t x = lane; x < n; x += WARP) {
            row[plane * (TILE_PITCH * 4) + pixel] = (uint8_t)byte_at(task, at + x, &sums);
            plane += WARP % nplanes;
            pixel += WARP / nplanes + (plane >= nplanes);
            plane -= plane >= nplanes ? nplanes : 0;
        }
    }
    if (first == 0 && warp == 0 && top + lane < task.height)
        task.filters[top + lane] =
            (uint8_t)byte_at(task, (top + lane) * (task.row_nbytes + 1), &sums);
    add_sums(task, sums);
    const uint32_t nwords = min((uint32_t)TILE_WORDS, task.nwords - first);
    for (uint32_t plane = 0; plane < nplanes; plane++) {
        uint32_t *rows = task.rows + word_of(task, plane, first, top);
        for (uint32_t step = warp; step < nwords + PNG_GROUP_ROWS - 1; step += WARPS) {
            const uint32_t word = step - lane; /* large before the row begins */
            if (word < nwords && top + lane < task.height)
                rows[step * PNG_GROUP_ROWS + lane] = tile[lane * pitch + plane * TILE_PITCH + word];
        }
    }
}

enum gi_status gi_cuda_png_resolve(struct gi_cuda_queue *cu, const struct png_task *task,
                                   struct gi_err *err)
{
    const uint32_t ntiles = (task->nwords + TILE_WORDS - 1) / TILE_WORDS;
    resolve_bytes<<<ntiles * task->ngroups, RESOLVE_THREADS, 0, cu->stream>>>(*task);
    GI_CUDA_LAUNCHED();
    return GI_OK;
}

/* ---- filters ---- */

/* Which neighbours the filter of a row uses. Sub, Up and None are Paeth without some of them. */
struct neighbours {
    uint32_t left, up; /* masks: 0 or 255, 0 or all bits */
    uint32_t thrice;   /* 3 if the corner is used, else 0 */
    bool mean;
};

static __device__ inline struct neighbours neighbours_of(uint8_t filter)
{
    const bool both = filter == GI_PNG_AVERAGE || filter == GI_PNG_PAETH;
    return {both || filter == GI_PNG_SUB ? 255u : 0, both || filter == GI_PNG_UP ? UINT32_MAX : 0,
            filter == GI_PNG_PAETH ? 3u : 0, filter == GI_PNG_AVERAGE};
}

/* A row of a plane while its filter is undone. */
struct undoing {
    struct neighbours use;
    uint32_t left, corner, corner_3; /* bytes to the left and above the left, and 3 * corner */
};

/* Returns what the filter predicts for a byte. imgio/png/png_unfilter.c says why two comparisons
 * choose among Paeth's three neighbours. */
static __device__ inline uint32_t predict(const struct undoing &row, uint32_t up)
{
    const uint32_t sum = row.left + up, low = min(row.left, up), high = max(row.left, up);
    const uint32_t other = row.corner_3 >= sum + high ? low : row.corner;
    const uint32_t paeth = row.corner_3 <= sum + low ? high : other;
    return row.use.mean ? sum >> 1 : paeth;
}

/* Undoes the filter of four bytes. `above` are the bytes above them. */
static __device__ inline uint32_t undo(struct undoing *row, uint32_t word, uint32_t above)
{
    uint32_t made = 0;
    above &= row->use.up;
#pragma unroll
    for (int i = 0; i < 4; i++) {
        const uint32_t up = above >> 8 * i & 255;
        const uint32_t byte = (word >> 8 * i) + predict(*row, up);
        row->left = byte & row->use.left;
        row->corner = up;
        row->corner_3 = up * row->use.thrice;
        made |= (byte & 255) << 8 * i;
    }
    return made;
}

/* The row above a group of a plane: one word per lane, of which some are known. */
struct edge {
    const device_u64 *words; /* NULL: there is none */
    uint32_t first, end;     /* words `first` to end - 1 are known */
    uint32_t word;
};

/* Loads words from `first` on as soon as at least one is there. */
static __device__ inline void edge_load(struct edge *edge, uint32_t first, uint32_t nwords)
{
    const uint32_t at = first + threadIdx.x % WARP;
    unsigned known;
    for (;;) {
        const device_u64 word = at < nwords ? *(const volatile device_u64 *)(edge->words + at) : 0;
        edge->word = (uint32_t)word;
        known = __ballot_sync(ALL_LANES, (word & PNG_EDGE_KNOWN) != 0);
        if (known & 1)
            break;
        __nanosleep(20);
    }
    edge->first = first;
    edge->end = first + (known == ALL_LANES ? (uint32_t)WARP : (uint32_t)__ffs((int)~known) - 1);
}

/* Undoes the filters of the rows of a group of a plane, a row per lane. The last row becomes
 * `next_edge`. */
static __device__ inline void undo_group(const struct png_task &task, uint32_t *words,
                                         struct edge edge, device_u64 *next_edge, uint8_t filter)
{
    const uint32_t lane = threadIdx.x % WARP, nwords = task.nwords;
    struct undoing row = {neighbours_of(filter), 0, 0, 0};
    uint32_t ahead[STEPS_AHEAD], done = 0;
    words += lane;
#pragma unroll
    for (uint32_t k = 0; k < STEPS_AHEAD; k++)
        ahead[k] = k < task.nsteps ? words[k * WARP] : 0;
    for (uint32_t first = 0; first < task.nsteps; first += STEPS_AHEAD) {
#pragma unroll
        for (uint32_t k = 0; k < STEPS_AHEAD; k++) {
            const uint32_t step = first + k, at = step - lane; /* large before the row begins */
            if (edge.words && step == edge.end && step < nwords)
                edge_load(&edge, step, nwords);
            const uint32_t other = __shfl_sync(ALL_LANES, edge.word, (int)(step - edge.first));
            const uint32_t before = __shfl_up_sync(ALL_LANES, done, 1), word = ahead[k];
            if (step + STEPS_AHEAD < task.nsteps)
                ahead[k] = words[(size_t)(step + STEPS_AHEAD) * WARP];
            if (at < nwords) {
                done = undo(&row, word, lane == 0 ? other : before);
                words[(size_t)step * WARP] = done;
                if (lane == WARP - 1)
                    *(volatile device_u64 *)(next_edge + at) = PNG_EDGE_KNOWN | done;
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

static __global__ void __launch_bounds__(UNDO_THREADS) undo_filters(struct png_task task)
{
    __shared__ uint32_t block; /* in the order in which thread blocks begin */
    if (threadIdx.x == 0)
        block = atomicAdd(&task.state->begun, 1);
    __syncthreads();
    /* All planes of a group come before those of the next group. */
    const uint32_t i = block * UNDO_WARPS + threadIdx.x / WARP, nplanes = task.pixel_nbytes;
    if (task.state->status || i >= task.ngroups * nplanes)
        return;
    const uint32_t y = i / nplanes * PNG_GROUP_ROWS + threadIdx.x % WARP;
    const uint8_t filter = y < task.height ? task.filters[y] : 0;
    device_u64 *edge = task.edges + (size_t)i * task.nwords;
    const bool first = i < nplanes;
    const struct edge above = {first ? NULL : edge - (size_t)nplanes * task.nwords, 0, 0, 0};
    undo_group(task, task.rows + (size_t)i * task.nsteps * WARP, above, edge, filter);
    if (filter > GI_PNG_PAETH || (i == 0 && threadIdx.x == 0 && !adler_agrees(task)))
        task.state->damaged = 1;
}

/* ---- the image ---- */

/* Makes word k of four pixels of N bytes: bytes 4 k to 4 k + 3. Plane p has byte p of the pixels.
 */
template <int N> static __device__ inline uint32_t word_made(const uint32_t planes[N], int k)
{
    uint32_t half[2];
#pragma unroll
    for (int i = 0; i < 2; i++) {
        const int at = 4 * k + 2 * i, next = at + 1;
        const unsigned bytes = (unsigned)(at / N | (4 + next / N) << 4);
        half[i] = __byte_perm(planes[at % N], planes[next % N], bytes);
    }
    return __byte_perm(half[0], half[1], 0x5410);
}

/* Stores the colours of four indices, from pixel x on. */
static __device__ inline void store_colors(const struct png_task &task, const gi_image &result,
                                           const struct png_palette &palette, uint8_t *row,
                                           uint32_t x, uint32_t indices)
{
    for (uint32_t i = 0; i < 4 && x + i < task.row_nbytes; i++) {
        const uint32_t index = indices >> 8 * i & 255;
        for (int c = 0; c < result.channels; c++)
            row[(size_t)(x + i) * result.channels + c] = (uint8_t)(palette.colors[index] >> 8 * c);
        if (index >= palette.ncolors)
            task.state->damaged = 1;
    }
}

/* A thread stores four pixels of N bytes, or of one byte if there is a palette. */
template <int N>
static __global__ void __launch_bounds__(STORE_THREADS)
    store_rows(struct png_task task, struct gi_image result, const struct png_palette *palette)
{
    const uint32_t at = blockIdx.x * STORE_THREADS + threadIdx.x;
    const uint32_t row_words = (task.row_nbytes + 3) / 4;
    if (task.state->status || at >= task.nwords)
        return;
    for (uint32_t y = blockIdx.y; y < task.height; y += gridDim.y) {
        uint8_t *row = (uint8_t *)result.data + (size_t)y * result.stride;
        uint32_t planes[N];
#pragma unroll
        for (int p = 0; p < N; p++)
            planes[p] = task.rows[word_of(task, (uint32_t)p, at, y)];
        if (N == 1 && palette) {
            store_colors(task, result, *palette, row, 4 * at, planes[0]);
            continue;
        }
#pragma unroll
        for (int k = 0; k < N; k++) {
            const uint32_t word = word_made<N>(planes, k);
            if (at * N + k < row_words)
                ((uint32_t *)row)[at * N + k] =
                    result.type == GI_U16 ? __byte_perm(word, 0, 0x2301) : word; /* big-endian */
        }
    }
}

template <int N>
static void store(struct gi_cuda_queue *cu, const struct png_task *task,
                  const struct gi_image *result, const struct png_palette *palette)
{
    const dim3 grid((task->nwords + STORE_THREADS - 1) / STORE_THREADS,
                    task->height < 65535 ? task->height : 65535);
    store_rows<N><<<grid, STORE_THREADS, 0, cu->stream>>>(*task, *result, palette);
}

enum gi_status gi_cuda_png_unfilter(struct gi_cuda_queue *cu, const struct png_task *task,
                                    const struct gi_image *result,
                                    const struct png_palette *palette, struct gi_err *err)
{
    const unsigned nwarps = task->ngroups * task->pixel_nbytes;
    undo_filters<<<(nwarps + UNDO_WARPS - 1) / UNDO_WARPS, UNDO_THREADS, 0, cu->stream>>>(*task);
    GI_CUDA_LAUNCHED();
    switch (task->pixel_nbytes) {
    case 1:
        store<1>(cu, task, result, palette);
        break;
    case 2:
        store<2>(cu, task, result, palette);
        break;
    case 3:
        store<3>(cu, task, result, palette);
        break;
    case 4:
        store<4>(cu, task, result, palette);
        break;
    case 6:
        store<6>(cu, task, result, palette);
        break;
    default:
        store<8>(cu, task, result, palette);
        break;
    }
    GI_CUDA_LAUNCHED();
    return GI_OK;
}
