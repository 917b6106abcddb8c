/* Runs a batch.
 * SPDX-License-Identifier: MIT */
#include "cli/inputs/batch.h"

#include <string.h>

#include "cli/log.h"
#include "cli/process.h"
#include "cli/run/memory_budget.h"
#include "cli/run/progress.h"
#include "cli/run/timing.h"
#include "cli/stop.h"

/* Prints what the batch did: "40 images written to web/ in 4.0 s, 10.0 images/s, 0 failed". If
 * images failed, only on a terminal, because another line tells their number. */
static void summarize(const struct gi_source *source, const struct gi_batch_params *params,
                      const struct gi_tally *tally, double seconds)
{
    const char *unit = source->kind->unit ? source->kind->unit : "images";
    uint64_t done = tally->done / (source->items ? (uint64_t)source->items : 1);
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

bool gi_batch_times(const struct gi_batch_params *params)
{
    return params->report || gi_progress_shows(params->progress);
}

enum gi_status gi_batch_failed(const struct gi_tally *tally, struct gi_err *err)
{
    *err = (struct gi_err){.status = tally->machine ? GI_E_AGAIN : GI_E_IO};
    return err->status;
}

bool gi_batch_row(const struct gi_source *source, const struct gi_item *item, const char **tar,
                  const char **file)
{
    *tar = NULL;
    *file = item->line.input;
    return !item->line.status &&
           (!source->kind->describe || source->kind->describe(source->self, item, tar, file));
}

/* What a batch consists of while it runs. */
struct running {
    struct gi_source *source;
    const struct gi_target *target;
    const struct gi_item_work *work;
    const struct gi_batch_params *params;
    struct gi_imaging *imaging;
};

static enum gi_status run_item(void *self, struct gi_item *item, struct gi_err *err)
{
    const struct running *running = self;
    return running->work->run(running->work->self, running->imaging, item, err);
}

static enum gi_status deliver(void *self, struct gi_item *item, struct gi_err *err)
{
    const struct running *running = self;
    const struct gi_source *source = running->source;
    const struct gi_target *target = running->target;
    enum gi_status status = target->kind->put ? target->kind->put(target->self, item, err) : GI_OK;
    if (!status && source->kind->note)
        status = source->kind->note(source->self, item, err);
    return status || !item->made.last ? status : gi_engine_end_by(item, err);
}

/* Runs the engine on many items, with a progress line and a summary. */
static enum gi_status run_many(const struct running *running, struct gi_engine *engine, int threads,
                               struct gi_err *err)
{
    struct gi_engine_watch watch = {
        .engine = engine, .threads = threads, .source = running->source};
    struct gi_tally tally;
    gi_memory_give_back();
    gi_stop_listen();
    gi_cli_count_warnings();
    gi_timing_of_many();
    double start = gi_now_ms();
    struct gi_progress *progress =
        gi_progress_start(running->params->progress, gi_progress_of_engine, &watch);
    enum gi_status status = gi_engine_run(engine, err);
    gi_progress_end(&progress);
    gi_cli_print_warnings();
    gi_engine_tally(engine, &tally);
    if (!status && gi_batch_is_wanted(running->params))
        summarize(running->source, running->params, &tally, 1e-3 * (gi_now_ms() - start));
    return status;
}

/* Runs the engine. A single item is processed in this thread, without a limit on memory. */
static enum gi_status run(struct running *running, struct gi_err *err)
{
    const struct gi_source *source = running->source;
    bool single = source->single;
    int threads = running->imaging ? gi_imaging_threads(running->imaging) : running->work->threads;
    const struct gi_engine_options options = {.threads = single ? 1 : threads,
                                              .memory =
                                                  single ? UINT64_MAX : running->params->memory,
                                              .fail_fast = !single && running->params->fail_fast};
    const struct gi_work_on work = {.self = running,
                                    .run = run_item,
                                    .deliver = deliver,
                                    .ordered = running->target->kind->ordered};
    struct gi_engine *engine;
    struct gi_tally tally;
    enum gi_status status = gi_engine_new(&engine, &options, source, &work, err);
    if (status)
        return status;
    status = single ? gi_engine_run(engine, err) : run_many(running, engine, threads, err);
    gi_engine_tally(engine, &tally);
    gi_engine_free(&engine);
    return source->kind->conclude ? source->kind->conclude(source->self, &tally, status, err)
                                  : status;
}

enum gi_status gi_batch(struct gi_source *source, const struct gi_target *target,
                        const struct gi_item_work *work, const struct gi_batch_job *job,
                        struct gi_err *err)
{
    const struct gi_target_kind *to = target->kind;
    struct running running = {.source = source,
                              .target = target,
                              .work = work,
                              .params = job->batch ? job->batch
                                                   : gi_batch_params_of(job->command, job->params)};
    enum gi_status status = to->check ? to->check(target->self, err) : GI_OK;
    if (!status && work->imaging)
        status = gi_imaging_new(&running.imaging, work->imaging, err);
    if (!status && to->open)
        status = to->open(target->self, running.imaging, err);
    if (!status && source->kind->open)
        status = source->kind->open(source, job, running.imaging, err);
    if (!status)
        status = run(&running, err);
    if (to->end)
        status = to->end(target->self, status, err);
    if (source->kind->close)
        status = source->kind->close(source->self, status, err);
    if (work->kept)
        *work->kept = running.imaging;
    else if (gi_cli_tears_down())
        gi_imaging_free(&running.imaging);
    return status;
}
