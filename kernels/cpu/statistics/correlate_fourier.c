/* Template matching of bytes by Fourier transforms. The image is cut into tiles of scores, and a
 * job makes the scores of two tiles at a time, one in the real and one in the imaginary parts:
 *
 *     tile of scores        samples of a transform      products of the samples with the pattern
 *     tile_width x          width x height              inverse transform of the product of both
 *     tile_height           = tile + pattern - 1        transforms, the pattern's conjugated
 *
 * The sums of products are whole numbers, and the transforms are exact up to rounding to the
 * nearest: with the unit roundoff e = 2^-53 and n = 22 levels at most, the error is below 10 n e
 * times the product of the norms of samples and pattern (C. Percival, Rapid multiplication modulo
 * the sum and difference of highly composite numbers, 2003). These are at most 255 * 2^11.5 and 255
 * * 2^10, so the error is below 0.005.
 *
 * The sums of samples and of their squares slide down the columns and along the rows.
 * SPDX-License-Identifier: MIT */
#include "kernels/cpu/statistics/correlate_fourier.h"

#include <stdlib.h>
#include <string.h>

#include "kernels/fourier.h"

enum {
    SIDE_MIN = 256,     /* of a transform, unless the image is smaller */
    PATTERN_MAX = 1024, /* side of a pattern; that of a transform is at most twice as long */
    PIXELS_MIN = 256,   /* of a pattern; direct sums are quicker for smaller ones */
};

struct fourier {
    struct gi_image *dst;
    const struct gi_image *src, *pattern;
    enum gi_correlate_method method;
    int width, height;           /* of a transform */
    int tile_width, tile_height; /* of a tile of scores */
    int across;                  /* tiles per row */
    int tiles;
    double complex *spectra; /* of the pattern's colours, conjugated, divided by width * height */
    struct gi_correlate_integers sums[GI_MAX_CHANNELS]; /* of the pattern alone */
};

/* What a job needs. */
struct memory {
    double complex *v, *spare;
    struct gi_correlate_total *totals; /* of two tiles */
    uint64_t *columns, *squares;       /* sums over the rows below a row of scores */
};

/* The samples that a tile needs begin at its first score. */
struct tile {
    int x, y, width, height; /* of the scores */
};

static int side_of(int pattern, int image)
{
    int side = 16;
    while (side < image && (side < SIDE_MIN || side < 2 * pattern))
        side *= 2;
    return side;
}

bool GI_CPU(correlate_fourier_takes)(const struct gi_queue *queue, const struct gi_image *src,
                                     const struct gi_correlate *spec)
{
    const struct gi_image *pattern = spec->pattern;
    (void)queue;
    return src->type == GI_U8 && !gi_has_alpha(pattern) && pattern->width <= PATTERN_MAX &&
           pattern->height <= PATTERN_MAX && pattern->width * pattern->height >= PIXELS_MIN &&
           src->width - pattern->width >= pattern->width / 2 &&
           src->height - pattern->height >= pattern->height / 2;
}

static struct tile tile_at(const struct fourier *work, int index)
{
    struct tile t = {index % work->across * work->tile_width,
                     index / work->across * work->tile_height, 0, 0};
    int right = work->dst->width - t.x, below = work->dst->height - t.y;
    t.width = right < work->tile_width ? right : work->tile_width;
    t.height = below < work->tile_height ? below : work->tile_height;
    return t;
}

/* Writes channel c of `image`, from (x, y) on, into the real (part 0) or the imaginary parts. */
static void fill(const struct fourier *work, double complex *v, const struct gi_image *image, int x,
                 int y, int c, int part)
{
    size_t channels = (size_t)image->channels;
    int n = image->width - x < work->width ? image->width - x : work->width;
    for (int row = 0; row < work->height && y + row < image->height; row++) {
        const uint8_t *from =
            (const uint8_t *)gi_row(image, y + row) + (size_t)x * channels + (size_t)c;
        double *to = (double *)(v + (size_t)row * (size_t)work->width) + part;
        for (int i = 0; i < n; i++)
            to[2 * i] = from[(size_t)i * channels];
    }
}

