/* The outputs of extract that are images: label image, mask, overlay, crops.
 * SPDX-License-Identifier: MIT */
#include "cli/args/image_files.h"
#include "cli/command.h"
#include "cli/paths/crop_names.h"
#include "cli/paths/output.h"
#include "cli/run/common_metadata.h"
#include "cli/plot/overlay.h"
#include "cli/tables/extract_outputs.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "imgio/npy.h"

/* Formats that can hold label images, by suffix or prefix. */
static const struct label_format {
    const char *name;
    enum gi_type type;
    uint32_t most;
} label_formats[] = {{"png", GI_U16, 65535}, {"pgm", GI_U16, 65535},   {"pnm", GI_U16, 65535},
                     {"pam", GI_U16, 65535}, {"pfm", GI_F32, 1 << 24}, {"npy", GI_U32, UINT32_MAX}};

/* Returns whether `path` has the prefix `name`, or no prefix and the suffix `name`. */
static bool asks_for(const char *path, const char *name)
{
    const char *file = gi_output_file(path), *dot = strrchr(file, '.');
    if (file == path)
        return dot && strcasecmp(dot + 1, name) == 0;
    size_t n = (size_t)(file - path) - 1;
    return strlen(name) == n && strncasecmp(path, name, n) == 0;
}

static const struct label_format *label_format(const char *path)
{
    for (size_t i = 0; i < sizeof label_formats / sizeof *label_formats; i++)
        if (asks_for(path, label_formats[i].name))
            return &label_formats[i];
    return NULL;
}

static struct gi_io_params io_of(const struct gi_extract_output *output, struct gi_bundle *bundle)
{
    return (struct gi_io_params){
        .encoding = {.quality = GI_DEFAULT_QUALITY, .compression = output->compression},
        .no_clobber = output->no_clobber,
        .passed.bundle = bundle};
}

enum gi_status gi_extract_check_images(const struct gi_extract_output *output, struct gi_err *err)
{
    struct gi_io_params io = io_of(output, NULL);
    enum gi_status status = GI_OK;
    const struct label_format *format = output->labels ? label_format(output->labels) : NULL;
    if (output->labels && !format)
        return gi_fail(err, GI_E_USAGE,
                       "--labels %s: want a name that ends in .png, .pgm, .pnm, .pam, .pfm or .npy",
                       output->labels);
    if (output->overlay && asks_for(output->overlay, "pgm"))
        return gi_fail(err, GI_E_USAGE, "--overlay %s: want a format that holds colour",
                       output->overlay);
    if (output->labels_picture && asks_for(output->labels_picture, "pgm"))
        return gi_fail(err, GI_E_USAGE, "--labels-picture %s: want a format that holds colour",
                       output->labels_picture);
    if (gi_save_check("-", output->crop_format, NULL))
        return gi_fail(err, GI_E_USAGE,
                       "--crop-format %s: want the suffix of a format that can be written "
                       "(\"gpuimg list\" names them)",
                       output->crop_format);
    if (format && format->type != GI_U32)
        status = gi_cli_check_save(output->labels, &io, err);
    if (!status && output->labels_picture)
        status = gi_cli_check_save(output->labels_picture, &io, err);
    if (!status && output->mask)
        status = gi_cli_check_save(output->mask, &io, err);
    if (!status && output->overlay)
        status = gi_cli_check_save(output->overlay, &io, err);
    return status;
}

static enum gi_status save_npy(const struct gi_extract_view *view, const char *path,
                               struct gi_err *err)
{
    struct gi_sink *sink;
    const struct gi_image *labels = &view->extract->labels;
    const uint64_t shape[] = {(uint64_t)labels->height, (uint64_t)labels->width};
    enum gi_status status =
        gi_bundle_open(view->bundle, &sink, gi_output_file(path), view->output->no_clobber, err);
    if (status)
        return status;
    status = gi_npy_head(sink, "'" GI_NPY_ORDER "u4'", shape, 2, err);
    for (int y = 0; y < labels->height && !status; y++)
        status = gi_sink_write(sink, gi_row(labels, y), gi_row_nbytes(labels), err);
    if (!status)
        status = gi_bundle_keep(view->bundle, &sink, false, err);
    gi_sink_abandon(&sink);
    return status;
}

/* Saves the label image in another type. As GI_U8 it is the mask. */
static enum gi_status save_as(const struct gi_extract_view *view, enum gi_type type,
                              const char *path, struct gi_err *err)
{
    const struct gi_image *labels = &view->extract->labels;
    struct gi_io_params io = io_of(view->output, view->bundle);
    struct gi_image image;
    enum gi_status status = gi_image_alloc(&image, labels->width, labels->height, 1, type, err);
    if (status)
        return status;
    for (int y = 0; y < image.height; y++) {
        const uint32_t *from = gi_row(labels, y);
        void *to = gi_row(&image, y);
        for (int x = 0; x < image.width; x++) {
            if (type == GI_U8)
                ((uint8_t *)to)[x] = from[x] ? 255 : 0;
            else if (type == GI_U16)
                ((uint16_t *)to)[x] = (uint16_t)from[x];
            else
                ((float *)to)[x] = (float)from[x];
        }
    }
    status = gi_cli_save(&image, NULL, path, &io, view->threads, err);
    gi_image_free(&image);
    return status;
}

static enum gi_status save_labels(const struct gi_extract_view *view, struct gi_err *err)
{
    const char *path = view->output->labels;
    const struct label_format *format = label_format(path);
    if (format->type == GI_U32)
        return save_npy(view, path, err);
    return save_as(view, format->type, path, err);
}

