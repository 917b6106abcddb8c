/* Work that a library may crash or hang in, done in a process of its own.
 * SPDX-License-Identifier: MIT */
#ifndef GI_CLI_APART_H
#define GI_CLI_APART_H

#include "imgio/imgio.h"

/* Writes to `sink`, which is this process's own. */
typedef enum gi_status gi_apart_fn(struct gi_sink *sink, const void *arg, struct gi_err *err);

/* What `work` writes in a child process goes to `sink`; it has `seconds`, at least 1. The child
 * sees the memory of this process as it is now, and what it prints to standard error is lost.
 * `what` stands for the work in messages. Errors: its own; GI_E_UNSUPPORTED where it crashed or
 * took too long; GI_E_IO, GI_E_PIPE of `sink`; GI_E_MEMORY where there can be no process. */
enum gi_status gi_apart(struct gi_sink *sink, const char *what, unsigned seconds, gi_apart_fn *work,
                        const void *arg, struct gi_err *err);

#endif