/* Adds a row of samples to the sums of columns, or subtracts it. */
static void add_row(const struct memory *m, const uint8_t *row, size_t channels, int n, bool adds)
{
    for (int i = 0; i < n; i++) {
        uint64_t v = row[(size_t)i * channels], sign = adds ? 1 : (uint64_t)-1;
        m->columns[i] += sign * v;
        m->squares[i] += sign * v * v;
    }
}

/* Adds a channel to the totals of a row of scores, whose sums of products are every other number
 * from `products` on. */
static void add_scores(const struct fourier *work, const struct memory *m,
                       struct gi_correlate_total *totals, const double *products, int n, int c)
{
    struct gi_correlate_integers s = work->sums[c];
    int span = work->pattern->width;
    for (int i = 0; i < span - 1; i++) {
        s.v += m->columns[i];
        s.vv += m->squares[i];
    }
    for (int i = 0; i < n; i++) {
        s.v += m->columns[i + span - 1];
        s.vv += m->squares[i + span - 1];
        s.pv = (uint64_t)(products[2 * i] + 0.5);
        gi_correlate_add_integers(&totals[i], work->method, &s);
        s.v -= m->columns[i];
        s.vv -= m->squares[i];
    }
}

static void add_tile(const struct fourier *work, const struct memory *m, const struct tile *tile,
                     int part, int c)
{
    const struct gi_image *src = work->src;
    int n = tile->width + work->pattern->width - 1, rows = work->pattern->height;
    size_t channels = (size_t)src->channels, from = (size_t)tile->x * channels + (size_t)c;
    struct gi_correlate_total *totals =
        m->totals + (size_t)(part * work->tile_width) * (size_t)work->tile_height;
    memset(m->columns, 0, (size_t)n * sizeof *m->columns);
    memset(m->squares, 0, (size_t)n * sizeof *m->squares);
    for (int r = 0; r < rows - 1; r++)
        add_row(m, (const uint8_t *)gi_row(src, tile->y + r) + from, channels, n, true);
    for (int y = 0; y < tile->height; y++) {
        const double *products = (const double *)(m->v + (size_t)y * (size_t)work->width) + part;
        add_row(m, (const uint8_t *)gi_row(src, tile->y + y + rows - 1) + from, channels, n, true);
        add_scores(work, m, totals + (size_t)y * (size_t)work->tile_width, products, tile->width,
                   c);
        add_row(m, (const uint8_t *)gi_row(src, tile->y + y) + from, channels, n, false);
    }
}

/* Makes m->v the sums of products of channel c for both tiles. */
static void correlate_tiles(const struct fourier *work, const struct memory *m,
                            const struct tile tiles[2], int n, int c)
{
    size_t numbers = (size_t)work->width * (size_t)work->height;
    double *v = (double *)m->v;
    const double *spectrum = (const double *)(work->spectra + (size_t)c * numbers);
    memset(v, 0, numbers * sizeof *m->v);
    for (int part = 0; part < n; part++)
        fill(work, m->v, work->src, tiles[part].x, tiles[part].y, c, part);
    gi_fourier(m->v, m->spare, work->width, work->height, false);
    for (size_t i = 0; i < 2 * numbers; i += 2) {
        double re = v[i], im = v[i + 1];
        v[i] = re * spectrum[i] - im * spectrum[i + 1];
        v[i + 1] = re * spectrum[i + 1] + im * spectrum[i];
    }
    gi_fourier(m->v, m->spare, work->width, work->height, true);
}

static size_t memory_nbytes(const struct fourier *work)
{
    size_t numbers = (size_t)work->width * (size_t)work->height;
    return 2 * numbers * sizeof(double complex) +
           2 * (size_t)work->tile_width * (size_t)work->tile_height *
               sizeof(struct gi_correlate_total) +
           2 * (size_t)work->width * sizeof(uint64_t);
}

