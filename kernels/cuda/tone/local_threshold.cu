/* Local (adaptive) thresholds: two-pass fallback for what the single-pass kernels do not accept,
 * and the choice of the implementation. The column pass writes running sums of levels and of their
 * squares to scratch memory; the row pass forms prefix sums along each row, and the sum of every
 * window as a difference of two prefix sums.
 * SPDX-License-Identifier: MIT */
#include "kernels/cuda/convolution/box.cuh"
#include "kernels/cuda/common/prefix.cuh"
#include "kernels/cuda/tone/local_threshold.cuh"
#include "kernels/tone.h"

typedef unsigned long long u64;

enum {
    THREADS = 256,
    TILE = 1024,               /* pixels per block of the row pass */
    EACH = TILE / THREADS,     /* pixels per thread */
    SCRATCH_NBYTES = 32 << 20, /* maximum size of column sums, which then stay in L2 */
    BAND_MIN = 256,
};

struct local_args {
    struct source src; /* border values are samples */
    struct target dst;
    struct gi_local spec;
    int y0, y1; /* rows to compute */
    int run;    /* rows per thread of the column pass */
    u64 *sums;  /* sums of k levels of a column around each of the rows y0 to y1 - 1 */
    u64 *squares;
    size_t pitch; /* sums per row of the scratch */
    u64 *most;    /* maximum of D, as the bits of a double; NULL if a mask is made */
};

/* Returns the level of a sample, or of an integer v. */
static __device__ __forceinline__ uint32_t level_of(const struct local_args *args, float v)
{
    return args->src.type == GI_F32 ? gi_local_float(&args->spec, v) : (uint32_t)v;
}

static __device__ __forceinline__ float sample_at(const struct local_args *args, long long sample,
                                                  int y)
{
    const char *row = args->src.data + (size_t)y * args->src.stride;
    return args->src.type == GI_U8    ? (float)((const uint8_t *)row)[sample]
           : args->src.type == GI_U16 ? (float)((const uint16_t *)row)[sample]
                                      : ((const float *)row)[sample];
}

static __device__ __forceinline__ uint32_t level_at(const struct local_args *args, int sample,
                                                    int c, int y)
{
    const struct source *src = &args->src;
    int yi = gi_border_index(y, src->height, src->border);
    return level_of(args, yi < 0 ? src->value[c] : sample_at(args, sample, yi));
}

/* Column pass: a thread moves down one column of samples. */
static __global__ void __launch_bounds__(THREADS)
    local_down(const __grid_constant__ struct local_args args)
{
    enum { AHEAD = 8 }; /* rows in flight */
    int samples = args.src.width * args.src.channels;
    int sample = (int)(blockIdx.x * THREADS + threadIdx.x), c = sample % args.src.channels;
    int y0 = args.y0 + (int)blockIdx.y * args.run, y1 = min(y0 + args.run, args.y1);
    if (sample >= samples)
        return;
    size_t at = (size_t)(y0 - args.y0) * args.pitch + sample;
    u64 sum = 0, square = 0;
    int r = args.spec.k / 2;
    for (int y = y0 - r; y < y0 + r; y += AHEAD) {
        uint32_t v[AHEAD];
#pragma unroll
        for (int i = 0; i < AHEAD; i++)
            v[i] = y + i < y0 + r ? level_at(&args, sample, c, y + i) : 0;
#pragma unroll
        for (int i = 0; i < AHEAD; i++) {
            sum += v[i];
            square += (u64)v[i] * v[i];
        }
    }
    for (int y = y0; y < y1; y += AHEAD) {
        uint32_t v[AHEAD], old[AHEAD];
#pragma unroll
        for (int i = 0; i < AHEAD; i++) {
            v[i] = y + i < y1 ? level_at(&args, sample, c, y + i + r) : 0;
            old[i] = y + i < y1 ? level_at(&args, sample, c, y + i - r) : 0;
        }
#pragma unroll
        for (int i = 0; i < AHEAD && y + i < y1; i++, at += args.pitch) {
            sum += v[i];
            square += (u64)v[i] * v[i];
            args.sums[at] = sum;
            if (!args.spec.mean)
                args.squares[at] = square;
            sum -= old[i];
            square -= (u64)old[i] * old[i];
        }
    }
}

