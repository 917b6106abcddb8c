/* Crop and copy with border. A result row has a part left of the image, a part inside, and a part
 * right of the image.
 * SPDX-License-Identifier: MIT */
#include "kernels/cpu/common/pixel_bytes.h"
#include "kernels/geometry.h"

struct copy_border_work {
    struct gi_image *dst;
    const struct gi_image *src;
    const struct gi_copy_border *spec;
    char value[GI_PIXEL_NBYTES_MAX];
};

/* Fills pixels x0 <= x < x1, which are outside the image, from row `in` of the image. */
static void copy_outside(char *out, const char *in, const struct copy_border_work *work,
                         long long x0, long long x1)
{
    size_t pixel = pixel_nbytes(work->src);
    int width = work->src->width;
    enum gi_border border = work->spec->border.mode;
    if (x0 >= x1)
        return;
    if (border == GI_BORDER_VALUE) {
        repeat_pixel(out, work->value, pixel, (size_t)(x1 - x0));
    } else if (border == GI_BORDER_CLAMP) {
        repeat_pixel(out, in + (x0 < 0 ? 0 : (size_t)width - 1) * pixel, pixel, (size_t)(x1 - x0));
    } else if (border == GI_BORDER_WRAP) {
        for (long long x = x0, n; x < x1; x += n, out += (size_t)n * pixel) {
            int from = gi_border_index(x, width, border);
            n = x1 - x < width - from ? x1 - x : width - from;
            memcpy(out, in + (size_t)from * pixel, (size_t)n * pixel);
        }
    } else {
        for (long long x = x0; x < x1; x++, out += pixel)
            memcpy(out, in + (size_t)gi_border_index(x, width, border) * pixel, pixel);
    }
}

static long long within(long long v, long long lo, long long hi)
{
    return v < lo ? lo : v > hi ? hi : v;
}

static void make_row(void *arg, int y, void *scratch)
{
    const struct copy_border_work *work = arg;
    size_t pixel = pixel_nbytes(work->src);
    long long left = work->spec->left, right = left + work->dst->width;
    long long in0 = within(0, left, right), in1 = within(work->src->width, left, right);
    int row = gi_copy_border_row(work->spec, work->src, y);
    char *out = gi_row(work->dst, y);
    if (row < 0) {
        repeat_pixel(out, work->value, pixel, (size_t)work->dst->width);
        return;
    }
    const char *in = gi_row(work->src, row);
    copy_outside(out, in, work, left, in0);
    if (in1 > in0)
        memcpy(out + (size_t)(in0 - left) * pixel, in + (size_t)in0 * pixel,
               (size_t)(in1 - in0) * pixel);
    copy_outside(out + (size_t)(in1 - left) * pixel, in, work, in1, right);
}

static enum gi_status by_rows(struct gi_queue *queue, struct gi_image *dst,
                              const struct gi_image *src, const struct gi_copy_border *spec,
                              struct gi_err *err)
{
    struct copy_border_work work = {.dst = dst, .src = src, .spec = spec};
    gi_border_pixel(work.value, &spec->border, src);
    return gi_pool_run(gi_cpu_pool(queue), dst->height, make_row, &work, 0, err);
}

GI_CPU_ONE_WAY(copy_border, "rows", by_rows);
