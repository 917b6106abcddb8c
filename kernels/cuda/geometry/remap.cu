/* Geometric transforms: preparation of the kernel arguments and choice of the implementation.
 * SPDX-License-Identifier: MIT */
#include <math.h>

#include "kernels/cuda/geometry/remap.h"

#include "kernels/cuda/geometry/remap.cuh"

/* Uploads the tables of a RAYS map: the radius of every column of `dst`, then the cosine and sine
 * of every row. */
static enum gi_status upload_rays(struct gi_cuda_queue *cu, struct remap_args *args,
                                  struct gi_err *err)
{
    struct gi_rays *rays = &args->map.rays;
    size_t across = (size_t)args->dst_width * sizeof(double);
    size_t down = (size_t)args->dst_height * sizeof(double), first = (size_t)args->dst_y;
    const double *host[] = {rays->radius, rays->cosine + first, rays->sine + first};
    size_t nbytes[] = {across, down, down};
    void *scratch;
    enum gi_status status = gi_cuda_scratch(cu, &scratch, across + 2 * down, err);
    char *to = (char *)scratch;
    const double *there[3];
    for (int i = 0; i < 3 && !status; i++, to += nbytes[i - 1]) {
        there[i] = (const double *)to;
        status = gi_cuda_copy_to_device(cu, to, nbytes[i], host[i], nbytes[i], nbytes[i], 1, err);
    }
    if (status)
        return status;
    rays->radius = there[0];
    rays->cosine = there[1] - first;
    rays->sine = there[2] - first;
    return GI_OK;
}

static enum gi_status fill_args(struct gi_cuda_queue *cu, struct remap_args *args,
                                struct gi_image *dst, const struct gi_image *src,
                                const struct gi_remap *spec, struct gi_err *err)
{
    *args = {};
    args->src = source_of(src, &spec->border, GI_ALPHA_PLAIN);
    args->height = spec->height;
    args->src_y = spec->src_y;
    args->dst = target_of(dst);
    args->dst_width = dst->width;
    args->dst_height = dst->height;
    args->dst_y = spec->dst_y;
    args->weigh =
        gi_has_alpha(src) && spec->alpha == GI_ALPHA_WEIGH && spec->interpolation != GI_NEAREST;
    args->of_rows = spec->map.kind == GI_MAP_RINGS ? GI_BORDER_WRAP : spec->border.mode;
    args->cubic = spec->cubic;
    for (int c = 0; c < GI_MAX_CHANNELS; c++)
        args->background[c] = spec->border.value[c];
    args->map = spec->map;
    for (int i = 0; i < 2 && spec->map.kind == GI_MAP_FIELD; i++)
        args->field[i] = *spec->map.field[i];
    const struct gi_image *field = args->field;
    int most = dst->width > dst->height ? dst->width : dst->height;
    args->fours =
        spec->map.kind == GI_MAP_FIELD && field[0].channels <= 2 && most <= REMAP_FOURS_MAX &&
        ((size_t)field[0].data | (size_t)field[1].data | field[0].stride | field[1].stride) %
                sizeof(float4) ==
            0;
    /* The multiprocessors run about four blocks of 32 x 32 pixels each. The rows that they will
     * load next are as many pixels further on. */
    int rows = cu->units * 4096 / dst->width / 32 * 32;
    args->ahead = rows < 32 ? 32 : rows;
    return spec->map.kind == GI_MAP_RAYS ? upload_rays(cu, args, err) : GI_OK;
}

static enum gi_status by_plain(struct gi_queue *queue, struct gi_image *dst,
                               const struct gi_image *src, const struct gi_remap *spec,
                               struct gi_err *err)
{
    struct gi_cuda_queue *cu = gi_cuda(queue);
    struct remap_args args;
    enum gi_status status = fill_args(cu, &args, dst, src, spec, err);
    return status ? status : gi_cuda_remap_plain(cu, &args, spec->interpolation, err);
}

/* Returns whether a pixel whose taps are all border values becomes the border value without a
 * special case. For floats it may not, because of infinities, of zeros with a sign, and of cubic
 * weights, whose sum is not exactly 1. */
static bool border_keeps(const struct gi_image *src, const struct gi_remap *spec)
{
    const float *value = spec->border.value, full = gi_type_full_scale(src->type);
    bool weigh = gi_has_alpha(src) && spec->alpha == GI_ALPHA_WEIGH, keeps = true, empty = true;
    for (int c = 0; c < src->channels; c++) {
        float v = value[c];
        bool zero = v == 0 && !signbit(v);
        empty = empty && zero;
        keeps = keeps && (src->type == GI_F32
                              ? zero || (spec->interpolation == GI_LINEAR && isfinite(v) && v != 0)
                              : v >= 0 && v <= full && v == (float)(int)v);
    }
    if (weigh)
        keeps = keeps && (empty || (src->type != GI_F32 && value[src->channels - 1] > 0));
    return spec->border.mode != GI_BORDER_VALUE || keeps;
}

