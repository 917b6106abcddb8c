/* Non-local means denoising. For 8-bit gray with 7 x 7 patches, a block owns a tile of 128 x 32
 * pixels and, for each offset of the search window, a thread moves down 16 pixels of a column. Two
 * dp4a compute the sum of the squared differences of a patch row of seven pixels, and the patch
 * distance is the difference of two running sums. For all other images and patches, a block owns 16
 * x 16 pixels and, for each offset, computes sums of squares down the columns in shared memory.
 * SPDX-License-Identifier: MIT */
#include "kernels/cuda/convolution/box.cuh"
#include "kernels/denoise.h"

enum {
    PATCH = 7,
    SEARCH = 21, /* maximum: sums have 32 bits */
    REACH = SEARCH / 2 + PATCH / 2,
    WARPS_X = 4,
    WARPS_Y = 2,
    LANES = 32,
    ROWS = 16,   /* per thread */
    AT_ONCE = 4, /* rows whose weights are looked up together, unless all weights are 0 */
    BYTES_THREADS = WARPS_X * WARPS_Y * LANES,
    TILE_X = WARPS_X * LANES,
    TILE_Y = WARPS_Y * ROWS,
    TILE_ROWS = TILE_Y + 2 * REACH,
    BYTES_PITCH = 160,                 /* for TILE_X + 2 * REACH bytes */
    WORDS_PITCH = TILE_X + SEARCH - 1, /* pixels */
    BYTES_NBYTES = TILE_ROWS * (WORDS_PITCH * 8 + BYTES_PITCH),
    SIDE = 16, /* of a tile, pixels */
    COLUMNS = SIDE + GI_NLMEANS_PATCH_MAX - 1,
    PLAIN_THREADS = SIDE * SIDE
};
static_assert(TILE_ROWS * BYTES_PITCH >= GI_NLMEANS_ENTRIES * 2, "the table goes where bytes were");

struct nlmeans_args {
    struct source src; /* border values are samples */
    struct target dst;
    int patch, search, shift;
    unsigned n, cut; /* table entries; distances of `cut` or more have weight 0 */
    float scale;
    uint16_t weights[GI_NLMEANS_ENTRIES];
};

/* ---- 8-bit gray, 7 x 7 ---- */

/* Loads the bytes of the tile and its halo. Then packs, for each pixel, the 7 bytes from 3 before
 * the pixel to 3 after it, and a 0. Finally overwrites the bytes with the table of weights. */
static __device__ __forceinline__ void tile_make(uint2 *words, uint8_t *bytes,
                                                 const struct nlmeans_args *args, int x0, int y0)
{
    for (int i = (int)threadIdx.x; i < TILE_ROWS * BYTES_PITCH; i += BYTES_THREADS) {
        int x = gi_border_index(x0 - REACH + i % BYTES_PITCH, args->src.width, args->src.border);
        int y = gi_border_index(y0 - REACH + i / BYTES_PITCH, args->src.height, args->src.border);
        bytes[i] = x < 0 || y < 0 ? (uint8_t)args->src.value[0]
                                  : ((const uint8_t *)args->src.data)[y * args->src.stride + x];
    }
    __syncthreads();
    for (int i = (int)threadIdx.x; i < TILE_ROWS * WORDS_PITCH; i += BYTES_THREADS) {
        const uint8_t *p = bytes + i / WORDS_PITCH * BYTES_PITCH + i % WORDS_PITCH;
        words[i].x = p[0] | p[1] << 8 | p[2] << 16 | (unsigned)p[3] << 24;
        words[i].y = p[4] | p[5] << 8 | p[6] << 16;
    }
    __syncthreads();
    for (unsigned i = threadIdx.x; i < args->n; i += BYTES_THREADS)
        ((uint16_t *)bytes)[i] = args->weights[i];
    __syncthreads();
}

static __device__ __forceinline__ unsigned squares(uint2 a, uint2 b, unsigned sum)
{
    unsigned low = __vabsdiffu4(a.x, b.x), high = __vabsdiffu4(a.y, b.y);
    return __dp4a(high, high, __dp4a(low, low, sum));
}

/* Adds one offset of the search window for a column. `own` are the packed rows of the column's
 * patches. `other` points to the packed row that own[0] is compared with. */
