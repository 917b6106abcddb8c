/* gpuimg merge: composites layers into one image.
 * SPDX-License-Identifier: MIT */
#include "cli/args/device_options.h"
#include "cli/commands.h"
#include "cli/inputs/n_to_one.h"

#include <stdlib.h>
#include <string.h>

enum { SET_OWN };

extern const struct gi_filter gi_filter_composite;

/* One run of the command. */
struct merge {
    struct gi_n_to_one job;
    const void *params;    /* of the operation that composites */
    struct gi_image image; /* the layers so far */
};

/* Returns parameters for compositing a layer over an image; the caller frees them. The name of the
 * layer in these parameters is only a placeholder, because this file loads the layers itself. */
static void *new_params(struct gi_err *err)
{
    void *params = gi_filter_params(&gi_filter_composite);
    if (!gi_option_set(params, gi_filter_composite.options, "with", "layer", err))
        return params;
    free(params);
    return NULL;
}

struct merge_layers_params {
    const char *report;
    bool progress;
};

static const struct gi_option options[] = {
    GI_N_TO_ONE_OPTIONS(struct merge_layers_params, report, progress),
    {0},
};

/* Composites a layer over merge->image, the composite of the layers before it. */
static enum gi_status lay_over(struct merge *merge, struct gi_item *item,
                               const struct gi_image *layer, struct gi_err *err)
{
    struct gi_image *image = &merge->image, made;
    const struct gi_step step = {
        .filter = &gi_filter_composite, .params = merge->params, .others = layer, .nothers = 1};
    if (layer->width != image->width || layer->height != image->height)
        return gi_fail(err, GI_E_UNSUPPORTED, "%s: is %d x %d, want %d x %d as the first layer",
                       item->line.input, layer->width, layer->height, image->width, image->height);
    enum gi_status status =
        gi_imaging_step(merge->job.computing, &item->line, &made, image, &step, NULL, err);
    if (status)
        return status;
    gi_image_free(image);
    *image = made;
    return GI_OK;
}

static enum gi_status take(void *self, struct gi_item *item, struct gi_image *image,
                           struct gi_metadata *metadata, struct gi_err *err)
{
    struct merge *merge = self;
    if (merge->job.taken)
        return lay_over(merge, item, image, err);
    merge->image = *image;
    *image = (struct gi_image){0};
    return GI_OK;
}

static enum gi_status finish(void *self, struct gi_image *made, struct gi_err *err)
{
    struct merge *merge = self;
    *made = merge->image;
    merge->image = (struct gi_image){0};
    return GI_OK;
}

static enum gi_status run(const struct gi_command *self, void *const *params, char **operands,
                          int noperands, struct gi_err *err)
{
    const struct merge_layers_params *p = params[SET_OWN];
    void *composite = new_params(err);
    struct merge merge = {.job = {.work = {.command = self,
                                           .params = params,
                                           .report = p->report,
                                           .progress = p->progress,
                                           .first = true,
                                           .self = &merge,
                                           .take = take,
                                           .finish = finish}},
                          .params = composite};
    enum gi_status status = composite ? GI_OK : err->status;
    if (!status)
        status = gi_n_to_one_list(&merge.job, operands, noperands, err);
    if (!status)
        status = gi_n_to_one_run(&merge.job, err);
    gi_image_free(&merge.image);
    gi_n_to_one_close(&merge.job);
    free(composite);
    return status;
}

const struct gi_command gi_command_merge = {
    .name = "merge",
    .group = GI_GROUP_IMAGES,
    .operands = "LAYER... OUTPUT",
    .summary = "Merge layers into one image by alpha",
    .manual = "The inputs are layers of the same size, with the first one at the bottom. Each "
              "layer is composited over the layers before it by its alpha, like gpuimg composite "
              "--mode over. So gpuimg merge puts the layers that gpuimg split wrote together "
              "again. The result has the depth of the first layer, colour if any layer has "
              "colour, and alpha if the first layer has alpha.\n\n"
              "The options for many images do not apply, because the result is one image. The "
              "report of --report has a line per layer and then a line for the result. In that "
              "line, the field \"inputs\" holds the number of layers.",
    .examples = "gpuimg merge layers/*.png whole.png\n"
                "gpuimg merge photo.jpg marks.png legend.png out.png\n"
                "gpuimg merge back.png front.png out.jpg --background white",
    .min_operands = 2,
    .max_operands = -1,
    .sets = {{"Options", options, sizeof(struct merge_layers_params)},
             {"Input and output", gi_io_options, sizeof(struct gi_io_params)},
             {"Running", gi_device_options, sizeof(struct gi_device_params)}},
    .run = run,
};
