/* SIGINT and SIGTERM while a batch runs: the first signal asks the batch to end, and a second
 * signal ends the process.
 * SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>

/* From this call on, the first signal is only recorded. Before it, signals end the process at
 * once. */
void gi_stop_listen(void);
/* Returns the signal that asked for the end, SIGINT or SIGTERM, or 0 if there was none. */
int gi_stop_signal(void);
/* Returns whether a signal asked for the end. */
bool gi_stop_asked(void);
