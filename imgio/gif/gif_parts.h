/* Blocks of a GIF that are not the first frame.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "imgio/format.h"

/* Keeps comments as texts, an ICC profile and XMP, and lists all blocks that are not read
 * (gi_format.parts). */
void gi_gif_parts(struct gi_decode *decode);
