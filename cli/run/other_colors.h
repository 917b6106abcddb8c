/* The colours of further images, such as that of --with, beside those of the input. The result has
 * the metadata of the input alone. Samples are combined as they are, so that a further image of
 * other colours is named.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "cli/args/chain.h"

/* Moves the ICC profile and PNG's colour chunks of `loaded` to *kept, and frees the rest. */
void gi_other_colors_keep(struct gi_metadata *kept, struct gi_metadata *loaded);

/* Returns whether `other` has an ICC profile or colour chunks and `metadata` has not the same.
 * Colour chunks that mean sRGB, and none, are the same. */
bool gi_other_colors_differ(const struct gi_metadata *other, const struct gi_metadata *metadata);

/* Adds the colours of further images that differ from those of the input to the parts of
 * `metadata`, which is the input's, so that gi_save() names them. */
void gi_other_colors_name(struct gi_metadata *metadata, const struct gi_chain *chain);
