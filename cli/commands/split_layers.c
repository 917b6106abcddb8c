/* gpuimg split: splits an image into layers, one per label.
 * SPDX-License-Identifier: MIT */
#include "cli/args/device_options.h"
#include "cli/args/image_files.h"
#include "cli/args/level_check.h"
#include "cli/command.h"
#include "cli/commands.h"
#include "cli/inputs/driver.h"
#include "cli/inputs/file_batch.h"
#include "cli/paths/output.h"
#include "cli/process.h"
#include "cli/run/imaging.h"
#include "filters/regions/labels.h"

#include <stdlib.h>
#include <string.h>

enum { SET_OWN, SET_IO, SET_DEVICE, SET_BATCH, PATH_NBYTES = 4096 };

extern const struct gi_filter gi_filter_mask;

struct split_layers_params {
    const char *labels, *out_dir, *fill;
    bool force;
};

static const struct gi_option options[] = {
    {GI_OPTION("labels", PATH, struct split_layers_params, labels), .letter = 'l',
     .metavar = "IMAGE",
     .help = "Label image, as gpuimg extract --labels writes it; label 0 makes no layer. With "
             "many images it is one image for all, or a template as in --out"},
    {GI_OPTION("out-dir", PATH, struct split_layers_params, out_dir), .metavar = "DIR",
     .help = "New or empty folder, in which the layers are named layer-000001.png and so on by "
             "label"},
    {GI_OPTION("fill", TEXT, struct split_layers_params, fill), .letter = 'f', .metavar = "COLOUR",
     .help = "Fill the pixels of other labels with this colour, instead of making them "
             "transparent"},
    {GI_OPTION("force", FLAG, struct split_layers_params, force),
     .help = "Replace a folder that holds only layers of an earlier run"},
    {0},
};

/* ---- labels and layers ---- */

static const char layer_start[] = "layer-";

static bool is_layer(const char *name)
{
    return gi_output_is_numbered(name, layer_start);
}

/* The labels that occur. */
struct labels {
    struct gi_image image;
    uint32_t largest;
    /* found[label] is nonzero if the label occurs, for labels up to `largest`. `n` labels occur. */
    unsigned char *found;
    int n;
};

static void free_labels(struct labels *labels)
{
    gi_image_free(&labels->image);
    free(labels->found);
    *labels = (struct labels){0};
}

static enum gi_status find(struct labels *labels, struct gi_err *err)
{
    const struct gi_image *image = &labels->image;
    labels->found = calloc((size_t)labels->largest + 1, 1);
    if (!labels->found)
        return gi_fail(err, GI_E_MEMORY, "out of memory: %u labels", labels->largest);
    for (int y = 0; y < image->height; y++)
        for (int x = 0; x < image->width; x++) {
            uint32_t label = gi_label_at(image, x, y);
            labels->n += label && !labels->found[label];
            labels->found[label] = 1;
        }
    return GI_OK;
}

/* Reads the labels. free_labels() frees them, also after an error. */
static enum gi_status load_labels(struct labels *labels, const char *path,
                                  const struct gi_io_params *io, int threads, struct gi_err *err)
{
    struct gi_io_params how = *io;
    how.depth = how.work_depth = GI_DEPTH_SAME;
    how.gray = 0;
    how.bands.list = NULL;
    how.linear = false;
    how.passed.labels = true;
    enum gi_status status = gi_cli_load(&labels->image, NULL, NULL, path, &how, threads, NULL, err);
    if (!status) {
        status = gi_labels_check(&labels->largest, &labels->image, err);
        if (status)
            gi_err_prefix(err, "%s", path);
    }
    return status ? gi_err_prefix(err, "--labels") : find(labels, err);
}

/* Returns parameters for masking an image; the caller frees them. */
static void *mask_params(const struct split_layers_params *p, struct gi_err *err)
{
    const struct gi_option *rows = gi_filter_mask.options;
    void *params = gi_filter_params(&gi_filter_mask);
    if (!gi_option_set(params, rows, "with", p->labels, err) &&
        (!p->fill || !gi_option_set(params, rows, "fill", p->fill, err)))
        return params;
    free(params);
    return NULL;
}

static enum gi_status layer_path(char path[PATH_NBYTES], const char *folder, uint32_t label,
                                 const struct gi_io_params *io, struct gi_err *err)
{
    size_t n = strlen(folder);
    while (n > 1 && folder[n - 1] == '/')
        n--;
    int used = snprintf(path, PATH_NBYTES, "%.*s/%s%06u.%s", (int)n, folder, layer_start, label,
                        io->format ? io->format : "png");
    return used < PATH_NBYTES ? GI_OK
                              : gi_fail(err, GI_E_USAGE, "%.40s...: the name is too long", folder);
}

/* ---- the work on an image ---- */

/* State shared by all images. */
struct batch {
    const struct gi_io_params *io;
    const void *mask; /* parameters of the operation that masks */
    /* The folder for the layers of a single image; NULL if each item has a folder. */
    const char *folder;
    bool force;        /* existing layers may be replaced, because of --force or --resume */
    struct labels all; /* width 0: each image has its own */
};

