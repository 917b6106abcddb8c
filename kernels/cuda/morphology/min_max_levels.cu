/* Min/max filter with a structuring element of long runs of pixels, such as a large disk.
 *
 * Sample x of level l of a row is the minimum of the 2^l samples from x on, and is computed from
 * two samples of level l - 1. The minimum of a run of n samples is the minimum of two overlapping
 * samples of the highest level with 2^l <= n, so a run costs two loads whatever its length. The
 * keys of the result collect in dst, level by level.
 * SPDX-License-Identifier: MIT */
#include "kernels/cuda/morphology/min_max.cuh"
#include "kernels/morphology.h"

enum {
    RUNS_PER_LAUNCH = 512,
    PIXELS_PER_RUN = 7,         /* mean from which this is quicker than to load every pixel */
    LEVEL_NBYTES = 8 << 20,     /* of a level, so that two fit in the L2 cache */
    LEVEL_NBYTES_MAX = 1 << 28, /* of a level, if the rows of the structuring element need more */
};

struct levels_args {
    struct source src; /* border values are samples */
    struct target dst;
    unsigned turn;
    bool keep_alpha;
    int left, right; /* pixels of the structuring element left and right of (x, y) */
    int top;         /* offset of its first row */
    /* Rows of a level. They are the rows around result rows y0 to y0 + rows - 1, or, if the
     * structuring element is higher than the image, all rows of the image and one outside. */
    int level_rows;
    bool whole;
    size_t pitch; /* samples from one row of a level to the next */
    int y0, rows;
};

/* A run as samples of a level from the sample at which the result is: those that cover its first
 * pixels and its last ones. They include the run's row unless levels hold whole images. */
struct level_run {
    int y, first, last;
};

struct level_runs {
    int n;
    bool begin; /* no run has been folded yet */
    bool end;   /* the result is complete after these runs */
    struct level_run runs[RUNS_PER_LAUNCH];
};

/* Makes level 0. Row i of it is row y0 + top + i, or row i of the whole image. */
template <typename T, typename K>
static __device__ __forceinline__ void spread(const struct levels_args &args, K *to, int pixels)
{
    const struct source &src = args.src;
    int x = (int)(blockIdx.x * MIN_MAX_THREADS + threadIdx.x), channels = src.channels;
    if (x >= pixels)
        return;
    int xi = gi_border_index((long long)x - args.left, src.width, src.border);
    for (int i = (int)blockIdx.y; i < args.level_rows; i += (int)gridDim.y) {
        int yi = args.whole
                     ? (i < src.height ? i : -1)
                     : gi_border_index((long long)args.y0 + args.top + i, src.height, src.border);
        bool outside = xi < 0 || yi < 0;
        const T *row = (const T *)(src.data + (outside ? 0 : (size_t)yi * src.stride));
        for (int c = 0; c < channels; c++) {
            T v = outside ? (T)src.value[c] : row[(size_t)xi * channels + c];
            to[i * args.pitch + (size_t)x * channels + c] = (K)min_max_number<T>(v, args.turn);
        }
    }
}

/* Doubles the pixels of which each of n samples per row is the minimum. `shift` is the number of
 * samples that those of `from` cover. */
template <typename K>
static __device__ __forceinline__ void widen(K *to, const K *from, size_t pitch, int n, int shift,
                                             int rows)
{
    int i = (int)(blockIdx.x * MIN_MAX_THREADS + threadIdx.x);
    for (int y = (int)blockIdx.y; i < n && y < rows; y += (int)gridDim.y)
        to[y * pitch + i] = min(from[y * pitch + i], from[y * pitch + i + shift]);
}

