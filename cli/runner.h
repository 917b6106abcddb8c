/* A device chosen for one command: names the choice under -v, opens CUDA on a side thread while the
 * first image is decoded, falls back to the CPU under `auto`, and adds up times.
 * SPDX-License-Identifier: MIT */
#ifndef GI_CLI_RUNNER_H
#define GI_CLI_RUNNER_H

#include "cli/command.h"
#include "cli/device.h"
#include "cli/files.h"
#include "filters/pipeline.h"

struct gi_runner;

/* Reads --device before any file is touched; under `cuda` starts to open it. `device` must outlive
 * the runner. Errors: GI_E_USAGE, GI_E_DEVICE, GI_E_MEMORY. */
enum gi_status gi_runner_new(struct gi_runner **runner, const struct gi_device_params *device,
                             struct gi_err *err);
/* The last thing that a command does: without gi_cli_tears_down() the devices stay open for the end
 * of the process, also one that is still being opened. NULL: nothing happens. */
void gi_runner_free(struct gi_runner **runner);

/* Loads the image that the steps are for, as gi_cli_load() does, and holds their levels against
 * it. The limits of `io` then hold for what gi_runner_run() makes, too. Where `auto` is going to
 * take CUDA it is opened meanwhile. `metadata` may be NULL. Errors: GI_E_USAGE too. */
enum gi_status gi_runner_load(struct gi_runner *runner, struct gi_image *image,
                              struct gi_metadata *metadata, struct gi_file_info *info,
                              const char *path, const struct gi_io_params *io,
                              const struct gi_step *steps, int nsteps, struct gi_err *err);

/* Whether the sample values that the steps' options name are among those of `image`, the first
 * step's source, whose type all of them keep; warns where another scale may be meant, such as that
 * of the file that `info` tells of (cli/levels.c). Errors: GI_E_USAGE. */
enum gi_status gi_cli_check_levels(const struct gi_step *steps, int nsteps,
                                   const struct gi_image *image, const struct gi_file_info *info,
                                   const struct gi_io_params *io, struct gi_err *err);

/* gi_pipeline_new() and gi_pipeline_run() on the device that --device or the estimate picks. Of
 * several steps the error names the one that can't be planned. */
enum gi_status gi_runner_run(struct gi_runner *runner, struct gi_image *dst,
                             const struct gi_image *src, const struct gi_step *steps, int nsteps,
                             const struct gi_side *sides, struct gi_err *err);

/* Tells what is done (cli/watch.h), of `images` that are run in turn, until gi_runner_report() or
 * gi_runner_free(), or where no image comes out until gi_runner_run() has ended. The stages of
 * gi_runner_load() and gi_runner_run() and the encoding behind it are known; gi_runner_stage()
 * tells another one, static. */
void gi_runner_watch(struct gi_runner *runner, bool forced, int images);
void gi_runner_stage(struct gi_runner *runner, const char *stage);

/* For --timing: host stages that happen outside the runner. */
void gi_runner_note(struct gi_runner *runner, const char *stage, double ms);
/* Prints the table of --timing to stderr, where it was asked for. */
void gi_runner_report(struct gi_runner *runner);

#endif
