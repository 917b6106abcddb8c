/* Sliding window in shared memory: separable convolution with 10 to 61 taps, more than the partial
 * sums of sliding_window.cuh allow.
 *
 * Block: one warp. It owns a strip of WIDTH = 64 sample columns and a band of rows, and moves down
 * the band TALL = 32 rows per step. Along columns, thread l owns ACROSS = 2 columns; its N - 1
 * partial sums per column are in registers, and the fmaf that adds a row also moves each sum to the
 * next register. Along rows, a thread computes RUN = 16 neighbouring sums of a row, DOWN = 8 rows
 * at a time.
 *
 *      raw[32]: COUNT samples          filtered[32]: 64 floats + 4       out: 64 samples
 *     +---+----------------+---+       +----------------+--+             +----------------+
 *     |hal|     strip      |hal| row   |t0|t1| ... |t31 |  |  column     |t0|t1| ... |t31 |
 *     |o  |                |o  | taps  |  |  |     |    |  |  taps       |  |  |     |    |
 *     |   |                |   | ----> |  |  |     |    |  |  ------->   |  |  |     |    |
 *     +---+----------------+---+       +----------------+--+             +----------------+
 *        cp.async, 16 bytes            4 threads x 8 rows                2 columns per thread
 *
 * Shared memory: raw (source rows as bytes), filtered (the exchange: written by rows, read by
 * columns, free of bank conflicts), and with more than BLOCK = 32 taps `waiting`, a ring buffer of
 * TALL rows in which the sums of the first 32 taps wait for the sums of the other taps (see
 * kernels.h for blocks of taps).
 *
 * Phases of a step: exchange (wait for the copies, write border samples), compute rows, load (start
 * copying the next 32 rows), compute columns, store. Loops stay short for the instruction cache.
 *
 * Example: 31 taps, 8-bit gray. COUNT = 64 + 30 = 94 bytes per row at a pitch of RAW = 112; raw has
 * 3600 bytes, filtered 32 * 68 * 4 = 8704; a thread keeps 30 x 2 partial sums.
 * SPDX-License-Identifier: MIT */
#include "kernels/cuda/convolution/convolve_separable.h"

#include <cuda_pipeline.h>
#include <string.h>

#include "kernels/cuda/common/sliding_window.cuh"

enum {
    BLOCK = GI_TAPS_BLOCK,
    TALL = BLOCK, /* rows per step, and rows of the ring buffer `waiting` */
    RUN = 16,     /* sums of a thread along a row; 32 would exceed the instruction cache */
    ACROSS = 2,   /* columns per thread */
    WIDTH = 32 * ACROSS,
    PITCH = WIDTH + 4,       /* floats per filtered row, so that 8 rows do not share banks */
    DOWN = 32 * RUN / WIDTH, /* rows filtered at once */
    LONGEST = 61,            /* maximum taps whose partial sums fit in registers */
    LONGEST_U16_RGB = 31,
    /* With fewer taps, sliding_window.cuh is faster, or padding costs more time than this kernel
     * saves. */
    SLIDING_SHARED_LEAST = 16,
    SLIDING_SHARED_LEAST_COLOR = 10,
};

/* Constants that depend on the sample type and the number of taps. */
template <typename T, int CHANNELS, int N> struct sliding_shared_shape {
    enum {
        COUNT = WIDTH + (N - 1) * CHANNELS, /* samples of a row that are read */
        NBYTES = COUNT * (int)sizeof(T),
        /* lanes that copy one row, 16 bytes each */
        COPIERS = NBYTES + 15 <= 8 * 16    ? 8
                  : NBYTES + 15 <= 16 * 16 ? 16
                                           : 32,
        RAW = ((NBYTES + 30) / 16 | 1) * 16, /* bytes per row in `raw`, an odd multiple of 16 */
        TWO = N > BLOCK,
        LATE = N - BLOCK,     /* rows between the end of the first block of taps and the last tap */
        GROUP = TWO ? 4 : 8,  /* rows that are stored together, after a common test */
        WARPS = TWO ? 8 : 16, /* warps per multiprocessor; more would read more halo rows */
    };
    static_assert(NBYTES + 15 <= 16 * COPIERS, "a lane copies at most 16 bytes of a row");
};

