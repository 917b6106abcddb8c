/* Dense convolution: choice of the implementation. Small square kernels, and kernels that become
 * such if padded with zeros, use the sliding window in registers (sliding_window.cuh). Larger
 * kernels are computed in tiles (dense_tiles.cu). textbook.cu is the reference.
 * SPDX-License-Identifier: MIT */
#include "kernels/cuda/convolution/convolve_2d.h"
#include "kernels/cuda/common/sliding_window.cuh"
#include "kernels/convolution.h"

template <int CHANNELS, int N>
static enum gi_status launch(struct gi_cuda_queue *cu, struct gi_image *dst,
                             const struct gi_image *src, const struct gi_dense *spec,
                             struct gi_err *err)
{
    struct sliding_args<SLIDING_DENSE, N> args = {};
    args.src = source_of(src, &spec->border, spec->alpha);
    args.rule = rule_of(src, spec->alpha, &spec->epilogue, spec->sum);
    struct raw_scale scale = raw_scale_of(src->type, spec->weights, spec->width * spec->height);
    args.unit = ldexpf(1, scale.rest);
    float *first = args.weights.w + (N / 2 - spec->anchor_y) * N + N / 2 - spec->anchor_x;
    for (int j = 0; j < spec->height; j++)
        weights_scale(first + j * N, spec->weights + j * spec->width, spec->width, scale.weights);
    return sliding_launch<SLIDING_DENSE, 7, CHANNELS, N, 4>(cu, dst, src, &args, err);
}

static enum gi_status launch_size(struct gi_cuda_queue *cu, struct gi_image *dst,
                                  const struct gi_image *src, const struct gi_dense *spec, int n,
                                  struct gi_err *err)
{
    if (src->channels == 3)
        return n == 3 ? launch<3, 3>(cu, dst, src, spec, err)
                      : launch<3, 5>(cu, dst, src, spec, err);
    if (src->channels == 4)
        return n == 3 ? launch<4, 3>(cu, dst, src, spec, err)
                      : launch<4, 5>(cu, dst, src, spec, err);
    return n == 3   ? launch<1, 3>(cu, dst, src, spec, err)
           : n == 5 ? launch<1, 5>(cu, dst, src, spec, err)
           : n == 7 ? launch<1, 7>(cu, dst, src, spec, err)
                    : launch<1, 9>(cu, dst, src, spec, err);
}

/* Returns the N of the sliding window, or 0 if other kernels are used, like sliding_size() of
 * convolve_separable.cu. Padding must not cost more than the sliding window saves. N > 5 is only
 * compiled for gray with the plain epilogue. */
static int sliding_size(const struct gi_image *src, const struct gi_dense *spec)
{
    int nx = sliding_centred(spec->width, spec->anchor_x);
    int ny = sliding_centred(spec->height, spec->anchor_y), n = nx > ny ? nx : ny;
    n = n < 3 ? 3 : n;
    if (!sliding_holds(src, &spec->border))
        return 0;
    if (src->channels == 2 || n > (src->channels == 1 && epilogue_stores(&spec->epilogue) ? 9 : 5))
        return 0;
    if (src->type == GI_F32)
        return spec->width == n && spec->height == n ? n : 0;
    int nweights = spec->width * spec->height;
    double most = sliding_most(spec->weights, nweights),
           least = sliding_least(spec->weights, nweights);
    bool fits = most < SLIDING_MOST && raw_fits(src->type, spec->weights, nweights, 1) &&
                sliding_divides(src, spec->alpha, least, most, spec->sum);
    return fits ? n : 0;
}

static bool sliding_takes(const struct gi_queue *queue, const struct gi_image *src,
                          const struct gi_dense *spec)
{
    return sliding_size(src, spec) > 0;
}

static enum gi_status sliding_run(struct gi_queue *queue, struct gi_image *dst,
                                  const struct gi_image *src, const struct gi_dense *spec,
                                  struct gi_err *err)
{
    return launch_size(gi_cuda(queue), dst, src, spec, sliding_size(src, spec), err);
}

static bool tiles_takes(const struct gi_queue *queue, const struct gi_image *src,
                        const struct gi_dense *spec)
{
    return true;
}

/* Time of each way in us on an H100, 8192 x 8192, 8-bit gray. 5 x 5: sliding 78, tiles 161,
 * textbook 1263. 15 x 15: tiles 613, textbook 12765. */
const struct gi_convolve_2d_way gi_cuda_convolve_2d_ways[GI_WAYS_MAX] = {
    {{"sliding", "up to 9 x 9: the sums in flight stay in registers"}, sliding_takes, sliding_run},
    {{"tiles", "larger kernels: 64 sums of a thread share each load"},
     tiles_takes,
     gi_cuda_dense_tiles},
    {{"textbook", "everything; the others are held against it"}, NULL, gi_cuda_textbook},
};
