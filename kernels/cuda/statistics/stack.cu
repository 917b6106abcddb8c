/* Reduces a stack of images, which are side by side in one image, to one image. A thread owns one
 * sample of the result. Neighbouring threads own neighbouring samples, so that loads are coalesced
 * within each image; nothing is exchanged between threads.
 *
 *      row y of src  | image 0: `step` samples | image 1 | ... | image n - 1 |
 *                      ^ thread i                ^ thread i      ^ thread i
 *      row y of dst  | i |
 *
 * running: a thread adds up its n samples in a double, or takes their minimum or maximum.
 * ranks:   a thread finds the lower median of its n samples bit by bit, from the highest bit on.
 *          For each of the 8, 16 or 32 bits it passes over its samples once and counts those below
 *          a bound. One more pass finds the next sample in ascending order.
 *          Example: of 5, 9, 9, 12 the sample at index 1 is 9. Three samples are at most 9, so the
 *          sample at index 2 is 9 too.
 * sorted:  a thread sorts the keys of its n samples in scratch memory, where key k of neighbouring
 *          threads is contiguous. The sorting network depends only on n, so that the threads of a
 *          warp never diverge while they sort. Scratch memory is bounded, so that large images need
 *          several launches. Example: with n = 100, 64 MiB suffice for 167,772 samples per launch.
 * SPDX-License-Identifier: MIT */
#include "kernels/cuda/common/sample.cuh"
#include "kernels/statistics.h"

enum {
    THREADS = 256,
    BLOCKS_PER_UNIT = 16,
    SCRATCH_NBYTES = 64 << 20, /* bytes, for `sorted`; more if THREADS samples need more */
};

struct stack_args {
    struct source src;
    struct target dst;
    struct target earlier; /* NULL data: there was no earlier call */
    enum gi_stack_method method;
    int images;
    double kappa, divisor; /* s is divided by this when it is stored */
    bool continues;        /* s is stored as double */
    size_t samples, step;  /* samples per row of dst; samples between images in a row of src */
    size_t first, end;     /* samples of the result, row by row, that the launch computes */
    uint32_t *keys;        /* sorted: key k of sample i is keys[k * nkeys + i - first] */
    size_t nkeys;
};

static __device__ __forceinline__ void store_result(uint8_t *p, double v)
{
    *p = (uint8_t)floor(__dadd_rn(v, 0.5));
}

static __device__ __forceinline__ void store_result(uint16_t *p, double v)
{
    *p = (uint16_t)floor(__dadd_rn(v, 0.5));
}

static __device__ __forceinline__ void store_result(float *p, double v)
{
    *p = canonical(__double2float_rn(v));
}

/* A sample of the result: its row, and its index within the row. */
struct stack_place {
    size_t y, i;
};

static __device__ __forceinline__ struct stack_place place_of(const struct stack_args *args,
                                                              size_t sample)
{
    struct stack_place place = {sample / args->samples, sample % args->samples};
    return place;
}

/* Returns the sample of the first image at this position. */
template <typename T>
static __device__ __forceinline__ const T *samples_at(const struct stack_args *args,
                                                      struct stack_place place)
{
    return (const T *)(args->src.data + place.y * args->src.stride) + place.i;
}

template <typename T>
static __device__ __forceinline__ void stack_store(const struct stack_args *args,
                                                   struct stack_place place, double s)
{
    char *row = args->dst.data + place.y * args->dst.stride;
    double v = __ddiv_rn(s, args->divisor);
    if (args->continues)
        ((double *)row)[place.i] = s != s ? __longlong_as_double(0x7ff8000000000000) : s;
    else if (args->method == GI_STACK_SUM)
        store_result((float *)row + place.i, v);
    else
        store_result((T *)row + place.i, v);
}

/* ---- image by image ---- */

