/* The memory that a batch may use.
 * SPDX-License-Identifier: MIT */
#ifndef GI_CLI_RUN_MEMORY_BUDGET_H
#define GI_CLI_RUN_MEMORY_BUDGET_H

#include <stdint.h>

/* Returns the bytes of memory that are free for this process: what the kernel reports as available,
 * limited by its control groups, of either version. `root` is put in front of /proc and /sys: ""
 * except in tests. 0: unknown. */
uint64_t gi_memory_free(const char *root);

/* Returns half of it: the default of --memory. */
uint64_t gi_memory_share(void);

/* From this call on, large blocks that are freed go back to the system at once instead of staying
 * with their thread; otherwise a batch keeps the maximum that each thread ever used. */
void gi_memory_give_back(void);

#endif
