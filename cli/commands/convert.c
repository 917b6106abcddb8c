/* gpuimg convert: another format, depth or colour, the same pixels.
 * SPDX-License-Identifier: MIT */
#include "cli/run/batch.h"
#include "cli/inputs/stream.h"
#include "cli/command.h"
#include "cli/commands.h"
#include "cli/run/device_options.h"
#include "cli/inputs/image_files.h"
#include "cli/run/watch.h"

enum { SET_OWN, SET_IO, SET_BATCH };

struct params {
    int threads;
};

static const struct gi_option options[] = {
    {.name = "threads",
     .type = GI_OPT_INT,
     .offset = offsetof(struct params, threads),
     .min = 1,
     .max = 1024,
     .help = "Threads that decode and encode; without it one per CPU"},
    {0},
};

static void on_shape(void *watch, const struct gi_image *stored)
{
    gi_watch_size(watch, stored);
}

/* From one file to one. */
static enum gi_status convert_one(const struct gi_io_params *given, char **operands, int threads,
                                  struct gi_watch *watch, struct gi_err *err)
{
    const struct gi_shape_listener listener = {on_shape, watch, NULL};
    struct gi_io_params io = *given;
    struct gi_image image;
    struct gi_metadata metadata;
    struct gi_file_info info;
    enum gi_status status = gi_cli_check_way(operands[0], operands[1], &io, NULL, err);
    if (!status)
        status = gi_cli_load(&image, &metadata, &info, operands[0], &io, threads, &listener, err);
    if (status)
        return status;
    status = gi_cli_check_way(operands[0], operands[1], &io, &info, err);
    gi_watch_stage(watch, "encode");
    if (!status)
        status = gi_cli_save(&image, &metadata, operands[1], &io, threads, err);
    gi_image_free(&image);
    gi_metadata_free(&metadata);
    return status;
}

static enum gi_status run_convert(const struct gi_command *self, void *const *params,
                                  char **operands, int noperands, struct gi_err *err)
{
    struct gi_io_params *io = params[SET_IO];
    int threads = gi_thread_count(((const struct params *)params[SET_OWN])->threads);
    struct gi_device_params device = {.device = "cpu", .threads = threads};
    struct gi_batch_job job = {.command = self, .params = params, .device = &device};
    struct gi_stream *stream;
    if (gi_batch_is_wanted(params[SET_BATCH]))
        return gi_batch_run(&job, operands, noperands, err);
    enum gi_status status =
        gi_stream_find(&stream, operands[0], operands[1], io, params[SET_BATCH], err);
    if (!status && stream)
        return gi_stream_run(&stream, &job, err);
    struct gi_watch watch;
    gi_watch_start(&watch, ((const struct gi_batch_params *)params[SET_BATCH])->progress, 0);
    if (!status)
        status = convert_one(io, operands, threads, &watch, err);
    gi_watch_end(&watch);
    gi_ahead_free(&io->ahead);
    return status;
}

const struct gi_command gi_command_convert = {
    .name = "convert",
    .operands = "INPUT OUTPUT",
    .summary = "Convert to another format, depth or to gray",
    .manual = "Samples stay as they are, except for the options: --depth, --gray (with --linear "
              "in linear light), and --background, which composites alpha over a colour. The "
              "output's format follows from its suffix, --format or a prefix as in png:-.",
    .examples = "gpuimg convert photo.jpg photo.png\n"
                "gpuimg convert scan.png scan.pgm --gray --depth 16\n"
                "gpuimg convert logo.png logo.jpg --background white --quality 95 --strip",
    .min_operands = 2,
    .max_operands = 2,
    .sets = {{"Options", options, sizeof(struct params)},
             {"Input and output", gi_io_options, sizeof(struct gi_io_params)},
             {"Many images", gi_batch_options, sizeof(struct gi_batch_params)}},
    .run = run_convert,
};
