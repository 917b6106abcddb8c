/* The sample of a rank in windows of any shape: digit by digit, counted for each sample in all of
 * its window. SPDX-License-Identifier: MIT */
#include "kernels/cuda/median/sliding.cuh"

struct runs_args {
    struct median_args median;
    int n;
    struct gi_run runs[GI_RUNS_MAX];
};

/* The bins become those of the next digit of the keys that begin with `digits`, of the windows
 * around row y. */
template <typename T, bool NARROW>
static __device__ __forceinline__ void count_runs(const struct strip *strip, unsigned *at,
                                                  const struct runs_args *args, int y,
                                                  unsigned digits, int shift)
{
    int channels = args->median.src.channels, half = args->median.width / 2;
    for (int i = 0; i < bins<NARROW>::WORDS; i++)
        at[i * WARP] = 0;
    for (int r = 0; r < args->n; r++) {
        const struct gi_run &run = args->runs[r];
        for (int i = run.first; i <= run.last; i += CHUNK) {
            int n = min(run.last - i + 1, (int)CHUNK);
            __syncwarp();
            stage<T>(strip->keys[0], strip, y + run.y, i + half, n);
            __syncwarp();
            for (int j = 0; j < n; j++) {
                unsigned key = strip->keys[0][(int)threadIdx.x + j * channels] >> shift;
                if (key >> 8 == digits)
                    bins<NARROW>::add(at, key & 255, 1);
            }
        }
    }
}

template <typename T, bool NARROW>
static __global__ void __launch_bounds__(WARP)
    median_runs(const __grid_constant__ struct runs_args args)
{
    extern __shared__ unsigned shared[];
    __shared__ unsigned keys[2][SPAN];
    const struct median_args &median = args.median;
    unsigned *at = shared + threadIdx.x;
    struct strip strip = {&median, (int)(blockIdx.x * WARP), {keys[0], keys[1]}};
    int i = strip.first + (int)threadIdx.x, channels = median.src.channels;
    bool keep = median.keep_alpha && i % channels == channels - 1;
    for (int y = (int)blockIdx.y; y < median.src.height; y += (int)gridDim.y) {
        unsigned rank = median.rank, key = 0;
        for (int shift = 8 * (int)sizeof(T) - 8; shift >= 0; shift -= 8) {
            struct place place = {0, 0};
            count_runs<T, NARROW>(&strip, at, &args, y, key, shift);
            key = key << 8 | find<NARROW>(&place, at, &rank);
        }
        T out = sample_of<T>(key);
        if (i >= median.src.width * channels)
            continue;
        if (keep)
            out = ((const T *)(median.src.data + (size_t)y * median.src.stride))[i];
        ((T *)(median.dst.data + (size_t)y * median.dst.stride))[i] = out;
    }
}

template <typename T, bool NARROW>
static enum gi_status launch(struct gi_cuda_queue *cu, const struct runs_args *args,
                             struct gi_err *err)
{
    const struct source *src = &args->median.src;
    int nbytes = bins<NARROW>::NBYTES;
    void (*kernel)(const struct runs_args) = median_runs<T, NARROW>;
    GI_CUDA_TRY(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, nbytes));
    dim3 grid((unsigned)ceil_div((long long)src->width * src->channels, WARP),
              (unsigned)(src->height < ROWS_MAX ? src->height : (int)ROWS_MAX));
    kernel<<<grid, WARP, (size_t)nbytes, cu->stream>>>(*args);
    GI_CUDA_LAUNCHED();
    return GI_OK;
}

bool gi_cuda_median_runs_takes(const struct gi_queue *queue, const struct gi_image *src,
                               const struct gi_median *spec)
{
    (void)queue, (void)src;
    return spec->runs != NULL;
}

enum gi_status gi_cuda_median_runs(struct gi_queue *queue, struct gi_image *dst,
                                   const struct gi_image *src, const struct gi_median *spec,
                                   struct gi_err *err)
{
    struct gi_cuda_queue *cu = gi_cuda(queue);
    struct runs_args args = {};
    bool narrow = gi_runs_pixels(spec->runs, spec->nruns) <= 65535;
    args.median = median_args_of(dst, src, spec);
    args.n = spec->nruns;
    for (int i = 0; i < spec->nruns; i++)
        args.runs[i] = spec->runs[i];
    GI_CUDA_TYPES(src->type,
                  narrow ? launch<T, true>(cu, &args, err) : launch<T, false>(cu, &args, err));
}
