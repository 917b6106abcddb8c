/* Asks how an image will be saved, before there are samples.
 * SPDX-License-Identifier: MIT */
#include "cli/inputs/image_files.h"

bool gi_cli_save_coding(struct gi_coding *coding, const struct gi_image *shape, const char *path,
                        const struct gi_io_params *io)
{
    const double black[3] = {0};
    struct gi_save_options options = gi_cli_save_options(io);
    options.background = io->background ? black : NULL; /* any colour composites */
    return gi_save_coding(coding, shape, path, &options);
}

bool gi_cli_saves_rows(const struct gi_image *shape, const struct gi_metadata *metadata,
                       const char *path, const struct gi_io_params *io)
{
    struct gi_save_options options = gi_cli_save_options(io);
    return !io->background && gi_save_takes_rows(shape, metadata, path, &options);
}
