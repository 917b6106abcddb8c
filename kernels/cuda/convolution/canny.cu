/* Gradient and non-maximum suppression of Canny's edge detector. A block moves down a strip, a
 * source row per step. A thread has one column of gradients. The filtered rows that a gradient
 * needs are in its registers, the magnitudes of the last rows in a ring buffer in shared memory.
 *
 *     source columns    | half |  CANNY_THREADS columns of gradients  | half |
 *     result columns           | 1 |  CANNY_COLUMNS               | 1 |
 *
 *     step of source row r: load row r - barrier - classify row r - half - 2, whose magnitudes and
 *     those of the rows beside it were stored before the barrier - gradient of row r - half
 *
 * The next step loads into the other half of `samples`, and stores magnitudes in a slot that this
 * step does not read, so one barrier per step is enough. Example: 3 x 3, 8192 x 8192 pixels: 66
 * strips of 126 columns times 128 bands of 64 rows, which take 64 + 5 steps each.
 * SPDX-License-Identifier: MIT */
#include "kernels/cuda/common/sample.cuh"
#include "kernels/canny.h"

enum {
    CANNY_THREADS = 128,
    CANNY_COLUMNS = CANNY_THREADS - 2, /* of the result */
    CANNY_ROWS = 64,                   /* of the result, per block */
    CANNY_COLORS = 3,
};

/* The types of gradients and of magnitudes. */
template <typename T> struct canny_types {
    typedef int32_t gradient;
    typedef int64_t magnitude;
};
template <> struct canny_types<float> {
    typedef float gradient, magnitude;
};

struct canny_args {
    struct gi_image dst, src;
    struct gi_canny spec;
    int colors;
    /* The last spec.size entries. */
    int smooth[GI_CANNY_SIZE_MAX], difference[GI_CANNY_SIZE_MAX];
};

static __device__ __forceinline__ int32_t tap_add(int tap, int32_t v, int32_t sum)
{
    return sum + tap * v;
}

static __device__ __forceinline__ float tap_add(int tap, float v, float sum)
{
    return __fmaf_rn((float)tap, v, sum);
}

static __device__ __forceinline__ int32_t sixteenth(int32_t v)
{
    return gi_canny_sixteenth(v);
}

static __device__ __forceinline__ float sixteenth(float v)
{
    return __fmul_rn(v, 0.0625f);
}

static __device__ __forceinline__ int64_t magnitude_of(const struct gi_canny &spec, int32_t x,
                                                       int32_t y)
{
    if (spec.squared)
        return (int64_t)x * x + (int64_t)y * y;
    return (int64_t)abs(x) + abs(y);
}

static __device__ __forceinline__ float magnitude_of(const struct gi_canny &spec, float x, float y)
{
    float square = __fmaf_rn(x, x, __fmul_rn(y, y));
    return spec.interpolated ? __fsqrt_rn(square)
           : spec.squared    ? square
                             : __fadd_rn(fabsf(x), fabsf(y));
}

static __device__ __forceinline__ int class_of(const struct gi_canny &spec, int32_t x, int32_t y,
                                               const int64_t *above, const int64_t *own,
                                               const int64_t *below)
{
    return gi_canny_class(x, y, above, own, below, (int64_t)spec.low, (int64_t)spec.high);
}

static __device__ __forceinline__ int class_of(const struct gi_canny &spec, float x, float y,
                                               const float *above, const float *own,
                                               const float *below)
{
    float low = (float)spec.low, high = (float)spec.high;
    return spec.interpolated ? gi_canny_class_interpolated(x, y, above, own, below, low, high)
                             : gi_canny_class_float(x, y, above, own, below, low, high);
}

/* The gradient and the magnitude of one pixel. */
template <typename T> struct canny_gradient {
    typename canny_types<T>::gradient x, y;
    typename canny_types<T>::magnitude m;
};

/* The last N rows of one column and colour, filtered along the row by D and by S. */
template <typename G, int N> struct canny_column {
    G d[N], s[N];
};

/* Adds the row whose first sample for this thread is at `in`. The first `first` of the
 * N rows and taps are not used. */
template <typename G, int N>
static __device__ __forceinline__ void column_add(struct canny_column<G, N> &column, const G *in,
                                                  const struct canny_args &args, int first)
{
    G d = 0, s = 0;
#pragma unroll
    for (int i = 0; i < N; i++)
        if (i >= first) {
            d = tap_add(args.difference[GI_CANNY_SIZE_MAX - N + i], in[i - first], d);
            s = tap_add(args.smooth[GI_CANNY_SIZE_MAX - N + i], in[i - first], s);
        }
#pragma unroll
    for (int j = 0; j < N - 1; j++) {
        column.d[j] = column.d[j + 1];
        column.s[j] = column.s[j + 1];
    }
    column.d[N - 1] = d;
    column.s[N - 1] = s;
}

template <typename T, int N>
static __device__ __forceinline__ struct canny_gradient<T>
column_gradient(const struct canny_column<typename canny_types<T>::gradient, N> &column,
                const struct canny_args &args, int first) {
    struct canny_gradient<T> g = {
        0, 0, 0
    };
#pragma unroll
    for (int j = 0; j < N; j++)
        if (j >= first) {
            g.x = tap_add(args.smooth[GI_CANNY_SIZE_MAX - N + j], column.d[j], g.x);
            g.y = tap_add(args.difference[GI_CANNY_SIZE_MAX - N + j], column.s[j], g.y);
        }
    if (args.spec.size == 7) {
        g.x = sixteenth(g.x);
        g.y = sixteenth(g.y);
    }
    g.m = magnitude_of(args.spec, g.x, g.y);
    return g;
}

