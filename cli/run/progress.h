/* A progress line. On a terminal it is updated in place; elsewhere a plain line is printed every
 * few seconds if --progress asks for it.
 * SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct gi_engine;
struct gi_source;
struct gi_progress;

/* Prints the current line, without a newline, into `line`, `seconds` after the start. A thread of
 * the progress line calls this repeatedly. Returns false if there is nothing to show yet. */
typedef bool gi_progress_fn(void *arg, double seconds, char *line, size_t nbytes);

/* Starts to show the lines that `fn` prints, until gi_progress_end(), which sets the pointer to
 * NULL. Returns NULL if nothing will be shown. `arg` must exist until then. */
struct gi_progress *gi_progress_start(bool forced, gi_progress_fn *fn, void *arg);
void gi_progress_end(struct gi_progress **progress);
/* Returns whether gi_progress_start() would show anything. */
bool gi_progress_shows(bool forced);

/* The progress line of a batch; `arg` is a struct gi_engine_watch. */
struct gi_engine_watch {
    struct gi_engine *engine;
    int threads; /* number of CPUs that it may use */
    const struct gi_source *source;
};
gi_progress_fn gi_progress_of_engine;