template <int N> struct sliding_shared_args {
    struct source src;
    struct target dst;
    struct rule rule;
    int left, above; /* pixels and rows between the first tap and the anchor */
    int band;        /* rows */
    float row[N], col[N];
    bool weighs;       /* the epilogue only divides colour by alpha */
    struct rule as_is; /* epilogue of sums after two_weigh() divided them */
};

/* gi_border_index(), not inlined. */
static __device__ __noinline__ int border_outside(long long i, int n, enum gi_border border)
{
    return gi_border_index(i, n, border);
}

/* Starts to copy TALL rows, of which y is the first, to shared memory. COPIERS lanes copy a row, 16
 * bytes each, beginning with byte `byte` of the image row. For a row outside the image, the row
 * that the border mode names is copied, or none for GI_BORDER_VALUE. */
template <int COPIERS, int RAW>
static __device__ __forceinline__ void sliding_shared_fetch(char *to, const struct source *src,
                                                            long long byte, int y)
{
    enum { APART = 32 / COPIERS };
    y += (int)threadIdx.x / COPIERS;
    const char *from = src->data + byte;
    if (y >= 0 && y + TALL <= src->height) {
        from += (size_t)y * src->stride;
#pragma unroll
        for (int r = 0; r < TALL; r += APART, from += APART * src->stride)
            __pipeline_memcpy_async(to + r * RAW, from, 16);
        return;
    }
#pragma unroll 1
    for (int r = 0; r < TALL; r += APART) {
        int yi = border_outside(y + r, src->height, src->border);
        if (yi >= 0)
            __pipeline_memcpy_async(to + r * RAW, from + (size_t)yi * src->stride, 16);
    }
}

/* Fills samples k to k + n - 1, which are left or right of the image, of TALL rows of a strip, of
 * which row y is the first. Each sample becomes the border value or a copy of the sample of the
 * same row that the border mode names. The copy is from the strip if the strip contains that
 * sample, else from the image. `first` is the index of the strip's sample 0 in the image row. */
template <typename T, int CHANNELS, int COUNT, int RAW>
static __device__ __forceinline__ void sliding_shared_side(T *raw, const struct source *src,
                                                           long long first, int y, int k, int n)
{
    enum { STEP = RAW / (int)sizeof(T) };
    for (n += k, k += (int)threadIdx.x; k < n; k += 32) {
        long long at = first + k, x = (at < 0 ? at - (CHANNELS - 1) : at) / CHANNELS;
        int c = (int)(at - x * CHANNELS);
        int xi = border_outside(x, src->width, src->border);
        long long from = (long long)xi * CHANNELS + c;
        T *to = raw + k;
        if (xi >= 0 && from >= first && from < first + COUNT) {
            const T *near = raw + (from - first);
#pragma unroll 8
            for (int r = 0; r < TALL; r++)
                to[r * STEP] = near[r * STEP];
            continue;
        }
#pragma unroll 1
        for (int r = 0; r < TALL; r++) {
            int yi = xi < 0 ? -1 : border_outside(y + r, src->height, src->border);
            to[r * STEP] = yi < 0 ? (T)src->value[c]
                                  : ((const T *)(src->data + (size_t)yi * src->stride))[from];
        }
    }
}

/* Writes all samples outside the image, if the strip or the TALL rows from row y extend outside. */
template <typename T, int CHANNELS, int COUNT, int RAW>
static __device__ __noinline__ void sliding_shared_patch(T *raw, const struct source *src,
                                                         long long first, int y)
{
    long long end = (long long)src->width * CHANNELS;
    int before = (int)min(max(-first, 0LL), (long long)COUNT);
    int after = (int)min(max(first + COUNT - end, 0LL), (long long)(COUNT - before));
    sliding_shared_side<T, CHANNELS, COUNT, RAW>(raw, src, first, y, 0, before);
    sliding_shared_side<T, CHANNELS, COUNT, RAW>(raw, src, first, y, COUNT - after, after);
    if (src->border == GI_BORDER_VALUE)
        for (int r = 0; r < TALL; r++)
            if (y + r < 0 || y + r >= src->height)
                for (int k = (int)threadIdx.x; k < COUNT; k += 32)
                    raw[r * RAW / (int)sizeof(T) + k] =
                        (T)src->value[((first + k) % CHANNELS + CHANNELS) % CHANNELS];
}

