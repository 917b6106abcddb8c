/* Gradient and non-maximum suppression of Canny's edge detector. A warp moves down a strip, a
 * source row per step. A lane has one column of gradients. The filtered rows that a gradient needs
 * are in its registers, and so are the last three rows of magnitudes, of its column and of the
 * columns beside it, which it gets from the lanes beside it.
 *
 *     columns of gradients     |  32 lanes            |
 *     result columns           | 1 |  30          | 1 |
 *
 *     step of source row r: filter row r - gradient of row r - half - classify row r - half - 1 -
 *     the samples of row r + 1 are on their way
 *
 * Example: 3 x 3, 8192 x 8192 pixels: 274 strips of 30 columns times 128 bands of 64 rows, which
 * take 64 + 4 steps each.
 * SPDX-License-Identifier: MIT */
#include "kernels/cuda/common/sample.cuh"
#include "kernels/canny.h"

enum {
    CANNY_THREADS = 128,
    CANNY_COLUMNS = 30, /* of the result, per warp */
    CANNY_ROWS = 64,    /* of the result, per block */
    CANNY_COLORS = 3,
};

/* The types of gradients and of magnitudes. */
template <typename T> struct canny_types {
    typedef int32_t gradient;
    typedef int64_t magnitude;
};
template <> struct canny_types<uint8_t> {
    typedef int32_t gradient, magnitude;
};
template <> struct canny_types<float> {
    typedef float gradient, magnitude;
};

/* Thresholds. */
template <typename M> struct canny_limits {
    M low, high;
};

