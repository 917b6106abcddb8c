/* A share of a list: each of N tasks of a scheduler takes every N-th item.
 * SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "imgio/status.h"

/* Shard k of n, with k from 1 to n. If n is 0, there are no shards, and every item is taken. */
struct gi_shard {
    uint32_t k, n;
};

/* Reads the text of --shard (NULL: not given): "K/N", "auto/N" or "auto". "auto" takes the number
 * of the task in its array from the environment. k is this number modulo n, with n in place of 0.
 * So tasks 0 to n - 1 as well as 1 to n cover the list, and a task has the same shard when it runs
 * again in a smaller array. "auto" without N also takes n from the environment. Errors: GI_E_USAGE.
 */
enum gi_status gi_shard_read(struct gi_shard *shard, const char *text, struct gi_err *err);

/* Returns whether item `index` (from 0) of the sorted list is in the shard. */
bool gi_shard_takes(const struct gi_shard *shard, uint64_t index);

/* Returns how many items of a list of `total` items are in the shard. */
uint64_t gi_shard_size(const struct gi_shard *shard, uint64_t total);
