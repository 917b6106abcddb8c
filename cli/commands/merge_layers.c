/* gpuimg merge: composites layers into one image.
 * SPDX-License-Identifier: MIT */
#include "cli/report/n_to_one.h"
#include "cli/command.h"
#include "cli/commands.h"
#include "cli/run/device_options.h"
#include "cli/inputs/image_files.h"
#include "cli/run/output.h"
#include "cli/process.h"
#include "cli/run/session.h"
#include "cli/run/timing.h"
#include "cli/run/watch.h"

#include <stdlib.h>
#include <string.h>

enum { SET_OWN, SET_IO, SET_DEVICE };

extern const struct gi_filter gi_filter_composite;

/* One run of the command. */
struct job {
    struct gi_io_params io;
    struct gi_session *session;
    struct gi_report report;
    int threads;
    struct gi_metadata metadata; /* of the first image */
};

/* Returns parameters of the operation that composites a layer over an image; the caller frees them.
 * The name of the layer is only a placeholder, because the layers are loaded here. */
static void *new_params(struct gi_err *err)
{
    const struct gi_option *row = gi_filter_composite.options;
    void *params = calloc(1, gi_filter_composite.params_nbytes);
    if (!params) {
        gi_fail(err, GI_E_MEMORY, "out of memory: a layer");
        return NULL;
    }
    gi_options_default(params, row);
    while (strcmp(row->name, "with"))
        row++;
    if (!gi_option_read(params, row, "layer", err))
        return params;
    free(params);
    return NULL;
}

struct merge_params {
    const char *report;
    bool progress;
};

static const struct gi_option merge_options[] = {
    GI_N_TO_ONE_OPTION(struct merge_params, report),
    GI_PROGRESS_OPTION(struct merge_params, progress),
    {0},
};

/* Composites the layer at `path` over *image. */
static enum gi_status lay_over(struct job *job, struct gi_image *image, const char *path,
                               const void *params, struct gi_err *err)
{
    struct gi_step step = {.filter = &gi_filter_composite, .params = params};
    struct gi_image layer = {0}, made;
    struct gi_file_info info;
    double ms[GI_STAGES] = {0}, start = gi_now_ms();
    enum gi_status status =
        gi_session_load(job->session, &layer, NULL, &info, path, &job->io, &step, 1, err);
    ms[GI_STAGE_DECODE] = gi_now_ms() - start;
    start = gi_now_ms();
    if (!status && (layer.width != image->width || layer.height != image->height))
        status = gi_fail(err, GI_E_UNSUPPORTED, "%s: is %d x %d, want %d x %d as the first layer",
                         path, layer.width, layer.height, image->width, image->height);
    if (!status) {
        struct gi_side side = {.others = &layer};
        step.others = &layer;
        step.nothers = 1;
        status = gi_session_run(job->session, &made, image, &step, 1, &side, err);
    }
    if (!status) {
        gi_image_free(image);
        *image = made;
    }
    ms[GI_STAGE_KERNELS] = gi_now_ms() - start;
    gi_image_free(&layer);
    return gi_n_to_one_note(&job->report, path, &layer, ms, status, err);
}

/* Loads the first layer. */
static enum gi_status lay_down(struct job *job, struct gi_image *image, const char *path,
                               const void *params, struct gi_err *err)
{
    struct gi_step step = {.filter = &gi_filter_composite, .params = params};
    struct gi_file_info info;
    double ms[GI_STAGES] = {0}, start = gi_now_ms();
    enum gi_status status =
        gi_session_load(job->session, image, &job->metadata, &info, path, &job->io, &step, 1, err);
    ms[GI_STAGE_DECODE] = gi_now_ms() - start;
    return gi_n_to_one_note(&job->report, path, image, ms, status, err);
}

static enum gi_status merge_layers(struct job *job, char **paths, int n, const char *output,
                                   struct gi_err *err)
{
    struct gi_image image = {0};
    void *params = new_params(err);
    enum gi_status status = params ? GI_OK : GI_E_MEMORY;
    for (int i = 0; i < n && !status; i++)
        status = (i ? lay_over : lay_down)(job, &image, paths[i], params, err);
    if (!status) {
        double start = gi_now_ms();
        status = gi_cli_save(&image, &job->metadata, output, &job->io, job->threads, err);
        double ms = job->report.whole.ms[GI_STAGE_ENCODE] = gi_now_ms() - start;
        gi_timing_add("encode", ms);
    }
    gi_image_free(&image);
    free(params);
    return gi_report_end(&job->report, &image, status, err);
}

static enum gi_status check_merge(const struct job *job, char **paths, int n, const char *output,
                                  struct gi_err *err)
{
    enum gi_status status = gi_cli_check_save(output, &job->io, err);
    for (int i = 0; i < n && !status; i++) {
        const char *const outputs[] = {output, NULL}, *const inputs[] = {paths[i], NULL};
        status = gi_output_check_inputs(outputs, inputs, err);
    }
    return status;
}

static enum gi_status run_merge(const struct gi_command *self, void *const *params, char **operands,
                                int noperands, struct gi_err *err)
{
    const struct merge_params *p = params[SET_OWN];
    const struct gi_device_params *device = params[SET_DEVICE];
    struct job job = {.io = *(const struct gi_io_params *)params[SET_IO],
                      .threads = gi_thread_count(device->threads)};
    int n = noperands - 1;
    enum gi_status status = check_merge(&job, operands, n, operands[n], err);
    if (!status)
        status = gi_session_new(&job.session, device, err);
    if (!status)
        status = gi_n_to_one_open_operands(&job.report, p->report, self, params, operands,
                                           noperands, err);
    if (!status) {
        gi_session_watch(job.session, p->progress, n > 1 ? n - 1 : 1);
        status = merge_layers(&job, operands, n, operands[n], err);
    }
    gi_metadata_free(&job.metadata);
    gi_session_free(&job.session);
    return status;
}

const struct gi_command gi_command_merge = {
    .name = "merge",
    .group = GI_GROUP_IMAGES,
    .operands = "LAYER... OUTPUT",
    .summary = "Merge layers into one image by alpha",
    .manual = "Layers are images of one size, the first one at the bottom; each is composited by "
              "its alpha over those before it, as gpuimg composite does. The layers of gpuimg "
              "split become the image again where there were labels. The result has the depth of "
              "the first layer, colour if one has it, and alpha if the first has it.\n"
              "\n"
              "merge makes one image of all its inputs, so options for many images do not apply. "
              "--report has a line per layer and then one for the result, whose field inputs is "
              "their number.",
    .examples = "gpuimg merge layers/*.png whole.png\n"
                "gpuimg merge photo.jpg marks.png legend.png out.png\n"
                "gpuimg merge back.png front.png out.jpg --background white",
    .min_operands = 2,
    .max_operands = -1,
    .sets = {{"Options", merge_options, sizeof(struct merge_params)},
             {"Input and output", gi_io_options, sizeof(struct gi_io_params)},
             {"Running", gi_device_options, sizeof(struct gi_device_params)}},
    .run = run_merge,
};
