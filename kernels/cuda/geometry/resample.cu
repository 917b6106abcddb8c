/* Resampling in two passes with an intermediate image in scratch memory, for everything that the
 * single-pass kernels do not accept. With float weights, the first pass is along columns, and its
 * results are floats; the second pass is along rows. With integer weights, as in Pillow, the first
 * pass is along rows or columns, and its results are bytes; the second pass is along the other
 * axis. This file also copies the tables of weights to device memory, and chooses the
 * implementation.
 * SPDX-License-Identifier: MIT */
#include "kernels/cuda/geometry/resample.h"
#include "kernels/cuda/common/sample.cuh"
#include "kernels/cuda/geometry/resample_enlarge.h"
#include "kernels/cuda/geometry/resample_fused.h"
#include "kernels/cuda/geometry/resample_ratio.h"
#include "kernels/cuda/geometry/resample_slide.h"

#include <stdlib.h>
#include <string.h>

enum { THREADS = 256, GRID_ROWS = 65535, SCRATCH_NBYTES = 256 << 20, BITS = 22, HALF = 1 << 21 };

/* ---- tables ---- */

/* Assigns addresses in a block of memory, beginning at byte *used, to the tables of a side. */
static void share_out(struct device_side *out, const struct gi_resample_side *side, char *block,
                      size_t *used)
{
    size_t n = (size_t)side->n, rows = (size_t)side->nphases, weights = rows * (size_t)side->taps;
    int32_t *at = (int32_t *)(block + *used);
    out->n = side->n;
    out->taps = side->taps;
    out->origin = side->origin;
    out->first = at;
    out->phase = at + n;
    out->weights = (const float *)(at + 2 * n);
    out->integers = side->integers ? at + 2 * n + weights : NULL;
    size_t words = 2 * n + weights * (side->integers ? 2 : 1);
    out->sums = side->sums ? (const float *)(at + words) : NULL;
    *used += ((words + (side->sums ? rows : 0)) * sizeof *at + 255) / 256 * 256;
}

static void fill(const struct device_side *to, const struct gi_resample_side *side)
{
    size_t n = (size_t)side->n * sizeof(int32_t), row = (size_t)side->taps * sizeof(float);
    memcpy((void *)to->first, side->first, n);
    memcpy((void *)to->phase, side->phase, n);
    memcpy((void *)to->weights, side->weights, (size_t)side->nphases * row);
    if (side->integers)
        memcpy((void *)to->integers, side->integers, (size_t)side->nphases * row);
    if (side->sums)
        memcpy((void *)to->sums, side->sums, (size_t)side->nphases * sizeof(float));
}

enum gi_status gi_cuda_resample_tables(struct gi_cuda_queue *cu, struct device_side *row,
                                       struct device_side *col, void **more, size_t nbytes,
                                       const struct gi_resample *spec, struct gi_err *err)
{
    size_t used = 0, same = 0;
    void *scratch;
    share_out(row, &spec->row, NULL, &used);
    share_out(col, &spec->col, NULL, &used);
    enum gi_status status = gi_cuda_scratch(cu, &scratch, used + nbytes, err);
    if (status)
        return status;
    char *host = (char *)calloc(1, used);
    if (!host)
        return gi_fail(err, GI_E_MEMORY, "out of memory: tables of a resampling");
    share_out(row, &spec->row, host, &same);
    share_out(col, &spec->col, host, &same);
    fill(row, &spec->row);
    fill(col, &spec->col);
    /* The pageable source memory has been read when the call returns. */
    cudaError_t error = cudaMemcpyAsync(scratch, host, used, cudaMemcpyHostToDevice, cu->stream);
    free(host);
    GI_CUDA_TRY(error);
    same = 0;
    share_out(row, &spec->row, (char *)scratch, &same);
    share_out(col, &spec->col, (char *)scratch, &same);
    *more = (char *)scratch + used;
    return GI_OK;
}

/* ---- kernels ---- */

struct pass_args {
    struct gi_image dst, src;
    struct device_side row, col;
    float *floats;  /* rows y0 to y1 - 1 of the result; a row has `pitch` samples */
    uint8_t *bytes; /* all source rows with the width of the result; `pitch` per row */
    size_t pitch;   /* samples */
    int y0, y1;     /* rows of the result, or of the source if the first pass is along rows */
    int nbytes;     /* of a sample */
    bool weigh;
    bool down; /* integer weights: whether the pass is along columns */
};

