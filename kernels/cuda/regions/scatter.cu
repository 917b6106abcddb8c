/* Scatter: writes values to pixels whose coordinates are in an image. First each entry claims its
 * pixel by an atomic maximum of its index, so that the last entry wins. Then each pixel fetches the
 * value of its owner. The result does not depend on the order of threads.
 * SPDX-License-Identifier: MIT */
#include "kernels/cuda/common/sample.cuh"
#include "kernels/regions.h"

#include <string.h>

enum { SCATTER_THREADS = 256, SCATTER_GRID = 1 << 16 /* maximum of blocks */ };

/* Sample c of pixel i, in raster order. */
static __device__ __forceinline__ float sample_at(const struct gi_image &image, unsigned i, int c)
{
    unsigned y = image.height == 1 ? 0 : i / (unsigned)image.width;
    size_t at = (size_t)(i - y * (unsigned)image.width) * image.channels + c;
    const char *row = (const char *)image.data + (size_t)y * image.stride;
    return image.type == GI_U8    ? (float)((const uint8_t *)row)[at]
           : image.type == GI_U16 ? (float)((const uint16_t *)row)[at]
                                  : ((const float *)row)[at];
}

/* Sets owners[pixel] to 1 + the index of the last entry with that position. Without such an entry
 * owners[pixel] remains 0. */
static __global__ void __launch_bounds__(SCATTER_THREADS)
    scatter_claim(unsigned *owners, struct gi_image places, unsigned n, int width, int height,
                  int y0)
{
    unsigned step = gridDim.x * SCATTER_THREADS;
    for (unsigned long long i = blockIdx.x * SCATTER_THREADS + threadIdx.x; i < n; i += step) {
        int x = gi_scatter_index(sample_at(places, (unsigned)i, 0), width);
        int y = gi_scatter_index(sample_at(places, (unsigned)i, 1), y0 + height) - y0;
        if (x >= 0 && y >= 0)
            atomicMax(&owners[(size_t)y * width + x], (unsigned)i + 1);
    }
}

struct fetch_args {
    struct gi_image dst, src, values;
    const unsigned *owners;
    int first, nvalues; /* nvalues = 0: `value` everywhere */
    float scale, full, value[GI_MAX_CHANNELS];
};

template <typename T>
static __device__ __forceinline__ void pixels_fetch(const struct fetch_args &args)
{
    int x = (int)(blockIdx.x * SCATTER_THREADS + threadIdx.x), channels = args.dst.channels;
    if (x >= args.dst.width)
        return;
    for (int y = (int)blockIdx.y; y < args.dst.height; y += (int)gridDim.y) {
        unsigned owner = args.owners[(size_t)y * args.dst.width + x];
        const T *in = (const T *)((const char *)args.src.data + (size_t)y * args.src.stride);
        T *out = (T *)((char *)args.dst.data + (size_t)y * args.dst.stride);
        in += (size_t)x * channels;
        out += (size_t)x * channels;
        for (int c = 0; c < channels; c++) {
            if (!owner) {
                out[c] = in[c];
                continue;
            }
            int from = gi_scatter_channel(c, channels, args.nvalues);
            float v = args.value[c];
            if (args.nvalues)
                v = from < 0 ? args.full
                             : __fmul_rn(sample_at(args.values, owner - 1, args.first + from),
                                         args.scale);
            sample_store(out + c, v);
        }
    }
}

static __global__ void __launch_bounds__(SCATTER_THREADS)
    scatter_fetch(const __grid_constant__ struct fetch_args args)
{
    SAMPLE_TYPES(args.src.type, pixels_fetch<T>(args));
}

static enum gi_status fetch(struct gi_cuda_queue *cu, const struct fetch_args *args,
                            struct gi_err *err)
{
    dim3 grid((unsigned)ceil_div(args->dst.width, SCATTER_THREADS),
              (unsigned)(args->dst.height < 65535 ? args->dst.height : 65535));
    scatter_fetch<<<grid, SCATTER_THREADS, 0, cu->stream>>>(*args);
    GI_CUDA_LAUNCHED();
    return GI_OK;
}

static enum gi_status by_owners(struct gi_queue *queue, struct gi_image *dst,
                                const struct gi_image *src, const struct gi_scatter *spec,
                                struct gi_err *err)
{
    struct gi_cuda_queue *cu = gi_cuda(queue);
    size_t nbytes = (size_t)src->width * (size_t)src->height * sizeof(unsigned);
    unsigned n = (unsigned)spec->places->width * (unsigned)spec->places->height;
    int blocks = ceil_div(n, SCATTER_THREADS);
    blocks = blocks < SCATTER_GRID ? blocks : SCATTER_GRID;
    struct fetch_args args = {};
    void *owners;
    enum gi_status status = gi_cuda_scratch(cu, &owners, nbytes, err);
    if (status)
        return status;
    GI_CUDA_TRY(cudaMemsetAsync(owners, 0, nbytes, cu->stream));
    scatter_claim<<<blocks, SCATTER_THREADS, 0, cu->stream>>>((unsigned *)owners, *spec->places, n,
                                                              src->width, src->height, spec->y);
    GI_CUDA_LAUNCHED();
    args.dst = *dst;
    args.src = *src;
    args.owners = (const unsigned *)owners;
    if (spec->values) {
        args.values = *spec->values;
        args.first = spec->first;
        args.nvalues = spec->values->channels - spec->first;
    }
    args.scale = spec->scale;
    args.full = gi_type_full_scale(dst->type);
    memcpy(args.value, spec->value, sizeof args.value);
    return fetch(cu, &args, err);
}

const struct gi_scatter_way gi_cuda_scatter_ways[GI_WAYS_MAX] = {
    {{"owners", "everything"}, NULL, by_owners},
};
