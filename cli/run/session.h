/* A device chosen for one command: names the choice under -v, opens CUDA on a side thread while the
 * first image is decoded, falls back to the CPU under `auto`, and adds up times.
 * SPDX-License-Identifier: MIT */
#ifndef GI_CLI_RUN_SESSION_H
#define GI_CLI_RUN_SESSION_H

#include "cli/command.h"
#include "cli/run/device_options.h"
#include "cli/inputs/image_files.h"
#include "filters/pipeline.h"

struct gi_session;

/* Reads --device before any file is touched; under `cuda` starts to open it. `device` must outlive
 * the runner. Errors: GI_E_USAGE, GI_E_DEVICE, GI_E_MEMORY. */
enum gi_status gi_session_new(struct gi_session **session, const struct gi_device_params *device,
                              struct gi_err *err);
/* The last thing that a command does: without gi_cli_tears_down() the devices stay open for the end
 * of the process, also one that is still being opened. NULL: nothing happens. */
void gi_session_free(struct gi_session **session);

/* Loads the image that the steps are for, as gi_cli_load() does, and holds their levels against
 * it. The limits of `io` then hold for what gi_session_run() makes, too. Where `auto` is going to
 * take CUDA it is opened meanwhile. `metadata` may be NULL. Errors: GI_E_USAGE too. */
enum gi_status gi_session_load(struct gi_session *session, struct gi_image *image,
                               struct gi_metadata *metadata, struct gi_file_info *info,
                               const char *path, const struct gi_io_params *io,
                               const struct gi_step *steps, int nsteps, struct gi_err *err);

/* Whether the sample values that the steps' options name are among those of `image`, the first
 * step's source, whose type all of them keep; warns where another scale may be meant, such as that
 * of the file that `info` tells of (cli/run/level_check.c). Errors: GI_E_USAGE. */
enum gi_status gi_cli_check_levels(const struct gi_step *steps, int nsteps,
                                   const struct gi_image *image, const struct gi_file_info *info,
                                   const struct gi_io_params *io, struct gi_err *err);

/* gi_pipeline_new() and gi_pipeline_run() on the device that --device or the estimate picks. Of
 * several steps the error names the one that can't be planned. */
enum gi_status gi_session_run(struct gi_session *session, struct gi_image *dst,
                              const struct gi_image *src, const struct gi_step *steps, int nsteps,
                              const struct gi_side *sides, struct gi_err *err);

/* Tells what is done (cli/run/watch.h), of `images` that are run in turn, until gi_session_report()
 * or gi_session_free(), or where no image comes out until gi_session_run() has ended. The stages of
 * gi_session_load() and gi_session_run() and the encoding behind it are known; gi_session_stage()
 * tells another one, static. */
void gi_session_watch(struct gi_session *session, bool forced, int images);
void gi_session_stage(struct gi_session *session, const char *stage);

/* For --timing: host stages that happen outside the runner. */
void gi_session_note(struct gi_session *session, const char *stage, double ms);
/* Prints the table of --timing to stderr, where it was asked for. */
void gi_session_report(struct gi_session *session);

#endif
