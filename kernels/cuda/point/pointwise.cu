/* One pass over the samples: threshold and luma. A thread makes 16 bytes of a row at a time; where
 * a row ends inside them, the padding of both images is read and written too.
 * SPDX-License-Identifier: MIT */
#include "kernels/cuda/common/sample.cuh"

enum { THREADS = 256, PIECE = 16 /* bytes */, WORDS = PIECE / 4 };

static dim3 grid_of(int pieces, int height)
{
    return dim3((unsigned)ceil_div(pieces, THREADS), (unsigned)(height < 65535 ? height : 65535));
}

static __device__ __forceinline__ uint4 *piece_at(const struct gi_image &image, int x, int y)
{
    return (uint4 *)((char *)image.data + (size_t)y * image.stride) + x;
}

struct threshold_args {
    struct gi_image dst, src;
    int pieces; /* of a row */
    float above;
    unsigned least; /* integer samples: the smallest foreground, as many times as a word holds it */
    unsigned flip;  /* ~0: the others become full scale */
    unsigned full[WORDS], keep[WORDS]; /* bits of full scale in colour; bits of alpha */
};

/* All bits of the samples of a word that are foreground. */
template <typename T>
static __device__ __forceinline__ unsigned foreground(unsigned word,
                                                      const struct threshold_args &args)
{
    if (sizeof(T) == 4)
        return __uint_as_float(word) > args.above ? ~0u : 0;
    return sizeof(T) == 1 ? __vcmpgeu4(word, args.least) : __vcmpgeu2(word, args.least);
}

template <typename T>
static __global__ void __launch_bounds__(THREADS) threshold(struct threshold_args args)
{
    int x = (int)(blockIdx.x * THREADS + threadIdx.x);
    if (x >= args.pieces)
        return;
    for (int y = (int)blockIdx.y; y < args.src.height; y += (int)gridDim.y) {
        uint4 piece = *piece_at(args.src, x, y);
        unsigned *words = (unsigned *)&piece;
#pragma unroll
        for (int i = 0; i < WORDS; i++)
            words[i] = ((foreground<T>(words[i], args) ^ args.flip) & args.full[i]) |
                       (words[i] & args.keep[i]);
        *piece_at(args.dst, x, y) = piece;
    }
}

/* Where nothing is above, everything is not: the smallest foreground is 0 then, and `flip` turned.
 */
static struct threshold_args threshold_args_of(const struct gi_image *dst,
                                               const struct gi_image *src, float above, bool invert)
{
    struct threshold_args args = {};
    int nbytes = (int)gi_type_nbytes(src->type);
    float top = gi_type_full_scale(src->type);
    bool none = !(above < top);
    args.dst = *dst;
    args.src = *src;
    args.pieces = ceil_div((long long)gi_row_nbytes(src), PIECE);
    args.above = above;
    args.least = none || above < 0 ? 0 : (unsigned)above + 1;
    args.least *= nbytes == 1 ? 0x01010101u : 0x00010001u;
    args.flip = (none && src->type != GI_F32) != invert ? ~0u : 0;
    for (int i = 0; i < PIECE; i++) {
        bool is_alpha = gi_has_alpha(src) && (i / nbytes + 1) % src->channels == 0;
        ((uint8_t *)args.keep)[i] = is_alpha ? 255 : 0;
    }
    for (int i = 0; i < WORDS; i++)
        args.full[i] = (src->type == GI_F32 ? 0x3f800000u /* 1 */ : ~0u) & ~args.keep[i];
    return args;
}

enum gi_status gi_cuda_threshold(struct gi_queue *queue, struct gi_image *dst,
                                 const struct gi_image *src, float above, bool invert,
                                 struct gi_err *err)
{
    struct gi_cuda_queue *cu = gi_cuda(queue);
    struct threshold_args args = threshold_args_of(dst, src, above, invert);
    dim3 grid = grid_of(args.pieces, src->height);
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
    struct gi_image dst, src;
    int in, out; /* pieces of a row */
};

template <typename T, int CHANNELS>
static __global__ void __launch_bounds__(THREADS) luma(struct luma_args args)
{
    enum { S = 4 / (int)sizeof(T) /* samples of a word */ };
    int x = (int)(blockIdx.x * THREADS + threadIdx.x);
    if (x >= args.out)
        return;
    for (int y = (int)blockIdx.y; y < args.src.height; y += (int)gridDim.y) {
        uint4 in[CHANNELS], out;
#pragma unroll
        for (int i = 0; i < CHANNELS; i++)
            in[i] = x * CHANNELS + i < args.in ? *piece_at(args.src, x * CHANNELS + i, y)
                                               : make_uint4(0, 0, 0, 0);
        const unsigned *words = (const unsigned *)in;
#pragma unroll
        for (int i = 0; i < WORDS; i++) {
            float v[S];
#pragma unroll
            for (int s = 0; s < S; s++) {
                int at = (i * S + s) * CHANNELS;
                v[s] = sample_unpack<T>(words, at);
                if (CHANNELS >= 3) {
                    float g = sample_unpack<T>(words, at + 1);
                    float b = sample_unpack<T>(words, at + 2);
                    v[s] = __fmaf_rn(0.0722f, b, __fmaf_rn(0.7152f, g, __fmul_rn(0.2126f, v[s])));
                }
            }
            ((unsigned *)&out)[i] = CHANNELS == 2 && S == 1
                                        ? words[i * CHANNELS] /* to the bit, NaN too */
                                        : sample_pack<T>(v);
        }
        *piece_at(args.dst, x, y) = out;
    }
}

template <typename T>
static void luma_launch(dim3 grid, cudaStream_t stream, const struct luma_args &args)
{
    if (args.src.channels == 2)
        luma<T, 2><<<grid, THREADS, 0, stream>>>(args);
    else if (args.src.channels == 3)
        luma<T, 3><<<grid, THREADS, 0, stream>>>(args);
    else
        luma<T, 4><<<grid, THREADS, 0, stream>>>(args);
}

enum gi_status gi_cuda_luma(struct gi_queue *queue, struct gi_image *dst,
                            const struct gi_image *src, struct gi_err *err)
{
    struct gi_cuda_queue *cu = gi_cuda(queue);
    size_t in = gi_row_nbytes(src), out = gi_row_nbytes(dst);
    if (src->channels == 1) {
        GI_CUDA_TRY(cudaMemcpy2DAsync(dst->data, dst->stride, src->data, src->stride, in,
                                      (size_t)src->height, cudaMemcpyDeviceToDevice, cu->stream));
        return GI_OK;
    }
    struct luma_args args = {*dst, *src, ceil_div((long long)in, PIECE),
                             ceil_div((long long)out, PIECE)};
    dim3 grid = grid_of(args.out, src->height);
    if (src->type == GI_U8)
        luma_launch<uint8_t>(grid, cu->stream, args);
    else if (src->type == GI_U16)
        luma_launch<uint16_t>(grid, cu->stream, args);
    else
        luma_launch<float>(grid, cu->stream, args);
    GI_CUDA_LAUNCHED();
    return GI_OK;
}
