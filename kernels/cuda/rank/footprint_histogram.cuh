/* Histograms of structuring elements of any shape. For every sample a lane counts one digit (8
 * bits) of all samples of the window again.
 * SPDX-License-Identifier: MIT */
#ifndef GI_KERNELS_CUDA_FOOTPRINT_HISTOGRAM_CUH
#define GI_KERNELS_CUDA_FOOTPRINT_HISTOGRAM_CUH

#include "kernels/cuda/rank/sliding_histogram.cuh"

struct runs_args {
    struct median_args median;
    int n;
    struct gi_footprint_run runs[GI_RUNS_MAX];
};

/* Counts the next digit of the keys that begin with `digits`, in the windows around row y. Returns
 * the number of samples counted. */
template <typename T, bool NARROW>
static __device__ __forceinline__ unsigned count_runs(const struct strip *strip, unsigned *at,
                                                      const struct runs_args *args, int y,
                                                      unsigned digits, int shift)
{
    int channels = args->median.src.channels, half = args->median.width / 2;
    unsigned counted = 0;
    for (int i = 0; i < bins<NARROW>::WORDS; i++)
        at[i * WARP] = 0;
    for (int r = 0; r < args->n; r++) {
        const struct gi_footprint_run &run = args->runs[r];
        for (int i = run.first; i <= run.last; i += CHUNK) {
            int n = min(run.last - i + 1, (int)CHUNK);
            __syncwarp();
            stage<T>(strip->keys[0], strip, y + run.y, i + half, n);
            __syncwarp();
            for (int j = 0; j < n; j++) {
                unsigned key = strip->keys[0][(int)threadIdx.x + j * channels];
                if (key >> shift >> 8 == digits && key != no_key<T>()) {
                    bins<NARROW>::add(at, key >> shift & 255, 1);
                    counted++;
                }
            }
        }
    }
    return counted;
}

static inline struct runs_args runs_args_of(struct gi_image *dst, const struct gi_image *src,
                                            const struct gi_median *spec)
{
    struct runs_args args = {};
    args.median = median_args_of(dst, src, spec);
    args.n = spec->nruns;
    for (int i = 0; i < spec->nruns; i++)
        args.runs[i] = spec->runs[i];
    return args;
}

/* Launches a kernel whose warps each process one row of a strip, with `nbytes` bytes of bins. */
typedef void runs_kernel(const struct runs_args args);
static inline enum gi_status runs_launch(struct gi_cuda_queue *cu, const struct runs_args *args,
                                         runs_kernel *kernel, int nbytes, struct gi_err *err)
{
    const struct source *src = &args->median.src;
    GI_CUDA_ALLOW_SHARED(cu, kernel);
    dim3 grid((unsigned)ceil_div((long long)src->width * src->channels, WARP),
              (unsigned)(src->height < ROWS_MAX ? src->height : (int)ROWS_MAX));
    kernel<<<grid, WARP, (size_t)nbytes, cu->stream>>>(*args);
    GI_CUDA_LAUNCHED();
    return GI_OK;
}

#endif
