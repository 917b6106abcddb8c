/* Writes tiled pyramidal TIFF.
 * SPDX-License-Identifier: MIT */
#include "cli/commands/tiles_tiff.h"

#include <stdlib.h>
#include <unistd.h>

#include "imgio/scratch_file.h"
#include "imgio/metadata/resolution.h"

static enum gi_status read_tiles(void *self, void *to, size_t nbytes, uint64_t at,
                                 struct gi_err *err)
{
    const struct gi_tiles_tiff *t = self;
    return gi_scratch_file_read(t->fd, to, nbytes, at) ? GI_OK : gi_scratch_file_fail(err);
}

enum gi_status gi_tiles_tiff_new(struct gi_tiles_tiff *t, const char *path, bool ome,
                                 const struct gi_pyramid *pyramid, const struct gi_metadata *tile,
                                 const struct gi_io_params *io, struct gi_err *err)
{
    *t = (struct gi_tiles_tiff){
        .path = path,
        .metadata = tile,
        .io = *io,
        .levels = {.ome = ome, .tile = pyramid->size, .n = pyramid->nlevels, .read = read_tiles},
        .lock = PTHREAD_MUTEX_INITIALIZER,
        .fd = -1};
    t->levels.self = t;
    t->io.format = "tiff";
    t->io.passed.tile = pyramid->size;
    for (int i = 0; i < pyramid->nlevels; i++) {
        struct gi_tiled_level *level = &t->levels.list[i];
        int64_t n = (int64_t)pyramid->levels[i].columns * pyramid->levels[i].rows;
        level->width = pyramid->levels[i].width;
        level->height = pyramid->levels[i].height;
        level->ntiles = n < INT32_MAX ? (int)n : 0;
        level->at = calloc((size_t)n, sizeof *level->at);
        level->nbytes = calloc((size_t)n, sizeof *level->nbytes);
        if (!level->at || !level->nbytes || !level->ntiles)
            return gi_fail(err, GI_E_MEMORY, "out of memory: %lld tiles", (long long)n);
    }
    return gi_scratch_file_open(&t->fd, 0, err);
}

/* ---- tiles ---- */

static enum gi_status begin_row(void *self, int level, int row, struct gi_err *err)
{
    return GI_OK;
}

/* Encodes a tile as a TIFF of its own, and keeps its samples. */
static enum gi_status keep_tile(void *self, const struct gi_image *tile, int level, int column,
                                int row, struct gi_err *err)
{
    struct gi_tiles_tiff *t = self;
    struct gi_io_params io = t->io;
    struct gi_tiled_level *to = &t->levels.list[level];
    int across = (to->width - 1) / t->levels.tile + 1;
    size_t number = (size_t)row * (size_t)across + (size_t)column, nbytes, n;
    void *tiff = NULL;
    io.passed.again = level || row || column;
    enum gi_status status =
        gi_cli_save_by(tile, t->metadata, t->path, &io, NULL, &tiff, &nbytes, err);
    if (!status && !io.passed.again)
        status = gi_levels_describe(&t->levels, tiff, nbytes, err);
    if (!status) {
        const void *samples = gi_levels_tile(&n, tiff, nbytes);
        pthread_mutex_lock(&t->lock);
        to->at[number] = t->used;
        t->used += to->nbytes[number] = n;
        pthread_mutex_unlock(&t->lock);
        if (!gi_scratch_file_write(t->fd, samples, n, to->at[number]))
            status = gi_scratch_file_fail(err);
    }
    free(tiff);
    return status;
}

struct gi_pyramid_receiver gi_tiles_tiff_receiver(struct gi_tiles_tiff *t)
{
    return (struct gi_pyramid_receiver){t, begin_row, keep_tile};
}

/* ---- the file ---- */

enum gi_status gi_tiles_tiff_end(struct gi_tiles_tiff *t, const struct gi_metadata *metadata,
                                 struct gi_err *err)
{
    const struct gi_io_params *io = &t->io;
    const struct gi_save_options options = gi_cli_save_options(io);
    struct gi_sink *sink = NULL;
    struct gi_err warning = {0};
    struct gi_metadata own = *metadata;
    if (io->encoding.dpi > 0)
        gi_metadata_set_resolution(&own, io->encoding.dpi);
    enum gi_status status =
        gi_save_losses(&t->levels.shape, &own, "tiff", t->path, &options, &warning, err);
    if (!status)
        status = gi_cli_warn_or_fail(&warning, NULL, io, err);
    if (!status)
        status = gi_bundle_open(io->passed.bundle, &sink, t->path, io->no_clobber, err);
    if (!status)
        status = gi_levels_write(sink, &t->levels, &own, err);
    if (!status)
        status = gi_bundle_keep(io->passed.bundle, &sink, io->durable, err);
    gi_sink_abandon(&sink);
    return status;
}

void gi_tiles_tiff_free(struct gi_tiles_tiff *t)
{
    for (int i = 0; i < t->levels.n; i++) {
        free(t->levels.list[i].at);
        free(t->levels.list[i].nbytes);
    }
    gi_levels_free(&t->levels);
    if (t->fd >= 0)
        close(t->fd);
}