struct canny_args {
    struct gi_image dst, src;
    struct gi_canny spec;
    struct canny_limits<int64_t> whole; /* for integers; of bytes they fit in 32 bits */
    struct canny_limits<float> limits;  /* for floats */
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

template <typename M>
static __device__ __forceinline__ M magnitude_of(const struct gi_canny &spec, int32_t x, int32_t y)
{
    if (spec.squared)
        return (M)x * x + (M)y * y;
    return (M)abs(x) + abs(y);
}

template <typename M>
static __device__ __forceinline__ M magnitude_of(const struct gi_canny &spec, float x, float y)
{
    float square = __fmaf_rn(x, x, __fmul_rn(y, y));
    return spec.interpolated ? __fsqrt_rn(square)
           : spec.squared    ? square
                             : __fadd_rn(fabsf(x), fabsf(y));
}

static __device__ __forceinline__ struct canny_limits<float>
limits_of(const struct canny_args &args, float) {
    return args.limits;
}

template <typename M>
static __device__ __forceinline__ struct canny_limits<M> limits_of(const struct canny_args &args,
                                                                   M) {
    return {(M)args.whole.low, (M)args.whole.high};
}

static __device__ __forceinline__ int
class_of(const struct gi_canny &, int32_t x, int32_t y, const int64_t *above, const int64_t *own,
         const int64_t *below, const struct canny_limits<int64_t> &limits)
{
    return gi_canny_class(x, y, above, own, below, limits.low, limits.high);
}

static __device__ __forceinline__ int class_of(const struct gi_canny &, int32_t x, int32_t y,
                                               const int32_t *above, const int32_t *own,
                                               const int32_t *below,
                                               const struct canny_limits<int32_t> &limits)
{
    return gi_canny_class_bytes(x, y, above, own, below, limits.low, limits.high);
}

static __device__ __forceinline__ int class_of(const struct gi_canny &spec, float x, float y,
                                               const float *above, const float *own,
                                               const float *below,
                                               const struct canny_limits<float> &limits)
{
    return spec.interpolated
               ? gi_canny_class_interpolated(x, y, above, own, below, limits.low, limits.high)
               : gi_canny_class_float(x, y, above, own, below, limits.low, limits.high);
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

/* Adds a row of which the thread has N samples. The first `first` of the N samples, rows and taps
 * are not used. */
template <typename G, typename T, int N>
static __device__ __forceinline__ void column_add(struct canny_column<G, N> &column, const T *in,
                                                  const struct canny_args &args, int first)
{
    G d = 0, s = 0;
#pragma unroll
    for (int i = 0; i < N; i++)
        if (i >= first) {
            d = tap_add(args.difference[GI_CANNY_SIZE_MAX - N + i], (G)in[i], d);
            s = tap_add(args.smooth[GI_CANNY_SIZE_MAX - N + i], (G)in[i], s);
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
    if (N == 7 && args.spec.size == 7) {
        g.x = sixteenth(g.x);
        g.y = sixteenth(g.y);
    }
    g.m = magnitude_of<typename canny_types<T>::magnitude>(args.spec, g.x, g.y);
    return g;
}

/* The gradient of the pixel at (x, y) is `g`. Writes its class. */
template <typename T, typename M>
static __device__ __forceinline__ void
pixel_classify(const struct canny_args &args, const struct canny_gradient<T> &g,
               const struct canny_limits<M> &limits, const M (*m)[3], int x, int y)
{
    bool frame = x == 0 || y == 0 || x == args.src.width - 1 || y == args.src.height - 1;
    int made = class_of(args.spec, g.x, g.y, m[0], m[1], m[2], limits);
    T *row = (T *)((char *)args.dst.data + (size_t)y * args.dst.stride);
    row[x] = (T)(args.spec.interpolated && frame ? 0 : made);
}

/* The samples of a row that a lane filters, of COLORS colours. */
template <typename T, int N, int COLORS> struct canny_samples {
    T v[COLORS][N];
};

/* Loads samples of row r; at[] are the offsets of the columns in bytes. */
template <typename T, int N, int COLORS>
static __device__ __forceinline__ void samples_load(struct canny_samples<T, N, COLORS> &samples,
                                                    const struct canny_args &args, int r,
                                                    const uint32_t *at)
{
    int row = gi_border_index(r, args.src.height, GI_BORDER_CLAMP);
    const char *from = (const char *)args.src.data + (size_t)row * args.src.stride;
#pragma unroll
    for (int i = 0; i < N; i++)
#pragma unroll
        for (int c = 0; c < COLORS; c++)
            samples.v[c][i] = ((const T *)(from + at[i]))[c];
}

/* Returns the gradient of the colour whose magnitude is largest, after adding a row. */
template <typename T, int N, int COLORS>
static __device__ __forceinline__ struct canny_gradient<T>
row_add(struct canny_column<typename canny_types<T>::gradient, N> *columns,
        const struct canny_samples<T, N, COLORS> &samples, const struct canny_args &args,
        int first) {
    struct canny_gradient<T> most = {};
#pragma unroll
    for (int c = 0; c < COLORS; c++) {
        column_add<typename canny_types<T>::gradient, T, N>(columns[c], samples.v[c], args, first);
        struct canny_gradient<T> g = column_gradient<T, N>(columns[c], args, first);
        if (c == 0 || g.m > most.m)
            most = g;
    }
    return most;
}

/* Makes rows y0 to y1 - 1 of the result, in the warp's strip. */
template <typename T, int N, int COLORS>
static __device__ __forceinline__ void band_make(const struct canny_args &args, int y0, int y1)
{
    typedef typename canny_types<T>::gradient G;
    typedef typename canny_types<T>::magnitude M;
    const struct gi_image &src = args.src;
    const int first = N == 3 ? 0 : N - args.spec.size, half = (N - first) / 2;
    const int lane = (int)threadIdx.x % 32;
    const int strip = (int)(blockIdx.x * CANNY_THREADS + threadIdx.x) / 32;
    const int x = strip * CANNY_COLUMNS - 1 + lane;
    const bool writes = lane > 0 && lane <= CANNY_COLUMNS && x < src.width;
    const struct canny_limits<M> limits = limits_of(args, (M)0);
    struct canny_column<G, N> columns[COLORS] = {};
    struct canny_gradient<T> before = {}; /* of the last row */
    M m[3][3] = {};                       /* magnitudes around the pixel that is classified */
    uint32_t at[N];
#pragma unroll
    for (int i = 0; i < N; i++)
        at[i] = (uint32_t)gi_border_index(x - half - first + i, src.width, GI_BORDER_CLAMP) *
                (uint32_t)(src.channels * (int)sizeof(T));
    struct canny_samples<T, N, COLORS> samples;
    samples_load<T, N, COLORS>(samples, args, y0 - 1 - half, at);
#pragma unroll 2
    for (int r = y0 - 1 - half; r <= y1 + half; r++) {
        int g = r - half;
        struct canny_gradient<T> now = row_add<T, N, COLORS>(columns, samples, args, first);
        samples_load<T, N, COLORS>(samples, args, r + 1, at);
        if (x < 0 || x >= src.width || g < 0 || g >= src.height)
            now.m = 0;
#pragma unroll
        for (int i = 0; i < 3; i++) {
            m[0][i] = m[1][i];
            m[1][i] = m[2][i];
        }
        m[2][0] = __shfl_up_sync(~0u, now.m, 1);
        m[2][1] = now.m;
        m[2][2] = __shfl_down_sync(~0u, now.m, 1);
        if (writes && g > y0)
            pixel_classify<T, M>(args, before, limits, m, x, g - 1);
        before = now;
    }
}

template <int N>
static __global__ void __launch_bounds__(CANNY_THREADS, N == 3 ? 6 : 3)
    canny(const __grid_constant__ struct canny_args args)
{
    for (long long y0 = (long long)blockIdx.y * CANNY_ROWS; y0 < args.src.height;
         y0 += (long long)gridDim.y * CANNY_ROWS) {
        int y1 = (int)min(y0 + CANNY_ROWS, (long long)args.src.height);
        if (args.src.channels < CANNY_COLORS)
            SAMPLE_TYPES(args.src.type, band_make<T, N, 1>(args, (int)y0, y1));
        else
            SAMPLE_TYPES(args.src.type, band_make<T, N, CANNY_COLORS>(args, (int)y0, y1));
    }
}

static enum gi_status by_strips(struct gi_queue *queue, struct gi_image *dst,
                                const struct gi_image *src, const struct gi_canny *spec,
                                struct gi_err *err)
{
    struct gi_cuda_queue *cu = gi_cuda(queue);
    struct canny_args args = {*dst, *src, *spec, {}, {}, {}, {}};
    int skipped = GI_CANNY_SIZE_MAX - spec->size, bands = ceil_div(src->height, CANNY_ROWS);
    const double most = src->type == GI_U8 ? 2147483647.0 : 9007199254740992.0;
    if (gi_row_nbytes(src) > UINT32_MAX)
        return gi_fail(err, GI_E_DEVICE_MEMORY, "rows of %d pixels are too long for CUDA",
                       src->width);
    if (src->type != GI_F32)
        args.whole = {(int64_t)fmin(spec->low, most), (int64_t)fmin(spec->high, most)};
    args.limits = {(float)spec->low, (float)spec->high};
    gi_canny_taps(args.smooth + skipped, args.difference + skipped, spec->size);
    dim3 grid((unsigned)ceil_div(src->width, CANNY_COLUMNS * (CANNY_THREADS / 32)),
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
