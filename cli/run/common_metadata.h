/* The metadata of an image that is made from several.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "imgio/imgio.h"

/* Metadata that are in images, and not in the result. */
struct gi_common_loss {
    struct gi_part part; /* its kind, fate, reason and name; it has no bytes */
    int images;          /* number of images that have it */
    int last;            /* number of the last of these images, from 0 */
};

/* What an image of several has in common with all of them. Starts as zeros. */
struct gi_common_metadata {
    bool first; /* the result has all metadata of the first image; set by the caller */
    int n;      /* images added */
    struct gi_common_loss *losses;
    int nlosses;
};

/* Adds the metadata of the next image. Those of the first image become *kept, which is zeros
 * before, and *metadata becomes zeros. From each further image on, *kept has what all images share:
 * blocks (EXIF, XMP, the profile, PNG's colour chunks), the resolution, each text, each part
 * (imgio/parts.h) and each card of a FITS. Everything else is counted as a loss. With
 * common->first, *kept stays as the first image has it. */
void gi_common_metadata_add(struct gi_common_metadata *common, struct gi_metadata *kept,
                            struct gi_metadata *metadata);

/* Adds what is not in the result to the parts of `kept`, so that gi_save() names it, with the
 * number of images. Frees the list of losses. */
void gi_common_metadata_end(struct gi_common_metadata *common, struct gi_metadata *kept);

/* Sets *shared to the profile, PNG's colour chunks and the resolution of an image, of which another
 * image shows a part. `metadata` owns them. With `name`, gi_save() names the rest as dropped. The
 * caller ends with gi_common_metadata_unshare(). */
void gi_common_metadata_share(struct gi_metadata *shared, const struct gi_metadata *metadata,
                              bool name);
void gi_common_metadata_unshare(struct gi_metadata *shared);
