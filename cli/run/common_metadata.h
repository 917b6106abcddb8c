/* The metadata of an image that is made from several.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "imgio/imgio.h"

/* Number of images whose metadata is not in the result, by kind. */
struct gi_common_metadata {
    int exif, xmp, texts, icc, color, resolution, parts;
    int n; /* images added */
};

/* Adds the metadata of the next image, of which the profile, PNG's colour chunks and the resolution
 * stay in `kept` as long as all images have the same. If the caller has moved all metadata of the
 * first image to `kept`, which is then whole, that stays. */
void gi_common_metadata_add(struct gi_common_metadata *common, struct gi_metadata *kept,
                            struct gi_metadata *metadata);

/* Sets *shared to the profile, PNG's colour chunks and the resolution of an image, of which another
 * image shows a part. `metadata` owns them. With `name`, gi_save() names the rest as dropped. The
 * caller ends with gi_common_metadata_unshare(). */
void gi_common_metadata_share(struct gi_metadata *shared, const struct gi_metadata *metadata,
                              bool name);
void gi_common_metadata_unshare(struct gi_metadata *shared);

/* Adds what is not in the result to the parts of `kept`, so that gi_save() names it. */
void gi_common_metadata_end(const struct gi_common_metadata *common, struct gi_metadata *kept);
