/* Binary arithmetic and compositing of two images. If both have the same shape, type and channels,
 * a thread processes pieces of 16 bytes of a row. In all other cases a thread processes PIXELS
 * pixels of a row and loads all of them before it computes the first.
 * SPDX-License-Identifier: MIT */
#include "kernels/cuda/common/pointwise.cuh"
#include "kernels/arithmetic.h"
#include "kernels/color.h"

enum { THREADS = 256, PIXELS = 2, ALPHA = 3 };

/* A second image, `other` or `dark`. */
struct beside {
    struct gi_image image;
    bool constant;      /* no image: each pixel is spec.value */
    float unit, opaque; /* factor of samples; alpha if the image has none */
};

struct arithmetic_args {
    struct gi_image dst, src;
    struct beside other, dark;
    struct gi_arithmetic spec;
    bool has_dark, color; /* the mask has colour */
    float full, inverse, weight, hidden;
};

template <typename T>
static __device__ __forceinline__ void read_samples(float v[GI_MAX_CHANNELS], const T *p,
                                                    int channels)
{
    if (channels == 4 && sizeof(T) == 1) {
        unsigned word = *(const unsigned *)p;
#pragma unroll
        for (int c = 0; c < 4; c++)
            v[c] = sample_unpack<uint8_t>(&word, c);
        return;
    }
#pragma unroll
    for (int c = 0; c < GI_MAX_CHANNELS; c++)
        v[c] = c < channels ? (float)p[c] : 0.0f;
}

/* Expands `channels` samples to red, green, blue (gray is repeated) and alpha, in place. */
static __device__ __forceinline__ void in_order(float v[GI_MAX_CHANNELS], int channels,
                                                float opaque)
{
    if (channels % 2)
        v[ALPHA] = opaque;
    if (channels == 2)
        v[ALPHA] = v[1];
    if (channels < 3)
        v[1] = v[2] = v[0];
}

static __device__ __forceinline__ void read_beside(float v[GI_MAX_CHANNELS],
                                                   const struct beside *beside,
                                                   const struct gi_arithmetic *spec, int x, int y)
{
    const struct gi_image *image = &beside->image;
    int ox = x - (int)spec->x, oy = y - (int)spec->y;
    if (beside->constant) {
#pragma unroll
        for (int c = 0; c < GI_MAX_CHANNELS; c++)
            v[c] = spec->value[c];
        return;
    }
    if (spec->tile) {
        ox = (ox % image->width + image->width) % image->width;
        oy = (oy % image->height + image->height) % image->height;
    }
    if (ox < 0 || oy < 0 || ox >= image->width || oy >= image->height) {
        v[0] = v[1] = v[2] = v[ALPHA] = 0;
        return;
    }
    const char *row = (const char *)image->data + (size_t)oy * image->stride;
    size_t at = (size_t)ox * (unsigned)image->channels;
    SAMPLE_TYPES(image->type, read_samples(v, (const T *)row + at, image->channels));
#pragma unroll
    for (int c = 0; c < GI_MAX_CHANNELS; c++)
        v[c] = __fmul_rn(v[c], beside->unit);
    in_order(v, image->channels, beside->opaque);
}

template <typename T>
static __device__ __forceinline__ void write_pixel(const struct gi_image *dst,
                                                   const float v[GI_MAX_CHANNELS], int x, int y)
{
    T *p = (T *)((char *)dst->data + (size_t)y * dst->stride) + (size_t)x * (unsigned)dst->channels;
    if (sizeof(T) == 1 && dst->channels == 4) {
        *(unsigned *)p = sample_pack<uint8_t>(v);
        return;
    }
    sample_store(p, v[0]);
    if (dst->channels > 1)
        sample_store(p + 1, dst->channels == 2 ? v[ALPHA] : v[1]);
    if (dst->channels > 2)
        sample_store(p + 2, v[2]);
    if (dst->channels > 3)
        sample_store(p + 3, v[ALPHA]);
}

