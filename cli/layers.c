/* gpuimg split and merge: an image as one layer for each label, and layers as one image.
 * SPDX-License-Identifier: MIT */
#include "cli/command.h"
#include "cli/commands.h"
#include "cli/device.h"
#include "cli/files.h"
#include "cli/output.h"
#include "cli/process.h"
#include "cli/runner.h"
#include "cli/watch.h"
#include "filters/regions/labels.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { SET_OWN, SET_IO, SET_DEVICE, PATH_NBYTES = 4096 };

extern const struct gi_filter gi_filter_mask, gi_filter_composite;

struct split_params {
    const char *labels, *out_dir, *fill;
    bool force, progress;
};

static const struct gi_option split_options[] = {
    {.name = "labels",
     .letter = 'l',
     .type = GI_OPT_PATH,
     .offset = offsetof(struct split_params, labels),
     .metavar = "IMAGE",
     .help = "The label of each pixel, as extract --labels writes it; 0 is no layer"},
    {.name = "out-dir",
     .type = GI_OPT_PATH,
     .offset = offsetof(struct split_params, out_dir),
     .metavar = "DIR",
     .help = "A new or empty folder for layer-000001.png and so on, by label"},
    {.name = "fill",
     .letter = 'f',
     .type = GI_OPT_TEXT,
     .offset = offsetof(struct split_params, fill),
     .metavar = "COLOUR",
     .help = "What stands where a layer is not, in place of transparency"},
    {.name = "force",
     .type = GI_OPT_FLAG,
     .offset = offsetof(struct split_params, force),
     .help = "Let --out-dir replace a folder that holds nothing but layers"},
    GI_PROGRESS_OPTION(struct split_params, progress),
    {0},
};

/* One command at work. */
struct job {
    struct gi_io_params io;
    struct gi_runner *runner;
    int threads;
    struct gi_metadata metadata; /* of the first image */
};

static enum gi_status set(void *params, const struct gi_filter *filter, const char *name,
                          const char *text, struct gi_err *err)
{
    const struct gi_option *row = filter->options;
    while (strcmp(row->name, name))
        row++;
    return gi_option_read(params, row, text, err);
}

/* Parameters of an operation with a second image; the caller frees them. */
static void *params_of(const struct gi_filter *filter, const char *with, struct gi_err *err)
{
    void *params = calloc(1, filter->params_nbytes);
    if (!params)
        gi_fail(err, GI_E_MEMORY, "out of memory: a layer");
    else
        gi_options_default(params, filter->options);
    if (params && set(params, filter, "with", with, err)) {
        free(params);
        return NULL;
    }
    return params;
}

/* ---- split ---- */

static const char layer_start[] = "layer-";

static bool is_layer(const char *name)
{
    size_t n = sizeof layer_start - 1;
    return strncmp(name, layer_start, n) == 0 && isdigit((unsigned char)name[n]);
}

static enum gi_status load_labels(struct gi_image *labels, uint32_t *largest, const char *path,
                                  const struct gi_io_params *io, int threads, struct gi_err *err)
{
    struct gi_io_params how = *io;
    how.depth = GI_DEPTH_SAME;
    how.gray = 0;
    how.linear = false;
    how.labels = true;
    enum gi_status status = gi_cli_load(labels, NULL, NULL, path, &how, threads, NULL, err);
    if (!status && gi_labels_check(largest, labels, err))
        status = gi_err_prefix(err, "%s", path);
    return status ? gi_err_prefix(err, "--labels") : GI_OK;
}

/* *found, malloc()ed: not 0 at each of the n labels that there are, up to `largest`. */
static enum gi_status find_labels(unsigned char **found, int *n, const struct gi_image *labels,
                                  uint32_t largest, struct gi_err *err)
{
    *n = 0;
    *found = calloc((size_t)largest + 1, 1);
    if (!*found)
        return gi_fail(err, GI_E_MEMORY, "out of memory: %u labels", largest);
    for (int y = 0; y < labels->height; y++)
        for (int x = 0; x < labels->width; x++) {
            uint32_t label = gi_label_at(labels, x, y);
            *n += label && !(*found)[label];
            (*found)[label] = 1;
        }
    return GI_OK;
}

static enum gi_status layer_path(char path[PATH_NBYTES], const struct job *job, const char *folder,
                                 uint32_t label, struct gi_err *err)
{
    size_t n = strlen(folder);
    while (n > 1 && folder[n - 1] == '/')
        n--;
    int used = snprintf(path, PATH_NBYTES, "%.*s/%s%06u.%s", (int)n, folder, layer_start, label,
                        job->io.format ? job->io.format : "png");
    return used < PATH_NBYTES
               ? GI_OK
               : gi_fail(err, GI_E_USAGE, "--out-dir %.40s...: the name is too long", folder);
}

