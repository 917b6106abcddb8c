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

/* Runs the engine: on many items with a progress line and a summary, on a single one in this thread
 * and with a limit on memory only if the user gave one. */
static enum gi_status run_items(const struct gi_batch *batch, struct gi_imaging *imaging,
                                const struct gi_batch_params *params, struct gi_err *err)
{
    const struct gi_source *source = batch->source;
    bool many = !source->one;
    int threads = imaging ? gi_imaging_threads(imaging) : gi_thread_count(0);
    uint64_t memory = params ? params->memory : 0;
    const struct gi_engine_options options = {.threads = many ? threads : 1,
                                              .memory = many || memory ? memory : UINT64_MAX,
                                              .fail_fast = many && params->fail_fast};
    const struct gi_item_work work = {batch->target, batch->self, imaging, batch->run};
    struct gi_engine_watch watch = {.threads = threads, .source = source};
    struct gi_tally tally;
    enum gi_status status = gi_engine_new(&watch.engine, &options, source, &work, err);
    if (status)
        return status;
    if (many) {
        gi_memory_give_back(gi_engine_memory(watch.engine), threads);
        gi_stop_listen();
        gi_cli_count_warnings();
        gi_timing_of_many();
    }
    double start = gi_now_ms();
    struct gi_progress *progress =
        many ? gi_progress_start(params->progress, gi_progress_of_engine, &watch) : NULL;
    status = gi_engine_run(watch.engine, err);
    gi_progress_end(&progress);
    gi_engine_tally(watch.engine, &tally);
    gi_engine_free(&watch.engine);
    if (many)
        gi_cli_print_warnings();
    if (many && !status && gi_batch_is_wanted(params))
        summarize(source, params, &tally, 1e-3 * (gi_now_ms() - start));
    return source->kind->conclude ? source->kind->conclude(source->self, &tally, status, err)
                                  : status;
}

enum gi_status gi_batch_run(const struct gi_batch *batch, struct gi_err *err)
{
    const struct gi_batch_job *job = batch->job;
    const struct gi_target_kind *target = batch->target;
    const struct gi_batch_params *params = gi_batch_params(job);
    struct gi_source *source = batch->source;
    const struct gi_imaging_options options = {
        .chain = job->chain,
        .nchains = job->nchains,
        .rules = source->rules,
        .io = batch->io ? batch->io : gi_batch_io(job),
        .device = gi_batch_device(job),
        .images = source->n,
        .one = source->one,
        .times = !source->one && (params->report || gi_progress_shows(params->progress))};
    struct gi_imaging *imaging = NULL;
    enum gi_status status = target->check ? target->check(batch->self, err) : GI_OK;
    if (!status && options.device)
        status = gi_imaging_new(&imaging, &options, err);
    if (!status && target->open)
        status = target->open(batch->self, imaging, err);
    if (!status && source->kind->open)
        status = source->kind->open(source, job, imaging, err);
    if (!status)
        status = run_items(batch, imaging, params, err);
    if (target->end)
        status = target->end(batch->self, status, err);
    if (source->kind->close)
        status = source->kind->close(source->self, status, err);
    if (batch->kept)
        *batch->kept = imaging;
    else if (gi_cli_tears_down())
        gi_imaging_free(&imaging);
    return status;
}
