/* Commands of the shell whose output is an input, or that read an output: names of the form
 * "pipe:COMMAND", as in WebDataset.
 * SPDX-License-Identifier: MIT */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>

#include "imgio/status.h"

/* Returns the command in the name, or NULL if the name does not begin with "pipe:". */
const char *gi_shell_command(const char *name);

/* Keeps the environment as it is now for the commands of the process, whatever this process sets
 * later for itself. The first command that starts calls this too. Any thread may call it. */
void gi_shell_keep_environment(void);

/* A command that was started, with its descendants in a session of their own. They have no
 * terminal, so that a command that wants to ask for a password fails instead of being stopped. */
struct gi_shell;

/* Starts the command of `name` by /bin/sh -c. Its standard input is the file `from`, or /dev/null
 * if `from` is -1. Its standard output is the file `to`, or standard error if `to` is -1. It shares
 * the positions of both files. Any thread may call this function. Messages begin with `name`, which
 * must outlive the command. Errors: GI_E_AGAIN. */
enum gi_status gi_shell_start(struct gi_shell **shell, const char *name, int from, int to,
                              struct gi_err *err);
/* Returns whether the command has ended. */
bool gi_shell_has_ended(struct gi_shell *shell);
/* Waits for the end of the command. Errors: GI_E_IO if its exit status is not 0; GI_E_AGAIN if that
 * is 75 (EX_TEMPFAIL) or a signal ended it; GI_E_IO without a text if a signal asked for the end of
 * the batch (gi_stop_asked()), or if another thread has set *cancelled, which may be NULL. */
enum gi_status gi_shell_wait(struct gi_shell *shell, const atomic_bool *cancelled,
                             struct gi_err *err);
/* Kills the command if it runs, and sets *shell to NULL. Does nothing if *shell is NULL. */
void gi_shell_close(struct gi_shell **shell);

/* Ends all commands, for a process that is about to end. Safe in a signal handler. */
void gi_shell_signal_cleanup(void);
