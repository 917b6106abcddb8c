/* The output of an analysis, shared by its command and by a step of `gpuimg run`.
 * SPDX-License-Identifier: MIT */
#ifndef GI_CLI_COMMANDS_REPORTER_H
#define GI_CLI_COMMANDS_REPORTER_H

#include <jansson.h>

#include "cli/command.h"
#include "cli/inputs/image_files.h"

/* A finished analysis. */
struct gi_findings {
    const void *params;           /* parameters of the filter */
    const void *output;           /* values of the reporter's options */
    const void *result;           /* the filter's result; owned by the caller; may not be changed
                                     any more */
    const struct gi_image *image; /* the analysed image; only its shape unless wants_image() */
    unsigned maxval;              /* gi_cli_maxval() of the image */
    const char *file;             /* name of the input for messages: a path */
    const char *to;               /* the path of the table; "-": standard output */
    int threads;                  /* for writing images */
    struct gi_bundle *bundle;     /* the bundle that all files belong to */
    struct gi_sink *table;        /* if not NULL, the table is written here, as CSV or `json`,
                                     instead of to `to`, and nothing else is written */
    bool json;
};

struct gi_reporter {
    const struct gi_filter *filter;
    const struct gi_option *options; /* the set "Output" */
    size_t output_nbytes;
    /* Checks before any work that all outputs can be written, and none replaces the file `input`;
     * sets in `params`, the filter's, which parts of the result are needed. Errors: GI_E_USAGE,
     * GI_E_IO. */
    enum gi_status (*check)(const char *input, const char *to, const void *output, void *params,
                            struct gi_err *err);
    /* Returns whether write() reads the samples of the image. NULL: never. */
    bool (*wants_image)(const void *output);
    enum gi_status (*write)(const struct gi_findings *report, struct gi_err *err);
    bool arrays; /* writes .npy or .pfm, which can't hold a table of many images; else tables */
};

/* Begin the text and the JSON of an analysis: file, shape of the image and, if it differs from the
 * type's full scale, `maxval`. The text has no newline; the object is for the caller to extend. */
void gi_report_print_head(FILE *out, const char *file, const struct gi_image *image,
                          unsigned maxval);
json_t *gi_report_json(const char *file, const struct gi_image *image, unsigned maxval);

/* The sets of an analysis command, in this order; its first operand is the input, its second the
 * path of the table. */
enum { GI_SET_FILTER, GI_SET_OUTPUT, GI_SET_INPUT, GI_SET_DEVICE };

/* gi_command.run of an analysis command: loads, analyses and reports. */
enum gi_status gi_analysis_run(const struct gi_command *command, void *const *params,
                               char **operands, int noperands, struct gi_err *err);

#endif
