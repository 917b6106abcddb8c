/* Hysteresis on bits: `weak` are the pixels above the lower level, `edge` those that are known to
 * be connected to a pixel above the upper level. A block extends the edges of a tile of 256 x 256
 * pixels until they no longer change, given those around the tile; rounds over tiles follow
 * (tile_rounds.cuh).
 *
 *     shared memory: 258 x 10 words      1. hysteresis_pack: the two images of bits
 *     +-+-+-+-+-+-+-+-+-+-+              2. hysteresis_flood, a launch per round: a thread has a
 *     | |  8 words        | |               column of 8 words, 32 x 8 pixels, in registers
 *     | |  x 256 rows     | |            3. hysteresis_unpack
 *     +-+-+-+-+-+-+-+-+-+-+
 *
 * A word is extended along its row by carry propagation: adding a bit of a run of ones to the run
 * flips this bit and all higher bits of the run.
 *
 * Example: weak 0011110, edge 0000100: the sum 0100010 differs from `weak` in 0111100, so the edge
 * becomes 0011100, and from the other side, with the bits reversed, 0011110.
 * SPDX-License-Identifier: MIT */
#include "kernels/cuda/morphology/bit_image.cuh"
#include "kernels/cuda/morphology/tile_rounds.cuh"
#include "kernels/morphology.h"

enum {
    TILE_WORDS = 8,
    TILE_ROWS = 256,
    FLOOD_THREADS = 256,
    THREAD_ROWS = TILE_ROWS * TILE_WORDS / FLOOD_THREADS,
    PITCH = TILE_WORDS + 3, /* the threads of a warp are in different banks */
    BLOCKS_EACH = 4,        /* blocks per multiprocessor */
};

struct hysteresis_args {
    struct gi_image dst, src;
    struct gi_hysteresis spec;
    struct bit_image weak, edge;
    int nwords; /* per row */
    struct tile_rounds rounds;
};

static __global__ void __launch_bounds__(BITS_THREADS)
    hysteresis_pack(const __grid_constant__ struct hysteresis_args args)
{
    SAMPLE_TYPES(args.src.type, bits_pack<T>(args.weak, args.src, args.spec.low);
                 bits_pack<T>(args.edge, args.src, args.spec.high));
}

static __global__ void __launch_bounds__(BITS_THREADS)
    hysteresis_unpack(const __grid_constant__ struct hysteresis_args args)
{
    SAMPLE_TYPES(args.dst.type, bits_unpack<T>(args.dst, args.edge));
}

/* ---- flooding ---- */

struct flood_memory {
    uint32_t edge[(TILE_ROWS + 2) * PITCH]; /* word w of row y at (y + 1) * PITCH + w + 1 */
    unsigned changed[9];                    /* see round_list() */
};

/* The words of a thread, and the edges around them. */
struct strip {
    uint32_t weak[THREAD_ROWS];
    uint32_t edge[THREAD_ROWS + 2]; /* with the row above and the row below */
};

/* Loads the edges of a tile and around it, and the thread's weak pixels. The edges may change
 * during the load, so they are read through the L2 cache. */
static __device__ __forceinline__ void flood_load(struct flood_memory &memory, struct strip &strip,
                                                  const struct hysteresis_args &args, int word0,
                                                  int y0, int word, int row)
{
    for (int i = (int)threadIdx.x; i < (TILE_ROWS + 2) * (TILE_WORDS + 2); i += FLOOD_THREADS) {
        int dx = i % (TILE_WORDS + 2) - 1, dy = i / (TILE_WORDS + 2) - 1;
        int x = word0 + dx, y = y0 + dy;
        bool inside = x >= 0 && x < args.nwords && y >= 0 && y < args.src.height;
        memory.edge[(dy + 1) * PITCH + dx + 1] = inside ? __ldcg(bits_row(args.edge, y) + x) : 0;
    }
#pragma unroll
    for (int r = 0; r < THREAD_ROWS; r++) {
        int x = word0 + word, y = y0 + row + r;
        bool inside = x < args.nwords && y < args.src.height;
        strip.weak[r] = inside ? bits_row(args.weak, y)[x] : 0;
    }
}

/* Returns the bits of `weak` in runs with a bit of `edge`, which is a part of it. */
static __device__ __forceinline__ uint32_t runs_fill(uint32_t weak, uint32_t edge)
{
    edge |= ((weak + edge) ^ weak) & weak;
    uint32_t weak_back = __brev(weak), edge_back = __brev(edge);
    return edge | (__brev((weak_back + edge_back) ^ weak_back) & weak);
}

/* Extends the edges of a thread, down and up again. sides[r] has bit 0 if the pixel to the left of
 * row r - 1 is an edge, and bit 31 if the pixel to the right is. */
static __device__ __forceinline__ void strip_extend(struct strip &strip, const uint32_t *sides)
{
#pragma unroll
    for (int k = 0; k < 2 * THREAD_ROWS; k++) {
        const int r = k < THREAD_ROWS ? k : 2 * THREAD_ROWS - 1 - k;
        uint32_t near = strip.edge[r] | strip.edge[r + 1] | strip.edge[r + 2];
        near |= near << 1 | near >> 1 | sides[r] | sides[r + 1] | sides[r + 2];
        strip.edge[r + 1] = runs_fill(strip.weak[r], near & strip.weak[r]);
    }
}

/* Extends the edges of the tile until none changes. Returns which bits of the thread's words have
 * changed since the start, per row. */
