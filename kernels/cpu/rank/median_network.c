/* Median filters of 3 x 3 and 5 x 5 samples by sorting networks, on vectors of neighbouring pixels.
 * The columns of a window are sorted once for all windows that share them; then the rows of the
 * sorted columns are sorted. The sample at position (i, j) is then not less than i * j samples of
 * the window, itself included. Samples that are thereby proved too small or too large are dropped.
 *
 * J. Smith, "Implementing median filters in XC4000E FPGAs", Xcell 23, 1996; A. Adams, "Fast median
 * filters using separable sorting networks", ACM TOG 40(4), 2021.
 * SPDX-License-Identifier: MIT */
#include "kernels/cpu/rank/median.h"
#include "kernels/rank.h"

enum {
    ROWS_MAX = 5,
    STRIP_NBYTES = 4096, /* bytes of a row per job; the rows that windows need then stay in L1 */
};

/* Writes the medians of windows to out[0 .. n). `rows` are k rows of n + (k - 1) * step samples;
 * neighbouring samples of a window are `step` apart. `sorted` is scratch memory for k rows of that
 * length. */
typedef void medians_fn(void *out, void *const *rows, void *const *sorted, size_t n, size_t step);

/* Rows do not overlap, but there are too many for the compiler to test that at run time. */
#ifdef __clang__
#define INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#else
#define INDEPENDENT _Pragma("GCC ivdep")
#endif

#define LOW(a, b)  ((a) < (b) ? (a) : (b))
#define HIGH(a, b) ((a) > (b) ? (a) : (b))
#define SORT(T, a, b)                                                                              \
    do {                                                                                           \
        T low_ = LOW(a, b);                                                                        \
        b = HIGH(a, b);                                                                            \
        a = low_;                                                                                  \
    } while (0)

/* A network of 9 comparators: D. Knuth, "The Art of Computer Programming" 3, 5.3.4. */
#define SORT_5(T, a, b, c, d, e)                                                                   \
    do {                                                                                           \
        SORT(T, a, b);                                                                             \
        SORT(T, d, e);                                                                             \
        SORT(T, c, e);                                                                             \
        SORT(T, c, d);                                                                             \
        SORT(T, a, d);                                                                             \
        SORT(T, a, c);                                                                             \
        SORT(T, b, e);                                                                             \
        SORT(T, b, d);                                                                             \
        SORT(T, b, c);                                                                             \
    } while (0)

#define COLUMNS_3(name, T)                                                                         \
    static void name(void *const *rows, void *const *sorted, size_t n)                             \
    {                                                                                              \
        const T *r0 = rows[0], *r1 = rows[1], *r2 = rows[2];                                       \
        T *restrict s0 = sorted[0], *restrict s1 = sorted[1], *restrict s2 = sorted[2];            \
        INDEPENDENT                                                                                \
        for (size_t i = 0; i < n; i++) {                                                           \
            T a = r0[i], b = r1[i], c = r2[i];                                                     \
            SORT(T, a, b);                                                                         \
            SORT(T, b, c);                                                                         \
            SORT(T, a, b);                                                                         \
            s0[i] = a;                                                                             \
            s1[i] = b;                                                                             \
            s2[i] = c;                                                                             \
        }                                                                                          \
    }

/* Sorts columns. The result is the median of three numbers: the maximum of the minima, the median
 * of the medians, and the minimum of the maxima. */
#define MEDIANS_3(name, columns, T)                                                                \
    static void name(void *out, void *const *rows, void *const *sorted, size_t n, size_t step)     \
    {                                                                                              \
        columns(rows, sorted, n + 2 * step);                                                       \
        const T *s0 = sorted[0], *s1 = sorted[1], *s2 = sorted[2];                                 \
        T *restrict to = out;                                                                      \
        INDEPENDENT                                                                                \
        for (size_t i = 0; i < n; i++) {                                                           \
            size_t j = i + step, k = j + step;                                                     \
            T least = LOW(s2[i], s2[j]), most = HIGH(s0[i], s0[j]), a = s1[i], b = s1[j];          \
            T c = s1[k];                                                                           \
            least = LOW(least, s2[k]);                                                             \
            most = HIGH(most, s0[k]);                                                              \
            SORT(T, a, b);                                                                         \
            c = LOW(b, c);                                                                         \
            c = HIGH(a, c);                                                                        \
            SORT(T, least, most);                                                                  \
            c = LOW(c, most);                                                                      \
            to[i] = HIGH(c, least);                                                                \
        }                                                                                          \
    }

