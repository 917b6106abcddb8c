/* Finds equal keys among any number of keys, in little memory. The keys are divided into partitions
 * by their upper bits (the partitioning of a hash join); full blocks of a partition go to a
 * temporary file, and each partition is examined on its own.
 * SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "imgio/status.h"

struct gi_equal_keys;

/* Makes an empty set. It takes 8 MiB of memory, and from the first full block on a temporary file,
 * with 8 bytes per key. While it is examined, each of its 1024 partitions takes 16 to 32 bytes of
 * memory per key. */
struct gi_equal_keys *gi_equal_keys_new(void);
void gi_equal_keys_free(struct gi_equal_keys **keys);

/* Adds the key of a 64-bit hash. `written` says whether the file with this hash is written. Errors:
 * those of gi_scratch_file_open(). */
enum gi_status gi_equal_keys_add(struct gi_equal_keys *keys, uint64_t hash, bool written,
                                 struct gi_err *err);

/* Returns the key of a hash: 63 of its bits, mixed; the lowest bit is 0. */
uint64_t gi_equal_keys_key(uint64_t hash);

/* Finds the keys that were added twice or more, at least once as written. Stores up to `max` of
 * them in found[], and their number in *n. Errors: GI_E_MEMORY, and those of the temporary file. */
enum gi_status gi_equal_keys_find(const struct gi_equal_keys *keys, uint64_t *found, size_t max,
                                  size_t *n, struct gi_err *err);
