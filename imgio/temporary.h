/* Names that files and folders have before their own, which a signal handler can remove.
 * SPDX-License-Identifier: MIT */
#ifndef GI_IMGIO_TEMPORARY_H
#define GI_IMGIO_TEMPORARY_H

#include <stdbool.h>

/* Makes something under `name`: 0, or -1 with errno, EEXIST where the name is taken. */
typedef int gi_make_fn(void *arg, const char *name);

/* Makes something under a fresh name beside `target`. Returns the name, owned by the caller, for
 * gi_temporary_forget(); NULL with errno. */
char *gi_temporary_make(const char *target, gi_make_fn *make, void *arg);
/* The name is no temporary any more. Frees and nulls. */
void gi_temporary_forget(char **name);

/* Moves to the target and replaces it unless `no_clobber`. Returns 0 or errno. */
int gi_temporary_move(const char *temporary, const char *target, bool no_clobber);
/* The same, but reversible: the older target gets the temporary's name, and *exchanged is set. If
 * the system cannot exchange names, a file is replaced irreversibly. */
int gi_temporary_exchange(const char *temporary, const char *target, bool no_clobber,
                          bool *exchanged);
/* Back. */
void gi_temporary_undo(const char *temporary, const char *target, bool exchanged);

/* Removes the files of the open folder `fd`. Safe in a signal handler. */
void gi_temporary_empty(int fd);
/* Removes a file, or a folder of files. Safe in a signal handler. */
void gi_temporary_remove(const char *name);

/* The file that `path` stands for, every symbolic link followed, also where the last one points to
 * nothing yet. Owned by the caller; NULL with errno. */
char *gi_path_resolve(const char *path);
/* The folder of `path`, with a slash at its end; "." if there is none in it. Owned by the caller;
 * NULL: out of memory. */
char *gi_path_folder(const char *path);
/* Waits until the name is on the disk, as far as the file system can. */
void gi_path_sync(const char *path);

#endif
