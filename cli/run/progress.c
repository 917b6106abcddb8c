/* Shows a line of progress.
 * SPDX-License-Identifier: MIT */
#include "cli/run/progress.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "cli/log.h"
#include "cli/process.h"
#include "cli/run/engine.h"
#include "imgio/small.h"

/* Milliseconds between two lines, on a terminal and elsewhere. */
static const long TERMINAL_MS = 200, PLAIN_MS = 2000;

/* If the CPUs are busy for a smaller part of the time than this, they are waiting for something
 * else. */
static const double BUSY = 0.6;

struct gi_progress {
    gi_progress_fn *fn;
    void *arg;
    bool terminal;
    double start_ms;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t end;
    bool ended;
};

bool gi_progress_shows(bool forced)
{
    return forced || isatty(STDERR_FILENO);
}

/* Cuts the line to the width of the terminal, at one of its commas. A line that wraps could not be
 * replaced by the next one. The width is asked for each time, because it may have changed. */
static void fit(char *line)
{
    size_t width = (size_t)gi_terminal_width(STDERR_FILENO);
    if (strlen(line) < width)
        return;
    size_t end = width - 1; /* the cursor needs the last column */
    for (size_t i = end; i > 0; i--)
        if (line[i] == ',') {
            end = i;
            break;
        }
    line[end] = '\0';
}

static void show(const struct gi_progress *progress)
{
    char line[256];
    if (!progress->fn(progress->arg, 1e-3 * (gi_now_ms() - progress->start_ms), line, sizeof line))
        return;
    if (progress->terminal) {
        fit(line);
        gi_cli_show_line(line);
    } else {
        gi_cli_log("%s", line);
    }
}

static void *ticker(void *arg)
{
    struct gi_progress *progress = arg;
    long ms = progress->terminal ? TERMINAL_MS : PLAIN_MS;
    struct timespec next;
    clock_gettime(CLOCK_MONOTONIC, &next);
    pthread_mutex_lock(&progress->lock);
    while (!progress->ended) {
        next.tv_nsec += ms % 1000 * 1000000;
        next.tv_sec += ms / 1000 + next.tv_nsec / 1000000000;
        next.tv_nsec %= 1000000000;
        while (!progress->ended &&
               pthread_cond_timedwait(&progress->end, &progress->lock, &next) == 0)
            ;
        if (!progress->ended)
            show(progress);
    }
    pthread_mutex_unlock(&progress->lock);
    return NULL;
}

struct gi_progress *gi_progress_start(bool forced, gi_progress_fn *fn, void *arg)
{
    struct gi_progress *progress =
        gi_progress_shows(forced) ? gi_small_calloc(1, sizeof *progress) : NULL;
    if (!progress)
        return NULL;
    progress->fn = fn;
    progress->arg = arg;
    progress->terminal = isatty(STDERR_FILENO);
    progress->start_ms = gi_now_ms();
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&progress->end, &monotonic);
    pthread_condattr_destroy(&monotonic);
    pthread_mutex_init(&progress->lock, NULL);
    if (pthread_create(&progress->thread, NULL, ticker, progress) == 0)
        return progress;
    free(progress);
    return NULL;
}

void gi_progress_end(struct gi_progress **out)
{
    struct gi_progress *progress = *out;
    *out = NULL;
    if (!progress)
        return;
    pthread_mutex_lock(&progress->lock);
    progress->ended = true;
    pthread_cond_signal(&progress->end);
    pthread_mutex_unlock(&progress->lock);
    pthread_join(progress->thread, NULL);
    if (progress->terminal)
        gi_cli_show_line("");
    else
        show(progress);
    free(progress);
}

static double cpu_seconds(void)
{
    struct rusage use;
    getrusage(RUSAGE_SELF, &use);
    return (double)(use.ru_utime.tv_sec + use.ru_stime.tv_sec) +
           1e-6 * (double)(use.ru_utime.tv_usec + use.ru_stime.tv_usec);
}

/* Returns the stage in which threads spend most of the time. Returns `waits` if the CPUs are often
 * idle and no device is used. */
static const char *bound(const struct gi_tally *tally, double busy, const char *waits)
{
    int most = 0;
    for (int i = 1; i < GI_STAGES; i++)
        if (tally->ms[i] > tally->ms[most])
            most = i;
    bool device = tally->ms[GI_STAGE_UPLOAD] + tally->ms[GI_STAGE_DOWNLOAD] > 0;
    return busy < BUSY && !device ? waits : gi_stage_names[most];
}

bool gi_progress_of_engine(void *arg, double seconds, char *line, size_t nbytes)
{
    const struct gi_engine_watch *watch = arg;
    const struct gi_source *source = watch->source;
    const char *unit = source->kind->unit, *waits = source->kind->waits;
    struct gi_tally tally;
    char in[32], out[32], total[32] = "", left[48] = "", failed[32] = "";
    gi_engine_tally(watch->engine, &tally);
    uint64_t ended = (tally.done + tally.failed) / (source->items ? (uint64_t)source->items : 1);
    if (!ended || seconds <= 0)
        return false;
    if (tally.n >= tally.skipped + ended && tally.n) { /* pages may not have been counted */
        snprintf(total, sizeof total, "/%llu", (unsigned long long)tally.n);
        snprintf(left, sizeof left, ", %.0f s left",
                 (double)(tally.n - tally.skipped - ended) * seconds / (double)ended);
    }
    if (tally.failed)
        snprintf(failed, sizeof failed, ", %llu failed", (unsigned long long)tally.failed);
    /* What matters most comes first, because a narrow terminal shows only the beginning. */
    snprintf(line, nbytes, "%llu%s %s%s, %.1f %s/s%s, bound by %s, %s/s in, %s/s out",
             (unsigned long long)(ended + tally.skipped), total, unit ? unit : "files", failed,
             (double)ended / seconds, unit ? unit : "images", left,
             bound(&tally, cpu_seconds() / seconds / watch->threads, waits ? waits : "disk"),
             gi_text_nbytes((double)tally.input_nbytes / seconds, in),
             gi_text_nbytes((double)tally.output_nbytes / seconds, out));
    return true;
}