template <typename T>
static __device__ __forceinline__ void running_make(const struct stack_args &args)
{
    size_t stride = (size_t)gridDim.x * THREADS;
    for (size_t at = args.first + (size_t)blockIdx.x * THREADS + threadIdx.x; at < args.end;
         at += stride) {
        struct stack_place place = place_of(&args, at);
        const T *v = samples_at<T>(&args, place);
        const double *earlier = (const double *)(args.earlier.data + place.y * args.earlier.stride);
        bool begun = args.earlier.data != NULL;
        double s = begun ? earlier[place.i] : (double)v[0];
#pragma unroll 4
        for (int k = !begun; k < args.images; k++)
            s = gi_stack_join(args.method, s, (double)v[k * args.step]);
        stack_store<T>(&args, place, s);
    }
}

static __global__ void __launch_bounds__(THREADS)
    stack_running(const __grid_constant__ struct stack_args args)
{
    SAMPLE_TYPES(args.src.type, running_make<T>(args));
}

/* ---- medians by their bits ---- */

/* Returns the key at index `rank` of n keys in ascending order. */
template <typename T>
static __device__ __forceinline__ uint32_t rank_find(const T *v, size_t step, int n, int rank)
{
    uint32_t key = 0;
    for (int bit = 8 * (int)sizeof(T) - 1; bit >= 0; bit--) {
        uint32_t bound = key | 1u << bit;
        int below = 0;
#pragma unroll 4
        for (int k = 0; k < n; k++)
            below += sample_key(v[k * step]) < bound;
        key = below <= rank ? bound : key;
    }
    return key;
}

template <typename T>
static __device__ __forceinline__ void ranks_make(const struct stack_args &args)
{
    int n = args.images;
    size_t stride = (size_t)gridDim.x * THREADS;
    for (size_t at = args.first + (size_t)blockIdx.x * THREADS + threadIdx.x; at < args.end;
         at += stride) {
        struct stack_place place = place_of(&args, at);
        const T *v = samples_at<T>(&args, place);
        uint32_t keys[2] = {rank_find(v, args.step, n, (n - 1) / 2), UINT32_MAX};
        int at_most = 0;
        bool nan = false;
        for (int k = 0; k < n; k++) {
            uint32_t key = sample_key(v[k * args.step]);
            at_most += key <= keys[0];
            keys[1] = key > keys[0] ? min(key, keys[1]) : keys[1];
            nan |= v[k * args.step] != v[k * args.step];
        }
        keys[1] = at_most > n / 2 ? keys[0] : keys[1];
        struct gi_stack_order order = {keys, 1, args.src.type};
        double s = n % 2 ? gi_stack_sample(order, 0) : gi_stack_median(order, 0, 2);
        stack_store<T>(&args, place, nan ? __longlong_as_double(0x7ff8000000000000) : s);
    }
}

static __global__ void __launch_bounds__(THREADS)
    stack_ranks(const __grid_constant__ struct stack_args args)
{
    SAMPLE_TYPES(args.src.type, ranks_make<T>(args));
}

/* ---- by sorting ---- */

template <typename T>
static __device__ __forceinline__ void sorted_make(const struct stack_args &args)
{
    size_t own = (size_t)blockIdx.x * THREADS + threadIdx.x;
    int n = args.images;
    if (args.first + own >= args.end)
        return;
    struct stack_place place = place_of(&args, args.first + own);
    const T *v = samples_at<T>(&args, place);
    uint32_t *keys = args.keys + own;
    bool nan = false;
    /* Load. */
#pragma unroll 4
    for (int k = 0; k < n; k++) {
        T sample = v[k * args.step];
        nan |= sample != sample;
        keys[k * args.nkeys] = sample_key(sample);
    }
    /* Sort. */
    GI_STACK_SORT(n, a, b, {
        uint32_t x = keys[a * args.nkeys], y = keys[b * args.nkeys];
        keys[a * args.nkeys] = min(x, y);
        keys[b * args.nkeys] = max(x, y);
    });
    /* Compute and store. */
    struct gi_stack_order order = {keys, args.nkeys, args.src.type};
    double s = args.method == GI_STACK_MEDIAN ? gi_stack_median(order, 0, n)
                                              : gi_stack_clipped_mean(order, n, args.kappa);
    stack_store<T>(&args, place, nan ? __longlong_as_double(0x7ff8000000000000) : s);
}

static __global__ void __launch_bounds__(THREADS)
    stack_sorted(const __grid_constant__ struct stack_args args)
{
    SAMPLE_TYPES(args.src.type, sorted_make<T>(args));
}

