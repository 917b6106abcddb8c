/* A process that ends the commands of pipe:COMMAND if this process dies without ending them, for
 * example by SIGKILL.
 * SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

/* Text for /bin/sh -c that registers its process group at the watchdog, and then runs its argument
 * $0 as a command of the shell. Its descriptor GI_WATCHDOG_FD must be gi_watchdog_open(). */
extern const char gi_watchdog_register[];
enum { GI_WATCHDOG_FD = 3 };

/* Returns the descriptor by which commands register; starts the watchdog, with this environment, if
 * it does not run. Sets *again to whether another one ran before, so that gi_watchdog_add() must
 * tell the new one of the process groups that exist. Returns -1, with the reason in errno, if there
 * can be no process. One thread at a time may call this. */
int gi_watchdog_open(char **environment, bool *again);
/* Any thread may call these. A group is removed while its number is still its own. */
void gi_watchdog_add(pid_t group);
void gi_watchdog_remove(pid_t group);
