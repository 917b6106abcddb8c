/* Warping by plain loads: any image, any map, any border. A block owns a tile of 32 x 32 pixels of
 * the result, which comes from a patch of the source that is about as high as wide; a thread
 * WARP_ACROSS pixels side by side. Pixels with all taps in the source load them; others ask what
 * stands there, tap by tap. SPDX-License-Identifier: MIT */
#include "kernels/cuda/warp/warp.h"
#include "kernels/cuda/warp/warp.cuh"

/* All taps in the source. */
template <typename T, int CHANNELS, int HOW>
static __device__ __forceinline__ void inside_pixel(float *f, const struct warp_args *args, int x,
                                                    int row, float t, float u)
{
    constexpr int TAPS = HOW == GI_NEAREST ? 1 : HOW == GI_LINEAR ? 2 : 4;
    constexpr int BEFORE = HOW == GI_CUBIC;
    const char *at = args->src.data + (size_t)(row - BEFORE) * args->src.stride +
                     (size_t)(x - BEFORE) * CHANNELS * sizeof(T);
    float wx[4], wy[4], r[TAPS][CHANNELS];
    if (HOW == GI_CUBIC) {
        gi_warp_weights(wx, args->cubic, t);
        gi_warp_weights(wy, args->cubic, u);
    }
#pragma unroll
    for (int j = 0; j < TAPS; j++) {
        float v[TAPS][CHANNELS];
#pragma unroll
        for (int i = 0; i < TAPS; i++)
#pragma unroll
            for (int c = 0; c < CHANNELS; c++)
                v[i][c] = warp_float(((const T *)at)[i * CHANNELS + c]);
        if (CHANNELS % 2 == 0 && HOW != GI_NEAREST && args->weigh)
#pragma unroll
            for (int i = 0; i < TAPS; i++)
#pragma unroll
                for (int c = 0; c < CHANNELS - 1; c++)
                    v[i][c] = __fmul_rn(v[i][c], v[i][CHANNELS - 1]);
#pragma unroll
        for (int c = 0; c < CHANNELS; c++) {
            r[j][c] = HOW == GI_CUBIC ? 0 : v[0][c];
            if (HOW == GI_LINEAR)
                r[j][c] = warp_mix<T>(v[0][c], v[TAPS - 1][c], t);
            for (int i = 0; HOW == GI_CUBIC && i < TAPS; i++)
                r[j][c] = warp_tap<T>(wx[i], v[i][c], r[j][c]);
        }
        at += args->src.stride;
    }
#pragma unroll
    for (int c = 0; c < CHANNELS; c++) {
        f[c] = HOW == GI_CUBIC ? 0 : r[0][c];
        if (HOW == GI_LINEAR)
            f[c] = warp_mix<T>(r[0][c], r[TAPS - 1][c], u);
        for (int j = 0; HOW == GI_CUBIC && j < TAPS; j++)
            f[c] = warp_tap<T>(wy[j], r[j][c], f[c]);
    }
    if (HOW != GI_NEAREST)
        warp_unweigh<CHANNELS>(f, args);
}

template <typename T, int CHANNELS, int HOW>
static __global__ void __launch_bounds__(WARP_WIDE *WARP_TALL)
    plain(const __grid_constant__ struct warp_args args)
{
    constexpr int BEFORE = HOW == GI_CUBIC, BEHIND = HOW == GI_NEAREST ? 0 : 1 + BEFORE;
    int x = (int)(blockIdx.x * WARP_WIDE + threadIdx.x) * WARP_ACROSS;
    int y = (int)(blockIdx.y * WARP_TALL + threadIdx.y);
    if (x >= args.dst_width || y >= args.dst_height)
        return;
    struct gi_place at[WARP_ACROSS];
    warp_places(at, &args, x, args.dst_y + y);
    float f[WARP_ACROSS * CHANNELS];
#pragma unroll
    for (int i = 0; i < WARP_ACROSS; i++) {
        int64_t half = HOW == GI_NEAREST ? 1 << (GI_PLACE_BITS - 1) : 0;
        int from_x = warp_whole(at[i].x + half), from_y = warp_whole(at[i].y + half);
        int row = from_y - args.src_y;
        float t = warp_part(at[i].x), u = warp_part(at[i].y);
        bool inside = from_x >= BEFORE && from_x < args.src.width - BEHIND && row >= BEFORE &&
                      row < args.src.height - BEHIND;
        if (inside)
            inside_pixel<T, CHANNELS, HOW>(f + i * CHANNELS, &args, from_x, row, t, u);
        else
            warp_anywhere<T, CHANNELS, HOW>(f + i * CHANNELS, &args, from_x, from_y, t, u);
    }
    T *out = (T *)(args.dst.data + (size_t)y * args.dst.stride) + (size_t)x * CHANNELS;
    constexpr int PER = 4 / (int)sizeof(T); /* samples of a word */
    if (x + WARP_ACROSS <= args.dst_width) {
#pragma unroll
        for (int i = 0; i < WARP_ACROSS * CHANNELS / PER; i++)
            ((unsigned *)out)[i] = sample_pack<T>(f + i * PER);
        return;
    }
    for (int i = 0; i < WARP_ACROSS && x + i < args.dst_width; i++)
        for (int c = 0; c < CHANNELS; c++)
            sample_store(out + i * CHANNELS + c, f[i * CHANNELS + c]);
}

template <typename T, int CHANNELS>
static enum gi_status launch(struct gi_cuda_queue *cu, const struct warp_args *args,
                             enum gi_interpolation how, struct gi_err *err)
{
    dim3 block(WARP_WIDE, WARP_TALL);
    dim3 grid(ceil_div(args->dst_width, WARP_WIDE * WARP_ACROSS),
              ceil_div(args->dst_height, WARP_TALL));
    if (how == GI_NEAREST)
        plain<T, CHANNELS, GI_NEAREST><<<grid, block, 0, cu->stream>>>(*args);
    else if (how == GI_LINEAR)
        plain<T, CHANNELS, GI_LINEAR><<<grid, block, 0, cu->stream>>>(*args);
    else
        plain<T, CHANNELS, GI_CUBIC><<<grid, block, 0, cu->stream>>>(*args);
    GI_CUDA_LAUNCHED();
    return GI_OK;
}

template <typename T>
static enum gi_status launch_type(struct gi_cuda_queue *cu, const struct warp_args *args,
                                  enum gi_interpolation how, struct gi_err *err)
{
    GI_CUDA_CHANNELS(args->src.channels, launch<T, CHANNELS>(cu, args, how, err));
}

enum gi_status gi_cuda_warp_plain(struct gi_cuda_queue *cu, const struct warp_args *args,
                                  enum gi_interpolation how, struct gi_err *err)
{
    GI_CUDA_TYPES(args->src.type, launch_type<T>(cu, args, how, err));
}