/* Computes RUN sums of N taps along a row. Their samples begin at byte `at` of `raw`. */
template <typename T, int CHANNELS, int N>
static __device__ __forceinline__ void run_sums(float *sum, const char *raw, int at,
                                                const float *tap)
{
    enum { PER_WORD = 4 / (int)sizeof(T) };
    enum { WORDS = (RUN + (N - 1) * CHANNELS + PER_WORD - 1) / PER_WORD };
    const unsigned *from = (const unsigned *)(raw + (at & ~3));
    unsigned word[WORDS + 1];
    float w[PER_WORD * WORDS], first[RUN];
#pragma unroll
    for (int i = 0; i <= WORDS; i++)
        word[i] = from[i];
#pragma unroll
    for (int i = 0; i < WORDS; i++) {
        word[i] = __funnelshift_r(word[i], word[i + 1], at * 8);
        if (CHANNELS == 4)
            raw_premultiply<T, CHANNELS>(w + PER_WORD * i, word, i);
        else
#pragma unroll
            for (int k = 0; k < PER_WORD; k++)
                w[PER_WORD * i + k] = raw_unpack<T>(&word[i], k);
    }
#pragma unroll
    for (int u = 0; u < N; u++)
#pragma unroll
        for (int k = 0; k < RUN; k++) {
            if (u == BLOCK)
                first[k] = sum[k];
            sum[k] = __fmaf_rn(tap[u], w[u * CHANNELS + k], u % BLOCK ? sum[k] : 0.0f);
        }
#pragma unroll
    for (int k = 0; k < RUN; k++)
        sum[k] = N > BLOCK ? __fadd_rn(first[k], sum[k]) : sum[k];
}

/* Partial sums down a thread's columns. acc[j] is the sum of tap * row over those taps up to tap j
 * that are in the same block of taps as tap j. */
template <int N> struct flight {
    float acc[N - 1][ACROSS];
};

/* Adds one filtered row to all partial sums. Returns the finished sums: in `f` those of the last
 * block of taps, in `first` those of the block before. */
template <int N>
static __device__ __forceinline__ void flight_add(float *f, float *first, struct flight<N> *flight,
                                                  const float *r, const float *tap)
{
#pragma unroll
    for (int j = N - 1; j >= 0; j--)
#pragma unroll
        for (int v = 0; v < ACROSS; v++) {
            float sum = __fmaf_rn(tap[j], r[v], j % BLOCK ? flight->acc[j - 1][v] : 0.0f);
            if (j == N - 1)
                f[v] = sum;
            else if (j == BLOCK - 1)
                first[v] = sum;
            else
                flight->acc[j][v] = sum;
        }
}

static __device__ __forceinline__ void two_load(float *v, const float *from)
{
    float2 t = *(const float2 *)from;
    v[0] = t.x, v[1] = t.y;
}

/* Rounds and stores two sums at `out`. */
template <typename T> static __device__ __forceinline__ void two_store(char *out, const float *f)
{
    unsigned word;
    if constexpr (sizeof(T) == 1) {
        asm("cvt.pack.sat.u8.s32.b32 %0, %1, %2, %3;"
            : "=r"(word)
            : "r"(__float2int_rn(f[1])), "r"(__float2int_rn(f[0])), "r"(0));
        *(uint16_t *)out = (uint16_t)word;
    } else {
        *(unsigned *)out = sample_pack<T>(f);
    }
}

/* Applies the epilogue to rows lo to hi - 1 of a group, one sample at a time, and stores them at
 * sample x; row 0 of the group is row y. So that a thread can read the alpha of its pixel, sums
 * pass through shared memory at `at`, where their filtered rows were. */
