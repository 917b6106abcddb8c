/* region_stats: integer sums of every region, in one pass over labels and values.
 * A block has a tile, a lane two columns of it, which it goes down by squares of 2 x 2 pixels. It
 * sums until it meets another label, then adds to the tile's table in shared memory; the table goes
 * to the regions at last. Which pixels count as perimeter is found for 32 pixels a word.
 * SPDX-License-Identifier: MIT */
#include "kernels/cuda/region_table.h"

/* ---- perimeter ---- */

/* What is so of 12 rows of a lane's two columns, two bits a row: counted, and the same label as the
 * pixel to the left, above, above to the left; and where the pixels to the left and above share
 * one.
 */
struct window {
    uint32_t counted, left, up, falling, rising;
};

/* Labels of a row: a lane's own two, and the one to the left of these. */
struct row {
    uint32_t left, own[2];
};

static __device__ inline void window_add(struct window *w, int row, const struct row &above,
                                         const struct row &at, uint32_t n, bool owned)
{
#pragma unroll
    for (int c = 0; c < 2; c++) {
        const uint32_t bit = 1u << (2 * row + c);
        uint32_t left = c ? at.own[0] : at.left, above_left = c ? above.own[0] : above.left;
        w->counted |= owned && at.own[c] - 1 < n ? bit : 0;
        w->left |= at.own[c] == left ? bit : 0;
        w->up |= at.own[c] == above.own[c] ? bit : 0;
        w->falling |= at.own[c] == above_left ? bit : 0;
        w->rising |= left == above.own[c] ? bit : 0;
    }
}

static const uint32_t FIRST_COLUMN = 0x55555555u, SECOND_COLUMN = 0xaaaaaaaau;

/* For each pixel the bit of the one to the left, or right. */
static __device__ inline uint32_t from_left(uint32_t bits)
{
    uint32_t other = __shfl_up_sync(ALL_LANES, bits, 1);
    return (bits << 1 & SECOND_COLUMN) | (other >> 1 & FIRST_COLUMN);
}

static __device__ inline uint32_t from_right(uint32_t bits)
{
    uint32_t other = __shfl_down_sync(ALL_LANES, bits, 1);
    return (bits >> 1 & FIRST_COLUMN) | (other << 1 & SECOND_COLUMN);
}

/* How many of four bits are set: 0 to 3, with all of four apart. */
struct sum4 {
    uint32_t ones, twos, four;
};

static __device__ inline struct sum4 sum_of(uint32_t a, uint32_t b, uint32_t c, uint32_t d)
{
    uint32_t ab = a ^ b, cd = c ^ d, both_ab = a & b, both_cd = c & d;
    return {ab ^ cd, both_ab ^ both_cd ^ (ab & cd), both_ab & both_cd};
}

/* The classes of gi_region_sums for the pixels of a window whose two rows around are in it too:
 * 1 straight, 2 mixed, 3 diagonal, in low and high bits. */
static __device__ inline void perimeter(uint32_t *low, uint32_t *high, const struct window &w)
{
    uint32_t right = from_right(w.left), down = w.up >> 2;
    uint32_t border = ~(w.left & right & w.up & down);
    uint32_t border_left = from_left(border), border_right = from_right(border);
    struct sum4 edges =
        sum_of(w.left & border_left, right & border_right, w.up & border << 2, down & border >> 2);
    struct sum4 corners =
        sum_of(w.falling & border_left << 2, from_right(w.rising) & border_right << 2,
               (w.rising & border_left) >> 2, (from_right(w.falling) & border_right) >> 2);
    uint32_t one_edge = edges.ones & ~edges.twos, three_corners = corners.ones & corners.twos;
    uint32_t straight = edges.twos & ~three_corners & ~corners.four;
    uint32_t mixed = one_edge & (corners.ones ^ corners.twos);
    uint32_t diagonal = (corners.twos & ~corners.ones & ~(edges.ones | edges.twos | edges.four)) |
                        (three_corners & one_edge);
    *low = border & (straight | diagonal);
    *high = border & (mixed | diagonal);
}

/* ---- the tile ---- */

/* Labels of a row, 0 outside the image; x is even. */
static __device__ inline struct row row_at(const struct gi_image &labels, int x, int y)
{
    struct pair<uint32_t> p = {
    };
    if (x >= 0 && x < labels.width && y >= 0 && y < labels.height)
        p = *(const struct pair<uint32_t> *)((const char *)labels.data + (size_t)y * labels.stride +
                                             (size_t)x * 4);
    p.v[1] = x + 1 < labels.width ? p.v[1] : 0;
    return {0, {p.v[0], p.v[1]}};
}

