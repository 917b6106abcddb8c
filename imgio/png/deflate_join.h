/* Joining separately compressed DEFLATE streams into one.
 * SPDX-License-Identifier: MIT */
#ifndef GI_IMGIO_DEFLATE_JOIN_H
#define GI_IMGIO_DEFLATE_JOIN_H

#include <stddef.h>

enum { GI_DEFLATE_JOIN_NBYTES = 5 }; /* room that gi_deflate_open() needs past the stream */

/* Turns the complete raw DEFLATE stream `bytes` (one that a compressor of this process made) into
 * one that goes on: its last block is no longer marked as last, and an empty stored block brings it
 * to a byte boundary, so that another stream may follow. Returns its new length, at most
 * GI_DEFLATE_JOIN_NBYTES more; 0 where the stream can't be followed to its end. */
size_t gi_deflate_open(unsigned char *bytes, size_t nbytes);

#endif