/* One image of the batch. */
struct split_layers_piece {
    const struct batch *batch;
    struct gi_imaging *imaging;
    struct gi_item *item;
    struct gi_image src;
    struct gi_metadata metadata;
    struct gi_bundle *bundle;
};

/* Writes the layer that `mask` shows. */
static enum gi_status make_layer(struct split_layers_piece *piece, const struct gi_image *mask,
                                 const char *path, struct gi_err *err)
{
    const struct gi_step step = {
        .filter = &gi_filter_mask, .params = piece->batch->mask, .others = mask, .nothers = 1};
    struct gi_image made;
    enum gi_status status =
        gi_imaging_step(piece->imaging, &piece->item->line, &made, &piece->src, &step, NULL, err);
    if (status)
        return status;
    status = gi_imaging_save_part(piece->imaging, piece->item, &made, &piece->metadata, path,
                                  piece->bundle, err);
    gi_image_free(&made);
    return status;
}

/* Writes all layers into a folder that is a part of the bundle. */
static enum gi_status make_layers(struct split_layers_piece *piece, const struct labels *labels,
                                  const char *folder, struct gi_err *err)
{
    const struct gi_image *image = &labels->image;
    char path[PATH_NBYTES];
    struct gi_image mask;
    enum gi_status status = gi_image_alloc(&mask, image->width, image->height, 1, GI_U8, err);
    if (status)
        return status;
    status = gi_bundle_folder(piece->bundle, folder, piece->batch->force ? is_layer : NULL, err);
    for (uint32_t label = 1; label <= labels->largest && !status; label++) {
        if (!labels->found[label])
            continue;
        gi_labels_mask(&mask, image, &(struct gi_reals){.v = {label}, .n = 1});
        status = layer_path(path, folder, label, piece->batch->io, err);
        if (!status)
            status = make_layer(piece, &mask, path, err);
    }
    gi_image_free(&mask);
    return status;
}

/* Splits a loaded image. */
static enum gi_status split_piece(struct split_layers_piece *piece, const struct labels *labels,
                                  struct gi_err *err)
{
    const struct batch *batch = piece->batch;
    const char *folder = batch->folder ? batch->folder : piece->item->line.output;
    enum gi_status status =
        gi_labels_fit(&labels->image, &piece->src, err) ? gi_err_prefix(err, "--labels") : GI_OK;
    if (!status && !batch->folder)
        status =
            gi_output_check_folder("--out", folder, "layers", batch->force ? is_layer : NULL, err);
    if (!status)
        status = gi_bundle_new(&piece->bundle, batch->folder != NULL, err);
    if (!status)
        status = make_layers(piece, labels, folder, err);
    if (!status)
        status = gi_bundle_commit(&piece->bundle, err);
    gi_bundle_abandon(&piece->bundle);
    if (!status && !batch->folder)
        gi_item_note_output(piece->item);
    return status;
}

static enum gi_status split_item(void *self, const struct gi_batch_files *files,
                                 struct gi_imaging *imaging, struct gi_item *item,
                                 struct gi_err *err)
{
    const struct batch *batch = self;
    struct split_layers_piece piece = {.batch = batch, .imaging = imaging, .item = item};
    const struct gi_step step = {.filter = &gi_filter_mask, .params = batch->mask};
    struct labels own = {0};
    struct gi_file_info info;
    bool shared = batch->all.image.width > 0;
    enum gi_status status =
        gi_imaging_load(imaging, item, &piece.src, &piece.metadata, &info, false, err);
    if (status)
        return status;
    status = gi_cli_check_levels(&step, 1, &piece.src, &info, batch->io, err);
    if (!status && !shared)
        status = load_labels(&own, item->line.beside.path, batch->io, 1, err);
    if (!status)
        status = split_piece(&piece, shared ? &batch->all : &own, err);
    free_labels(&own);
    gi_image_free(&piece.src);
    gi_metadata_free(&piece.metadata);
    return status && files ? gi_err_prefix(err, "%s", item->line.input) : status;
}

/* ---- one image and many ---- */

static enum gi_status check_format(const struct gi_io_params *io, struct gi_err *err)
{
    return gi_save_check("-", io->format ? io->format : "png", NULL)
               ? gi_fail(err, GI_E_USAGE,
                         "--format %s: want the suffix of a format that can be written "
                         "(\"gpuimg list\" names them)",
                         io->format)
               : GI_OK;
}

static enum gi_status check_one(const struct split_layers_params *p, const struct gi_io_params *io,
                                const char *input, struct gi_err *err)
{
    if (!p->out_dir)
        return gi_fail(err, GI_E_USAGE, "--out-dir: missing: want a folder");
    if (strcmp(p->labels, "-") == 0 && strcmp(input, "-") == 0)
        return gi_fail(err, GI_E_USAGE, "--labels -: standard input is the image already");
    char path[PATH_NBYTES];
    enum gi_status status = gi_output_check_plain("--out-dir", p->out_dir, err);
    if (!status) {
        status = layer_path(path, p->out_dir, 1, io, err);
        if (status)
            gi_err_prefix(err, "--out-dir");
    }
    if (!status)
        status = check_format(io, err);
    if (!status)
        status = gi_output_check_folder("--out-dir", p->out_dir, "layers",
                                        p->force ? is_layer : NULL, err);
    return status ? status
                  : gi_output_check_inside("--out-dir", p->out_dir,
                                           (const char *const[]){input, p->labels, NULL}, err);
}

