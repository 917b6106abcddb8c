/* The ribbon: separable convolution of gray bytes by more taps than the march holds. A warp goes
 * down a strip of columns, TALL rows at a time: it filters rows, out of bytes as they lie in the
 * image, into shared memory, and takes them from there one by one into the sums in flight along
 * columns, which stay in registers: each moves one place on in the same fmaf. All its loops are
 * short, for the instruction cache. SPDX-License-Identifier: MIT */
#include "kernels/cuda/convolve/convolve_separable.h"

#include <cuda_pipeline.h>
#include <string.h>

#include "kernels/cuda/common/march_raw.cuh"

enum {
    BLOCK = GI_TAPS_BLOCK,
    TALL = BLOCK, /* rows, so that a row's place among them is its place in a ring of as many */
    RUN = 16,     /* sums of a thread along a row: with 32 the loop leaves the cache */
    ACROSS = 2,   /* columns of a thread */
    WIDTH = 32 * ACROSS,
    PITCH = WIDTH + 4,       /* floats of a filtered row: 8 rows meet in no bank */
    DOWN = 32 * RUN / WIDTH, /* rows filtered at once */
    SHORT = 31,              /* taps of the kernel for fewer than GI_RIBBON_TAPS */
};

/* What depends on the number of taps. */
template <int N> struct ribbon_shape {
    enum {
        COUNT = WIDTH + N - 1,                   /* samples of a row that go in */
        COPIERS = COUNT + 15 <= 8 * 16 ? 8 : 16, /* lanes that copy one row, 16 bytes each */
        RAW = ((COUNT + 30) / 16 | 1) * 16,      /* bytes of it in shared memory, likewise apart */
        TWO = N > BLOCK,
        LATE = N - BLOCK,     /* rows from the last of a first block to the last of all */
        GROUP = TWO ? 4 : 8,  /* rows between two looks at whether they are to be stored */
        WARPS = TWO ? 8 : 16, /* of a multiprocessor: more need more rows besides their own */
    };
    static_assert(COUNT + 15 <= 16 * COPIERS, "a lane copies at most 16 bytes of a row");
};

template <int N> struct ribbon_args {
    struct source src;
    struct target dst;
    struct rule rule;
    int left, above; /* pixels and rows before the first output's own, at the first tap */
    int band;        /* rows */
    float row[N], col[N];
};

/* gi_border_index(), out of the way. */
static __device__ __noinline__ int border_outside(long long i, int n, enum gi_border border)
{
    return gi_border_index(i, n, border);
}

/* Starts to copy a lane's unit of TALL rows from y on, as far as they are inside; `byte` of a row
 * begins it. */
