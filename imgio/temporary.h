/* Temporary names of files and folders, which a signal handler can remove.
 * SPDX-License-Identifier: MIT */
#ifndef GI_IMGIO_TEMPORARY_H
#define GI_IMGIO_TEMPORARY_H

#include <stdbool.h>

/* Makes a file or folder called `name`. Returns 0, or -1 with errno, EEXIST if the name is taken.
 */
typedef int gi_make_fn(void *arg, const char *name);

/* Makes a file or folder under a new name beside `target`. Returns the name, owned by the caller,
 * for gi_temporary_forget(); NULL with errno. */
char *gi_temporary_make(const char *target, gi_make_fn *make, void *arg);
/* Unregisters the name, which is then no longer temporary. Frees and nulls it. */
void gi_temporary_forget(char **name);

/* Moves to the target and replaces it unless `no_clobber`. Returns 0 or errno. */
int gi_temporary_move(const char *temporary, const char *target, bool no_clobber);
/* The same, but reversible: the older target gets the temporary's name, and *exchanged is set. If
 * the system cannot exchange names, a file is replaced irreversibly. */
int gi_temporary_exchange(const char *temporary, const char *target, bool no_clobber,
                          bool *exchanged);
/* Undoes the exchange. */
void gi_temporary_undo(const char *temporary, const char *target, bool exchanged);

/* Removes the files of the open folder `fd`. Safe in a signal handler. */
void gi_temporary_empty(int fd);
/* Removes a file, or a folder of files. Safe in a signal handler. */
void gi_temporary_remove(const char *name);

/* Returns the file that `path` refers to, with all symbolic links followed, even if the last one
 * points to nothing yet. Owned by the caller; NULL with errno. */
char *gi_path_resolve(const char *path);
/* Returns the folder of `path`, with a slash at its end; "." if the path has none. Owned by the
 * caller; NULL: out of memory. */
char *gi_path_folder(const char *path);
/* Syncs the directory entry to the disk, if the file system can. */
void gi_path_sync(const char *path);

#endif
