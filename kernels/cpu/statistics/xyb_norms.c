/* Compares two images in XYB. A job adds up the maps of a row of tiles of one channel, in pieces of
 * COLUMNS columns, whose rows stay in the caches: nine rows of the four values that are blurred.
 * SPDX-License-Identifier: MIT */
#include "kernels/cpu/cpu.h"

#include <stdlib.h>
#include <string.h>

#include "kernels/xyb.h"

enum {
    COLUMNS = 8 * GI_XYB_TILE,
    WIDE = COLUMNS + 2 * GI_XYB_REACH, /* with the columns that the blur along rows reads */
    ROWS = 2 * GI_XYB_REACH + 1,
    VALUES = 4,
};

struct norms_job {
    const struct gi_image *a, *b;
    const struct gi_xyb_layout *layout;
    double *tiles;
};

/* The part of a scale that a job works on. */
struct part {
    const struct gi_xyb_scale *scale;
    int c, tile_row;
};

/* The memory of a thread. Row y of the values is rows[y % ROWS]. */
struct scratch {
    double rows[ROWS][VALUES][WIDE];
    double columns[VALUES][WIDE];
    double few[GI_XYB_NORMS][COLUMNS], sums[GI_XYB_NORMS][COLUMNS];
};

static struct part part_of(const struct gi_xyb_layout *layout, int index)
{
    for (int s = 0;; s++) {
        const struct gi_xyb_scale *scale = &layout->scales[s];
        int n = 3 * ((scale->height + GI_XYB_TILE - 1) / GI_XYB_TILE);
        if (index < n)
            return (struct part){scale, index % 3, index / 3};
        index -= n;
    }
}

/* Fills the values of row y at columns x0 - GI_XYB_REACH on, which are 0 outside the image. */
static void fill_row(struct scratch *s, const struct norms_job *job, const struct part *part, int y,
                     int x0)
{
    const struct gi_xyb_scale *scale = part->scale;
    double(*values)[WIDE] = s->rows[(y + ROWS) % ROWS];
    int first = x0 - GI_XYB_REACH, from = first < 0 ? 0 : first;
    int end = first + WIDE < scale->width ? first + WIDE : scale->width;
    if (y < 0 || y >= scale->height)
        from = end = first;
    for (int v = 0; v < VALUES; v++) {
        memset(values[v], 0, (size_t)(from - first) * sizeof(double));
        memset(values[v] + (end - first), 0, (size_t)(first + WIDE - end) * sizeof(double));
    }
    if (from == end)
        return;
    int row = scale->y + part->c * scale->height + y;
    const float *restrict p = (const float *)gi_row(job->a, row) + scale->x;
    const float *restrict q = (const float *)gi_row(job->b, row) + scale->x;
    double *restrict va = values[0], *restrict vb = values[1], *restrict squares = values[2],
                     *restrict product = values[3];
    for (int x = from, i = from - first; x < end; x++, i++) {
        double a = (double)p[x], b = (double)q[x];
        va[i] = a;
        vb[i] = b;
        squares[i] = a * a + b * b;
        product[i] = a * b;
    }
}

/* Blurs along the columns at row y. */
static void blur_columns(struct scratch *s, int y)
{
    for (int v = 0; v < VALUES; v++) {
        const double *rows[ROWS];
        double *restrict to = s->columns[v];
        for (int j = 0; j < ROWS; j++)
            rows[j] = s->rows[(y + j - GI_XYB_REACH + ROWS) % ROWS][v];
        for (int x = 0; x < WIDE; x++) {
            const double values[ROWS] = {rows[0][x], rows[1][x], rows[2][x], rows[3][x], rows[4][x],
                                         rows[5][x], rows[6][x], rows[7][x], rows[8][x]};
            to[x] = gi_xyb_blur(values + GI_XYB_REACH, 1);
        }
    }
}

