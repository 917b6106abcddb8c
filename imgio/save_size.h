/* Limits the size of a file by its quality.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "imgio/format.h"

/* Calls format->encode. With options->max_nbytes the quality is the highest, from 1 to
 * options->quality or 100, at which the file has at most that many bytes. The next higher quality
 * is above the limit. Errors: GI_E_UNSUPPORTED if quality 1 is above it, too, or if the format has
 * no quality. */
enum gi_status gi_encode_sized(struct gi_sink *sink, const struct gi_format *format,
                               const struct gi_image *image, const struct gi_metadata *metadata,
                               const struct gi_save_options *options, struct gi_err *err);