static __device__ __forceinline__ void offset_add(unsigned *sums, unsigned *weights,
                                                  const uint2 *own, const uint2 *other,
                                                  const uint16_t *table, unsigned cut, int shift)
{
    unsigned running[ROWS + PATCH], values[ROWS + PATCH - 1];
    running[0] = 0;
#pragma unroll
    for (int r = 0; r < PATCH - 1; r++) {
        uint2 b = other[r * WORDS_PITCH];
        values[r] = b.x;
        running[r + 1] = squares(own[r], b, running[r]);
    }
#pragma unroll
    for (int y = 0; y < ROWS; y += AT_ONCE) {
        unsigned distance[AT_ONCE], least = ~0u;
#pragma unroll
        for (int k = 0; k < AT_ONCE; k++) {
            int r = y + k + PATCH - 1;
            uint2 b = other[r * WORDS_PITCH];
            values[r] = b.x;
            running[r + 1] = squares(own[r], b, running[r]);
            distance[k] = running[r + 1] - running[y + k];
            least = min(least, distance[k]);
        }
        if (!__any_sync(~0u, least < cut))
            continue;
#pragma unroll
        for (int k = 0; k < AT_ONCE; k++) {
            unsigned w = distance[k] < cut ? table[distance[k] >> shift] : 0;
            sums[y + k] += w * (values[y + k + PATCH / 2] >> 24);
            weights[y + k] += w;
        }
    }
}

static __global__ void __launch_bounds__(BYTES_THREADS, 2)
    nlmeans_bytes(const __grid_constant__ struct nlmeans_args args)
{
    extern __shared__ __align__(16) char shared[];
    uint2 *words = (uint2 *)shared;
    uint8_t *bytes = (uint8_t *)shared + TILE_ROWS * WORDS_PITCH * 8;
    int lane = (int)threadIdx.x % LANES, warp = (int)threadIdx.x / LANES, half = args.search / 2;
    int x = warp % WARPS_X * LANES + lane, y = warp / WARPS_X * ROWS;
    int x0 = (int)blockIdx.x * TILE_X, y0 = (int)blockIdx.y * TILE_Y;
    unsigned sums[ROWS] = {0}, weights[ROWS] = {0};
    uint2 own[ROWS + PATCH - 1];
    tile_make(words, bytes, &args, x0, y0);
    const uint2 *at = words + (y + SEARCH / 2) * WORDS_PITCH + x + SEARCH / 2;
#pragma unroll
    for (int r = 0; r < ROWS + PATCH - 1; r++)
        own[r] = at[r * WORDS_PITCH];
    for (int j = -half; j <= half; j++)
#pragma unroll 1
        for (int i = -half; i <= half; i++)
            offset_add(sums, weights, own, at + j * WORDS_PITCH + i, (const uint16_t *)bytes,
                       args.cut, args.shift);
#pragma unroll
    for (int r = 0; r < ROWS; r++)
        if (x0 + x < args.src.width && y0 + y + r < args.src.height)
            ((uint8_t *)args.dst.data)[(size_t)(y0 + y + r) * args.dst.stride + (size_t)(x0 + x)] =
                (uint8_t)box_quotient(sums[r], weights[r]);
}

/* ---- everything ---- */

static __device__ __forceinline__ const void *place_of(const struct source *src, int x, int y,
                                                       int nbytes)
{
    int xi = gi_border_index(x, src->width, src->border);
    int yi = gi_border_index(y, src->height, src->border);
    if (xi < 0 || yi < 0)
        return NULL;
    return src->data + (size_t)yi * src->stride + (size_t)xi * src->channels * nbytes;
}

/* The sums of a pixel, as integers or as floats. */
template <typename T, int COLORS> struct means {
    unsigned long long s[COLORS], a;
    __device__ __forceinline__ void add(unsigned w, const T *v, const float *outside, bool alpha)
    {
        unsigned long long weight = w;
        if (alpha)
            weight *= v ? (unsigned)v[COLORS] : (unsigned)outside[COLORS];
#pragma unroll
        for (int c = 0; c < COLORS; c++)
            s[c] += weight * (v ? (unsigned)v[c] : (unsigned)outside[c]);
        a += weight;
    }
    __device__ __forceinline__ float mean(int c, float stays) const
    {
        return a ? (float)((2 * s[c] + a) / (2 * a)) : stays;
    }
};

