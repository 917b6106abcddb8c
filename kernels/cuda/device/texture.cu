/* Texture objects: their borders and lifetimes, and the CUDA array of a queue, for kernels that
 * read at computed positions.
 *
 * A CUDA array has an opaque layout that keeps neighbours in both directions close together;
 * tex2Dgather() requires a CUDA array. Kernels store to the array through a surface object. Texture
 * objects over images in linear memory are not created here, but in convolution/textbook.cu.
 * SPDX-License-Identifier: MIT */
#include <string.h>

#include "kernels/cuda/common/sample.cuh"

bool gi_cuda_texture_makes(const struct gi_image *image, const struct gi_border_spec *border)
{
    float full = gi_type_full_scale(image->type);
    if (border->mode != GI_BORDER_VALUE)
        return border->mode == GI_BORDER_CLAMP;
    for (int c = 0; c < image->channels && image->type != GI_F32; c++)
        if (!(border->value[c] >= 0 && border->value[c] <= full &&
              border->value[c] == (float)(int)border->value[c]))
            return false;
    return true;
}

void gi_cuda_border_color(float *color, const struct gi_image *image,
                          const struct gi_border_spec *border)
{
    for (int c = 0; c < image->channels; c++) {
        unsigned whole = image->type == GI_F32 ? 0 : (unsigned)border->value[c];
        color[c] = border->value[c];
        if (image->type != GI_F32)
            memcpy(&color[c], &whole, sizeof whole);
    }
}

enum gi_status gi_cuda_texture_retire(struct gi_cuda_queue *cu, cudaTextureObject_t texture,
                                      struct gi_err *err)
{
    struct gi_cuda_texture *slot = &cu->textures[cu->ntextures++ % GI_CUDA_TEXTURES];
    if (slot->object) {
        GI_CUDA_TRY(slot->done ? cudaEventSynchronize(slot->done)
                               : cudaStreamSynchronize(cu->stream));
        cudaDestroyTextureObject(slot->object);
    }
    slot->object = texture;
    if (!slot->done)
        GI_CUDA_TRY(cudaEventCreateWithFlags(&slot->done, cudaEventDisableTiming));
    GI_CUDA_TRY(cudaEventRecord(slot->done, cu->stream));
    return GI_OK;
}

void gi_cuda_textures_free(struct gi_cuda_queue *cu)
{
    for (int i = 0; i < GI_CUDA_TEXTURES; i++) {
        if (cu->textures[i].object)
            cudaDestroyTextureObject(cu->textures[i].object);
        if (cu->textures[i].done)
            cudaEventDestroy(cu->textures[i].done);
    }
}

/* ---- CUDA arrays ---- */

enum {
    PIECE = 16, /* bytes per store */
    PIECES = 4, /* pieces per thread */
    ACROSS = 4, /* threads in a row of a block; a warp stores 64 bytes x 8 rows at once, the unit of
                   the array's layout */
    DOWN = 64,  /* rows per block */
};

/* Copies `nrows` rows of `row_nbytes` bytes from linear memory to the array. Rows from `height` on
 * repeat the first rows. Surface coordinates along x are bytes. */
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
        if (x + i * ACROSS * PIECE < row_nbytes) /* the last piece may end in row padding */
            v[i] = *(const uint4 *)(row + x + i * ACROSS * PIECE);
#pragma unroll
    for (int i = 0; i < PIECES; i++, x += ACROSS * PIECE)
        if (x + PIECE <= row_nbytes)
            surf2Dwrite(v[i], surface, x, y);
        else
            for (int at = x; at < row_nbytes; at += (int)sizeof(T))
                surf2Dwrite(*(const T *)(row + at), surface, at, y);
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

bool gi_cuda_array_fits(const struct gi_cuda_queue *cu, const struct gi_image *image,
                        const struct gi_border_spec *border, int repeated)
{
    int width = 0, height = 0;
    cudaDeviceGetAttribute(&width, cudaDevAttrMaxTexture2DGatherWidth, cu->ordinal);
    cudaDeviceGetAttribute(&height, cudaDevAttrMaxTexture2DGatherHeight, cu->ordinal);
    return image->channels == 1 && image->width <= width && image->height <= height - repeated &&
           gi_cuda_texture_makes(image, border);
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
    old->texture = 0;
    old->surface = 0;
    old->array = NULL;
}

