/* Runs work in a subprocess, for libraries that may crash or hang.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "imgio/imgio.h"

/* The work. It writes to `sink`, which exists in the subprocess only. */
typedef enum gi_status gi_subprocess_fn(struct gi_sink *sink, const void *arg, struct gi_err *err);

/* Runs `work` in a child process, and writes its output to `sink`. Kills it after `seconds`, at
 * least 1, and if a signal asks for the end (gi_input_heed()). The child may take 1 GiB of memory
 * more than this process has. The child gets a copy of this process's memory as it is at the time
 * of the call. What the child writes to standard error is lost. Messages call the work `what`.
 * Errors: the work's own; GI_E_UNSUPPORTED if it crashed or took too long; GI_E_IO and GI_E_PIPE of
 * `sink`; GI_E_MEMORY if no process can be created. */
enum gi_status gi_subprocess_run(struct gi_sink *sink, const char *what, unsigned seconds,
                                 gi_subprocess_fn *work, const void *arg, struct gi_err *err);
