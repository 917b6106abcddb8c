/* How much memory a batch may take.
 * SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/batch/engine.h"

/* The number behind `word` in a file of lines, 0 where there is none. An empty word: the first. */
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

uint64_t gi_memory_share(void)
{
    const uint64_t least = UINT64_C(256) << 20;
    uint64_t available = 1024 * number_in("/proc/meminfo", "MemAvailable:");
    uint64_t most = number_in("/sys/fs/cgroup/memory.max", "");
    uint64_t used = number_in("/sys/fs/cgroup/memory.current", "");
    if (most && (!available || most - (used < most ? used : most) < available))
        available = most - (used < most ? used : most);
    return available / 2 > least ? available / 2 : least;
}
