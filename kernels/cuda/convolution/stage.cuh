/* Staging: copies the samples under a tile of the result, border included, to shared memory as
 * floats, one plane per channel.
 * SPDX-License-Identifier: MIT */
#ifndef GI_KERNELS_CUDA_STAGE_CUH
#define GI_KERNELS_CUDA_STAGE_CUH

#include <cuda_pipeline.h>

#include "kernels/cuda/common/sample.cuh"

/* Layout of staged samples. Row r of channel c begins at c * plane + r * pitch. */
struct planes {
    float *at;
    int pitch; /* floats; odd multiple of 4, so that rows of threads do not share banks */
    int plane;
};

/* The rows and columns of the staged samples that are inside the image. */
struct inside {
    int top, bottom, left, right;
};

/* Stages floats, one warp per row, by asynchronous copies, or through registers if they must be
 * multiplied by alpha. */
template <int CHANNELS, int DEEP_ROWS>
static __device__ __forceinline__ void stage_rows(const struct planes *to, const struct source *src,
                                                  const float *from, int columns,
                                                  const struct inside *in)
{
    enum { DEEP = 8 / CHANNELS, LAST = CHANNELS - 1 }; /* pixels in flight */
    for (int r = in->top + (int)threadIdx.x / 32; r < in->bottom; r += (int)blockDim.x / 32) {
        const float *row = (const float *)((const char *)from + (ptrdiff_t)r * src->stride);
        float *out = to->at + r * to->pitch;
        int a = in->left + (int)threadIdx.x % 32;
        if (CHANNELS % 2 == 0 && src->premultiply) {
#pragma unroll 1
            for (; a < in->right; a += 32 * DEEP) {
                float v[DEEP][CHANNELS];
#pragma unroll
                for (int i = 0; i < DEEP; i++)
#pragma unroll
                    for (int c = 0; c < CHANNELS; c++)
                        v[i][c] = a + 32 * i < in->right ? row[(a + 32 * i) * CHANNELS + c] : 0;
#pragma unroll
                for (int i = 0; i < DEEP; i++)
#pragma unroll
                    for (int c = 0; c < CHANNELS; c++)
                        if (a + 32 * i < in->right)
                            out[c * to->plane + a + 32 * i] =
                                c < LAST ? __fmul_rn(v[i][c], v[i][LAST]) : v[i][LAST];
            }
            continue;
        }
#pragma unroll(DEEP)
        for (; a < in->right; a += 32)
#pragma unroll
            for (int c = 0; c < CHANNELS; c++)
                __pipeline_memcpy_async(out + c * to->plane + a, row + a * CHANNELS + c,
                                        sizeof(float));
    }
    __pipeline_commit();
    __pipeline_wait_prior(0);
}

/* Unpacks four pixels and stores them in the planes. The pixels begin at bit `shift` of
 * words[0]. */
template <typename T, int CHANNELS>
static __device__ __forceinline__ void stage_four(float *out, int plane, const unsigned *words,
                                                  unsigned shift, bool premultiply)
{
    unsigned w[CHANNELS * sizeof(T)];
    float v[4 * CHANNELS];
#pragma unroll
    for (int i = 0; i < CHANNELS * (int)sizeof(T); i++)
        w[i] = __funnelshift_r(words[i], words[i + 1], shift);
#pragma unroll
    for (int i = 0; i < 4 * CHANNELS; i++)
        v[i] = sample_unpack<T>(w, i);
    if (CHANNELS % 2 == 0 && premultiply)
#pragma unroll
        for (int i = 0; i < 4 * CHANNELS; i++)
            if ((i + 1) % CHANNELS)
                v[i] = __fmul_rn(v[i], v[i | (CHANNELS - 1)]);
#pragma unroll
    for (int c = 0; c < CHANNELS; c++)
        *(float4 *)(out + c * plane) =
            make_float4(v[c], v[CHANNELS + c], v[2 * CHANNELS + c], v[3 * CHANNELS + c]);
}

/* Stages integers. A thread loads 4 columns, and another 4 columns half a row to the right, in
 * several rows (DEEP bytes in flight). So neighbouring threads write to neighbouring banks. */
