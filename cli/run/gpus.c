/* Limits CUDA to the GPUs that a command uses. cuInit() and the first call of the CUDA runtime
 * create state for every GPU that they see: with two GPUs a small command takes 0.64 s, and 0.41 s
 * if CUDA sees one of them.
 * SPDX-License-Identifier: MIT */
#include "cli/run/gpus.h"

#include <ctype.h>
#include <glob.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "cli/args/device_options.h"
#include "cli/process.h"
#include "cli/run/session_device.h"
#include "cli/shell.h"
#include "imgio/small.h"

/* Returns the number of files that match a pattern below `root`, whose names end in a number of at
 * least `least`. */
static int count_numbered(const char *root, const char *pattern, int least)
{
    char *path = gi_small_format("%s%s", root, pattern);
    glob_t found;
    int n = 0;
    if (glob(path, GLOB_NOSORT, NULL, &found) == 0) {
        for (size_t i = 0; i < found.gl_pathc; i++) {
            const char *name = found.gl_pathv[i], *end = name + strlen(name);
            while (end > name && isdigit((unsigned char)end[-1]))
                end--;
            /* the whole number: no "nvidia-uvm2" matches "nvidia[0-9]*" */
            n += *end && atoi(end) >= least && strchr("ap", end[-1]);
        }
        globfree(&found);
    }
    free(path);
    return n;
}

/* Returns the number of GPUs for which there are device files, at most GI_DEVICES_MAX, or 0 if the
 * number is unknown or a GPU is divided by MIG, so that indices may mean parts of GPUs. Parts of
 * GPUs have files from nvidia-cap3 on; the first two are for their administration. */
static int count_gpus(const char *root)
{
    int n = count_numbered(root, "/dev/nvidia[0-9]*", 0);
    bool divided = count_numbered(root, "/dev/nvidia-caps/nvidia-cap[0-9]*", 3) > 0;
    return divided || n > GI_DEVICES_MAX ? 0 : n;
}

/* An entry of CUDA_VISIBLE_DEVICES. */
struct entry {
    const char *text;
    int length;
};

/* Returns whether the entry is an index below `count`, or the UUID of a GPU or a part of a GPU. */
static bool is_plain(const struct entry *entry, int count)
{
    size_t n = (size_t)entry->length;
    bool index = n > 0 && n < 5 && strspn(entry->text, "0123456789") == n;
    bool uuid =
        n > 4 && (strncmp(entry->text, "GPU-", 4) == 0 || strncmp(entry->text, "MIG-", 4) == 0);
    return index ? atoi(entry->text) < count : uuid;
}

/* Divides the list into its entries. Returns their number, or 0 if an entry is not plain or is
 * there twice: CUDA then hides GPUs by rules of its own. */
static int read_entries(struct entry *entries, const char *list, int count)
{
    int n = 0;
    for (const char *at = list;; at++) {
        struct entry one = {at, (int)strcspn(at, ",")};
        if (n == GI_DEVICES_MAX || !is_plain(&one, count))
            return 0;
        for (int i = 0; i < n; i++)
            if (entries[i].length == one.length &&
                strncmp(entries[i].text, one.text, (size_t)one.length) == 0)
                return 0;
        entries[n++] = one;
        at += one.length;
        if (!*at)
            return n;
    }
}

char *gi_gpus_visible(const char *root, const char *before, const int *numbers, int n)
{
    struct entry entries[GI_DEVICES_MAX];
    int count = count_gpus(root);
    int seen = before ? read_entries(entries, before, count) : count;
    char *value = NULL;
    if (n < 1 || n >= seen)
        return NULL;
    for (int i = 0; i < n; i++)
        if (numbers[i] >= seen)
            return NULL;
    for (int i = 0; i < n; i++) {
        char *shorter = value;
        const struct entry *entry = before ? &entries[numbers[i]] : NULL;
        const char *so_far = shorter ? shorter : "", *comma = shorter ? "," : "";
        value = entry ? gi_small_format("%s%s%.*s", so_far, comma, entry->length, entry->text)
                      : gi_small_format("%s%s%d", so_far, comma, numbers[i]);
        free(shorter);
    }
    return value;
}

/* The GPUs that CUDA sees, which are decided once, because CUDA reads the variable once. */
static struct {
    bool decided;
    int n, numbers[GI_DEVICES_MAX]; /* n 0: as without the limit */
} visible;

/* Sets CUDA's variables, for this process but not for its commands. */
static void set_variables(const int *numbers, int n)
{
    char *value = gi_gpus_visible("", getenv("CUDA_VISIBLE_DEVICES"), numbers, n);
    char *connections = gi_small_format("%d", GI_QUEUES_A_GPU);
    gi_shell_keep_environment();
    /* Kernels of more queues than this wait for each other. CUDA's default is 8, and 1080p PNGs are
     * decoded 1.5 times as fast with 16. With 32 CUDA starts up 0.45 s later. */
    setenv("CUDA_DEVICE_MAX_CONNECTIONS", connections, 0);
    if (value && setenv("CUDA_VISIBLE_DEVICES", value, 1) == 0) {
        visible.n = n;
        memcpy(visible.numbers, numbers, (size_t)n * sizeof *numbers);
    }
    free(connections);
    free(value);
}

void gi_gpus_see_only(int *ordinals, const int *numbers, int n)
{
    if (!visible.decided && !gi_cli_goes_on())
        set_variables(numbers, n);
    visible.decided = true;
    for (int i = 0; i < n; i++) {
        ordinals[i] = visible.n ? GI_DEVICES_MAX : numbers[i]; /* CUDA has no such number */
        for (int k = 0; k < visible.n; k++)
            if (visible.numbers[k] == numbers[i])
                ordinals[i] = k;
    }
}