/* Folds the runs of a level into dst. */
template <typename T, typename K>
static __device__ __forceinline__ void fold(const struct levels_args &args,
                                            const struct level_runs &part, const K *level)
{
    const struct source &src = args.src;
    int sample = (int)(blockIdx.x * MIN_MAX_THREADS + threadIdx.x), channels = src.channels;
    if (sample >= src.width * channels)
        return;
    level += sample + args.left * channels;
    bool keep = args.keep_alpha && sample % channels == channels - 1;
    for (int i = (int)blockIdx.y; i < args.rows; i += (int)gridDim.y) {
        int y = args.y0 + i;
        K *out = (K *)(args.dst.data + (size_t)y * args.dst.stride) + sample;
        const K *row = level + i * args.pitch;
        K best = part.begin ? (K)~0u : *out;
#pragma unroll 4
        for (int r = 0; r < part.n; r++) {
            const struct level_run &run = part.runs[r];
            if (args.whole) {
                int yi = gi_border_index((long long)y + run.y, src.height, src.border);
                row = level + (yi < 0 ? src.height : yi) * args.pitch;
            }
            best = min(best, min(row[run.first], row[run.last]));
        }
        if (part.end && keep)
            *(T *)out = ((const T *)(src.data + (size_t)y * src.stride))[sample];
        else if (part.end)
            *(T *)out = min_max_sample<T>(best, args.turn);
        else
            *out = best;
    }
}

/* The keys of floats are 32-bit integers. */
template <typename T> struct key_type {
    typedef T type;
};
template <> struct key_type<float> {
    typedef uint32_t type;
};

static __global__ void __launch_bounds__(MIN_MAX_THREADS)
    levels_spread(const __grid_constant__ struct levels_args args, void *to, int pixels)
{
    SAMPLE_TYPES(args.src.type, spread<T>(args, (typename key_type<T>::type *)to, pixels));
}

static __global__ void __launch_bounds__(MIN_MAX_THREADS)
    levels_fold(const __grid_constant__ struct levels_args args,
                const __grid_constant__ struct level_runs part, const void *level)
{
    SAMPLE_TYPES(args.src.type, fold<T>(args, part, (const typename key_type<T>::type *)level));
}

static __global__ void __launch_bounds__(MIN_MAX_THREADS)
    levels_double(void *to, const void *from, size_t pitch, int n, int shift, int rows,
                  enum gi_type type)
{
    SAMPLE_TYPES(type, typedef typename key_type<T>::type K;
                 widen((K *)to, (const K *)from, pitch, n, shift, rows));
}

static int level_of(const struct gi_footprint_run *run)
{
    int level = 0;
    while (2 << level <= run->last - run->first + 1)
        level++;
    return level;
}

static struct level_run level_run_of(const struct levels_args *args,
                                     const struct gi_footprint_run *run, int level)
{
    int channels = args->src.channels;
    int row = args->whole ? 0 : (int)((run->y - args->top) * (long long)args->pitch);
    return {run->y, row + run->first * channels, row + (run->last + 1 - (1 << level)) * channels};
}

/* Computes args->rows rows of the result. a and b hold a level each. */
static enum gi_status band(struct gi_cuda_queue *cu, const struct levels_args *args,
                           const struct gi_min_max *spec, int levels, char *a, char *b,
                           struct gi_err *err)
{
    int channels = args->src.channels, pixels = args->src.width + args->left + args->right;
    int done = 0;
    levels_spread<<<min_max_grid(pixels, args->level_rows), MIN_MAX_THREADS, 0, cu->stream>>>(
        *args, a, pixels);
    GI_CUDA_LAUNCHED();
    for (int level = 0; level < levels; level++) {
        struct level_runs part = {0, done == 0, false, {}};
        for (int i = 0; i < spec->nruns; i++) {
            if (level_of(&spec->runs[i]) == level)
                part.runs[part.n++] = level_run_of(args, &spec->runs[i], level);
            if (part.n == 0 || (part.n < RUNS_PER_LAUNCH && i < spec->nruns - 1))
                continue;
            done += part.n;
            part.end = done == spec->nruns;
            levels_fold<<<min_max_grid((long long)args->src.width * channels, args->rows),
                          MIN_MAX_THREADS, 0, cu->stream>>>(*args, part, a);
            GI_CUDA_LAUNCHED();
            part.n = 0;
            part.begin = false;
        }
        if (level == levels - 1)
            break;
        int n = (pixels - (2 << level) + 1) * channels;
        levels_double<<<min_max_grid(n, args->level_rows), MIN_MAX_THREADS, 0, cu->stream>>>(
            b, a, args->pitch, n, channels << level, args->level_rows, args->src.type);
        GI_CUDA_LAUNCHED();
        char *swap = a;
        a = b;
        b = swap;
    }
    return GI_OK;
}

