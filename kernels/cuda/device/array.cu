/* Images in CUDA arrays behind texture objects, for kernels that read at computed places.
 *
 * A CUDA array has an opaque layout in which neighbours in both directions are close together;
 * tex2Dgather() works on arrays only. Kernels store to the array through a surface object.
 * SPDX-License-Identifier: MIT */
#include <string.h>

#include "kernels/cuda/common/sample.cuh"

enum {
    PIECE = 16, /* bytes per store */
    PIECES = 4, /* pieces per thread */
    ACROSS = 4, /* threads in a row of a block: a warp stores 64 bytes x 8 rows at once, the unit of
                   the array's layout */
    DOWN = 64,  /* rows per block */
};

/* Copies `nrows` rows of `row_nbytes` from linear memory into the array; rows from `height` on are
 * the first ones again. Surface coordinates are in bytes along x. */
template <typename T>
static __global__ void __launch_bounds__(ACROSS *DOWN)
    fill(cudaSurfaceObject_t surface, const char *src, size_t stride, int row_nbytes, int height,
         int nrows)
{
    int x = ((int)blockIdx.x * PIECES * ACROSS + (int)threadIdx.x) * PIECE;
    int y = (int)(blockIdx.y * DOWN + threadIdx.y);
    if (y >= nrows)
        return;
    const char *row = src + (size_t)(y < height ? y : y - height) * stride;
    uint4 v[PIECES];
#pragma unroll
    for (int i = 0; i < PIECES; i++)
        if (x + i * ACROSS * PIECE < row_nbytes) /* the last piece may end in the row's padding */
            v[i] = *(const uint4 *)(row + x + i * ACROSS * PIECE);
#pragma unroll
    for (int i = 0; i < PIECES; i++, x += ACROSS * PIECE)
        if (x + PIECE <= row_nbytes)
            surf2Dwrite(v[i], surface, x, y);
        else
            for (int at = x; at < row_nbytes; at += (int)sizeof(T))
                surf2Dwrite(*(const T *)(row + at), surface, at, y);
}

bool gi_cuda_array_fits(const struct gi_cuda_queue *cu, const struct gi_image *image,
                        const struct gi_border_spec *border, int repeated)
{
    int width = 0, height = 0;
    float v = border->value[0], full = gi_type_full_scale(image->type);
    cudaDeviceGetAttribute(&width, cudaDevAttrMaxTexture2DGatherWidth, cu->ordinal);
    cudaDeviceGetAttribute(&height, cudaDevAttrMaxTexture2DGatherHeight, cu->ordinal);
    if (image->channels != 1 || image->width > width || image->height > height - repeated)
        return false;
    if (border->mode != GI_BORDER_VALUE || image->type == GI_F32)
        return border->mode == GI_BORDER_CLAMP || border->mode == GI_BORDER_VALUE;
    return v >= 0 && v <= full && v == (float)(int)v;
}

/* The border value as a texel, an unsigned integer, in a float's place. Texels of GI_F32 are the
 * bits of the samples. */
static float border_color(enum gi_type type, float value)
{
    unsigned whole = (unsigned)value;
    if (type != GI_F32)
        memcpy(&value, &whole, sizeof whole);
    return value;
}

static cudaError_t make_texture(struct gi_cuda_array *to, const struct gi_border_spec *border)
{
    struct cudaResourceDesc resource = {};
    struct cudaTextureDesc how = {};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = to->array;
    how.addressMode[0] = how.addressMode[1] =
        border->mode == GI_BORDER_VALUE ? cudaAddressModeBorder : cudaAddressModeClamp;
    how.filterMode = cudaFilterModePoint;
    how.readMode = cudaReadModeElementType;
    how.borderColor[0] = border_color(to->type, border->value[0]);
    to->mode = border->mode;
    to->value = border->value[0];
    return cudaCreateTextureObject(&to->texture, &resource, &how, NULL);
}

static cudaError_t make_array(struct gi_cuda_array *to, int width, int height, enum gi_type type)
{
    struct cudaResourceDesc resource = {};
    cudaChannelFormatDesc format = cudaCreateChannelDesc(8 * (int)gi_type_nbytes(type), 0, 0, 0,
                                                         cudaChannelFormatKindUnsigned);
    cudaError_t error = cudaMallocArray(&to->array, &format, (size_t)width, (size_t)height,
                                        cudaArrayTextureGather | cudaArraySurfaceLoadStore);
    if (error) {
        to->array = NULL;
        return error;
    }
    to->width = width;
    to->height = height;
    to->type = type;
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = to->array;
    return cudaCreateSurfaceObject(&to->surface, &resource);
}

void gi_cuda_array_free(struct gi_cuda_queue *cu)
{
    struct gi_cuda_array *old = &cu->gathered;
    if (old->texture)
        cudaDestroyTextureObject(old->texture);
    if (old->surface)
        cudaDestroySurfaceObject(old->surface);
    if (old->array)
        cudaFreeArray(old->array);
    memset(old, 0, sizeof *old);
}

template <typename T>
static enum gi_status launch(struct gi_cuda_queue *cu, const struct gi_image *image, int nrows,
                             struct gi_err *err)
{
    int row_nbytes = (int)gi_row_nbytes(image);
    dim3 grid(ceil_div(row_nbytes, PIECES * ACROSS * PIECE), ceil_div(nrows, DOWN));
    fill<T><<<grid, dim3(ACROSS, DOWN), 0, cu->stream>>>(cu->gathered.surface,
                                                         (const char *)image->data, image->stride,
                                                         row_nbytes, image->height, nrows);
    GI_CUDA_LAUNCHED();
    return GI_OK;
}

enum gi_status gi_cuda_array_texture(struct gi_cuda_queue *cu, cudaTextureObject_t *texture,
                                     const struct gi_image *image,
                                     const struct gi_border_spec *border, int repeated,
                                     struct gi_err *err)
{
    struct gi_cuda_array *to = &cu->gathered;
    int height = image->height + repeated;
    bool same =
        to->array && to->width == image->width && to->height == height && to->type == image->type;
    bool value = border->mode == GI_BORDER_VALUE;
    bool framed = same && to->texture && to->mode == border->mode &&
                  (!value || memcmp(&to->value, &border->value[0], sizeof to->value) == 0);
    *texture = 0;
    if (!framed && to->array) { /* kernels in flight may use them */
        GI_CUDA_TRY(cudaStreamSynchronize(cu->stream));
        if (to->texture)
            cudaDestroyTextureObject(to->texture);
        to->texture = 0;
    }
    if (!same) {
        gi_cuda_array_free(cu);
        cudaError_t error = make_array(to, image->width, height, image->type);
        if (error == cudaErrorMemoryAllocation) {
            cudaGetLastError();
            return GI_OK;
        }
        if (error)
            return gi_cuda_fail(err, error, "cudaMallocArray");
    }
    if (!framed)
        GI_CUDA_TRY(make_texture(to, border));
    *texture = to->texture;
    GI_CUDA_TYPES(image->type, launch<T>(cu, image, height, err));
}
