/* The table of --timing, and the list of ways that -v and --timing print. There is one table for
 * the whole command, whether it processes one image or a batch. It is printed at the end.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "cli/args/device_options.h"

/* Adds a time to the stage with this name, a constant string. Stages are printed in the order in
 * which they first got a time. Many threads may call this at once. */
void gi_timing_add(const char *stage, double ms);

/* For --timing: whether the functions of this file shall measure. For the main thread, before other
 * threads run. */
void gi_timing_want(bool wanted);

/* What a thread of a batch waits for. */
enum gi_wait {
    GI_WAIT_INPUT,  /* another thread takes an input from the list, the tar or the stream */
    GI_WAIT_ORDER,  /* results of earlier inputs are not delivered yet */
    GI_WAIT_MEMORY, /* images in progress take the memory of --memory */
    GI_WAIT_DEVICE, /* a free queue of a device */
    GI_WAIT_FILES,  /* the file system, or a CPU, in a stage: its time without CPU time and the
                       other waits */
    GI_WAITS
};
void gi_timing_add_wait(enum gi_wait wait, double ms);

/* The clocks of a thread at the beginning of a stage. */
struct gi_timing_span {
    double start_ms, ran_ms, waited_ms; /* time, CPU time, and waits that were added so far */
};
struct gi_timing_span gi_timing_begin(void);
/* Adds the time since the beginning, without the waits that this thread has added since, to the
 * stage. If there are many images, adds what exceeds the thread's CPU time as GI_WAIT_FILES.
 * Returns the milliseconds without those waits, but with GI_WAIT_FILES. */
double gi_timing_end(const struct gi_timing_span *span, const char *stage);

/* Adds the time and the bytes of a step. The table has one row for the step, with the sums over all
 * images. */
void gi_timing_add_step(int step, const char *name, double ms, double nbytes);

/* Adds `n` copies between host and device, or results that the device encoded; `stage` is "upload",
 * "download", "jpeg" or "png". */
void gi_timing_add_copies(const char *stage, double ms, int n);

/* Records the number of bands of an image. The table shows the maximum. */
void gi_timing_bands(int bands);

/* Says, before other threads run, that there are many images. The times are then sums over the
 * threads, whose stages overlap, and the table ends with the waits and the time that elapsed. */
void gi_timing_of_many(void);

/* Prints to stderr what the options ask for: the ways that ran on each kind of device, and the
 * table. `elapsed_ms` is the time that the command took. */
void gi_timing_print(const struct gi_device_params *device, double elapsed_ms);
