/* Drops what describes a colour space beside an ICC profile.
 * SPDX-License-Identifier: MIT */
#include "imgio/metadata/color_tags.h"

#include <string.h>

#include "imgio/metadata/exif.h"

void gi_metadata_drop_color_tags(struct gi_metadata *metadata)
{
    struct gi_part part = {
        .kind = GI_PART_METADATA, .fate = GI_PART_DROPPED, .why = GI_OTHER_SPACE};
    for (int i = 0; i < metadata->parts.n; i++) {
        struct gi_part *tag = &metadata->parts.list[i];
        bool of_color = tag->code == 301 || tag->code == 318 || tag->code == 319;
        if (tag->kind == GI_PART_TIFF_TAG && tag->fate == GI_PART_CARRIED && of_color) {
            tag->fate = GI_PART_DROPPED;
            tag->why = GI_OTHER_SPACE;
        }
    }
    if (gi_exif_forget_colors(metadata->exif, metadata->exif_nbytes))
        gi_metadata_add_part(metadata, &part, "white point, primaries or curve in EXIF");
    for (const unsigned char *at = NULL; (at = gi_metadata_next_color(metadata, at));)
        if (memcmp(at, "mDCV", 4) == 0 || memcmp(at, "cLLI", 4) == 0) {
            part.nbytes = at[4];
            gi_metadata_add_part(metadata, &part, "chunk %.4s", (const char *)at);
        }
}
