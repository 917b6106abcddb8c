/* Shared by the outputs of gpuimg extract.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "cli/command.h"
#include "filters/regions/extract.h"
#include "imgio/imgio.h"

enum gi_table_format { GI_TABLE_CSV, GI_TABLE_JSON, GI_TABLE_JSONL };

/* Options of the set "Output". */
struct gi_extract_output {
    int format; /* 0: the suffix decides; n above 0: enum gi_table_format n - 1 */
    const char *labels, *labels_picture, *mask, *overlay, *crops, *crop_format, *points;
    const char *pixel_size; /* "0.32um"; NULL: lengths are in pixels */
    int crop_margin, compression;
    bool no_clobber, force;
};

/* A finished extraction and the image that it was made from. */
struct gi_extract_view {
    const struct gi_extract *extract;
    const struct gi_image *image;
    const struct gi_metadata *metadata; /* of the image's file; NULL: none */
    const char *file;
    int connectivity;  /* 4 or 8 */
    bool masked;       /* a mask image was given instead of a threshold */
    double pixel_size; /* length of a pixel's side in `unit`; 1 if `unit` is "" */
    const char *unit;  /* "um"; "": pixels */
    const struct gi_extract_output *output;
    int threads; /* for writing images */
    struct gi_bundle *bundle;
};

/* Reads a length with its unit, such as "0.32um". *unit points into `text`. If `text` is NULL,
 * *size becomes 1 and *unit "". Errors: GI_E_USAGE. */
enum gi_status gi_extract_pixel_size(double *size, const char **unit, const char *text,
                                     struct gi_err *err);

/* Writes the table of components row by row (cli/tables/extract_table.c). */
enum gi_status gi_extract_table(struct gi_sink *sink, const struct gi_extract_view *view,
                                enum gi_table_format format, struct gi_err *err);
/* Writes the points, as .npy or CSV according to `path`. */
enum gi_status gi_extract_points(struct gi_sink *sink, const struct gi_extract_view *view,
                                 const char *path, struct gi_err *err);

/* gi_extract_check_images() checks before any work whether the outputs that are images can be
 * written. gi_extract_images() writes those of them that were asked for
 * (cli/commands/extract_images.c). */
enum gi_status gi_extract_check_images(const struct gi_extract_output *output, struct gi_err *err);
enum gi_status gi_extract_images(const struct gi_extract_view *view, struct gi_err *err);
