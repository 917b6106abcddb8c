/* Runs a batch over a feed.
 * SPDX-License-Identifier: MIT */
#include "cli/inputs/feed.h"

#include "cli/run/memory_budget.h"
#include "cli/run/progress.h"
#include "cli/run/stop.h"

enum gi_status gi_feed_run(const struct gi_feed *feed, const struct gi_work_on *work,
                           const struct gi_batch_params *params, int threads, struct gi_err *err)
{
    struct gi_engine_options options = {
        .threads = threads, .memory = params->memory, .fail_fast = params->fail_fast};
    struct gi_engine_watch watch = {.threads = threads, .feed = feed};
    struct gi_tally tally;
    enum gi_status status = gi_engine_new(&watch.engine, &options, feed, work, err);
    if (status)
        return status;
    gi_memory_give_back();
    gi_stop_listen();
    struct gi_progress *progress =
        gi_progress_start(params->progress, gi_progress_of_engine, &watch);
    status = gi_engine_run(watch.engine, err);
    gi_progress_end(&progress);
    gi_engine_tally(watch.engine, &tally);
    gi_engine_free(&watch.engine);
    return feed->kind->conclude ? feed->kind->conclude(feed->self, &tally, status, err) : status;
}