template <int GROUP, int CHANNELS>
static __device__ __forceinline__ void
group_store(const struct source *src, const struct target *dst, const struct rule *rule,
            const float f[][ACROSS], float *at, long long x, int y, int lo, int hi)
{
#pragma unroll
    for (int u = 0; u < GROUP; u++)
#pragma unroll
        for (int v = 0; v < ACROSS; v++)
            at[u * PITCH + v] = f[u][v];
    int to_alpha = 0;
    if (CHANNELS == 4) {
        to_alpha = 3 - (int)(x & 3);
        __syncwarp();
    }
    lo = max(lo, 0), hi = min(hi, GROUP);
#pragma unroll 1
    for (int u = lo; u < hi; u++)
#pragma unroll 1
        for (int v = 0; v < ACROSS; v++)
            store_any(src, dst, rule, (size_t)x + v, y + u, at[u * PITCH + v],
                      CHANNELS == 4 ? at[u * PITCH + to_alpha] : 0.0f);
}

/* Divides a lane's two sums, of two colours or of a colour and alpha, by alpha (GI_ALPHA_WEIGH). */
static __device__ __forceinline__ void two_weigh(float *f, float inverse_sum)
{
    int last = (int)threadIdx.x % 2;
    float a = __fmul_rn(__shfl_sync(~0u, f[1], (int)threadIdx.x | 1), inverse_sum);
    float r = a > 0 ? sliding_inverse(a) : 0.0f;
    f[0] = sliding_quotient(f[0], a, r);
    f[1] = last ? a : sliding_quotient(f[1], a, r);
}

/* Stores a group of RGBA rows, of which row y of the band is the first. The band begins at row y0
 * and has `height` rows. This lane stores `last` of these rows. All lanes of a warp take the same
 * branch, because lanes exchange values in group_store(). */
template <typename T, int GROUP, int N>
static __device__ __forceinline__ void rgba_store(const struct sliding_shared_args<N> *args,
                                                  float f[][ACROSS], float *at, char *out,
                                                  long long x, int y0, int y, int height, int last)
{
    if (args->weighs)
#pragma unroll
        for (int u = 0; u < GROUP; u++)
            two_weigh(f[u], args->rule.inverse_sum);
    if (args->weighs && y >= 0 && y + GROUP <= height) {
        if (last > 0)
#pragma unroll
            for (int u = 0; u < GROUP; u++)
                two_store<T>(out + (size_t)u * args->dst.stride, f[u]);
        return;
    }
    group_store<GROUP, 4>(&args->src, &args->dst, args->weighs ? &args->as_is : &args->rule, f, at,
                          x, y0 + y, -y, last - y);
}

/* Filters TALL rows with the row taps. A thread computes RUN sums of every DOWN-th row. */
template <typename T, int CHANNELS, int N>
static __device__ __forceinline__ void rows_filter(float *to, const char *raw, int at,
                                                   const float *tap)
{
    enum { RAW = sliding_shared_shape<T, CHANNELS, N>::RAW };
    int r = (int)threadIdx.x % DOWN, x = (int)threadIdx.x / DOWN * RUN;
    to += r * PITCH + x;
    at += r * RAW + x * (int)sizeof(T);
#pragma unroll 1
    for (int i = 0; i < TALL; i += DOWN) {
        float f[RUN];
        run_sums<T, CHANNELS, N>(f, raw, at + i * RAW, tap);
#pragma unroll
        for (int k = 0; k < RUN; k += 4)
            *(float4 *)(to + i * PITCH + k) = make_float4(f[k], f[k + 1], f[k + 2], f[k + 3]);
    }
}

