/* Pixels without data that count like others, because a command or a step does not ignore them.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "cli/args/chain.h"
#include "cli/args/image_files.h"

/* Returns whether the chain makes another image. */
bool gi_chain_makes_image(const struct gi_chain *chain);
/* Returns whether pixels without data are hidden while the chain runs: each step leaves masked
 * pixels out (enum gi_mask), also those of further images. */
bool gi_nodata_hidden_by(const struct gi_chain *chain);
/* Returns whether pixels without data count in analyses, of an image that is not changed before. */
bool gi_nodata_counted_by(const struct gi_chain *chain);
/* Sets the tag GDAL_NODATA of a result whose samples are `type` to the value, in the unit of the
 * samples that are written. Drops it if its value may be rounded there. */
void gi_nodata_name_written(struct gi_metadata *metadata, const struct gi_nodata *nodata,
                            enum gi_type type, const struct gi_io_params *io);
/* Tells that pixels without data count like others, which is an error with --strict. The image is
 * freed then. */
enum gi_status gi_nodata_warn(struct gi_image *image, const char *input,
                              const struct gi_io_params *io, struct gi_err *err);