static __device__ __forceinline__ void tile_extend(uint32_t *changed, struct flood_memory &memory,
                                                   struct strip &strip, int word, int row)
{
    uint32_t *own = &memory.edge[(row + 1) * PITCH + word + 1];
#pragma unroll
    for (int r = 0; r < THREAD_ROWS; r++)
        changed[r] = strip.edge[r + 1] = own[r * PITCH];
    for (bool again = true; again;) {
        uint32_t sides[THREAD_ROWS + 2];
#pragma unroll
        for (int r = 0; r < THREAD_ROWS + 2; r++) {
            const uint32_t *at = own + (r - 1) * PITCH;
            sides[r] = at[-1] >> 31 | at[1] << 31;
        }
        strip.edge[0] = own[-PITCH];
        strip.edge[THREAD_ROWS + 1] = own[THREAD_ROWS * PITCH];
        strip_extend(strip, sides);
        __syncthreads(); /* all have read */
        bool grown = false;
#pragma unroll
        for (int r = 0; r < THREAD_ROWS; r++) {
            grown |= own[r * PITCH] != strip.edge[r + 1];
            own[r * PITCH] = strip.edge[r + 1];
        }
        again = __syncthreads_or(grown);
    }
#pragma unroll
    for (int r = 0; r < THREAD_ROWS; r++)
        changed[r] ^= strip.edge[r + 1];
}

/* Stores a thread's words, and notes which sides and corners of the tile have changed. */
static __device__ __forceinline__ void
strip_store(struct flood_memory &memory, const struct strip &strip, const uint32_t *changed,
            const struct hysteresis_args &args, int word0, int y0, int word, int row)
{
    int top = row == 0, bottom = row == TILE_ROWS - THREAD_ROWS;
    bool first = word == 0, last = word == TILE_WORDS - 1;
#pragma unroll
    for (int r = 0; r < THREAD_ROWS; r++) {
        if (!changed[r])
            continue;
        bits_row(args.edge, y0 + row + r)[word0 + word] = strip.edge[r + 1];
        int dy = top && r == 0 ? -1 : bottom && r == THREAD_ROWS - 1;
        bool left = first && changed[r] & 1, right = last && changed[r] >> 31;
        if (dy)
            atomicExch(&memory.changed[4 + 3 * dy], 1u);
        if (left || right) {
            atomicExch(&memory.changed[left ? 3 : 5], 1u);
            atomicExch(&memory.changed[4 + 3 * dy + (left ? -1 : 1)], 1u);
        }
    }
}

/* Each block processes every gridDim.x-th tile of the list of this round. */
static __global__ void __launch_bounds__(FLOOD_THREADS)
    hysteresis_flood(const __grid_constant__ struct hysteresis_args args, unsigned round)
{
    __shared__ struct flood_memory memory;
    const unsigned n = round_count(args.rounds, round);
    const int word = (int)threadIdx.x % TILE_WORDS,
              row = (int)threadIdx.x / TILE_WORDS * THREAD_ROWS;
    for (unsigned i = blockIdx.x; i < n; i += gridDim.x) {
        unsigned tile = round_tile(args.rounds, round, i);
        int word0 = (int)(tile % (unsigned)args.rounds.across) * TILE_WORDS;
        int y0 = (int)(tile / (unsigned)args.rounds.across) * TILE_ROWS;
        struct strip strip;
        uint32_t changed[THREAD_ROWS];
        if (threadIdx.x < 9)
            memory.changed[threadIdx.x] = 0;
        flood_load(memory, strip, args, word0, y0, word, row);
        __syncthreads();
        tile_extend(changed, memory, strip, word, row);
        strip_store(memory, strip, changed, args, word0, y0, word, row);
        __syncthreads();
        round_list(args.rounds, round, tile, memory.changed, true);
        __syncthreads();
    }
}

/* ---- launcher ---- */

static void flood_launch(struct gi_cuda_queue *cu, const void *args, unsigned blocks,
                         unsigned round)
{
    hysteresis_flood<<<blocks, FLOOD_THREADS, 0, cu->stream>>>(
        *(const struct hysteresis_args *)args, round);
}

static enum gi_status by_bits(struct gi_queue *queue, struct gi_image *dst,
                              const struct gi_image *src, const struct gi_hysteresis *spec,
                              struct gi_err *err)
{
    struct gi_cuda_queue *cu = gi_cuda(queue);
    struct hysteresis_args args = {};
    args.dst = *dst;
    args.src = *src;
    args.spec = *spec;
    args.nwords = ceil_div(src->width, WORD_PIXELS);
    args.rounds.across = ceil_div(args.nwords, TILE_WORDS);
    args.rounds.down = ceil_div(src->height, TILE_ROWS);
    args.rounds.ntiles = (unsigned)args.rounds.across * (unsigned)args.rounds.down;
    args.weak.pitch = args.edge.pitch = args.nwords;
    size_t n = (size_t)args.nwords * (size_t)src->height;
    void *scratch;
    enum gi_status status = gi_cuda_scratch(
        cu, &scratch, 2 * n * sizeof(uint32_t) + tile_rounds_nbytes(args.rounds.ntiles), err);
    if (status)
        return status;
    args.weak.words = (uint32_t *)scratch;
    args.edge.words = args.weak.words + n;
    status = tile_rounds_start(&args.rounds, cu, args.edge.words + n, err);
    if (status)
        return status;
    hysteresis_pack<<<bits_grid(src), BITS_THREADS, 0, cu->stream>>>(args);
    GI_CUDA_LAUNCHED();
    status = tile_rounds_run(&args.rounds, cu, (unsigned)cu->units * BLOCKS_EACH, flood_launch,
                             &args, err);
    if (status)
        return status;
    hysteresis_unpack<<<bits_grid(src), BITS_THREADS, 0, cu->stream>>>(args);
    GI_CUDA_LAUNCHED();
    return GI_OK;
}

const struct gi_hysteresis_way gi_cuda_hysteresis_ways[GI_WAYS_MAX] = {
    {{"bits", "everything"}, NULL, by_bits},
};