template <typename T, int CHANNELS, int N>
static __global__ void __launch_bounds__(32, sliding_shared_shape<T, CHANNELS, N>::WARPS)
    sliding_shared(const __grid_constant__ struct sliding_shared_args<N> args)
{
    typedef struct sliding_shared_shape<T, CHANNELS, N> shape;
    enum { COUNT = shape::COUNT, NBYTES = shape::NBYTES, RAW = shape::RAW, GROUP = shape::GROUP };
    enum { SIZE = (int)sizeof(T) };
    enum { COPIERS = shape::COPIERS, TWO = shape::TWO, LATE = shape::LATE };
    __shared__ __align__(16) float filtered[TALL * PITCH], waiting[TWO ? TALL * WIDTH : 4];
    __shared__ __align__(16) char raw[TALL * RAW + 16];
    const struct source *src = &args.src;
    int lane = (int)threadIdx.x, unit = lane % COPIERS * 16;
    /* Indices of samples in their row. */
    long long x = (long long)blockIdx.x * WIDTH, first = x - args.left * CHANNELS;
    int samples = src->width * CHANNELS;
    int skip = (int)((first * SIZE) & 15); /* bytes */
    long long byte = first * SIZE - skip + unit;
    bool copies = unit < skip + NBYTES && byte >= 0 && byte < (long long)samples * SIZE;
    bool edge = first < 0 || first + COUNT > samples;
    char *to = raw + lane / COPIERS * RAW + unit;

    int y0 = (int)blockIdx.y * args.band, height = min(args.band, src->height - y0);
    int from = y0 - args.above;
    x += lane * ACROSS;
    int last = x < samples ? height : 0;
    char *out = args.dst.data + ((long long)y0 - (N - 1)) * (long long)args.dst.stride + x * SIZE;
    float *mine = filtered + lane * ACROSS;
    float *wait = waiting + lane * ACROSS;
    struct flight<N> flight = {};
    if (copies)
        sliding_shared_fetch<COPIERS, RAW>(to, src, byte, from);
    __pipeline_commit();
#pragma unroll 1
    for (int y = 1 - N; y < height; y += TALL) {
        /* Exchange: wait for the copies and write border samples. */
        __pipeline_wait_prior(0);
        __syncwarp();
        if (edge || (src->border == GI_BORDER_VALUE && (from < 0 || from + TALL > src->height))) {
            sliding_shared_patch<T, CHANNELS, COUNT, RAW>((T *)(raw + skip), src, first, from);
            __syncwarp();
        }
        /* Compute rows: raw samples to sums along rows. */
        rows_filter<T, CHANNELS, N>(filtered, raw, skip, args.row);
        __syncwarp();
        /* Load: start copying the next step. */
        from += TALL;
        if (copies && y + TALL < height)
            sliding_shared_fetch<COPIERS, RAW>(to, src, byte, from);
        __pipeline_commit();
#pragma unroll 1
        for (int i = 0; i < TALL; i += GROUP) {
            /* Compute columns and store, GROUP rows at a time. */
            float f[GROUP][ACROSS];
#pragma unroll
            for (int u = 0; u < GROUP; u++) {
                float r[ACROSS], sum[ACROSS];
                two_load(r, mine + (i + u) * PITCH);
                flight_add<N>(f[u], sum, &flight, r, args.col);
                if (TWO) {
                    two_load(r, wait + (i + u + TALL - LATE) % TALL * WIDTH);
#pragma unroll
                    for (int v = 0; v < ACROSS; v++) {
                        f[u][v] = __fadd_rn(r[v], f[u][v]);
                        wait[(i + u) * WIDTH + v] = sum[v];
                    }
                }
            }
            if (CHANNELS == 4)
                rgba_store<T, GROUP>(&args, f, mine + i * PITCH, out, x, y0, y + i, height, last);
            else if (args.rule.plain && y + i >= 0 && y + i + GROUP <= last)
#pragma unroll
                for (int u = 0; u < GROUP; u++)
                    two_store<T>(out + (size_t)u * args.dst.stride, f[u]);
            else
                group_store<GROUP, CHANNELS>(&args.src, &args.dst, &args.rule, f, mine + i * PITCH,
                                             x, y0 + y + i, -(y + i), last - (y + i));
            out += GROUP * args.dst.stride;
        }
    }
}

/* Returns the rows per band, so that bands fill the device in whole waves. Each band reads n - 1
 * halo rows. */
static int band_of(int height, int strips, int resident, int n)
{
    long long best = INT64_MAX;
    int band = height;
    for (int bands = 1; bands <= height && bands <= 4 * resident; bands++) {
        int rows = ceil_div(height, bands);
        long long waves = ceil_div((long long)strips * bands, resident);
        long long cost = waves * ceil_div(rows + n - 1, TALL);
        if (cost < best)
            best = cost, band = rows;
    }
    return band;
}

