/* Gradient and non-maximum suppression of Canny's edge detector. A job computes a band of rows from
 * top to bottom. A ring buffer holds the filtered rows that the next gradients need, another one
 * the last three rows of gradients.
 * SPDX-License-Identifier: MIT */
#include "kernels/canny.h"

#include <string.h>

#include "kernels/cpu/cpu.h"

enum { KEPT = 3 /* rows of gradients */ };

/* Executes statements with G, the type of gradients, and M, the type of magnitudes. */
#define KINDS(type, ...)                                                                           \
    if ((type) == GI_F32) {                                                                        \
        typedef float G, M;                                                                        \
        (void)sizeof(M);                                                                           \
        __VA_ARGS__                                                                                \
    } else {                                                                                       \
        typedef int32_t G;                                                                         \
        typedef int64_t M;                                                                         \
        (void)sizeof(M);                                                                           \
        __VA_ARGS__                                                                                \
    }

static inline int32_t add_integer(int tap, int32_t v, int32_t sum)
{
    return sum + tap * v;
}

static inline float add_float(int tap, float v, float sum)
{
    return fmaf((float)tap, v, sum);
}

#define ADD(tap, v, sum) _Generic((sum), float : add_float, int32_t : add_integer)(tap, v, sum)

/* How magnitudes are computed; the members of struct gi_canny. */
struct norm {
    bool squared, interpolated;
};

static inline int64_t magnitude_integer(struct norm norm, int32_t x, int32_t y)
{
    int64_t wide_x = x, wide_y = y;
    int64_t sum = (x < 0 ? -wide_x : wide_x) + (y < 0 ? -wide_y : wide_y);
    return norm.squared ? wide_x * wide_x + wide_y * wide_y : sum;
}

static inline float magnitude_float(struct norm norm, float x, float y)
{
    float square = fmaf(x, x, y * y);
    return norm.interpolated ? sqrtf(square) : norm.squared ? square : fabsf(x) + fabsf(y);
}

#define MAGNITUDE(norm, x, y)                                                                      \
    _Generic((x), float : magnitude_float, int32_t : magnitude_integer)(norm, x, y)

/* The buffers of a job. G and M have 4 bytes, or M has 8. */
struct buffers {
    const struct gi_cpu_rows *work;
    int size, colors, smooth[GI_CANNY_SIZE_MAX], difference[GI_CANNY_SIZE_MAX];
    void *padded; /* a channel of a source row, with size / 2 more pixels at both sides */
    /* Per source row and colour, [row % size][colour]: the row filtered by D and by S. */
    char *filtered;
    void *new_x, *new_y; /* gradients of a colour */
    void *x, *y;         /* KEPT rows of gradients, [row % KEPT] */
    char *m;             /* KEPT rows of magnitudes, with a 0 at both sides */
    size_t m_bytes;      /* of such a row */
};

static size_t width_of(const struct buffers *b)
{
    return (size_t)b->work->src->width;
}

/* Divides the scratch memory among the buffers, and returns its size in bytes. */
static size_t lay_out(struct buffers *b, const struct gi_cpu_rows *work, char *scratch)
{
    const struct gi_canny *spec = work->spec;
    size_t row = (size_t)work->src->width * 4, at = 0;
    b->work = work;
    b->size = spec->size;
    b->colors = gi_color_channels(work->src);
    b->m_bytes = ((size_t)work->src->width + 2) * (work->src->type == GI_F32 ? 4 : 8);
    const size_t sizes[] = {row + GI_CANNY_SIZE_MAX * 4,
                            row * 2 * (size_t)(b->size * b->colors),
                            row,
                            row,
                            row * KEPT,
                            row * KEPT,
                            b->m_bytes * KEPT};
    void *parts[7];
    for (int i = 0; i < 7; i++) {
        parts[i] = scratch ? scratch + at : NULL;
        at += (sizes[i] + 63) / 64 * 64;
    }
    b->padded = parts[0];
    b->filtered = parts[1];
    b->new_x = parts[2];
    b->new_y = parts[3];
    b->x = parts[4];
    b->y = parts[5];
    b->m = parts[6];
    gi_canny_taps(b->smooth, b->difference, b->size);
    return at;
}

