/* Dense convolution as the CUDA programming guide presents it: the general implementation, and the
 * reference for the other implementations on the device. This file contains all parts: the texture
 * object, the kernel with its tile in shared memory, and the launch.
 * GPUIMG_WAY=convolve_2d:textbook runs it.
 *
 * A block owns TALL rows of WIDE pixels of the result, and a thread owns one pixel. Shared memory
 * holds the tile, which is the samples under some rows of the kernel with their halo, as one plane
 * of floats per channel. The tile is fetched through a texture object whose address mode makes the
 * border, or by loads and index arithmetic if the hardware does not support that.
 *
 *          WIDE + taps - 1
 *        +-----------------+
 *        |   tile          |  TALL + steps - 1 rows: moves down by `steps` rows of the kernel, or,
 *        |  [WIDE x TALL]  |  if one kernel row does not fit, along the row by `taps`
 *        +-----------------+
 *
 * Example: 5 x 5 weights of 8-bit gray: the tile is 36 x 12 floats, and one pass covers the kernel.
 *
 * Phases: load (a tile) and compute (its share of the sums) until the kernel is covered; store.
 *
 * Weights are in constant memory, as a __grid_constant__ launch parameter: all threads of a warp
 * read the same weight, which the constant cache broadcasts. A __constant__ array would be the
 * other way to constant memory. But such an array is one symbol per device, which all launches
 * share, so a queue could overwrite the weights that the kernel of another queue is still reading.
 * A parameter belongs to its launch, and up to 32764 bytes of parameters are allowed
 * (GI_WEIGHTS_MAX).
 * SPDX-License-Identifier: MIT */
#include "kernels/cuda/convolution/convolve_2d.h"

#include <string.h>

#include "kernels/cuda/common/sample.cuh"
#include "kernels/convolution.h"

enum {
    WIDE = 32,
    TALL = 8,
    TAPS = 128,             /* maximum taps of a kernel row at once */
    TILE_NBYTES = 48 << 10, /* bytes of shared memory that every device grants without opting in */
};

struct textbook_args {
    cudaTextureObject_t texture; /* of src; 0: none */
    struct source src;
    struct target dst;
    struct rule rule;
    int width, height, anchor_x, anchor_y; /* of the kernel */
    int taps, steps;                       /* of its row and column, at once */
    int pitch, plane;                      /* floats per row of the tile; floats per channel */
    float weights[GI_WEIGHTS_MAX];
};

/* Fetches the samples of pixel (x, y), which may be outside the image. The centre of texel (x, y)
 * is at (x + 1/2, y + 1/2). A texel with fewer than four channels fills the first of v. */
static __device__ void pixel_fetch(float v[4], const struct textbook_args *args, int x, int y)
{
    const struct source *src = &args->src;
    float at_x = (float)x + 0.5f, at_y = (float)y + 0.5f;
    if (!args->texture) {
        for (int c = 0; c < src->channels; c++)
            v[c] = source_sample(src, x, y, c);
        return;
    }
    if (src->type == GI_F32) {
        float4 t = tex2D<float4>(args->texture, at_x, at_y);
        v[0] = t.x, v[1] = t.y, v[2] = t.z, v[3] = t.w;
    } else {
        uint4 t = tex2D<uint4>(args->texture, at_x, at_y);
        v[0] = (float)t.x, v[1] = (float)t.y, v[2] = (float)t.z, v[3] = (float)t.w;
    }
    for (int c = 0; src->premultiply && c < src->channels - 1; c++)
        v[c] = __fmul_rn(v[c], v[src->channels - 1]);
}

static __global__ void __launch_bounds__(WIDE *TALL)
    textbook(const __grid_constant__ struct textbook_args args)
{
    extern __shared__ float tile[];
    int x0 = (int)blockIdx.x * WIDE, y0 = (int)blockIdx.y * TALL, channels = args.src.channels;
    int x = x0 + (int)threadIdx.x, y = y0 + (int)threadIdx.y;
    float sum[GI_MAX_CHANNELS] = {};
    for (int j0 = 0; j0 < args.height; j0 += args.steps)
        for (int i0 = 0; i0 < args.width; i0 += args.taps) {
            int steps = min(args.steps, args.height - j0), taps = min(args.taps, args.width - i0);
            /* Load the tile with its halo, after all threads have used the last tile. */
            __syncthreads();
            for (int r = (int)threadIdx.y; r < TALL + steps - 1; r += TALL)
                for (int a = (int)threadIdx.x; a < WIDE + taps - 1; a += WIDE) {
                    float v[GI_MAX_CHANNELS];
                    pixel_fetch(v, &args, x0 + a + i0 - args.anchor_x, y0 + r + j0 - args.anchor_y);
                    for (int c = 0; c < channels; c++)
                        tile[c * args.plane + r * args.pitch + a] = v[c];
                }
            __syncthreads();
            /* Compute. Each thread multiplies the samples under its pixel by the weights. */
            for (int j = 0; j < steps; j++) {
                const float *weight = args.weights + (j0 + j) * args.width + i0;
                const float *under = tile + ((int)threadIdx.y + j) * args.pitch + (int)threadIdx.x;
                for (int i = 0; i < taps; i++)
#pragma unroll
                    for (int c = 0; c < GI_MAX_CHANNELS; c++)
                        if (c < channels)
                            sum[c] = __fmaf_rn(weight[i], under[c * args.plane + i], sum[c]);
            }
        }
    /* Store. */
    if (x < args.src.width && y < args.src.height)
        for (int c = 0; c < channels; c++)
            store_any(&args.src, &args.dst, &args.rule, (size_t)x * channels + c, y, sum[c],
                      sum[channels - 1]);
}

