/* Files of several images: pages of a TIFF, or frames of an animated GIF, WebP or PNG. Each image
 * arrives as a file of its own in that format, made by gi_save_memory().
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

/* Returns whether several images become one file of the format, a name as "tiff". A PNG is an
 * animation only if `frames` says that the images are frames, or that the user asks for one file.
 */
bool gi_joins(const char *format, bool frames);

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
void gi_joiner_free(struct gi_joiner **joiner);
