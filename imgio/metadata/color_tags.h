/* What describes a colour space beside an ICC profile.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "imgio/imgio.h"

/* Why they are dropped. */
#define GI_OTHER_SPACE "samples are in another colour space"

/* Drops by name what describes the colour space beside a profile, because samples are in another
 * one: tags of TIFF and EXIF, and PNG's mDCV and cLLI. The chunks stay for gi_save(). */
void gi_metadata_drop_color_tags(struct gi_metadata *metadata);