static enum gi_status bands(struct gi_cuda_queue *cu, struct levels_args *args,
                            const struct gi_min_max *spec, int levels, struct gi_err *err)
{
    int height = args->src.height, halo = args->level_rows - args->rows, rows = args->rows;
    size_t nbytes = args->pitch * (size_t)args->level_rows * gi_type_nbytes(args->src.type);
    void *scratch;
    enum gi_status status = gi_cuda_scratch(cu, &scratch, 2 * nbytes, err);
    char *a = (char *)scratch, *b = a + nbytes;
    for (args->y0 = 0; !status && args->y0 < height; args->y0 += rows) {
        args->rows = rows < height - args->y0 ? rows : height - args->y0;
        args->level_rows = args->whole ? args->level_rows : args->rows + halo;
        status = band(cu, args, spec, levels, a, b, err);
    }
    return status;
}

/* Sets the shape of levels and bands. */
static void lay_out(struct levels_args *args, const struct gi_image *src,
                    const struct gi_min_max *spec)
{
    size_t sample = gi_type_nbytes(src->type);
    int height = spec->runs[spec->nruns - 1].y - spec->runs[0].y + 1;
    args->left = args->right = 0;
    for (int i = 0; i < spec->nruns; i++) {
        args->left = -spec->runs[i].first > args->left ? -spec->runs[i].first : args->left;
        args->right = spec->runs[i].last > args->right ? spec->runs[i].last : args->right;
    }
    args->top = spec->runs[0].y;
    args->pitch = ((size_t)src->width + (size_t)(args->left + args->right)) * (size_t)src->channels;
    args->pitch = (args->pitch + 127) / 128 * 128;
    args->whole = height > src->height;
    long long rows = LEVEL_NBYTES / (long long)(args->pitch * sample) - (height - 1);
    rows = rows < height ? height : rows;
    args->rows = args->whole || rows > src->height ? src->height : (int)rows;
    args->level_rows = args->whole ? src->height + 1 : args->rows + height - 1;
}

bool gi_cuda_min_max_levels_takes(const struct gi_queue *queue, const struct gi_image *src,
                                  const struct gi_min_max *spec)
{
    if (!spec->runs || gi_footprint_pixels(spec->runs, spec->nruns) < PIXELS_PER_RUN * spec->nruns)
        return false;
    struct levels_args args;
    lay_out(&args, src, spec);
    return (double)args.pitch * args.level_rows * (double)gi_type_nbytes(src->type) <=
           LEVEL_NBYTES_MAX;
}

enum gi_status gi_cuda_min_max_levels(struct gi_queue *queue, struct gi_image *dst,
                                      const struct gi_image *src, const struct gi_min_max *spec,
                                      struct gi_err *err)
{
    struct gi_cuda_queue *cu = gi_cuda(queue);
    struct levels_args args = {};
    struct gi_border_spec border = min_max_border(src, &spec->border);
    int levels = 0;
    args.src = source_of(src, &border, GI_ALPHA_PLAIN);
    args.dst = target_of(dst);
    args.turn = spec->greatest ? ~0u : 0;
    args.keep_alpha = gi_has_alpha(src) && !spec->alpha_too;
    lay_out(&args, src, spec);
    for (int i = 0; i < spec->nruns; i++) {
        int level = level_of(&spec->runs[i]);
        levels = level + 1 > levels ? level + 1 : levels;
    }
    return bands(cu, &args, spec, levels, err);
}
