/* Times and ways of a command.
 * SPDX-License-Identifier: MIT */
#include "cli/run/timing.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "cli/log.h"
#include "cli/process.h"
#include "kernels/kernels.h"
#include "kernels/ways.h"

enum { STAGES_MAX = 1024, USES_MAX = 64, HOST = -1, COPIES = -2 };

struct stage {
    const char *name;  /* static */
    int step;          /* of the chain; HOST or COPIES */
    double ms, nbytes; /* nbytes 0: no rate is printed */
    int copies;
};

static struct {
    pthread_mutex_t lock;
    struct stage stages[STAGES_MAX];
    int n;
    int bands;
    double waits_ms[GI_WAITS];
    bool wanted, of_many;
} table = {.lock = PTHREAD_MUTEX_INITIALIZER};

static const char *const wait_names[GI_WAITS] = {
    [GI_WAIT_INPUT] = "wait for input",   [GI_WAIT_ORDER] = "wait for order",
    [GI_WAIT_MEMORY] = "wait for memory", [GI_WAIT_DEVICE] = "wait for device",
    [GI_WAIT_FILES] = "wait for files",
};

static _Thread_local double waited_ms; /* by this thread so far */

void gi_timing_want(bool wanted)
{
    table.wanted = wanted;
}

/* With the lock held. */
static void add(const char *name, int step, double ms, double nbytes, int copies)
{
    int i = 0;
    while (i < table.n && (table.stages[i].step != step || strcmp(table.stages[i].name, name)))
        i++;
    if (i == STAGES_MAX)
        return; /* a line less in the table */
    if (i == table.n)
        table.stages[table.n++] = (struct stage){.name = name, .step = step};
    table.stages[i].ms += ms;
    table.stages[i].nbytes += nbytes;
    table.stages[i].copies += copies;
}

void gi_timing_add(const char *stage, double ms)
{
    if (!table.wanted)
        return;
    pthread_mutex_lock(&table.lock);
    add(stage, HOST, ms, 0, 0);
    pthread_mutex_unlock(&table.lock);
}

void gi_timing_add_wait(enum gi_wait wait, double ms)
{
    waited_ms += ms;
    if (!table.wanted)
        return;
    pthread_mutex_lock(&table.lock);
    table.waits_ms[wait] += ms;
    pthread_mutex_unlock(&table.lock);
}

/* Returns the CPU time of this thread. */
static double ran_ms(void)
{
    struct timespec t = {0};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return 1e3 * (double)t.tv_sec + 1e-6 * (double)t.tv_nsec;
}

/* Whether stages are divided into CPU time and waits. The stages of a single image use several
 * threads. */
static bool divides(void)
{
    return table.wanted && table.of_many;
}

struct gi_timing_span gi_timing_begin(void)
{
    return (struct gi_timing_span){gi_now_ms(), divides() ? ran_ms() : 0, waited_ms};
}

double gi_timing_end(const struct gi_timing_span *span, const char *stage)
{
    double ms = gi_now_ms() - span->start_ms - (waited_ms - span->waited_ms);
    double ran = divides() ? ran_ms() - span->ran_ms : ms;
    ms = ms > 0 ? ms : 0;
    ran = ran < ms ? ran : ms;
    gi_timing_add(stage, ran);
    if (divides())
        gi_timing_add_wait(GI_WAIT_FILES, ms - ran);
    return ms;
}

void gi_timing_add_step(int step, const char *name, double ms, double nbytes)
{
    pthread_mutex_lock(&table.lock);
    add(name, step, ms, nbytes, 0);
    pthread_mutex_unlock(&table.lock);
}

void gi_timing_add_copies(const char *stage, double ms, int n)
{
    pthread_mutex_lock(&table.lock);
    add(stage, COPIES, ms, 0, n);
    pthread_mutex_unlock(&table.lock);
}

void gi_timing_bands(int bands)
{
    pthread_mutex_lock(&table.lock);
    table.bands = bands > table.bands ? bands : table.bands;
    pthread_mutex_unlock(&table.lock);
}

void gi_timing_of_many(void)
{
    table.of_many = true;
}

/* Logs the ways that ran on a kind of device, such as "box small, histogram bytes x 3", and their
 * details on separate lines. */
static void log_ways(const struct gi_kernels *k)
{
    struct gi_way_use uses[USES_MAX];
    char text[USES_MAX * 48] = "";
    int n = gi_ways_used(k, uses, USES_MAX);
    size_t used = 0;
    for (int i = 0; i < n && i < USES_MAX && used < sizeof text; i++) {
        char times[32] = "";
        if (uses[i].runs > 1)
            snprintf(times, sizeof times, " x %llu", (unsigned long long)uses[i].runs);
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%s %s%s", i ? ", " : "",
                                 uses[i].primitive, uses[i].way, times);
    }
    if (n > 0)
        gi_cli_log("ways %s: %s", k->name, text);
    for (int i = 0; i < n && i < USES_MAX; i++)
        if (uses[i].detail)
            gi_cli_log("%s: %s", uses[i].primitive, uses[i].detail);
}

static void print_stage(const struct stage *stage)
{
    fprintf(gi_cli_stream(), "%-16s %10.3f ms", stage->name, stage->ms);
    if (stage->nbytes > 0 && stage->ms > 0)
        fprintf(gi_cli_stream(), "  %12.0f bytes  %8.2f GB/s", stage->nbytes,
                1e-6 * stage->nbytes / stage->ms);
    if (stage->nbytes > 0 && table.bands > 1)
        fprintf(gi_cli_stream(), "  in %d bands", table.bands);
    if (stage->step == COPIES)
        fprintf(gi_cli_stream(), "  %d time%s", stage->copies, stage->copies == 1 ? "" : "s");
    putc('\n', gi_cli_stream());
}

void gi_timing_print(const struct gi_device_params *device, double elapsed_ms)
{
    if (device->verbose || device->timing) {
        log_ways(gi_kernels_cpu());
        log_ways(gi_kernels_cuda());
    }
    double total = 0;
    for (int i = 0; i < table.n && device->timing; i++) {
        print_stage(&table.stages[i]);
        total += table.stages[i].ms;
    }
    if (table.n && device->timing)
        fprintf(gi_cli_stream(), "%-16s %10.3f ms\n", table.of_many ? "sum over threads" : "total",
                total);
    for (int i = 0; i < GI_WAITS && device->timing && table.of_many; i++)
        if (table.waits_ms[i] > 0)
            fprintf(gi_cli_stream(), "%-16s %10.3f ms\n", wait_names[i], table.waits_ms[i]);
    if (table.n && device->timing && table.of_many)
        fprintf(gi_cli_stream(), "%-16s %10.3f ms\n", "elapsed", elapsed_ms);
}
