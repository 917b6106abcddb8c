/* Runs a batch over a feed.
 * SPDX-License-Identifier: MIT */
#include "cli/inputs/feed.h"

#include <string.h>

#include "cli/log.h"
#include "cli/process.h"
#include "cli/run/memory_budget.h"
#include "cli/run/progress.h"
#include "cli/stop.h"
#include "cli/run/timing.h"

/* Prints what the batch did: "40 images written to web/ in 4.0 s, 10.0 images/s, 0 failed". If
 * images failed, only on a terminal, because another line tells their number. */
static void summarize(const struct gi_feed *feed, const struct gi_batch_params *params,
                      const struct gi_tally *tally, double seconds)
{
    const char *unit = feed->kind->unit ? feed->kind->unit : "images";
    uint64_t done = tally->done / (feed->items ? (uint64_t)feed->items : 1);
    bool prints = params->table && strcmp(params->table, "-") == 0;
    const char *to = prints ? NULL : params->table ? params->table : params->out_dir;
    bool folder = to && !params->table && to[strlen(to) - 1] != '/';
    double rate = (double)done / (seconds > 0 ? seconds : 1e-3);
    char skipped[64] = "";
    if (tally->skipped)
        snprintf(skipped, sizeof skipped, ", %llu skipped because %s",
                 (unsigned long long)tally->skipped,
                 params->resume ? "the report has them" : "they exist");
    void (*print)(const char *format, ...) = tally->failed ? gi_cli_note : gi_cli_conclude;
    print("%s%llu %.*s%s%s%s in %.1f s, %.*f %s/s%s, %llu failed", params->table ? "table of " : "",
          (unsigned long long)done, (int)strlen(unit) - (done == 1), unit, to ? " written to " : "",
          to ? to : "", folder ? "/" : "", seconds, rate < 9.95 ? 1 : 0, rate, unit, skipped,
          (unsigned long long)tally->failed);
}

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
    gi_cli_count_warnings();
    gi_timing_of_many();
    double start = gi_now_ms();
    struct gi_progress *progress =
        gi_progress_start(params->progress, gi_progress_of_engine, &watch);
    status = gi_engine_run(watch.engine, err);
    gi_progress_end(&progress);
    gi_cli_print_warnings();
    gi_engine_tally(watch.engine, &tally);
    if (!status && gi_batch_is_wanted(params))
        summarize(feed, params, &tally, 1e-3 * (gi_now_ms() - start));
    gi_engine_free(&watch.engine);
    return feed->kind->conclude ? feed->kind->conclude(feed->self, &tally, status, err) : status;
}