static __device__ __forceinline__ void arithmetic(float a[GI_MAX_CHANNELS],
                                                  const float b[GI_MAX_CHANNELS],
                                                  const struct arithmetic_args *args, int x, int y)
{
    const struct gi_arithmetic *spec = &args->spec;
    float d[GI_MAX_CHANNELS] = {};
    if (args->has_dark)
        read_beside(d, &args->dark, spec, x, y);
#pragma unroll
    for (int c = 0; c < GI_MAX_CHANNELS; c++) {
        if (c == ALPHA ? !spec->alpha_too : c > 0 && args->src.channels < 3)
            continue;
        if (spec->plain) {
            a[c] = gi_settle(gi_arithmetic_plain(spec->op, args->src.type, a[c], b[c], spec->t),
                             args->src.type);
            continue;
        }
        float f = gi_arithmetic_sample(spec->op, a[c], b[c], d[c], spec->t);
        a[c] = gi_settle(__fmaf_rn(spec->factor[c], f, spec->offset), args->src.type);
    }
}

/* Composites pixel s over pixel b, and replaces b by the result. s is a pixel of `other` or of the
 * mask, and b is a pixel of `src`. */
static __device__ __forceinline__ void layer(float b[GI_MAX_CHANNELS], float s[GI_MAX_CHANNELS],
                                             const struct arithmetic_args *args)
{
    const struct gi_arithmetic *spec = &args->spec;
    float ab = __fmul_rn(b[ALPHA], args->inverse), as = __fmul_rn(s[ALPHA], args->weight);
    struct gi_arithmetic_weights weights;
    if (spec->op == GI_ARITHMETIC_MASK) {
        float luma = args->color ? gi_pixel_luma(s[0], s[1], s[2]) : s[0];
        float m = gi_arithmetic_share(__fmul_rn(luma, args->inverse), as, spec->invert);
        float behind = __fmul_rn(spec->value[ALPHA], args->inverse);
        weights =
            gi_arithmetic_parts(__fmul_rn(1.0f - m, behind), spec->set ? m : __fmul_rn(m, ab));
    } else {
        weights = gi_arithmetic_layers(spec->above, spec->below, as, ab);
    }
#pragma unroll
    for (int c = 0; c < ALPHA; c++) {
        float above = spec->op == GI_ARITHMETIC_MASK ? spec->value[c] : s[c];
        if (spec->blend != GI_BLEND_NORMAL)
            above = gi_arithmetic_blend(
                above, gi_arithmetic_blended(spec->blend, b[c], above, args->inverse), ab);
        b[c] = gi_arithmetic_color(weights, spec->plus, b[c], above, args->full, args->hidden,
                                   args->dst.type);
    }
    b[ALPHA] = gi_settle(__fmul_rn(weights.alpha, args->full), args->dst.type);
}

/* One thread computes PIXELS pixels of a row, which are THREADS pixels apart. */
template <bool LAYERS>
static __global__ void __launch_bounds__(THREADS)
    combine(const __grid_constant__ struct arithmetic_args args)
{
    int x0 = (int)(blockIdx.x * (THREADS * PIXELS) + threadIdx.x);
    for (int y = (int)blockIdx.y; y < args.src.height; y += (int)gridDim.y) {
        const char *row = (const char *)args.src.data + (size_t)y * args.src.stride;
        float a[PIXELS][GI_MAX_CHANNELS] = {}, b[PIXELS][GI_MAX_CHANNELS] = {};
#pragma unroll
        for (int i = 0; i < PIXELS; i++) {
            int x = x0 + i * THREADS;
            if (x >= args.src.width)
                break;
            size_t at = (size_t)x * (unsigned)args.src.channels;
            SAMPLE_TYPES(args.src.type, read_samples(a[i], (const T *)row + at, args.src.channels));
            read_beside(b[i], &args.other, &args.spec, x, y);
        }
#pragma unroll
        for (int i = 0; i < PIXELS; i++) {
            int x = x0 + i * THREADS;
            if (x >= args.src.width)
                break;
            in_order(a[i], args.src.channels, args.full);
            if (LAYERS)
                layer(a[i], b[i], &args);
            else
                arithmetic(a[i], b[i], &args, x, y);
            SAMPLE_TYPES(args.dst.type, write_pixel<T>(&args.dst, a[i], x, y));
        }
    }
}

