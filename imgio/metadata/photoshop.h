/* Image resources of Photoshop ("Adobe Photoshop File Formats Specification", image resources
 * section), as in JPEG's APP13 and TIFF's tag 34377.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "imgio/format.h"

/* Adds the resources to decode's parts: IPTC, if there is none yet, the other resources as a
 * carried part, and thumbnails as dropped. Resources behind one that is damaged are named as lost.
 */
void gi_decode_add_photoshop(struct gi_decode *decode, const void *bytes, size_t nbytes);

/* Adds IPTC, without padding at its end. If words of 4 bytes are in the other byte order, which
 * some writers of TIFF cause, they are turned. */
void gi_decode_add_iptc(struct gi_decode *decode, const void *bytes, size_t nbytes);

/* Resolution in 8 bytes along rows, of which the first 4 are pixels per inch times 65536, and the
 * same along columns. */
enum { GI_RESOURCE_RESOLUTION = 0x03ed, GI_RESOURCE_RESOLUTION_NBYTES = 16 };
enum { GI_RESOURCE_IPTC = 0x0404 };
/* Returns the data of the first resource of that number, with at least `least` bytes, or NULL. */
void *gi_photoshop_find(void *bytes, size_t nbytes, unsigned number, size_t least);

/* Removes thumbnails from the resources, and exchanges the resolutions if the picture was
 * transposed. Returns the new length in bytes. */
size_t gi_photoshop_turn(void *bytes, size_t nbytes, bool transposed);

/* Returns the number of bytes of the carried resources with IPTC among them, as a JPEG and a PNG
 * hold them. Unless `to` is NULL, writes them there, with the new resolution if there is one. */
size_t gi_photoshop_put(unsigned char *to, const struct gi_metadata *metadata);
