/* Channel permutation. With one source image, a thread assembles each word of the result from bytes
 * of source words. With several source images the samples are gathered.
 * SPDX-License-Identifier: MIT */
#include "kernels/cuda/common/gather_samples.h"
#include "kernels/cuda/common/pointwise.cuh"
#include "kernels/color.h"

static enum gi_status by_samples(struct gi_queue *queue, struct gi_image *dst,
                                 const struct gi_image *srcs,
                                 const struct gi_permute_channels *spec, struct gi_err *err)
{
    struct sample_gather gather = {};
    struct gi_border_spec border = {GI_BORDER_VALUE, {}};
    char value[GI_PIXEL_NBYTES_MAX];
    size_t nbytes = gi_type_nbytes(dst->type);
    memcpy(border.value, spec->value, sizeof border.value);
    gi_border_pixel(value, &border, dst);
    gather.dst = *dst;
    gather.nbytes = (int)nbytes;
    gather.channels = dst->channels;
    gather.width = dst->width;
    for (int c = 0; c < dst->channels; c++) {
        int s = spec->from[c].source;
        memcpy(&gather.value[c], value + (size_t)c * nbytes, nbytes);
        if (s < 0)
            continue;
        gather.from[c] = (const char *)srcs[s].data + (size_t)spec->from[c].channel * nbytes;
        gather.step[c] = srcs[s].channels * (int)nbytes;
        gather.stride[c] = (ptrdiff_t)srcs[s].stride;
    }
    return gi_cuda_gather_samples(gi_cuda(queue), &gather, err);
}

/* ---- one source image ---- */

/* The smallest group of pixels that fills whole words: `from` source words become `to` result
 * words. Word j of the result starts as value[j]. Then, for each source word k in order, the
 * selector pick[j][k] of __byte_perm() replaces some of its bytes by bytes of word k. */
struct regroup_args {
    struct gi_image dst, src;
    unsigned value[GI_MAX_CHANNELS], pick[GI_MAX_CHANNELS][GI_MAX_CHANNELS];
    int from, to;
    int from_pieces, to_pieces; /* per row */
};

enum {
    KEEP = 4, /* selector of __byte_perm() that keeps byte 0 of the result word */
    ROOM = 32 * GI_MAX_CHANNELS + 16,
};

/* Returns the index in shared memory of piece i of a warp. Accesses at these indices are free of
 * bank conflicts. */
template <int EACH> static __device__ __forceinline__ int room_of(int i)
{
    return EACH % 2 ? i : i + i / 8;
}

/* A warp owns 32 * FROM neighbouring pieces. It exchanges them through shared memory, so that each
 * thread owns FROM neighbouring pieces although loads and stores are coalesced. */
template <int FROM, int TO>
static __global__ void __launch_bounds__(POINTWISE_THREADS)
    regroup(const __grid_constant__ struct regroup_args args)
{
    __shared__ uint4 rooms[POINTWISE_THREADS / 32][ROOM];
    uint4 *room = rooms[threadIdx.x / 32];
    int lane = (int)threadIdx.x % 32,
        x = (int)(blockIdx.x * POINTWISE_THREADS + threadIdx.x) - lane;
    for (int y = (int)blockIdx.y; y < args.dst.height; y += (int)gridDim.y) {
        unsigned in[4 * FROM], out[4 * TO];
#pragma unroll
        for (int i = 0; i < FROM; i++) {
            int p = 32 * i + lane, at = min(x * FROM + p, args.from_pieces - 1);
            room[room_of<FROM>(p)] = *piece_at(args.src, at, y);
        }
        __syncwarp();
#pragma unroll
        for (int i = 0; i < FROM; i++) {
            uint4 piece = room[room_of<FROM>(lane * FROM + i)];
            in[4 * i] = piece.x, in[4 * i + 1] = piece.y;
            in[4 * i + 2] = piece.z, in[4 * i + 3] = piece.w;
        }
        __syncwarp();
#pragma unroll
        for (int n = 0; n < 4; n++)
#pragma unroll
            for (int j = 0; j < TO; j++) {
                unsigned word = args.value[j];
#pragma unroll
                for (int k = 0; k < FROM; k++)
                    word = __byte_perm(in[n * FROM + k], word, args.pick[j][k]);
                out[n * TO + j] = word;
            }
#pragma unroll
        for (int i = 0; i < TO; i++)
            room[room_of<TO>(lane * TO + i)] =
                make_uint4(out[4 * i], out[4 * i + 1], out[4 * i + 2], out[4 * i + 3]);
        __syncwarp();
#pragma unroll
        for (int i = 0; i < TO; i++) {
            int p = 32 * i + lane;
            if (x * TO + p < args.to_pieces)
                *piece_at(args.dst, x * TO + p, y) = room[room_of<TO>(p)];
        }
        __syncwarp();
    }
}