/* Returns whether the weights are Keys' with a parameter a that tiles of integers take. */
static bool is_common(const struct gi_cubic *cubic)
{
    float a = cubic->k[0][3];
    return gi_cubic_keeps_samples(cubic) && (a == 0 || (a <= -0.0625f && a >= -1));
}

static bool takes_tiles(const struct gi_queue *, const struct gi_image *src,
                        const struct gi_remap *spec)
{
    bool lines = spec->map.kind == GI_MAP_AFFINE || spec->map.kind == GI_MAP_PROJECTIVE;
    bool common =
        spec->interpolation == GI_LINEAR || src->type == GI_F32 || is_common(&spec->cubic);
    return lines && spec->interpolation != GI_NEAREST && common && border_keeps(src, spec);
}

static enum gi_status by_tiles(struct gi_queue *queue, struct gi_image *dst,
                               const struct gi_image *src, const struct gi_remap *spec,
                               struct gi_err *err)
{
    struct gi_cuda_queue *cu = gi_cuda(queue);
    struct remap_args args;
    enum gi_status status = fill_args(cu, &args, dst, src, spec, err);
    if (status)
        return status;
    return src->type == GI_U8    ? gi_cuda_remap_tiles_u8(cu, &args, spec->interpolation, err)
           : src->type == GI_U16 ? gi_cuda_remap_tiles_u16(cu, &args, spec->interpolation, err)
                                 : gi_cuda_remap_tiles_f32(cu, &args, spec->interpolation, err);
}

/* For fewer pixels than this, the copy into the array costs more time than it saves. On an H100,
 * 512 x 512 pixels take 10.8 us with the array and 8.1 us by plain loads; 2048 x 2048 pixels take
 * 32 us with the array and 38 us by plain loads. The array never pays for floats (549 against 400
 * us at 8192 x 8192) and nearest samples (290 against 271 to 290 us). */
enum { TEXTURE_PIXELS_MIN = 1 << 20 };

/* Returns whether GPUIMG_WAY forces a way of remap. If so, gi_way_next() finds no way after row
 * 0. */
static bool is_forced(const struct gi_queue *queue)
{
    return gi_way_next(queue, gi_ways_find(queue->k, "remap"), 0) < 0;
}

/* Accepts whole images only, because the rows above and below a band are not the rows that the
 * address mode supplies. Affine and projective maps are left to the ways that read rows in
 * order. */
static bool takes_texture(const struct gi_queue *queue, const struct gi_image *src,
                          const struct gi_remap *spec)
{
    bool lines = spec->map.kind == GI_MAP_AFFINE || spec->map.kind == GI_MAP_PROJECTIVE;
    bool whole = spec->src_y == 0 && src->height == spec->height;
    bool pays = (int64_t)src->width * src->height >= TEXTURE_PIXELS_MIN;
    return whole && !lines && (pays || is_forced(queue)) && src->type != GI_F32 &&
           spec->interpolation == GI_LINEAR && border_keeps(src, spec) &&
           gi_cuda_array_fits((const struct gi_cuda_queue *)queue, src, &spec->border,
                              spec->map.kind == GI_MAP_RINGS);
}

static enum gi_status by_texture(struct gi_queue *queue, struct gi_image *dst,
                                 const struct gi_image *src, const struct gi_remap *spec,
                                 struct gi_err *err)
{
    struct gi_cuda_queue *cu = gi_cuda(queue);
    struct remap_args args;
    cudaTextureObject_t texture = 0;
    enum gi_status status = fill_args(cu, &args, dst, src, spec, err);
    if (!status)
        status = gi_cuda_array_texture(cu, &texture, src, &spec->border,
                                       spec->map.kind == GI_MAP_RINGS, is_forced(queue), err);
    if (status)
        return status;
    if (!texture) {
        gi_way_detail(queue, "no texture object of this shape at hand: plain loads instead");
        return gi_cuda_remap_plain(cu, &args, spec->interpolation, err);
    }
    gi_way_detail(queue, spec->border.mode == GI_BORDER_CLAMP
                             ? "image copied into a texture object, address mode clamp"
                             : "image copied into a texture object, address mode border");
    return gi_cuda_remap_texture(cu, &args, texture, err);
}

const struct gi_remap_way gi_cuda_remap_ways[GI_WAYS_MAX] = {
    {{"tiles", "affine and projective maps, bilinear and bicubic"}, takes_tiles, by_tiles},
    {{"texture", "gray of 8 and 16 bits by other maps, bilinear, borders clamp and border"},
     takes_texture,
     by_texture},
    {{"plain", "everything"}, NULL, by_plain},
};
