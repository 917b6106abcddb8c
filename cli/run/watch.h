/* The line of progress of one image, or of a few that become one: told on a terminal, or where it
 * was asked for, once it takes over two seconds. SPDX-License-Identifier: MIT */
#ifndef GI_CLI_RUN_WATCH_H
#define GI_CLI_RUN_WATCH_H

#include "filters/option.h"
#include "imgio/image.h"

/* The option of commands that take no batches. */
#define GI_PROGRESS_OPTION(params, member)                                                         \
    {                                                                                              \
        .name = "progress", .type = GI_OPT_FLAG, .offset = offsetof(params, member),               \
        .help =                                                                                    \
            "Print a line of progress every few seconds also where standard error is no terminal"  \
    }

/* Starts as {0}. What its thread reads while it changes. */
struct gi_watch {
    struct gi_progress *progress; /* NULL: progress is not shown */
    const char *now;              /* the stage, static */
    uint64_t npixels;             /* of the image; 0: not known yet */
    int done, total;              /* images; total 0: there is one */
};

/* Until gi_watch_end(), after which nothing happens. `total` as above. */
void gi_watch_start(struct gi_watch *watch, bool forced, int total);
void gi_watch_end(struct gi_watch *watch);

/* The stage that begins; the size of the image; that one of many is done. */
void gi_watch_stage(struct gi_watch *watch, const char *stage);
void gi_watch_size(struct gi_watch *watch, const struct gi_image *image);
void gi_watch_done(struct gi_watch *watch);

#endif
