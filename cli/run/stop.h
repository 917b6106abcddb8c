/* SIGINT and SIGTERM while a batch runs: the first asks for its end, a second one ends the process.
 * SPDX-License-Identifier: MIT */
#ifndef GI_CLI_RUN_STOP_H
#define GI_CLI_RUN_STOP_H

#include <stdbool.h>

/* From here on the signals ask; without it they end the process at once. */
void gi_stop_listen(void);
/* The signal that asked for the end, SIGINT or SIGTERM; 0: none did. */
int gi_stop_signal(void);
/* Whether one did. */
bool gi_stop_asked(void);

#endif
