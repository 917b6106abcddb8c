/* Separable convolution: choice of the implementation. Up to 15 taps (31 of gray floats) use the
 * sliding window in registers (sliding_window.cuh), with source rows in a ring buffer and all
 * partial sums in registers. Up to 61 taps use the sliding window in shared memory
 * (sliding_window_shared.cu), which filters rows into shared memory first. More taps, and rare
 * cases, use two passes with a scratch image (separable_rows.cu).
 * SPDX-License-Identifier: MIT */
#include "kernels/cuda/convolution/convolve_separable.h"

#include "kernels/cuda/common/sliding_window.cuh"

/* Returns the largest N that is compiled for a type and number of channels. A larger N is not
 * compiled if the sliding window in shared memory is faster, if a warp cannot copy the halo, or if
 * the case is rare. */
static constexpr int sliding_limit(int channels, int nbytes)
{
    return channels == 1   ? nbytes == 4 ? 31 : 15
           : channels == 2 ? nbytes == 1 ? 15 : 0
           : channels == 3 ? 11
           : nbytes == 4   ? 5
                           : 9;
}

/* Returns the number of 32-bit words of a row per thread. With many taps the number is lower, so
 * that the partial sums fit in registers. */
static constexpr int sliding_words(int channels, int n)
{
    return channels == 1 && n > 23 ? 2 : 4;
}

template <int CHANNELS, int N>
static enum gi_status launch(struct gi_cuda_queue *cu, struct gi_image *dst,
                             const struct gi_image *src, const struct gi_separable *spec,
                             struct gi_err *err)
{
    constexpr int TYPES = (N <= sliding_limit(CHANNELS, 1) ? 1 : 0) |
                          (N <= sliding_limit(CHANNELS, 2) ? 2 : 0) |
                          (N <= sliding_limit(CHANNELS, 4) ? 4 : 0);
    struct sliding_args<SLIDING_SEPARABLE, N> args = {};
    struct raw_scale scale = raw_scale_of(src->type, spec->row, spec->nrow);
    args.src = source_of(src, &spec->border, spec->alpha);
    args.rule = rule_of(src, spec->alpha, &spec->epilogue, spec->sum);
    float *row = args.weights.w + N / 2 - spec->row_anchor;
    float *col = args.weights.w + N + N / 2 - spec->col_anchor;
    weights_scale(row, spec->row, spec->nrow, scale.weights);
    weights_scale(col, spec->col, spec->ncol, scale.rest);
    return sliding_launch<SLIDING_SEPARABLE, TYPES, CHANNELS, N, sliding_words(CHANNELS, N)>(
        cu, dst, src, &args, err);
}

/* Launches the kernel with the smallest compiled N that is at least n. */
template <int CHANNELS, int N, int... MORE>
static enum gi_status launch_size(struct gi_cuda_queue *cu, struct gi_image *dst,
                                  const struct gi_image *src, const struct gi_separable *spec,
                                  int n, struct gi_err *err)
{
    if constexpr (sizeof...(MORE) > 0)
        if (n > N)
            return launch_size<CHANNELS, MORE...>(cu, dst, src, spec, n, err);
    return launch<CHANNELS, N>(cu, dst, src, spec, err);
}

/* Every odd N is compiled for gray and RGB, because taps of floats are never padded. */
static enum gi_status launch_channels(struct gi_cuda_queue *cu, struct gi_image *dst,
                                      const struct gi_image *src, const struct gi_separable *spec,
                                      int n, struct gi_err *err)
{
    switch (src->channels) {
    case 1:
        return launch_size<1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31>(cu, dst, src,
                                                                                      spec, n, err);
    case 2:
        return launch_size<2, 5, 9, 15>(cu, dst, src, spec, n, err);
    case 3:
        return launch_size<3, 3, 5, 7, 9, 11>(cu, dst, src, spec, n, err);
    default:
        return launch_size<4, 3, 5, 7, 9>(cu, dst, src, spec, n, err);
    }
}

/* Returns the N of the sliding window in registers for this work, or 0. Taps may be padded with
 * zeros to a centred N only if the result cannot change. With GI_F32 the result could change,
 * because samples may be infinite and the sign of a zero is visible. */
static int sliding_size(const struct gi_image *src, const struct gi_separable *spec)
{
    int nrow = sliding_centred(spec->nrow, spec->row_anchor);
    int ncol = sliding_centred(spec->ncol, spec->col_anchor);
    int n = nrow > ncol ? nrow : ncol;
    n = n < 3 ? 3 : n;
    if (n > sliding_limit(src->channels, (int)gi_type_nbytes(src->type)) ||
        !sliding_holds(src, &spec->border))
        return 0;
    if (src->type == GI_F32)
        return spec->nrow == n && spec->ncol == n ? n : 0;
    double most = sliding_most(spec->row, spec->nrow) * sliding_most(spec->col, spec->ncol);
    double least = sliding_least(spec->row, spec->nrow) * sliding_least(spec->col, spec->ncol);
    bool fits = most < SLIDING_MOST && raw_fits(src->type, spec->row, spec->nrow, 1) &&
                sliding_divides(src, spec->alpha, least, most, spec->sum);
    return fits ? n : 0;
}

static bool registers_takes(const struct gi_queue *queue, const struct gi_image *src,
                            const struct gi_separable *spec)
{
    return sliding_size(src, spec) > 0;
}

static enum gi_status registers(struct gi_queue *queue, struct gi_image *dst,
                                const struct gi_image *src, const struct gi_separable *spec,
                                struct gi_err *err)
{
    return launch_channels(gi_cuda(queue), dst, src, spec, sliding_size(src, spec), err);
}

/* Time of each way in us on an H100, 8192 x 8192, 8-bit gray. 5 taps: registers 58, rows 398. 31
 * taps: shared 208, rows 540. */
const struct gi_convolve_separable_way gi_cuda_convolve_separable_ways[GI_WAYS_MAX] = {
    {{"registers", "up to 15 taps, 31 of gray floats: a sliding window in registers"},
     registers_takes,
     registers},
    {{"shared",
      "up to 61 taps of gray, 8-bit RGB and RGBA, 31 of 16-bit RGB: a sliding window in shared "
      "memory"},
     gi_cuda_sliding_shared_takes,
     gi_cuda_sliding_shared},
    {{"rows", "any number of taps"}, NULL, gi_cuda_separable_rows},
};