/* Returns row `y` of the ring of filtered rows: D's, or with `smooth` S's. */
static void *filtered_row(const struct buffers *b, int y, int color, bool smooth)
{
    size_t slot = (size_t)((y + b->size) % b->size * b->colors + color) * 2 + smooth;
    return b->filtered + slot * width_of(b) * 4;
}

/* Writes channel `color` of the source row nearest to y to b->padded. */
static void pad_row(const struct buffers *b, int y, int color)
{
    const struct gi_image *src = b->work->src;
    int half = b->size / 2, width = src->width;
    const void *row = gi_row(src, gi_border_index(y, src->height, GI_BORDER_CLAMP));
    size_t channels = (size_t)src->channels;
    KINDS(src->type, {
        G *padded = b->padded;
        GI_CPU_TYPES(src->type, {
            const T *in = (const T *)row + color;
            for (size_t x = 0; x < (size_t)width; x++)
                padded[(size_t)half + x] = (G)in[x * channels];
        })
        for (int i = 0; i < half; i++) {
            padded[i] = padded[half];
            padded[half + width + i] = padded[half + width - 1];
        }
    })
}

/* Functions that are specialised for constant sizes. */
#define INLINE static inline __attribute__((always_inline))

INLINE void filter_row(const struct buffers *b, int y, const int size)
{
    size_t width = width_of(b);
    for (int c = 0; c < b->colors; c++) {
        pad_row(b, y, c);
        KINDS(b->work->src->type, {
            const G *restrict in = b->padded;
            G *restrict d = filtered_row(b, y, c, false);
            G *restrict s = filtered_row(b, y, c, true);
            for (size_t x = 0; x < width; x++) {
                G sum_d = 0;
                G sum_s = 0;
                for (int i = 0; i < size; i++) {
                    sum_d = ADD(b->difference[i], in[x + (size_t)i], sum_d);
                    sum_s = ADD(b->smooth[i], in[x + (size_t)i], sum_s);
                }
                d[x] = sum_d;
                s[x] = sum_s;
            }
        })
    }
}

/* Adds rows of filtered samples to the gradients, one after the other, so that compilers vectorise
 * the loops. */
static void gradient_color(const struct buffers *b, int y, int color)
{
    size_t width = width_of(b);
    KINDS(b->work->src->type, {
        G *restrict gx = b->new_x;
        G *restrict gy = b->new_y;
        memset(gx, 0, width * sizeof *gx);
        memset(gy, 0, width * sizeof *gy);
        for (int j = 0; j < b->size; j++) {
            const G *restrict d = filtered_row(b, y - b->size / 2 + j, color, false);
            const G *restrict s = filtered_row(b, y - b->size / 2 + j, color, true);
            const int smooth = b->smooth[j];
            const int difference = b->difference[j];
            for (size_t i = 0; i < width; i++) {
                gx[i] = ADD(smooth, d[i], gx[i]);
                gy[i] = ADD(difference, s[i], gy[i]);
            }
        }
        for (size_t i = 0; i < width && b->size == 7; i++) {
            gx[i] = sizeof(M) == 8 ? (G)gi_canny_sixteenth((int32_t)gx[i]) : gx[i] / 16;
            gy[i] = sizeof(M) == 8 ? (G)gi_canny_sixteenth((int32_t)gy[i]) : gy[i] / 16;
        }
    })
}

/* Keeps the gradients of a colour where their magnitude is larger than that of the colours before
 * it. */
static void gradient_keep(const struct buffers *b, int y, bool first)
{
    const struct gi_canny *spec = b->work->spec;
    const struct norm norm = {spec->squared, spec->interpolated};
    size_t width = width_of(b), at = (size_t)((y + KEPT) % KEPT);
    KINDS(b->work->src->type, {
        const G *restrict new_x = b->new_x;
        const G *restrict new_y = b->new_y;
        G *restrict gx = (G *)b->x + at * width;
        G *restrict gy = (G *)b->y + at * width;
        M *restrict m = (M *)(void *)(b->m + at * b->m_bytes) + 1;
        if (first) {
            memcpy(gx, new_x, width * sizeof *gx);
            memcpy(gy, new_y, width * sizeof *gy);
            for (size_t i = 0; i < width; i++)
                m[i] = MAGNITUDE(norm, new_x[i], new_y[i]);
        }
        for (size_t i = 0; i < width && !first; i++) {
            const M new_m = MAGNITUDE(norm, new_x[i], new_y[i]);
            const bool larger = new_m > m[i];
            gx[i] = larger ? new_x[i] : gx[i];
            gy[i] = larger ? new_y[i] : gy[i];
            m[i] = larger ? new_m : m[i];
        }
    })
}

