/* Tars that commands of the shell write and read (pipe:COMMAND). Both ways the tar is in an unnamed
 * file (imgio/scratch_file.h): a command that downloads is never slowed down by the work on the
 * images, so that its connection stays busy, and a command that uploads gets a whole tar, of known
 * size.
 * SPDX-License-Identifier: MIT */
#pragma once

#include <stdatomic.h>

#include "imgio/tar/tar.h"

/* A command that writes a tar. */
struct gi_tar_fetch;

/* Starts the command of `name`. Once another thread sets *cancelled, functions that wait for the
 * command, and those that read its tar, fail as if a signal asked for the end of the batch. `name`
 * and `cancelled` must outlive the fetch. Errors: GI_E_AGAIN, GI_E_IO. */
enum gi_status gi_tar_fetch_start(struct gi_tar_fetch **fetch, const char *name,
                                  const atomic_bool *cancelled, struct gi_err *err);
/* Opens the tar, which may still grow. The reader must be closed before the fetch. Errors: as
 * gi_tar_reader_open(), and as gi_shell_wait() if the command has failed already. Reading fails,
 * too, once the command has failed. */
enum gi_status gi_tar_fetch_open(struct gi_tar_fetch *fetch, struct gi_tar_reader **reader,
                                 struct gi_err *err);
/* Given an error of the command or of its tar, replaces it by GI_E_AGAIN if the disk of the tar is
 * full, which a command may hide (cmd; true). Returns the status. */
enum gi_status gi_tar_fetch_blame(const struct gi_tar_fetch *fetch, enum gi_status status,
                                  struct gi_err *err);
/* Returns whether the file system of the tar has space for `nbytes` bytes more. */
bool gi_tar_fetch_has_space(const struct gi_tar_fetch *fetch, uint64_t nbytes);
/* Waits for the end of the command, and sets *nbytes to the size of its output. Errors: as
 * gi_shell_wait(). */
enum gi_status gi_tar_fetch_finish(struct gi_tar_fetch *fetch, uint64_t *nbytes,
                                   struct gi_err *err);
/* Kills the command if it runs, and sets *fetch to NULL. Does nothing if *fetch is NULL. */
void gi_tar_fetch_close(struct gi_tar_fetch **fetch);

/* A tar for a command. */
struct gi_tar_sending;

/* Opens a writer for the tar of `name`, which must outlive it. If the command ends in a name with a
 * suffix of compression (gi_tar_writer_open()), in quotes or not, the tar is compressed. Errors: as
 * gi_tar_writer_open(). */
enum gi_status gi_tar_sending_open(struct gi_tar_sending **sending, struct gi_tar_writer **writer,
                                   const char *name, struct gi_err *err);
/* After gi_tar_writer_commit(): starts the command with the tar as its standard input, and sets
 * *nbytes to the size of the tar. Errors: as gi_shell_start(). */
enum gi_status gi_tar_sending_start(struct gi_tar_sending *sending, uint64_t *nbytes,
                                    struct gi_err *err);
/* Waits for the end of the command. Errors: as gi_shell_wait(). */
enum gi_status gi_tar_sending_wait(struct gi_tar_sending *sending, struct gi_err *err);
/* Returns whether the file system of the tar has space for `nbytes` bytes more. */
bool gi_tar_sending_has_space(const struct gi_tar_sending *sending, uint64_t nbytes);
/* Kills the command if it runs, frees the file, and sets *sending to NULL. Does nothing if *sending
 * is NULL. */
void gi_tar_sending_close(struct gi_tar_sending **sending);