/* Returns the sum of weights[t] * p[t * channels]. */
static __device__ __forceinline__ float sum_of(const float *weights, int taps, const float *p,
                                               int channels)
{
    float s = 0, carry = 0;
    for (int t = 0; t < taps; t += GI_TAPS_BLOCK) {
        float block = 0;
        int end = min(taps, t + GI_TAPS_BLOCK);
        for (int i = t; i < end; i++)
            block = __fmaf_rn(__ldg(weights + i), p[i * channels], block);
        if (t == 0)
            s = block;
        else
            add_block(&s, &carry, block);
    }
    return s;
}

static __device__ __forceinline__ float4 floats_of(const uint8_t *p)
{
    uchar4 v = *(const uchar4 *)p;
    return make_float4(v.x, v.y, v.z, v.w);
}

static __device__ __forceinline__ float4 floats_of(const uint16_t *p)
{
    ushort4 v = *(const ushort4 *)p;
    return make_float4(v.x, v.y, v.z, v.w);
}

static __device__ __forceinline__ float4 floats_of(const float *p)
{
    return *(const float4 *)p;
}

/* Loads four samples of a row. With 2 or 4 channels and `weigh`, multiplies colour by alpha. */
static __device__ __forceinline__ float4 weighed_at(const char *p, enum gi_type type, bool weigh,
                                                    int channels)
{
    float4 v = type == GI_U8    ? floats_of((const uint8_t *)p)
               : type == GI_U16 ? floats_of((const uint16_t *)p)
                                : floats_of((const float *)p);
    if (weigh && channels == 4) {
        v.x = __fmul_rn(v.x, v.w);
        v.y = __fmul_rn(v.y, v.w);
        v.z = __fmul_rn(v.z, v.w);
    } else if (weigh) {
        v.x = __fmul_rn(v.x, v.y);
        v.z = __fmul_rn(v.z, v.w);
    }
    return v;
}

/* One thread per four neighbouring samples of a row. */
static __global__ void __launch_bounds__(THREADS) columns(struct pass_args args)
{
    int x = (int)(blockIdx.x * THREADS + threadIdx.x) * 4, channels = args.src.channels;
    if (x >= args.src.width * channels)
        return;
    const struct device_side *col = &args.col;
    for (int y = args.y0 + (int)blockIdx.y; y < args.y1; y += (int)gridDim.y) {
        const float *weights = col->weights + (size_t)col->phase[y] * col->taps;
        const char *p = (const char *)args.src.data +
                        (size_t)(col->first[y] - col->origin) * args.src.stride +
                        (size_t)x * args.nbytes;
        float4 s = make_float4(0, 0, 0, 0), carry = s;
        for (int t = 0; t < col->taps; t += GI_TAPS_BLOCK) {
            float4 block = make_float4(0, 0, 0, 0);
            int end = min(col->taps, t + GI_TAPS_BLOCK);
#pragma unroll 4
            for (int i = t; i < end; i++, p += args.src.stride) {
                float w = __ldg(weights + i);
                float4 v = weighed_at(p, args.src.type, args.weigh, channels);
                block.x = __fmaf_rn(w, v.x, block.x);
                block.y = __fmaf_rn(w, v.y, block.y);
                block.z = __fmaf_rn(w, v.z, block.z);
                block.w = __fmaf_rn(w, v.w, block.w);
            }
            if (t == 0) {
                s = block;
                continue;
            }
            add_block(&s.x, &carry.x, block.x);
            add_block(&s.y, &carry.y, block.y);
            add_block(&s.z, &carry.z, block.z);
            add_block(&s.w, &carry.w, block.w);
        }
        *(float4 *)(args.floats + (size_t)(y - args.y0) * args.pitch + x) = s;
    }
}

/* One thread per pixel. */
static __global__ void __launch_bounds__(THREADS) rows(struct pass_args args)
{
    int x = (int)(blockIdx.x * THREADS + threadIdx.x), channels = args.src.channels;
    if (x >= args.dst.width)
        return;
    const struct device_side *row = &args.row;
    const float *weights = row->weights + (size_t)row->phase[x] * row->taps;
    for (int y = args.y0 + (int)blockIdx.y; y < args.y1; y += (int)gridDim.y) {
        const float *from = args.floats + (size_t)(y - args.y0) * args.pitch +
                            (size_t)(row->first[x] - row->origin) * channels;
        char *out = (char *)args.dst.data + (size_t)y * args.dst.stride;
        float divisor = row->sums
                            ? __fmul_rn(args.col.sums[args.col.phase[y]], row->sums[row->phase[x]])
                            : 1.0f;
        float a = 1;
        for (int c = channels - 1; c >= 0; c--) {
            float f = sum_of(weights, row->taps, from + c, channels);
            if (row->sums)
                f = __fdiv_rn(f, divisor);
            if (args.weigh && c == channels - 1)
                f = a = f > 0 ? f : 0.0f;
            else if (args.weigh)
                f = a > 0 ? __fdiv_rn(f, a) : 0.0f;
            size_t at = (size_t)x * channels + c;
            if (args.src.type == GI_U8)
                sample_store((uint8_t *)out + at, f);
            else if (args.src.type == GI_U16)
                sample_store((uint16_t *)out + at, f);
            else
                sample_store((float *)out + at, f);
        }
    }
}