static enum gi_status run_one(const struct gi_command *self, void *const *params, const void *mask,
                              char *input, struct gi_err *err)
{
    const struct split_layers_params *p = params[SET_OWN];
    const struct gi_device_params *device = params[SET_DEVICE];
    struct batch batch = {
        .io = params[SET_IO], .mask = mask, .folder = p->out_dir, .force = p->force};
    const struct gi_batch_work work = {.self = &batch, .run = split_item};
    const struct gi_batch_job job = {.command = self, .params = params, .work = &work};
    enum gi_status status = check_one(p, batch.io, input, err);
    if (!status)
        status =
            load_labels(&batch.all, p->labels, batch.io, gi_thread_count(device->threads), err);
    if (!status)
        status = gi_drive(&job, &input, 1, err);
    free_labels(&batch.all);
    return status;
}

static enum gi_status run_many(const struct gi_command *self, void *const *params, const void *mask,
                               char **inputs, int ninputs, struct gi_err *err)
{
    const struct split_layers_params *p = params[SET_OWN];
    const struct gi_batch_params *many = params[SET_BATCH];
    const struct gi_device_params *device = params[SET_DEVICE];
    struct batch batch = {.io = params[SET_IO], .mask = mask, .force = p->force || many->resume};
    const struct gi_batch_work work = {.results = GI_BATCH_A_FOLDER,
                                       .beside = p->labels,
                                       .beside_option = "--labels",
                                       .self = &batch,
                                       .run = split_item};
    const struct gi_batch_job job = {.command = self, .params = params, .work = &work};
    if (!many->out || p->out_dir)
        return gi_fail(err, GI_E_USAGE,
                       "of many images want --out, and no --out-dir: the folder of each one's "
                       "layers, as 'layers/{stem}'");
    enum gi_status status = check_format(batch.io, err);
    if (!status && !strchr(p->labels, '{'))
        status =
            load_labels(&batch.all, p->labels, batch.io, gi_thread_count(device->threads), err);
    if (!status)
        status = gi_drive(&job, inputs, ninputs, err);
    free_labels(&batch.all);
    return status;
}

/* ---- the command ---- */

static enum gi_status run(const struct gi_command *self, void *const *params, char **operands,
                          int noperands, struct gi_err *err)
{
    const struct split_layers_params *p = params[SET_OWN];
    if (!p->labels)
        return gi_fail(err, GI_E_USAGE, "--labels: missing: want an image of labels");
    void *mask = mask_params(p, err);
    if (!mask)
        return err->status;
    enum gi_status status = gi_batch_is_wanted(params[SET_BATCH])
                                ? run_many(self, params, mask, operands, noperands, err)
                                : run_one(self, params, mask, operands[0], err);
    free(mask);
    return status;
}

const struct gi_command gi_command_split = {
    .name = "split",
    .group = GI_GROUP_REGIONS,
    .operands = "INPUT",
    .summary = "Split an image into layers, one per label",
    .manual =
        "Each label gives a layer: an image of the same size as the input, which shows the input "
        "where the label is. Elsewhere the layer is transparent, or has the colour of --fill. "
        "The labels are those of a label image, whose samples are whole numbers, as gpuimg "
        "extract --labels writes them. Either all layers are written or none. Their format is "
        "PNG, or that of --format.\n\n"
        "With many images --out names a folder of layers for each, for example 'layers/{stem}' "
        "(gpuimg help batch lists the fields), and --labels is one image for all or a template "
        "such as 'labels/{stem}.png'. With --resume, folders "
        "that are complete by the report are kept, and the others are replaced.\n\n"
        "gpuimg merge puts the layers together again. To write only the bounding box of each "
        "label, use gpuimg extract --crops; gpuimg paste pastes these crops back.",
    .examples = "gpuimg split photo.jpg --labels labels.png --out-dir layers/\n"
                "gpuimg split photo.jpg --labels labels.png --out-dir layers/ --fill black\n"
                "gpuimg split photo.jpg --labels labels.png --out-dir layers/ --format tif\n"
                "gpuimg split photos/*.jpg --labels 'labels/{stem}.png' --out 'layers/{stem}'",
    .min_operands = 1,
    .max_operands = 1,
    .sets = {{"Options", options, sizeof(struct split_layers_params)},
             {"Input and output", gi_io_options, sizeof(struct gi_io_params)},
             {"Running", gi_device_options, sizeof(struct gi_device_params)},
             {"Many images", gi_layers_options, sizeof(struct gi_batch_params)}},
    .run = run,
};