/* Blurs along row y, and adds its n maps to s->few. */
static void add_row(struct scratch *s, int y, int n)
{
    const double(*center)[WIDE] = (const double(*)[WIDE])s->rows[y % ROWS];
    for (int x = 0; x < n; x++) {
        double m[VALUES], maps[3];
        for (int v = 0; v < VALUES; v++)
            m[v] = gi_xyb_blur(s->columns[v] + GI_XYB_REACH + x, 1);
        gi_xyb_maps(maps, center[0][GI_XYB_REACH + x], center[1][GI_XYB_REACH + x], m[0], m[1],
                    m[2], m[3]);
        for (int i = 0; i < 3; i++) {
            double square = maps[i] * maps[i];
            s->few[2 * i][x] += maps[i];
            s->few[2 * i + 1][x] += square * square;
        }
    }
}

/* Adds the sums of a few rows to those of the tiles. */
static void take_few(struct scratch *s)
{
    for (int i = 0; i < GI_XYB_NORMS; i++)
        for (int x = 0; x < COLUMNS; x++) {
            s->sums[i][x] += s->few[i][x];
            s->few[i][x] = 0;
        }
}

/* Adds up the columns of the tiles. */
static void store_tiles(double *to, struct scratch *s, int ntiles)
{
    for (int tile = 0; tile < ntiles; tile++, to += GI_XYB_TILE_SUMS)
        for (int i = 0; i < GI_XYB_NORMS; i++) {
            double *sums = s->sums[i] + tile * GI_XYB_TILE;
            for (int half = GI_XYB_TILE / 2; half; half /= 2)
                for (int x = 0; x < half; x++)
                    sums[x] += sums[x + half];
            to[i] = sums[0];
        }
}

static void add_tiles(void *arg, int index, void *memory)
{
    const struct norms_job *job = arg;
    const struct part part = part_of(job->layout, index);
    const struct gi_xyb_scale *scale = part.scale;
    struct scratch *s = memory;
    int top = part.tile_row * GI_XYB_TILE, left = scale->height - top;
    int bottom = left < GI_XYB_TILE ? scale->height : top + GI_XYB_TILE;
    for (int x0 = 0; x0 < scale->width; x0 += COLUMNS) {
        int n = scale->width - x0 < COLUMNS ? scale->width - x0 : COLUMNS;
        int tile = scale->first_tile + part.tile_row * scale->across + x0 / GI_XYB_TILE;
        memset(s->few, 0, sizeof s->few);
        memset(s->sums, 0, sizeof s->sums);
        for (int y = top - GI_XYB_REACH; y < top + GI_XYB_REACH; y++)
            fill_row(s, job, &part, y, x0);
        for (int y = top; y < bottom; y++) {
            fill_row(s, job, &part, y + GI_XYB_REACH, x0);
            blur_columns(s, y);
            add_row(s, y, n);
            if ((y - top) % GI_XYB_ROWS == GI_XYB_ROWS - 1 || y == bottom - 1)
                take_few(s);
        }
        store_tiles(job->tiles + (size_t)tile * GI_XYB_TILE_SUMS + part.c * GI_XYB_NORMS, s,
                    (n + GI_XYB_TILE - 1) / GI_XYB_TILE);
    }
}

static enum gi_status by_tiles(struct gi_queue *queue, struct gi_xyb_norms *norms,
                               const struct gi_image *src, const struct gi_xyb_compare *spec,
                               struct gi_err *err)
{
    const struct gi_xyb_layout layout = gi_xyb_layout_of(spec->width, spec->height);
    size_t n = (size_t)layout.ntiles * GI_XYB_TILE_SUMS;
    int njobs = 0;
    struct norms_job job = {src, spec->other, &layout, malloc(n ? n * sizeof(double) : 1)};
    if (!job.tiles)
        return gi_fail(err, GI_E_MEMORY, "out of memory: sums of %d tiles", layout.ntiles);
    for (int s = 0; s < layout.n; s++)
        njobs += 3 * ((layout.scales[s].height + GI_XYB_TILE - 1) / GI_XYB_TILE);
    enum gi_status status =
        gi_pool_run(gi_cpu_pool(queue), njobs, add_tiles, &job, sizeof(struct scratch), err);
    if (!status)
        gi_xyb_add_tiles(norms, &layout, job.tiles);
    free(job.tiles);
    return status;
}

GI_CPU_ONE_WAY(xyb_norms, "tiles", by_tiles);
