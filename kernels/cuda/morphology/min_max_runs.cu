/* Min/max filter with a structuring element of any shape, given as short runs of pixels. One thread
 * per sample visits the whole structuring element.
 * SPDX-License-Identifier: MIT */
#include "kernels/cuda/morphology/min_max.cuh"
#include "kernels/morphology.h"

enum { ACROSS = 64, DOWN = 4 };

struct runs_args {
    struct source src; /* border values are samples */
    struct target dst;
    unsigned turn; /* all ones for a maximum */
    bool keep_alpha;
    int left, right; /* pixels of the structuring element left and right of (x, y) */
    int n;
    struct gi_footprint_run runs[GI_RUNS_MAX];
};

/* Returns the minimum of n pixels of a row from x on. Some pixels may be outside the image. */
template <typename T>
static __device__ __forceinline__ unsigned least_of(const struct runs_args &args, const T *row,
                                                    int x, int n, int c, bool inside)
{
    unsigned best = ~0u;
    int channels = args.src.channels;
    if (inside) {
        const T *p = row + (long long)x * channels + c;
#pragma unroll 8
        for (int i = 0; i < n; i++, p += channels)
            best = min(best, min_max_number<T>(*p, args.turn));
        return best;
    }
    for (int i = 0; i < n; i++) {
        int xi = gi_border_index(x + i, args.src.width, args.src.border);
        T v = xi < 0 ? (T)args.src.value[c] : row[(size_t)xi * channels + c];
        best = min(best, min_max_number<T>(v, args.turn));
    }
    return best;
}

template <typename T>
static __device__ __forceinline__ void samples_make(const struct runs_args &args)
{
    const struct source &src = args.src;
    int channels = src.channels, sample = (int)(blockIdx.x * ACROSS + threadIdx.x);
    int x = sample / channels, c = sample % channels;
    bool inside = x >= args.left && x + args.right < src.width;
    if (x >= src.width)
        return;
    for (int y = (int)(blockIdx.y * DOWN + threadIdx.y); y < src.height; y += DOWN * gridDim.y) {
        T *out = (T *)(args.dst.data + (size_t)y * args.dst.stride) + sample;
        unsigned best = ~0u;
        if (args.keep_alpha && c == channels - 1) {
            *out = ((const T *)(src.data + (size_t)y * src.stride))[sample];
            continue;
        }
        for (int i = 0; i < args.n; i++) {
            const struct gi_footprint_run &run = args.runs[i];
            int yi = gi_border_index(y + run.y, src.height, src.border);
            const T *row = (const T *)(src.data + (size_t)yi * src.stride);
            unsigned least =
                yi < 0 ? min_max_number<T>((T)src.value[c], args.turn)
                       : least_of<T>(args, row, x + run.first, run.last - run.first + 1, c, inside);
            best = min(best, least);
        }
        *out = min_max_sample<T>(best, args.turn);
    }
}

static __global__ void __launch_bounds__(ACROSS *DOWN)
    min_max_runs(const __grid_constant__ struct runs_args args)
{
    SAMPLE_TYPES(args.src.type, samples_make<T>(args));
}

bool gi_cuda_min_max_runs_takes(const struct gi_queue *queue, const struct gi_image *src,
                                const struct gi_min_max *spec)
{
    (void)queue, (void)src;
    return spec->runs != NULL;
}

static enum gi_status launch(struct gi_cuda_queue *cu, const struct runs_args *args,
                             struct gi_err *err)
{
    int down = ceil_div(args->src.height, DOWN);
    dim3 grid((unsigned)ceil_div((long long)args->src.width * args->src.channels, ACROSS),
              (unsigned)(down < 65535 ? down : 65535));
    min_max_runs<<<grid, dim3(ACROSS, DOWN), 0, cu->stream>>>(*args);
    GI_CUDA_LAUNCHED();
    return GI_OK;
}

enum gi_status gi_cuda_min_max_runs(struct gi_queue *queue, struct gi_image *dst,
                                    const struct gi_image *src, const struct gi_min_max *spec,
                                    struct gi_err *err)
{
    struct gi_cuda_queue *cu = gi_cuda(queue);
    struct runs_args args = {};
    struct gi_border_spec border = min_max_border(src, &spec->border);
    args.src = source_of(src, &border, GI_ALPHA_PLAIN);
    args.dst = target_of(dst);
    args.turn = spec->greatest ? ~0u : 0;
    args.keep_alpha = gi_has_alpha(src) && !spec->alpha_too;
    args.n = spec->nruns;
    for (int i = 0; i < spec->nruns; i++) {
        args.runs[i] = spec->runs[i];
        args.left = -spec->runs[i].first > args.left ? -spec->runs[i].first : args.left;
        args.right = spec->runs[i].last > args.right ? spec->runs[i].last : args.right;
    }
    return launch(cu, &args, err);
}