static enum gi_status make_layer(struct job *job, const struct gi_image *src,
                                 const struct gi_image *mask, const void *params, const char *path,
                                 struct gi_err *err)
{
    struct gi_step step = {
        .filter = &gi_filter_mask, .params = params, .others = mask, .nothers = 1};
    struct gi_side side = {.others = mask};
    struct gi_image made;
    enum gi_status status = gi_runner_run(job->runner, &made, src, &step, 1, &side, err);
    if (status)
        return status;
    double start = gi_now_ms();
    status = gi_cli_save(&made, &job->metadata, path, &job->io, job->threads, err);
    gi_runner_note(job->runner, "encode", gi_now_ms() - start);
    gi_image_free(&made);
    return status;
}

static enum gi_status make_layers(struct job *job, const struct split_params *p,
                                  const struct gi_image *src, const struct gi_image *labels,
                                  const unsigned char *found, uint32_t largest, const void *params,
                                  struct gi_err *err)
{
    char path[PATH_NBYTES];
    struct gi_image mask;
    enum gi_status status = gi_image_alloc(&mask, labels->width, labels->height, 1, GI_U8, err);
    if (status)
        return status;
    status = gi_bundle_folder(job->io.bundle, p->out_dir, p->force ? is_layer : NULL, err);
    for (uint32_t label = 1; label <= largest && !status; label++) {
        if (!found[label])
            continue;
        gi_labels_mask(&mask, labels, &(struct gi_reals){.v = {label}, .n = 1});
        status = layer_path(path, job, p->out_dir, label, err);
        if (!status)
            status = make_layer(job, src, &mask, params, path, err);
    }
    gi_image_free(&mask);
    return status;
}

/* All layers or none. */
static enum gi_status split(struct job *job, const struct split_params *p, const char *path,
                            struct gi_err *err)
{
    struct gi_image src = {0}, labels = {0};
    struct gi_file_info info;
    unsigned char *found = NULL;
    uint32_t largest = 0;
    int n = 0;
    void *params = params_of(&gi_filter_mask, p->labels, err);
    enum gi_status status = params ? GI_OK : GI_E_MEMORY;
    struct gi_step step = {.filter = &gi_filter_mask, .params = params};
    if (!status && p->fill)
        status = set(params, &gi_filter_mask, "fill", p->fill, err);
    if (!status)
        status = load_labels(&labels, &largest, p->labels, &job->io, job->threads, err);
    if (!status)
        status = find_labels(&found, &n, &labels, largest, err);
    if (!status) {
        gi_runner_watch(job->runner, p->progress, n);
        status =
            gi_runner_load(job->runner, &src, &job->metadata, &info, path, &job->io, &step, 1, err);
    }
    if (!status && gi_labels_fit(&labels, &src, err))
        status = gi_err_prefix(err, "--labels");
    if (!status)
        status = gi_bundle_new(&job->io.bundle, err);
    if (!status)
        status = make_layers(job, p, &src, &labels, found, largest, params, err);
    if (!status)
        status = gi_bundle_commit(&job->io.bundle, err);
    gi_bundle_abandon(&job->io.bundle);
    gi_image_free(&src);
    gi_image_free(&labels);
    free(found);
    free(params);
    return status;
}

static enum gi_status check_split(const struct job *job, const struct split_params *p,
                                  const char *input, struct gi_err *err)
{
    if (!p->labels)
        return gi_fail(err, GI_E_USAGE, "--labels: missing: want an image of labels");
    if (!p->out_dir)
        return gi_fail(err, GI_E_USAGE, "--out-dir: missing: want a folder");
    if (strcmp(p->labels, "-") == 0 && strcmp(input, "-") == 0)
        return gi_fail(err, GI_E_USAGE, "--labels -: standard input is the image already");
    char path[PATH_NBYTES];
    enum gi_status status = gi_output_check_plain("--out-dir", p->out_dir, err);
    if (!status)
        status = layer_path(path, job, p->out_dir, 1, err);
    if (!status && gi_save_check("-", job->io.format ? job->io.format : "png", NULL))
        return gi_fail(err, GI_E_USAGE,
                       "--format %s: want the suffix of a format that can be written "
                       "(\"gpuimg list\" names them)",
                       job->io.format);
    return status ? status
                  : gi_output_check_folder("--out-dir", p->out_dir, "layers",
                                           p->force ? is_layer : NULL, err);
}

/* ---- merge ---- */

struct merge_params {
    bool progress;
};

static const struct gi_option merge_options[] = {
    GI_PROGRESS_OPTION(struct merge_params, progress),
    {0},
};

