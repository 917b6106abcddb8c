/* Joins separately compressed DEFLATE streams into one.
 * SPDX-License-Identifier: MIT */
#pragma once

#include <stddef.h>

/* maximum bytes that gi_deflate_open() adds, for which there must be room after the stream */
enum { GI_DEFLATE_JOIN_NBYTES = 5 };

/* Changes `bytes`, a complete raw DEFLATE stream by a compressor of this process, so that another
 * stream may follow. The last block is no longer marked as the last, and an empty stored block pads
 * the stream to a byte boundary. Returns the new length of the stream, which is at most
 * GI_DEFLATE_JOIN_NBYTES more than before, or 0 if the stream can't be decoded to its end. */
size_t gi_deflate_open(unsigned char *bytes, size_t nbytes);
