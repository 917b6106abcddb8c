/* Making, freeing, viewing and converting images in host memory.
 * SPDX-License-Identifier: MIT */
#include "imgio/coded.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* Large images ask for huge pages, because the first access to each page costs a page fault. With
 * pages of 4 KiB all these faults take longer than filtering the image. The end of the image gets a
 * huge page too if it fills half of that. */
void *gi_samples_alloc(size_t nbytes)
{
    const size_t huge = (size_t)2 << 20;
    bool large = nbytes >= huge && nbytes <= SIZE_MAX - huge;
    size_t advised = large ? (nbytes + huge / 2) / huge * huge : 0;
    void *samples;
    if (posix_memalign(&samples, large ? huge : GI_ROW_ALIGN, advised > nbytes ? advised : nbytes))
        return NULL;
    if (large) /* only advice: a refusal changes nothing */
        madvise(samples, advised, MADV_HUGEPAGE);
    return samples;
}

enum gi_status gi_limits_check(const struct gi_limits *limits, const struct gi_image *made,
                               struct gi_err *err)
{
    uint64_t pixels = (uint64_t)made->width * (uint64_t)made->height;
    uint64_t nbytes = gi_image_nbytes(made);
    if (limits->max_pixels && pixels > limits->max_pixels)
        return gi_fail(err, GI_E_LIMIT,
                       "makes %d x %d pixels, over the limit of %llu; --max-pixels raises it",
                       made->width, made->height, (unsigned long long)limits->max_pixels);
    if (limits->max_bytes && nbytes > limits->max_bytes)
        return gi_fail(err, GI_E_LIMIT,
                       "makes %llu bytes of samples, over the limit of %llu; --max-bytes raises it",
                       (unsigned long long)nbytes, (unsigned long long)limits->max_bytes);
    return GI_OK;
}

enum gi_status gi_image_alloc(struct gi_image *image, int width, int height, int channels,
                              enum gi_type type, struct gi_err *err)
{
    return gi_image_alloc_from(image, NULL, width, height, channels, type, err);
}

enum gi_status gi_image_alloc_from(struct gi_image *image, const struct gi_allocator *allocator,
                                   int width, int height, int channels, enum gi_type type,
                                   struct gi_err *err)
{
    *image = (struct gi_image){.width = width,
                               .height = height,
                               .channels = channels,
                               .type = type,
                               .owner = GI_OWNER_HOST};
    size_t row = gi_row_nbytes(image); /* 2^31 * 4 * 4 fits in 64 bits */
    image->stride = (row + GI_ROW_ALIGN - 1) / GI_ROW_ALIGN * GI_ROW_ALIGN;
    size_t nbytes;
    bool possible = gi_mul_size(&nbytes, image->stride, (size_t)height);
    if (possible && allocator && (image->data = allocator->alloc(allocator->self, nbytes)))
        image->allocator = allocator;
    if (!possible || (!image->data && !(image->data = gi_samples_alloc(nbytes))))
        return gi_fail(err, GI_E_MEMORY, "out of memory: an image of %d x %d x %d samples", width,
                       height, channels);
    return GI_OK;
}

void gi_image_free(struct gi_image *image)
{
    if (image->owner == GI_OWNER_HOST && image->coded) {
        gi_image_free(&image->coded->file);
        free(image->coded);
    }
    if (image->owner == GI_OWNER_HOST && image->data && image->allocator)
        image->allocator->free(image->allocator->self, image->data);
    else if (image->owner == GI_OWNER_HOST)
        free(image->data);
    image->data = NULL;
    image->allocator = NULL;
    image->coded = NULL;
    image->owner = GI_OWNER_NONE;
}

void gi_image_shrink(struct gi_image *shape, int by)
{
    if (by <= 1)
        return;
    shape->shrunk = (struct gi_shrunk){.by = by, .width = shape->width, .height = shape->height};
    shape->width = (int)(((int64_t)shape->width + by - 1) / by);
    shape->height = (int)(((int64_t)shape->height + by - 1) / by);
}

struct gi_image gi_image_rows(const struct gi_image *image, int y0, int y1)
{
    struct gi_image view = *image;
    view.data = gi_row(image, y0);
    view.height = y1 - y0;
    view.owner = GI_OWNER_NONE;
    return view;
}

static void row_convert(void *dst, enum gi_type to, const void *src, enum gi_type from, size_t n)
{
    double full_to = (double)gi_type_full_scale(to), full_from = (double)gi_type_full_scale(from);
    for (size_t i = 0; i < n; i++) {
        double v = gi_sample(src, i, from) * full_to / full_from;
        if (to == GI_F32) {
            ((float *)dst)[i] = (float)v;
            continue;
        }
        v = v > 0 ? fmin(v, full_to) : 0; /* NaN fails the test */
        if (to == GI_U8)
            ((uint8_t *)dst)[i] = (uint8_t)lrint(v);
        else
            ((uint16_t *)dst)[i] = (uint16_t)lrint(v);
    }
}

enum gi_status gi_image_convert(struct gi_image *dst, const struct gi_image *src, enum gi_type type,
                                struct gi_err *err)
{
    enum gi_status status =
        gi_image_alloc_from(dst, src->allocator, src->width, src->height, src->channels, type, err);
    if (status)
        return status;
    for (int y = 0; y < src->height; y++) {
        if (type == src->type)
            memcpy(gi_row(dst, y), gi_row(src, y), gi_row_nbytes(src));
        else
            row_convert(gi_row(dst, y), type, gi_row(src, y), src->type, gi_row_samples(src));
    }
    return GI_OK;
}

/* Computes fmaf(). With `whole`, samples are integers up to 65535, so that the product, and the sum
 * of the product and a float, are exact in double. fmaf() is then avoided, because processors may
 * lack the instruction. */
static float weigh(float weight, float sample, float sum, bool whole)
{
    return whole ? (float)((double)weight * (double)sample + (double)sum)
                 : fmaf(weight, sample, sum);
}

enum gi_status gi_image_gray(struct gi_image *dst, const struct gi_image *src,
                             const float weights[3], struct gi_err *err)
{
    bool alpha = gi_has_alpha(src), whole = src->type != GI_F32;
    size_t from = (size_t)src->channels, to = (size_t)alpha + 1;
    enum gi_status status = gi_image_alloc(dst, src->width, src->height, (int)to, src->type, err);
    if (status)
        return status;
    float full = gi_type_full_scale(src->type);
    for (int y = 0; y < src->height; y++) {
        const void *in = gi_row(src, y);
        void *out = gi_row(dst, y);
        for (size_t x = 0; x < (size_t)src->width; x++) {
            float v = weights[0] * (float)gi_sample(in, x * from, src->type);
            v = weigh(weights[1], (float)gi_sample(in, x * from + 1, src->type), v, whole);
            v = weigh(weights[2], (float)gi_sample(in, x * from + 2, src->type), v, whole);
            if (src->type == GI_F32)
                ((float *)out)[x * to] = v;
            else if (src->type == GI_U16)
                ((uint16_t *)out)[x * to] = (uint16_t)lrintf(fminf(v, full));
            else
                ((uint8_t *)out)[x * to] = (uint8_t)lrintf(fminf(v, full));
            if (alpha)
                memcpy((char *)out + (x * to + 1) * gi_type_nbytes(src->type),
                       (const char *)in + (x * from + 3) * gi_type_nbytes(src->type),
                       gi_type_nbytes(src->type));
        }
    }
    return GI_OK;
}