/* ---- images of the same shape, type and channels ---- */

struct pieces_args {
    struct gi_image dst, src, other, dark; /* same shape; samples are 0 if dark.data is NULL */
    enum gi_arithmetic_op op;
    float factor, offset, t;
    int pieces;
    unsigned keep[WORDS];
};

/* Computes one sample; d is the sample of `dark`. */
template <typename T, bool PLAIN>
static __device__ __forceinline__ float make_sample(enum gi_arithmetic_op op, float a, float b,
                                                    float d, const struct pieces_args &args)
{
    constexpr enum gi_type TYPE = sizeof(T) == 1 ? GI_U8 : sizeof(T) == 2 ? GI_U16 : GI_F32;
    if (PLAIN)
        return gi_settle(gi_arithmetic_plain(op, TYPE, a, b, args.t), TYPE);
    float f = gi_arithmetic_sample(op, a, b, d, args.t);
    return gi_settle(__fmaf_rn(args.factor, f, args.offset), TYPE);
}

#define EACH_SAMPLE(constant)                                                                      \
    case constant:                                                                                 \
        _Pragma("unroll") for (int i = 0; i < S; i++) v[i] =                                       \
            make_sample<T, PLAIN>(constant, sample_unpack<T>(&a, i), sample_unpack<T>(&b, i),      \
                                  sample_unpack<T>(&d, i), args);                                  \
        break

template <typename T, bool PLAIN>
static __device__ __forceinline__ unsigned make_word(unsigned a, unsigned b, unsigned d,
                                                     unsigned keep, const struct pieces_args &args)
{
    enum { S = 4 / (int)sizeof(T) };
    float v[S];
    switch (args.op) {
        EACH_SAMPLE(GI_ARITHMETIC_ADD);
        EACH_SAMPLE(GI_ARITHMETIC_SUBTRACT);
        EACH_SAMPLE(GI_ARITHMETIC_MULTIPLY);
        EACH_SAMPLE(GI_ARITHMETIC_DIFFERENCE);
        EACH_SAMPLE(GI_ARITHMETIC_BLEND);
        EACH_SAMPLE(GI_ARITHMETIC_MIDDLE);
        EACH_SAMPLE(GI_ARITHMETIC_MINIMUM);
        EACH_SAMPLE(GI_ARITHMETIC_MAXIMUM);
        EACH_SAMPLE(GI_ARITHMETIC_OUTLIER);
    default:
        EACH_SAMPLE(GI_ARITHMETIC_DIVIDE);
    }
    return pack_keeping<T>(v, a, keep);
}

template <typename T, bool PLAIN>
static __device__ __forceinline__ void rows_make(const struct pieces_args &args)
{
    int x = (int)(blockIdx.x * POINTWISE_THREADS + threadIdx.x);
    if (x >= args.pieces)
        return;
    for (int y = (int)blockIdx.y; y < args.src.height; y += (int)gridDim.y) {
        uint4 a = *piece_at(args.src, x, y), b = *piece_at(args.other, x, y);
        uint4 d = make_uint4(0, 0, 0, 0);
        if (args.dark.data)
            d = *piece_at(args.dark, x, y);
        *piece_at(args.dst, x, y) =
            make_uint4(make_word<T, PLAIN>(a.x, b.x, d.x, args.keep[0], args),
                       make_word<T, PLAIN>(a.y, b.y, d.y, args.keep[1], args),
                       make_word<T, PLAIN>(a.z, b.z, d.z, args.keep[2], args),
                       make_word<T, PLAIN>(a.w, b.w, d.w, args.keep[3], args));
    }
}

/* With more than 32 registers, which only floats would need, fewer threads run at once. */
template <bool PLAIN>
static __global__ void __maxnreg__(32) pieces(const __grid_constant__ struct pieces_args args)
{
    SAMPLE_TYPES(args.src.type, rows_make<T, PLAIN>(args));
}

static bool is_alike(const struct gi_image *a, const struct gi_image *b)
{
    return a->type == b->type && a->channels == b->channels && a->width == b->width &&
           a->height == b->height;
}

