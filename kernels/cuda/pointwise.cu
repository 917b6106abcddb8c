/* One pass over the samples: threshold and luma.
 * SPDX-License-Identifier: MIT */
#include "kernels/cuda/sample.cuh"

enum { THREADS = 256, WORDS = 4 };

struct threshold_args {
    cudaTextureObject_t texture;
    struct target dst;
    int texels, height, channels;
    float above;
    bool invert;
};

template <typename T>
static __global__ void __launch_bounds__(THREADS) threshold(struct threshold_args args)
{
    enum { S = WORDS * 4 / (int)sizeof(T) };
    int x = (int)(blockIdx.x * THREADS + threadIdx.x);
    if (x >= args.texels)
        return;
    float full = sizeof(T) == 1 ? 255.0f : sizeof(T) == 2 ? 65535.0f : 1.0f;
    for (int y = (int)blockIdx.y; y < args.height; y += (int)gridDim.y) {
        unsigned words[WORDS];
        texel_load<WORDS>(words, args.texture, x, y);
        float v[S];
#pragma unroll
        for (int s = 0; s < S; s++) {
            v[s] = sample_unpack<T>(words, s);
            bool is_alpha = args.channels % 2 == 0 && (s + 1) % args.channels == 0;
            if (!is_alpha)
                v[s] = (v[s] > args.above) != args.invert ? full : 0.0f;
        }
#pragma unroll
        for (int i = 0; i < WORDS; i++) /* a float's alpha is copied to the bit, NaN too */
            if (sizeof(T) < 4 || args.channels % 2 || (i + 1) % args.channels)
                words[i] = sample_pack<T>(v + i * (S / WORDS));
        words_store<WORDS>(args.dst.data + (size_t)y * args.dst.stride + x * 16, words);
    }
}

enum gi_status gi_cuda_threshold(struct gi_context *cx, struct gi_image *dst,
                                 const struct gi_image *src, float above, bool invert,
                                 struct gi_err *err)
{
    struct gi_cuda_context *cu = gi_cuda(cx);
    struct threshold_args args = {};
    enum gi_status status =
        gi_cuda_texture(cu, &args.texture, src, WORDS * 4, cudaAddressModeClamp, err);
    if (status)
        return status;
    args.dst = target_of(dst);
    args.texels = ceil_div((long long)gi_row_nbytes(src), WORDS * 4);
    args.height = src->height;
    args.channels = src->channels;
    args.above = above;
    args.invert = invert;
    dim3 grid(ceil_div(args.texels, THREADS), src->height < 65535 ? src->height : 65535);
    if (src->type == GI_U8)
        threshold<uint8_t><<<grid, THREADS, 0, cu->stream>>>(args);
    else if (src->type == GI_U16)
        threshold<uint16_t><<<grid, THREADS, 0, cu->stream>>>(args);
    else
        threshold<float><<<grid, THREADS, 0, cu->stream>>>(args);
    GI_CUDA_LAUNCHED();
    return GI_OK;
}

struct luma_args {
    cudaTextureObject_t texture; /* of 32-bit texels: any four pixels are a whole number of them */
    struct target dst;
    int groups, height; /* groups: of four pixels */
};

/* A thread makes four pixels. The last group may reach into the padding of both images. */
template <typename T, int CHANNELS>
static __global__ void __launch_bounds__(THREADS) luma(struct luma_args args)
{
    enum { IN = CHANNELS * (int)sizeof(T), OUT = (int)sizeof(T) };
    int x = (int)(blockIdx.x * THREADS + threadIdx.x);
    if (x >= args.groups)
        return;
    for (int y = (int)blockIdx.y; y < args.height; y += (int)gridDim.y) {
        unsigned words[IN], out[OUT];
#pragma unroll
        for (int i = 0; i < IN; i++)
            words[i] = tex2D<unsigned>(args.texture, x * IN + i, y);
        float v[4];
#pragma unroll
        for (int p = 0; p < 4; p++) {
            v[p] = sample_unpack<T>(words, p * CHANNELS);
            if (CHANNELS >= 3) {
                float g = sample_unpack<T>(words, p * CHANNELS + 1);
                float b = sample_unpack<T>(words, p * CHANNELS + 2);
                v[p] = __fmaf_rn(0.0722f, b, __fmaf_rn(0.7152f, g, __fmul_rn(0.2126f, v[p])));
            }
        }
#pragma unroll
        for (int i = 0; i < OUT; i++)
            out[i] = CHANNELS < 3 && OUT == 4 ? words[i * CHANNELS] /* to the bit, NaN too */
                                              : sample_pack<T>(v + i * (4 / OUT));
        unsigned *to = (unsigned *)(args.dst.data + (size_t)y * args.dst.stride) + x * OUT;
#pragma unroll
        for (int i = 0; i < OUT; i++)
            to[i] = out[i];
    }
}

template <typename T>
static void luma_launch(dim3 grid, cudaStream_t stream, int channels, struct luma_args args)
{
    if (channels == 1)
        luma<T, 1><<<grid, THREADS, 0, stream>>>(args);
    else if (channels == 2)
        luma<T, 2><<<grid, THREADS, 0, stream>>>(args);
    else if (channels == 3)
        luma<T, 3><<<grid, THREADS, 0, stream>>>(args);
    else
        luma<T, 4><<<grid, THREADS, 0, stream>>>(args);
}

enum gi_status gi_cuda_luma(struct gi_context *cx, struct gi_image *dst, const struct gi_image *src,
                            struct gi_err *err)
{
    struct gi_cuda_context *cu = gi_cuda(cx);
    struct luma_args args = {};
    enum gi_status status = gi_cuda_texture(cu, &args.texture, src, 4, cudaAddressModeClamp, err);
    if (status)
        return status;
    args.dst = target_of(dst);
    args.groups = ceil_div(src->width, 4);
    args.height = src->height;
    dim3 grid(ceil_div(args.groups, THREADS), src->height < 65535 ? src->height : 65535);
    if (src->type == GI_U8)
        luma_launch<uint8_t>(grid, cu->stream, src->channels, args);
    else if (src->type == GI_U16)
        luma_launch<uint16_t>(grid, cu->stream, src->channels, args);
    else
        luma_launch<float>(grid, cu->stream, src->channels, args);
    GI_CUDA_LAUNCHED();
    return GI_OK;
}
