/* Bilateral filter: arguments and tables of the kernels with one thread per pixel.
 * SPDX-License-Identifier: MIT */
#ifndef GI_KERNELS_CUDA_BILATERAL_CUH
#define GI_KERNELS_CUDA_BILATERAL_CUH

#include "kernels/cuda/convolution/box.cuh"
#include "kernels/denoise.h"

#include <stdlib.h>
#include <string.h>

enum { PLAIN_X = 32, PLAIN_Y = 8 };

/* The kernels that process tiles in shared memory (bilateral_near.cu, bilateral_tile.cu). */
enum {
    TILE_X = 128,   /* pixels */
    RADIUS_MAX = 7, /* of the disk */
    ENTRY = 128,    /* bytes of shared memory per table entry: a copy of it per bank */
};

/* Spatial weights by |j| and |i|; 0 outside the disk. */
struct disk {
    float at[RADIUS_MAX + 1][RADIUS_MAX + 1];
};

static inline struct disk disk_of(const struct gi_bilateral *spec)
{
    struct disk disk = {};
    int half = spec->k / 2;
    for (int j = 0; j <= half; j++)
        for (int i = 0; i <= half; i++)
            disk.at[j][i] = spec->space[j * (half + 1) + i];
    return disk;
}

struct plain_args {
    struct source src, guide; /* with border values as samples; alpha of `guide` is unused */
    struct target dst;
    const float *space; /* in device memory, as in struct gi_bilateral */
    const float2 *table;
    int half, n;
    /* reach[|j|]: largest |i| in row j whose weight is not 0; -1 if all weights are 0 */
    int16_t reach[GI_BILATERAL_MAX / 2 + 1];
    float scale;
    bool whole; /* distances are table indices */
};

static inline struct gi_border_spec border_of(const struct gi_image *src,
                                              const struct gi_border_spec *border)
{
    return src->type == GI_F32 ? *border : box_border(src, border);
}

/* Copies the tables to scratch memory. `table` consists of pairs of value and slope. */
static inline enum gi_status tables_copy(struct gi_cuda_queue *cu, struct plain_args *args,
                                         const struct gi_bilateral *spec, struct gi_err *err)
{
    size_t nspace = (size_t)(args->half + 1) * (size_t)(args->half + 1), n = (size_t)spec->n;
    size_t nbytes = (2 * n + nspace) * sizeof(float);
    void *scratch;
    float *host = (float *)malloc(nbytes);
    if (!host)
        return gi_fail(err, GI_E_MEMORY, "no memory for %zu bytes of tables", nbytes);
    for (size_t i = 0; i < n; i++) {
        host[2 * i] = spec->value[i];
        host[2 * i + 1] = spec->slope ? spec->slope[i] : 0;
    }
    memcpy(host + 2 * n, spec->space, nspace * sizeof(float));
    enum gi_status status = gi_cuda_scratch(cu, &scratch, nbytes, err);
    /* The pageable source memory has been read when the call returns. */
    cudaError_t error =
        status ? cudaSuccess
               : cudaMemcpyAsync(scratch, host, nbytes, cudaMemcpyHostToDevice, cu->stream);
    free(host);
    if (status)
        return status;
    GI_CUDA_TRY(error);
    args->table = (const float2 *)scratch;
    args->space = (const float *)scratch + 2 * n;
    return GI_OK;
}

/* Fills the arguments. `guide` is the guide image, or the source if there is no guide. */
static inline enum gi_status plain_args_make(struct gi_cuda_queue *cu, struct plain_args *args,
                                             const struct gi_image *dst, const struct gi_image *src,
                                             const struct gi_bilateral *spec, struct gi_err *err)
{
    struct gi_border_spec border = border_of(src, &spec->border);
    *args = {};
    args->src = args->guide = source_of(src, &border, GI_ALPHA_PLAIN);
    args->dst = target_of(dst);
    if (spec->guide) {
        memcpy(border.value, spec->guide_value, sizeof border.value);
        border = border_of(spec->guide, &border);
        args->guide = source_of(spec->guide, &border, GI_ALPHA_PLAIN);
    }
    args->half = spec->k / 2;
    for (int j = 0; j <= args->half; j++) {
        args->reach[j] = (int16_t)args->half;
        while (args->reach[j] >= 0 && spec->space[j * (args->half + 1) + args->reach[j]] == 0)
            args->reach[j]--;
    }
    args->n = spec->n;
    args->scale = spec->scale;
    args->whole = !spec->slope;
    return tables_copy(cu, args, spec, err);
}

static inline dim3 plain_grid(const struct plain_args *args)
{
    int rows = ceil_div(args->src.height, PLAIN_Y);
    return dim3((unsigned)ceil_div(args->src.width, PLAIN_X),
                rows < 65535 ? (unsigned)rows : 65535u);
}

/* Returns whether the radius k / 2 is at most `most`, the weight of a pixel itself is 1, and all
 * weights outside the disk of this radius are 0. */
static inline bool bilateral_disk(const struct gi_bilateral *spec, int most)
{
    int half = spec->k / 2;
    if (half > most || spec->value[0] != 1 || spec->space[0] != 1)
        return false;
    for (int j = 0; j <= half; j++)
        for (int i = 0; i <= half; i++)
            if (i * i + j * j > half * half && spec->space[j * (half + 1) + i] != 0)
                return false;
    return true;
}

/* The other implementations. Only bilateral_joint.cu accepts a guide. */
gi_bilateral_takes_fn gi_cuda_bilateral_near_takes, gi_cuda_bilateral_tile_takes;
gi_bilateral_fn gi_cuda_bilateral_near, gi_cuda_bilateral_tile, gi_cuda_bilateral_joint;

#endif
