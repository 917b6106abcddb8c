/* Prints the parts of a file for gpuimg info.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "imgio/imgio.h"

#include <jansson.h>
#include <stdio.h>

/* `info` tells whether the frames after the first are those of an animation that commands can read
 * and write, so that they are not lost. */

/* Prints PNG's colour chunks and the parts that are neither samples nor other metadata, each after
 * ", ". Parts with the same name are printed once, with their number. */
void gi_info_parts(FILE *out, const struct gi_metadata *metadata, const struct gi_file_info *info);

/* Returns all parts of the file besides its samples as an array. */
json_t *gi_info_parts_json(const struct gi_metadata *metadata, const struct gi_file_info *info);
/* Returns the array of the texts. */
json_t *gi_info_texts_json(const struct gi_metadata *metadata);