/* Row pass: sums[e] = the sum of the column sums in this row of the scratch memory, over the k
 * pixels around pixel x0 + threadIdx.x + e * THREADS. `outside`: the column sum outside the
 * image. */
static __device__ void windows_of(u64 *sums, u64 *prefix, const struct local_args *args,
                                  const u64 *row, long long x0, int c, u64 outside)
{
    const struct source *src = &args->src;
    int n = TILE + args->spec.k - 1;
    __syncthreads();
    for (int i = (int)threadIdx.x; i < n; i += THREADS) {
        int xi = gi_border_index(x0 - args->spec.k / 2 + i, src->width, src->border);
        prefix[i] = xi < 0 ? outside : row[(size_t)xi * src->channels + c];
    }
    prefix_of_block<THREADS>(prefix, n);
    for (int e = 0; e < EACH; e++) {
        int i = (int)threadIdx.x + e * THREADS;
        sums[e] = prefix[i + args->spec.k] - prefix[i];
    }
}

/* Computes one sample of the mask, or updates the maximum of D. */
static __device__ void local_make(const struct local_args *args, char *row, long long i,
                                  float sample, u64 sum, u64 square)
{
    const struct gi_local *spec = &args->spec;
    u64 n = (u64)spec->k * (u64)spec->k;
    double rest = (double)((int64_t)(n * level_of(args, sample)) - (int64_t)sum);
    double spread = spec->mean ? 0 : gi_local_spread(n, sum, square);
    if (args->most) {
        u64 bits = (u64)__double_as_longlong(spread);
        if (bits > *(volatile u64 *)args->most) /* rare after the first samples */
            atomicMax(args->most, bits);
        return;
    }
    bool above =
        spec->mean ? rest + spec->shift > 0 : gi_local_above(spec, rest, (double)sum, spread);
    bool white = above != spec->invert;
    if (args->src.type == GI_U8)
        ((uint8_t *)row)[i] = white ? 255 : 0;
    else if (args->src.type == GI_U16)
        ((uint16_t *)row)[i] = white ? 65535 : 0;
    else
        ((float *)row)[i] = white ? 1.0f : 0.0f;
}

static __global__ void __launch_bounds__(THREADS)
    local_across(const __grid_constant__ struct local_args args)
{
    extern __shared__ u64 prefix[];
    const struct source *src = &args.src;
    u64 sums[EACH], squares[EACH];
    int c = (int)blockIdx.z;
    bool copies = src->channels % 2 == 0 && c == src->channels - 1;
    long long x0 = (long long)blockIdx.x * TILE;
    if (copies && args.most)
        return;
    u64 v = src->border == GI_BORDER_VALUE ? level_of(&args, src->value[c]) : 0;
    u64 k = (u64)args.spec.k;
    for (int y = args.y0 + (int)blockIdx.y; y < args.y1; y += (int)gridDim.y) {
        size_t at = (size_t)(y - args.y0) * args.pitch;
        if (args.most && (y < args.spec.above || y >= src->height - args.spec.below))
            continue;
        if (!copies)
            windows_of(sums, prefix, &args, args.sums + at, x0, c, v * k);
        if (!copies && !args.spec.mean)
            windows_of(squares, prefix, &args, args.squares + at, x0, c, v * v * k);
        char *out = args.dst.data + (size_t)y * args.dst.stride;
        for (int e = 0; e < EACH; e++) {
            long long x = x0 + threadIdx.x + e * THREADS, i = x * src->channels + c;
            if (x < src->width && copies)
                SAMPLE_TYPES(src->type,
                             ((T *)out)[i] = ((const T *)(src->data + (size_t)y * src->stride))[i]);
            else if (x < src->width)
                local_make(&args, out, i, sample_at(&args, i, y), sums[e], squares[e]);
        }
    }
}