template <int CHANNELS, int DEEP, typename T>
static __device__ __forceinline__ void stage_rows(const struct planes *to, const struct source *src,
                                                  const T *from, int columns,
                                                  const struct inside *in)
{
    enum {
        NBYTES = CHANNELS * (int)sizeof(T), /* per pixel */
        WORDS = NBYTES + 1,
        ROWS = NBYTES < DEEP ? DEEP / NBYTES : 1 /* in flight */
    };
    int fours = (columns + 7) / 8, step = (int)blockDim.x / fours;
    int u = (int)threadIdx.x % fours, r = in->top + (int)threadIdx.x / fours;
    int near = 4 * u, far = 4 * (u + fours);
    bool one = near >= in->left && near < in->right, other = far >= in->left && far < in->right;
    if ((int)threadIdx.x >= step * fours || !(one || other))
        r = in->bottom; /* with a return, ptxas would not assume convergence (dense_taps()) */
    int at[2] = {one ? near : far, other ? far : near}; /* loading twice costs less than a test */
    unsigned shift = (unsigned)(size_t)from * 8 % 32;
    const char *first = (const char *)from - (size_t)from % 4;
    for (; r < in->bottom; r += ROWS * step) {
        unsigned words[ROWS][2][WORDS];
#pragma unroll
        for (int i = 0; i < ROWS; i++) {
            const char *row = first + (ptrdiff_t)min(r + i * step, in->bottom - 1) * src->stride;
#pragma unroll
            for (int h = 0; h < 2; h++)
#pragma unroll
                for (int k = 0; k < WORDS; k++)
                    words[i][h][k] = ((const unsigned *)(row + at[h] * NBYTES))[k];
        }
#pragma unroll
        for (int i = 0; i < ROWS; i++)
#pragma unroll
            for (int h = 0; h < 2; h++)
                stage_four<T, CHANNELS>(to->at + min(r + i * step, in->bottom - 1) * to->pitch +
                                            at[h],
                                        to->plane, words[i][h], shift, src->premultiply);
    }
}

/* Stages `rows` rows of `columns` columns, beginning at row y0 and column x0. The part inside the
 * image is staged by rows, and the rest sample by sample. */
template <typename T, int DEEP>
static __device__ __forceinline__ void stage_tile(const struct planes *to, const struct source *src,
                                                  long long x0, int y0, int rows, int columns)
{
    /* Integers are staged in whole groups of four columns, from two words each. */
    enum { ALIGN = sizeof(T) == 4 ? 1 : 4, AFTER = sizeof(T) == 4 ? 1 : 8 };
    long long last = src->width - AFTER - x0;
    struct inside in = {
        max(0, -y0), min(rows, src->height - y0),
        x0 < 0 ? (int)min((long long)columns, (-x0 + ALIGN - 1) & ~(ALIGN - 1LL)) : 0,
        last < 0 ? 0 : (int)min((long long)columns, (last & ~(ALIGN - 1LL)) + ALIGN)};
    const T *from = (const T *)(src->data + (ptrdiff_t)y0 * src->stride) + x0 * src->channels;
    if (columns > 8 * (int)blockDim.x)
        in.bottom = in.top;
    else if (src->channels == 1)
        stage_rows<1, DEEP>(to, src, from, columns, &in);
    else if (src->channels == 2)
        stage_rows<2, DEEP>(to, src, from, columns, &in);
    else if (src->channels == 3)
        stage_rows<3, DEEP>(to, src, from, columns, &in);
    else
        stage_rows<4, DEEP>(to, src, from, columns, &in);
    if (in.top == 0 && in.bottom == rows && in.left == 0 && in.right == columns)
        return;
    for (int r = (int)threadIdx.x / 32; r < rows; r += (int)blockDim.x / 32) {
        bool outside = r < in.top || r >= in.bottom;
#pragma unroll 1
        for (int a = (int)threadIdx.x % 32; a < columns; a += 32)
            if (outside || a < in.left || a >= in.right)
#pragma unroll 1
                for (int c = 0; c < src->channels; c++)
                    to->at[c * to->plane + r * to->pitch + a] =
                        source_at<T>(src, x0 + a, y0 + r, c);
    }
}

#endif
