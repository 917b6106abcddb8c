/* Functions of the whole process, for its end, its standard output and its clock.
 * SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>

#include "imgio/status.h"

/* Returns whether a command frees memory and contexts after its work. The system would free them
 * anyway, so only leak checkers need that. The result is true in builds with a sanitizer, if
 * GPUIMG_TEAR_DOWN is set, and after gi_cli_go_on(true). */
bool gi_cli_tears_down(void);

/* Set and return whether the process goes on after a command, which then frees its memory too. */
void gi_cli_go_on(bool goes_on);
bool gi_cli_goes_on(void);

/* Flushes standard output. Errors: GI_E_PIPE if the reader of its pipe has gone, GI_E_IO. */
enum gi_status gi_cli_flush(struct gi_err *err);

/* Returns the monotonic clock's time in milliseconds. */
double gi_now_ms(void);