#define COLUMNS_5(name, T)                                                                         \
    static void name(void *const *rows, void *const *sorted, size_t n)                             \
    {                                                                                              \
        const T *r0 = rows[0], *r1 = rows[1], *r2 = rows[2], *r3 = rows[3], *r4 = rows[4];         \
        T *restrict s0 = sorted[0], *restrict s1 = sorted[1], *restrict s2 = sorted[2];            \
        T *restrict s3 = sorted[3], *restrict s4 = sorted[4];                                      \
        INDEPENDENT                                                                                \
        for (size_t i = 0; i < n; i++) {                                                           \
            T a = r0[i], b = r1[i], c = r2[i], d = r3[i], e = r4[i];                               \
            SORT_5(T, a, b, c, d, e);                                                              \
            s0[i] = a;                                                                             \
            s1[i] = b;                                                                             \
            s2[i] = c;                                                                             \
            s3[i] = d;                                                                             \
            s4[i] = e;                                                                             \
        }                                                                                          \
    }

/* Sorts row i of the window in ascending order; its columns are already sorted. */
#define ROW_5(T, row, i, step)                                                                     \
    T row##1 = row[i], row##2 = row[(i) + (step)], row##3 = row[(i) + 2 * (step)];                 \
    T row##4 = row[(i) + 3 * (step)], row##5 = row[(i) + 4 * (step)];                              \
    SORT_5(T, row##1, row##2, row##3, row##4, row##5)

/* Finds the median among five candidates: the maximum of the samples at positions (i, j) with i + j
 * <= 5, the minimum of the samples with i + j >= 7, and the three samples with i + j = 6. Three of
 * these five values are in order. Their median is the minimum of the third value over all ways to
 * merge them. */
#define MEDIANS_5(name, columns, T)                                                                \
    static void name(void *out, void *const *rows, void *const *sorted, size_t n, size_t step)     \
    {                                                                                              \
        columns(rows, sorted, n + 4 * step);                                                       \
        const T *a = sorted[0], *b = sorted[1], *c = sorted[2], *d = sorted[3], *e = sorted[4];    \
        T *restrict to = out;                                                                      \
        INDEPENDENT                                                                                \
        for (size_t i = 0; i < n; i++) {                                                           \
            ROW_5(T, a, i, step);                                                                  \
            ROW_5(T, b, i, step);                                                                  \
            ROW_5(T, c, i, step);                                                                  \
            ROW_5(T, d, i, step);                                                                  \
            ROW_5(T, e, i, step);                                                                  \
            T below = HIGH(a4, b3), above = LOW(b5, c4);                                           \
            T other_below = HIGH(c2, d1), other_above = LOW(d3, e2);                               \
            below = HIGH(below, other_below);                                                      \
            above = LOW(above, other_above);                                                       \
            SORT_5(T, a5, b4, c3, d2, e1);                                                         \
            SORT(T, below, above);                                                                 \
            T second = HIGH(below, c3), first = HIGH(above, b4);                                   \
            second = LOW(second, first);                                                           \
            to[i] = LOW(second, d2);                                                               \
        }                                                                                          \
    }

#define MEDIANS(bits)                                                                              \
    COLUMNS_3(columns_3_##bits, uint##bits##_t)                                                    \
    MEDIANS_3(medians_3_##bits, columns_3_##bits, uint##bits##_t)                                  \
    COLUMNS_5(columns_5_##bits, uint##bits##_t)                                                    \
    MEDIANS_5(medians_5_##bits, columns_5_##bits, uint##bits##_t)

MEDIANS(8)
MEDIANS(16)
MEDIANS(32)

struct network {
    struct gi_image *dst;
    const struct gi_image *src;
    const struct gi_median *spec;
    struct gi_tiling tiling;
    medians_fn *medians;
    size_t pixel;  /* bytes */
    size_t nbytes; /* bytes of a row with the window's halo */
};

static void to_keys(uint32_t *keys, size_t n)
{
    for (size_t i = 0; i < n; i++)
        keys[i] = median_key(keys[i]);
}

static void to_bits(uint32_t *bits, size_t n)
{
    for (size_t i = 0; i < n; i++)
        bits[i] = median_bits(bits[i]);
}

/* Loads the tile's part of the row at position p, with the window's halo, as keys to compare. */
static void load(const struct network *net, const struct gi_tile *tile, long long p, void *to)
{
    int half = net->spec->height / 2;
    size_t count = (size_t)(tile->x1 - tile->x0 + 2 * half);
    GI_CPU(row_copy)(to, net->src, &net->spec->border, p, (long long)tile->x0 - half, count);
    if (net->src->type == GI_F32)
        to_keys(to, count * (size_t)net->src->channels);
}

static void network_tile(void *arg, int index, void *scratch)
{
    const struct network *net = arg;
    struct gi_tile tile = GI_CPU(tile)(&net->tiling, net->src, index);
    int k = net->spec->height, half = k / 2;
    size_t n = (size_t)(tile.x1 - tile.x0) * (size_t)net->src->channels;
    char *ring = scratch;
    void *rows[ROWS_MAX], *sorted[ROWS_MAX];
    for (int i = 0; i < k; i++)
        sorted[i] = ring + (size_t)(k + i) * net->nbytes;
    for (int i = 0; i < k - 1; i++)
        load(net, &tile, (long long)tile.y0 - half + i, ring + (size_t)i * net->nbytes);
    for (int y = tile.y0; y < tile.y1; y++) {
        for (int i = 0; i < k; i++)
            rows[i] = ring + (size_t)((y - tile.y0 + i) % k) * net->nbytes;
        load(net, &tile, (long long)y + half, rows[k - 1]);
        char *out = (char *)gi_row(net->dst, y) + (size_t)tile.x0 * net->pixel;
        net->medians(out, rows, sorted, n, (size_t)net->src->channels);
        if (net->src->type == GI_F32)
            to_bits((uint32_t *)(void *)out, n);
        if (gi_has_alpha(net->src) && !net->spec->alpha_too)
            median_keep_alpha(net->dst, net->src, &tile, y);
    }
}

bool GI_CPU(median_network_takes)(const struct gi_queue *queue, const struct gi_image *src,
                                  const struct gi_median *spec)
{
    return gi_median_is(spec, 3) || gi_median_is(spec, 5);
}

enum gi_status GI_CPU(median_network)(struct gi_queue *queue, struct gi_image *dst,
                                      const struct gi_image *src, const struct gi_median *spec,
                                      struct gi_err *err)
{
    static medians_fn *const medians[2][3] = {{medians_3_8, medians_3_16, medians_3_32},
                                              {medians_5_8, medians_5_16, medians_5_32}};
    struct gi_pool *pool = gi_cpu_pool(queue);
    struct network net = {.dst = dst, .src = src, .spec = spec};
    net.medians = medians[spec->height == 5][src->type];
    net.pixel = gi_type_nbytes(src->type) * (size_t)src->channels;
    net.tiling =
        GI_CPU(tiling)(src, gi_pool_threads(pool), STRIP_NBYTES / net.pixel, spec->height - 1);
    net.nbytes = ((size_t)(net.tiling.strip + spec->height) * net.pixel + 127) / 64 * 64;
    return gi_pool_run(pool, net.tiling.nstrips * net.tiling.nbands, network_tile, &net,
                       2 * (size_t)spec->height * net.nbytes, err);
}
