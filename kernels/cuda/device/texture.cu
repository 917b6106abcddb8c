/* Texture objects of images in linear (pitched) memory.
 * SPDX-License-Identifier: MIT */
#include <string.h>

#include "kernels/cuda/cuda.h"

/* Returns whether the hardware supports the image and its border. Border values must be
 * representable as texels. */
static bool fits(const struct gi_cuda_queue *cu, const struct gi_image *image,
                 const struct gi_border_spec *border)
{
    int width = 0, height = 0, pitch = 0;
    cudaDeviceGetAttribute(&width, cudaDevAttrMaxTexture2DLinearWidth, cu->ordinal);
    cudaDeviceGetAttribute(&height, cudaDevAttrMaxTexture2DLinearHeight, cu->ordinal);
    cudaDeviceGetAttribute(&pitch, cudaDevAttrMaxTexture2DLinearPitch, cu->ordinal);
    if (image->channels == 3 || image->width > width || image->height > height ||
        image->stride > (size_t)pitch)
        return false;
    if (border->mode != GI_BORDER_VALUE)
        return border->mode == GI_BORDER_CLAMP;
    float full = gi_type_full_scale(image->type);
    for (int c = 0; c < image->channels && image->type != GI_F32; c++)
        if (!(border->value[c] >= 0 && border->value[c] <= full &&
              border->value[c] == (float)(int)border->value[c]))
            return false;
    return true;
}

static cudaError_t make(cudaTextureObject_t *texture, const struct gi_image *image,
                        const struct gi_border_spec *border)
{
    int bits = 8 * (int)gi_type_nbytes(image->type), n = image->channels;
    struct cudaResourceDesc resource = {};
    struct cudaTextureDesc how = {};
    resource.resType = cudaResourceTypePitch2D;
    resource.res.pitch2D.devPtr = image->data;
    resource.res.pitch2D.width = (size_t)image->width;
    resource.res.pitch2D.height = (size_t)image->height;
    resource.res.pitch2D.pitchInBytes = image->stride;
    resource.res.pitch2D.desc = cudaCreateChannelDesc(
        bits, n > 1 ? bits : 0, n > 2 ? bits : 0, n > 2 ? bits : 0,
        image->type == GI_F32 ? cudaChannelFormatKindFloat : cudaChannelFormatKindUnsigned);
    bool value = border->mode == GI_BORDER_VALUE;
    how.addressMode[0] = how.addressMode[1] = value ? cudaAddressModeBorder : cudaAddressModeClamp;
    how.filterMode = cudaFilterModePoint;
    how.readMode = cudaReadModeElementType;
    for (int c = 0; c < n; c++) {
        unsigned whole = (unsigned)border->value[c];
        if (image->type == GI_F32)
            how.borderColor[c] = border->value[c];
        else /* integers are stored as they are */
            memcpy(&how.borderColor[c], &whole, sizeof whole);
    }
    return cudaCreateTextureObject(texture, &resource, &how, NULL);
}

enum gi_status gi_cuda_texture(struct gi_cuda_queue *cu, cudaTextureObject_t *texture,
                               const struct gi_image *image, const struct gi_border_spec *border,
                               struct gi_err *err)
{
    *texture = 0;
    if (!fits(cu, image, border))
        return GI_OK;
    /* The work that uses the last texture is enqueued by now. */
    struct gi_cuda_texture *last = &cu->textures[cu->ntextures % GI_CUDA_TEXTURES];
    if (last->done)
        GI_CUDA_TRY(cudaEventRecord(last->done, cu->stream));
    struct gi_cuda_texture *next = &cu->textures[++cu->ntextures % GI_CUDA_TEXTURES];
    if (!next->done)
        GI_CUDA_TRY(cudaEventCreateWithFlags(&next->done, cudaEventDisableTiming));
    if (next->object) {
        GI_CUDA_TRY(cudaEventSynchronize(next->done));
        cudaDestroyTextureObject(next->object);
        next->object = 0;
    }
    GI_CUDA_TRY(make(&next->object, image, border));
    *texture = next->object;
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
