/* The table of --timing, and the list of ways that -v and --timing print. There is one table for
 * the whole command, whether it processes one image or a batch. It is printed at the end.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "cli/args/device_options.h"

/* Adds a time to the stage with this name, a constant string. Stages are printed in the order in
 * which they first got a time. Many threads may call this at once. */
void gi_timing_add(const char *stage, double ms);

/* Adds the time and the bytes of a step. The table has one row for the step, with the sums over all
 * images. */
void gi_timing_add_step(int step, const char *name, double ms, double nbytes);

/* Adds `n` copies between host and device, or results that the device encoded; `stage` is "upload",
 * "download", "jpeg" or "png". */
void gi_timing_add_copies(const char *stage, double ms, int n);

/* Records the number of bands of an image. The table shows the maximum. */
void gi_timing_bands(int bands);

/* Says, before other threads run, that there are many images. The times are then sums over the
 * threads, whose stages overlap, and the table ends with the time that elapsed too. */
void gi_timing_of_many(void);

/* Prints to stderr what the options ask for: the ways that ran on each kind of device, and the
 * table. `elapsed_ms` is the time that the command took. */
void gi_timing_print(const struct gi_device_params *device, double elapsed_ms);
