/* A share of a list: each of N tasks of a scheduler takes every N-th item.
 * SPDX-License-Identifier: MIT */
#include "cli/paths/shard.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TASKS_MAX = 1000000000 };

/* Environment variables that schedulers set for the tasks of an array. A name is NULL if the
 * scheduler has no such variable. Slurm's arrays may have gaps and begin anywhere. Sources:
 * sbatch(1), "OUTPUT ENVIRONMENT VARIABLES"; Kubernetes, "Indexed Job"; AWS Batch, "Array job
 * environment variables"; parallel(1), "ENVIRONMENT VARIABLES". */
struct scheduler {
    const char *index;
    const char *count;
    const char *lowest, *highest;
    int first; /* number of the first task of an array; -1 if it can be any number */
};

static const struct scheduler schedulers[] = {
    {"SLURM_ARRAY_TASK_ID", "SLURM_ARRAY_TASK_COUNT", "SLURM_ARRAY_TASK_MIN",
     "SLURM_ARRAY_TASK_MAX", -1},
    {"JOB_COMPLETION_INDEX", NULL, NULL, NULL, 0},
    {"AWS_BATCH_JOB_ARRAY_INDEX", "AWS_BATCH_JOB_ARRAY_SIZE", NULL, NULL, 0},
    {"PARALLEL_SEQ", NULL, NULL, NULL, 1},
};

enum { NSCHEDULERS = sizeof schedulers / sizeof *schedulers };

/* Reads the digits at the start of `text`, and sets *end to the rest. Returns false if there are
 * none or too many. */
static bool read_number(uint32_t *number, const char *text, const char **end)
{
    char *stop;
    if (!isdigit((unsigned char)*text))
        return false;
    unsigned long value = strtoul(text, &stop, 10);
    *number = (uint32_t)value;
    *end = stop;
    return value <= TASKS_MAX;
}

/* Reads a number from an environment variable. Sets *is_set to false if it does not exist. */
static enum gi_status read_variable(uint32_t *number, bool *is_set, const char *name,
                                    struct gi_err *err)
{
    const char *text = name ? getenv(name) : NULL, *end;
    *is_set = text && *text;
    if (!*is_set)
        return GI_OK;
    if (!read_number(number, text, &end) || *end)
        return gi_fail(err, GI_E_USAGE, "%s is %s: want a number up to %d", name, text, TASKS_MAX);
    return GI_OK;
}

static enum gi_status find_scheduler(const struct scheduler **found, struct gi_err *err)
{
    *found = NULL;
    for (int i = 0; i < NSCHEDULERS; i++) {
        const char *value = getenv(schedulers[i].index);
        if (!value || !*value)
            continue;
        if (*found)
            return gi_fail(err, GI_E_USAGE,
                           "%s and %s are both set: want K/N, or one of them unset",
                           (*found)->index, schedulers[i].index);
        *found = &schedulers[i];
    }
    char names[256] = "";
    for (int i = 0; i < NSCHEDULERS; i++)
        snprintf(names + strlen(names), sizeof names - strlen(names), "%s%s", i ? ", " : "",
                 schedulers[i].index);
    if (!*found)
        return gi_fail(err, GI_E_USAGE, "none of %s is set: want K/N", names);
    return GI_OK;
}

/* If *n is 0, sets it to the number of tasks that scheduler `s` reports. Otherwise checks that the
 * reported number, if any, is at most *n. If the array has as many tasks as there are shards, the
 * numbers of its tasks must have no gaps. */
static enum gi_status check_count(uint32_t *n, const struct scheduler *s, struct gi_err *err)
{
    uint32_t count = 0, lowest = 0, highest = 0;
    bool has_count, has_lowest, has_highest;
    enum gi_status status = read_variable(&count, &has_count, s->count, err);
    if (!status)
        status = read_variable(&lowest, &has_lowest, s->lowest, err);
    if (!status)
        status = read_variable(&highest, &has_highest, s->highest, err);
    if (status)
        return status;
    if (!*n && (!has_count || !count))
        return gi_fail(err, GI_E_USAGE, "%s comes without the number of tasks: want auto/N",
                       s->index);
    if (has_count && *n && count > *n)
        return gi_fail(err, GI_E_USAGE, "%s is %" PRIu32 ": want at most %" PRIu32 " tasks",
                       s->count, count, *n);
    bool whole = has_count && (!*n || count == *n);
    if (whole && has_lowest && has_highest && highest - lowest + 1 != count)
        return gi_fail(err, GI_E_USAGE,
                       "the array's %" PRIu32 " tasks are numbered %" PRIu32 " to %" PRIu32
                       " with gaps: want %s",
                       count, lowest, highest,
                       *n ? "numbers in a row" : "numbers in a row, or auto/N");
    if (!*n)
        *n = count;
    return GI_OK;
}

static enum gi_status read_environment(struct gi_shard *shard, uint32_t n, struct gi_err *err)
{
    const struct scheduler *s;
    uint32_t index = 0;
    bool is_set;
    enum gi_status status = find_scheduler(&s, err);
    if (!status)
        status = read_variable(&index, &is_set, s->index, err);
    if (!status)
        status = check_count(&n, s, err);
    if (status)
        return status;
    uint32_t first = s->first < 0 ? 0 : (uint32_t)s->first;
    if (s->first >= 0 && (index < first || index - first >= n))
        return gi_fail(err, GI_E_USAGE, "%s is %" PRIu32 ": want %" PRIu32 " to %" PRIu32, s->index,
                       index, first, n - 1 + first);
    *shard = (struct gi_shard){index % n ? index % n : n, n};
    return GI_OK;
}

enum gi_status gi_shard_read(struct gi_shard *shard, const char *text, struct gi_err *err)
{
    const char *p = text;
    uint32_t k = 0, n = 0;
    *shard = (struct gi_shard){0, 0};
    if (!text)
        return GI_OK;
    bool is_auto = strncmp(p, "auto", 4) == 0;
    bool right = is_auto || read_number(&k, p, &p);
    if (is_auto)
        p += 4;
    if (right && (*p == '/' || !is_auto))
        right = *p == '/' && read_number(&n, p + 1, &p) && n > 0;
    if (!right || *p || (!is_auto && (k < 1 || k > n)))
        return gi_fail(err, GI_E_USAGE, "--shard %s: want K/N with K from 1 to N, auto or auto/N",
                       text);
    if (!is_auto) {
        *shard = (struct gi_shard){k, n};
        return GI_OK;
    }
    return read_environment(shard, n, err) ? gi_err_prefix(err, "--shard %s", text) : GI_OK;
}

bool gi_shard_takes(const struct gi_shard *shard, uint64_t index)
{
    return shard->n == 0 || index % shard->n == shard->k - 1;
}

uint64_t gi_shard_size(const struct gi_shard *shard, uint64_t total)
{
    if (shard->n == 0)
        return total;
    return total / shard->n + (total % shard->n >= shard->k);
}
