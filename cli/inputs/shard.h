/* A share of a list: each of N tasks of a scheduler takes every N-th item.
 * SPDX-License-Identifier: MIT */
#ifndef GI_CLI_INPUTS_SHARD_H
#define GI_CLI_INPUTS_SHARD_H

#include <stdbool.h>
#include <stdint.h>

#include "imgio/status.h"

/* Shard k of n, k from 1 to n; n 0: there are no shards and everything is taken. */
struct gi_shard {
    uint32_t k, n;
};

/* Reads the text of --shard, NULL if it was not given: "K/N", or "auto" and "auto/N", which take
 * the task's number in its array from the environment: k is that number modulo n, with n for 0, so
 * that tasks 0 to n - 1 or 1 to n cover the list, and a task keeps its shard when it runs again in
 * a smaller array. "auto" takes n from the environment too. Errors: GI_E_USAGE. */
enum gi_status gi_shard_read(struct gi_shard *shard, const char *text, struct gi_err *err);

/* Returns whether item `index` (from 0) of the sorted list is in the shard. */
bool gi_shard_takes(const struct gi_shard *shard, uint64_t index);

/* Returns the number of items of a list of `total` that are in the shard. */
uint64_t gi_shard_size(const struct gi_shard *shard, uint64_t total);

#endif
