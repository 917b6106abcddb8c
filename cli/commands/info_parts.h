/* Prints the parts of a file for gpuimg info.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "imgio/imgio.h"

#include <jansson.h>
#include <stdio.h>

/* Prints PNG's colour chunks and the parts that are neither samples nor other metadata, each after
 * ", ". Parts with the same name are printed once, with their number. */
void gi_info_parts(FILE *out, const struct gi_metadata *metadata);

/* Returns all parts of the file besides its samples as an array. */
json_t *gi_info_parts_json(const struct gi_metadata *metadata);
/* Returns the array of the texts. */
json_t *gi_info_texts_json(const struct gi_metadata *metadata);