template <int COPIERS, int RAW>
static __device__ __forceinline__ void ribbon_fetch(char *to, const struct source *src,
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

/* Samples of n columns outside the image, from sample k on, of TALL rows from y on: copies of
 * samples in the same rows, or what stands in the image, or the border's value. Sample 0 is pixel
 * x. */
template <int COUNT, int RAW>
static __device__ __forceinline__ void ribbon_side(char *raw, const struct source *src, long long x,
                                                   int y, int k, int n)
{
    for (n += k, k += (int)threadIdx.x; k < n; k += 32) {
        int xi = border_outside(x + k, src->width, src->border);
        char *to = raw + k;
        if (xi >= 0 && xi >= x && xi < x + COUNT) {
            const char *from = raw + (xi - x);
#pragma unroll 8
            for (int r = 0; r < TALL; r++)
                to[r * RAW] = from[r * RAW];
            continue;
        }
#pragma unroll 1
        for (int r = 0; r < TALL; r++) {
            int yi = xi < 0 ? -1 : border_outside(y + r, src->height, src->border);
            to[r * RAW] =
                yi < 0 ? (char)(uint8_t)src->value[0] : src->data[(size_t)yi * src->stride + xi];
        }
    }
}

/* Samples outside the image, where a strip or rows from y on are not wholly inside. */
template <int COUNT, int RAW>
static __device__ __noinline__ void ribbon_patch(char *raw, const struct source *src, long long x,
                                                 int y)
{
    int before = (int)min(max(-x, 0LL), (long long)COUNT);
    int after = (int)min(max(x + COUNT - src->width, 0LL), (long long)(COUNT - before));
    ribbon_side<COUNT, RAW>(raw, src, x, y, 0, before);
    ribbon_side<COUNT, RAW>(raw, src, x, y, COUNT - after, after);
    if (src->border == GI_BORDER_VALUE)
        for (int r = 0; r < TALL; r++)
            if (y + r < 0 || y + r >= src->height)
                for (int k = (int)threadIdx.x; k < COUNT; k += 32)
                    raw[r * RAW + k] = (char)(uint8_t)src->value[0];
}

/* The sums of N taps along a row, RUN of them, whose samples begin at byte `at` of `raw`. */
template <int N>
static __device__ __forceinline__ void run_sums(float *sum, const char *raw, int at,
                                                const float *tap)
{
    enum { WORDS = (RUN + N - 1 + 3) / 4 };
    const unsigned *from = (const unsigned *)(raw + (at & ~3));
    unsigned word[WORDS + 1];
    float w[4 * WORDS], first[RUN];
#pragma unroll
    for (int i = 0; i <= WORDS; i++)
        word[i] = from[i];
#pragma unroll
    for (int i = 0; i < WORDS; i++) {
        word[i] = __funnelshift_r(word[i], word[i + 1], at * 8);
#pragma unroll
        for (int k = 0; k < 4; k++)
            w[4 * i + k] = raw_unpack<uint8_t>(&word[i], k);
    }
#pragma unroll
    for (int u = 0; u < N; u++)
#pragma unroll
        for (int k = 0; k < RUN; k++) {
            if (u == BLOCK)
                first[k] = sum[k];
            sum[k] = __fmaf_rn(tap[u], w[u + k], u % BLOCK ? sum[k] : 0.0f);
        }
#pragma unroll
    for (int k = 0; k < RUN; k++)
        sum[k] = N > BLOCK ? __fadd_rn(first[k], sum[k]) : sum[k];
}

/* Sums in flight along a thread's columns: place j has seen the rows of all taps to j of j's block.
 */
template <int N> struct flight {
    float acc[N - 1][ACROSS];
};

/* One more row: finishes the sums `f` of the last block and, of the block before it, `first`. */
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

/* Two sums at `out`, rounded. */
static __device__ __forceinline__ void two_store(char *out, const float *f)
{
    unsigned word;
    asm("cvt.pack.sat.u8.s32.b32 %0, %1, %2, %3;"
        : "=r"(word)
        : "r"(__float2int_rn(f[1])), "r"(__float2int_rn(f[0])), "r"(0));
    *(uint16_t *)out = (uint16_t)word;
}

/* Sums of those rows lo .. hi - 1 that are of a group, finished one by one; at pixel x of the
 * group's row y. They wait at `at`, where the rows lay that they are made of. */
template <int GROUP>
static __device__ __forceinline__ void
group_store(const struct source *src, const struct target *dst, const struct rule *rule,
            const float f[][ACROSS], float *at, long long x, int y, int lo, int hi)
{
#pragma unroll
    for (int u = 0; u < GROUP; u++)
#pragma unroll
        for (int v = 0; v < ACROSS; v++)
            at[u * PITCH + v] = f[u][v];
    lo = max(lo, 0), hi = min(hi, GROUP);
#pragma unroll 1
    for (int u = lo; u < hi; u++)
#pragma unroll 1
        for (int v = 0; v < ACROSS; v++)
            store_any(src, dst, rule, (size_t)x + v, y + u, at[u * PITCH + v], 0.0f);
}

/* Filters TALL rows: a thread makes RUN sums of every DOWN-th. */
template <int N>
static __device__ __forceinline__ void rows_filter(float *to, const char *raw, int at,
                                                   const float *tap)
{
    enum { RAW = ribbon_shape<N>::RAW };
    int r = (int)threadIdx.x % DOWN, x = (int)threadIdx.x / DOWN * RUN;
    to += r * PITCH + x;
    at += r * RAW + x;
#pragma unroll 1
    for (int i = 0; i < TALL; i += DOWN) {
        float f[RUN];
        run_sums<N>(f, raw, at + i * RAW, tap);
#pragma unroll
        for (int k = 0; k < RUN; k += 4)
            *(float4 *)(to + i * PITCH + k) = make_float4(f[k], f[k + 1], f[k + 2], f[k + 3]);
    }
}

template <int N>
static __global__ void __launch_bounds__(32, ribbon_shape<N>::WARPS)
    ribbon(const __grid_constant__ struct ribbon_args<N> args)
{
    typedef struct ribbon_shape<N> shape;
    enum { COUNT = shape::COUNT, RAW = shape::RAW, GROUP = shape::GROUP };
    enum { COPIERS = shape::COPIERS, TWO = shape::TWO, LATE = shape::LATE };
    __shared__ __align__(16) float filtered[TALL * PITCH], waiting[TWO ? TALL * WIDTH : 4];
    __shared__ __align__(16) char raw[TALL * RAW + 16];
    const struct source *src = &args.src;
    int lane = (int)threadIdx.x, unit = lane % COPIERS * 16;
    long long x = (long long)blockIdx.x * WIDTH, first = x - args.left;
    int skip = (int)(first & 15); /* bytes */
    long long byte = first - skip + unit;
    bool copies = unit < skip + COUNT && byte >= 0 && byte < src->width;
    bool edge = first < 0 || first + COUNT > src->width;
    char *to = raw + lane / COPIERS * RAW + unit;

    int y0 = (int)blockIdx.y * args.band, height = min(args.band, src->height - y0);
    int from = y0 - args.above;
    x += lane * ACROSS;
    int last = x < src->width ? height : 0;
    char *out = args.dst.data + ((long long)y0 - (N - 1)) * (long long)args.dst.stride + x;
    float *mine = filtered + lane * ACROSS;
    float *wait = waiting + lane * ACROSS;
    struct flight<N> flight = {
    };
    if (copies)
        ribbon_fetch<COPIERS, RAW>(to, src, byte, from);
    __pipeline_commit();
#pragma unroll 1
    for (int y = 1 - N; y < height; y += TALL) {
        __pipeline_wait_prior(0);
        __syncwarp();
        if (edge || (src->border == GI_BORDER_VALUE && (from < 0 || from + TALL > src->height))) {
            ribbon_patch<COUNT, RAW>(raw + skip, src, first, from);
            __syncwarp();
        }
        rows_filter<N>(filtered, raw, skip, args.row);
        __syncwarp();
        from += TALL;
        if (copies && y + TALL < height)
            ribbon_fetch<COPIERS, RAW>(to, src, byte, from);
        __pipeline_commit();
#pragma unroll 1
        for (int i = 0; i < TALL; i += GROUP) {
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
            if (args.rule.plain && y + i >= 0 && y + i + GROUP <= last)
#pragma unroll
                for (int u = 0; u < GROUP; u++)
                    two_store(out + (size_t)u * args.dst.stride, f[u]);
            else
                group_store<GROUP>(&args.src, &args.dst, &args.rule, f, mine + i * PITCH, x,
                                   y0 + y + i, -(y + i), last - (y + i));
            out += GROUP * args.dst.stride;
        }
    }
}

/* Rows of a band: bands share the device in whole waves, and each takes in n - 1 rows besides. */
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

template <int N>
static enum gi_status launch(struct gi_cuda_queue *cu, struct gi_image *dst,
                             const struct gi_image *src, const struct gi_separable *spec,
                             struct gi_err *err)
{
    struct ribbon_args<N> args;
    struct raw_scale scale = raw_scale_of(src->type, spec->row, spec->nrow);
    memset(&args, 0, sizeof args);
    args.src = source_of(src, &spec->edge, spec->alpha);
    args.dst = target_of(dst);
    args.rule = rule_of(src, spec->alpha, &spec->finish, spec->sum);
    args.left = spec->row_anchor;
    args.above = spec->col_anchor;
    weights_scale(args.row, spec->row, spec->nrow, scale.weights);
    weights_scale(args.col, spec->col, spec->ncol, scale.rest);
    int warps = 0;
    GI_CUDA_TRY(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&warps, ribbon<N>, 32, 0));
    warps = warps > 4 ? warps / 4 * 4 : warps; /* all schedulers alike */
    int strips = ceil_div(src->width, WIDTH);
    args.band = band_of(src->height, strips, warps * cu->units, N);
    dim3 grid(strips, ceil_div(src->height, args.band));
    ribbon<N><<<grid, 32, 0, cu->stream>>>(args);
    GI_CUDA_LAUNCHED();
    return GI_OK;
}

enum gi_status gi_cuda_ribbon(struct gi_cuda_queue *cu, struct gi_image *dst,
                              const struct gi_image *src, const struct gi_separable *spec,
                              struct gi_err *err)
{
    if (spec->nrow <= SHORT && spec->ncol <= SHORT)
        return launch<SHORT>(cu, dst, src, spec, err);
    return launch<GI_RIBBON_TAPS>(cu, dst, src, spec, err);
}
