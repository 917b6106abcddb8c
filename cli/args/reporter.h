/* The output of an analysis, which its command and a step of `gpuimg run` share.
 * SPDX-License-Identifier: MIT */
#pragma once

#include <jansson.h>

#include "cli/args/image_files.h"
#include "cli/command.h"
#include "filters/statistics/parts.h"

/* A finished analysis. */
struct gi_findings {
    const void *params; /* parameters of the filter */
    const void *output; /* values of the reporter's options */
    const void *result; /* the filter's result, owned by the caller; must not be changed */
    /* The analysed image, or only its shape if wants_image() returns false. */
    const struct gi_image *image;
    /* Metadata of the file, for copies of its pixels; NULL unless wants_image() returns true. */
    const struct gi_metadata *metadata;
    unsigned maxval;          /* gi_cli_maxval() of the image */
    const char *file;         /* name of the input for messages: a path */
    const char *to;           /* path of the table; "-" is standard output */
    int threads;              /* for writing images */
    struct gi_bundle *bundle; /* the bundle that all files belong to */
    /* If this is not NULL, only the table is written, and it is written here and not to `to`. It is
     * JSON if `json` is true, otherwise CSV. */
    struct gi_sink *table;
    bool json;
};

struct gi_total;
struct gi_reporter {
    const struct gi_filter *filter;
    const struct gi_option *options; /* the set "Output" */
    size_t output_nbytes;
    /* Checks before any work that all outputs can be written, and that no output replaces the file
     * `input`. Sets in the filter's `params` which parts of the result are needed. Errors:
     * GI_E_USAGE, GI_E_IO. */
    enum gi_status (*check)(const char *input, const char *to, const void *output, void *params,
                            struct gi_err *err);
    /* Returns whether write() reads the samples of the image. NULL: it never does. */
    bool (*wants_image)(const void *output);
    enum gi_status (*write)(const struct gi_findings *report, struct gi_err *err);
    /* For --total, which adds rows for all images to the table of many images. wants_total()
     * returns whether `params` ask for it. make_part() returns what one image contributes, which
     * the caller frees by free(), or NULL if no total is wanted. add_total() adds a part, in
     * the order of the table, to *total, which is NULL at first. take_total() prints the rows to
     * *text, as the table of one image, and frees *total. NULL if the analysis has no total.
     */
    bool (*wants_total)(const void *params);
    void *(*make_part)(const struct gi_findings *findings);
    void (*add_total)(struct gi_total **total, const void *part);
    enum gi_status (*take_total)(struct gi_total **total, const void *params, bool json,
                                 char **text, size_t *nbytes, struct gi_err *err);
    /* Joins the results of the parts of an image of several bands. NULL: such images are refused.
     */
    const struct gi_parts_join *parts;
    bool arrays; /* true: it writes .npy or .pfm files, which can't hold the table of many images */
    /* The suffixes of a table per image, the default first: "csv json svg". NULL: "csv json", or
     * "npy pfm" with `arrays`. */
    const char *suffixes;
};

/* Begin the text and the JSON of an analysis with the name of the file, the shape of the image, and
 * `maxval` if that is not the full scale of the type. The text does not end in a newline yet. The
 * caller adds members to the object. */
void gi_report_print_head(FILE *out, const char *file, const struct gi_image *image,
                          unsigned maxval);
json_t *gi_report_json(const char *file, const struct gi_image *image, unsigned maxval);

/* The numbers of the option sets of an analysis command. The first operand of the command is the
 * input, and the second operand is the path of the table. */
enum { GI_SET_FILTER, GI_SET_OUTPUT, GI_SET_INPUT, GI_SET_DEVICE };

/* The gi_command.run of analysis commands: loads, analyses and reports. */
enum gi_status gi_analysis_run(const struct gi_command *command, void *const *params,
                               char **operands, int noperands, struct gi_err *err);