/* Lays the layer at `path` over *image. */
static enum gi_status lay_over(struct job *job, struct gi_image *image, const char *path,
                               const void *params, struct gi_err *err)
{
    struct gi_step step = {.filter = &gi_filter_composite, .params = params};
    struct gi_image layer = {0}, made;
    struct gi_file_info info;
    enum gi_status status =
        gi_runner_load(job->runner, &layer, NULL, &info, path, &job->io, &step, 1, err);
    if (!status && (layer.width != image->width || layer.height != image->height))
        status = gi_fail(err, GI_E_UNSUPPORTED, "%s: is %d x %d, want %d x %d as the first layer",
                         path, layer.width, layer.height, image->width, image->height);
    if (!status) {
        struct gi_side side = {.others = &layer};
        step.others = &layer;
        step.nothers = 1;
        status = gi_runner_run(job->runner, &made, image, &step, 1, &side, err);
    }
    if (!status) {
        gi_image_free(image);
        *image = made;
    }
    gi_image_free(&layer);
    return status;
}

static enum gi_status merge(struct job *job, char **paths, int n, const char *output,
                            struct gi_err *err)
{
    struct gi_image image = {0};
    struct gi_file_info info;
    void *params = params_of(&gi_filter_composite, paths[0], err);
    enum gi_status status = params ? GI_OK : GI_E_MEMORY;
    struct gi_step step = {.filter = &gi_filter_composite, .params = params};
    if (!status)
        status = gi_runner_load(job->runner, &image, &job->metadata, &info, paths[0], &job->io,
                                &step, 1, err);
    for (int i = 1; i < n && !status; i++)
        status = lay_over(job, &image, paths[i], params, err);
    if (!status) {
        double start = gi_now_ms();
        status = gi_cli_save(&image, &job->metadata, output, &job->io, job->threads, err);
        gi_runner_note(job->runner, "encode", gi_now_ms() - start);
    }
    gi_image_free(&image);
    free(params);
    return status;
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

/* ---- the commands ---- */

static struct job begin(void *const *params)
{
    const struct gi_device_params *device = params[SET_DEVICE];
    return (struct job){.io = *(const struct gi_io_params *)params[SET_IO],
                        .threads = gi_thread_count(device->threads)};
}

static enum gi_status end(struct job *job, enum gi_status status)
{
    gi_metadata_free(&job->metadata);
    if (!status)
        gi_runner_report(job->runner);
    gi_runner_free(&job->runner);
    return status;
}

static enum gi_status run_split(const struct gi_command *self, void *const *params, char **operands,
                                int noperands, struct gi_err *err)
{
    struct job job = begin(params);
    (void)self;
    (void)noperands;
    enum gi_status status = check_split(&job, params[SET_OWN], operands[0], err);
    if (!status)
        status = gi_runner_new(&job.runner, params[SET_DEVICE], err);
    if (!status)
        status = split(&job, params[SET_OWN], operands[0], err);
    return end(&job, status);
}

static enum gi_status run_merge(const struct gi_command *self, void *const *params, char **operands,
                                int noperands, struct gi_err *err)
{
    const struct merge_params *p = params[SET_OWN];
    struct job job = begin(params);
    int n = noperands - 1;
    (void)self;
    enum gi_status status = check_merge(&job, operands, n, operands[n], err);
    if (!status)
        status = gi_runner_new(&job.runner, params[SET_DEVICE], err);
    if (!status) {
        gi_runner_watch(job.runner, p->progress, n > 1 ? n - 1 : 1);
        status = merge(&job, operands, n, operands[n], err);
    }
    return end(&job, status);
}

const struct gi_command gi_command_split = {
    .name = "split",
    .operands = "INPUT",
    .summary = "Part an image in layers, one for each label",
    .manual =
        "A layer is as large as the image, and is the image where its label is, elsewhere "
        "transparent (or of the colour of --fill), as gpuimg mask makes it. Labels are whole "
        "numbers, such as extract --labels writes; those that do not occur make no "
        "layer. All layers are written or none. --format is the suffix of the layers, png without "
        "it.\n\n"
        "gpuimg merge lays them over each other again; gpuimg extract --crops writes the bounding "
        "boxes alone, and gpuimg paste puts these back.",
    .examples = "gpuimg split photo.jpg --labels labels.png --out-dir layers/\n"
                "gpuimg split photo.jpg --labels labels.png --out-dir layers/ --fill black\n"
                "gpuimg split photo.jpg --labels labels.png --out-dir layers/ --format tif",
    .min_operands = 1,
    .max_operands = 1,
    .sets = {{"Options", split_options, sizeof(struct split_params)},
             {"Input and output", gi_io_options, sizeof(struct gi_io_params)},
             {"Running", gi_device_options, sizeof(struct gi_device_params)}},
    .run = run_split,
};

const struct gi_command gi_command_merge = {
    .name = "merge",
    .operands = "LAYER... OUTPUT",
    .summary = "Lay layers over each other, the first one at the bottom",
    .manual =
        "Layers are images of one size; each is laid over those before it by its alpha, as gpuimg "
        "composite does. What gpuimg split parted becomes whole again where there were labels. The "
        "result has the depth of the first layer, colour where one has it, and alpha where the "
        "first has it.",
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
