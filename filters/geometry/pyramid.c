/* Makes the levels of image pyramids and their tiles.
 * SPDX-License-Identifier: MIT */
#include "filters/geometry/pyramid.h"

#include <pthread.h>
#include <string.h>

#include "filters/geometry/halve.h"

static int half(int n)
{
    return n / 2 + n % 2;
}

/* Returns the number of tiles of `size` pixels across n pixels. */
static int count(int n, int size)
{
    return (n - 1) / size + 1;
}

void gi_pyramid_plan(struct gi_pyramid *pyramid, int width, int height)
{
    int most = pyramid->one_pixel ? 1 : pyramid->size;
    int n = 1;
    for (int w = width, h = height; w > most || h > most; w = half(w), h = half(h))
        n++;
    pyramid->nlevels = n;
    for (int i = 0; i < n; i++, width = half(width), height = half(height)) {
        pyramid->levels[i].width = width;
        pyramid->levels[i].height = height;
        pyramid->levels[i].columns = count(width, pyramid->size);
        pyramid->levels[i].rows = count(height, pyramid->size);
    }
    int64_t smaller = 0;
    for (int i = n - 1; i >= 0; i--) {
        pyramid->levels[i].smaller = smaller;
        smaller += (int64_t)pyramid->levels[i].columns * pyramid->levels[i].rows;
    }
}

struct gi_window gi_pyramid_tile(const struct gi_pyramid *pyramid, int level, int column, int row)
{
    int overlap = pyramid->overlap;
    int64_t x = (int64_t)column * pyramid->size, y = (int64_t)row * pyramid->size;
    int64_t right = x + pyramid->size + overlap, lower = y + pyramid->size + overlap;
    int left = (int)(column ? x - overlap : 0), upper = (int)(row ? y - overlap : 0);
    int width = pyramid->levels[level].width, height = pyramid->levels[level].height;
    return (struct gi_window){left, upper, (int)(right < width ? right : width) - left,
                              (int)(lower < height ? lower : height) - upper};
}

/* ---- a row of tiles ---- */

/* The tiles that are being made. */
struct row_of_tiles {
    struct gi_pyramid_builder *builder;
    int level, row;
    int from; /* the first column */
    pthread_mutex_t lock;
    int failed; /* the first column that failed; the number of columns: none */
    struct gi_err err;
};

/* Makes a tile of full size, whose other pixels are white, or transparent if there is alpha. */
static enum gi_status pad(struct gi_image *padded, const struct gi_image *tile, int size,
                          struct gi_err *err)
{
    enum gi_status status = gi_image_alloc(padded, size, size, tile->channels, tile->type, err);
    const float white = gi_has_alpha(tile) ? 0 : 1;
    size_t left = gi_row_nbytes(tile), all = status ? 0 : gi_row_nbytes(padded);
    for (int y = 0; y < size && !status; y++) {
        char *row = gi_row(padded, y);
        size_t begin = y < tile->height ? left : 0;
        if (begin)
            memcpy(row, gi_row(tile, y), begin);
        if (tile->type != GI_F32)
            memset(row + begin, white > 0 ? 0xff : 0, all - begin);
        for (size_t i = begin; i < all && tile->type == GI_F32; i += sizeof white)
            memcpy(row + i, &white, sizeof white);
    }
    return status;
}

/* Passes a tile to the receiver. */
static enum gi_status make_tile(const struct row_of_tiles *tiles, int column, struct gi_err *err)
{
    const struct gi_pyramid *pyramid = tiles->builder->pyramid;
    const struct gi_pyramid_receiver *to = &tiles->builder->receiver;
    const struct gi_pyramid_level *level = &tiles->builder->levels[tiles->level];
    const struct gi_window at = gi_pyramid_tile(pyramid, tiles->level, column, tiles->row);
    struct gi_image tile = gi_image_rows(&level->rows, at.y - level->top,
                                         at.y - level->top + at.height),
                    padded = {0};
    tile.data =
        (char *)tile.data + (size_t)at.x * (size_t)tile.channels * gi_type_nbytes(tile.type);
    tile.width = at.width;
    enum gi_status status = GI_OK;
    if (pyramid->padded && (at.width < pyramid->size || at.height < pyramid->size)) {
        status = pad(&padded, &tile, pyramid->size, err);
        tile = padded;
    }
    if (!status)
        status = to->tile(to->self, &tile, tiles->level, column, tiles->row, err);
    gi_image_free(&padded);
    return status;
}

/* A job of the thread pool: a tile. */
static void tile_job(void *arg, int index, void *scratch)
{
    struct row_of_tiles *tiles = arg;
    struct gi_err err = {0};
    int column = tiles->from + index;
    pthread_mutex_lock(&tiles->lock);
    bool skip = tiles->failed < column;
    pthread_mutex_unlock(&tiles->lock);
    if (skip || !make_tile(tiles, column, &err))
        return;
    pthread_mutex_lock(&tiles->lock);
    if (column < tiles->failed) {
        tiles->failed = column;
        tiles->err = err;
    }
    pthread_mutex_unlock(&tiles->lock);
}