template <typename T, int CHANNELS, int N>
static enum gi_status launch(struct gi_cuda_queue *cu, struct gi_image *dst,
                             const struct gi_image *src, const struct gi_separable *spec,
                             struct gi_err *err)
{
    const struct gi_epilogue store = {GI_EPILOGUE_STORE, false, 0, 0, 0};
    struct sliding_shared_args<N> args;
    struct raw_scale scale = raw_scale_of(src->type, spec->row, spec->nrow);
    memset(&args, 0, sizeof args);
    args.src = source_of(src, &spec->border, spec->alpha);
    args.dst = target_of(dst);
    args.rule = rule_of(src, spec->alpha, &spec->epilogue, spec->sum);
    args.weighs = args.rule.alpha == GI_ALPHA_WEIGH && epilogue_stores(&spec->epilogue);
    args.as_is = rule_of(src, GI_ALPHA_PLAIN, &store, 1);
    args.left = spec->row_anchor;
    args.above = spec->col_anchor;
    weights_scale(args.row, spec->row, spec->nrow, scale.weights);
    weights_scale(args.col, spec->col, spec->ncol, scale.rest);
    void (*kernel)(struct sliding_shared_args<N>) = sliding_shared<T, CHANNELS, N>;
    int warps = 0;
    GI_CUDA_TRY(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&warps, kernel, 32, 0));
    warps = warps > 4 ? warps / 4 * 4 : warps; /* a multiple of 4 loads all 4 schedulers equally */
    int strips = ceil_div((long long)gi_row_samples(src), WIDTH);
    args.band = band_of(src->height, strips, warps * cu->units, N);
    dim3 grid(strips, ceil_div(src->height, args.band));
    kernel<<<grid, 32, 0, cu->stream>>>(args);
    GI_CUDA_LAUNCHED();
    return GI_OK;
}

/* Launches the kernel with the smallest compiled N that holds the longer side. */
template <typename T, int CHANNELS, int N, int... MORE>
static enum gi_status launch_size(struct gi_cuda_queue *cu, struct gi_image *dst,
                                  const struct gi_image *src, const struct gi_separable *spec,
                                  struct gi_err *err)
{
    if constexpr (sizeof...(MORE) > 0)
        if (spec->nrow > N || spec->ncol > N)
            return launch_size<T, CHANNELS, MORE...>(cu, dst, src, spec, err);
    return launch<T, CHANNELS, N>(cu, dst, src, spec, err);
}

bool gi_cuda_sliding_shared_takes(const struct gi_queue *queue, const struct gi_image *src,
                                  const struct gi_separable *spec)
{
    int n = spec->nrow > spec->ncol ? spec->nrow : spec->ncol, channels = src->channels;
    double most = sliding_most(spec->row, spec->nrow) * sliding_most(spec->col, spec->ncol);
    double least = sliding_least(spec->row, spec->nrow) * sliding_least(spec->col, spec->ncol);
    bool gray = channels == 1, weighed = channels == 4 && spec->alpha != GI_ALPHA_PLAIN;
    if (src->type == GI_F32 || (!gray && channels != 3 && !(weighed && src->type == GI_U8)))
        return false;
    int longest = gray || src->type == GI_U8 ? LONGEST : LONGEST_U16_RGB;
    return n >= (gray ? SLIDING_SHARED_LEAST : SLIDING_SHARED_LEAST_COLOR) && n <= longest &&
           sliding_holds(src, &spec->border) && most < SLIDING_MOST &&
           raw_fits(src->type, spec->row, spec->nrow, 1) &&
           sliding_divides(src, spec->alpha, least, most, spec->sum);
}

enum gi_status gi_cuda_sliding_shared(struct gi_queue *queue, struct gi_image *dst,
                                      const struct gi_image *src, const struct gi_separable *spec,
                                      struct gi_err *err)
{
    struct gi_cuda_queue *cu = gi_cuda(queue);
    if (src->type == GI_U16)
        return src->channels == 1 ? launch_size<uint16_t, 1, 23, 31, 61>(cu, dst, src, spec, err)
                                  : launch_size<uint16_t, 3, 15, 23, 31>(cu, dst, src, spec, err);
    switch (src->channels) {
    case 1:
        return launch_size<uint8_t, 1, 19, 23, 25, 31, 39, 47, 61>(cu, dst, src, spec, err);
    case 3:
        return launch_size<uint8_t, 3, 15, 23, 25, 31, 41, 61>(cu, dst, src, spec, err);
    default:
        return launch_size<uint8_t, 4, 15, 31, 61>(cu, dst, src, spec, err);
    }
}
