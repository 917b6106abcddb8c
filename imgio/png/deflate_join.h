/* Joins separately compressed DEFLATE streams into one.
 * SPDX-License-Identifier: MIT */
#ifndef GI_IMGIO_DEFLATE_JOIN_H
#define GI_IMGIO_DEFLATE_JOIN_H

#include <stddef.h>

enum { GI_DEFLATE_JOIN_NBYTES = 5 }; /* bytes that gi_deflate_open() needs after the stream */

/* Changes `bytes`, a complete raw DEFLATE stream by a compressor of this process, so that another
 * stream may follow: its last block is no longer marked as the last, and an empty stored block pads
 * it to a byte boundary. Returns its new length, at most GI_DEFLATE_JOIN_NBYTES more; 0 if the
 * stream can't be decoded to its end. */
size_t gi_deflate_open(unsigned char *bytes, size_t nbytes);

#endif