/* Returns whether the hardware can read the image in linear memory through a texture object whose
 * address mode makes the border. Texels have 1, 2 or 4 channels. */
static bool texture_fits(const struct gi_cuda_queue *cu, const struct gi_image *image,
                         const struct gi_border_spec *border)
{
    int width = 0, height = 0, pitch = 0;
    cudaDeviceGetAttribute(&width, cudaDevAttrMaxTexture2DLinearWidth, cu->ordinal);
    cudaDeviceGetAttribute(&height, cudaDevAttrMaxTexture2DLinearHeight, cu->ordinal);
    cudaDeviceGetAttribute(&pitch, cudaDevAttrMaxTexture2DLinearPitch, cu->ordinal);
    return image->channels != 3 && image->width <= width && image->height <= height &&
           image->stride <= (size_t)pitch && gi_cuda_texture_makes(image, border);
}

/* Creates a texture object over the rows of the image. At pixel coordinates the texture returns
 * samples unchanged, and outside the image it returns the nearest pixel or the border value. */
static cudaError_t make_texture(cudaTextureObject_t *texture, const struct gi_image *image,
                                const struct gi_border_spec *border)
{
    int bits = 8 * (int)gi_type_nbytes(image->type), n = image->channels;
    struct cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypePitch2D;
    resource.res.pitch2D.devPtr = image->data;
    resource.res.pitch2D.width = (size_t)image->width;
    resource.res.pitch2D.height = (size_t)image->height;
    resource.res.pitch2D.pitchInBytes = image->stride;
    resource.res.pitch2D.desc = cudaCreateChannelDesc(
        bits, n > 1 ? bits : 0, n > 2 ? bits : 0, n > 2 ? bits : 0,
        image->type == GI_F32 ? cudaChannelFormatKindFloat : cudaChannelFormatKindUnsigned);
    struct cudaTextureDesc how = {};
    how.addressMode[0] = how.addressMode[1] =
        border->mode == GI_BORDER_VALUE ? cudaAddressModeBorder : cudaAddressModeClamp;
    how.filterMode = cudaFilterModePoint; /* no interpolation */
    how.readMode = cudaReadModeElementType;
    gi_cuda_border_color(how.borderColor, image, border);
    return cudaCreateTextureObject(texture, &resource, &how, NULL);
}

static enum gi_status launch(struct gi_cuda_queue *cu, const struct textbook_args *args,
                             struct gi_err *err)
{
    dim3 grid(ceil_div(args->src.width, WIDE), ceil_div(args->src.height, TALL));
    size_t tile = (size_t)args->src.channels * args->plane * sizeof(float);
    textbook<<<grid, dim3(WIDE, TALL), tile, cu->stream>>>(*args);
    GI_CUDA_LAUNCHED();
    return GI_OK;
}

/* Chooses how much of the kernel is processed per tile, which is as much as fits in shared
 * memory. */
static void divide(struct textbook_args *args)
{
    int room = TILE_NBYTES / (int)sizeof(float) / args->src.channels;
    args->taps = args->width < TAPS ? args->width : TAPS;
    args->pitch = WIDE + args->taps - 1;
    args->steps = args->taps < args->width ? 1 : room / args->pitch - (TALL - 1);
    args->steps = args->steps < args->height ? args->steps : args->height;
    args->plane = (TALL + args->steps - 1) * args->pitch;
}

enum gi_status gi_cuda_textbook(struct gi_queue *queue, struct gi_image *dst,
                                const struct gi_image *src, const struct gi_dense *spec,
                                struct gi_err *err)
{
    struct gi_cuda_queue *cu = gi_cuda(queue);
    struct textbook_args args;
    args.src = source_of(src, &spec->border, spec->alpha);
    args.dst = target_of(dst);
    args.rule = rule_of(src, spec->alpha, &spec->epilogue, spec->sum);
    args.width = spec->width;
    args.height = spec->height;
    args.anchor_x = spec->anchor_x;
    args.anchor_y = spec->anchor_y;
    memcpy(args.weights, spec->weights, (size_t)spec->width * spec->height * sizeof(float));
    divide(&args);
    args.texture = 0;
    if (texture_fits(cu, src, &spec->border))
        GI_CUDA_TRY(make_texture(&args.texture, src, &spec->border));
    gi_way_detail(queue, !args.texture ? "plain loads: no texture object makes this border"
                         : spec->border.mode == GI_BORDER_CLAMP
                             ? "image read through a texture object, address mode clamp"
                             : "image read through a texture object, address mode border");
    enum gi_status status = launch(cu, &args, err), retired = GI_OK;
    if (args.texture) /* the kernel may still be reading */
        retired = gi_cuda_texture_retire(cu, args.texture, status ? NULL : err);
    return status ? status : retired;
}