static cudaError_t make_array(struct gi_cuda_array *to)
{
    struct cudaResourceDesc resource = {};
    cudaChannelFormatDesc format = cudaCreateChannelDesc(8 * (int)gi_type_nbytes(to->shape.type), 0,
                                                         0, 0, cudaChannelFormatKindUnsigned);
    cudaError_t error =
        cudaMallocArray(&to->array, &format, (size_t)to->shape.width, (size_t)to->shape.height,
                        cudaArrayTextureGather | cudaArraySurfaceLoadStore);
    if (error) {
        to->array = NULL;
        return error;
    }
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = to->array;
    error = cudaCreateSurfaceObject(&to->surface, &resource);
    if (error)
        to->surface = 0;
    return error;
}

static cudaError_t make_texture(struct gi_cuda_array *to, const struct gi_image *image,
                                const struct gi_border_spec *border)
{
    struct cudaResourceDesc resource = {};
    struct cudaTextureDesc how = {};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = to->array;
    how.addressMode[0] = how.addressMode[1] =
        border->mode == GI_BORDER_VALUE ? cudaAddressModeBorder : cudaAddressModeClamp;
    how.filterMode = cudaFilterModePoint;
    how.readMode = cudaReadModeElementType;
    gi_cuda_border_color(how.borderColor, image, border);
    to->mode = border->mode;
    to->value = border->value[0];
    cudaError_t error = cudaCreateTextureObject(&to->texture, &resource, &how, NULL);
    if (error)
        to->texture = 0;
    return error;
}

static bool same_shape(const struct gi_cuda_shape *a, const struct gi_cuda_shape *b)
{
    return a->width == b->width && a->height == b->height && a->type == b->type;
}

/* Creates the array and the texture object if they are missing. Returns whether both exist. If an
 * error is sticky, the caller's next launch reports it. */
static bool complete(struct gi_cuda_queue *cu, const struct gi_image *image,
                     const struct gi_border_spec *border)
{
    struct gi_cuda_array *to = &cu->gathered;
    cudaError_t error = to->array ? cudaSuccess : make_array(to);
    if (!error && !to->texture)
        error = make_texture(to, image, border);
    if (!error)
        return true;
    cudaGetLastError();
    gi_cuda_array_free(cu);
    return false;
}

/* An allocation, and the wait for kernels that may use the old array, cost more time than an array
 * saves on one image. Therefore the array is replaced only when two successive images have the same
 * shape. If the array of a shape could not be created, or was freed when memory ran out, no second
 * attempt is made for that shape. */
enum gi_status gi_cuda_array_texture(struct gi_cuda_queue *cu, cudaTextureObject_t *texture,
                                     const struct gi_image *image,
                                     const struct gi_border_spec *border, int repeated, bool always,
                                     struct gi_err *err)
{
    struct gi_cuda_array *to = &cu->gathered;
    struct gi_cuda_shape shape = {image->width, image->height + repeated, image->type};
    bool first = to->shape.width == 0, same = same_shape(&to->shape, &shape);
    bool again = same_shape(&to->asked, &shape), value = border->mode == GI_BORDER_VALUE;
    *texture = 0;
    to->asked = shape;
    if (!(same && to->array) && !(always || first || (again && !same)))
        return GI_OK;
    if (!same && to->array) {
        GI_CUDA_TRY(cudaStreamSynchronize(cu->stream));
        gi_cuda_array_free(cu);
    }
    to->shape = shape;
    if (to->texture && (to->mode != border->mode ||
                        (value && memcmp(&to->value, &border->value[0], sizeof to->value) != 0))) {
        cudaTextureObject_t old = to->texture;
        to->texture = 0;
        enum gi_status status = gi_cuda_texture_retire(cu, old, err);
        if (status)
            return status;
    }
    if (!complete(cu, image, border))
        return GI_OK;
    *texture = to->texture;
    return image->type == GI_U8 ? launch<uint8_t>(cu, image, shape.height, err)
                                : launch<uint16_t>(cu, image, shape.height, err);
}
