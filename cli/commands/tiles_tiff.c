/* Writes tiled pyramidal TIFF.
 * SPDX-License-Identifier: MIT */
#include "cli/commands/tiles_tiff.h"

#include <stdlib.h>

#include "filters/geometry/pyramid.h"
#include "imgio/joined.h"

/* Adds an image as a page. */
static enum gi_status add_page(struct gi_joiner *joiner, const char *path,
                               const struct gi_image *image, const struct gi_metadata *metadata,
                               const struct gi_io_params *io, const struct gi_parallel *parallel,
                               struct gi_err *err)
{
    const struct gi_timing timing = {0};
    void *bytes = NULL;
    size_t nbytes;
    enum gi_status status =
        gi_cli_save_by(image, metadata, path, io, parallel, &bytes, &nbytes, err);
    return status ? status : gi_joiner_add(joiner, bytes, nbytes, &timing, err);
}

static enum gi_status add_pages(struct gi_joiner *joiner, const char *path,
                                const struct gi_image *image, const struct gi_metadata *metadata,
                                const struct gi_metadata *reduced, const struct gi_io_params *how,
                                const struct gi_parallel *parallel, struct gi_err *err)
{
    struct gi_io_params io = *how;
    struct gi_image level = *image, next;
    enum gi_status status = add_page(joiner, path, image, metadata, &io, parallel, err);
    io.passed.reduced = io.passed.again = true;
    while (!status && (level.width > io.passed.tile || level.height > io.passed.tile)) {
        status = gi_pyramid_halve(&next, &level, parallel, err);
        if (level.data != image->data)
            gi_image_free(&level);
        level = next;
        if (!status)
            status = add_page(joiner, path, &level, reduced, &io, parallel, err);
    }
    if (level.data != image->data)
        gi_image_free(&level);
    return status;
}

enum gi_status gi_tiles_tiff(const char *path, const struct gi_image *image,
                             const struct gi_metadata *metadata, const struct gi_metadata *reduced,
                             int tile, const struct gi_io_params *how,
                             const struct gi_parallel *parallel, struct gi_err *err)
{
    static const struct gi_joined_timing none = {0};
    struct gi_io_params io = *how;
    struct gi_bundle *bundle = io.passed.bundle;
    struct gi_sink *sink = NULL;
    struct gi_joiner *joiner = NULL;
    io.format = "tiff";
    io.passed.tile = tile;
    enum gi_status status = gi_bundle_open(bundle, &sink, path, io.no_clobber, err);
    if (!status)
        status = gi_joiner_new(&joiner, sink, "tiff", &none, err);
    if (!status)
        status = add_pages(joiner, path, image, metadata, reduced, &io, parallel, err);
    if (!status)
        status = gi_joiner_end(joiner, err);
    gi_joiner_free(&joiner);
    if (!status)
        status = gi_bundle_keep(bundle, &sink, io.durable, err);
    gi_sink_abandon(&sink);
    return status;
}
