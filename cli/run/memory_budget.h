/* The memory that a batch may use.
 * SPDX-License-Identifier: MIT */
#pragma once

#include <stdint.h>

/* Returns how many bytes of memory are free for this process. This is the memory that the kernel
 * reports as available, but at most what the control groups of the process allow (version 1 or 2).
 * `root` is a prefix of /proc and /sys; it is "" except in tests. Returns 0 if the number is
 * unknown. */
uint64_t gi_memory_free(const char *root);

/* Returns half of the free memory, which is the default of --memory. */
uint64_t gi_memory_share(void);

/* Makes free() return large blocks to the system at once from now on. Otherwise free blocks stay
 * with the thread, so that a batch holds the maximum that each thread has ever used. Large are
 * blocks from 1 MiB on, or up to 8 MiB if the batch may use so much `memory` that its `nthreads`
 * threads can keep several of them: each page of a block that comes from the system costs 0.5 to 4
 * us. */
void gi_memory_give_back(uint64_t memory, int nthreads);
