/* Rolling ball (background subtraction), which is an erosion with a non-flat structuring element.
 * One thread per sample of the result visits all samples under the ball, adds to each sample the
 * height of the ball there, and takes the minimum of these sums.
 * SPDX-License-Identifier: MIT */
#include "kernels/cuda/convolution/box.cuh"
#include "kernels/morphology.h"

enum { ACROSS = 64, DOWN = 4 };

struct rolling_ball_args {
    struct source src; /* border values are samples */
    struct target dst;
    const float *heights; /* in device memory, as in struct gi_rolling_ball */
    int radius;
    bool keep;
    int16_t reach[GI_ROLLING_BALL_MAX + 1]; /* half width of row |j| of the ball */
};

/* Returns the minimum of `best` and of the sums of sample and height in row y, for channel c and a
 * ball with its centre in column x. `away` is the distance of row y from the centre, in rows. */
template <typename T>
static __device__ __forceinline__ float roll(const struct rolling_ball_args &args, float best,
                                             int x, int c, int y, int away)
{
    const struct source &src = args.src;
    const float *heights = args.heights + away * (args.radius + 1);
    int reach = args.reach[away], yi = gi_border_index(y, src.height, src.border);
    const T *row = (const T *)(src.data + (size_t)(yi < 0 ? 0 : yi) * src.stride) + c;
    bool inside = yi >= 0 && x >= reach && x + reach < src.width;
#pragma unroll 4
    for (int i = -reach; i <= reach; i++) {
        int xi = inside ? x + i : gi_border_index(x + i, src.width, src.border);
        float v = yi < 0 || xi < 0 ? src.value[c] : (float)row[(long long)xi * src.channels];
        float f = __fadd_rn(v, __ldg(heights + abs(i)));
        best = best > f ? f : best;
    }
    return best;
}

template <typename T>
static __device__ __forceinline__ void samples_make(const struct rolling_ball_args &args)
{
    const struct source &src = args.src;
    int channels = src.channels, sample = (int)(blockIdx.x * ACROSS + threadIdx.x);
    int x = sample / channels, c = sample % channels;
    if (x >= src.width)
        return;
    for (int y = (int)(blockIdx.y * DOWN + threadIdx.y); y < src.height; y += DOWN * gridDim.y) {
        T *out = (T *)(args.dst.data + (size_t)y * args.dst.stride) + sample;
        T s = ((const T *)(src.data + (size_t)y * src.stride))[sample];
        float best = INFINITY;
        if (channels % 2 == 0 && c == channels - 1) {
            *out = s;
            continue;
        }
        for (int j = -args.radius; j <= args.radius; j++)
            best = roll<T>(args, best, x, c, y + j, abs(j));
        sample_store(out, args.keep ? best : __fsub_rn((float)s, best));
    }
}

static __global__ void __launch_bounds__(ACROSS *DOWN)
    rolling_ball(const __grid_constant__ struct rolling_ball_args args)
{
    SAMPLE_TYPES(args.src.type, samples_make<T>(args));
}

static enum gi_status launch(struct gi_cuda_queue *cu, const struct rolling_ball_args *args,
                             struct gi_err *err)
{
    int down = ceil_div(args->src.height, DOWN);
    dim3 grid((unsigned)ceil_div((long long)args->src.width * args->src.channels, ACROSS),
              (unsigned)(down < 65535 ? down : 65535));
    rolling_ball<<<grid, dim3(ACROSS, DOWN), 0, cu->stream>>>(*args);
    GI_CUDA_LAUNCHED();
    return GI_OK;
}

static enum gi_status plain(struct gi_queue *queue, struct gi_image *dst,
                            const struct gi_image *src, const struct gi_rolling_ball *spec,
                            struct gi_err *err)
{
    struct gi_cuda_queue *cu = gi_cuda(queue);
    struct rolling_ball_args args = {};
    size_t n = (size_t)spec->radius + 1, nbytes = n * n * sizeof(float);
    void *heights;
    enum gi_status status = gi_cuda_scratch(cu, &heights, nbytes, err);
    if (!status)
        status = gi_cuda_copy_to_device(cu, heights, nbytes, spec->heights, nbytes, nbytes, 1, err);
    if (status)
        return status;
    struct gi_border_spec border =
        src->type == GI_F32 ? spec->border : box_border(src, &spec->border);
    args.src = source_of(src, &border, GI_ALPHA_PLAIN);
    args.dst = target_of(dst);
    args.heights = (const float *)heights;
    args.radius = spec->radius;
    args.keep = spec->keep;
    for (int j = 0; j <= spec->radius; j++)
        args.reach[j] = (int16_t)gi_rolling_ball_reach(spec, j);
    return launch(cu, &args, err);
}

const struct gi_rolling_ball_way gi_cuda_rolling_ball_ways[GI_WAYS_MAX] = {
    {{"plain", "everything"}, NULL, plain},
};
