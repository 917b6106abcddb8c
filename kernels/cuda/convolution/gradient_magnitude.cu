/* Gradient magnitude of a 3 x 3 operator by a sliding window in registers (sliding_window.cuh). If
 * raw samples cannot represent the border values or the weights, one thread per sample computes the
 * result.
 * SPDX-License-Identifier: MIT */
#include <math.h>

#include "kernels/cuda/common/sliding_window.cuh"
#include "kernels/convolution.h"

struct any_args {
    struct source src;
    struct target dst;
    struct rule rule;
    float smooth[3];
};

/* There is one thread per sample of a row. A block processes every gridDim.y-th row. */
static __global__ void gradient_any(const __grid_constant__ struct any_args args)
{
    const struct source *src = &args.src;
    int at = (int)(blockIdx.x * blockDim.x + threadIdx.x), x = at / src->channels;
    int c = at % src->channels;
    if (x >= src->width)
        return;
    for (int y = (int)blockIdx.y; y < src->height; y += (int)gridDim.y) {
        float gx = 0, gy = 0;
        for (int j = 0; j < 3; j++) {
            float w[3], d = 0, r = 0;
            for (int i = 0; i < 3; i++) {
                w[i] = source_sample(src, x + i - 1, y + j - 1, c);
                d = __fmaf_rn((float)(i - 1), w[i], d);
                r = __fmaf_rn(args.smooth[i], w[i], r);
            }
            gx = __fmaf_rn(args.smooth[j], d, gx);
            gy = __fmaf_rn((float)(j - 1), r, gy);
        }
        store_any(src, &args.dst, &args.rule, (size_t)at, y,
                  __fsqrt_rn(__fmaf_rn(gx, gx, __fmul_rn(gy, gy))), 0);
    }
}

static enum gi_status launch_any(struct gi_cuda_queue *cu, const struct gi_image *src,
                                 const struct any_args *args, struct gi_err *err)
{
    dim3 grid(ceil_div((long long)gi_row_samples(src), 128),
              src->height < 65535 ? src->height : 65535);
    gradient_any<<<grid, 128, 0, cu->stream>>>(*args);
    GI_CUDA_LAUNCHED();
    return GI_OK;
}

static enum gi_status by_samples(struct gi_queue *queue, struct gi_image *dst,
                                 const struct gi_image *src,
                                 const struct gi_gradient_magnitude *spec, struct gi_err *err)
{
    struct gi_cuda_queue *cu = gi_cuda(queue);
    const struct gi_epilogue store = {GI_EPILOGUE_STORE, false, 0, 0, 0};
    struct any_args args = {source_of(src, &spec->border, spec->alpha),
                            target_of(dst),
                            rule_of(src, spec->alpha, &store, 1),
                            {spec->smooth[0], spec->smooth[1], spec->smooth[2]}};
    return launch_any(cu, src, &args, err);
}

template <int CHANNELS>
static enum gi_status launch(struct gi_cuda_queue *cu, struct gi_image *dst,
                             const struct gi_image *src, const struct gi_gradient_magnitude *spec,
                             struct gi_err *err)
{
    const struct gi_epilogue store = {GI_EPILOGUE_STORE, false, 0, 0, 0};
    struct sliding_args<SLIDING_GRADIENT, 3> args = {};
    args.src = source_of(src, &spec->border, spec->alpha);
    args.rule = rule_of(src, spec->alpha, &store, 1);
    args.whole = sliding_most(spec->smooth, 3) * gi_type_full_scale(src->type) < 1 << 24;
    struct raw_scale scale = raw_scale_of(src->type, spec->smooth, 3);
    args.unit = ldexpf(1, scale.rest);
    weights_scale(args.weights.w, spec->smooth, 3, scale.weights);
    for (int i = 0; i < 3; i++)
        args.whole = args.whole && spec->smooth[i] == rintf(spec->smooth[i]);
    return sliding_launch<SLIDING_GRADIENT, 7, CHANNELS, 3, 4>(cu, dst, src, &args, err);
}

/* Accepts work whose raw gradients are 0 or at least 2^-63, because their squares are then normal
 * floats with full precision. */
static bool sliding_takes(const struct gi_queue *queue, const struct gi_image *src,
                          const struct gi_gradient_magnitude *spec)
{
    return sliding_holds(src, &spec->border) &&
           (src->type == GI_F32 || (sliding_most(spec->smooth, 3) < SLIDING_MOST &&
                                    raw_fits(src->type, spec->smooth, 3, 0x1p86)));
}

static enum gi_status by_sliding(struct gi_queue *queue, struct gi_image *dst,
                                 const struct gi_image *src,
                                 const struct gi_gradient_magnitude *spec, struct gi_err *err)
{
    struct gi_cuda_queue *cu = gi_cuda(queue);
    GI_CUDA_CHANNELS(src->channels, launch<CHANNELS>(cu, dst, src, spec, err));
}

const struct gi_gradient_magnitude_way gi_cuda_gradient_magnitude_ways[GI_WAYS_MAX] = {
    {{"sliding", "borders and weights that raw samples can hold"}, sliding_takes, by_sliding},
    {{"samples", "everything"}, NULL, by_samples},
};
