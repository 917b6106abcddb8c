/* Finds out how much memory a batch may use.
 * SPDX-License-Identifier: MIT */
#include "cli/run/memory_budget.h"

#include <inttypes.h>
#include <malloc.h>
#include <stdio.h>
#include <string.h>

enum {
    PATH_BYTES = 4096,
    KEPT_LEAST = 4 << 20, /* free memory at the end of an arena, of which a thread has one */
    KEPT_MOST = 32 << 20,
    KEPT_PART = 4,       /* all arenas together keep at most this part of the memory */
    LARGE_PART = 4,      /* blocks of this part of the kept memory are large */
    ARENA_STEP = 1 << 20 /* by which an arena grows */
};

/* File names and keys of one version of control groups. */
struct words {
    const char *mount, *limit, *soft_limit, *used, *reclaimable;
};

static const struct words v2 = {"/sys/fs/cgroup", "memory.max", "memory.high", "memory.current",
                                "inactive_file"};
static const struct words v1 = {"/sys/fs/cgroup/memory", "memory.limit_in_bytes", NULL,
                                "memory.usage_in_bytes", "total_inactive_file"};

/* Returns the number that follows `word` in a file of lines, or the first number if `word` is
 * empty. Returns 0 if there is no such number. */
static uint64_t number_in(const char *path, const char *word)
{
    char line[256];
    uint64_t value = 0;
    FILE *file = fopen(path, "r");
    while (file && fgets(line, sizeof line, file))
        if (strncmp(line, word, strlen(word)) == 0 &&
            sscanf(line + strlen(word), "%" SCNu64, &value) == 1)
            break;
    if (file)
        fclose(file);
    return value;
}

static uint64_t number_of(const char *folder, const char *name, const char *word)
{
    char path[PATH_BYTES + 64];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return number_in(path, word);
}

/* Returns the memory left in one control group, or `least` if that is smaller. Cached files that
 * are not in use count as free. A limit that is not a number is ignored. */
static uint64_t lower_by(uint64_t least, const char *folder, const struct words *words)
{
    uint64_t limit = number_of(folder, words->limit, "");
    uint64_t soft = words->soft_limit ? number_of(folder, words->soft_limit, "") : 0;
    if (!limit || (soft && soft < limit))
        limit = soft;
    if (!limit)
        return least;
    uint64_t used = number_of(folder, words->used, "");
    uint64_t cached = number_of(folder, "memory.stat", words->reclaimable);
    used -= cached < used ? cached : used;
    uint64_t left = limit > used ? limit - used : 1;
    return !least || left < least ? left : least;
}

/* Does the same for the group `name` and all groups above it. In a container `name` may be the name
 * that the group has outside the container, so folders that do not exist are skipped. */
static uint64_t lower_by_groups(uint64_t least, const char *root, const char *name,
                                const struct words *words)
{
    char folder[PATH_BYTES];
    size_t top = strlen(root) + strlen(words->mount);
    int n = snprintf(folder, sizeof folder, "%s%s%s", root, words->mount, name);
    if (n < 0 || (size_t)n >= sizeof folder)
        return least;
    for (;;) {
        least = lower_by(least, folder, words);
        char *slash = strrchr(folder, '/');
        if (!folder[top] || !slash)
            return least;
        *slash = '\0';
    }
}

/* Returns the name of the control group that limits memory, from a line of /proc/self/cgroup such
 * as "4:memory:/a/b" or "0::/a/b" (format: cgroups(7)). NULL if the line is not about memory. */
static char *name_in(char *line, const struct words **words)
{
    char *controllers = strchr(line, ':'), *rest;
    char *name = controllers ? strchr(controllers + 1, ':') : NULL;
    if (!name)
        return NULL;
    *name++ = '\0';
    name[strcspn(name, "\n")] = '\0';
    *words = &v2;
    for (char *at = strtok_r(controllers + 1, ",", &rest); at; at = strtok_r(NULL, ",", &rest)) {
        if (strcmp(at, "memory") == 0)
            *words = &v1;
        else if (*words == &v2)
            *words = NULL;
    }
    return *words ? name : NULL;
}

uint64_t gi_memory_free(const char *root)
{
    char path[PATH_BYTES], line[PATH_BYTES];
    const struct words *words;
    snprintf(path, sizeof path, "%s/proc/meminfo", root);
    uint64_t least = 1024 * number_in(path, "MemAvailable:");
    snprintf(path, sizeof path, "%s/proc/self/cgroup", root);
    FILE *file = fopen(path, "r");
    while (file && fgets(line, sizeof line, file)) {
        const char *name = name_in(line, &words);
        if (name)
            least = lower_by_groups(least, root, name, words);
    }
    if (file)
        fclose(file);
    return least;
}

uint64_t gi_memory_share(void)
{
    const uint64_t least = UINT64_C(32) << 20;
    uint64_t share = gi_memory_free("") / 2;
    return share > least ? share : least;
}

void gi_memory_give_back(uint64_t memory, int nthreads)
{
#ifdef M_MMAP_THRESHOLD
    const uint64_t part = memory / KEPT_PART / (uint64_t)nthreads;
    const int kept = part < KEPT_LEAST ? KEPT_LEAST : part > KEPT_MOST ? KEPT_MOST : (int)part;
    /* A threshold that was set no longer grows automatically. Without what is kept, each file of
     * 128 KiB or more would extend and trim the arena, for which threads wait for each other. */
    mallopt(M_MMAP_THRESHOLD, kept / LARGE_PART);
    mallopt(M_TRIM_THRESHOLD, kept);
    mallopt(M_TOP_PAD, ARENA_STEP);
#endif
}
