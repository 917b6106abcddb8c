/* How much memory a batch may take.
 * SPDX-License-Identifier: MIT */
#ifndef GI_CLI_RUN_MEMORY_BUDGET_H
#define GI_CLI_RUN_MEMORY_BUDGET_H

#include <stdint.h>

/* Returns the bytes of memory that are free for this process: what the kernel reports as available,
 * limited by its control groups, of either version. `root` is put in front of /proc and /sys: ""
 * except in tests. 0: unknown. */
uint64_t gi_memory_free(const char *root);

/* Half of it: what a batch takes where --memory does not say. */
uint64_t gi_memory_share(void);

/* From here on large pieces that are freed go back to the system at once, rather than stay with the
 * thread that had them: without it a batch holds what its threads ever held. */
void gi_memory_give_back(void);

#endif