static bool regroup_takes(const struct gi_queue *queue, const struct gi_image *srcs,
                          const struct gi_permute_channels *spec)
{
    (void)queue;
    (void)srcs;
    return spec->nsources == 1;
}

template <int FROM>
static enum gi_status regroup_launch(struct gi_cuda_queue *cu, struct regroup_args *args,
                                     struct gi_err *err)
{
    dim3 grid = pointwise_grid(ceil_div(args->to_pieces, args->to), args->dst.height);
    switch (args->to) {
    case 1:
        regroup<FROM, 1><<<grid, POINTWISE_THREADS, 0, cu->stream>>>(*args);
        break;
    case 2:
        regroup<FROM, 2><<<grid, POINTWISE_THREADS, 0, cu->stream>>>(*args);
        break;
    case 3:
        regroup<FROM, 3><<<grid, POINTWISE_THREADS, 0, cu->stream>>>(*args);
        break;
    default:
        regroup<FROM, 4><<<grid, POINTWISE_THREADS, 0, cu->stream>>>(*args);
    }
    GI_CUDA_LAUNCHED();
    return GI_OK;
}

static enum gi_status by_words(struct gi_queue *queue, struct gi_image *dst,
                               const struct gi_image *srcs, const struct gi_permute_channels *spec,
                               struct gi_err *err)
{
    struct gi_cuda_queue *cu = gi_cuda(queue);
    struct regroup_args args = {};
    struct gi_border_spec border = {GI_BORDER_VALUE, {}};
    char value[GI_PIXEL_NBYTES_MAX];
    int nbytes = (int)gi_type_nbytes(dst->type), pixel = dst->channels * nbytes;
    int source = srcs->channels * nbytes, pixels = 1;
    memcpy(border.value, spec->value, sizeof border.value);
    gi_border_pixel(value, &border, dst);
    while (pixels * pixel % 4 || pixels * source % 4)
        pixels *= 2;
    args.dst = *dst;
    args.src = *srcs;
    args.from = pixels * source / 4;
    args.to = pixels * pixel / 4;
    args.from_pieces = pieces_of(srcs);
    args.to_pieces = pieces_of(dst);
    for (int j = 0; j < args.to; j++) {
        for (int k = 0; k < args.from; k++)
            args.pick[j][k] = 0x1111u * KEEP + 0x3210u;
        for (int b = 0; b < 4; b++) {
            int at = 4 * j + b, c = at % pixel / nbytes;
            ((char *)&args.value[j])[b] = value[at % pixel];
            if (spec->from[c].source < 0)
                continue;
            int from = at / pixel * source + spec->from[c].channel * nbytes + at % nbytes;
            unsigned *pick = &args.pick[j][from / 4];
            *pick = (*pick & ~(15u << 4 * b)) | (unsigned)(from % 4) << 4 * b;
        }
    }
    GI_CUDA_CHANNELS(args.from, regroup_launch<CHANNELS>(cu, &args, err));
}

/* Time of each way in us on an H100, 8192 x 8192, 8-bit RGB. Reversed: words 137. words costs
 * 16 kernels. */
const struct gi_permute_channels_way gi_cuda_permute_channels_ways[GI_WAYS_MAX] = {
    {{"words", "channels of one image"}, regroup_takes, by_words},
    {{"samples", "everything"}, NULL, by_samples},
};
