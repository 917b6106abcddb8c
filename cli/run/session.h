/* A session: the device of one command. It logs the choice under -v, opens CUDA on a side thread
 * while the first image is decoded, falls back to the CPU under `auto`, and adds up times.
 * SPDX-License-Identifier: MIT */
#ifndef GI_CLI_RUN_SESSION_H
#define GI_CLI_RUN_SESSION_H

#include "cli/command.h"
#include "cli/run/device_options.h"
#include "cli/inputs/image_files.h"
#include "filters/pipeline.h"

struct gi_session;

/* Reads --device before any file is touched; under `cuda` starts to open it. `device` must outlive
 * the session. Errors: GI_E_USAGE, GI_E_DEVICE, GI_E_MEMORY. */
enum gi_status gi_session_new(struct gi_session **session, const struct gi_device_params *device,
                              struct gi_err *err);
/* Ends the session, as the last action of a command: unless gi_cli_tears_down(), the devices stay
 * open until the process ends, also one that is still being opened. NULL: does nothing. */
void gi_session_free(struct gi_session **session);

/* Loads the image for the steps, as gi_cli_load() does, and checks their levels against it. The
 * limits of `io` then apply to results of gi_session_run(), too. If `auto` is going to use CUDA, it
 * is opened meanwhile. `metadata` may be NULL. Errors: GI_E_USAGE too. */
enum gi_status gi_session_load(struct gi_session *session, struct gi_image *image,
                               struct gi_metadata *metadata, struct gi_file_info *info,
                               const char *path, const struct gi_io_params *io,
                               const struct gi_step *steps, int nsteps, struct gi_err *err);

/* Checks that the sample values in the steps' options are possible in `image`, the first step's
 * source, whose type all of them keep; warns if another scale may be meant, such as that of the
 * file described by `info` (cli/run/level_check.c). Errors: GI_E_USAGE. */
enum gi_status gi_cli_check_levels(const struct gi_step *steps, int nsteps,
                                   const struct gi_image *image, const struct gi_file_info *info,
                                   const struct gi_io_params *io, struct gi_err *err);

/* Runs gi_pipeline_new() and gi_pipeline_run() on the device that --device or the estimate picks.
 * Among several steps the error names the one that can't be planned. */
enum gi_status gi_session_run(struct gi_session *session, struct gi_image *dst,
                              const struct gi_image *src, const struct gi_step *steps, int nsteps,
                              const struct gi_side *sides, struct gi_err *err);

/* Shows progress (cli/run/watch.h) of `images` that are processed in turn, until
 * gi_session_free(), or if there is no result image until gi_session_run()
 * has ended. The stages of gi_session_load() and gi_session_run() and the encoding afterwards are
 * known; gi_session_stage() names another one, static. */
void gi_session_watch(struct gi_session *session, bool forced, int images);
void gi_session_stage(struct gi_session *session, const char *stage);

#endif
