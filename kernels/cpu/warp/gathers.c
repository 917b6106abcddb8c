/* Bilinear warping of bytes: vectors of pixels all of whose taps are in the source.
 * SPDX-License-Identifier: MIT */
#include "kernels/cpu/common/simd.h"
#include "kernels/cpu/warp/warp.h"

/* Of the pixel at the left and top: where 4 bytes at it, and at the next one, are in their row. */
struct bounds {
    int right, top, bottom;
};

static struct bounds bounds_of(const struct warp_work *work)
{
    int channels = work->src->channels, first = work->spec->src_y;
    int last = work->src->width * channels - 4 - (channels > 2 ? channels : 0);
    int end = first + work->src->height, height = work->spec->height;
    struct bounds b = {last < 0 ? -1 : last / channels, first > 0 ? first : 0,
                       (end < height ? end : height) - 2};
    b.right = b.right < work->src->width - 2 ? b.right : work->src->width - 2;
    return b;
}

/* Where pixels i to i + GI_LANES - 1 begin in the source; false where one is out of bounds. */
static inline bool offsets(int32_t *at, const struct warp_work *work,
                           const struct warp_places *places, int i, struct bounds b)
{
    int channels = work->src->channels, stride = (int)work->src->stride;
    int out = 0;
    for (int l = 0; l < GI_LANES; l++) {
        int x = places->x[i + l], y = places->y[i + l];
        out |= x | (b.right - x) | (y - b.top) | (b.bottom - y);
        at[l] = (int32_t)((uint32_t)(y - work->spec->src_y) * (uint32_t)stride +
                          (uint32_t)x * (uint32_t)channels);
    }
    return out >= 0;
}

static inline GI_VEC mix(GI_VEC a, GI_VEC b, GI_VEC t)
{
    return vec_fma(t, vec_sub(b, a), a);
}

/* A row's pixels, `p`, and those right of them, `q`. */
static inline void load(GI_VEC *p, GI_VEC *q, const uint8_t *row, const int32_t *at, int channels)
{
    GI_VEC more[4];
    vec_gather(p, row, at);
    if (channels > 2)
        vec_gather(more, row + channels, at);
    for (int c = 0; c < channels; c++)
        q[c] = channels > 2 ? more[c] : p[channels + c];
}

/* What the rows of taps p, q and r, s come to, channel by channel. */
static inline void values(GI_VEC *f, const struct warp_work *work, const int32_t *at, GI_VEC t,
                          GI_VEC u, int channels, bool weigh)
{
    const uint8_t *row = work->src->data;
    GI_VEC p[4], q[4], r[4], s[4];
    int last = channels - 1;
    load(p, q, row, at, channels);
    load(r, s, row + work->src->stride, at, channels);
    for (int c = 0; c < channels; c++) {
        bool by = weigh && c < last;
        f[c] =
            mix(mix(by ? vec_mul(p[c], p[last]) : p[c], by ? vec_mul(q[c], q[last]) : q[c], t),
                mix(by ? vec_mul(r[c], r[last]) : r[c], by ? vec_mul(s[c], s[last]) : s[c], t), u);
    }
    for (int c = 0; weigh && c < last; c++)
        f[c] = vec_if_greater(f[last], vec_set(0), vec_div(f[c], f[last]), vec_set(0));
}

static inline void group(const struct warp_work *work, const int32_t *at,
                         const struct warp_places *places, int i, uint8_t *out, int channels,
                         bool weigh)
{
    uint8_t bytes[4][GI_LANES];
    GI_VEC f[4];
    values(f, work, at, vec_load(places->t + i), vec_load(places->u + i), channels, weigh);
    if (channels == 1) {
        vec_store_u8(out + i, f[0]);
        return;
    }
    for (int c = 0; c < channels; c++)
        vec_store_u8(bytes[c], f[c]);
    for (int l = 0; l < GI_LANES; l++)
        for (int c = 0; c < channels; c++)
            out[(i + l) * channels + c] = bytes[c][l];
}

static inline void run(const struct warp_work *work, const struct warp_places *places, int first,
                       int last, void *out, int channels, bool weigh)
{
    struct bounds b = bounds_of(work);
    int32_t at[GI_LANES];
    int i = first;
    for (; i + GI_LANES <= last; i += GI_LANES)
        if (offsets(at, work, places, i, b))
            group(work, at, places, i, out, channels, weigh);
        else
            GI_CPU(warp_pixels)(work, places, i, i + GI_LANES, out);
    GI_CPU(warp_pixels)(work, places, i, last, out);
}

void GI_CPU(warp_gathers)(const struct warp_work *work, const struct warp_places *places, int first,
                          int last, void *out)
{
    switch (work->src->channels * 2 + work->weigh) {
    case 2:
        run(work, places, first, last, out, 1, false);
        break;
    case 4:
        run(work, places, first, last, out, 2, false);
        break;
    case 5:
        run(work, places, first, last, out, 2, true);
        break;
    case 6:
        run(work, places, first, last, out, 3, false);
        break;
    case 8:
        run(work, places, first, last, out, 4, false);
        break;
    default:
        run(work, places, first, last, out, 4, true);
    }
}

bool GI_CPU(warp_gathers_takes)(const struct gi_queue *queue, const struct gi_image *src,
                                const struct gi_warp *spec)
{
    (void)queue;
    return src->type == GI_U8 && spec->interpolation == GI_LINEAR && GI_LANES > 4 &&
           (double)src->stride * src->height < INT32_MAX;
}
