/* Files of several images: pages of a TIFF, frames of an animated GIF, WebP or PNG, or sizes of an
 * icon. Each image arrives as a file of its own in that format, made by gi_save_memory().
 * SPDX-License-Identifier: MIT */
#pragma once

#include "imgio/imgio.h"

/* The properties of an animation besides its frames. */
struct gi_joined_timing {
    int delay_ms; /* of each frame; -1: that of the input, 100 if it has none */
    int plays;    /* 0: without end; -1: that of the first input, 0 if it has none */
};

/* A writer of such a file. */
struct gi_joiner;

/* Why several images are to be written into one file. */
enum gi_joining {
    GI_JOIN_PAGES,  /* the input has several */
    GI_JOIN_FRAMES, /* the input is an animation */
    GI_JOIN_SIZES,  /* they are sizes of one image */
    GI_JOIN_ASKED,  /* the user asks for it (gpuimg pages) */
};

/* Returns whether the images become one file of the format, a name as "tiff". A PNG holds several
 * only as an animation, and is one image for pages. */
bool gi_joins(const char *format, enum gi_joining why);

/* Makes a writer into the sink, which must outlive it. The frames of an animation are in memory
 * until its end. Errors: GI_E_MEMORY. */
enum gi_status gi_joiner_new(struct gi_joiner **joiner, struct gi_sink *sink, const char *format,
                             const struct gi_joined_timing *timing, struct gi_err *err);
/* Adds an image, and takes ownership of `bytes`, also after an error. `timing` is that of the
 * image. Errors: the sink's, GI_E_MEMORY, GI_E_UNSUPPORTED for a frame of another size than the
 * first one. */
enum gi_status gi_joiner_add(struct gi_joiner *joiner, void *bytes, size_t nbytes,
                             const struct gi_timing *timing, struct gi_err *err);
/* Writes what is not written yet. The caller must commit the sink. Errors: the sink's. */
enum gi_status gi_joiner_end(struct gi_joiner *joiner, struct gi_err *err);
/* Returns what later frames of an animation have and its file has not, as "EXIF, texts", or "". The
 * file has the metadata of the first frame alone. Valid until gi_joiner_free(). */
const char *gi_joiner_lost(const struct gi_joiner *joiner);
void gi_joiner_free(struct gi_joiner **joiner);
