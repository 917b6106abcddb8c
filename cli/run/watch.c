/* Shows the progress of one image.
 * SPDX-License-Identifier: MIT */
#include "cli/run/watch.h"

#include <stdio.h>

#include "cli/run/progress.h"
#include "kernels/parallel.h"

static const double LONG_S = 2;

static bool tell(void *arg, double seconds, char *line, size_t nbytes)
{
    const struct gi_watch *watch = arg;
    uint64_t npixels = __atomic_load_n(&watch->npixels, __ATOMIC_RELAXED);
    const char *now = __atomic_load_n(&watch->now, __ATOMIC_RELAXED);
    char size[48] = "", part[16] = "";
    double started = gi_pool_part_started();
    if (seconds < LONG_S)
        return false;
    if (npixels)
        snprintf(size, sizeof size, " of %.3g megapixels", 1e-6 * (double)npixels);
    if (started >= 0)
        snprintf(part, sizeof part, ", %.0f %%", 100 * started);
    /* A narrow terminal shows only the beginning. */
    snprintf(line, nbytes, "now %s%s, %.0f s, 1 image%s", now, part, seconds, size);
    return true;
}

void gi_watch_start(struct gi_watch *watch, bool forced)
{
    *watch = (struct gi_watch){.now = "decode"};
    watch->progress = gi_progress_start(forced, tell, watch);
    gi_pool_watch(watch->progress != NULL);
}

void gi_watch_end(struct gi_watch *watch)
{
    gi_pool_watch(false);
    gi_progress_end(&watch->progress);
}

void gi_watch_stage(struct gi_watch *watch, const char *stage)
{
    __atomic_store_n(&watch->now, stage, __ATOMIC_RELAXED);
}

void gi_watch_size(struct gi_watch *watch, const struct gi_image *image)
{
    __atomic_store_n(&watch->npixels, (uint64_t)image->width * (uint64_t)image->height,
                     __ATOMIC_RELAXED);
}