/* Makes a row of tiles. */
static enum gi_status make_row(struct gi_pyramid_builder *b, int level, int row, struct gi_err *err)
{
    int columns = b->pyramid->levels[level].columns;
    struct row_of_tiles tiles = {.builder = b,
                                 .level = level,
                                 .row = row,
                                 .from = level == 0 && row == 0,
                                 .lock = PTHREAD_MUTEX_INITIALIZER,
                                 .failed = columns};
    enum gi_status status = b->receiver.begin(b->receiver.self, level, row, err);
    if (!status && tiles.from)
        status = make_tile(&tiles, 0, err);
    if (!status)
        status =
            b->parallel->run(b->parallel->self, columns - tiles.from, tile_job, &tiles, 0, err);
    if (!status && tiles.failed < columns) {
        *err = tiles.err;
        status = err->status;
    }
    return status;
}

/* ---- levels ---- */

/* Returns the number of rows that are kept above a row of tiles: its overlap, and at least one row
 * that waits for the second row of its means. */
static int rows_above(const struct gi_pyramid *pyramid)
{
    return pyramid->overlap ? pyramid->overlap : 1;
}

struct halving {
    const struct gi_pyramid_level *level;
    struct gi_image *half;
    int height; /* of the level */
};

/* A job of the thread pool: a row of the next level. */
static void halve_job(void *arg, int index, void *scratch)
{
    const struct halving *halving = arg;
    const struct gi_pyramid_level *level = halving->level;
    int y = 2 * (level->halved + index), below = y + 1 < halving->height ? y + 1 : y;
    gi_halve_row(gi_row(halving->half, index), gi_row(&level->rows, y - level->top),
                 gi_row(&level->rows, below - level->top), level->rows.width, level->rows.channels,
                 level->rows.type);
}

static enum gi_status add(struct gi_pyramid_builder *b, int index, const struct gi_image *rows,
                          struct gi_err *err);

/* Adds to the next level all rows that can be made. */
static enum gi_status halve(struct gi_pyramid_builder *b, int index, struct gi_err *err)
{
    struct gi_pyramid_level *level = &b->levels[index];
    int height = b->pyramid->levels[index].height;
    int made = (level->bottom == height ? level->bottom / 2 + height % 2 : level->bottom / 2) -
               level->halved;
    struct gi_image half;
    if (index + 1 == b->pyramid->nlevels || made == 0)
        return GI_OK;
    enum gi_status status = gi_image_alloc(&half, b->pyramid->levels[index + 1].width, made,
                                           level->rows.channels, level->rows.type, err);
    if (status)
        return status;
    struct halving halving = {level, &half, height};
    status = b->parallel->run(b->parallel->self, made, halve_job, &halving, 0, err);
    if (!status)
        status = add(b, index + 1, &half, err);
    level->halved += made;
    gi_image_free(&half);
    return status;
}

/* Makes all rows of tiles that are complete, and drops the rows that are no longer needed. */
static enum gi_status make_rows(struct gi_pyramid_builder *b, int index, struct gi_err *err)
{
    struct gi_pyramid_level *level = &b->levels[index];
    enum gi_status status = GI_OK;
    while (level->next < b->pyramid->levels[index].rows && !status) {
        struct gi_window tile = gi_pyramid_tile(b->pyramid, index, 0, level->next);
        if (level->bottom < tile.y + tile.height)
            break;
        status = make_row(b, index, level->next++, err);
        int64_t keep = (int64_t)level->next * b->pyramid->size - rows_above(b->pyramid);
        if (keep >= level->bottom || keep <= level->top)
            continue;
        for (int y = (int)keep; y < level->bottom; y++)
            memcpy(gi_row(&level->rows, y - (int)keep), gi_row(&level->rows, y - level->top),
                   gi_row_nbytes(&level->rows));
        level->top = (int)keep;
    }
    return status;
}

/* Adds rows to a level. */
static enum gi_status add(struct gi_pyramid_builder *b, int index, const struct gi_image *rows,
                          struct gi_err *err)
{
    struct gi_pyramid_level *level = &b->levels[index];
    int64_t room = (int64_t)b->pyramid->size + b->pyramid->overlap + rows_above(b->pyramid);
    int height = b->pyramid->levels[index].height;
    enum gi_status status = GI_OK;
    if (!level->rows.data)
        status = gi_image_alloc(&level->rows, rows->width, (int)(room < height ? room : height),
                                rows->channels, rows->type, err);
    for (int y = 0; y < rows->height && !status;) {
        int at = level->bottom - level->top, n = level->rows.height - at;
        n = n < rows->height - y ? n : rows->height - y;
        for (int i = 0; i < n; i++)
            memcpy(gi_row(&level->rows, at + i), gi_row(rows, y + i), gi_row_nbytes(rows));
        y += n;
        level->bottom += n;
        status = halve(b, index, err);
        if (!status)
            status = make_rows(b, index, err);
    }
    return status;
}

enum gi_status gi_pyramid_add(struct gi_pyramid_builder *builder, const struct gi_image *rows,
                              struct gi_err *err)
{
    return add(builder, 0, rows, err);
}

void gi_pyramid_close(struct gi_pyramid_builder *builder)
{
    for (int i = 0; i < GI_PYRAMID_LEVELS_MAX; i++)
        gi_image_free(&builder->levels[i].rows);
}
