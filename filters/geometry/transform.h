/* Shared by the geometric transforms: options, plans, matrices.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "filters/alpha.h"
#include "filters/filter.h"
#include "filters/option_size.h"
#include "kernels/geometry.h"

/* Interpolation and border. */
struct gi_transform_params {
    int interpolation; /* index of gi_interpolation_choices */
    double cubic;      /* Keys' parameter a */
    int alpha;         /* enum gi_alpha_use */
    struct gi_border_params border;
};

extern const struct gi_choice gi_interpolation_choices[];

/* The option rows that set a struct gi_transform_params, which is the member `transform` of the
 * struct type `params`. */
#define GI_TRANSFORM_OPTIONS(params)                                                               \
    {GI_OPTION("interpolation", CHOICE, params, transform.interpolation), .letter = 'i',           \
     .default_text = "bilinear", .choices = gi_interpolation_choices,                              \
     .help = "How a pixel of the result is interpolated from the pixels of the input"},            \
        {GI_OPTION("cubic", REAL, params, transform.cubic),                                        \
         .default_text = "-0.5",                                                                   \
         .min = -1,                                                                                \
         .max = 0,                                                                                 \
         .metavar = "A",                                                                           \
         .help = "Parameter a of bicubic interpolation (Keys' kernel); OpenCV uses -0.75"},        \
        GI_ALPHA_OPTION(params, transform.alpha),                                                  \
        {GI_OPTION("border", CHOICE, params, transform.border.mode), .default_text = "border",     \
         .choices = gi_border_choices, .help = "Border mode: the pixels outside the image"},       \
        GI_ADDED_VALUE_OPTION(params, transform.border,                                            \
                              "Pixels outside the image with --border border")

/* The option row of --size, for operations whose parameters have the member struct gi_extent size.
 * `whole` says what percentages and a missing side refer to. */
#define GI_TRANSFORM_SIZE_OPTION(params, whole)                                                    \
    {                                                                                              \
        GI_OPTION("size", EXTENT, params, size),                                                   \
            .help = "Size of the result, in pixels or as a percentage of " whole                   \
                    "; a side that is left out is that of " whole                                  \
    }

/* Makes plan->tables for the current plan->result. The tables are a struct gi_remap without its
 * map, followed by `more` bytes. Returns NULL and sets `err` if memory runs out. */
struct gi_remap *gi_transform_plan(struct gi_plan *plan, const struct gi_transform_params *params,
                                   size_t more, struct gi_err *err);

/* Set the map from result pixels to source pixels. gi_transform_affine() takes the numbers a to f
 * of the map (a x + b y + c, d x + e y + f), and gi_transform_projective() takes the rows of a 3 x
 * 3 matrix. If every pixel comes from the centre of a source pixel, pixels are copied exactly. */
void gi_transform_affine(struct gi_plan *plan, const double m[6]);
void gi_transform_projective(struct gi_plan *plan, const double m[9]);

/* The functions `needs` and `run` (struct gi_filter) of the geometric transforms, and a `run` for a
 * map that only the work knows. */
struct gi_span gi_transform_needs(const struct gi_plan *plan, int y0, int y1);
enum gi_status gi_transform_run(const struct gi_plan *plan, struct gi_queue *queue,
                                const struct gi_work *work, struct gi_err *err);
enum gi_status gi_transform_run_map(struct gi_queue *queue, const struct gi_work *work,
                                    struct gi_remap transform, struct gi_err *err);

/* Reads the matrix `text` ("a b c; d e f"; rows are separated by ; or line ends), the value of
 * `option`. The matrix has 3 rows of 3 numbers. If `square` is not set, it may also have 2 rows of
 * 3 numbers, which are completed by 0 0 1. `m` maps pixels of the result to pixels of the source:
 * it is the matrix itself if `inverse` is set, which says that the matrix maps so, otherwise its
 * inverse. Errors: GI_E_USAGE, GI_E_MEMORY. */
enum gi_status gi_matrix_read(double m[9], const char *option, const char *text, bool square,
                              bool inverse, struct gi_err *err);

/* Inverts m in place, scaled so that the last number is 1 or all numbers are about 1. Returns false
 * if m is singular. */
bool gi_matrix_invert(double m[9]);
