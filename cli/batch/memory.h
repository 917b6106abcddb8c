/* How much memory a batch may take.
 * SPDX-License-Identifier: MIT */
#ifndef GI_CLI_BATCH_MEMORY_H
#define GI_CLI_BATCH_MEMORY_H

#include <stdint.h>

/* Bytes that are free for this process: what the kernel calls available, and no more than is left
 * below the limits of its control groups, of either version. `root` stands in front of /proc and
 * /sys: "" but for tests. 0: nobody knows. */
uint64_t gi_memory_free(const char *root);

/* Half of it: what a batch takes where --memory does not say. */
uint64_t gi_memory_share(void);

/* From here on large pieces that are freed go back to the system at once, rather than stay with the
 * thread that had them: without it a batch holds what its threads ever held. */
void gi_memory_give_back(void);

#endif