/* ---- launchers ---- */

static struct stack_args args_of(const struct gi_image *dst, const struct gi_image *src,
                                 const struct gi_stack *spec)
{
    struct gi_border_spec border = {};
    struct stack_args args = {};
    args.src = source_of(src, &border, GI_ALPHA_PLAIN);
    args.dst = target_of(dst);
    if (spec->earlier)
        args.earlier = target_of(spec->earlier);
    args.method = spec->method;
    args.images = spec->images;
    args.kappa = spec->kappa;
    args.divisor = spec->method == GI_STACK_MEAN ? (double)(spec->nearlier + (uint64_t)spec->images)
                   : spec->method == GI_STACK_SUM ? (double)gi_type_full_scale(src->type)
                                                  : 1.0;
    args.continues = dst->type == GI_U32;
    args.samples = args.step = (size_t)(src->width / spec->images) * (size_t)src->channels;
    args.end = args.samples * (size_t)src->height;
    return args;
}

static unsigned blocks_of(const struct gi_cuda_queue *cu, const struct stack_args *args)
{
    size_t blocks = (args->end + THREADS - 1) / THREADS, most = (size_t)cu->units * BLOCKS_PER_UNIT;
    return (unsigned)(blocks < most ? blocks : most);
}

static enum gi_status launch_sorted(struct gi_cuda_queue *cu, const struct stack_args *whole,
                                    struct gi_err *err)
{
    struct stack_args args = *whole;
    size_t each = (size_t)args.images * sizeof *args.keys;
    size_t most = SCRATCH_NBYTES / each, least = THREADS;
    args.nkeys = most < least ? least : most < args.end ? most : args.end;
    void *scratch;
    enum gi_status status = gi_cuda_scratch(cu, &scratch, args.nkeys * each, err);
    if (status)
        return status;
    args.keys = (uint32_t *)scratch;
    for (; args.first < whole->end; args.first += args.nkeys) {
        size_t left = whole->end - args.first, n = left < args.nkeys ? left : args.nkeys;
        args.end = args.first + n;
        stack_sorted<<<ceil_div((long long)n, THREADS), THREADS, 0, cu->stream>>>(args);
        GI_CUDA_LAUNCHED();
    }
    return GI_OK;
}

static enum gi_status by_running(struct gi_queue *queue, struct gi_image *dst,
                                 const struct gi_image *src, const struct gi_stack *spec,
                                 struct gi_err *err)
{
    struct gi_cuda_queue *cu = gi_cuda(queue);
    struct stack_args args = args_of(dst, src, spec);
    stack_running<<<blocks_of(cu, &args), THREADS, 0, cu->stream>>>(args);
    GI_CUDA_LAUNCHED();
    return GI_OK;
}

static bool ranks_takes(const struct gi_queue *queue, const struct gi_image *src,
                        const struct gi_stack *spec)
{
    (void)queue, (void)src;
    return spec->method == GI_STACK_MEDIAN;
}

static enum gi_status by_ranks(struct gi_queue *queue, struct gi_image *dst,
                               const struct gi_image *src, const struct gi_stack *spec,
                               struct gi_err *err)
{
    struct gi_cuda_queue *cu = gi_cuda(queue);
    struct stack_args args = args_of(dst, src, spec);
    stack_ranks<<<blocks_of(cu, &args), THREADS, 0, cu->stream>>>(args);
    GI_CUDA_LAUNCHED();
    return GI_OK;
}

static enum gi_status by_sorting(struct gi_queue *queue, struct gi_image *dst,
                                 const struct gi_image *src, const struct gi_stack *spec,
                                 struct gi_err *err)
{
    struct stack_args args = args_of(dst, src, spec);
    return launch_sorted(gi_cuda(queue), &args, err);
}

const struct gi_stack_way gi_cuda_stack_ways[GI_WAYS_MAX] = {
    {{"running", "mean, min, max and sum"}, gi_stack_running_takes, by_running},
    {{"ranks", "medians"}, ranks_takes, by_ranks},
    {{"sorted", "medians and sigma clipping"}, gi_stack_sorted_takes, by_sorting},
};
