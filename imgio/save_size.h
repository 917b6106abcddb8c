/* Chooses the quality of a file by its size, or by a judge that looks at the encoded file.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "imgio/format.h"
#include "imgio/judge.h"

/* Calls format->encode, once if options->encoded has the samples. With options->max_nbytes the
 * quality is the highest, from 1 to options->quality or 100, at which the file has at most that
 * many bytes. The next higher quality is above the limit. With options->judge it is the lowest at
 * which the judge finds the file good; with the next lower quality it does not; judge->encode() may
 * search on a device. Errors: GI_E_UNSUPPORTED if no quality is small or good enough, or if the
 * format has no quality. */
enum gi_status gi_encode_sized(struct gi_sink *sink, const struct gi_format *format,
                               const struct gi_image *image, const struct gi_metadata *metadata,
                               const struct gi_save_options *options, struct gi_err *err);
