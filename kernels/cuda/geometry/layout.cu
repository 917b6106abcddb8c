/* Flips and transpositions, also quarter turns. Squares of pixels are exchanged through shared
 * memory, so that loads and stores are coalesced. A unit is K pixels that fill whole words. K units
 * from K rows are transposed in registers; each result is a unit of a column. Flips gather samples.
 * SPDX-License-Identifier: MIT */
#include "kernels/cuda/common/gather_samples.h"
#include "kernels/cuda/common/unaligned.cuh"

enum {
    UNITS = 32 /* units per side of a square */,
    LAYOUT_ROWS = 8,
    LAYOUT_THREADS = UNITS * LAYOUT_ROWS
};

struct layout_args {
    struct gi_image dst, src;
    int layout;
    int side; /* pixels per side of a square */
};

/* Pixels per unit. */
constexpr int unit_pixels(int pixel)
{
    return pixel % 4 == 0 ? 1 : pixel % 2 == 0 ? 2 : 4;
}

template <int PIXEL> struct unit {
    enum { K = unit_pixels(PIXEL), E = K * PIXEL / 4 /* words */ };
    alignas(E == 3 ? 4 : 4 * E) unsigned word[E];
};

/* Transposes K units. out[j] consists of pixel j of in[0], pixel j of in[1] and so on. */
template <int PIXEL>
static __device__ __forceinline__ void transpose_units(struct unit<PIXEL> *out,
                                                       const struct unit<PIXEL> *in)
{
    enum { K = unit<PIXEL>::K, E = unit<PIXEL>::E };
#pragma unroll
    for (int j = 0; j < K; j++)
#pragma unroll
        for (int w = 0; w < E; w++) {
            int b[4];
#pragma unroll
            for (int k = 0; k < 4; k++) {
                int i = 4 * w + k; /* byte i of out[j] */
                b[k] = i / PIXEL * (4 * E) + j * PIXEL + i % PIXEL;
            }
            out[j].word[w] = gather((const unsigned *)in, b[0], b[1], b[2], b[3]);
        }
}

/* Loads unit `column` of K source rows. These rows become columns x to x + K - 1 of `dst`. */
template <int PIXEL>
static __device__ __forceinline__ void load_units(struct unit<PIXEL> *in,
                                                  const struct layout_args &args, int x, int column)
{
    enum { K = unit<PIXEL>::K };
    bool inside = column * K < args.src.width;
#pragma unroll
    for (int k = 0; k < K; k++) {
        int row = args.layout & GI_LAYOUT_MIRROR_Y ? args.src.height - 1 - x - k : x + k;
        const char *from = (const char *)args.src.data + (size_t)row * args.src.stride;
        if (inside && x + k < args.dst.width)
            in[k] = ((const struct unit<PIXEL> *)from)[column];
        else
            in[k] = {};
    }
}

/* One block transposes one square. blockIdx.y selects the first source column of the square. */
template <int PIXEL>
static __global__ void __launch_bounds__(LAYOUT_THREADS) squares(struct layout_args args)
{
    enum { K = unit<PIXEL>::K, E = unit<PIXEL>::E, GROUPS = UNITS / LAYOUT_ROWS };
    __shared__ unsigned square[UNITS * K][UNITS * E];
    int x0 = (int)blockIdx.x * args.side, column0 = (int)blockIdx.y * UNITS;
    int lane = (int)threadIdx.x, first = (int)threadIdx.y;
    struct unit<PIXEL> in[GROUPS][K], out[K];
    /* Load. */
#pragma unroll
    for (int g = 0; g < GROUPS; g++)
        load_units(in[g], args, x0 + (first + g * LAYOUT_ROWS) * K, column0 + lane);
#pragma unroll
    for (int g = 0; g < GROUPS; g++) {
        int group = first + g * LAYOUT_ROWS;
        transpose_units(out, in[g]);
#pragma unroll
        for (int k = 0; k < K; k++) /* XOR swizzle of units avoids bank conflicts */
#pragma unroll
            for (int e = 0; e < E; e++)
                square[lane * K + k][(group ^ lane) * E + e] = out[k].word[e];
    }
    __syncthreads();
    /* Exchange done: store. */
    for (int r = first; r < UNITS * K; r += LAYOUT_ROWS) {
        int column = column0 * K + r;
        int y = args.layout & GI_LAYOUT_MIRROR_X ? args.src.width - 1 - column : column;
        if (column >= args.src.width)
            break;
        unsigned *to = (unsigned *)((char *)args.dst.data + (size_t)y * args.dst.stride) +
                       (size_t)blockIdx.x * (UNITS * E);
#pragma unroll
        for (int e = 0; e < E; e++) {
            int w = e * UNITS + lane, group = w / E;
            if (x0 + group * K < args.dst.width)
                to[w] = square[r][(group ^ r / K) * E + w % E];
        }
    }
}

