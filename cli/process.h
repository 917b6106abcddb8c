/* The process: its clock, its end, its standard output.
 * SPDX-License-Identifier: MIT */
#ifndef GI_CLI_PROCESS_H
#define GI_CLI_PROCESS_H

#include <stdbool.h>

#include "imgio/status.h"

/* Returns whether a command frees, after its work, memory and contexts that the system would free
 * anyway. Only leak checkers need that (a sanitizer's build, or GPUIMG_TEAR_DOWN is set). */
bool gi_cli_tears_down(void);

/* Flushes standard output. Errors: GI_E_PIPE if its reader is gone, GI_E_IO. */
enum gi_status gi_cli_flush(struct gi_err *err);

/* Returns milliseconds of the monotonic clock. */
double gi_now_ms(void);

#endif