static __device__ inline void row_complete(struct row *row)
{
    row->left = __shfl_up_sync(ALL_LANES, row->own[1], 1);
}

/* Adds the pixels `bits` of 2 x 2 to the lane's run, or to a new one. `low`, `high`: the classes of
 * the four. */
template <typename V>
static __device__ inline void square_add(struct memory<V> *t, struct run<V> *run, uint32_t bits,
                                         uint32_t label, uint32_t y, uint32_t low, uint32_t high,
                                         const struct pair<V> values[2], const struct quantiser &z)
{
    if (run->label != label)
        *run = run_start<V>(label, y + (bits & 3 ? 0 : 1));
    uint32_t counts = t->counts[bits];
    run->y_last = y + (bits & 12 ? 1 : 0);
    run->counts += counts;
    run->y_sum += y * (counts & 255);
    run->classes += t->classes[(low & bits) | (high & bits) << 4];
#pragma unroll
    for (int i = 0; i < 4; i++)
        if (bits >> i & 1)
            run_add(run, values[i / 2].v[i % 2], z);
}

/* The pixels of 2 x 2 that have the label of the first of `bits`. */
static __device__ inline uint32_t alike(const struct row rows[2], uint32_t bits, uint32_t *label)
{
    *label = bits & 1   ? rows[0].own[0]
             : bits & 2 ? rows[0].own[1]
             : bits & 4 ? rows[1].own[0]
                        : rows[1].own[1];
    uint32_t same = 0;
#pragma unroll
    for (int i = 0; i < 4; i++)
        same |= rows[i / 2].own[i % 2] == *label ? 1u << i : 0;
    return same & bits;
}

template <typename V> static __device__ inline void memory_clear(struct memory<V> *t)
{
    for (unsigned i = threadIdx.x; i < fields_of<V>() * SLOTS; i += THREADS)
        t->table[i] = i / SLOTS == MIN_X || i / SLOTS == MIN_KEY ? UINT32_MAX : 0;
    for (unsigned i = threadIdx.x; i < 256; i += THREADS) {
        unsigned low = i & 15, high = i >> 4;
        t->classes[i] = (unsigned)__popc(low & ~high) | (unsigned)__popc(high & ~low) << 10 |
                        (unsigned)__popc(low & high) << 20;
        if (i < 16)
            t->counts[i] = (unsigned)__popc(i) | (unsigned)__popc(i & 10) << 8 |
                           (unsigned)__popc(i & 12) << 16;
    }
}

template <typename V>
static __global__ void __launch_bounds__(THREADS, 5)
    region_tiles(struct gi_region_sums *regions, uint32_t n, struct gi_image labels,
                 struct gi_image values, struct quantiser z, unsigned tiles_across)
{
    __shared__ struct memory<V> t;
    const unsigned lane = threadIdx.x % WARP;
    const bool owned = lane > 0 && lane < WARP - 1;
    const unsigned tile_x = blockIdx.x % tiles_across * TILE_WIDTH;
    const int y0 = (int)(blockIdx.x / tiles_across * TILE_ROWS);
    const uint32_t lane_x = threadIdx.x / WARP * WARP_WIDTH + 2 * lane - 2;
    const int x = (int)(tile_x + lane_x);
    const struct place place = {regions, tile_x, (uint32_t)y0, lane_x};
    memory_clear(&t);
    __syncthreads();

