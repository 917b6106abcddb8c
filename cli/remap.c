/* gpuimg remap: an image by a map of places.
 * SPDX-License-Identifier: MIT */
#include "cli/command.h"
#include "cli/commands.h"
#include "cli/device.h"
#include "cli/files.h"
#include "cli/output.h"
#include "cli/process.h"
#include "cli/runner.h"
#include "cli/watch.h"

enum { SET_FILTER, SET_MAPS, SET_IO, SET_DEVICE, MAPS = 2 };

extern const struct gi_filter gi_filter_remap;

struct maps_params {
    const char *map, *map_y;
    bool progress;
};

static const struct gi_option maps_options[] = {
    {.name = "map",
     .letter = 'm',
     .type = GI_OPT_PATH,
     .offset = offsetof(struct maps_params, map),
     .metavar = "FILE",
     .help = "Floats of two channels, X and Y: .npy of height x width x 2, or the first two of a "
             "PFM; with --map-y of one channel, X"},
    {.name = "map-y",
     .type = GI_OPT_PATH,
     .offset = offsetof(struct maps_params, map_y),
     .metavar = "FILE",
     .help = "Floats of one channel, Y"},
    GI_PROGRESS_OPTION(struct maps_params, progress),
    {.name = NULL},
};

/* One command at work. */
struct job {
    struct gi_runner *runner;
    struct gi_io_params io;
    struct gi_step step;
    struct gi_image src, maps[MAPS], dst;
    struct gi_metadata metadata;
};

/* What the options say of the input, they don't say of maps: these are loaded as they are. */
static enum gi_status load_maps(struct job *job, const struct maps_params *p, struct gi_err *err)
{
    const char *const paths[] = {p->map, p->map_y};
    struct gi_io_params io = {0};
    gi_options_default(&io, gi_input_options);
    io.max_pixels = job->io.max_pixels;
    io.max_bytes = job->io.max_bytes;
    io.allow_partial = job->io.allow_partial;
    io.quiet = job->io.quiet;
    enum gi_status status = GI_OK;
    job->step.others = job->maps;
    for (int i = 0; i < MAPS && paths[i] && !status; i++) {
        status = gi_cli_load(&job->maps[i], NULL, NULL, paths[i], &io, 0, NULL, err);
        job->step.nothers += !status;
    }
    return status;
}

static enum gi_status remap(struct job *job, const struct maps_params *p, char **operands,
                            int threads, struct gi_err *err)
{
    struct gi_side side = {.others = job->maps};
    struct gi_file_info info;
    double start = gi_now_ms();
    enum gi_status status = load_maps(job, p, err);
    gi_runner_note(job->runner, "decode", gi_now_ms() - start);
    if (!status)
        status = gi_runner_load(job->runner, &job->src, &job->metadata, &info, operands[0],
                                &job->io, &job->step, 1, err);
    if (!status)
        status = gi_cli_check_way(operands[0], operands[1], &job->io, &info, err);
    if (!status)
        status = gi_runner_run(job->runner, &job->dst, &job->src, &job->step, 1, &side, err);
    start = gi_now_ms();
    if (!status)
        status = gi_cli_save(&job->dst, &job->metadata, operands[1], &job->io, threads, err);
    gi_runner_note(job->runner, "encode", gi_now_ms() - start);
    return status;
}

static enum gi_status run(const struct gi_command *command, void *const *params, char **operands,
                          int noperands, struct gi_err *err)
{
    const struct maps_params *p = params[SET_MAPS];
    const struct gi_device_params *device = params[SET_DEVICE];
    struct job job = {.io = *(const struct gi_io_params *)params[SET_IO],
                      .step = {.filter = command->filter, .params = params[SET_FILTER]}};
    const char *const outputs[] = {operands[1], NULL};
    const char *const inputs[] = {p->map, p->map_y, NULL};
    (void)noperands;
    if (!p->map)
        return gi_fail(err, GI_E_USAGE, "--map: missing: want a file of floats");
    if (job.io.linear)
        return gi_fail(err, GI_E_USAGE, "--linear: this mixes no light of several pixels");
    enum gi_status status = gi_cli_check_way(operands[0], operands[1], &job.io, NULL, err);
    if (!status)
        status = gi_output_check_inputs(outputs, inputs, err);
    if (!status)
        status = gi_runner_new(&job.runner, device, err);
    if (status)
        return status;
    gi_runner_watch(job.runner, p->progress, 1);
    status = remap(&job, p, operands, gi_thread_count(device->threads), err);
    if (!status)
        gi_runner_report(job.runner);
    gi_runner_free(&job.runner);
    gi_image_free(&job.src);
    gi_image_free(&job.dst);
    for (int i = 0; i < MAPS; i++)
        gi_image_free(&job.maps[i]);
    gi_metadata_free(&job.metadata);
    return status;
}

const struct gi_command gi_command_remap = {
    .name = "remap",
    .operands = "INPUT OUTPUT",
    .examples = "gpuimg remap in.png out.png --map map.npy\n"
                "gpuimg remap left.png rectified.png --map x.pfm --map-y y.pfm --border border\n"
                "gpuimg remap frame2.png frame1.png --map flow.npy --relative --border clamp",
    .min_operands = 2,
    .max_operands = 2,
    .sets = {{0}, /* the filter's */
             {"Maps", maps_options, sizeof(struct maps_params)},
             {"Input and output", gi_io_options, sizeof(struct gi_io_params)},
             {"Running", gi_device_options, sizeof(struct gi_device_params)}},
    .filter = &gi_filter_remap,
    .run = run,
};
