/* A progress line for one image, or for several that become one: shown on a terminal, or if it was
 * asked for, once the work takes more than two seconds.
 * SPDX-License-Identifier: MIT */
#ifndef GI_CLI_RUN_WATCH_H
#define GI_CLI_RUN_WATCH_H

#include "filters/option.h"
#include "imgio/image.h"

/* The row of --progress for commands without batches. */
#define GI_PROGRESS_OPTION(params, member)                                                         \
    {                                                                                              \
        .name = "progress", .type = GI_OPT_FLAG, .offset = offsetof(params, member),               \
        .help =                                                                                    \
            "Print a line of progress every few seconds also where standard error is no terminal"  \
    }

/* Initialised as {0}. Its thread reads it while it changes. */
struct gi_watch {
    struct gi_progress *progress; /* NULL: progress is not shown */
    const char *now;              /* name of the current stage, static */
    uint64_t npixels;             /* pixels of the image; 0: not known yet */
    int done, total;              /* number of images; total 0: there is one */
};

/* Starts to show progress, until gi_watch_end(). `total` as above. */
void gi_watch_start(struct gi_watch *watch, bool forced, int total);
void gi_watch_end(struct gi_watch *watch);

/* Set the stage that begins; the size of the image; that one of many images is done. */
void gi_watch_stage(struct gi_watch *watch, const char *stage);
void gi_watch_size(struct gi_watch *watch, const struct gi_image *image);
void gi_watch_done(struct gi_watch *watch);

#endif