/* Computes red, green and blue of a label. Components with consecutive labels are often neighbours,
 * so their hues are a golden angle apart, and their brightness takes three values in turn. */
static void label_color(uint8_t rgb[3], uint32_t label)
{
    const double pi = acos(-1), golden = pi * (3 - sqrt(5.0));
    static const double most[] = {255, 205, 160};
    for (int c = 0; c < 3; c++) {
        double wave = 0.5 + 0.5 * cos(golden * label - c * 2 * pi / 3);
        rgb[c] = (uint8_t)lrint(most[label % 3] * (0.25 + 0.75 * wave));
    }
}

static enum gi_status save_labels_picture(const struct gi_extract_view *view, struct gi_err *err)
{
    const struct gi_image *labels = &view->extract->labels;
    struct gi_io_params io = io_of(view->output, view->bundle);
    struct gi_image image;
    enum gi_status status = gi_image_alloc(&image, labels->width, labels->height, 3, GI_U8, err);
    if (status)
        return status;
    for (int y = 0; y < image.height; y++) {
        const uint32_t *from = gi_row(labels, y);
        uint8_t *to = gi_row(&image, y);
        for (int x = 0; x < image.width; x++, to += 3) {
            if (x > 0 && from[x] == from[x - 1])
                memcpy(to, to - 3, 3);
            else if (from[x])
                label_color(to, from[x]);
            else
                memset(to, 0, 3);
        }
    }
    status = gi_cli_save(&image, NULL, view->output->labels_picture, &io, view->threads, err);
    gi_image_free(&image);
    return status;
}

static enum gi_status save_overlay(const struct gi_extract_view *view, struct gi_err *err)
{
    struct gi_image image;
    struct gi_io_params io = io_of(view->output, view->bundle);
    enum gi_status status = gi_overlay(&image, view->image, view->extract, view->threads, err);
    if (status)
        return status;
    status = gi_cli_save(&image, NULL, view->output->overlay, &io, view->threads, err);
    gi_image_free(&image);
    return status;
}

/* Returns a view of the bounding box with its margin, clipped to the image. */
static struct gi_image crop_of(const struct gi_image *image, const struct gi_region_sums *region,
                               int margin)
{
    long x0 = (long)region->min_x - margin, x1 = (long)region->max_x + margin + 1;
    long y0 = (long)region->min_y - margin, y1 = (long)region->max_y + margin + 1;
    x0 = x0 < 0 ? 0 : x0;
    y0 = y0 < 0 ? 0 : y0;
    x1 = x1 > image->width ? image->width : x1;
    y1 = y1 > image->height ? image->height : y1;
    struct gi_image crop = gi_image_rows(image, (int)y0, (int)y1);
    crop.data =
        (char *)crop.data + (size_t)x0 * (size_t)image->channels * gi_type_nbytes(image->type);
    crop.width = (int)(x1 - x0);
    return crop;
}

static enum gi_status save_crops(const struct gi_extract_view *view, struct gi_err *err)
{
    const struct gi_extract_output *output = view->output;
    struct gi_io_params io = io_of(output, view->bundle);
    enum gi_status status =
        gi_bundle_folder(view->bundle, output->crops, output->force ? gi_crop_is_name : NULL, err);
    for (uint32_t i = 0; i < view->extract->n && !status; i++) {
        char path[GI_CROP_PATH_NBYTES];
        struct gi_metadata shared = {0};
        if (view->metadata)
            gi_common_metadata_share(&shared, view->metadata, i == 0); /* all lose the same */
        struct gi_image crop =
            crop_of(view->image, &view->extract->regions[i], output->crop_margin);
        status = gi_crop_path(path, output->crops, gi_extract_label(view->extract, i),
                              output->crop_format, err);
        if (!status)
            status = gi_cli_save(&crop, &shared, path, &io, view->threads, err);
        gi_common_metadata_unshare(&shared);
    }
    return status;
}

/* Before anything is written, checks that the formats can hold the labels of all components, and
 * the colours of the crops. */
static enum gi_status check_fit(const struct gi_extract_view *view, struct gi_err *err)
{
    const struct gi_extract_output *output = view->output;
    const struct label_format *format = output->labels ? label_format(output->labels) : NULL;
    const uint32_t n = view->extract->n, largest = n ? gi_extract_label(view->extract, n - 1) : 0;
    if (format && largest > format->most)
        return gi_fail(err, GI_E_UNSUPPORTED,
                       "--labels %s: labels up to %u, and this format counts to %u: want .npy",
                       output->labels, largest, format->most);
    if (output->crops && strcasecmp(output->crop_format, "pgm") == 0 &&
        gi_color_channels(view->image) == 3)
        return gi_fail(err, GI_E_UNSUPPORTED,
                       "--crop-format %s: holds gray only, and the image has colour",
                       output->crop_format);
    return GI_OK;
}

enum gi_status gi_extract_images(const struct gi_extract_view *view, struct gi_err *err)
{
    const struct gi_extract_output *output = view->output;
    enum gi_status status = check_fit(view, err);
    if (!status && output->labels)
        status = save_labels(view, err);
    if (!status && output->labels_picture)
        status = save_labels_picture(view, err);
    if (!status && output->mask)
        status = save_as(view, GI_U8, output->mask, err);
    if (!status && output->overlay)
        status = save_overlay(view, err);
    if (!status && output->crops)
        status = save_crops(view, err);
    return status;
}