/* Writes the class of the pixel in column `x` of row `y`. m[] are the magnitudes of rows in a ring
 * of four, `t` is the thread's column there. */
template <typename T, typename M>
static __device__ __forceinline__ void
pixel_classify(const struct canny_args &args, const struct canny_gradient<T> &g,
               const M (*m)[CANNY_THREADS], int t, int x, int y)
{
    bool frame = x == 0 || y == 0 || x == args.src.width - 1 || y == args.src.height - 1;
    int made = class_of(args.spec, g.x, g.y, m[(y + 3) % 4] + t - 1, m[y % 4] + t - 1,
                        m[(y + 1) % 4] + t - 1);
    T *row = (T *)((char *)args.dst.data + (size_t)y * args.dst.stride);
    row[x] = (T)(args.spec.interpolated && frame ? 0 : made);
}

/* The shared memory of a block. That of integers is larger, and holds that of floats too. */
template <typename G, typename M, int N> struct canny_shared {
    M m[4][CANNY_THREADS];
    G samples[2][CANNY_COLORS][CANNY_THREADS + N - 1];
};

/* Makes rows y0 to y1 - 1 of the result, in the block's strip. */
template <typename T, int N>
static __device__ __forceinline__ void band_make(const struct canny_args &args, void *memory,
                                                 int y0, int y1)
{
    typedef typename canny_types<T>::gradient G;
    typedef typename canny_types<T>::magnitude M;
    struct canny_shared<G, M, N> &shared = *(struct canny_shared<G, M, N> *)memory;
    const struct gi_image &src = args.src;
    const int first = N == 3 ? 0 : N - args.spec.size, half = (N - first) / 2;
    const int t = (int)threadIdx.x, left = (int)blockIdx.x * CANNY_COLUMNS - 1, x = left + t;
    const bool writes = t > 0 && t <= CANNY_COLUMNS && x < src.width;
    struct canny_column<G, N> columns[CANNY_COLORS] = {};
    struct canny_gradient<T> last = {}, before = {}; /* of the last two rows */
    for (int r = y0 - 1 - half; r <= y1 + half + 1; r++) {
        G(*in)[CANNY_THREADS + N - 1] = shared.samples[r & 1];
        int row = gi_border_index(r, src.height, GI_BORDER_CLAMP), g = r - half, y = g - 2;
        const T *from = (const T *)((const char *)src.data + (size_t)row * src.stride);
        for (int i = t; i < CANNY_THREADS + 2 * half; i += CANNY_THREADS) {
            int at = gi_border_index(left - half + i, src.width, GI_BORDER_CLAMP);
            for (int c = 0; c < args.colors; c++)
                in[c][i] = (G)from[(size_t)at * src.channels + c];
        }
        __syncthreads();
        if (writes && y >= y0)
            pixel_classify<T, M>(args, before, shared.m, t, x, y);
        struct canny_gradient<T> now = {};
#pragma unroll
        for (int c = 0; c < CANNY_COLORS; c++)
            if (c < args.colors) {
                column_add<G, N>(columns[c], in[c] + t, args, first);
                struct canny_gradient<T> other = column_gradient<T, N>(columns[c], args, first);
                if (c == 0 || other.m > now.m)
                    now = other;
            }
        if (x < 0 || x >= src.width || g < 0 || g >= src.height)
            now.m = 0;
        shared.m[(g + 8) % 4][t] = now.m;
        before = last;
        last = now;
    }
    __syncthreads();
}

template <int N>
static __global__ void __launch_bounds__(CANNY_THREADS)
    canny(const __grid_constant__ struct canny_args args)
{
    __shared__ struct canny_shared<int32_t, int64_t, N> shared;
    for (long long y0 = (long long)blockIdx.y * CANNY_ROWS; y0 < args.src.height;
         y0 += (long long)gridDim.y * CANNY_ROWS) {
        int y1 = (int)min(y0 + CANNY_ROWS, (long long)args.src.height);
        SAMPLE_TYPES(args.src.type, band_make<T, N>(args, &shared, (int)y0, y1));
    }
}

static enum gi_status by_strips(struct gi_queue *queue, struct gi_image *dst,
                                const struct gi_image *src, const struct gi_canny *spec,
                                struct gi_err *err)
{
    struct gi_cuda_queue *cu = gi_cuda(queue);
    struct canny_args args = {*dst, *src, *spec, gi_color_channels(src), {}, {}};
    int skipped = GI_CANNY_SIZE_MAX - spec->size, bands = ceil_div(src->height, CANNY_ROWS);
    gi_canny_taps(args.smooth + skipped, args.difference + skipped, spec->size);
    dim3 grid((unsigned)ceil_div(src->width, CANNY_COLUMNS),
              (unsigned)(bands < 65535 ? bands : 65535));
    if (spec->size == 3)
        canny<3><<<grid, CANNY_THREADS, 0, cu->stream>>>(args);
    else
        canny<7><<<grid, CANNY_THREADS, 0, cu->stream>>>(args);
    GI_CUDA_LAUNCHED();
    return GI_OK;
}

const struct gi_canny_way gi_cuda_canny_ways[GI_WAYS_MAX] = {
    {{"strips", "everything"}, NULL, by_strips},
};