template <int COLORS> struct means<float, COLORS> {
    float s[COLORS], a;
    __device__ __forceinline__ void add(unsigned w, const float *v, const float *outside,
                                        bool alpha)
    {
        float share = 1, sample[COLORS + 1];
#pragma unroll
        for (int c = 0; c <= COLORS; c++)
            if (c < COLORS || alpha)
                sample[c] = v ? v[c] : outside[c];
        if (alpha)
            share = sample[COLORS];
#pragma unroll
        for (int c = 0; c <= COLORS; c++)
            if ((c < COLORS || alpha) && !(__fsub_rn(sample[c], sample[c]) == 0))
                share = 0;
        float weight = __fmul_rn((float)w, share);
#pragma unroll
        for (int c = 0; c < COLORS; c++) {
            bool is_finite = __fsub_rn(sample[c], sample[c]) == 0;
            s[c] = __fmaf_rn(weight, is_finite ? sample[c] : 0.0f, s[c]);
        }
        a = __fadd_rn(a, weight);
    }
    __device__ __forceinline__ float mean(int c, float stays) const
    {
        return a > 0 ? __fdiv_rn(s[c], a) : stays;
    }
};

/* Stages quantised samples, one plane per colour, of the tile extended by the radii of patches and
 * search window. */
template <typename T, int COLORS>
static __device__ __forceinline__ void steps_make(int *steps, const struct nlmeans_args *args,
                                                  int x0, int y0, int side, int reach)
{
    for (int i = (int)threadIdx.x; i < side * side; i += PLAIN_THREADS) {
        const T *v = (const T *)place_of(&args->src, x0 - reach + i % side, y0 - reach + i / side,
                                         (int)sizeof(T));
#pragma unroll
        for (int c = 0; c < COLORS; c++) {
            float sample = v ? (float)v[c] : args->src.value[c];
            steps[c * side * side + i] =
                sizeof(T) == 1 ? (int)sample : gi_nlmeans_step(sample, args->scale);
        }
    }
}

/* Computes sums of squares over `patch` pixels down a column. Each thread computes the sums of two
 * rows of a column of the tile. */
template <int COLORS>
static __device__ __forceinline__ void columns_make(unsigned *columns, const int *steps, int by,
                                                    int side, int first, int patch)
{
    int column = (int)threadIdx.x % 32, row = (int)threadIdx.x / 32 * 2;
    if (column >= SIDE + patch - 1)
        return;
    unsigned sum = 0;
    for (int r = 0; r <= patch; r++) {
        unsigned in = 0, out = 0;
#pragma unroll
        for (int c = 0; c < COLORS; c++) {
            const int *p = steps + c * side * side + (first + row + r) * side + first + column;
            int d = min(abs(p[0] - p[by]), (int)GI_NLMEANS_STEPS);
            in += (unsigned)(d * d);
            if (r == patch) {
                p -= patch * side;
                d = min(abs(p[0] - p[by]), (int)GI_NLMEANS_STEPS);
                out += (unsigned)(d * d);
            }
        }
        if (r == patch)
            columns[row * COLUMNS + column] = sum;
        sum += in - out;
    }
    columns[(row + 1) * COLUMNS + column] = sum;
}

template <typename T, int COLORS>
static __device__ __forceinline__ void tile_make(const struct nlmeans_args &args, int *steps,
                                                 unsigned (*columns)[SIDE * COLUMNS])
{
    int reach = args.search / 2 + args.patch / 2, side = SIDE + 2 * reach;
    int half = args.search / 2, turn = 0;
    int tx = (int)threadIdx.x % SIDE, ty = (int)threadIdx.x / SIDE;
    int x0 = (int)blockIdx.x * SIDE, y0 = (int)blockIdx.y * SIDE;
    bool alpha = args.src.channels > COLORS;
    struct means<T, COLORS> means = {};
    steps_make<T, COLORS>(steps, &args, x0, y0, side, reach);
    __syncthreads();
    for (int j = -half; j <= half; j++)
        for (int i = -half; i <= half; i++, turn ^= 1) {
            columns_make<COLORS>(columns[turn], steps, j * side + i, side, half, args.patch);
            __syncthreads();
            unsigned distance = 0;
            for (int u = 0; u < args.patch; u++)
                distance += columns[turn][ty * COLUMNS + tx + u];
            if (distance >> args.shift >= args.n)
                continue;
            const T *v = (const T *)place_of(&args.src, x0 + tx + i, y0 + ty + j, (int)sizeof(T));
            means.add(args.weights[distance >> args.shift], v, args.src.value, alpha);
        }
    if (x0 + tx >= args.src.width || y0 + ty >= args.src.height)
        return;
    const T *from = (const T *)(args.src.data + (size_t)(y0 + ty) * args.src.stride) +
                    (size_t)(x0 + tx) * args.src.channels;
    T *to = (T *)(args.dst.data + (size_t)(y0 + ty) * args.dst.stride) +
            (size_t)(x0 + tx) * args.src.channels;
#pragma unroll
    for (int c = 0; c < COLORS; c++)
        sample_store(to + c, means.mean(c, (float)from[c]));
    if (alpha)
        to[COLORS] = from[COLORS];
}

