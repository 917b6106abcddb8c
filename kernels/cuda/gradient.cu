/* Gradient magnitude, by the march.
 * SPDX-License-Identifier: MIT */
#include "kernels/cuda/march.cuh"

template <typename T, int CHANNELS, int WORDS>
static enum gi_status launch(struct gi_cuda_context *cu, struct gi_image *dst,
                             const struct gi_image *src, const struct gi_gradient *spec,
                             struct gi_err *err)
{
    const struct gi_finish store = {GI_FINISH_STORE, 0, 0, 0};
    struct march_args<MARCH_GRADIENT, 3> args = {
    };
    args.src = source_of(src, &spec->edge, spec->alpha);
    args.rule = rule_of(src, spec->alpha, &store, 1);
    for (int i = 0; i < 3; i++)
        args.weights.w[i] = spec->smooth[i];
    return march_launch<MARCH_GRADIENT, T, CHANNELS, 3, WORDS>(cu, dst, src, &args, err);
}

template <typename T, int WORDS>
static enum gi_status launch_type(struct gi_cuda_context *cu, struct gi_image *dst,
                                  const struct gi_image *src, const struct gi_gradient *spec,
                                  struct gi_err *err)
{
    switch (src->channels) {
    case 1:
        return launch<T, 1, WORDS>(cu, dst, src, spec, err);
    case 2:
        return launch<T, 2, WORDS>(cu, dst, src, spec, err);
    case 3:
        return launch<T, 3, WORDS>(cu, dst, src, spec, err);
    default:
        return launch<T, 4, WORDS>(cu, dst, src, spec, err);
    }
}

enum gi_status gi_cuda_gradient(struct gi_context *cx, struct gi_image *dst,
                                const struct gi_image *src, const struct gi_gradient *spec,
                                struct gi_err *err)
{
    struct gi_cuda_context *cu = gi_cuda(cx);
    switch (src->type) {
    case GI_U8:
        return launch_type<uint8_t, 2>(cu, dst, src, spec, err);
    case GI_U16:
        return launch_type<uint16_t, 4>(cu, dst, src, spec, err);
    default:
        return launch_type<float, 4>(cu, dst, src, spec, err);
    }
}
