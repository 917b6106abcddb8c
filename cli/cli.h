/* Commands: argv in, exit status out.
 * SPDX-License-Identifier: MIT */
#ifndef GI_CLI_CLI_H
#define GI_CLI_CLI_H

#include <stdio.h>

#include "filters/filter.h"
#include "imgio/imgio.h"

enum { GI_EXIT_OK = 0, GI_EXIT_FAILED = 1, GI_EXIT_USAGE = 2 };

enum { GI_OPTION_SETS_MAX = 4 };

/* A set of rows and the struct their values go to. */
struct gi_option_set {
    const char *title; /* heading in the help: "Options", "Input and output" */
    const struct gi_option *rows;
    size_t params_nbytes;
};

/* A command is one row. Filters of image to image get theirs made from the filter's row. */
struct gi_command {
    const char *name;
    const char *operands; /* for the synopsis: "INPUT OUTPUT" */
    const char *summary;
    const char *manual;
    const char *examples; /* lines "gpuimg blur in.png out.png --k 5"; NULL: none */
    int min_operands, max_operands; /* max -1: any number */
    struct gi_option_set sets[GI_OPTION_SETS_MAX]; /* ends with rows == NULL */
    const struct gi_filter *filter; /* NULL: none */
    /* Runs; `params[i]` belongs to sets[i]. Prints its own data to stdout; on failure fills `err` and
     * returns the status, which becomes the exit status. */
    enum gi_status (*run)(const struct gi_command *command, void *const *params, char **operands,
                          int noperands, struct gi_err *err);
};

/* Every command, filters included, in the order of the help; NULL past the end. */
const struct gi_command *gi_command_at(int index);
const struct gi_command *gi_command_find(const char *name);

/* Set "Input and output" of commands that read or write images (cli/common.c). */
struct gi_io_params {
    const char *format;
    int depth; /* choice: same, 8, 16, float */
    int quality, compression;
    bool no_clobber, allow_partial, strict, durable;
    uint64_t max_pixels, max_bytes;
};
extern const struct gi_option gi_io_options[];       /* commands that write an image */
extern const struct gi_option gi_input_options[];    /* commands that only read one */

/* Set "Running" (cli/device.c). */
struct gi_device_params {
    const char *device; /* auto, cpu, cuda, cuda:N; NULL: GPUIMG_DEVICE, then auto */
    int threads;        /* 0: as many as CPUs */
    uint64_t max_device_bytes;
    bool timing, verbose;
};
extern const struct gi_option gi_device_options[];

/* Loads, converts to io->depth, prints warnings. `metadata` and `info` may be NULL. */
enum gi_status gi_cli_load(struct gi_image *image, struct gi_metadata *metadata,
                           struct gi_file_info *info, const char *path,
                           const struct gi_io_params *io, struct gi_err *err);
enum gi_status gi_cli_save(const struct gi_image *image, const struct gi_metadata *metadata,
                           const char *path, const struct gi_io_params *io, struct gi_err *err);

/* One line on stderr: "gpuimg: COMMAND: text". */
void gi_cli_warn(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* A device chosen for one command (cli/device.c): names the choice under -v, opens CUDA on a side
 * thread while the first image is decoded, falls back to the CPU under `auto`. */
struct gi_runner;
/* Reads --device before any file is touched; under `cuda` starts to open it. Errors: GI_E_USAGE,
 * GI_E_DEVICE. */
enum gi_status gi_runner_new(struct gi_runner **runner, const struct gi_device_params *device,
                             struct gi_err *err);
void gi_runner_free(struct gi_runner **runner);
/* As gi_run_filter() and gi_run_analysis(), on the device that --device or the estimate picks. */
enum gi_status gi_runner_filter(struct gi_runner *runner, struct gi_image *dst,
                                const struct gi_image *src, const struct gi_filter *filter,
                                const void *params, struct gi_err *err);
enum gi_status gi_runner_analysis(struct gi_runner *runner, void *result,
                                  const struct gi_image *src, const struct gi_filter *filter,
                                  const void *params, struct gi_err *err);
/* For --timing: host stages that happen outside the runner. */
void gi_runner_note(struct gi_runner *runner, const char *stage, double ms);
/* Prints the table of --timing to stderr, where it was asked for. */
void gi_runner_report(struct gi_runner *runner);

/* Milliseconds of the monotonic clock. */
double gi_now_ms(void);

#endif
