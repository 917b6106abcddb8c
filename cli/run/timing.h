/* The table of --timing, and the ways that -v and --timing name: one for the whole command, be it
 * of one image or of a batch, printed once at its end. SPDX-License-Identifier: MIT */
#ifndef GI_CLI_RUN_TIMING_H
#define GI_CLI_RUN_TIMING_H

#include "cli/run/device_options.h"

/* Adds to the stage of this name (static), which appears in the table where it was first noted.
 * Many threads may call it at once. */
void gi_timing_add(const char *stage, double ms);

/* Adds the time of a step and its bytes: those of other images add to the same row. */
void gi_timing_add_step(int step, const char *name, double ms, double nbytes);

/* Adds `n` copies between host and device; `stage` is "upload" or "download". */
void gi_timing_add_copies(const char *stage, double ms, int n);

/* Notes how many bands an image had; the table tells the largest number. */
void gi_timing_bands(int bands);

/* Prints to stderr what the options ask for: the ways that ran, on each kind of device, and the
 * table. The sums of a batch are over its images, whose stages overlap. */
void gi_timing_print(const struct gi_device_params *device);

#endif