#define LAYOUT_PIXEL(nbytes, ...)                                                                  \
    case nbytes: {                                                                                 \
        constexpr int PIXEL = nbytes;                                                              \
        __VA_ARGS__;                                                                               \
        break;                                                                                     \
    }

/* Executes a statement with the constant PIXEL, the bytes per pixel of the image. */
#define LAYOUT_PIXELS(image, ...)                                                                  \
    switch ((image)->channels * (int)gi_type_nbytes((image)->type)) {                              \
        LAYOUT_PIXEL(1, __VA_ARGS__)                                                               \
        LAYOUT_PIXEL(2, __VA_ARGS__)                                                               \
        LAYOUT_PIXEL(3, __VA_ARGS__)                                                               \
        LAYOUT_PIXEL(4, __VA_ARGS__)                                                               \
        LAYOUT_PIXEL(6, __VA_ARGS__)                                                               \
        LAYOUT_PIXEL(8, __VA_ARGS__)                                                               \
        LAYOUT_PIXEL(12, __VA_ARGS__)                                                              \
        LAYOUT_PIXEL(16, __VA_ARGS__)                                                              \
    }

template <int PIXEL> static void launch(struct gi_cuda_queue *cu, struct layout_args *args)
{
    args->side = UNITS * unit<PIXEL>::K;
    dim3 grid((unsigned)ceil_div(args->dst.width, args->side),
              (unsigned)ceil_div(args->dst.height, args->side));
    squares<PIXEL><<<grid, dim3(UNITS, LAYOUT_ROWS), 0, cu->stream>>>(*args);
}

static enum gi_status by_squares(struct gi_queue *queue, struct gi_image *dst,
                                 const struct gi_image *src, const int *layout, struct gi_err *err)
{
    struct gi_cuda_queue *cu = gi_cuda(queue);
    struct layout_args args = {};
    args.dst = *dst;
    args.src = *src;
    args.layout = *layout;
    LAYOUT_PIXELS(src, launch<PIXEL>(cu, &args));
    GI_CUDA_LAUNCHED();
    return GI_OK;
}

static bool transposes(const struct gi_queue *queue, const struct gi_image *src, const int *layout)
{
    return (*layout & GI_LAYOUT_TRANSPOSE) != 0;
}

static bool flips(const struct gi_queue *queue, const struct gi_image *src, const int *layout)
{
    return !transposes(queue, src, layout);
}

/* Flips. A mirrored row is gathered by the largest samples of which its pixels consist, another row
 * is copied by pieces. */
static enum gi_status by_samples(struct gi_queue *queue, struct gi_image *dst,
                                 const struct gi_image *src, const int *layout, struct gi_err *err)
{
    int pixel = src->channels * (int)gi_type_nbytes(src->type);
    bool mirrored = (*layout & GI_LAYOUT_MIRROR_X) != 0;
    struct sample_gather gather = {};
    gather.dst = *dst;
    gather.nbytes = !mirrored ? PIECE : pixel % 4 == 0 ? 4 : pixel % 2 == 0 ? 2 : 1;
    gather.channels = mirrored ? pixel / gather.nbytes : 1;
    gather.width = mirrored ? src->width : pieces_of(src);
    for (int c = 0; c < gather.channels; c++) {
        size_t row = *layout & GI_LAYOUT_MIRROR_Y ? (size_t)src->height - 1 : 0;
        size_t x = mirrored ? (size_t)(src->width - 1) * (size_t)pixel : 0;
        gather.from[c] = (const char *)src->data + row * src->stride + x + c * gather.nbytes;
        gather.step[c] = mirrored ? -pixel : gather.nbytes;
        gather.stride[c] = row ? -(ptrdiff_t)src->stride : (ptrdiff_t)src->stride;
    }
    return gi_cuda_gather_samples(gi_cuda(queue), &gather, err);
}

const struct gi_layout_way gi_cuda_layout_ways[GI_WAYS_MAX] = {
    {{"squares", "what is transposed"}, transposes, by_squares},
    {{"samples", "flips"}, flips, by_samples},
};