template <int COLORS>
static __global__ void __launch_bounds__(PLAIN_THREADS)
    nlmeans_plain(const __grid_constant__ struct nlmeans_args args)
{
    extern __shared__ __align__(16) char shared[];
    __shared__ unsigned columns[2][SIDE * COLUMNS];
    SAMPLE_TYPES(args.src.type, tile_make<T, COLORS>(args, (int *)shared, columns));
}

/* ---- launchers ---- */

static struct nlmeans_args args_of(struct gi_image *dst, const struct gi_image *src,
                                   const struct gi_nlmeans *spec)
{
    struct gi_border_spec border =
        src->type == GI_F32 ? spec->border : box_border(src, &spec->border);
    struct nlmeans_args args = {};
    unsigned long long cut = (unsigned long long)spec->n << spec->shift;
    args.src = source_of(src, &border, GI_ALPHA_PLAIN);
    args.dst = target_of(dst);
    args.patch = spec->patch;
    args.search = spec->search;
    args.shift = spec->shift;
    args.n = (unsigned)spec->n;
    args.cut = cut < ~0u ? (unsigned)cut : ~0u;
    args.scale = spec->scale;
    memcpy(args.weights, spec->weights, (size_t)spec->n * sizeof *spec->weights);
    return args;
}

static bool bytes_takes(const struct gi_queue *queue, const struct gi_image *src,
                        const struct gi_nlmeans *spec)
{
    return src->type == GI_U8 && src->channels == 1 && spec->patch == PATCH &&
           spec->search <= SEARCH && src->height <= 65535 * TILE_Y &&
           ((const struct gi_cuda_queue *)queue)->shared_nbytes >= BYTES_NBYTES;
}

static enum gi_status bytes(struct gi_queue *queue, struct gi_image *dst,
                            const struct gi_image *src, const struct gi_nlmeans *spec,
                            struct gi_err *err)
{
    struct gi_cuda_queue *cu = gi_cuda(queue);
    struct nlmeans_args args = args_of(dst, src, spec);
    dim3 grid(ceil_div(src->width, TILE_X), ceil_div(src->height, TILE_Y));
    GI_CUDA_ALLOW_SHARED(cu, nlmeans_bytes);
    nlmeans_bytes<<<grid, BYTES_THREADS, BYTES_NBYTES, cu->stream>>>(args);
    GI_CUDA_LAUNCHED();
    return GI_OK;
}

template <int COLORS>
static enum gi_status plain_colors(struct gi_cuda_queue *cu, struct nlmeans_args *args,
                                   struct gi_err *err)
{
    int side = SIDE + args->search + args->patch - 2, height = args->src.height,
        band = 65535 * SIDE;
    int nbytes = COLORS * side * side * (int)sizeof(int);
    if (height > band)
        return gi_fail(err, GI_E_UNSUPPORTED, "%d rows: want at most %d on CUDA", height, band);
    dim3 grid(ceil_div(args->src.width, SIDE), ceil_div(height, SIDE));
    GI_CUDA_ALLOW_SHARED(cu, nlmeans_plain<COLORS>);
    nlmeans_plain<COLORS><<<grid, PLAIN_THREADS, nbytes, cu->stream>>>(*args);
    GI_CUDA_LAUNCHED();
    return GI_OK;
}

static enum gi_status plain(struct gi_queue *queue, struct gi_image *dst,
                            const struct gi_image *src, const struct gi_nlmeans *spec,
                            struct gi_err *err)
{
    struct gi_cuda_queue *cu = gi_cuda(queue);
    struct nlmeans_args args = args_of(dst, src, spec);
    return src->channels >= 3 ? plain_colors<3>(cu, &args, err) : plain_colors<1>(cu, &args, err);
}

const struct gi_nlmeans_way gi_cuda_nlmeans_ways[GI_WAYS_MAX] = {
    {{"bytes", "8-bit gray, patches of 7, search up to 21"}, bytes_takes, bytes},
    {{"plain", "everything"}, NULL, plain},
};