static __device__ __forceinline__ uint8_t cut_off(int sum)
{
    return (uint8_t)min(max(sum >> BITS, 0), 255);
}

static __device__ __forceinline__ int premultiplied(const uint8_t *p, int alpha)
{
    int t = p[0] * p[alpha] + 128;
    return ((t >> 8) + t) >> 8;
}

/* First pass with integer weights, one thread per sample. */
static __global__ void __launch_bounds__(THREADS) integer_first(struct pass_args args)
{
    int x = (int)(blockIdx.x * THREADS + threadIdx.x), channels = args.src.channels;
    if (x >= (args.down ? args.src.width : args.dst.width) * channels)
        return;
    const struct device_side *side = args.down ? &args.col : &args.row;
    int pixel = x / channels, c = x % channels, alpha = args.weigh ? channels - 1 - c : 0;
    size_t step = args.down ? args.src.stride : (size_t)channels;
    for (int y = args.y0 + (int)blockIdx.y; y < args.y1; y += (int)gridDim.y) {
        int i = args.down ? y : pixel, from = side->first[i] - side->origin;
        const int32_t *weights = side->integers + (size_t)side->phase[i] * side->taps;
        const uint8_t *p = (const uint8_t *)args.src.data +
                           (size_t)(args.down ? from : y) * args.src.stride +
                           (size_t)(args.down ? pixel : from) * channels + c;
        int sum = HALF;
        for (int t = 0; t < side->taps; t++, p += step)
            sum += __ldg(weights + t) * (alpha ? premultiplied(p, alpha) : (int)p[0]);
        args.bytes[(size_t)y * args.pitch + x] = cut_off(sum);
    }
}

/* Second pass, one thread per pixel. */
static __global__ void __launch_bounds__(THREADS) integer_second(struct pass_args args)
{
    int x = (int)(blockIdx.x * THREADS + threadIdx.x), channels = args.src.channels;
    if (x >= args.dst.width)
        return;
    const struct device_side *side = args.down ? &args.col : &args.row;
    size_t step = args.down ? args.pitch : (size_t)channels;
    for (int y = args.y0 + (int)blockIdx.y; y < args.y1; y += (int)gridDim.y) {
        int i = args.down ? y : x, from = side->first[i] - side->origin;
        const int32_t *weights = side->integers + (size_t)side->phase[i] * side->taps;
        uint8_t *out =
            (uint8_t *)args.dst.data + (size_t)y * args.dst.stride + (size_t)x * channels;
        unsigned a = 255;
        for (int c = channels - 1; c >= 0; c--) {
            const uint8_t *p = args.bytes + (size_t)(args.down ? from : y) * args.pitch +
                               (size_t)(args.down ? x : from) * channels + c;
            int sum = HALF;
            for (int t = 0; t < side->taps; t++, p += step)
                sum += __ldg(weights + t) * (int)p[0];
            unsigned v = cut_off(sum);
            if (args.weigh && c == channels - 1)
                a = v;
            out[c] = (uint8_t)(a == 0 || a == 255  ? v
                               : c == channels - 1 ? a
                                                   : min(255 * v / a, 255u));
        }
    }
}

/* ---- launchers ---- */

static dim3 grid_of(size_t across, int nrows)
{
    return dim3((unsigned)ceil_div((long long)across, THREADS),
                (unsigned)(nrows < GRID_ROWS ? nrows : GRID_ROWS));
}

static enum gi_status launch(struct gi_cuda_queue *cu, struct pass_args *args, int band,
                             struct gi_err *err)
{
    for (int y = 0; y < args->dst.height; y += band) {
        args->y0 = y;
        args->y1 = args->dst.height - y < band ? args->dst.height : y + band;
        int nrows = args->y1 - args->y0;
        columns<<<grid_of(args->pitch / 4, nrows), THREADS, 0, cu->stream>>>(*args);
        GI_CUDA_LAUNCHED();
        rows<<<grid_of((size_t)args->dst.width, nrows), THREADS, 0, cu->stream>>>(*args);
        GI_CUDA_LAUNCHED();
    }
    return GI_OK;
}