static bool pieces_takes(const struct gi_queue *queue, const struct gi_image *src,
                         const struct gi_arithmetic *spec)
{
    (void)queue;
    if (spec->op >= GI_ARITHMETIC_LAYER || !spec->other || !is_alike(src, spec->other) ||
        (spec->dark && !is_alike(src, spec->dark)) || spec->x || spec->y || spec->tile)
        return false;
    for (int c = 1; c < GI_MAX_CHANNELS; c++)
        if (!spec->plain && spec->factor[c] != spec->factor[0])
            return false;
    return true;
}

static enum gi_status by_pieces(struct gi_queue *queue, struct gi_image *dst,
                                const struct gi_image *src, const struct gi_arithmetic *spec,
                                struct gi_err *err)
{
    struct gi_cuda_queue *cu = gi_cuda(queue);
    struct pieces_args args = {};
    args.dst = *dst;
    args.src = *src;
    args.other = *spec->other;
    if (spec->dark)
        args.dark = *spec->dark;
    args.op = spec->op;
    args.factor = spec->factor[0];
    args.offset = spec->offset;
    args.t = spec->t;
    args.pieces = pieces_of(src);
    keep_bits(args.keep, src, !spec->alpha_too);
    dim3 grid = pointwise_grid(args.pieces, src->height);
    if (spec->plain)
        pieces<true><<<grid, POINTWISE_THREADS, 0, cu->stream>>>(args);
    else
        pieces<false><<<grid, POINTWISE_THREADS, 0, cu->stream>>>(args);
    GI_CUDA_LAUNCHED();
    return GI_OK;
}

/* ---- everything ---- */

/* Limits the offset of `other` along a side of n pixels, so that differences of coordinates fit in
 * 32 bits. If the offset is changed, `other` is outside the image both with the changed and with
 * the original offset. */
static int64_t nearer(int64_t at, int n, bool tile)
{
    const int64_t most = 1 << 30;
    if (tile)
        return at % n;
    return at < -most ? -most : at > most ? most : at;
}

static struct beside beside_of(const struct gi_image *image, float full, float opaque)
{
    struct beside beside = {};
    beside.constant = !image;
    if (!image)
        return beside;
    beside.image = *image;
    beside.unit = full / gi_type_full_scale(image->type);
    beside.opaque = opaque;
    return beside;
}

static enum gi_status by_pixels(struct gi_queue *queue, struct gi_image *dst,
                                const struct gi_image *src, const struct gi_arithmetic *spec,
                                struct gi_err *err)
{
    struct gi_cuda_queue *cu = gi_cuda(queue);
    struct arithmetic_args args = {};
    float full = gi_type_full_scale(src->type);
    args.dst = *dst;
    args.src = *src;
    args.spec = *spec;
    args.hidden = gi_arithmetic_hidden(dst);
    if (spec->other) {
        args.spec.x = nearer(spec->x, spec->other->width, spec->tile);
        args.spec.y = nearer(spec->y, spec->other->height, spec->tile);
    }
    args.other = beside_of(spec->other, full, full);
    args.dark = beside_of(spec->dark, full, 0);
    args.has_dark = spec->dark != NULL;
    args.color = spec->other && gi_color_channels(spec->other) == 3;
    args.full = full;
    args.inverse = (float)(1 / (double)full);
    args.weight = (float)((double)spec->opacity / (double)full);
    dim3 grid((unsigned)ceil_div(src->width, THREADS * PIXELS),
              (unsigned)(src->height < 65535 ? src->height : 65535));
    if (spec->op >= GI_ARITHMETIC_LAYER)
        combine<true><<<grid, THREADS, 0, cu->stream>>>(args);
    else
        combine<false><<<grid, THREADS, 0, cu->stream>>>(args);
    GI_CUDA_LAUNCHED();
    return GI_OK;
}

/* Times in us on an H100, 8192 x 8192, 8-bit gray. Half the sum of two images: "pieces" 73,
 * "pixels" 652. */
const struct gi_arithmetic_way gi_cuda_arithmetic_ways[GI_WAYS_MAX] = {
    {{"pieces", "arithmetic on images of one type and as many channels"}, pieces_takes, by_pieces},
    {{"pixels", "everything"}, NULL, by_pixels},
};
