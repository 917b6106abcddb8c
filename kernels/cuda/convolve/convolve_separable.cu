/* Separable convolution. Few taps slide: by the march, which keeps the rows under way in a ring and
 * all sums in registers, or by the ribbon, which filters rows ahead into shared memory. More, and
 * what is rare, go row by row through a scratch.
 * SPDX-License-Identifier: MIT */
#include "kernels/cuda/convolve/convolve_separable.h"

#include "kernels/cuda/common/march.cuh"

template <typename T, int CHANNELS, int N, int WORDS>
static enum gi_status launch(struct gi_cuda_queue *cu, struct gi_image *dst,
                             const struct gi_image *src, const struct gi_separable *spec,
                             struct gi_err *err)
{
    struct march_args<MARCH_SEPARABLE, N> args = {
    };
    struct raw_scale scale = raw_scale_of(src->type, spec->row, spec->nrow);
    args.src = source_of(src, &spec->edge, spec->alpha);
    args.rule = rule_of(src, spec->alpha, &spec->finish, spec->sum);
    float *row = args.weights.w + N / 2 - spec->row_anchor;
    float *col = args.weights.w + N + N / 2 - spec->col_anchor;
    weights_scale(row, spec->row, spec->nrow, scale.weights);
    weights_scale(col, spec->col, spec->ncol, scale.rest);
    return march_launch<MARCH_SEPARABLE, T, CHANNELS, N, WORDS>(cu, dst, src, &args, err);
}

/* The largest N that is compiled for a type and number of channels: beyond it the sums in flight no
 * longer fit in registers, or the case is rare. Rows of gray need the fewest. */
static constexpr int march_limit(int channels, size_t sample_nbytes)
{
    bool u8 = sample_nbytes == 1;
    return channels == 1 ? (u8 ? 15 : 9) : channels == 2 ? 0 : u8 ? 7 : 5;
}

template <typename T, int CHANNELS, int WORDS>
static enum gi_status launch_size(struct gi_cuda_queue *cu, struct gi_image *dst,
                                  const struct gi_image *src, const struct gi_separable *spec,
                                  int n, struct gi_err *err)
{
    enum { LIMIT = march_limit(CHANNELS, sizeof(T)) };
    if (n == 3)
        return launch<T, CHANNELS, 3, WORDS>(cu, dst, src, spec, err);
    if (n == 5)
        return launch<T, CHANNELS, 5, WORDS>(cu, dst, src, spec, err);
    if (n == 7)
        return launch < T, CHANNELS, LIMIT < 7 ? LIMIT : 7, WORDS > (cu, dst, src, spec, err);
    if (n == 9)
        return launch < T, CHANNELS, LIMIT < 9 ? LIMIT : 9, WORDS > (cu, dst, src, spec, err);
    return launch<T, CHANNELS, LIMIT, WORDS>(cu, dst, src, spec, err);
}

template <typename T, int WORDS>
static enum gi_status launch_type(struct gi_cuda_queue *cu, struct gi_image *dst,
                                  const struct gi_image *src, const struct gi_separable *spec,
                                  int n, struct gi_err *err)
{
    if (src->channels == 1)
        return launch_size<T, 1, WORDS>(cu, dst, src, spec, n, err);
    if (src->channels == 3)
        return launch_size<T, 3, WORDS>(cu, dst, src, spec, n, err);
    return launch_size<T, 4, WORDS>(cu, dst, src, spec, n, err);
}

/* The N of the march that takes `spec`, or 0. Taps may be padded with zeros to a centred N where
 * that can't be seen: not where samples can be infinite or the sign of a zero shows (GI_F32). */
static int march_size(const struct gi_image *src, const struct gi_separable *spec)
{
    int nrow = march_centred(spec->nrow, spec->row_anchor);
    int ncol = march_centred(spec->ncol, spec->col_anchor);
    int n = nrow > ncol ? nrow : ncol;
    n = n < 3 ? 3 : n;
    if (n > march_limit(src->channels, gi_type_nbytes(src->type)) || !march_holds(src, &spec->edge))
        return 0;
    n = n == 11 || n == 13 ? 15 : n;
    if (src->type == GI_F32)
        return spec->nrow == n && spec->ncol == n ? n : 0;
    double most = march_most(spec->row, spec->nrow) * march_most(spec->col, spec->ncol);
    double least = march_least(spec->row, spec->nrow) * march_least(spec->col, spec->ncol);
    bool fits = most < MARCH_MOST && raw_fits(src->type, spec->row, spec->nrow, 1) &&
                march_divides(src, spec->alpha, least, most, spec->sum);
    return fits ? n : 0;
}

static bool sliding_takes(const struct gi_queue *queue, const struct gi_image *src,
                          const struct gi_separable *spec)
{
    return march_size(src, spec) || gi_cuda_ribbon_takes(src, spec);
}

static enum gi_status sliding_run(struct gi_queue *queue, struct gi_image *dst,
                                  const struct gi_image *src, const struct gi_separable *spec,
                                  struct gi_err *err)
{
    struct gi_cuda_queue *cu = gi_cuda(queue);
    int n = march_size(src, spec);
    if (n == 0)
        return gi_cuda_ribbon(cu, dst, src, spec, err);
    GI_CUDA_TYPES(src->type, launch_type<T, 4>(cu, dst, src, spec, n, err));
}

static const struct gi_convolve_separable_way ways[] = {
    {{"sliding", "few taps: the sums in flight stay in registers"}, sliding_takes, sliding_run},
    {{"rows", "any number of taps"}, NULL, gi_cuda_separable_rows},
};

const struct gi_ways gi_cuda_convolve_separable_ways =
    GI_WAYS(convolve_separable, GI_SAMPLE_TYPES, ways);

enum gi_status gi_cuda_convolve_separable(struct gi_queue *queue, struct gi_image *dst,
                                          const struct gi_image *src,
                                          const struct gi_separable *spec, struct gi_err *err)
{
    GI_WAYS_RUN(gi_cuda_convolve_separable_ways, ways, queue, src, (queue, src, spec),
                (queue, dst, src, spec, err), err);
}