static enum gi_status launch(struct gi_cuda_queue *cu, struct local_args *args, int band,
                             struct gi_err *err)
{
    size_t shared = (TILE + (size_t)args->spec.k) * sizeof(u64);
    GI_CUDA_ALLOW_SHARED(cu, local_across);
    for (long long y = 0; y < args->src.height; y += band) {
        args->y0 = (int)y;
        args->y1 = (int)(y + band < args->src.height ? y + band : args->src.height);
        dim3 columns(ceil_div((long long)args->pitch, THREADS),
                     ceil_div(args->y1 - args->y0, args->run));
        local_down<<<columns, THREADS, 0, cu->stream>>>(*args);
        GI_CUDA_LAUNCHED();
        dim3 rows(ceil_div(args->src.width, TILE), args->y1 - args->y0, args->src.channels);
        local_across<<<rows, THREADS, shared, cu->stream>>>(*args);
        GI_CUDA_LAUNCHED();
    }
    return GI_OK;
}

/* Runs both passes. Writes the mask to `dst` or, if `dst` is NULL, the maximum of D to *most. */
static enum gi_status in_passes(struct gi_queue *queue, struct gi_image *dst, double *most,
                                const struct gi_image *src, const struct gi_local *spec,
                                struct gi_err *err)
{
    struct gi_cuda_queue *cu = gi_cuda(queue);
    struct gi_border_spec border = box_border(src, &spec->border);
    struct local_args args = {};
    args.src = source_of(src, &border, GI_ALPHA_PLAIN);
    args.spec = *spec;
    args.pitch = gi_row_samples(src);
    if (dst)
        args.dst = target_of(dst);
    size_t each = sizeof(u64) * (spec->mean ? 1 : 2);
    long long band = SCRATCH_NBYTES / (long long)(args.pitch * each);
    band = band < BAND_MIN ? (int)BAND_MIN : band > 32768 ? 32768 : band; /* rows of a grid */
    band = band > src->height ? src->height : band;
    args.run = spec->k < 64 ? 64 : spec->k; /* rows of a thread, whose first sum costs k samples */
    void *scratch;
    enum gi_status status =
        gi_cuda_scratch(cu, &scratch, args.pitch * each * (size_t)band + sizeof(u64), err);
    if (status)
        return status;
    args.sums = (u64 *)scratch + 1;
    args.squares = args.sums + args.pitch * (size_t)band;
    args.most = dst ? NULL : (u64 *)scratch;
    if (!dst)
        GI_CUDA_TRY(cudaMemsetAsync(scratch, 0, sizeof(u64), cu->stream));
    status = launch(cu, &args, (int)band, err);
    return status || dst ? status
                         : gi_cuda_copy_to_host(cu, most, sizeof *most, scratch, sizeof *most,
                                                sizeof *most, 1, err);
}

static enum gi_status passes(struct gi_queue *queue, struct gi_image *dst,
                             const struct gi_image *src, const struct gi_local *spec,
                             struct gi_err *err)
{
    return in_passes(queue, dst, NULL, src, spec, err);
}

/* Time of each way in us on an H100, 8192 x 8192, 8-bit gray. Means, k = 31: strips 122, passes
 * 1365. Sauvola: strips 145, passes 2456; of 8-bit RGB: strips 447, passes 7999.
 * strips costs 442 lines and 33 kernels, and 577 lines that it shares with the box filter. */
const struct gi_local_threshold_way gi_cuda_local_threshold_ways[GI_WAYS_MAX] = {
    {{"strips", "images higher than half the window, whose sums fit in 32 bits: up to k = 511 of "
                "bytes, 255 of 16 bits (means 181), 63 of floats"},
     gi_cuda_local_strips_takes,
     gi_cuda_local_strips},
    {{"passes", "everything"}, NULL, passes},
};

static enum gi_status spread_passes(struct gi_queue *queue, double *most,
                                    const struct gi_image *src, const struct gi_local *spec,
                                    struct gi_err *err)
{
    return in_passes(queue, NULL, most, src, spec, err);
}

const struct gi_local_spread_way gi_cuda_local_spread_ways[GI_WAYS_MAX] = {
    {{"passes", "everything"}, NULL, spread_passes},
};