    struct window w = {};
    struct row rows[2 + CHUNK];
    rows[0] = row_at(labels, x, y0 - 2);
    row_complete(&rows[0]);
    for (int k = 1; k < 4; k++) { /* rows -1, 0 and 1: the first of them is not counted */
        rows[1] = row_at(labels, x, y0 - 2 + k);
        row_complete(&rows[1]);
        window_add(&w, k, rows[0], rows[1], n, owned && k > 1);
        if (k < 3)
            rows[0] = rows[1];
    }
    struct run<V> run = {
    };
    for (int y = 0; y < TILE_ROWS && y0 + y < labels.height; y += CHUNK) {
        struct pair<V> value[CHUNK];
#pragma unroll
        for (int k = 0; k < CHUNK; k++) {
            rows[2 + k] = row_at(labels, x, y0 + y + 2 + k);
            value[k] = {};
            if (owned && x < labels.width && y0 + y + k < labels.height)
                value[k] = *(const struct pair<V> *)((const char *)values.data +
                                                     (size_t)(y0 + y + k) * values.stride +
                                                     (size_t)x * sizeof(V));
        }
#pragma unroll
        for (int k = 0; k < CHUNK; k++) {
            row_complete(&rows[2 + k]);
            window_add(&w, 4 + k, rows[1 + k], rows[2 + k], n, owned);
        }
        uint32_t low, high;
        perimeter(&low, &high, w);
#pragma unroll
        for (int k = 0; k < CHUNK; k += 2) {
            const int at = 2 * (k + 2);
            for (uint32_t rest = w.counted >> at & 15; __any_sync(ALL_LANES, rest != 0);) {
                uint32_t label, bits = alike(&rows[k], rest, &label);
                bool ends = rest && run.label && run.label != label;
                if (__any_sync(ALL_LANES, ends))
                    run_end<V>(run, ends, t.table, place);
                if (rest)
                    square_add<V>(&t, &run, bits, label, (uint32_t)(y + k), low >> at, high >> at,
                                  &value[k], z);
                rest &= ~bits;
            }
        }
        rows[0] = rows[CHUNK];
        rows[1] = rows[CHUNK + 1];
        w.counted >>= 2 * CHUNK;
        w.left >>= 2 * CHUNK;
        w.up >>= 2 * CHUNK;
        w.falling >>= 2 * CHUNK;
        w.rising >>= 2 * CHUNK;
    }
    if (__any_sync(ALL_LANES, run.label != 0))
        run_end<V>(run, run.label != 0, t.table, place);
    __syncthreads();
    table_move<V>(t.table, place);
}

/* Sums of no pixel, written as 64-bit words. */
static __global__ void region_clear(uint64_t *words, size_t nwords)
{
    constexpr unsigned PER_REGION = sizeof(struct gi_region_sums) / 8;
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    unsigned word = (unsigned)(i % PER_REGION);
    if (i < nwords)
        words[i] = word == offsetof(struct gi_region_sums, min_x) / 8     ? UINT64_MAX
                   : word == offsetof(struct gi_region_sums, min_key) / 8 ? UINT32_MAX
                                                                          : 0;
}

static_assert(sizeof(struct gi_region_sums) % 8 == 0, "cleared by 64-bit words");
static_assert(offsetof(struct gi_region_sums, min_y) == offsetof(struct gi_region_sums, min_x) + 4,
              "cleared together");

/* ---- launches ---- */

enum gi_status gi_cuda_region_stats_launch(struct gi_cuda_context *cu,
                                           struct gi_region_sums *regions, uint32_t n,
                                           const struct gi_image *labels,
                                           const struct gi_image *values, float lo, float hi,
                                           struct gi_err *err)
{
    size_t nwords = n * (sizeof *regions / 8);
    region_clear<<<(unsigned)((nwords + 255) / 256), 256, 0, cu->stream>>>((uint64_t *)regions,
                                                                           nwords);
    GI_CUDA_LAUNCHED();
    unsigned across = ((unsigned)labels->width + TILE_WIDTH - 1) / TILE_WIDTH;
    unsigned blocks = across * (((unsigned)labels->height + TILE_ROWS - 1) / TILE_ROWS);
    struct quantiser z = quantiser_of(lo, hi);
    if (values->type == GI_U8)
        region_tiles<uint8_t>
            <<<blocks, THREADS, 0, cu->stream>>>(regions, n, *labels, *values, z, across);
    else if (values->type == GI_U16)
        region_tiles<uint16_t>
            <<<blocks, THREADS, 0, cu->stream>>>(regions, n, *labels, *values, z, across);
    else
        region_tiles<float>
            <<<blocks, THREADS, 0, cu->stream>>>(regions, n, *labels, *values, z, across);
    GI_CUDA_LAUNCHED();
    return GI_OK;
}

enum gi_status gi_cuda_region_stats(struct gi_context *cx, struct gi_region_sums *regions,
                                    uint32_t n, const struct gi_image *labels,
                                    const struct gi_image *values, float lo, float hi,
                                    struct gi_err *err)
{
    struct gi_cuda_context *cu = gi_cuda(cx);
    struct gi_region_sums *device;
    size_t nbytes = n * sizeof *regions;
    if (n == 0)
        return GI_OK;
    enum gi_status status = gi_cuda_scratch(cu, (void **)&device, nbytes, err);
    if (!status)
        status = gi_cuda_region_stats_launch(cu, device, n, labels, values, lo, hi, err);
    if (!status)
        status = gi_cuda_copy_to_host(cu, regions, nbytes, device, nbytes, nbytes, 1, err);
    return status;
}