/* Makes row y of gradients, which may be just outside the image. */
static void gradient_row(const struct buffers *b, int y)
{
    char *m = b->m + (size_t)((y + KEPT) % KEPT) * b->m_bytes;
    size_t nbytes = b->work->src->type == GI_F32 ? 4 : 8;
    memset(m, 0, y < 0 || y >= b->work->src->height ? b->m_bytes : nbytes);
    memset(m + b->m_bytes - nbytes, 0, nbytes);
    for (int c = 0; c < b->colors && y >= 0 && y < b->work->src->height; c++) {
        gradient_color(b, y, c);
        gradient_keep(b, y, c == 0);
    }
}

static int class_integer(const struct gi_canny *spec, int32_t x, int32_t y, const int64_t *above,
                         const int64_t *own, const int64_t *below)
{
    return gi_canny_class(x, y, above, own, below, (int64_t)spec->low, (int64_t)spec->high);
}

static int class_float(const struct gi_canny *spec, float x, float y, const float *above,
                       const float *own, const float *below)
{
    float low = (float)spec->low, high = (float)spec->high;
    return (spec->interpolated ? gi_canny_class_interpolated
                               : gi_canny_class_float)(x, y, above, own, below, low, high);
}

#define CLASS(spec, x, ...)                                                                        \
    _Generic((x), float : class_float, int32_t : class_integer)(spec, x, __VA_ARGS__)

/* Makes row y of the result, from three rows of gradients. */
static void suppress_row(const struct buffers *b, int y)
{
    const struct gi_canny *spec = b->work->spec;
    const struct gi_image *src = b->work->src;
    size_t width = width_of(b), at = (size_t)(y % KEPT);
    bool framed = spec->interpolated && (y == 0 || y == src->height - 1);
    KINDS(src->type, {
        const G *gx = (const G *)b->x + at * width;
        const G *gy = (const G *)b->y + at * width;
        const M *own = (const M *)(const void *)(b->m + at * b->m_bytes);
        const M *above = (const M *)(const void *)(b->m + (at + 2) % KEPT * b->m_bytes);
        const M *below = (const M *)(const void *)(b->m + (at + 1) % KEPT * b->m_bytes);
        const M low = (M)spec->low;
        GI_CPU_TYPES(src->type, {
            T *out = gi_row(b->work->dst, y);
            memset(out, 0, width * sizeof *out);
            for (size_t i = 0; i < width && !framed; i++)
                if (own[i + 1] >= low) /* a quick test; the class tests it again */
                    out[i] = (T)CLASS(spec, gx[i], gy[i], above + i, own + i, below + i);
            if (spec->interpolated)
                out[0] = out[width - 1] = 0;
        })
    })
}

enum { BAND = 64 /* rows of a job */ };

GI_PER_KIND void make_rows(const struct buffers *b, int y0, int y1, const int size)
{
    int half = size / 2;
    for (int y = y0 - 1 - half; y <= y1 + half; y++) {
        filter_row(b, y, size);
        if (y - half >= y0 - 1)
            gradient_row(b, y - half);
        if (y - half - 1 >= y0)
            suppress_row(b, y - half - 1);
    }
}

static void make_band(void *arg, int index, void *scratch)
{
    struct buffers b;
    lay_out(&b, arg, scratch);
    int y0 = index * BAND, height = b.work->src->height;
    int y1 = height - y0 < BAND ? height : y0 + BAND;
    if (b.size == 3)
        make_rows(&b, y0, y1, 3);
    else if (b.size == 5)
        make_rows(&b, y0, y1, 5);
    else
        make_rows(&b, y0, y1, 7);
}

static enum gi_status by_bands(struct gi_queue *queue, struct gi_image *dst,
                               const struct gi_image *src, const struct gi_canny *spec,
                               struct gi_err *err)
{
    struct gi_cpu_rows work = {dst, src, spec};
    struct buffers b;
    size_t nbytes = lay_out(&b, &work, NULL);
    return gi_pool_run(gi_cpu_pool(queue), (src->height + BAND - 1) / BAND, make_band, &work,
                       nbytes, err);
}

GI_CPU_ONE_WAY(canny, "bands", by_bands);
