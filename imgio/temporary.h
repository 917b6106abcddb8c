/* Temporary names of files and folders, which a signal handler can remove.
 * SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>

/* Creates a file or folder called `name`. Returns 0, or -1 with errno (EEXIST if the name is
 * taken). */
typedef int gi_make_fn(void *arg, const char *name);

/* Creates a file or folder in the folder of `target` by calling `make` with new names. Returns its
 * name, which the caller must pass to gi_temporary_forget(), or NULL with errno. With `own`, for
 * files that `make` locks before others can, the first name follows from the target's: so the next
 * run with this target removes what a killed process has left. Other runs at the same time take
 * random names. */
char *gi_temporary_make(const char *target, bool own, gi_make_fn *make, void *arg);
/* Unregisters the name, which is then no longer temporary, frees it, and sets *name to NULL. */
void gi_temporary_forget(char **name);

/* Renames `temporary` to `target`, and replaces a file at `target` unless `no_clobber`. Returns 0
 * or errno. */
int gi_temporary_move(const char *temporary, const char *target, bool no_clobber);
/* As gi_temporary_move(), but reversible. The older target gets the name `temporary`, and
 * *exchanged is set. If the file system can't exchange names, a file is replaced irreversibly. */
int gi_temporary_exchange(const char *temporary, const char *target, bool no_clobber,
                          bool *exchanged);
/* Undoes the exchange. */
void gi_temporary_undo(const char *temporary, const char *target, bool exchanged);

/* Between these two calls a thread moves outputs that belong together, and gi_temporary_end()
 * waits. Small allocations (imgio/small.h) are not allowed there, because they may call it. */
void gi_temporary_lock(void);
void gi_temporary_unlock(void);
/* Removes what gi_sink_signal_cleanup() removes, for a process that ends while other threads work.
 * They can make no more temporary files, and the thread must end the process at once. */
void gi_temporary_end(void);

/* Removes the files in the open folder `fd`, but no folders. Safe in a signal handler. */
void gi_temporary_empty(int fd);
/* Removes a file, or a folder with all that it holds. Safe in a signal handler. */
void gi_temporary_remove(const char *name);

/* Returns the path to which `path` leads through all symbolic links, even if the last link is
 * dangling. The caller frees the path. Returns NULL with errno after an error. */
char *gi_path_resolve(const char *path);
/* Returns the folder in `path`, with a slash at its end, or "." if `path` has none. The caller
 * frees the text. */
char *gi_path_folder(const char *path);
/* Syncs the directory entry of `path` to the disk, if the file system can do that. */
void gi_path_sync(const char *path);
