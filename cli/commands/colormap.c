/* gpuimg colormap: false colours, with --bar and a legend beside the picture.
 * SPDX-License-Identifier: MIT */
#include "cli/args/device_options.h"
#include "cli/args/image_files.h"
#include "cli/commands.h"
#include "cli/inputs/driver.h"
#include "cli/plot/cairo.h"
#include "cli/plot/legend.h"
#include "cli/run/imaging.h"
#include "filters/statistics/stats.h"
#include "imgio/small.h"

#include <stdlib.h>
#include <string.h>

enum { SET_FILTER, SET_IO, SET_DEVICE, SET_BATCH };

extern const struct gi_filter gi_filter_colormap;

/* ---- the range ---- */

/* Sets the range that --range says. With auto it is that of the visible samples, or 0 if none is
 * finite. */
static enum gi_status find_range(struct gi_legend *legend, struct gi_imaging *imaging,
                                 struct gi_item *item, const struct gi_image *image,
                                 const void *params, struct gi_err *err)
{
    const struct gi_option *row = gi_option_find(gi_filter_colormap.options, "range");
    const char *text = *(const char *const *)((const char *)params + row->offset);
    double range[2] = {0, gi_type_full_scale(image->type)};
    enum gi_status status = GI_OK;
    if (strcmp(text, "auto") == 0) {
        struct gi_stats_params *own = gi_filter_params(&gi_filter_stats);
        struct gi_stats stats = {0};
        own->opaque = image->mask != GI_MASK_NONE;
        const struct gi_step step = {.filter = &gi_filter_stats, .params = own};
        status = gi_imaging_step(imaging, &item->line, NULL, image, &step, &stats, err);
        bool finite = !status && stats.channels[0].count;
        range[0] = finite ? stats.channels[0].min : 0;
        range[1] = finite ? stats.channels[0].max : 0;
        free(own);
    } else if (strcmp(text, "full") != 0) {
        gi_numbers_read(range, 2, text);
    }
    legend->lo = range[0];
    legend->hi = range[1];
    return status;
}

/* ---- the work on an image ---- */

/* Makes the colours of the bar by the operation itself. */
static enum gi_status make_colors(struct gi_image *colors, const struct gi_legend *legend,
                                  struct gi_imaging *imaging, struct gi_item *item,
                                  const void *params, struct gi_err *err)
{
    const struct gi_filter *filter = &gi_filter_colormap;
    void *own = gi_small_alloc(filter->params_nbytes);
    struct gi_image ramp = {0};
    memcpy(own, params, filter->params_nbytes);
    enum gi_status status = gi_option_set(own, filter->options, "range", "full", err);
    if (!status)
        status = filter->check(own, err);
    if (!status)
        status = gi_legend_ramp(&ramp, legend, err);
    const struct gi_step step = {.filter = filter, .params = own};
    if (!status)
        status = gi_imaging_step(imaging, &item->line, colors, &ramp, &step, NULL, err);
    gi_image_free(&ramp);
    free(own);
    return status;
}

/* Replaces the picture by one with its legend. */
static enum gi_status add_legend(struct gi_image *picture, struct gi_legend *legend,
                                 struct gi_imaging *imaging, struct gi_item *item,
                                 const void *params, struct gi_err *err)
{
    struct gi_image colors = {0}, made = {0};
    gi_legend_lay_out(legend, picture->height);
    enum gi_status status = make_colors(&colors, legend, imaging, item, params, err);
    if (!status)
        status = gi_legend_add(&made, legend, picture, &colors, err);
    gi_image_free(&colors);
    if (!status) {
        gi_image_free(picture);
        *picture = made;
    }
    return status;
}

static enum gi_status make_item(void *self, const struct gi_batch_files *files,
                                struct gi_imaging *imaging, struct gi_item *item,
                                struct gi_err *err)
{
    const void *params = self;
    struct gi_image image = {0};
    struct gi_metadata metadata = {0};
    struct gi_file_info info = {0};
    struct gi_placement placement = {0};
    struct gi_legend legend = {.lo = 0};
    enum gi_status status = gi_imaging_load(imaging, item, &image, &metadata, &info, false, err);
    bool loaded = !status;
    if (!status)
        status = find_range(&legend, imaging, item, &image, params, err);
    if (!status) {
        status = gi_imaging_filter(imaging, item, &image, &metadata, &info, &placement, err);
        loaded = false; /* the error has its name */
    }
    if (!status)
        status = gi_imaging_adapt(&metadata, imaging, item, &info, &image, &placement, err);
    if (!status) {
        loaded = true;
        status = add_legend(&image, &legend, imaging, item, params, err);
    }
    if (status && loaded && !gi_imaging_options(imaging)->one)
        gi_err_prefix(err, "%s", item->line.input);
    if (!status)
        status = gi_imaging_save(imaging, item, &image, &metadata, NULL, item->source.member, err);
    gi_image_free(&image);
    gi_metadata_free(&metadata);
    return status;
}

static enum gi_status run_bar(const struct gi_command *self, void *const *params, char **operands,
                              int noperands, struct gi_err *err)
{
    const struct gi_io_params *io = params[SET_IO];
    bool many = gi_batch_is_wanted(params[SET_BATCH]);
    struct gi_chain_step step = {.filter = self->filter};
    const struct gi_chain chain = {.steps = &step, .n = 1};
    const struct gi_batch_work work = {.tars = true, .self = params[SET_FILTER], .run = make_item};
    const struct gi_batch_job job = {.command = self,
                                     .params = params,
                                     .chain = &chain,
                                     .work = &work,
                                     .text = many ? "colormap --bar" : NULL};
    struct gi_cairo cairo;
    step.args.params[GI_SET_STEP_FILTER] = params[SET_FILTER];
    enum gi_status status = gi_cairo_open(&cairo, err);
    if (!status && io->linear)
        status = gi_fail(err, GI_E_USAGE, "--linear: the colours of a map are not linear light");
    if (!status && !many)
        status = gi_cli_check_save(operands[1], io, err);
    status = gi_cli_missing_first(status, operands, 1, err);
    return status ? status : gi_drive(&job, operands, noperands, err);
}

static enum gi_status run(const struct gi_command *self, void *const *params, char **operands,
                          int noperands, struct gi_err *err)
{
    const size_t bar = gi_option_find(gi_filter_colormap.options, "bar")->offset;
    return ((const bool *)params[SET_FILTER])[bar]
               ? run_bar(self, params, operands, noperands, err)
               : gi_command_filter.run(self, params, operands, noperands, err);
}

const struct gi_command gi_command_colormap = {
    .name = "colormap",
    .operands = "INPUT OUTPUT",
    .min_operands = 2,
    .max_operands = 2,
    .sets = {{0},
             {"Input and output", gi_io_options, sizeof(struct gi_io_params)},
             {"Running", gi_device_options, sizeof(struct gi_device_params)},
             {"Many images", gi_batch_options, sizeof(struct gi_batch_params)}},
    .filter = &gi_filter_colormap,
    .run = run,
};