static struct pass_args args_of(struct gi_image *dst, const struct gi_image *src,
                                const struct gi_resample *spec)
{
    struct pass_args args = {};
    args.dst = *dst;
    args.src = *src;
    args.nbytes = (int)gi_type_nbytes(src->type);
    args.weigh = gi_has_alpha(src) && spec->alpha == GI_ALPHA_WEIGH;
    return args;
}

static enum gi_status passes(struct gi_queue *queue, struct gi_image *dst,
                             const struct gi_image *src, const struct gi_resample *spec,
                             struct gi_err *err)
{
    struct gi_cuda_queue *cu = gi_cuda(queue);
    struct pass_args args = args_of(dst, src, spec);
    args.pitch = (gi_row_samples(src) + 3) / 4 * 4;
    size_t row_nbytes = args.pitch * sizeof(float), most = SCRATCH_NBYTES / row_nbytes;
    int band = most < 1 ? 1 : most < (size_t)dst->height ? (int)most : dst->height;
    enum gi_status status = gi_cuda_resample_tables(cu, &args.row, &args.col, (void **)&args.floats,
                                                    row_nbytes * (size_t)band, spec, err);
    if (status)
        return status;
    return launch(cu, &args, band, err);
}

static enum gi_status integer(struct gi_queue *queue, struct gi_image *dst,
                              const struct gi_image *src, const struct gi_resample *spec,
                              struct gi_err *err)
{
    struct gi_cuda_queue *cu = gi_cuda(queue);
    struct pass_args args = args_of(dst, src, spec);
    const struct gi_resample_side *col = &spec->col;
    bool down = spec->columns_first;
    size_t samples = gi_row_samples(down ? src : dst);
    args.pitch = (samples + 3) / 4 * 4;
    args.y0 = down ? 0 : col->first[0] - col->origin;
    args.y1 = down ? dst->height : col->first[col->n - 1] - col->origin + col->taps;
    enum gi_status status = gi_cuda_resample_tables(cu, &args.row, &args.col, (void **)&args.bytes,
                                                    args.pitch * (size_t)args.y1, spec, err);
    if (status)
        return status;
    dim3 first = grid_of(samples, args.y1 - args.y0);
    args.down = down;
    integer_first<<<first, THREADS, 0, cu->stream>>>(args);
    GI_CUDA_LAUNCHED();
    args.y0 = 0;
    args.y1 = dst->height;
    dim3 second = grid_of((size_t)dst->width, dst->height);
    args.down = !down;
    integer_second<<<second, THREADS, 0, cu->stream>>>(args);
    GI_CUDA_LAUNCHED();
    return GI_OK;
}

static bool ratio_takes(const struct gi_queue *queue, const struct gi_image *src,
                        const struct gi_resample *spec)
{
    (void)queue;
    return gi_cuda_ratio_takes(src, spec);
}

static bool enlarge_takes(const struct gi_queue *queue, const struct gi_image *src,
                          const struct gi_resample *spec)
{
    (void)queue;
    return gi_cuda_enlarge_takes(src, spec);
}

static bool slide_takes(const struct gi_queue *queue, const struct gi_image *src,
                        const struct gi_resample *spec)
{
    (void)queue;
    return gi_cuda_slide_takes(src, spec);
}

static bool fused_takes(const struct gi_queue *queue, const struct gi_image *src,
                        const struct gi_resample *spec)
{
    (void)queue;
    return gi_cuda_fused_takes(src, spec);
}

/* Time of each way in us on an H100, 8192 x 8192, 8-bit gray. To 1/2, triangle: ratio 41, fused
 * 112, passes 236. To 1200 x 1200, lanczos3: slide 104, fused 131. 4096 x 4096 to twice the size:
 * enlarge 37, fused 200, passes 589. ratio costs 490 lines and 40 kernels, enlarge 396 and 36,
 * slide 412 and 6, fused 349 and 12, and ratio and enlarge share another 234. */
const struct gi_resample_way gi_cuda_resample_ways[GI_WAYS_MAX] = {
    {{"ratio", "gray, and RGB(A) of 8 bits, to a half; of 8 bits also to a quarter, and gray and "
               "RGB to an eighth"},
     ratio_takes,
     gi_cuda_ratio},
    {{"enlarge", "gray, and RGB of 8 bits, to two, three and four times the size"},
     enlarge_takes,
     gi_cuda_enlarge},
    {{"slide", "8 and 16 bits, 33 to 64 taps, not gray with alpha nor gray to a whole fraction"},
     slide_takes,
     gi_cuda_slide},
    {{"fused", "float weights, but not thousands of taps"}, fused_takes, gi_cuda_fused},
    {{"passes", "float weights"}, gi_resample_float_takes, passes},
    {{"integer", "the integers of Pillow"}, gi_resample_integer_takes, integer},
};
