/* Shuffling channels: a thread makes 16 bytes of a row from samples that neighbours read too.
 * SPDX-License-Identifier: MIT */
#include "kernels/cuda/move/move.cuh"

struct shuffle_args {
    struct gi_image dst;
    const char *from[GI_MAX_CHANNELS]; /* the first sample of channel c; NULL: value[c] */
    size_t stride[GI_MAX_CHANNELS];
    int step[GI_MAX_CHANNELS]; /* samples */
    uint32_t value[GI_MAX_CHANNELS];
    int pieces;
};

/* The channels of a piece's samples, from its first one on: their order begins anew after CHANNELS.
 */
template <typename T, int CHANNELS>
static __global__ void __launch_bounds__(POINT_THREADS) shuffle(struct shuffle_args args)
{
    enum { N = PIECE / (int)sizeof(T) };
    int x = (int)(blockIdx.x * POINT_THREADS + threadIdx.x);
    if (x >= args.pieces)
        return;
    const char *from[CHANNELS];
    size_t stride[CHANNELS];
    int step[CHANNELS], left[CHANNELS]; /* bytes; pixels that there are */
    T value[CHANNELS];
#pragma unroll
    for (int k = 0; k < CHANNELS; k++) {
        int pixel = (x * N + k) / CHANNELS, c = (x * N + k) % CHANNELS;
        step[k] = args.step[c] * (int)sizeof(T);
        from[k] = args.from[c] + (size_t)pixel * (unsigned)step[k];
        stride[k] = args.stride[c];
        left[k] = args.from[c] ? args.dst.width - pixel : 0;
        value[k] = (T)args.value[c];
    }
    for (int y = (int)blockIdx.y; y < args.dst.height; y += (int)gridDim.y) {
        union {
            uint4 piece;
            T samples[N];
        } made;
#pragma unroll
        for (int i = 0; i < N; i++) {
            const int k = i % CHANNELS, n = i / CHANNELS;
            made.samples[i] = n < left[k]
                                  ? *(const T *)(from[k] + (size_t)y * stride[k] + n * step[k])
                                  : value[k];
        }
        *piece_at(args.dst, x, y) = made.piece;
    }
}

template <typename T> static void launch(struct gi_cuda_queue *cu, const struct shuffle_args &args)
{
    dim3 grid = point_grid(args.pieces, args.dst.height);
    switch (args.dst.channels) {
    case 1:
        shuffle<T, 1><<<grid, POINT_THREADS, 0, cu->stream>>>(args);
        break;
    case 2:
        shuffle<T, 2><<<grid, POINT_THREADS, 0, cu->stream>>>(args);
        break;
    case 3:
        shuffle<T, 3><<<grid, POINT_THREADS, 0, cu->stream>>>(args);
        break;
    default:
        shuffle<T, 4><<<grid, POINT_THREADS, 0, cu->stream>>>(args);
    }
}

static enum gi_status by_pieces(struct gi_queue *queue, struct gi_image *dst,
                                const struct gi_image *srcs, const struct gi_shuffle *spec,
                                struct gi_err *err)
{
    struct gi_cuda_queue *cu = gi_cuda(queue);
    struct shuffle_args args = {};
    struct gi_edge edge = {GI_BORDER_VALUE, {}};
    char value[GI_PIXEL_NBYTES_MAX];
    size_t nbytes = gi_type_nbytes(dst->type);
    memcpy(edge.value, spec->value, sizeof edge.value);
    gi_edge_pixel(value, &edge, dst);
    args.dst = *dst;
    args.pieces = pieces_of(dst);
    for (int c = 0; c < dst->channels; c++) {
        int s = spec->from[c].source;
        memcpy(&args.value[c], value + (size_t)c * nbytes, nbytes);
        if (s < 0)
            continue;
        args.from[c] = (const char *)srcs[s].data + (size_t)spec->from[c].channel * nbytes;
        args.stride[c] = srcs[s].stride;
        args.step[c] = srcs[s].channels;
    }
    if (dst->type == GI_U8)
        launch<uint8_t>(cu, args);
    else if (dst->type == GI_U16)
        launch<uint16_t>(cu, args);
    else
        launch<uint32_t>(cu, args);
    GI_CUDA_LAUNCHED();
    return GI_OK;
}

static const struct gi_shuffle_way ways[] = {
    {{"pieces", "everything"}, NULL, by_pieces},
};

const struct gi_ways gi_cuda_shuffle_ways = GI_WAYS(shuffle, GI_SAMPLE_TYPES, ways);

enum gi_status gi_cuda_shuffle(struct gi_queue *queue, struct gi_image *dst,
                               const struct gi_image *srcs, const struct gi_shuffle *spec,
                               struct gi_err *err)
{
    GI_WAYS_RUN(gi_cuda_shuffle_ways, ways, queue, srcs, (queue, srcs, spec),
                (queue, dst, srcs, spec, err), err);
}
