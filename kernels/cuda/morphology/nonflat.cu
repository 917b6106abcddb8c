/* Non-flat morphology: erosion or dilation with a structuring element that has heights, for example
 * the ball of Sternberg's background estimate. One thread per sample of the result visits all
 * pixels of the structuring element, subtracts the height from each sample, and takes the minimum.
 * A maximum is the negative of the minimum of negative samples.
 * SPDX-License-Identifier: MIT */
#include "kernels/cuda/convolution/box.cuh"
#include "kernels/morphology.h"

enum { ACROSS = 64, DOWN = 4 };

struct nonflat_args {
    struct source src; /* border values are samples */
    struct target dst;
    const float *heights; /* in device memory, as in struct gi_nonflat */
    float sign;           /* -1 for a maximum, else 1 */
    bool difference, keep_alpha, hides, spreads;
    int n;
    struct gi_footprint_run runs[GI_RUNS_MAX];
};

/* The results of the pixels so far. */
struct nonflat_best {
    float f;   /* their minimum, without NaN */
    bool seen; /* whether one of them counts; only set if there are pixels that do not */
    bool nan;  /* whether one of them is NaN */
};

/* Adds the pixels of a run in row y to `best`, for channel c and the structuring element at column
 * x. */
template <typename T, bool HIDES>
static __device__ __forceinline__ void
add_run(const struct nonflat_args &args, struct nonflat_best *best,
        const struct gi_footprint_run &run, const float *heights, int x, int y, int c)
{
    const struct source &src = args.src;
    int yi = gi_border_index(y, src.height, src.border), last = src.channels - 1;
    const T *row = (const T *)(src.data + (size_t)(yi < 0 ? 0 : yi) * src.stride);
    bool inside = yi >= 0 && x + run.first >= 0 && x + run.last < src.width;
    int n = run.last - run.first + 1;
#pragma unroll 4
    for (int i = 0; i < n; i++) {
        int at = x + run.first + i;
        int xi = inside ? at : gi_border_index(at, src.width, src.border);
        bool outside = yi < 0 || xi < 0;
        const T *pixel = row + (long long)xi * src.channels;
        float v = outside ? src.value[c] : (float)pixel[c];
        float f = __fmaf_rn(args.sign, v, -__ldg(heights + i));
        if (HIDES) {
            if (!((outside ? src.value[last] : (float)pixel[last]) > 0))
                continue;
            best->seen = true;
        }
        if (sizeof(T) == 4)
            best->nan |= f != f;
        best->f = fminf(best->f, f);
    }
}

template <typename T, bool HIDES>
static __device__ __forceinline__ void sample_make(const struct nonflat_args &args, T *out, T own,
                                                   int x, int y, int c)
{
    struct nonflat_best best = {INFINITY, !HIDES, false};
    const float *heights = args.heights;
    for (int i = 0; i < args.n; i++) {
        const struct gi_footprint_run &run = args.runs[i];
        add_run<T, HIDES>(args, &best, run, heights, x, y + run.y, c);
        heights += run.last - run.first + 1;
    }
    float f = __fadd_rn(__fmul_rn(args.sign, best.f), 0.0f); /* -0 becomes +0 */
    if (best.nan && args.spreads)
        f = __int_as_float(0x7fc00000);
    if (!best.seen)
        *out = own;
    else
        sample_store(out, args.difference ? __fsub_rn((float)own, f) : f);
}

template <typename T>
static __device__ __forceinline__ void samples_make(const struct nonflat_args &args)
{
    const struct source &src = args.src;
    int channels = src.channels, sample = (int)(blockIdx.x * ACROSS + threadIdx.x);
    int x = sample / channels, c = sample % channels;
    if (x >= src.width)
        return;
    for (int y = (int)(blockIdx.y * DOWN + threadIdx.y); y < src.height; y += DOWN * gridDim.y) {
        T *out = (T *)(args.dst.data + (size_t)y * args.dst.stride) + sample;
        T own = ((const T *)(src.data + (size_t)y * src.stride))[sample];
        if (args.keep_alpha && c == channels - 1)
            *out = own;
        else if (args.hides)
            sample_make<T, true>(args, out, own, x, y, c);
        else
            sample_make<T, false>(args, out, own, x, y, c);
    }
}

static __global__ void __launch_bounds__(ACROSS *DOWN)
    nonflat(const __grid_constant__ struct nonflat_args args)
{
    SAMPLE_TYPES(args.src.type, samples_make<T>(args));
}

static enum gi_status launch(struct gi_cuda_queue *cu, const struct nonflat_args *args,
                             struct gi_err *err)
{
    int down = ceil_div(args->src.height, DOWN);
    dim3 grid((unsigned)ceil_div((long long)args->src.width * args->src.channels, ACROSS),
              (unsigned)(down < 65535 ? down : 65535));
    nonflat<<<grid, dim3(ACROSS, DOWN), 0, cu->stream>>>(*args);
    GI_CUDA_LAUNCHED();
    return GI_OK;
}

static enum gi_status plain(struct gi_queue *queue, struct gi_image *dst,
                            const struct gi_image *src, const struct gi_nonflat *spec,
                            struct gi_err *err)
{
    struct gi_cuda_queue *cu = gi_cuda(queue);
    struct nonflat_args args = {};
    size_t nbytes = (size_t)gi_footprint_pixels(spec->runs, spec->nruns) * sizeof(float);
    void *heights;
    enum gi_status status = gi_cuda_scratch(cu, &heights, nbytes, err);
    if (!status)
        status = gi_cuda_copy_to_device(cu, heights, nbytes, spec->heights, nbytes, nbytes, 1, err);
    if (status)
        return status;
    struct gi_border_spec border = box_border(src, &spec->border);
    args.src = source_of(src, &border, GI_ALPHA_PLAIN);
    args.dst = target_of(dst);
    args.heights = (const float *)heights;
    args.sign = spec->greatest ? -1.0f : 1.0f;
    args.difference = spec->difference;
    args.keep_alpha = gi_has_alpha(src) && !spec->alpha_too;
    args.hides = gi_nonflat_hides(spec, src);
    args.spreads = !spec->ignore_nan;
    args.n = spec->nruns;
    for (int i = 0; i < spec->nruns; i++)
        args.runs[i] = spec->runs[i];
    return launch(cu, &args, err);
}

const struct gi_nonflat_way gi_cuda_nonflat_ways[GI_WAYS_MAX] = {
    {{"plain", "everything"}, NULL, plain},
};
