/* Gain maps of HDR photographs. A gain map is a second JPEG behind the picture, from which viewers
 * compute how much brighter each pixel is on a screen that can show it (ISO 21496-1; Android's
 * Ultra HDR image format 1.1). It covers the whole picture, whatever number of pixels it has. An
 * APP2 segment of the picture, the index, tells where the map is (CIPA DC-007, multi-picture
 * format). SPDX-License-Identifier: MIT */
#pragma once

#include "imgio/imgio.h"

/* An APP2 segment of the picture or the map that describes the map begins with this text and the
 * zero at its end (ISO 21496-1, annex C). */
#define GI_ISO_GAIN_MAP_HEAD "urn:iso:std:iso:ts:21496:-1"

/* Bytes of a file from offset `at`; `nbytes` is 0 if there are none. */
struct gi_gain_map {
    size_t at, nbytes;
};

enum { GI_MPF_NBYTES = 86 }; /* data of the segment with an index of two images */

/* Finds the first gain map that the index of a JPEG of `n` bytes names. The map must be a whole
 * JPEG after the picture, which ends at offset `end`, and say by XMP or ISO 21496-1 that it is a
 * gain map; an index that says anything else has none. */
struct gi_gain_map gi_gain_map_find(const unsigned char *bytes, size_t n, size_t end);

/* Notes that the picture was turned by these bits of enum gi_layout, for gi_gain_map_settle(). The
 * part's `place` has the turns that are noted. */
void gi_gain_map_turn(struct gi_metadata *metadata, int layout);

/* Turns the gain map as noted; a map for which this was not done is not written. Without loss if
 * its blocks can be turned (imgio/lossless.h). Otherwise it is decoded and encoded, unless
 * `lossless`. A map that can't be turned is dropped. Errors: GI_E_MEMORY. */
enum gi_status gi_gain_map_settle(struct gi_metadata *metadata, const struct gi_limits *limits,
                                  bool lossless, struct gi_err *err);

/* Drops the gain map and the segment that describes it, with this reason, a static text. To be
 * called if the samples change, but not for a change that is like another quality. */
void gi_gain_map_drop(struct gi_metadata *metadata, const char *why);

/* Returns whether the part is the segment that describes a gain map. */
bool gi_gain_map_is_description(const struct gi_part *part);

/* Returns the gain map that is written, or NULL. */
const struct gi_part *gi_gain_map_of(const struct gi_metadata *metadata);

/* Returns whether the part is a gain map that has EXIF, or XMP that names a place. */
bool gi_gain_map_has_exif(const struct gi_part *part);

/* Makes the data of the segment with an index of a picture and its gain map, whose sizes are not
 * known yet. */
void gi_mpf_make(unsigned char segment[GI_MPF_NBYTES]);

/* Sets the sizes in the index that gi_mpf_make() made, for a picture of `n` bytes, directly behind
 * which a gain map of `map_nbytes` bytes is. Errors: GI_E_UNSUPPORTED if the index can't hold
 * them. */
enum gi_status gi_mpf_set(unsigned char *picture, size_t n, size_t map_nbytes, struct gi_err *err);