static void make_tiles(void *arg, int index, void *scratch)
{
    const struct fourier *work = arg;
    size_t numbers = (size_t)work->width * (size_t)work->height,
           scores = (size_t)work->tile_width * (size_t)work->tile_height;
    struct memory m = {.v = scratch};
    m.spare = m.v + numbers;
    m.totals = (struct gi_correlate_total *)(m.spare + numbers);
    m.columns = (uint64_t *)(m.totals + 2 * scores);
    m.squares = m.columns + work->width;
    int n = work->tiles - 2 * index < 2 ? 1 : 2;
    struct tile tiles[2] = {{0}};
    for (int part = 0; part < n; part++)
        tiles[part] = tile_at(work, 2 * index + part);
    memset(m.totals, 0, 2 * scores * sizeof *m.totals);
    for (int c = 0; c < gi_color_channels(work->pattern); c++) {
        correlate_tiles(work, &m, tiles, n, c);
        for (int part = 0; part < n; part++)
            add_tile(work, &m, &tiles[part], part, c);
    }
    for (int part = 0; part < n; part++)
        for (int y = 0; y < tiles[part].height; y++) {
            float *row = (float *)gi_row(work->dst, tiles[part].y + y) + tiles[part].x;
            const struct gi_correlate_total *totals =
                m.totals + (size_t)part * scores + (size_t)y * (size_t)work->tile_width;
            for (int x = 0; x < tiles[part].width; x++)
                row[x] = gi_correlate_score(&totals[x], work->method);
        }
}

/* Makes the spectra of the pattern and its own sums. */
static void take_pattern(struct fourier *work, double complex *spare)
{
    const struct gi_image *pattern = work->pattern;
    size_t numbers = (size_t)work->width * (size_t)work->height;
    for (int c = 0; c < gi_color_channels(pattern); c++) {
        double complex *spectrum = work->spectra + (size_t)c * numbers;
        struct gi_correlate_integers *s = &work->sums[c];
        memset(spectrum, 0, numbers * sizeof *spectrum);
        fill(work, spectrum, pattern, 0, 0, c, 0);
        gi_fourier(spectrum, spare, work->width, work->height, false);
        for (size_t i = 0; i < numbers; i++)
            spectrum[i] = conj(spectrum[i]) / (double)numbers;
        for (int y = 0; y < pattern->height; y++)
            for (int x = 0; x < pattern->width; x++) {
                uint64_t p = ((const uint8_t *)gi_row(pattern, y))[x * pattern->channels + c];
                s->n++;
                s->p += p;
                s->pp += p * p;
            }
    }
}

enum gi_status GI_CPU(correlate_fourier)(struct gi_queue *queue, struct gi_image *dst,
                                         const struct gi_image *src,
                                         const struct gi_correlate *spec, struct gi_err *err)
{
    const struct gi_image *pattern = spec->pattern;
    struct fourier work = {.dst = dst, .src = src, .pattern = pattern, .method = spec->method};
    work.width = side_of(pattern->width, src->width);
    work.height = side_of(pattern->height, src->height);
    work.tile_width = work.width - pattern->width + 1;
    work.tile_height = work.height - pattern->height + 1;
    work.across = (dst->width + work.tile_width - 1) / work.tile_width;
    work.tiles = work.across * ((dst->height + work.tile_height - 1) / work.tile_height);
    size_t numbers = (size_t)work.width * (size_t)work.height;
    size_t colors = (size_t)gi_color_channels(pattern);
    work.spectra = malloc((colors + 1) * numbers * sizeof *work.spectra);
    if (!work.spectra)
        return gi_fail(err, GI_E_MEMORY, "out of memory: transforms of %d x %d numbers", work.width,
                       work.height);
    take_pattern(&work, work.spectra + colors * numbers);
    enum gi_status status = gi_pool_run(gi_cpu_pool(queue), (work.tiles + 1) / 2, make_tiles, &work,
                                        memory_nbytes(&work), err);
    free(work.spectra);
    return status;
}
