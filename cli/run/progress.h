/* A line of progress: on a terminal, renewed in place; where --progress asks for it elsewhere, a
 * plain line every few seconds; nothing otherwise. SPDX-License-Identifier: MIT */
#ifndef GI_CLI_RUN_PROGRESS_H
#define GI_CLI_RUN_PROGRESS_H

#include <stdbool.h>
#include <stddef.h>

struct gi_engine;
struct gi_feed;
struct gi_progress;

/* Writes the line as of now, `seconds` after the start, without a newline; many times, on a thread
 * of its own. Returns false where there is nothing to say yet. */
typedef bool gi_progress_fn(void *arg, double seconds, char *line, size_t nbytes);

/* Starts to show what `fn` says, until gi_progress_end(), which nulls. NULL where nothing is to be
 * shown. `arg` outlives it. */
struct gi_progress *gi_progress_start(bool forced, gi_progress_fn *fn, void *arg);
void gi_progress_end(struct gi_progress **progress);
/* Whether gi_progress_start() would show anything. */
bool gi_progress_shows(bool forced);

/* The line of a batch; `arg` is a struct gi_engine_watch. */
struct gi_engine_watch {
    struct gi_engine *engine;
    int threads; /* CPUs that it may keep busy */
    const struct gi_feed *feed;
};
gi_progress_fn gi_progress_of_engine;

#endif
